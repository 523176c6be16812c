//! Writing to what is no regular file: terminals, devices and pipes. No wait that cannot be cancelled.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// Time between two attempts.
const PAUSE: Duration = Duration::from_millis(10);

/// Writes all bytes, at the pace of the reader. A named pipe that nobody reads is waited for until `waiting` is
/// cancelled; without it, it is an error.
pub(super) fn write_stream(waiting: Option<&JobContext>, path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = loop {
        match open(path) {
            Err(source) if is_without_reader(&source, path) => match waiting {
                Some(ctx) => pause(ctx)?,
                None => {
                    let source = io::Error::new(source.kind(), "it is a pipe that no program reads from");
                    return Err(Error::io("write", path, source));
                }
            },
            opened => break opened.map_err(|source| Error::io("write", path, source))?,
        }
    };
    let mut rest = bytes;
    while !rest.is_empty() {
        match file.write(rest) {
            Ok(0) => return Err(Error::io("write", path, io::ErrorKind::WriteZero.into())),
            Ok(written) => rest = &rest[written..],
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => match waiting {
                Some(ctx) => pause(ctx)?,
                None => std::thread::sleep(PAUSE),
            },
            Err(source) => return Err(Error::io("write", path, source)),
        }
    }
    Ok(())
}

fn pause(ctx: &JobContext) -> Result<()> {
    ctx.check()?;
    std::thread::sleep(PAUSE);
    Ok(())
}

#[cfg(unix)]
fn open(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path)
}

#[cfg(not(unix))]
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).open(path)
}

#[cfg(unix)]
fn is_without_reader(error: &io::Error, path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt;
    let is_pipe = || std::fs::metadata(path).is_ok_and(|facts| facts.file_type().is_fifo());
    error.raw_os_error() == Some(libc::ENXIO) && is_pipe()
}

#[cfg(not(unix))]
fn is_without_reader(_: &io::Error, _: &Path) -> bool {
    false
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::process::Command;

    use super::*;

    fn pipe_in(folder: &Path) -> std::path::PathBuf {
        let pipe = folder.join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        pipe
    }

    #[test]
    fn a_pipe_without_a_reader_is_waited_for_until_cancelled_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe_in(folder.path());
        let message = write_stream(None, &pipe, b"x").unwrap_err().to_string();
        assert!(message.contains("no program reads"), "{message}");
        let ctx = JobContext::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| write_stream(Some(&ctx), &pipe, b"x"));
            std::thread::sleep(5 * PAUSE);
            ctx.cancel();
            assert!(matches!(writer.join().unwrap(), Err(Error::Cancelled)));
        });
    }

    #[test]
    fn a_slow_reader_that_comes_late_gets_everything_and_one_that_stops_can_be_left() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = pipe_in(folder.path());
        // More than a pipe holds.
        let bytes: Vec<u8> = (0..1_000_000u32).map(|k| (k.wrapping_mul(k) >> 7) as u8).collect();
        let ctx = JobContext::new();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| write_stream(Some(&ctx), &pipe, &bytes));
            std::thread::sleep(5 * PAUSE);
            let mut reader = File::open(&pipe).unwrap();
            std::thread::sleep(5 * PAUSE);
            let mut read = Vec::new();
            reader.read_to_end(&mut read).unwrap();
            writer.join().unwrap().unwrap();
            assert!(read == bytes);
        });
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| write_stream(Some(&ctx), &pipe, &bytes));
            let _idle = File::open(&pipe).unwrap();
            std::thread::sleep(5 * PAUSE);
            ctx.cancel();
            assert!(matches!(writer.join().unwrap(), Err(Error::Cancelled)));
        });
    }
}
