//! SoundFonts: the built-in piano, files of the user, and those that the system has.

use std::fmt;
use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::SystemTime;

use rustysynth::SoundFontError;

use crate::base::containment::contained;
use crate::base::error::{Error, Result};

/// The piano in the binary; `examples/make_soundfont` makes it.
static BUILTIN_BYTES: &[u8] = include_bytes!("../../assets/agogic-piano.sf2");

/// A parsed SoundFont. Cheap to clone: clones share the samples.
#[derive(Clone)]
pub struct SoundFont {
    font: Arc<rustysynth::SoundFont>,
    path: Option<PathBuf>,
}

impl SoundFont {
    /// The built-in piano, which plays every program. It is parsed once.
    pub fn builtin() -> Self {
        static BUILTIN: OnceLock<Arc<rustysynth::SoundFont>> = OnceLock::new();
        let font = BUILTIN.get_or_init(|| {
            let font = rustysynth::SoundFont::new(&mut Cursor::new(BUILTIN_BYTES));
            Arc::new(font.expect("a test loads the very bytes that are compiled in"))
        });
        Self { font: Arc::clone(font), path: None }
    }

    /// Reads an SF2 file. The last file read is kept, so that reading it again costs nothing.
    pub fn read(path: &Path) -> Result<Self> {
        let file = File::open(path).map_err(|e| Error::io("read", path, e))?;
        let about = file.metadata().map_err(|e| Error::io("read", path, e))?;
        if about.is_dir() {
            return Err(Error::malformed(path, "this is a folder, not a SoundFont", "name an SF2 file inside it"));
        }
        let key = CacheKey { path: path.to_owned(), modified: about.modified().ok(), bytes: about.len() };
        static LAST_READ: Mutex<Option<(CacheKey, Arc<rustysynth::SoundFont>)>> = Mutex::new(None);
        let mut last_read = LAST_READ.lock().unwrap_or_else(PoisonError::into_inner);
        let font = match &*last_read {
            Some((known, font)) if *known == key => Arc::clone(font),
            _ => {
                let font = Arc::new(parse(path, &mut BufReader::new(file))?);
                *last_read = Some((key, Arc::clone(&font)));
                font
            }
        };
        Ok(Self { font, path: Some(path.to_owned()) })
    }

    /// Reads an SF2 file that is in memory. `name` stands for it in messages.
    pub(crate) fn from_bytes(name: &Path, bytes: &[u8]) -> Result<Self> {
        Ok(Self { font: Arc::new(parse(name, &mut Cursor::new(bytes))?), path: Some(name.to_owned()) })
    }

    /// The file if one is given, the built-in piano otherwise.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        path.map_or_else(|| Ok(Self::builtin()), Self::read)
    }

    /// The file it was read from; `None` for the built-in piano.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Its name, for people to read.
    pub fn name(&self) -> String {
        let inner = self.font.get_info().get_bank_name().trim();
        match (&self.path, inner.is_empty()) {
            (Some(path), true) => path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            _ => inner.to_owned(),
        }
    }

    /// Whether it has a sound of its own for a General MIDI program.
    pub(crate) fn has_program(&self, program: u8) -> bool {
        let presets = self.font.get_presets();
        presets.iter().any(|preset| preset.get_bank_number() == 0 && preset.get_patch_number() == i32::from(program))
    }

    pub(super) fn shared(&self) -> &Arc<rustysynth::SoundFont> {
        &self.font
    }
}

impl fmt::Debug for SoundFont {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SoundFont").field("name", &self.name()).field("path", &self.path).finish_non_exhaustive()
    }
}

#[derive(PartialEq)]
struct CacheKey {
    path: PathBuf,
    modified: Option<SystemTime>,
    bytes: u64,
}

const USE_SF2: &str = "use an SF2 file, or omit it to use the built-in piano";

fn parse(path: &Path, reader: &mut (impl Read + Seek)) -> Result<rustysynth::SoundFont> {
    if check_riff(path, reader)? >= 3 {
        return Err(sf3(path));
    }
    // The parser was written for sound files and may panic on damaged ones.
    match contained(|| rustysynth::SoundFont::new(reader)) {
        Some(Ok(font)) => Ok(font),
        Some(Err(SoundFontError::UnsupportedSampleFormat)) => Err(sf3(path)),
        Some(Err(_)) if path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sf3")) => Err(sf3(path)),
        Some(Err(cause)) => Err(Error::malformed(path, format!("damaged SoundFont ({cause})"), USE_SF2)),
        None => Err(Error::malformed(path, "damaged SoundFont", USE_SF2)),
    }
}

fn sf3(path: &Path) -> Error {
    Error::unsupported(path, "SF3 (compressed)", "use an SF2")
}

/// Checks that every chunk lies within the file, because the parser reserves what a chunk claims. Returns the version.
fn check_riff(path: &Path, reader: &mut (impl Read + Seek)) -> Result<u16> {
    let io = |e| Error::io("read", path, e);
    let end = reader.seek(SeekFrom::End(0)).map_err(io)?;
    reader.rewind().map_err(io)?;
    let mut head = [0; 12];
    let begins_well = end >= 12 && reader.read_exact(&mut head).is_ok();
    if !begins_well || &head[..4] != b"RIFF" || &head[8..] != b"sfbk" {
        return Err(Error::malformed(path, "this is not a SoundFont", USE_SF2));
    }
    let mut version = 2;
    let mut at = 12;
    // Lists are entered, other chunks skipped; fewer than eight bytes at the end are padding.
    while at + 8 <= end {
        reader.seek(SeekFrom::Start(at)).map_err(io)?;
        let mut head = [0; 8];
        reader.read_exact(&mut head).map_err(io)?;
        let (id, length) = (&head[..4], u64::from(u32::from_le_bytes([head[4], head[5], head[6], head[7]])));
        if at + 8 + length > end {
            let cause = format!("damaged SoundFont: a chunk at byte {at} reaches beyond the end of the file");
            return Err(Error::malformed(path, cause, USE_SF2));
        }
        if id == b"ifil" && length >= 2 {
            let mut major = [0; 2];
            reader.read_exact(&mut major).map_err(io)?;
            version = u16::from_le_bytes(major);
        }
        at += if id == b"LIST" { 12 } else { 8 + length };
    }
    reader.rewind().map_err(io)?;
    Ok(version)
}

/// SF2 files in the folders where systems and notation programs keep them, sorted.
pub fn system_soundfonts() -> Vec<PathBuf> {
    soundfonts_in(&usual_folders())
}

fn usual_folders() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    let mut folders: Vec<PathBuf> = Vec::new();
    if cfg!(windows) {
        folders.push(r"C:\soundfonts".into());
        for variable in ["ProgramFiles", "ProgramData", "LOCALAPPDATA"] {
            if let Some(base) = std::env::var_os(variable) {
                folders.push(Path::new(&base).join("SoundFonts"));
                folders.push(Path::new(&base).join("MuseScore 4").join("sound"));
            }
        }
    } else {
        for folder in ["/usr/share", "/usr/local/share", "/opt/homebrew/share"] {
            let base = Path::new(folder);
            folders.extend(["sounds/sf2", "soundfonts", "sounds"].map(|inner| base.join(inner)));
        }
        folders.push("/Library/Audio/Sounds/Banks".into());
    }
    if let Some(home) = home {
        let inside = [
            ".local/share/soundfonts",
            ".local/share/sounds/sf2",
            "Library/Audio/Sounds/Banks",
            "Documents/MuseScore4/SoundFonts",
        ];
        folders.extend(inside.map(|inner| home.join(inner)));
    }
    folders
}

fn soundfonts_in(folders: &[PathBuf]) -> Vec<PathBuf> {
    let entries = folders.iter().filter_map(|folder| std::fs::read_dir(folder).ok()).flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    let mut found: Vec<PathBuf> = paths
        .filter(|path| path.extension().is_some_and(|e| e.eq_ignore_ascii_case("sf2")) && path.is_file())
        // Distributions link several names to one file; it is offered once.
        .map(|path| path.canonicalize().unwrap_or(path))
        .collect();
    found.sort();
    found.dedup();
    found
}

#[cfg(test)]
#[path = "soundfont_tests.rs"]
pub(in crate::score) mod tests;
