//! Where the system keeps what can be made again.

use std::env;
use std::path::PathBuf;

/// The program's folder for caches, whether or not it exists yet; `None` if the system does not say where.
pub fn cache_folder() -> Option<PathBuf> {
    let from = |variable: &str| env::var_os(variable).filter(|v| !v.is_empty()).map(PathBuf::from);
    let base = if cfg!(windows) {
        from("LOCALAPPDATA")
    } else if cfg!(target_os = "macos") {
        from("HOME").map(|home| home.join("Library").join("Caches"))
    } else {
        from("XDG_CACHE_HOME").or_else(|| from("HOME").map(|home| home.join(".cache")))
    };
    base.map(|base| base.join("agogic"))
}
