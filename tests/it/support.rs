//! Running the program, and making the files it is run on.

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use agogic::JobContext;
use agogic::{AudioClip, decode_bytes};
use midly::num::{u4, u7, u15, u24, u28};
use midly::{Format, Header, MetaMessage, MidiMessage, Smf, Timing, TrackEvent, TrackEventKind};
use tempfile::TempDir;

/// The program, not connected to this terminal.
pub fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_agogic"));
    command.stdin(Stdio::null());
    // Without it libraries of the desktop, which graphics drivers load, complain on stderr.
    if std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        command.env("XDG_RUNTIME_DIR", std::env::temp_dir());
    }
    command
}

/// What a finished run said.
pub struct Run {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl From<Output> for Run {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl Run {
    /// Passes the run on if it ended with 0.
    pub fn ok(self) -> Self {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self
    }

    /// Stdout as JSON.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {}", self.stdout))
    }

    /// TimeErr in the JSON summary.
    pub fn time_err_ms(&self) -> f64 {
        self.json()["metrics"]["time_err_ms"].as_f64().unwrap()
    }
}

/// Runs `agogic` with these arguments.
pub fn agogic<A: AsRef<std::ffi::OsStr>>(args: impl IntoIterator<Item = A>) -> Run {
    program().args(args).output().unwrap().into()
}

/// A folder with the demo piece, gone when it is dropped.
pub struct Demo {
    pub folder: TempDir,
    pub audio: PathBuf,
    pub score: PathBuf,
    pub truth: PathBuf,
}

impl Demo {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let [audio, score, truth] = agogic::demo_piece::files().map(|(name, bytes)| {
            let path = folder.path().join(name);
            std::fs::write(&path, bytes).unwrap();
            path
        });
        Self { folder, audio, score, truth }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a further file into the folder.
    pub fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// A copy of a shipped model in the folder.
    pub fn copy_of_model(&self, name: &str) -> PathBuf {
        let name = format!("{name}.safetensors");
        let shipped = Path::new(env!("CARGO_MANIFEST_DIR")).join("models").join(&name);
        self.file(&name, std::fs::read(shipped).unwrap())
    }

    /// `agogic align` of the demo with further arguments.
    pub fn align<A: AsRef<std::ffi::OsStr>>(&self, more: impl IntoIterator<Item = A>) -> Run {
        program().arg("align").args([&self.audio, &self.score]).args(more).output().unwrap().into()
    }

    /// The demo recording at the analysis rate.
    pub fn clip(&self) -> AudioClip {
        decode_bytes(&JobContext::new(), "performance.ogg", agogic::demo_piece::performance_bytes()).unwrap().clip
    }
}

/// Names of the files in a folder, sorted.
pub fn names_in(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

/// Writes a WAV file of float samples, interleaved.
pub fn write_float_wav(path: &Path, rate: u32, channels: u16, samples: impl IntoIterator<Item = f32>) {
    let spec =
        hound::WavSpec { channels, sample_rate: rate, bits_per_sample: 32, sample_format: hound::SampleFormat::Float };
    let mut writer = hound::WavWriter::create(path, spec).unwrap();
    for sample in samples {
        writer.write_sample(sample).unwrap();
    }
    writer.finalize().unwrap();
}

/// A note for [`midi`]: onset and length in ticks (480 to the quarter note), pitch.
pub type TickNote = (u32, u32, u8);

/// A Standard MIDI File of one track.
pub fn midi(micros_per_beat: u32, notes: &[TickNote]) -> Vec<u8> {
    let mut events: Vec<(u32, bool, u8)> = Vec::new();
    for &(onset, length, pitch) in notes {
        events.push((onset, true, pitch));
        events.push((onset + length, false, pitch));
    }
    events.sort_by_key(|&(tick, on, _)| (tick, on));
    let meta = |message| TrackEvent { delta: u28::new(0), kind: TrackEventKind::Meta(message) };
    let mut track = vec![meta(MetaMessage::Tempo(u24::new(micros_per_beat)))];
    let mut now = 0;
    for (tick, on, pitch) in events {
        let (key, vel) = (u7::new(pitch), u7::new(if on { 80 } else { 0 }));
        let message = MidiMessage::NoteOn { key, vel };
        let kind = TrackEventKind::Midi { channel: u4::new(0), message };
        track.push(TrackEvent { delta: u28::new(tick - now), kind });
        now = tick;
    }
    track.push(meta(MetaMessage::EndOfTrack));
    let header = Header::new(Format::SingleTrack, Timing::Metrical(u15::new(480)));
    written(&Smf { header, tracks: vec![track] })
}

/// The same music with every tempo mark scaled: 2 is twice as slow.
pub fn scale_tempo(bytes: &[u8], factor: f64) -> Vec<u8> {
    let mut smf = Smf::parse(bytes).unwrap();
    let mut found = false;
    for event in smf.tracks.iter_mut().flatten() {
        if let TrackEventKind::Meta(MetaMessage::Tempo(tempo)) = &mut event.kind {
            *tempo = u24::new((f64::from(tempo.as_int()) * factor) as u32);
            found = true;
        }
    }
    assert!(found, "the score has a tempo mark");
    written(&smf)
}

fn written(smf: &Smf<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    smf.write_std(&mut bytes).unwrap();
    bytes
}

/// Noise in -1 to 1 that is the same every time.
pub fn noise() -> impl Iterator<Item = f32> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1u64 << 23) as f32 - 1.0
    })
}
