//! What survives a crash: each running window keeps its session in a slot of its own, held by a lock that the system
//! releases with the process.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::app::folder;

/// How many slots there are for running windows and for what crashed ones left.
const SLOTS: usize = 100;

/// The slot of this window.
#[derive(Debug)]
pub struct Recovery {
    file: PathBuf,
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
#[derive(Debug, Default)]
pub struct Found {
    /// This window's slot; none if no folder can be written.
    pub slot: Option<Recovery>,
    /// Sessions to recover, the latest first.
    pub left_behind: Vec<Leftover>,
}

/// Takes a free slot, and finds the sessions in slots that nobody holds: their windows did not end well.
pub fn take_slot(user_folder: &Path) -> Found {
    let mut found = Found::default();
    if !folder::ensure(user_folder) {
        return found;
    }
    for slot in 0..SLOTS {
        let file = user_folder.join(format!("recovery-{slot}.agogic"));
        if found.slot.is_some() && !file.is_file() {
            continue;
        }
        let Ok(lock) = File::create(user_folder.join(format!("recovery-{slot}.lock"))) else { continue };
        if lock.try_lock().is_err() {
            continue;
        }
        if file.is_file() {
            found.left_behind.push(Leftover { file, _lock: lock });
        } else if found.slot.is_none() {
            found.slot = Some(Recovery { file, _lock: lock });
        }
    }
    let written = |left: &Leftover| std::fs::metadata(&left.file).and_then(|about| about.modified()).ok();
    found.left_behind.sort_by_key(|left| std::cmp::Reverse(written(left)));
    found
}

impl Recovery {
    /// Where this window's session is kept.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Takes the session away: it is safe, or not wanted.
    pub fn clear(&self) {
        // Nothing there is what is wanted.
        let _ = std::fs::remove_file(&self.file);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_of_dead_windows_are_found_until_they_are_removed_and_those_of_living_ones_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let living = take_slot(folder.path()).slot.unwrap();
        std::fs::write(living.file(), "alive").unwrap();
        let dead: Vec<Recovery> = (0..2).map(|_| take_slot(folder.path()).slot.unwrap()).collect();
        assert!(dead.iter().all(|slot| slot.file() != living.file()));
        for slot in dead {
            std::fs::write(slot.file(), "crashed").unwrap();
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
        assert_eq!(std::fs::read_to_string(living.file()).unwrap(), "alive");
    }
}
