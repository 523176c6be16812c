//! The one target under many names: each is the reader of its name.

#![no_main]

use std::sync::OnceLock;

use agogic::readers::{self, Answer};
use libfuzzer_sys::fuzz_target;

static READER: OnceLock<fn(&[u8]) -> Answer> = OnceLock::new();

fuzz_target!(
    init: {
        // One build can stand for all of them: `fuzz/run` says which.
        let name = std::env::var("AGOGIC_READER").unwrap_or_else(|_| env!("CARGO_BIN_NAME").to_owned());
        READER.get_or_init(|| readers::reader(&name).expect("every target is named after a reader"));
        // Removes the hook that aborts the process at every panic: panics of libraries are caught and become error messages.
        // What nobody catches ends the process all the same.
        drop(std::panic::take_hook());
    },
    |bytes: &[u8]| {
        let Some(reader) = READER.get() else { return };
        if let Some(complaint) = readers::complaint(&reader(bytes)) {
            panic!("{complaint}");
        }
    }
);
