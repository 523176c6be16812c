//! How a note of MEI is drawn: its value, beam, stem and accidental.

use roxmltree::Node;

use super::super::written::{BeamPlace, Look, NoteValue, Place, Stem, TupletEdge, WrittenNote};
use super::super::xml::Element;

/// What a note, or the chord that it is in, says of its look. Lengths are multiplied by `ratios`.
pub(super) fn look(node: Node<'_, '_>, chord: Option<Node<'_, '_>>, ratios: &[(i64, i64)]) -> Look {
    let direction = node.attr("stem.dir").or_else(|| chord.and_then(|chord| chord.attr("stem.dir")));
    Look {
        value: value(node, chord, ratios),
        stem: match direction {
            Some("up") => Some(Stem::Up),
            Some("down") => Some(Stem::Down),
            _ => None,
        },
        accidental: node.attr("accid").is_some()
            || node.all("accid").any(|accidental| accidental.attr("accid").is_some()),
        ..Look::default()
    }
}

/// The note value that is printed.
pub(super) fn value(node: Node<'_, '_>, chord: Option<Node<'_, '_>>, ratios: &[(i64, i64)]) -> Option<NoteValue> {
    let element = if node.attr("dur").is_some() { node } else { chord? };
    let power = match element.attr("dur")? {
        "breve" => -1,
        number => {
            let part: u32 = number.parse().ok().filter(|part: &u32| part.is_power_of_two() && *part <= 256)?;
            part.ilog2() as i8
        }
    };
    let attribute = element.attr("dots").and_then(|dots| dots.parse().ok());
    let dots = attribute.unwrap_or_else(|| element.all("dot").count().min(4) as u8).min(4);
    // A tremolo between two notes halves their lengths and leaves them as they are drawn.
    let mut tuplets = ratios.iter().filter(|&&(normal, actual)| actual != 1 && (normal, actual) != (1, 2));
    let tuplet = tuplets
        .next_back()
        .and_then(|&(normal, actual)| Some((u8::try_from(actual).ok()?, u8::try_from(normal).ok()?)));
    Some(NoteValue { power, dots, tuplet: tuplet.unwrap_or((1, 1)) })
}

/// Joins notes under a beam.
pub(super) fn join_beam(notes: &mut [WrittenNote]) {
    each_edge(notes, |note, is_first, is_last| {
        note.look.beam = match (is_first, is_last) {
            (true, true) => None,
            (true, false) => Some(BeamPlace::Begin),
            (false, true) => Some(BeamPlace::End),
            (false, false) => Some(BeamPlace::Inside),
        };
    });
}

/// Marks where a tuplet begins and ends.
pub(super) fn join_tuplet(notes: &mut [WrittenNote]) {
    each_edge(notes, |note, is_first, is_last| {
        if is_first != is_last {
            note.look.tuplet = Some(if is_first { TupletEdge::Begin } else { TupletEdge::End });
        }
    });
}

/// Goes through notes, telling of each whether it stands where the first or the last one does.
fn each_edge(notes: &mut [WrittenNote], mut change: impl FnMut(&mut WrittenNote, bool, bool)) {
    let place = |note: &WrittenNote| -> (Place, u8) {
        (note.place, u8::MAX - note.grace.map_or(0, |grace| grace.steps_before))
    };
    let (Some(first), Some(last)) = (notes.first().map(place), notes.last().map(place)) else { return };
    for note in notes {
        let here = place(note);
        change(note, here == first, here == last);
    }
}
