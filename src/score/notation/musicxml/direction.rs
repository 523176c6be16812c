//! Directions: tempo, dynamics, pedal, and the signs of jumps.

use roxmltree::Node;

use super::super::draft::BarDraft;
use super::super::quarters::Quarters;
use super::super::tempo_words::{jump_of_words, tempo_of_words};
use super::super::written::{Dynamic, Place, Sign, TempoMark};
use super::super::xml::Element;
use super::part::{PartReader, staff_of};

/// Fastest and slowest tempo that is taken for one, in quarter notes per minute.
const TEMPI: std::ops::RangeInclusive<f64> = 5.0..=1000.0;

/// Reads a `direction`.
pub(super) fn read(reader: &mut PartReader<'_>, node: Node<'_, '_>, bar: &mut BarDraft) {
    let offset = node.child_words("offset").and_then(|text| text.parse().ok()).unwrap_or(0.0);
    let at = (reader.cursor.at + reader.length(offset)).max(Quarters::ZERO);
    let place = Place { at, ..reader.cursor };
    let sound = node.child("sound");
    let mut words = Vec::new();
    let mut metronome = None;
    for kind in node.all("direction-type").flat_map(|kind| kind.children().collect::<Vec<_>>()) {
        match kind.tag_name().name() {
            "words" => words.push(kind.words()),
            "metronome" => metronome = metronome.or(read_metronome(kind)),
            "dynamics" => dynamics(reader, kind, node.child("staff"), place),
            "pedal" => match kind.attr("type") {
                Some("start") => reader.pedal(true),
                Some("stop") => reader.pedal(false),
                Some("change") => {
                    reader.pedal(false);
                    reader.pedal(true);
                }
                _ => {}
            },
            "segno" => bar.sign(Sign::Segno),
            // Without a word about going there it is the coda itself.
            "coda" if sound.is_none_or(|sound| sound.attr("tocoda").is_none()) => bar.sign(Sign::Coda),
            _ => {}
        }
    }
    let text = words.join(" ");
    let sounding = sound.and_then(|sound| sound.attr("tempo")).and_then(|tempo| tempo.parse().ok());
    let tempo = sounding.or(metronome).or_else(|| tempo_of_words(&text));
    push_tempo(reader, tempo, place, &text);
    match sound {
        Some(sound) => read_signs(sound, bar),
        None => jump_of_words(&text).into_iter().for_each(|sign| bar.sign(sign)),
    }
}

/// Reads a `sound` that stands by itself.
pub(super) fn read_sound(reader: &mut PartReader<'_>, sound: Node<'_, '_>, bar: &mut BarDraft, at: Quarters) {
    let tempo = sound.attr("tempo").and_then(|tempo| tempo.parse().ok());
    push_tempo(reader, tempo, Place { at, ..reader.cursor }, "");
    read_signs(sound, bar);
}

fn push_tempo(reader: &mut PartReader<'_>, tempo: Option<f64>, place: Place, text: &str) {
    if let Some(quarters_per_minute) = tempo.filter(|tempo| TEMPI.contains(tempo)) {
        reader.score.tempi.push(TempoMark { place, quarters_per_minute, text: text.to_owned() });
    }
}

fn read_signs(sound: Node<'_, '_>, bar: &mut BarDraft) {
    const SIGNS: [(&str, Sign); 6] = [
        ("segno", Sign::Segno),
        ("coda", Sign::Coda),
        ("fine", Sign::Fine),
        ("tocoda", Sign::ToCoda),
        ("dacapo", Sign::DaCapo),
        ("dalsegno", Sign::DalSegno),
    ];
    for (attribute, sign) in SIGNS {
        if sound.attr(attribute).is_some_and(|value| value != "no") {
            bar.sign(sign);
        }
    }
}

fn dynamics(reader: &mut PartReader<'_>, node: Node<'_, '_>, staff: Option<Node<'_, '_>>, place: Place) {
    for child in node.children().filter(Node::is_element) {
        let mark = if child.is("other-dynamics") { child.words() } else { child.tag_name().name() };
        reader.score.dynamics.push(Dynamic {
            part: reader.part,
            staff: staff.map(|staff| staff_of(Some(staff.words()))),
            place,
            mark: mark.to_owned(),
        });
    }
}

/// Quarter notes per minute of a metronome mark; one that equates two note values says nothing by itself.
fn read_metronome(node: Node<'_, '_>) -> Option<f64> {
    let per_minute = node.child_words("per-minute")?;
    let digits = per_minute.trim_start_matches(|c: char| !c.is_ascii_digit());
    let end = digits.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(digits.len());
    let number: f64 = digits[..end].trim_end_matches('.').parse().ok()?;
    let unit = note_value(node.child_words("beat-unit")?)?;
    let dots = node.all("beat-unit-dot").count().min(4) as i32;
    Some(number * unit * (2.0 - 0.5f64.powi(dots)))
}

/// Quarter notes of a note value by its name.
fn note_value(name: &str) -> Option<f64> {
    const VALUES: [(&str, f64); 9] = [
        ("long", 16.0),
        ("breve", 8.0),
        ("whole", 4.0),
        ("half", 2.0),
        ("quarter", 1.0),
        ("eighth", 0.5),
        ("16th", 0.25),
        ("32nd", 0.125),
        ("64th", 0.0625),
    ];
    VALUES.iter().find(|(value, _)| *value == name).map(|(_, quarters)| *quarters)
}
