//! Sonic Visualiser layers: XML with points at sample frames of the recording.

use super::events::onsets;
use super::text::{fixed, xml};
use super::{ExportInput, Exporter, provenance};
use crate::base::error::Result;
use crate::base::time::seconds_to_samples;

/// Onsets as time instants.
pub struct Instants;

impl Exporter for Instants {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let point = |onset: &super::events::Onset| {
            let frame = seconds_to_samples(onset.performance_s, input.recording_rate);
            format!("<point frame=\"{frame}\" label=\"{}\"/>\n", xml(&onset.place()))
        };
        let layer = Layer { kind: "timeinstants", name: "Onsets", dimensions: 1, model: String::new() };
        Ok(layer.document(input, onsets(input).iter().map(point).collect()))
    }
}

/// Tempo as time values.
pub struct Tempo;

impl Exporter for Tempo {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let tempo = &input.alignment.tempo;
        let point = |point: &crate::align::result::TempoPoint| {
            let frame = seconds_to_samples(point.performance_s, input.recording_rate);
            format!("<point frame=\"{frame}\" value=\"{}\" label=\"\"/>\n", fixed(point.beats_per_minute, 6))
        };
        let model = range(tempo.iter().map(|point| point.beats_per_minute), "bpm");
        let layer = Layer { kind: "timevalues", name: "Tempo", dimensions: 2, model };
        Ok(layer.document(input, tempo.iter().map(point).collect()))
    }
}

/// Notes, with the score's velocities as levels.
pub struct Notes;

impl Exporter for Notes {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let (notes, rate) = (&input.score.notes, input.recording_rate);
        let points = notes.iter().zip(&input.alignment.notes).map(|(note, aligned)| {
            let frame = seconds_to_samples(aligned.onset_s, rate);
            let duration = seconds_to_samples(aligned.offset_s, rate).saturating_sub(frame);
            let level = fixed(f64::from(note.velocity) / 127.0, 6);
            let place = format!("frame=\"{frame}\" value=\"{}\" duration=\"{duration}\"", note.pitch);
            format!("<point {place} level=\"{level}\" label=\"\"/>\n")
        });
        let pitches = range(notes.iter().map(|note| f64::from(note.pitch)), "MIDI Pitch");
        let model = format!("subtype=\"note\" valueQuantization=\"0\" {pitches}");
        let layer = Layer { kind: "notes", name: "Notes", dimensions: 3, model };
        Ok(layer.document(input, points.collect()))
    }
}

fn range(values: impl Iterator<Item = f64> + Clone, units: &str) -> String {
    let finite = values.filter(|value| value.is_finite());
    let low = finite.clone().reduce(f64::min).unwrap_or(0.0);
    let high = finite.reduce(f64::max).unwrap_or(0.0);
    format!("minimum=\"{}\" maximum=\"{}\" units=\"{units}\" ", fixed(low, 6), fixed(high, 6))
}

struct Layer {
    kind: &'static str,
    name: &'static str,
    dimensions: u8,
    /// Attributes of the model beyond those that every model has.
    model: String,
}

impl Layer {
    fn document(&self, input: &ExportInput, points: String) -> Vec<u8> {
        let Self { kind, name, dimensions, model } = self;
        let rate = input.recording_rate;
        let end = seconds_to_samples(input.alignment.provenance.recording.duration_s, rate);
        // Two hyphens would end the comment.
        let comment = provenance::lines(input).join("\n").replace("--", "- -");
        format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE sonic-visualiser>\n<!--\n{comment}\n-->\n<sv>\n<data>\n\
             <model id=\"1\" name=\"\" sampleRate=\"{rate}\" start=\"0\" end=\"{end}\" type=\"sparse\" \
             dimensions=\"{dimensions}\" resolution=\"1\" notifyOnAdd=\"true\" dataset=\"0\" {model}/>\n\
             <dataset id=\"0\" dimensions=\"{dimensions}\">\n{points}</dataset>\n</data>\n<display>\n\
             <layer id=\"2\" type=\"{kind}\" name=\"{name}\" model=\"1\" plotStyle=\"0\" colourName=\"Purple\" \
             colour=\"#c832ff\" darkBackground=\"false\"/>\n</display>\n</sv>\n"
        )
        .into_bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::piece;

    #[test]
    fn layers_hold_frames_of_the_recording() {
        let mut piece = piece();
        piece.alignment.provenance.recording.name = "a--b & c.wav".to_owned();
        let text = piece.render_text(Format::Svl);
        assert!(
            text.starts_with("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE sonic-visualiser>\n"),
            "{text}"
        );
        assert!(
            text.contains("sampleRate=\"44100\" start=\"0\" end=\"405720\" type=\"sparse\" dimensions=\"1\""),
            "{text}"
        );
        assert!(text.contains("<point frame=\"74832\" label=\"1:2.5\"/>"), "{text}");
        assert_eq!(text.matches("--").count(), 2, "only the comment's own hyphens: {text}");
        let notes = piece.render_text(Format::NotesSvl);
        assert!(
            notes.contains("<point frame=\"74832\" value=\"70\" duration=\"10336\" level=\"0.480315\" label=\"\"/>"),
            "{notes}"
        );
        assert!(notes.contains("minimum=\"48.000000\" maximum=\"72.000000\" units=\"MIDI Pitch\""), "{notes}");
        assert_eq!(notes.matches("<point ").count(), 8);
        let tempo = piece.render_text(Format::TempoSvl);
        assert!(tempo.contains("units=\"bpm\"") && tempo.contains("type=\"timevalues\""), "{tempo}");
    }
}
