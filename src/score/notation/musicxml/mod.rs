//! MusicXML, by parts or by bars, versions 1.0 to 4.0.

mod barline;
mod direction;
mod header;
mod look;
mod note;
mod part;

use std::path::Path;

use roxmltree::{Document, Node};

use super::draft::{BarDraft, lay_out};
use super::written::WrittenScore;
use super::xml::{Element, NoteNumbers};
use crate::base::error::{Error, Result};
use header::Head;
use part::PartReader;

/// Most bars that are read: an opera has about five thousand.
pub(super) const MOST_BARS: usize = 100_000;

/// Reads a document whose root is `score-partwise` or `score-timewise`.
pub(super) fn read(name: &Path, document: &Document<'_>) -> Result<WrittenScore> {
    let root = document.root_element();
    let mut head = header::read(root);
    let measures = if root.is("score-timewise") { by_bars(root) } else { by_parts(root) };
    let most = measures.iter().map(|(_, bars)| bars.len()).max().unwrap_or(0);
    if most > MOST_BARS {
        let cause = format!("it has {most} bars, more than the {MOST_BARS} accepted");
        return Err(Error::limit(name, cause, "check that this is the score, or split it"));
    }
    let mut score =
        WrittenScore { title: head.title.take(), composer: head.composer.take(), ..WrittenScore::default() };
    let mut bars = vec![BarDraft::default(); most];
    let numbers = NoteNumbers::of(document);
    let among_others = measures.len() > 1;
    for (id, measures) in measures {
        read_part(&mut head, &numbers, id, &measures, &mut bars, among_others, &mut score);
    }
    if score.parts.is_empty() {
        return Err(Error::malformed(name, "the MusicXML has no parts", "export the score again"));
    }
    sort(&mut score);
    lay_out(bars, &mut score);
    Ok(score)
}

fn read_part(
    head: &mut Head,
    numbers: &NoteNumbers,
    id: &str,
    measures: &[Option<Node<'_, '_>>],
    bars: &mut [BarDraft],
    among_others: bool,
    score: &mut WrittenScore,
) {
    let number = u16::try_from(score.parts.len()).unwrap_or(u16::MAX);
    let part = head.part(id, score.parts.len());
    score.parts.push(part);
    let mut reader = PartReader::new(number, numbers, head.concert_pitch, among_others, score);
    for (index, measure) in measures.iter().enumerate() {
        if let Some(measure) = measure {
            reader.measure(*measure, index as u32, bars);
        }
    }
    reader.finish();
}

type Measures<'a, 'b> = Vec<(&'a str, Vec<Option<Node<'a, 'b>>>)>;

fn by_parts<'a, 'b>(root: Node<'a, 'b>) -> Measures<'a, 'b> {
    let bars = |part: Node<'a, 'b>| part.all("measure").map(Some).collect();
    root.all("part").map(|part| (part.attr("id").unwrap_or_default(), bars(part))).collect()
}

fn by_bars<'a, 'b>(root: Node<'a, 'b>) -> Measures<'a, 'b> {
    let mut parts: Measures<'a, 'b> = Vec::new();
    let mut numbers = std::collections::HashMap::new();
    for (index, measure) in root.all("measure").enumerate() {
        for part in measure.all("part") {
            let id = part.attr("id").unwrap_or_default();
            let number = *numbers.entry(id).or_insert_with(|| {
                parts.push((id, Vec::new()));
                parts.len() - 1
            });
            let bars = &mut parts[number].1;
            bars.resize(index, None);
            bars.push(Some(part));
        }
    }
    parts
}

/// Puts everything in the order of the page; what stands at one place keeps the order of the file.
pub(super) fn sort(score: &mut WrittenScore) {
    score.notes.sort_by_key(|note| note.place);
    score.rests.sort_by_key(|rest| rest.place);
    score.tempi.sort_by_key(|mark| mark.place);
    // Every part repeats the tempo marks of all.
    score.tempi.dedup_by(|later, earlier| {
        later.place == earlier.place && later.quarters_per_minute == earlier.quarters_per_minute
    });
    score.keys.sort_by_key(|key| key.place);
    score.clefs.sort_by_key(|clef| clef.place);
    score.dynamics.sort_by_key(|dynamic| dynamic.place);
    score.pedal.sort_by_key(|mark| mark.place);
}
