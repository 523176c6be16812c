//! How a note is drawn: its value, beam, stem, accidental and tuplet.

use roxmltree::Node;

use super::super::written::{BeamPlace, Look, NoteValue, Stem, TupletEdge};
use super::super::xml::Element;

/// What a `note` says of its look.
pub(super) fn look(node: Node<'_, '_>) -> Look {
    Look {
        value: value(node),
        beam: node.all("beam").find(|beam| beam.attr("number").is_none_or(|number| number == "1")).and_then(beam),
        stem: match node.child_words("stem") {
            Some("up") => Some(Stem::Up),
            Some("down") => Some(Stem::Down),
            _ => None,
        },
        accidental: node.child("accidental").is_some(),
        tuplet: tuplet(node),
    }
}

/// The note value that is printed.
pub(super) fn value(node: Node<'_, '_>) -> Option<NoteValue> {
    const NAMES: [&str; 10] = ["breve", "whole", "half", "quarter", "eighth", "16th", "32nd", "64th", "128th", "256th"];
    let name = node.child_words("type")?;
    let power = NAMES.iter().position(|known| *known == name)? as i8 - 1;
    let ratio = node.child("time-modification").and_then(|ratio| {
        let number = |name| ratio.child_number(name).and_then(|number| u8::try_from(number).ok());
        Some((number("actual-notes")?, number("normal-notes")?))
    });
    let tuplet = ratio.filter(|&(actual, normal)| actual > 0 && normal > 0).unwrap_or((1, 1));
    Some(NoteValue { power, dots: node.all("dot").count().min(4) as u8, tuplet })
}

fn beam(node: Node<'_, '_>) -> Option<BeamPlace> {
    match node.words() {
        "begin" => Some(BeamPlace::Begin),
        "continue" => Some(BeamPlace::Inside),
        "end" => Some(BeamPlace::End),
        _ => None,
    }
}

fn tuplet(node: Node<'_, '_>) -> Option<TupletEdge> {
    let mut tuplets = node.all("notations").flat_map(|notations| notations.all("tuplet").collect::<Vec<_>>());
    tuplets.find_map(|tuplet| match tuplet.attr("type") {
        Some("start") if tuplet.attr("show-number") != Some("none") => Some(TupletEdge::Begin),
        Some("stop") => Some(TupletEdge::End),
        _ => None,
    })
}
