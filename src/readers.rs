//! Every reader of foreign bytes under one roof, for the fuzz targets in `fuzz/` and the test that replays what they found.
//!
//! A reader is given the bytes of a file and answers as the program would: nothing, or the sentence that the user sees.

use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::audio::decode_bytes;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;
use crate::base::manifest::Manifest;
use crate::bench::problems;
use crate::cli::batch::{Shard, manifest, summary};
use crate::cli::like;
use crate::evaluation::{BeatClock, TimeMap, evaluate, read_ground_truth, read_prediction};
use crate::export::read_alignment;
use crate::learning::checkpoint::{self, Checkpoint};
use crate::learning::find_pieces;
use crate::making::sampler::SampleLibrary;
use crate::networks::{Device, import, open_model};
use crate::score::{Score, SoundFont, SynthParams, Take, WrittenScore, synthesise};

/// What is said of a file.
pub type Answer = std::result::Result<(), String>;

/// Reads the bytes of a file.
pub type Reader = fn(&[u8]) -> Answer;

/// All readers by the names of their fuzz targets.
pub const READERS: &[(&str, Reader)] = &[
    ("wav", |bytes| audio("x.wav", bytes)),
    ("aiff", |bytes| audio("x.aiff", bytes)),
    ("caf", |bytes| audio("x.caf", bytes)),
    ("flac", |bytes| audio("x.flac", bytes)),
    ("ogg", |bytes| audio("x.ogg", bytes)),
    ("mp3", |bytes| audio("x.mp3", bytes)),
    ("aac", |bytes| audio("x.aac", bytes)),
    ("mp4", |bytes| audio("x.m4a", bytes)),
    ("mkv", |bytes| audio("x.mkv", bytes)),
    ("midi", |bytes| score("x.mid", bytes)),
    ("take", |bytes| answer(Take::from_bytes(Path::new("x.mid"), bytes))),
    ("musicxml", |bytes| score("x.musicxml", bytes)),
    ("mxl", |bytes| score("x.mxl", bytes)),
    ("mei", |bytes| score("x.mei", bytes)),
    ("kern", |bytes| score("x.krn", bytes)),
    ("soundfont", |bytes| answer(soundfont(bytes))),
    ("model", |bytes| answer(of_file("x.safetensors", bytes, model))),
    ("card", |bytes| answer(card(bytes).and_then(|file| of_file("x.safetensors", &file, model)))),
    ("checkpoint", |bytes| answer(of_file("x.ckpt", bytes, import))),
    ("pickle", |bytes| answer(checkpoint_of(bytes).and_then(|file| of_file("x.ckpt", &file, import)))),
    ("training", |bytes| answer(of_file("x.checkpoint", &training(bytes), |path| Checkpoint::read(path, &[0; 32])))),
    #[cfg(any(feature = "gui", fuzzing))]
    ("session", |bytes| answer(of_file("x.agogic", bytes, crate::app::document::session::Session::read))),
    ("manifest", |bytes| answer(of_file("x.csv", bytes, list))),
    ("truth", |bytes| answer(of_file("x.csv", bytes, truth))),
    ("match", |bytes| answer(of_file("x.match", bytes, truth))),
    ("asap", |bytes| answer(asap(bytes))),
    ("alignment", |bytes| answer(read_alignment(Path::new("x.json"), bytes))),
    ("like", |bytes| answer(of_file("x.json", bytes, like::read_settings))),
    ("record", |bytes| answer(of_file("x.record.json", bytes, summary::read_record))),
    ("table", |bytes| answer(of_file("pieces-x.parquet", bytes, summary::read_table))),
    ("samples", |bytes| answer(of_file("samples.csv", bytes, |path| SampleLibrary::open(path.parent().as_slice())))),
    ("problems", |bytes| answer(of_file("problems.csv", bytes, problems::read_table))),
];

/// The reader of this name.
pub fn reader(name: &str) -> Option<Reader> {
    READERS.iter().find(|(known, _)| *known == name).map(|(_, reader)| *reader)
}

/// What is wrong with an answer: it has to be one line of readable text, and no longer than a few sentences.
pub fn complaint(answer: &Answer) -> Option<String> {
    const LONGEST: usize = 1000;
    let message = answer.as_ref().err()?;
    let fault = match message {
        message if message.trim().is_empty() => "is empty",
        message if message.chars().count() > LONGEST => "is too long",
        message if message.chars().any(char::is_control) => "has control characters in it, or more than one line",
        _ => return None,
    };
    let shown: String = message.chars().take(LONGEST).collect();
    Some(format!("the message {fault}: {shown:?}"))
}

fn answer<T>(result: Result<T>) -> Answer {
    result.map(drop).map_err(|error| error.to_string())
}

/// For readers that take a path: writes the bytes to a temporary file and reads that.
fn of_file<T>(name: &str, bytes: &[u8], read: impl FnOnce(&Path) -> Result<T>) -> Result<T> {
    let failed = |error| Error::io("write", name, error);
    let folder = tempfile::tempdir().map_err(failed)?;
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).map_err(failed)?;
    read(&path)
}

fn audio(name: &str, bytes: &[u8]) -> Answer {
    answer(decode_bytes(&JobContext::new(), name, bytes.to_owned()).and_then(|decoded| decoded.clip.check_usable(name)))
}

/// Reads a score as it is played and as it is written, and asks what a comparison asks.
fn score(name: &str, bytes: &[u8]) -> Answer {
    let read = Score::from_bytes(Path::new(name), bytes).map(|score| BeatClock::of_score(&score).first_beat());
    answer(read.and_then(|_| WrittenScore::from_bytes(Path::new(name), bytes)))
}

/// Most of a SoundFont is only read when it is played.
fn soundfont(bytes: &[u8]) -> Result<()> {
    const TWO_NOTES: &[u8] = b"MThd\0\0\0\x06\0\0\0\x01\x01\xe0MTrk\0\0\0\x16\
        \0\x90\x3c\x50\x60\x80\x3c\0\0\x90\x48\x50\x60\x80\x48\0\0\xff\x2f\0";
    let soundfont = SoundFont::from_bytes(Path::new("x.sf2"), bytes)?;
    let score = Score::from_bytes(Path::new("x.mid"), TWO_NOTES)?;
    let params = SynthParams { soundfont, tail_s: 0.1, ..SynthParams::default() };
    synthesise(&JobContext::new(), &score, &params).map(drop)
}

fn model(path: &Path) -> Result<()> {
    open_model(&path.to_string_lossy(), &Device::Cpu).map(drop)
}

/// A model without weights that has this text for its card.
fn card(bytes: &[u8]) -> Result<Vec<u8>> {
    let none: [(&str, safetensors::tensor::TensorView<'_>); 0] = [];
    let card = String::from_utf8_lossy(bytes).into_owned();
    safetensors::serialize(none, Some([("card".to_owned(), card)].into()))
        .map_err(|error| unmade("x.safetensors", error))
}

/// A PyTorch checkpoint with this index, and one array: the sums in an archive would hide it from the fuzzer.
fn checkpoint_of(index: &[u8]) -> Result<Vec<u8>> {
    let mut archive = ZipWriter::new(Cursor::new(Vec::new()));
    let plain = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in [("a/data.pkl", index), ("a/data/0", &[0; 256])] {
        archive.start_file(name, plain).map_err(|error| unmade("x.ckpt", error))?;
        archive.write_all(content).map_err(|error| Error::io("write", "x.ckpt", error))?;
    }
    Ok(archive.finish().map_err(|error| unmade("x.ckpt", error))?.into_inner())
}

/// A stored training with this content, under its sum.
fn training(content: &[u8]) -> Vec<u8> {
    let mut bytes = [checkpoint::MAGIC, [0; 32].as_slice(), content].concat();
    let sum = Sha256::digest(&bytes);
    bytes.extend(sum);
    bytes
}

/// Lists are read for batches and for trainings.
fn list(path: &Path) -> Result<()> {
    manifest::read(path, Shard { index: 1, count: 1 })?;
    Manifest::read(path)?;
    find_pieces(path).map(drop)
}

/// Reads a truth and a prediction, and compares them.
fn truth(path: &Path) -> Result<()> {
    let clock = BeatClock::from_rows(vec![(0.0, 0.0), (4.0, 2.0), (8.0, 5.0)]);
    let truth = read_ground_truth(path, clock.as_ref())?;
    figures(&truth, &truth)?;
    let prediction = read_prediction(path)?;
    figures(&prediction.times, &truth)
}

/// An annotation of a performance and, behind a form feed, that of its score.
fn asap(bytes: &[u8]) -> Result<()> {
    let mut halves = bytes.splitn(2, |&byte| byte == b'\x0c');
    let (performance, score) = (halves.next().unwrap_or_default(), halves.next().unwrap_or(bytes));
    of_file("x.txt", performance, |path: &Path| {
        let beside: PathBuf = path.with_file_name("midi_score_annotations.txt");
        std::fs::write(&beside, score).map_err(|error| Error::io("write", &beside, error))?;
        let truth = read_ground_truth(path, None)?;
        figures(&truth, &truth)
    })
}

/// Figures of legal times are numbers.
fn figures(prediction: &TimeMap, truth: &TimeMap) -> Result<()> {
    let figures = evaluate(prediction, truth);
    let all = [figures.time_err_ms, figures.time_dev_ms, figures.onset_p95_ms, figures.mir_eval.correct_segments];
    assert!(all.iter().all(|figure| figure.is_finite()), "{figures:?}");
    Ok(())
}

fn unmade(name: &str, error: impl std::error::Error + Send + Sync + 'static) -> Error {
    Error::io("write", name, std::io::Error::other(error))
}
