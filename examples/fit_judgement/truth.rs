//! What was played of a score, by the notes of the performance and the alignment that is known.
//!
//! Of each pitch, written and played notes are paired in order, as many as possible and as near as possible to where the alignment
//! expects them. A note whose onset the alignment knows may be a tenth of a second and the chord's spread away; one between such
//! onsets, as in trills that were played with another number of notes, half the time between them more. What is left was not
//! played, or is not written.

use std::collections::BTreeMap;
use std::path::Path;

use agogic::{Error, Note, Result, Score, Take};

const AWAY_S: f64 = 0.1;
const MOST_AWAY_S: f64 = 1.5;
const SAME_S: f64 = 2e-3;
/// A played note this near to a written one of its pitch that the alignment does not know may be that one.
const LOOSE_S: f64 = 0.5;

/// An onset that the alignment knows.
struct Row {
    score_s: f64,
    performance_s: f64,
    spread_s: f64,
}

/// Where a note of the score is expected.
#[derive(Clone, Copy)]
struct Expected {
    at_s: f64,
    away_s: f64,
    is_known: bool,
}

/// A note that was played.
pub struct Played {
    pub pitch: u8,
    pub onset_s: f64,
    /// Whether it is none of the score's.
    pub is_extra: bool,
    /// Whether which of its pitch is the extra one is a matter of taste.
    pub is_loose: bool,
}

pub struct Truth {
    rows: Vec<Row>,
    /// Of each note of the score whether it was played; none where that cannot be told.
    pub was_played: Vec<Option<bool>>,
    pub played: Vec<Played>,
}

impl Truth {
    /// Reads `alignment.csv` of a folder and, if there is one, `performance.mid`.
    pub fn read(folder: &Path, score: &Score) -> Result<Self> {
        let rows = read_rows(&folder.join("alignment.csv"))?;
        let mut truth = Self { rows, was_played: vec![None; score.notes.len()], played: Vec::new() };
        let path = folder.join("performance.mid");
        if path.exists() {
            let bytes = std::fs::read(&path).map_err(|source| Error::io("read", &path, source))?;
            let note =
                |note: &Note| Played { pitch: note.pitch, onset_s: note.onset_s, is_extra: false, is_loose: false };
            truth.played = Take::from_bytes(&path, &bytes)?.played.notes.iter().map(note).collect();
            truth.pair(score);
        }
        Ok(truth)
    }

    /// Whether more than the onsets is known.
    pub fn knows_notes(&self) -> bool {
        !self.played.is_empty()
    }

    /// When a moment of the score was played, if the alignment knows its onset.
    pub fn known_s(&self, score_s: f64) -> Option<f64> {
        self.expected(score_s).filter(|expected| expected.is_known).map(|expected| expected.at_s)
    }

    /// Whether a moment of the performance lies where the alignment knows anything.
    pub fn covers(&self, performance_s: f64) -> bool {
        let (first, last) = (self.rows.first(), self.rows.last());
        first.zip(last).is_some_and(|(first, last)| {
            (first.performance_s - AWAY_S..=last.performance_s + AWAY_S).contains(&performance_s)
        })
    }

    fn expected(&self, score_s: f64) -> Option<Expected> {
        let at = self.rows.partition_point(|row| row.score_s < score_s - SAME_S);
        let after = self.rows.get(at)?;
        if after.score_s <= score_s + SAME_S {
            return Some(Expected { at_s: after.performance_s, away_s: AWAY_S + after.spread_s, is_known: true });
        }
        let before = &self.rows[at.checked_sub(1)?];
        let between_s = after.performance_s - before.performance_s;
        let share = (score_s - before.score_s) / (after.score_s - before.score_s);
        let away_s = (AWAY_S + between_s / 2.0).min(MOST_AWAY_S);
        Some(Expected { at_s: before.performance_s + share * between_s, away_s, is_known: false })
    }

    fn pair(&mut self, score: &Score) {
        /// The notes of a pitch that are written, and those that were played.
        type OfPitch = (Vec<(usize, Expected)>, Vec<usize>);
        let mut by_pitch: BTreeMap<u8, OfPitch> = BTreeMap::new();
        for (index, note) in score.notes.iter().enumerate() {
            if let Some(expected) = self.expected(note.onset_s) {
                by_pitch.entry(note.pitch).or_default().0.push((index, expected));
            }
        }
        for (index, note) in self.played.iter().enumerate() {
            by_pitch.entry(note.pitch).or_default().1.push(index);
        }
        for (mut written, mut played) in by_pitch.into_values() {
            written.sort_by(|a, b| a.1.at_s.total_cmp(&b.1.at_s));
            played.sort_by(|&a, &b| self.played[a].onset_s.total_cmp(&self.played[b].onset_s));
            let times: Vec<f64> = played.iter().map(|&index| self.played[index].onset_s).collect();
            let places: Vec<Expected> = written.iter().map(|written| written.1).collect();
            let partners = pairs(&places, &times);
            for (&(note, _), partner) in written.iter().zip(&partners) {
                self.was_played[note] = Some(partner.is_some());
            }
            for (place, &index) in played.iter().enumerate() {
                let onset_s = times[place];
                let is_covered = self.covers(onset_s);
                let loose = |expected: &Expected| !expected.is_known && (expected.at_s - onset_s).abs() < LOOSE_S;
                let note = &mut self.played[index];
                note.is_extra = is_covered && !partners.contains(&Some(place));
                note.is_loose = places.iter().any(loose);
            }
        }
    }
}

/// The partner of each expected note, in order: as many pairs as possible, the nearest of those.
fn pairs(wanted: &[Expected], played: &[f64]) -> Vec<Option<usize>> {
    let mut best = vec![vec![0.0f64; played.len() + 1]; wanted.len() + 1];
    for (i, expected) in wanted.iter().enumerate() {
        for (j, time) in played.iter().enumerate() {
            let away = (time - expected.at_s).abs() / expected.away_s;
            let with = if away <= 1.0 { best[i][j] + 1.0 - 0.5 * away } else { 0.0 };
            best[i + 1][j + 1] = best[i][j + 1].max(best[i + 1][j]).max(with);
        }
    }
    let mut partners = vec![None; wanted.len()];
    let (mut i, mut j) = (wanted.len(), played.len());
    while i > 0 && j > 0 {
        if best[i][j] == best[i - 1][j] {
            i -= 1;
        } else if best[i][j] == best[i][j - 1] {
            j -= 1;
        } else {
            (i, j) = (i - 1, j - 1);
            partners[i] = Some(j);
        }
    }
    partners
}

fn read_rows(path: &Path) -> Result<Vec<Row>> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::io("read", path, source))?;
    let mut lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let malformed = |cause: String| Error::malformed(path, cause, "write score_time_s,performance_time_s,spread_ms");
    let column = |name: &str| {
        let place = header.iter().position(|title| title.trim() == name);
        place.ok_or_else(|| malformed(format!("there is no column {name}")))
    };
    let columns = [column("score_time_s")?, column("performance_time_s")?, column("spread_ms")?];
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |at: usize| cells.get(at).and_then(|cell| cell.trim().parse::<f64>().ok());
        let values = columns.map(cell);
        let [Some(score_s), Some(performance_s), Some(spread_ms)] = values else {
            return Err(malformed(format!("\"{line}\" is not a row of numbers")));
        };
        Ok(Row { score_s, performance_s, spread_s: spread_ms / 1000.0 })
    };
    let mut rows = lines.map(row).collect::<Result<Vec<Row>>>()?;
    rows.sort_by(|a, b| a.score_s.total_cmp(&b.score_s));
    Ok(rows)
}
