//! What survives a crash: each running window keeps its session in a slot of its own, held by a lock that the system
//! releases with the process.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, TryLockError as Busy};

use super::session::Session;
use crate::app::folder;
use crate::base::error::Result;
use crate::base::job::JobContext;

/// How many slots there are for running windows and for what crashed ones left.
const SLOTS: usize = 100;

/// Where the session of a window is kept. One thread at a time writes or removes it, so that what was removed does not come
/// back.
#[derive(Debug, Clone)]
pub struct RecoveryFile {
    path: PathBuf,
    turn: Arc<Mutex<()>>,
}

impl RecoveryFile {
    /// Keeps the session, unless that is no longer wanted.
    pub fn write(&self, ctx: &JobContext, session: Session) -> Result<()> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        session.write(ctx, &self.path).map(drop)
    }

    /// Takes the session away: it is safe elsewhere, or not wanted.
    pub fn remove(&self) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.remove_now();
    }

    fn remove_now(&self) {
        // Nothing there is what is wanted.
        let _ = std::fs::remove_file(&self.path);
    }
}

/// The slot of this window.
#[derive(Debug)]
pub struct Recovery {
    file: RecoveryFile,
    /// Held as long as the window lives.
    _lock: File,
}

/// The session of a window that did not end well. It stays where it is until it is removed: whoever is killed before that leaves
/// it to the next window.
#[derive(Debug)]
pub struct Leftover {
    file: PathBuf,
    /// Keeps other windows from offering it too.
    _lock: File,
}

impl Leftover {
    /// The session.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Takes the session away: it is safe elsewhere, or not wanted.
    pub fn remove(self) {
        // Gone already is as good.
        let _ = std::fs::remove_file(&self.file);
    }
}

/// A slot, and the sessions that crashed windows left behind.
#[derive(Debug)]
pub struct Found {
    /// This window's slot, or why there is none.
    pub slot: std::result::Result<Recovery, &'static str>,
    /// Sessions to recover, the latest first.
    pub left_behind: Vec<Leftover>,
}

/// Takes a free slot, and finds the sessions in slots that nobody holds: their windows did not end well.
pub fn take_slot(user_folder: &Path) -> Found {
    let mut found = Found { slot: Err("it cannot be written"), left_behind: Vec::new() };
    if !folder::ensure(user_folder) {
        return found;
    }
    for slot in 0..SLOTS {
        let file = user_folder.join(format!("recovery-{slot}.agogic"));
        if found.slot.is_ok() && !file.is_file() {
            continue;
        }
        let Ok(lock) = File::create(user_folder.join(format!("recovery-{slot}.lock"))) else { continue };
        match lock.try_lock() {
            Ok(()) if file.is_file() => found.left_behind.push(Leftover { file, _lock: lock }),
            Ok(()) if found.slot.is_err() => {
                let file = RecoveryFile { path: file, turn: Arc::default() };
                found.slot = Ok(Recovery { file, _lock: lock });
            }
            Ok(()) => {}
            Err(cause) => {
                let why = match cause {
                    TryLockError::WouldBlock => "too many windows use it",
                    TryLockError::Error(_) => "its file system has no locks",
                };
                found.slot = found.slot.map_err(|_| why);
            }
        }
    }
    let written = |left: &Leftover| std::fs::metadata(&left.file).and_then(|about| about.modified()).ok();
    found.left_behind.sort_by_key(|left| std::cmp::Reverse(written(left)));
    found
}

impl Recovery {
    /// Where this window's session is kept.
    pub fn file(&self) -> &RecoveryFile {
        &self.file
    }

    /// Takes the session away when the window closes, unless it is still being written: then the drive does not answer.
    pub fn clear(&self) {
        if !matches!(self.file.turn.try_lock(), Err(Busy::WouldBlock)) {
            self.file.remove_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::settings::Settings;
    use crate::app::document::source::Sources;

    #[test]
    fn sessions_of_dead_windows_are_found_until_they_are_removed_and_those_of_living_ones_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let living = take_slot(folder.path()).slot.unwrap();
        std::fs::write(&living.file().path, "alive").unwrap();
        let dead: Vec<Recovery> = (0..2).map(|_| take_slot(folder.path()).slot.unwrap()).collect();
        assert!(dead.iter().all(|slot| slot.file().path != living.file().path));
        for slot in dead {
            std::fs::write(&slot.file().path, "crashed").unwrap();
        }
        // Killed while the offer shows: it is made again, but not by two windows at once.
        drop(take_slot(folder.path()));
        let mut next = take_slot(folder.path());
        assert_eq!(next.left_behind.len(), 2);
        assert!(take_slot(folder.path()).left_behind.is_empty());
        next.left_behind.remove(0).remove();
        drop(next);
        let last = take_slot(folder.path());
        assert_eq!(last.left_behind.len(), 1);
        assert_eq!(std::fs::read_to_string(last.left_behind[0].file()).unwrap(), "crashed");
        assert_eq!(std::fs::read_to_string(&living.file().path).unwrap(), "alive");
    }

    #[test]
    fn a_session_that_is_written_while_it_is_to_be_removed_does_not_come_back() {
        let folder = tempfile::tempdir().unwrap();
        let slot = take_slot(folder.path()).slot.unwrap();
        for _ in 0..20 {
            let ctx = JobContext::new();
            let (file, writing) = (slot.file().clone(), ctx.clone());
            let session = Session::new(&Sources::demo(), Settings::default());
            let writer = std::thread::spawn(move || file.write(&writing, session));
            std::thread::sleep(std::time::Duration::from_micros(300));
            ctx.cancel();
            slot.file().remove();
            let _ = writer.join().unwrap();
            assert!(!slot.file().path.exists());
        }
    }

    #[test]
    fn why_there_is_no_slot_is_said() {
        let folder = tempfile::tempdir().unwrap();
        let taken: Vec<Found> = (0..SLOTS).map(|_| take_slot(folder.path())).collect();
        assert!(taken.iter().all(|found| found.slot.is_ok()));
        assert_eq!(take_slot(folder.path()).slot.unwrap_err(), "too many windows use it");
        let file = folder.path().join("in the way");
        std::fs::write(&file, "").unwrap();
        assert_eq!(take_slot(&file).slot.unwrap_err(), "it cannot be written");
    }
}
