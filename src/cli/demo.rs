//! `agogic demo`: the built-in piece as files.

use super::args::DemoArgs;
use crate::base::atomic_file::write_bytes_atomically;
use crate::base::error::{Error, Result};

pub(super) fn run(quiet: bool, args: &DemoArgs) -> Result<()> {
    std::fs::create_dir_all(&args.dir).map_err(|source| Error::io("create", &args.dir, source))?;
    for (name, bytes) in crate::demo::files() {
        let path = args.dir.join(name);
        write_bytes_atomically(&path, bytes)?;
        if !quiet {
            super::print(format!("{}\n", path.display()).as_bytes())?;
        }
    }
    Ok(())
}
