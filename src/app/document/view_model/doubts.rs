//! Places of an alignment that deserve a look.

use super::piece::Piece;
use super::solution::Reference;
use crate::align::result::{Alignment, TempoPoint};
use crate::base::percent::percent;
use crate::base::time::SAME_MOMENT_S;

/// Below this confidence a note is doubtful.
const DOUBTFUL_CONFIDENCE: f64 = 0.5;
/// Off the reference by more than this is doubtful.
const WRONG_S: f64 = 0.05;
/// A beat this many times faster or slower than those around it is doubtful.
const TEMPO_FACTOR: f64 = 1.8;
/// Beats on either side that count as around.
const AROUND: usize = 4;
/// A place to look at.
#[derive(Debug, Clone, PartialEq)]
pub struct Doubt {
    /// Where it begins, in seconds of the recording.
    pub start_s: f64,
    /// Where it ends.
    pub end_s: f64,
    /// Why, in a few words.
    pub reason: String,
    /// How much, for colour: 0 to 1.
    pub severity: f64,
}

/// All places, in order of time: wrong ones if there is a reference, else notes with little support and sudden changes
/// of tempo. A place is what is doubtful within one bar, so that the list grows with what there is to look at.
pub fn doubts(piece: &Piece, alignment: &Alignment, reference: Option<&Reference>) -> Vec<Doubt> {
    let mut found = match reference {
        Some(reference) => wrong_onsets(piece, alignment, reference),
        None => unsupported_notes(alignment),
    };
    let fixed = fixed_s(alignment);
    if reference.is_none() {
        found.extend(tempo_jumps(&alignment.tempo, &fixed));
    }
    found.sort_by(|a, b| a.start_s.total_cmp(&b.start_s));
    let bars_s: Vec<f64> =
        piece.beats.iter().filter(|beat| beat.beat == 1).map(|beat| alignment.warp.at(beat.second)).collect();
    merged(found, &fixed, &bars_s)
}

/// Where the user has fixed something, in seconds of the recording.
fn fixed_s(alignment: &Alignment) -> Vec<f64> {
    let anchors = alignment.settings.anchors.iter().map(|anchor| anchor.performance_s);
    anchors.chain(alignment.settings.fixed_notes.iter().map(|fixed| fixed.performance_s)).collect()
}

fn wrong_onsets(piece: &Piece, alignment: &Alignment, reference: &Reference) -> Vec<Doubt> {
    let known = reference.times.score_s[0]..=reference.times.score_s[reference.times.len() - 1];
    let onsets = piece.onsets_s.iter().filter(|onset| known.contains(onset));
    onsets
        .filter_map(|&onset| {
            let (ours, truth) = (alignment.warp.at(onset), reference.times.at(onset));
            let error = ours - truth;
            let side = if error > 0.0 { "late" } else { "early" };
            (error.abs() > WRONG_S).then(|| Doubt {
                start_s: ours.min(truth),
                end_s: ours.max(truth),
                reason: format!("{:.0} ms {side}", 1e3 * error.abs()),
                severity: (error.abs() / 0.3).min(1.0),
            })
        })
        .collect()
}

fn unsupported_notes(alignment: &Alignment) -> Vec<Doubt> {
    let notes = alignment.notes.iter().filter(|note| note.confidence < DOUBTFUL_CONFIDENCE);
    notes
        .map(|note| Doubt {
            start_s: note.onset_s,
            end_s: note.onset_s,
            reason: format!("little support ({})", percent(note.confidence)),
            severity: 1.0 - note.confidence,
        })
        .collect()
}

/// Beats that are much faster or slower than those around, but for those that end at what the user has fixed.
fn tempo_jumps(tempo: &[TempoPoint], fixed_s: &[f64]) -> Vec<Doubt> {
    let mut found = Vec::new();
    for (index, point) in tempo.iter().enumerate() {
        let (from, to) = (index.saturating_sub(AROUND), (index + AROUND + 1).min(tempo.len()));
        let mut around: Vec<f64> = tempo[from..to].iter().map(|other| other.beats_per_minute).collect();
        if around.len() < AROUND {
            continue;
        }
        around.sort_by(f64::total_cmp);
        let usual = around[around.len() / 2];
        let ratio = point.beats_per_minute / usual;
        // The first and last beat often wait for the music: no news.
        if index == 0 || index + 1 == tempo.len() {
            continue;
        }
        let beat = point.performance_s - SAME_MOMENT_S..=tempo[index + 1].performance_s + SAME_MOMENT_S;
        let corrected = fixed_s.iter().any(|time_s| beat.contains(time_s));
        if !corrected && !(1.0 / TEMPO_FACTOR..=TEMPO_FACTOR).contains(&ratio) {
            let word = if ratio > 1.0 { "faster" } else { "slower" };
            let times = ratio.max(1.0 / ratio);
            found.push(Doubt {
                start_s: point.performance_s,
                end_s: tempo[index + 1].performance_s,
                reason: format!("{times:.1} times {word} than around it"),
                severity: ((times - TEMPO_FACTOR) / 3.0 + 0.3).clamp(0.0, 1.0),
            });
        }
    }
    found
}

/// Joins what lies in one bar, unless something fixed lies between; the worst of it gives the reason.
fn merged(sorted: Vec<Doubt>, fixed_s: &[f64], bars_s: &[f64]) -> Vec<Doubt> {
    let bar_of = |time_s: f64| bars_s.partition_point(|&bar_s| bar_s <= time_s + SAME_MOMENT_S);
    let mut places: Vec<Doubt> = Vec::new();
    for doubt in sorted {
        let near = |last: &&mut Doubt| {
            let between = last.end_s..=doubt.start_s;
            bar_of(doubt.start_s) == bar_of(last.start_s) && !fixed_s.iter().any(|time_s| between.contains(time_s))
        };
        match places.last_mut().filter(near) {
            Some(last) => {
                last.end_s = last.end_s.max(doubt.end_s);
                if doubt.severity > last.severity {
                    last.severity = doubt.severity;
                    last.reason = doubt.reason;
                }
            }
            None => places.push(doubt),
        }
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sudden_tempo_is_doubtful_unless_the_beat_ends_at_what_was_fixed() {
        let mut performance_s = 0.0;
        let beats = (0..20).map(|beat| {
            let length_s = if beat == 10 { 1.0 } else { 0.5 };
            performance_s += length_s;
            let beats_per_minute = 60.0 / length_s;
            TempoPoint { score_beat: f64::from(beat), performance_s: performance_s - length_s, beats_per_minute }
        });
        let tempo: Vec<TempoPoint> = beats.collect();
        assert_eq!(tempo_jumps(&tempo, &[]).len(), 1);
        assert_eq!(tempo_jumps(&tempo, &[4.0]).len(), 1, "that is elsewhere");
        for fixed_s in [5.0, 5.5, 6.0] {
            assert!(tempo_jumps(&tempo, &[fixed_s]).is_empty(), "{fixed_s}");
        }
    }

    #[test]
    fn what_lies_in_one_bar_is_one_place_and_the_worst_gives_the_reason() {
        let doubt = |start_s: f64, severity: f64| Doubt {
            start_s,
            end_s: start_s + 0.1,
            reason: format!("{severity}"),
            severity,
        };
        let bars_s = [0.0, 3.0, 6.0, 9.0];
        let doubts = vec![doubt(1.0, 0.2), doubt(1.9, 0.7), doubt(2.5, 0.1), doubt(9.0, 0.3)];
        assert_eq!(merged(doubts.clone(), &[2.3], &bars_s).len(), 3, "what is fixed is in none of them");
        let places = merged(doubts.clone(), &[], &bars_s);
        assert_eq!(places.len(), 2);
        assert_eq!((places[0].start_s, places[0].end_s, places[0].reason.as_str()), (1.0, 2.6, "0.7"));
        // More that is doubtful never makes the list shorter.
        let more = (0..40).map(|k| doubt(0.3 * f64::from(k), 0.5)).collect();
        assert_eq!(merged(more, &[], &bars_s).len(), 4);
    }
}
