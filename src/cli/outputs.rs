//! What a command may write to: never a file that it reads, and no file twice.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::base::atomic_file::resolve;
use crate::base::error::{Error, Result};

/// Refuses an output that is one of the inputs: the user's score or recording would be lost.
pub(super) fn check_not_an_input(output: &Path, inputs: &[&Path]) -> Result<()> {
    check_outputs([output], inputs.iter().copied())
}

/// Refuses outputs that are inputs, and two outputs that are one file.
pub(super) fn check_outputs<'a>(
    outputs: impl IntoIterator<Item = &'a Path>,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<()> {
    let read: HashMap<FileId, &Path> = inputs.into_iter().filter_map(|path| Some((FileId::of(path)?, path))).collect();
    let mut written = HashMap::new();
    for output in outputs {
        let Some(id) = FileId::of(output) else { continue };
        if let Some(input) = read.get(&id) {
            let allowed = format!("another file than {}, which is read", input.display());
            return Err(Error::invalid("the output", output.display(), allowed));
        }
        if let Some(other) = written.insert(id, output) {
            let allowed = format!("another file than {}, which is written too", other.display());
            return Err(Error::invalid("the output", output.display(), allowed));
        }
    }
    Ok(())
}

/// What makes two paths the same file: links of either kind are seen through where the system tells.
#[derive(PartialEq, Eq, Hash)]
enum FileId {
    #[cfg(unix)]
    Node {
        device: u64,
        inode: u64,
    },
    Path(PathBuf),
}

impl FileId {
    /// None for what cannot be replaced: a folder, a terminal, a pipe.
    fn of(path: &Path) -> Option<Self> {
        match std::fs::metadata(path) {
            Ok(facts) if !facts.is_file() => None,
            #[cfg(unix)]
            Ok(facts) => {
                use std::os::unix::fs::MetadataExt;
                Some(Self::Node { device: facts.dev(), inode: facts.ino() })
            }
            _ => Some(Self::Path(resolve(path).unwrap_or_else(|_| path.to_owned()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_recognised_by_every_way_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let input = folder.path().join("score.mid");
        std::fs::write(&input, "notes").unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let detour = folder.path().join("sub").join("..").join("score.mid");
        let mut ways = vec![input.clone(), detour];
        #[cfg(unix)]
        {
            let (hard, soft) = (folder.path().join("hard"), folder.path().join("soft"));
            std::fs::hard_link(&input, &hard).unwrap();
            std::os::unix::fs::symlink("score.mid", &soft).unwrap();
            ways.extend([hard, soft]);
        }
        for way in &ways {
            let error = check_not_an_input(way, &[Path::new("other.wav"), &input]).unwrap_err();
            assert!(matches!(error, Error::Invalid { .. }), "{error}");
            assert!(error.to_string().contains("score.mid, which is read"), "{error}");
        }
        check_not_an_input(&folder.path().join("new.csv"), &[&input]).unwrap();
    }

    #[test]
    fn two_outputs_may_share_a_device_but_no_file() {
        let folder = tempfile::tempdir().unwrap();
        let new = folder.path().join("new.csv");
        let detour = folder.path().join(".").join("new.csv");
        let error = check_outputs([new.as_path(), &detour], []).unwrap_err().to_string();
        assert!(error.contains("which is written too"), "{error}");
        // Nor in a folder that is yet to be made.
        let deep = folder.path().join("none").join("new.csv");
        assert!(check_outputs([deep.as_path(), &deep], []).is_err());
        #[cfg(unix)]
        check_outputs([Path::new("/dev/null"); 2], [Path::new("/dev/null")]).unwrap();
    }
}
