//! Writing a file whole or not at all: the bytes go to a temporary file beside the target, which then takes its name.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs::{Metadata, OpenOptions};
use std::io::{self, BufWriter, Cursor, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tempfile::NamedTempFile;

use super::stream_file::write_stream;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// More links in a row than this lead nowhere.
const MOST_LINKS: usize = 40;

const TEMPORARY_PREFIX: &str = ".agogic-";
const RANDOM_LETTERS: usize = 6;

/// Far longer than a file is written for.
const STALE: Duration = Duration::from_secs(3600);

/// What a file's content is written to. A format may go back and mend its header.
pub trait Sink: Write + Seek + Send {}

impl<T: Write + Seek + Send> Sink for T {}

/// Calls `write` with a buffered, seekable writer and puts what it wrote at `path`, replacing an existing file only
/// when everything is safely on disk. If `write` or the system fails, `path` is as it was and nothing else is left.
///
/// A symbolic link is followed, so the file it names is written and the link stays. What is not a regular file (a
/// terminal, a pipe, `/dev/null`) is written to directly; a named pipe waits for its reader until `ctx` is cancelled.
pub fn write_atomically(ctx: &JobContext, path: &Path, write: impl FnOnce(&mut dyn Sink) -> Result<()>) -> Result<()> {
    let failed = |source| Error::io("write", path, source);
    let Some(Target { place, existing }) = target(path)? else {
        let mut content = Cursor::new(Vec::new());
        write(&mut content)?;
        return write_stream(Some(ctx), path, content.get_ref());
    };
    let (file, temporary_path) = temporary_beside(&place).map_err(failed)?.into_parts();
    let mut writer = BufWriter::new(file);
    write(&mut writer)?;
    let file = writer.into_inner().map_err(|e| failed(e.into_error()))?;
    if let Some(existing) = existing {
        file.set_permissions(existing.permissions()).map_err(failed)?;
    }
    file.sync_all().map_err(failed)?;
    // Windows does not rename an open file.
    drop(file);
    temporary_path.persist(&place).map_err(|e| failed(e.error))
}

/// [`write_atomically`] for bytes that are already there.
pub fn write_output(ctx: &JobContext, path: &Path, bytes: &[u8]) -> Result<()> {
    write_atomically(ctx, path, |sink| sink.write_all(bytes).map_err(|e| Error::io("write", path, e)))
}

/// [`write_output`] without a wait: a named pipe that nobody reads is an error.
pub fn write_bytes_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    if target(path)?.is_none() {
        return write_stream(None, path, bytes);
    }
    write_output(&JobContext::new(), path, bytes)
}

/// Reports, before the work begins, that its result could not be written to `path`. Changes nothing.
pub fn check_writable(path: &Path) -> Result<()> {
    let Some(target) = target(path)? else { return Ok(()) };
    temporary_beside(&target.place).map(drop).map_err(|source| Error::io("write", path, source))
}

/// Where a file written to `path` ends up: links are followed, even to a file that does not exist yet.
pub fn resolve(path: &Path) -> io::Result<PathBuf> {
    if let Ok(existing) = path.canonicalize() {
        return Ok(existing);
    }
    let mut place = path.to_owned();
    for _ in 0..MOST_LINKS {
        match std::fs::read_link(&place) {
            Ok(next) => place = folder_of(&place).join(next),
            Err(_) => {
                let name = place.file_name().ok_or(io::ErrorKind::InvalidInput)?;
                return Ok(folder_of(&place).canonicalize()?.join(name));
            }
        }
    }
    Err(io::Error::other("its symbolic links form a loop"))
}

/// A regular file to be made or replaced.
struct Target {
    place: PathBuf,
    existing: Option<Metadata>,
}

/// The file that `path` stands for; none if it is no regular file.
fn target(path: &Path) -> Result<Option<Target>> {
    let failed = |source| Error::io("write", path, source);
    let existing = std::fs::metadata(path).ok();
    if let Some(existing) = &existing {
        if existing.is_dir() {
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        if !existing.is_file() {
            return Ok(None);
        }
        // A rename needs no right to the old file, but a file made read-only was meant to stay.
        if existing.permissions().readonly() {
            return Err(failed(io::ErrorKind::PermissionDenied.into()));
        }
    }
    let place = resolve(path).map_err(|source| failed(explained_link(path, source)))?;
    Ok(Some(Target { place, existing }))
}

/// The system says of a missing folder only that something was not found.
fn explained(source: io::Error) -> io::Error {
    match source.kind() {
        io::ErrorKind::NotFound => io::Error::new(source.kind(), "the folder does not exist"),
        io::ErrorKind::NotADirectory => io::Error::new(source.kind(), "its parent is a file, not a folder"),
        _ => source,
    }
}

/// For a link, the missing folder is the one it points into.
fn explained_link(path: &Path, source: io::Error) -> io::Error {
    match (source.kind(), std::fs::read_link(path)) {
        (io::ErrorKind::NotFound, Ok(to)) => {
            io::Error::new(source.kind(), format!("it is a link to {}, in a folder that does not exist", to.display()))
        }
        _ => explained(source),
    }
}

fn temporary_beside(place: &Path) -> io::Result<NamedTempFile> {
    sweep(&folder_of(place));
    // Opened by hand rather than by tempfile, whose files only their owner may read: so the umask decides.
    tempfile::Builder::new()
        .prefix(TEMPORARY_PREFIX)
        .rand_bytes(RANDOM_LETTERS)
        .make_in(folder_of(place), |name| OpenOptions::new().write(true).create_new(true).open(name))
        .map_err(explained)
}

/// Whether a file is called as those are that take a result's name when it is whole.
pub fn is_temporary(name: &OsStr) -> bool {
    let random = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX));
    random.is_some_and(|rest| rest.len() == RANDOM_LETTERS && rest.chars().all(|letter| letter.is_ascii_alphanumeric()))
}

/// Removes what was left beside results by programs that were killed. Once for each folder: it may hold a million files.
fn sweep(folder: &Path) {
    static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    let entries = if is_new { std::fs::read_dir(folder).ok() } else { None };
    for entry in entries.into_iter().flatten().flatten() {
        let is_ours = is_temporary(&entry.file_name());
        let modified = || entry.metadata().ok().filter(Metadata::is_file)?.modified().ok();
        if is_ours && modified().is_some_and(is_stale) {
            let _ = std::fs::remove_file(entry.path());
        }
    }
}

/// A file from the future is one from before the clock was set back: it would wait for that time in vain.
fn is_stale(modified: SystemTime) -> bool {
    modified.elapsed().unwrap_or_else(|ahead| ahead.duration()) > STALE
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

#[cfg(test)]
mod tests {
    use std::io::SeekFrom;

    use super::*;

    fn names_in(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn writes_a_new_file_and_replaces_an_old_one_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        write_bytes_atomically(&path, b"a long first version").unwrap();
        write_bytes_atomically(&path, b"second").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"second");
        assert_eq!(names_in(folder.path()), ["out.csv"]);
    }

    #[test]
    fn the_writer_can_seek_back_to_patch_a_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.bin");
        write_atomically(&JobContext::new(), &path, |w| {
            w.write_all(b"____ body").unwrap();
            w.seek(SeekFrom::Start(0)).unwrap();
            w.write_all(b"head").unwrap();
            Ok(())
        })
        .unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"head body");
    }

    #[test]
    fn a_writer_that_fails_midway_leaves_the_old_file_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        std::fs::write(&path, "old").unwrap();
        let result = write_atomically(&JobContext::new(), &path, |w| {
            w.write_all(&[b'x'; 100_000]).unwrap();
            Err(Error::Cancelled)
        });
        assert!(matches!(result, Err(Error::Cancelled)));
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        assert_eq!(names_in(folder.path()), ["out.csv"]);
    }

    #[test]
    fn a_missing_folder_and_a_folder_as_target_are_named_in_the_error() {
        let folder = tempfile::tempdir().unwrap();
        let missing = folder.path().join("no such folder").join("out.csv");
        let message = write_bytes_atomically(&missing, b"x").unwrap_err().to_string();
        assert!(message.starts_with("cannot write ") && message.contains("out.csv"), "{message}");
        assert!(!message.contains(".agogic-"), "the temporary name is no use to the user: {message}");
        let message = write_bytes_atomically(folder.path(), b"x").unwrap_err().to_string();
        assert!(message.contains("directory"), "{message}");
        assert!(names_in(folder.path()).is_empty());
    }

    #[test]
    fn what_cannot_be_written_is_said_beforehand_and_what_can_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.csv");
        check_writable(&path).unwrap();
        assert!(names_in(folder.path()).is_empty());
        std::fs::write(&path, "old").unwrap();
        check_writable(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
        for (wrong, word) in [
            (folder.path().to_owned(), "directory"),
            (folder.path().join("none").join("out.csv"), "the folder does not exist"),
            (path.join("out.csv"), "its parent is a file, not a folder"),
        ] {
            let message = check_writable(&wrong).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
        assert_eq!(names_in(folder.path()), ["out.csv"]);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_is_being_written_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let two_hours_ago = SystemTime::now() - 2 * STALE;
        for (name, is_old) in [(".agogic-a1B2c3", true), (".agogic-d4E5f6", false), (".agogic-notes", true)] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            if is_old {
                file.set_modified(two_hours_ago).unwrap();
            }
        }
        sweep(folder.path());
        assert_eq!(names_in(folder.path()), [".agogic-d4E5f6", ".agogic-notes"]);
        // The names are those that are in use.
        let used = temporary_beside(&folder.path().join("x")).unwrap();
        let name = used.path().file_name().unwrap().to_str().unwrap();
        assert_eq!(name.len(), TEMPORARY_PREFIX.len() + RANDOM_LETTERS);
        assert!(name.starts_with(TEMPORARY_PREFIX), "{name}");
    }

    #[test]
    fn what_was_left_before_the_clock_was_set_back_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let now = SystemTime::now();
        for (name, modified) in [(".agogic-a1B2c3", now + 2 * STALE), (".agogic-d4E5f6", now + STALE / 2)] {
            std::fs::File::create(folder.path().join(name)).unwrap().set_modified(modified).unwrap();
        }
        sweep(folder.path());
        assert_eq!(names_in(folder.path()), [".agogic-d4E5f6"], "clocks of two machines may differ by a little");
    }

    #[cfg(unix)]
    mod unix {
        use std::os::unix::fs::{PermissionsExt, symlink};

        use super::*;

        fn mode(path: &Path) -> u32 {
            std::fs::metadata(path).unwrap().permissions().mode() & 0o777
        }

        fn set_mode(path: &Path, mode: u32) {
            std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
        }

        #[test]
        fn a_new_file_has_the_permissions_that_any_new_file_has() {
            let folder = tempfile::tempdir().unwrap();
            let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
            std::fs::write(&usual, "").unwrap();
            write_bytes_atomically(&ours, b"x").unwrap();
            assert_eq!(mode(&ours), mode(&usual));
        }

        #[test]
        fn a_replaced_file_keeps_its_permissions_and_a_link_stays_a_link() {
            let folder = tempfile::tempdir().unwrap();
            let (path, link) = (folder.path().join("out"), folder.path().join("link"));
            std::fs::write(&path, "old").unwrap();
            set_mode(&path, 0o640);
            symlink(&path, &link).unwrap();
            write_bytes_atomically(&link, b"new").unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            assert_eq!(mode(&path), 0o640);
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
        }

        #[test]
        fn a_link_to_a_file_that_does_not_exist_yet_stays_a_link() {
            let folder = tempfile::tempdir().unwrap();
            let (path, link, circle) =
                (folder.path().join("out"), folder.path().join("link"), folder.path().join("circle"));
            symlink("out", &link).unwrap();
            write_bytes_atomically(&link, b"new").unwrap();
            assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
            assert_eq!(std::fs::read(&path).unwrap(), b"new");
            let (far, nowhere) = (folder.path().join("far"), folder.path().join("nowhere"));
            std::fs::create_dir(folder.path().join("shelf")).unwrap();
            symlink("shelf/out", &far).unwrap();
            write_bytes_atomically(&far, b"new").unwrap();
            assert!(std::fs::symlink_metadata(&far).unwrap().is_symlink());
            assert_eq!(
                names_in(&folder.path().join("shelf")),
                ["out"],
                "it is made in the folder of the target, with nothing left"
            );
            symlink("no such folder/out", &nowhere).unwrap();
            for message in
                [check_writable(&nowhere), write_bytes_atomically(&nowhere, b"new")].map(|r| r.unwrap_err().to_string())
            {
                assert!(message.contains("link to no such folder/out, in a folder that does not exist"), "{message}");
            }
            assert!(std::fs::symlink_metadata(&nowhere).unwrap().is_symlink(), "a link that leads nowhere stays one");
            symlink("circle", &circle).unwrap();
            let message = check_writable(&circle).unwrap_err().to_string();
            assert!(message.contains("links form a loop"), "{message}");
        }

        #[test]
        fn a_read_only_file_is_not_replaced() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("out");
            std::fs::write(&path, "old").unwrap();
            set_mode(&path, 0o444);
            let error = write_bytes_atomically(&path, b"new").unwrap_err();
            assert!(error.to_string().contains("permission denied"), "{error}");
            assert_eq!(std::fs::read(&path).unwrap(), b"old");
        }

        #[test]
        fn an_unwritable_folder_is_an_error_that_leaves_nothing() {
            let folder = tempfile::tempdir().unwrap();
            set_mode(folder.path(), 0o555);
            let path = folder.path().join("out");
            let result = write_bytes_atomically(&path, b"x");
            // The superuser may write anywhere.
            if std::fs::write(folder.path().join("probe"), "").is_err() {
                assert!(matches!(result, Err(Error::Io { action: "write", .. })));
                assert!(!path.exists());
            }
            set_mode(folder.path(), 0o755);
        }

        #[test]
        fn a_full_disk_is_reported() {
            let full = Path::new("/dev/full");
            if full.exists() {
                let error = write_bytes_atomically(full, b"x").unwrap_err();
                assert!(error.to_string().contains("cannot write /dev/full"), "{error}");
            }
        }

        #[test]
        fn what_is_not_a_regular_file_is_written_to_directly() {
            write_bytes_atomically(Path::new("/dev/null"), b"x").unwrap();
            assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
        }
    }
}
