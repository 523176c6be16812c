//! Remembers that a source could not be read. The decoder library makes I/O errors of its own where a damaged packet ends too early, and some of
//! its formats take any error for the end of the file: only the source knows whether a drive has gone away.

use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use symphonia::core::io::MediaSource;

use crate::base::error::{Error, Result};

/// The first failure of a source, shared with whoever wants to know of it.
#[derive(Clone, Default)]
pub(super) struct Failure(Arc<Mutex<Option<io::Error>>>);

impl Failure {
    /// Fails if the source did.
    pub(super) fn check(&self, path: &Path) -> Result<()> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            Some(error) => Err(Error::io("read", path, copy_of(error))),
            None => Ok(()),
        }
    }

    fn note(&self, error: &io::Error) {
        // Reading goes on after an interruption, and an early end is damage that can be lived with.
        if !matches!(error.kind(), ErrorKind::Interrupted | ErrorKind::UnexpectedEof) {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_with(|| copy_of(error));
        }
    }
}

/// The same error once more: the library is given the first.
fn copy_of(error: &io::Error) -> io::Error {
    error.raw_os_error().map_or_else(|| io::Error::new(error.kind(), error.to_string()), io::Error::from_raw_os_error)
}

/// A source that keeps its [`Failure`]. Only reading is watched: a damaged file may ask for a place before its beginning.
pub(super) struct Watched {
    source: Box<dyn MediaSource>,
    failure: Failure,
}

impl Watched {
    pub(super) fn new(source: Box<dyn MediaSource>) -> (Self, Failure) {
        let failure = Failure::default();
        (Self { source, failure: failure.clone() }, failure)
    }
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.source.read(buffer).inspect_err(|error| self.failure.note(error))
    }
}

impl Seek for Watched {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.source.seek(to)
    }
}

impl MediaSource for Watched {
    fn is_seekable(&self) -> bool {
        self.source.is_seekable()
    }

    fn byte_len(&self) -> Option<u64> {
        self.source.byte_len()
    }
}
