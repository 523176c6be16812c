//! Where preferences and recovery files live.

use std::env;
use std::path::{Path, PathBuf};

/// The program's own folder for this user, whether or not it exists yet; none if the system does not say where.
pub fn user_folder() -> Option<PathBuf> {
    if let Some(folder) = env::var_os("AGOGIC_HOME").filter(|folder| !folder.is_empty()) {
        return Some(PathBuf::from(folder));
    }
    // An empty HOME would mean wherever the program was started.
    let home = env::home_dir().filter(|home| home.is_absolute());
    let base = if cfg!(target_os = "windows") {
        env::var_os("APPDATA").map(PathBuf::from)
    } else if cfg!(target_os = "macos") {
        home.map(|home| home.join("Library/Application Support"))
    } else {
        let configured = env::var_os("XDG_CONFIG_HOME").map(PathBuf::from).filter(|folder| folder.is_absolute());
        configured.or_else(|| home.map(|home| home.join(".config")))
    };
    base.map(|base| base.join("agogic"))
}

/// Makes a folder if it is not there; whether it is there now.
pub fn ensure(folder: &Path) -> bool {
    folder.is_dir() || std::fs::create_dir_all(folder).is_ok()
}
