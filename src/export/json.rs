//! Agogic JSON: everything about an alignment, in one document that can be read back.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::events::{ChangePoint, change_points};
use super::{ExportInput, Exporter};
use crate::align::result::{
    AlignedNote, Alignment, ExtraNote, Judged, Place, PlayedSection, Provenance, TempoPoint, Verdict,
};
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
    /// What was played of a score with repeats, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    sections: Vec<PlayedSection>,
    #[serde(default)]
    places: Vec<Place>,
    notes: Vec<DocumentNote>,
    /// Notes that were heard and that the score does not have; absent where nobody listened for them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    extra_notes: Option<Vec<ExtraNote>>,
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
    /// What the score's file calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    offset_confidence: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict: Option<DocumentVerdict>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    verdict_confidence: Option<f64>,
    /// What was played in its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    played_pitch: Option<u8>,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum DocumentVerdict {
    Played,
    Missing,
    OtherPitch,
}

impl DocumentNote {
    fn judged(&self) -> Option<Judged> {
        let verdict = match (self.verdict?, self.played_pitch) {
            (DocumentVerdict::Played, _) => Verdict::Played,
            (DocumentVerdict::OtherPitch, Some(pitch)) => Verdict::OtherPitch { pitch },
            (DocumentVerdict::Missing | DocumentVerdict::OtherPitch, _) => Verdict::Missing,
        };
        Some(Judged { verdict, confidence: self.verdict_confidence? })
    }
}

impl Exporter for Json {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let alignment = input.alignment;
        let notes = input.score.notes.iter().zip(&alignment.notes).enumerate().map(|(index, (note, aligned))| {
            let place = input.score.meter.position(note.onset_tick as f64);
            let (verdict, played_pitch) = match aligned.verdict.map(|judged| judged.verdict) {
                Some(Verdict::Played) => (Some(DocumentVerdict::Played), None),
                Some(Verdict::Missing) => (Some(DocumentVerdict::Missing), None),
                Some(Verdict::OtherPitch { pitch }) => (Some(DocumentVerdict::OtherPitch), Some(pitch)),
                None => (None, None),
            };
            DocumentNote {
                id: input.score.note_id(index).map(str::to_owned),
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
                offset_confidence: aligned.offset_confidence,
                verdict,
                verdict_confidence: aligned.verdict.map(|judged| judged.confidence),
                played_pitch,
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
            sections: alignment.sections.clone(),
            places: alignment.places.clone(),
            notes: notes.collect(),
            extra_notes: alignment.is_judged().then(|| alignment.extra_notes.clone()),
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
        offset_confidence: note.offset_confidence,
        verdict: note.judged(),
    };
    Ok(Alignment {
        warp,
        notes: document.notes.iter().map(note).collect(),
        extra_notes: document.extra_notes.unwrap_or_default(),
        tempo: document.tempo,
        sections: document.sections,
        places: document.places,
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
    use super::super::test_piece::{judged_piece, piece};
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
        assert_eq!(read.places, piece.alignment.places);
        assert_eq!((read.settings, read.provenance), (piece.alignment.settings, piece.alignment.provenance));
        assert_eq!((read.warnings, read.confidence), (piece.alignment.warnings, 0.87));
    }

    #[test]
    fn what_was_played_differently_is_kept_and_what_nobody_listened_for_is_not_claimed() {
        let plain: serde_json::Value = serde_json::from_slice(&piece().render(Format::Json)).unwrap();
        assert!(plain.get("extra_notes").is_none() && plain["notes"][0].get("verdict").is_none());
        let judged = judged_piece();
        let bytes = judged.render(Format::Json);
        let value: serde_json::Value = serde_json::from_slice(&bytes).unwrap();
        let verdicts: Vec<&str> =
            value["notes"].as_array().unwrap().iter().map(|note| note["verdict"].as_str().unwrap()).collect();
        assert_eq!(verdicts[..4], ["played", "missing", "other_pitch", "played"]);
        assert_eq!(
            (&value["notes"][2]["played_pitch"], &value["extra_notes"][0]["instead_of"]),
            (&71.into(), &2.into())
        );
        let read = read_alignment(Path::new("x.json"), &bytes).unwrap();
        assert_eq!((read.notes, read.extra_notes), (judged.alignment.notes, judged.alignment.extra_notes));
    }

    #[test]
    fn places_to_check_are_named_as_documented_and_old_results_have_none() {
        let mut value: serde_json::Value = serde_json::from_slice(&piece().render(Format::Json)).unwrap();
        let place = &value["places"][0];
        for (name, number) in [
            ("performance_from_s", 2.4),
            ("performance_to_s", 5.5),
            ("score_from_s", 1.5),
            ("score_to_s", 2.25),
            ("expected_wrong_notes", 1.75),
        ] {
            assert_eq!(place[name], number, "{name}");
        }
        value.as_object_mut().unwrap().remove("places");
        let old = serde_json::to_vec(&value).unwrap();
        assert!(read_alignment(Path::new("old.json"), &old).unwrap().places.is_empty());
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
