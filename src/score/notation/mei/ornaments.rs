//! What is written at a note of MEI itself: lyrics, fermatas, ornaments, tremolos.

use roxmltree::Node;

use super::super::written::Mark;
use super::super::xml::Element;

/// The marks that an element has as attributes or within it.
pub(super) fn marks_of(node: Node<'_, '_>) -> Vec<Mark> {
    let mut marks = Vec::new();
    if node.attr("fermata").is_some() {
        marks.push(Mark::Fermata);
    }
    if let Some(names) = node.attr("ornam") {
        marks.extend(names.split_whitespace().map(|name| Mark::Ornament(name.to_owned())));
    }
    let children = node.all("artic").filter_map(|sign| sign.attr("artic"));
    for names in node.attr("artic").into_iter().chain(children) {
        marks.extend(names.split_whitespace().filter_map(articulation));
    }
    let strokes = node.attr("stem.mod").and_then(|stem| stem.strip_suffix("slash")?.parse().ok());
    if let Some(strokes) = strokes.filter(|_| node.attr("grace").is_none()) {
        marks.push(Mark::Tremolo { strokes, between: None });
    }
    for verse in node.all("verse") {
        let syllables: Vec<&str> = verse.all("syl").map(|syllable| syllable.words()).collect();
        lyric(&mut marks, verse.attr("n"), &syllables.join(" "));
    }
    for syllable in node.all("syl") {
        lyric(&mut marks, None, syllable.words());
    }
    lyric(&mut marks, None, node.attr("syl").unwrap_or_default());
    marks
}

/// An articulation by the name that MusicXML has for it.
fn articulation(name: &str) -> Option<Mark> {
    let name = match name {
        "stacc" => "staccato",
        "acc" => "accent",
        "ten" => "tenuto",
        "marc" => "strong-accent",
        "stacciss" | "spicc" => "staccatissimo",
        _ => return None,
    };
    Some(Mark::Articulation(name.to_owned()))
}

fn lyric(marks: &mut Vec<Mark>, verse: Option<&str>, text: &str) {
    if !text.trim().is_empty() {
        marks.push(Mark::Lyric { verse: verse.unwrap_or("1").to_owned(), text: text.trim().to_owned() });
    }
}

/// The mark that an element of its own stands for, if it is one.
pub(super) fn mark_of(node: Node<'_, '_>) -> Option<Mark> {
    let name = match node.tag_name().name() {
        "fermata" => return Some(Mark::Fermata),
        "arpeg" => return Some(Mark::Arpeggio { down: node.attr("order") == Some("down") }),
        "trill" => "trill-mark",
        "turn" if node.attr("form") == Some("lower") => "inverted-turn",
        "turn" => "turn",
        "mordent" if node.attr("form") == Some("upper") => "inverted-mordent",
        "mordent" => "mordent",
        "ornam" => "other-ornament",
        _ => return None,
    };
    Some(Mark::Ornament(name.to_owned()))
}
