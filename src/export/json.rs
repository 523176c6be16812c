//! Agogic JSON: everything about an alignment, in one document that can be read back.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::events::{ChangePoint, change_points};
use super::{ExportInput, Exporter};
use crate::align::result::{AlignedNote, Alignment, Provenance, TempoPoint};
use crate::align::settings::Settings;
use crate::base::error::{Error, Result};
use crate::evaluation::{GroundTruth, Metrics};
use crate::warping::Warp;

/// Name and version of the document; a change that old readers cannot read raises the number.
const FORMAT: &str = "agogic-alignment/1";

/// The whole alignment.
pub struct Json;

#[derive(Serialize, Deserialize)]
struct Document {
    format: String,
    title: Option<String>,
    provenance: Provenance,
    settings: Settings,
    confidence: f64,
    #[serde(default = "certain")]
    match_confidence: f64,
    warnings: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    metrics: Option<Metrics>,
    warp: Knots,
    change_points: Vec<ChangePoint>,
    tempo: Vec<TempoPoint>,
    notes: Vec<DocumentNote>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reference: Option<GroundTruth>,
}

/// Results of program version 0.1 do not tell.
fn certain() -> f64 {
    1.0
}

#[derive(Serialize, Deserialize)]
struct Knots {
    score_s: Vec<f64>,
    performance_s: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct DocumentNote {
    pitch: u8,
    velocity: u8,
    channel: u8,
    track: u16,
    bar: u32,
    beat: f64,
    score_onset_s: f64,
    score_offset_s: f64,
    performance_onset_s: f64,
    performance_offset_s: f64,
    confidence: f64,
}

impl Exporter for Json {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let alignment = input.alignment;
        let notes = input.score.notes.iter().zip(&alignment.notes).map(|(note, aligned)| {
            let place = input.score.meter.position(note.onset_tick as f64);
            DocumentNote {
                pitch: note.pitch,
                velocity: note.velocity,
                channel: note.channel,
                track: note.track,
                bar: place.bar,
                beat: place.beat,
                score_onset_s: note.onset_s,
                score_offset_s: note.offset_s,
                performance_onset_s: aligned.onset_s,
                performance_offset_s: aligned.offset_s,
                confidence: aligned.confidence,
            }
        });
        let document = Document {
            format: FORMAT.to_owned(),
            title: input.score.title.clone(),
            provenance: alignment.provenance.clone(),
            settings: alignment.settings.clone(),
            confidence: alignment.confidence,
            match_confidence: alignment.match_confidence,
            warnings: alignment.warnings.clone(),
            metrics: input.metrics.copied(),
            warp: Knots {
                score_s: alignment.warp.score_s().to_vec(),
                performance_s: alignment.warp.performance_s().to_vec(),
            },
            change_points: change_points(input),
            tempo: alignment.tempo.clone(),
            notes: notes.collect(),
            reference: input.reference.cloned(),
        };
        let mut bytes = serde_json::to_vec_pretty(&document)
            .map_err(|e| Error::unsuitable("the alignment", e.to_string(), "choose another format"))?;
        bytes.push(b'\n');
        Ok(bytes)
    }
}

/// Reads an alignment back from the JSON in `content`; `path` is named in errors.
pub fn read_alignment(path: &Path, content: &[u8]) -> Result<Alignment> {
    let malformed = |cause: String| Error::malformed(path, cause, "export the alignment again as JSON");
    let document: Document =
        serde_json::from_slice(content).map_err(|e| malformed(format!("this is not an Agogic alignment: {e}")))?;
    if document.format != FORMAT {
        let cause = format!("the format \"{}\"", document.format);
        return Err(Error::unsupported(path, cause, format!("this program reads {FORMAT}")));
    }
    let warp = Warp::new(document.warp.score_s, document.warp.performance_s).map_err(|e| malformed(e.to_string()))?;
    let note = |note: &DocumentNote| AlignedNote {
        onset_s: note.performance_onset_s,
        offset_s: note.performance_offset_s,
        confidence: note.confidence,
    };
    Ok(Alignment {
        warp,
        notes: document.notes.iter().map(note).collect(),
        tempo: document.tempo,
        confidence: document.confidence,
        match_confidence: document.match_confidence,
        warnings: document.warnings,
        settings: document.settings,
        provenance: document.provenance,
        search: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;
    use super::*;
    use crate::evaluation::{TimeMap, evaluate, read_prediction};

    #[test]
    fn an_alignment_survives_the_round_trip() {
        let piece = piece();
        let read = read_alignment(Path::new("x.json"), &piece.render(Format::Json)).unwrap();
        let near = |a: &[f64], b: &[f64]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
        assert!(near(read.warp.score_s(), piece.alignment.warp.score_s()));
        assert!(near(read.warp.performance_s(), piece.alignment.warp.performance_s()));
        assert_eq!(read.notes.len(), piece.alignment.notes.len());
        for (found, expected) in read.notes.iter().zip(&piece.alignment.notes) {
            assert!(near(
                &[found.onset_s, found.offset_s, found.confidence],
                &[expected.onset_s, expected.offset_s, 0.9]
            ));
        }
        assert_eq!(read.tempo.len(), piece.alignment.tempo.len());
        assert_eq!((read.settings, read.provenance), (piece.alignment.settings, piece.alignment.provenance));
        assert_eq!((read.warnings, read.confidence), (piece.alignment.warnings, 0.87));
    }

    #[test]
    fn reference_and_metrics_are_kept_and_the_file_serves_as_prediction() {
        let piece = piece();
        let times = TimeMap::of_alignment(&piece.score, &piece.alignment);
        let metrics = evaluate(&times, &times);
        let input = ExportInput { reference: Some(&times), metrics: Some(&metrics), ..piece.input() };
        let bytes = Json.render(&input).unwrap();
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        assert_eq!(value["metrics"]["onsets"], times.len());
        assert_eq!(value["reference"]["score_s"].as_array().unwrap().len(), times.len());
        assert_eq!(value["notes"][2]["beat"], 2.5);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.json");
        std::fs::write(&path, &bytes).unwrap();
        assert!(evaluate(&read_prediction(&path).unwrap().times, &times).onset_max_ms < 1e-6);
    }

    #[test]
    fn other_versions_and_backward_warps_are_refused() {
        let text = piece().render_text(Format::Json);
        let read = |text: &str| read_alignment(Path::new("x.json"), text.as_bytes()).unwrap_err().to_string();
        assert!(read(&text.replace("alignment/1", "alignment/2")).contains("agogic-alignment/2"));
        assert!(read(&text.replacen("2.4,", "0.1,", 1)).contains("x.json"));
        assert!(read("[]").contains("not an Agogic alignment"));
    }
}
