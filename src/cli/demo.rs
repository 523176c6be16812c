//! `agogic demo`: the built-in piece as files.

use std::path::{Path, PathBuf};

use super::args::DemoArgs;
use crate::base::atomic_file::write_output;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

pub(super) fn run(ctx: &JobContext, quiet: bool, args: &DemoArgs) -> Result<()> {
    for path in write(ctx, &args.dir)? {
        if !quiet {
            super::print(format!("{}\n", path.display()).as_bytes())?;
        }
    }
    Ok(())
}

/// Writes performance, score and truth into a folder, which is made if it does not exist.
pub(super) fn write(ctx: &JobContext, dir: &Path) -> Result<[PathBuf; 3]> {
    std::fs::create_dir_all(dir).map_err(|source| Error::io("create", dir, source))?;
    let files = crate::demo::files().map(|(name, bytes)| (dir.join(name), bytes));
    // The names are so common that a file of that name is most likely the user's own.
    for (path, bytes) in &files {
        if std::fs::read(path).is_ok_and(|existing| existing != *bytes) {
            let path = path.display().to_string();
            return Err(Error::unsuitable(path, "another file has that name", "choose an empty or a new folder"));
        }
    }
    for (path, bytes) in &files {
        write_output(ctx, path, bytes)?;
    }
    Ok(files.map(|(path, _)| path))
}
