use proptest::prelude::*;

use super::*;
use crate::base::job::JobContext;
use crate::score::{Score, SynthParams, synthesise};

/// The built-in font with one generator, which it must have, set to another value everywhere.
pub(in crate::score) fn builtin_with(generator: u16, amount: i16) -> SoundFont {
    let mut bytes = BUILTIN_BYTES.to_vec();
    let igen = bytes.windows(4).rposition(|w| w == b"igen").unwrap() + 8;
    let shdr = bytes.windows(4).rposition(|w| w == b"shdr").unwrap();
    for entry in bytes[igen..shdr].chunks_exact_mut(4).filter(|e| e[..2] == generator.to_le_bytes()) {
        entry[2..].copy_from_slice(&amount.to_le_bytes());
    }
    let font = parse(Path::new("changed.sf2"), &mut Cursor::new(bytes)).unwrap();
    SoundFont { font: Arc::new(font), path: None }
}

fn in_folder(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn refusal(name: &str, bytes: &[u8]) -> String {
    let (_folder, path) = in_folder(name, bytes);
    let error = SoundFont::read(&path).unwrap_err().to_string();
    assert!(error.contains(name), "{error}");
    error
}

#[test]
fn the_built_in_font_loads_and_is_shared() {
    let font = SoundFont::builtin();
    assert_eq!(font.name(), "Agogic piano");
    assert!(font.path().is_none());
    assert!(Arc::ptr_eq(font.shared(), SoundFont::load(None).unwrap().shared()));
    assert!((1_000_000..3_000_000).contains(&BUILTIN_BYTES.len()));
}

#[test]
fn every_key_and_velocity_is_covered_exactly_once() {
    let font = SoundFont::builtin();
    let regions = font.shared().get_instruments()[0].get_regions();
    for key in 0..128 {
        for velocity in 1..128 {
            let matching = regions.iter().filter(|r| {
                (r.get_key_range_start()..=r.get_key_range_end()).contains(&key)
                    && (r.get_velocity_range_start()..=r.get_velocity_range_end()).contains(&velocity)
            });
            assert_eq!(matching.count(), 1, "key {key}, velocity {velocity}");
        }
    }
}

#[test]
fn a_file_is_read_once_and_again_after_it_changed() {
    let (_folder, path) = in_folder("piano.sf2", BUILTIN_BYTES);
    let first = SoundFont::read(&path).unwrap();
    assert_eq!(first.path(), Some(path.as_path()));
    assert_eq!(first.shared().get_wave_data().len(), SoundFont::builtin().shared().get_wave_data().len());
    std::fs::write(&path, b"nothing of the kind").unwrap();
    assert!(SoundFont::read(&path).is_err());
}

#[test]
fn compressed_fonts_are_named_as_such() {
    let wanted = "SF3 (compressed) is not supported; use an SF2";
    let mut version_3 = BUILTIN_BYTES.to_vec();
    let ifil = version_3.windows(4).position(|w| w == b"ifil").unwrap();
    version_3[ifil + 8] = 3;
    assert!(refusal("new.sf2", &version_3).contains(wanted));
    let mut ogg = BUILTIN_BYTES.to_vec();
    let smpl = ogg.windows(4).position(|w| w == b"smpl").unwrap();
    ogg[smpl + 8..smpl + 12].copy_from_slice(b"OggS");
    assert!(refusal("ogg.sf2", &ogg).contains(wanted));
}

#[test]
fn what_is_no_font_is_refused_with_its_name() {
    assert!(refusal("empty.sf2", b"").contains("not a SoundFont"));
    assert!(refusal("text.sf2", b"RIFF, but not really").contains("not a SoundFont"));
    let short = &BUILTIN_BYTES[..BUILTIN_BYTES.len() / 2];
    assert!(refusal("short.sf2", short).contains("beyond the end"));
    let folder = tempfile::tempdir().unwrap();
    assert!(SoundFont::read(folder.path()).is_err());
    let missing = SoundFont::read(&folder.path().join("none.sf2")).unwrap_err();
    assert!(matches!(missing, Error::Io { .. }) && missing.to_string().contains("none.sf2"));
}

#[test]
fn fonts_are_found_in_folders_and_each_once() {
    let (folder, path) = in_folder("b.sf2", b"");
    std::fs::write(folder.path().join("a.SF2"), b"").unwrap();
    std::fs::write(folder.path().join("c.sf3"), b"").unwrap();
    let twice = [folder.path().to_owned(), folder.path().to_owned(), folder.path().join("missing")];
    let found = soundfonts_in(&twice);
    let base = folder.path().canonicalize().unwrap();
    assert_eq!(found, [base.join("a.SF2"), base.join(path.file_name().unwrap())]);
    system_soundfonts();
}

/// The font without most of its samples' bytes, so that damage is cheap to try.
fn parameters_start() -> usize {
    BUILTIN_BYTES.windows(4).rposition(|w| w == b"pdta").unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn damaged_fonts_never_hang_or_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), any::<bool>()), 1..8),
    ) {
        let mut bytes = BUILTIN_BYTES.to_vec();
        let parameters = parameters_start();
        for (index, byte, in_header) in changes {
            let at = if in_header { index.index(120) } else { parameters + index.index(bytes.len() - parameters) };
            bytes[at] = byte;
        }
        if let Ok(font) = parse(Path::new("damaged.sf2"), &mut Cursor::new(bytes)) {
            let params = SynthParams { soundfont: SoundFont { font: Arc::new(font), path: None }, ..Default::default() };
            let scale = scale();
            let _ = synthesise(&JobContext::new(), &scale, &params);
        }
    }
}

/// A short run over many keys.
fn scale() -> Score {
    let mut track = Vec::new();
    for key in (21..109).step_by(4) {
        track.extend([0, 0x90, key, key, 4, 0x80, key, 0]);
    }
    track.extend([0, 0xFF, 0x2F, 0]);
    let mut bytes = b"MThd\0\0\0\x06\0\0\0\x01\0\x60MTrk".to_vec();
    bytes.extend((track.len() as u32).to_be_bytes());
    bytes.extend(track);
    Score::from_bytes(Path::new("scale.mid"), &bytes).unwrap()
}
