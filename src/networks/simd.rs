//! Runs a kernel with the widest vector instructions that this processor has.

/// A loop nest that is compiled once for each instruction set. Implementations and all they call must be
/// `#[inline(always)]`, or the compiler cannot use the wider instructions inside them.
pub(super) trait Kernel {
    /// Runs the kernel. `FMA` says whether a fused multiply-add is one instruction here; where it is not, it would be
    /// a slow call into the C library.
    fn run<const FMA: bool>(self);
}

/// Runs `kernel` with AVX2 and FMA where the processor has them.
pub(super) fn dispatch(kernel: impl Kernel) {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        #[allow(unsafe_code, reason = "the instructions were detected on the line above")]
        unsafe {
            return run_with_avx2(kernel);
        }
    }
    // Every 64-bit ARM has the instruction.
    if cfg!(target_arch = "aarch64") { kernel.run::<true>() } else { kernel.run::<false>() }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn run_with_avx2(kernel: impl Kernel) {
    kernel.run::<true>();
}
