//! Match file 1.0.0: every note of the score with the note that was played, as partitura reads it.

use super::events::{WholeNotes, ticks_per_quarter, whole_notes};
use super::spelling::{note_id, spelling_of};
use super::text::{fixed, single_line};
use super::{ExportInput, Exporter};
use crate::base::error::Result;
use crate::score::{Score, TimeSignature};

const TICKS_PER_BEAT: f64 = 480.0;
const MICROS_PER_BEAT: f64 = 500_000.0;

/// A note that the score does not have is as loud as any.
const EXTRA_VELOCITY: u8 = 64;

/// Audio tells no velocity: the played notes carry the score's, and the file says so. Notes that were not played are deletions, notes
/// that the score does not have are insertions, and another pitch in place of the written one is one of each.
pub struct MatchFile;

impl Exporter for MatchFile {
    fn render(&self, input: &ExportInput) -> Result<Vec<u8>> {
        let (score, made) = (input.score, &input.alignment.provenance);
        let title = score.title.as_deref().unwrap_or(&made.score.name);
        let judged = if input.alignment.is_judged() { "" } else { "; nobody listened for notes left out or added" };
        let policy = format!("aligned by {}; velocities are those of the score{judged}", made.program);
        let mut text = String::new();
        let info = [
            ("matchFileVersion", "1.0.0"),
            ("piece", title),
            ("subtitle", &policy),
            ("scoreFileName", &made.score.name),
            ("audioFileName", &made.recording.name),
            ("midiFileName", ""),
            ("composer", ""),
            ("performer", ""),
            ("midiClockUnits", "480"),
            ("midiClockRate", "500000"),
        ];
        for (attribute, value) in info {
            text += &format!("info({attribute},{}).\n", single_line(value));
        }
        for signature in score.meter.signatures() {
            let place = Place::of(score, signature.tick);
            let value = format!("{}/{}", signature.numerator, signature.denominator);
            text += &format!("scoreprop(timeSignature,{value},{},{}).\n", place.text(), fixed(place.beats, 4));
        }
        for (index, (note, aligned)) in score.notes.iter().zip(&input.alignment.notes).enumerate() {
            let (start, end) = (Place::of(score, note.onset_tick), Place::of(score, note.offset_tick));
            let name = spelling_of(score, index);
            let accidental = match name.alter {
                0 => "n".to_owned(),
                alter => (if alter < 0 { "b" } else { "#" }).repeat(alter.unsigned_abs().into()),
            };
            let id = note_id(score, index);
            let quarters = (note.offset_tick - note.onset_tick) as f64 / ticks_per_quarter(score);
            let duration = fraction(whole_notes(score, quarters));
            text += &format!("snote({id},[{},{accidental}],{},{},", name.step, name.octave, start.text());
            text += &format!("{duration},{},{},[])", fixed(start.beats, 4), fixed(end.beats, 4));
            if aligned.is_missing() {
                text += "-deletion.\n";
                continue;
            }
            let (on, off) = (clock_tick(aligned.onset_s), clock_tick(aligned.offset_s));
            text += &format!("-note({index},{},{on},{},", note.pitch, off.max(on + 1));
            text += &format!("{},{},{}).\n", note.velocity, note.channel, note.track);
        }
        for (index, extra) in input.alignment.extra_notes.iter().enumerate() {
            let (on, off) = (clock_tick(extra.onset_s), clock_tick(extra.offset_s));
            let id = score.notes.len() + index;
            text += &format!("insertion-note({id},{},{on},{},{EXTRA_VELOCITY},0,0).\n", extra.pitch, off.max(on + 1));
        }
        for pedal in &score.pedal {
            let time = input.alignment.warp.at(score.tempo.tick_to_seconds(pedal.tick as f64));
            text += &format!("sustain({},{}).\n", clock_tick(time), pedal.value);
        }
        Ok(text.into_bytes())
    }
}

/// Seconds of the recording in the file's clock, which begins at zero.
fn clock_tick(seconds: f64) -> u64 {
    (seconds * 1e6 * TICKS_PER_BEAT / MICROS_PER_BEAT).round().max(0.0) as u64
}

struct Place {
    bar: u32,
    beat: u32,
    /// From the beat, as a fraction of a whole note.
    offset: WholeNotes,
    /// Beats from the start, each in the unit of its own time signature.
    beats: f64,
}

impl Place {
    /// A tick of a score. Bars are counted as they are played: of a repeat each time has numbers of its own.
    fn of(score: &Score, tick: u64) -> Self {
        let position = score.meter.position(tick as f64);
        let denominator = f64::from(score.meter.signature(tick).denominator);
        // Rounding must not put what stands on a beat just before it.
        let beat = (position.beat + 1e-9).floor();
        let offset_quarters = (position.beat - beat).max(0.0) * 4.0 / denominator;
        let offset = whole_notes(score, offset_quarters);
        Self { bar: score.meter.bars_until(tick), beat: beat as u32, offset, beats: beats_before(score, tick) }
    }

    fn text(&self) -> String {
        format!("{}:{},{}", self.bar, self.beat, fraction(self.offset))
    }
}

fn beats_before(score: &Score, tick: u64) -> f64 {
    let signatures: Vec<TimeSignature> = score.meter.signatures().take_while(|s| s.tick < tick.max(1)).collect();
    let ends = signatures.iter().skip(1).map(|next| next.tick).chain([tick]);
    let quarter = ticks_per_quarter(score);
    let beats = |(signature, end): (&TimeSignature, u64)| {
        (end - signature.tick) as f64 / quarter * f64::from(signature.denominator) / 4.0
    };
    signatures.iter().zip(ends).map(beats).sum()
}

fn fraction(value: WholeNotes) -> String {
    if value.numerator == 0 {
        "0".to_owned()
    } else if value.denominator == 1 {
        value.numerator.to_string()
    } else {
        format!("{}/{}", value.numerator, value.denominator)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::super::test_piece::{judged_piece, piece};
    use crate::evaluation::{BeatClock, TimeMap, evaluate, read_ground_truth};

    #[test]
    fn lines_follow_the_grammar() {
        let text = piece().render_text(Format::Match);
        assert!(text.starts_with("info(matchFileVersion,1.0.0).\ninfo(piece,Étude \"<1>\").\n"), "{text}");
        assert!(
            text.contains("\nscoreprop(timeSignature,3/4,1:1,0,0.0000).\nscoreprop(timeSignature,6/8,2:1,0,3.0000).\n"),
            "{text}"
        );
        assert!(
            text.contains("\nsnote(n2,[B,b],4,1:2,1/8,1/8,1.5000,2.0000,[])-note(2,70,1629,1854,61,0,1).\n"),
            "{text}"
        );
        assert!(text.contains("\nsnote(n6,[A,n],4,2:2,0,1/8,4.0000,5.0000,[])-note("), "{text}");
        assert!(text.contains("\nsustain(768,127).\n"), "{text}");
        assert!(text.lines().all(|line| line.ends_with(").")));
    }

    #[test]
    fn notes_that_were_not_played_are_deletions_and_notes_beyond_the_score_insertions() {
        let piece = judged_piece();
        let text = piece.render_text(Format::Match);
        assert_eq!(text.lines().filter(|line| line.ends_with(",[])-deletion.")).count(), 2, "{text}");
        assert!(text.contains("\nsnote(n1,[E,n],4,1:1,0,1/4,0.0000,1.0000,[])-deletion.\n"), "{text}");
        assert!(text.contains("\ninsertion-note(8,71,1639,1831,64,0,0).\ninsertion-note(9,74,6240,6480,64,0,0).\n"));
        assert!(!text.contains("nobody listened"));
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.match");
        std::fs::write(&path, &text).unwrap();
        let truth = read_ground_truth(&path, Some(&BeatClock::of_score(&piece.score))).unwrap();
        assert_eq!(truth.len(), piece.score.onsets_s().len() - 1, "an onset that nobody played has no time");
    }

    #[test]
    fn the_file_reads_back_as_ground_truth_to_half_a_clock_tick() {
        let piece = piece();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.match");
        std::fs::write(&path, piece.render(Format::Match)).unwrap();
        let truth = read_ground_truth(&path, Some(&BeatClock::of_score(&piece.score))).unwrap();
        assert_eq!(truth.len(), piece.score.onsets_s().len());
        let exact = TimeMap::of_alignment(&piece.score, &piece.alignment);
        assert!(evaluate(&exact, &truth).onset_max_ms < 0.7, "{:?}", evaluate(&exact, &truth));
    }
}
