//! Wider vector registers where the processor has them, without a separate build per processor.

/// Whether this processor has AVX2 and a fused multiply-add, which came together.
#[cfg(target_arch = "x86_64")]
pub(crate) fn has_avx2() -> bool {
    std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("fma")
}

/// Defines a function whose body is compiled twice, once as the target allows and once for AVX2, and picked at run time.
/// What the body calls must be `#[inline(always)]`, or the compiler cannot use the wider instructions inside it.
///
/// Nothing is fused unless the body asks for it, so both versions give the same bits. The body may use `FMA`: whether a
/// fused multiply-add is one instruction here. Where it is not, it would be a slow call into the C library.
macro_rules! vectorised {
    (
        $(#[$meta:meta])*
        $vis:vis fn $name:ident $(<$t:ident: $bound:ident>)? ($($arg:ident : $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    ) => {
        $(#[$meta])*
        $vis fn $name $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma")]
                fn avx2 $(<$t: $bound>)? ($($arg: $ty),*) $(-> $ret)? {
                    #[allow(dead_code, reason = "most kernels fuse nothing")]
                    const FMA: bool = true;
                    $body
                }
                if crate::base::simd::has_avx2() {
                    #[allow(unsafe_code, reason = "the processor was just asked for AVX2; the body itself is safe code")]
                    return unsafe { avx2($($arg),*) };
                }
            }
            // Every 64-bit ARM has the instruction.
            #[allow(dead_code, reason = "most kernels fuse nothing")]
            const FMA: bool = cfg!(target_arch = "aarch64");
            $body
        }
    };
}

pub(crate) use vectorised;
