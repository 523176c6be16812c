//! Keeps panics of the decoder library from ending the program.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use symphonia::core::errors::Error as SymphoniaError;

thread_local! {
    static CONTAINING: Cell<bool> = const { Cell::new(false) };
}

/// Runs a call into the decoder library and turns a panic into an error.
///
/// The library means never to panic, but it parses hostile bytes with arithmetic that can overflow (a few in ten
/// thousand randomly damaged WAV and CAF headers do it); a bad file must not end the program. What panicked is not used
/// again, so its broken invariants are not seen. The panic prints nothing: the user gets the error instead.
pub(super) fn contained<T>(call: impl FnOnce() -> Result<T, SymphoniaError>) -> Result<T, SymphoniaError> {
    static QUIET_HOOK: Once = Once::new();
    QUIET_HOOK.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !CONTAINING.get() {
                usual(info);
            }
        }));
    });
    CONTAINING.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(call));
    CONTAINING.set(false);
    outcome.unwrap_or(Err(SymphoniaError::LimitError("the decoder gave up on it")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_becomes_an_error_and_a_result_passes_through() {
        let panicked = contained(|| -> Result<(), _> { panic!("overflow") });
        assert!(matches!(panicked, Err(SymphoniaError::LimitError(_))));
        assert_eq!(contained(|| Ok(7)).unwrap(), 7);
        assert!(!CONTAINING.get(), "panics of others are still shown");
    }
}
