//! Keeps panics of libraries that read foreign files from ending the program.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static CONTAINING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call into a library that was written for sound files; none if it panics.
///
/// Decoders and synthesizers parse hostile bytes with arithmetic that can overflow (a few in ten thousand randomly damaged
/// WAV and CAF headers do it); a bad file must not end the program. What panicked is not used again, so its broken
/// invariants are not seen. The panic prints nothing: the user gets an error instead.
pub fn contained<T>(call: impl FnOnce() -> T) -> Option<T> {
    static QUIET_HOOK: Once = Once::new();
    QUIET_HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CONTAINING.get() {
                usual(info);
            }
        }));
    });
    let outer = CONTAINING.replace(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    CONTAINING.set(outer);
    outcome.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_nothing_and_a_result_passes_through() {
        assert_eq!(contained(|| -> u8 { panic!("overflow") }), None);
        assert_eq!(contained(|| 7), Some(7));
        assert!(!CONTAINING.get(), "panics of others are still shown");
        assert_eq!(contained(|| (contained(|| 1), CONTAINING.get())), Some((Some(1), true)), "one in another");
    }
}
