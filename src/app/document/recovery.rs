//! What survives a crash: each running window keeps its session in a slot of its own, held by a lock that the system
//! releases with the process.

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::app::folder;

/// How many windows can have a slot at once.
const SLOTS: usize = 16;

/// The slot of this window.
#[derive(Debug)]
pub struct Recovery {
    file: PathBuf,
    /// Held as long as the window lives.
    _lock: File,
}

/// A slot, and the sessions that crashed windows left behind.
#[derive(Debug, Default)]
pub struct Found {
    /// This window's slot; none if no folder can be written.
    pub slot: Option<Recovery>,
    /// A session to recover.
    pub left_behind: Option<PathBuf>,
}

/// Takes a slot. If a slot that nobody holds has a session in it, its window did not end well: that session is moved aside
/// to be offered.
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
        let aside = user_folder.join("recovered.agogic");
        if found.left_behind.is_none() && file.is_file() && std::fs::rename(&file, &aside).is_ok() {
            found.left_behind = Some(aside);
        }
        if found.slot.is_none() && !file.is_file() {
            found.slot = Some(Recovery { file, _lock: lock });
        }
    }
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
    fn a_session_of_a_dead_window_is_found_and_one_of_a_living_window_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let living = take_slot(folder.path());
        let living_slot = living.slot.unwrap();
        std::fs::write(living_slot.file(), "alive").unwrap();
        let dead = take_slot(folder.path());
        assert!(dead.left_behind.is_none());
        let dead_slot = dead.slot.unwrap();
        assert_ne!(dead_slot.file(), living_slot.file());
        std::fs::write(dead_slot.file(), "crashed").unwrap();
        drop(dead_slot);
        let next = take_slot(folder.path());
        assert_eq!(std::fs::read_to_string(next.left_behind.unwrap()).unwrap(), "crashed");
        assert_eq!(std::fs::read_to_string(living_slot.file()).unwrap(), "alive");
        next.slot.unwrap().clear();
    }
}
