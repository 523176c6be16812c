//! Wider vector registers where the processor has them, without a separate build per processor.

/// Defines a function whose body is compiled twice, once as the target allows and once for AVX2, and picked at run time.
///
/// Both versions run the same operations in the same order (nothing is fused), so results are equal to the last bit.
macro_rules! vectorised {
    ($(#[$meta:meta])* $vis:vis fn $name:ident($($arg:ident : $ty:ty),* $(,)?) $body:block) => {
        $(#[$meta])*
        $vis fn $name($($arg: $ty),*) {
            #[inline(always)]
            fn portable($($arg: $ty),*) $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn avx2($($arg: $ty),*) {
                    portable($($arg),*)
                }
                if std::arch::is_x86_feature_detected!("avx2") {
                    #[allow(unsafe_code, reason = "the processor was just asked for AVX2; the body itself is safe code")]
                    return unsafe { avx2($($arg),*) };
                }
            }
            portable($($arg),*)
        }
    };
}

pub(super) use vectorised;
