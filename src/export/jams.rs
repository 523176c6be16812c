//! JAMS 0.3.5: onsets, beats, notes and tempo as annotations; the score map in the sandbox.

use serde_json::{Value, json};

use super::events::{beats, change_points, onsets};
use super::{ExportInput, Exporter};
use crate::base::error::{Error, Result};

/// Annotations of the recording. JAMS knows no time before its start, so earlier times are put there.
pub struct Jams;

impl Exporter for Jams {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let alignment = input.alignment;
        let made = &alignment.provenance;
        let duration = made.recording.duration_s;
        let onset_data =
            onsets(input).into_iter().map(|onset| observation(onset.performance_s, 0.0, json!(1), Value::Null));
        let beat_data = beats(input)?.into_iter().map(|beat| {
            let value = json!({
                "position": beat.number,
                "measure": beat.bar,
                "num_beats": beat.signature.numerator,
                "beat_units": beat.signature.denominator,
            });
            observation(beat.performance_s, 0.0, value, Value::Null)
        });
        // Annotations are about the recording: what was not played is in none of them.
        let notes = input.score.notes.iter().zip(&alignment.notes).enumerate();
        let played: Vec<_> = notes.filter(|(_, (_, aligned))| !aligned.is_missing()).collect();
        let ids: Vec<&str> = played.iter().filter_map(|(index, _)| input.score.note_id(*index)).collect();
        let note_data = played.iter().map(|(_, (note, aligned))| {
            let length = aligned.offset_s - aligned.onset_s;
            observation(aligned.onset_s, length, json!(note.pitch), json!(aligned.confidence.clamp(0.0, 1.0)))
        });
        let extra_data = alignment.extra_notes.iter().map(|extra| {
            observation(extra.onset_s, extra.offset_s - extra.onset_s, json!(extra.pitch), json!(extra.confidence))
        });
        let missing = alignment.notes.iter().enumerate().filter(|(_, note)| note.is_missing());
        let missing: Vec<usize> = missing.map(|(index, _)| index).collect();
        let ends = alignment.tempo.iter().skip(1).map(|point| point.performance_s).chain([duration]);
        let tempo_data = alignment.tempo.iter().zip(ends).map(|(point, end)| {
            let confidence = json!(alignment.confidence.clamp(0.0, 1.0));
            observation(point.performance_s, end - point.performance_s, json!(point.beats_per_minute), confidence)
        });
        let annotation = |namespace: &str, data: Vec<Value>| annotation(input, namespace, data, IN_SCORE);
        let mut annotations = vec![
            annotation("onset", onset_data.collect()),
            annotation("beat_position", beat_data.collect()),
            annotation("note_midi", note_data.collect()),
            annotation("tempo", tempo_data.collect()),
        ];
        if alignment.is_judged() {
            annotations.push(self::annotation(input, "note_midi", extra_data.collect(), NOT_IN_SCORE));
        }
        let document = json!({
            "file_metadata": {
                "title": input.score.title.clone().unwrap_or_else(|| made.score.name.clone()),
                "artist": "",
                "release": "",
                "duration": duration.max(0.0),
                "identifiers": { "recording": made.recording.name, "score": made.score.name },
                "jams_version": "0.3.5",
            },
            "annotations": annotations,
            "sandbox": {
                "agogic": {
                    "provenance": made,
                    "settings": alignment.settings,
                    "confidence": alignment.confidence,
                    "warnings": alignment.warnings,
                    "score_map": change_points(input),
                    "notes_not_played": missing,
                    "note_ids": ids,
                },
            },
        });
        serde_json::to_vec_pretty(&document)
            .map_err(|e| Error::unsuitable("the alignment", e.to_string(), "choose another format"))
    }
}

fn observation(time: f64, duration: f64, value: Value, confidence: Value) -> Value {
    json!({ "time": time.max(0.0), "duration": duration.max(0.0), "value": value, "confidence": confidence })
}

const IN_SCORE: &str = "automatic alignment with a score";
const NOT_IN_SCORE: &str = "notes that were heard and that the score does not have";

fn annotation(input: &ExportInput, namespace: &str, data: Vec<Value>, rules: &str) -> Value {
    let made = &input.alignment.provenance;
    json!({
        "namespace": namespace,
        "data": data,
        "time": 0,
        "duration": made.recording.duration_s.max(0.0),
        "annotation_metadata": {
            "curator": { "name": made.program, "email": "nobody@example.org" },
            "version": "1",
            "corpus": "",
            "annotator": {},
            "annotation_tools": made.program,
            "annotation_rules": rules,
            "validation": "",
            "data_source": "program",
        },
        "sandbox": {},
    })
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::{alignment_of, judged_piece, piece};
    use serde_json::Value;

    fn parse(piece: &super::super::test_piece::Piece) -> Value {
        serde_json::from_slice(&piece.render(Format::Jams)).unwrap()
    }

    #[test]
    fn annotations_carry_what_their_namespaces_ask_for() {
        let jams = parse(&piece());
        let names: Vec<&str> =
            jams["annotations"].as_array().unwrap().iter().map(|a| a["namespace"].as_str().unwrap()).collect();
        assert_eq!(names, ["onset", "beat_position", "note_midi", "tempo"]);
        let beat = &jams["annotations"][1]["data"][3]["value"];
        assert_eq!((&beat["position"], &beat["measure"], &beat["num_beats"]), (&1.into(), &2.into(), &6.into()));
        let note = &jams["annotations"][2]["data"][2];
        assert!((note["time"].as_f64().unwrap() - 1.696875).abs() < 1e-12);
        assert_eq!(note["value"], 70);
        assert_eq!(jams["sandbox"]["agogic"]["score_map"].as_array().unwrap().len(), 9);
        assert_eq!(jams["file_metadata"]["jams_version"], "0.3.5");
    }

    #[test]
    fn notes_that_were_not_played_are_no_annotations_and_extra_ones_have_their_own() {
        let jams = parse(&judged_piece());
        assert_eq!(jams["annotations"][2]["data"].as_array().unwrap().len(), 6);
        assert_eq!(jams["sandbox"]["agogic"]["notes_not_played"], serde_json::json!([1, 2]));
        let extra = &jams["annotations"][4];
        assert_eq!((&extra["namespace"], extra["data"].as_array().unwrap().len()), (&"note_midi".into(), 2));
        assert_eq!((&extra["data"][1]["value"], &extra["data"][1]["confidence"]), (&74.into(), &0.7.into()));
    }

    #[test]
    fn no_time_lies_before_the_recording() {
        let mut piece = piece();
        piece.alignment = alignment_of(&piece.score, vec![0.0, 4.5], vec![-1.0, 8.0]);
        let jams = parse(&piece);
        for annotation in jams["annotations"].as_array().unwrap() {
            for data in annotation["data"].as_array().unwrap() {
                assert!(data["time"].as_f64().unwrap() >= 0.0 && data["duration"].as_f64().unwrap() >= 0.0);
            }
        }
    }
}
