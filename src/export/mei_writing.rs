//! A plain MEI file of a score that is in another format: every note at its place, in as many layers as it takes.

use super::ExportInput;
use super::spelling::{Spelling, spell};
use super::text::xml;
use crate::score::written::{Bar, WrittenNote, WrittenPitch, WrittenScore};

/// Everything is laid on a grid of this many parts of a quarter note: notes down to 1/128, and triplets.
const GRID: u16 = 96;
/// Note values in parts of the grid, longest first: value as MEI calls it, length.
const VALUES: [(&str, u64); 9] =
    [("breve", 768), ("1", 384), ("2", 192), ("4", 96), ("8", 48), ("16", 24), ("32", 12), ("64", 6), ("128", 3)];

/// The file.
pub fn written_anew(input: &ExportInput, written: &WrittenScore) -> String {
    let title = xml(written.title.as_deref().unwrap_or(&input.alignment.provenance.score.name));
    let mut text = format!(
        "<mei xmlns=\"http://www.music-encoding.org/ns/mei\" meiversion=\"5.0\">\n\
         <meiHead><fileDesc><titleStmt><title>{title}</title></titleStmt><pubStmt/></fileDesc></meiHead>\n\
         <music><body><mdiv><score>\n<scoreDef{}>\n<staffGrp>\n",
        meter(written.bars.first())
    );
    let staves = staves(written);
    for (number, &(part, staff)) in staves.iter().enumerate() {
        let low = is_low(written, part, staff);
        let (clef, line) = if low { ("F", 4) } else { ("G", 2) };
        let name = xml(&written.parts[usize::from(part)].name);
        text += &format!(
            "<staffDef n=\"{}\" lines=\"5\" clef.shape=\"{clef}\" clef.line=\"{line}\"><label>{name}</label></staffDef>\n",
            number + 1
        );
    }
    text += "</staffGrp>\n</scoreDef>\n<section>\n";
    for (index, bar) in written.bars.iter().enumerate() {
        let before = index.checked_sub(1).map(|before| written.bars[before].meter);
        if before.is_some_and(|before| before != bar.meter) {
            text += &format!("<scoreDef{}/>\n", meter(Some(bar)));
        }
        let goes_on = written.bars.get(index + 1).is_some_and(|next| !next.ending.is_empty());
        let ends = !bar.ending.is_empty() && (!goes_on || bracket_begins(&written.bars, index + 1));
        if bracket_begins(&written.bars, index) {
            let times: Vec<String> = bar.ending.iter().map(u8::to_string).collect();
            text += &format!("<ending n=\"{}\">\n", times.join(","));
        }
        text += &measure(written, &staves, index, bar);
        text += if ends { "</ending>\n" } else { "" };
    }
    text + "</section>\n</score></mdiv></body></music>\n</mei>\n"
}

/// A note's pitch as it sounds: parts that transpose are written in concert pitch.
pub fn sounding(note: &WrittenNote) -> Spelling {
    let WrittenPitch { step, alter, octave } = note.written;
    if note.written.sounding(0) == Some(note.pitch) { Spelling { step, alter, octave } } else { spell(note.pitch, 0) }
}

/// Whether a bracket over the bars that are played at some times only begins with a bar.
pub fn bracket_begins(bars: &[Bar], index: usize) -> bool {
    let Some(bar) = bars.get(index).filter(|bar| !bar.ending.is_empty()) else { return false };
    let before = index.checked_sub(1).map(|before| &bars[before].ending);
    bar.ending_start || before != Some(&bar.ending)
}

fn meter(bar: Option<&Bar>) -> String {
    bar.map_or_else(String::new, |bar| {
        format!(" meter.count=\"{}\" meter.unit=\"{}\"", bar.meter.beats, bar.meter.beat_type)
    })
}

/// The staves of all parts, from the top of the page.
fn staves(written: &WrittenScore) -> Vec<(u16, u8)> {
    let of_part = |(part, about): (u16, &crate::score::written::Part)| {
        (1..=about.staves.max(1)).map(move |staff| (part, staff)).collect::<Vec<_>>()
    };
    (0..).zip(&written.parts).flat_map(of_part).collect()
}

/// Whether the notes of a staff are mostly below middle C.
fn is_low(written: &WrittenScore, part: u16, staff: u8) -> bool {
    let own = written.notes.iter().filter(|note| note.part == part && note.staff == staff);
    let (low, all) = own.fold((0, 0), |(low, all), note| (low + usize::from(note.pitch < 60), all + 1));
    2 * low > all
}

fn measure(written: &WrittenScore, staves: &[(u16, u8)], index: usize, bar: &Bar) -> String {
    let label = if bar.label.is_empty() { (index + 1).to_string() } else { bar.label.clone() };
    let left = if bar.repeat_start { " left=\"rptstart\"" } else { "" };
    let right = if bar.repeat_end.is_some() { " right=\"rptend\"" } else { "" };
    let mut text = format!("<measure n=\"{}\"{left}{right}>\n", xml(&label));
    let from = written.notes.partition_point(|note| (note.place.bar as usize) < index);
    let until = written.notes.partition_point(|note| note.place.bar as usize <= index);
    for (number, &(part, staff)) in staves.iter().enumerate() {
        let own = |note: &&WrittenNote| note.part == part && note.staff.max(1) == staff;
        let notes: Vec<&WrittenNote> = written.notes[from..until].iter().filter(own).collect();
        text += &format!("<staff n=\"{}\">", number + 1);
        for (layer, chords) in layers(&notes).iter().enumerate() {
            text += &format!("<layer n=\"{}\">{}</layer>", layer + 1, events(chords, bar.length.to_ticks(GRID), layer));
        }
        text += "</staff>\n";
    }
    text + "</measure>\n"
}

/// Notes that begin and end together.
struct Chord<'a> {
    from: u64,
    to: u64,
    notes: Vec<&'a WrittenNote>,
}

/// Chords in layers, in each of which one follows another. There is at least one layer.
fn layers<'a>(notes: &[&'a WrittenNote]) -> Vec<Vec<Chord<'a>>> {
    let mut layers: Vec<Vec<Chord<'a>>> = vec![Vec::new()];
    let mut ordered: Vec<&WrittenNote> = notes.to_vec();
    ordered.sort_by_key(|note| (note.place.at, note.voice, note.grace.is_none()));
    for note in ordered {
        let from = note.place.at.to_ticks(GRID);
        let to = if note.grace.is_some() { from } else { (note.place.at + note.duration).to_ticks(GRID).max(from + 3) };
        let same = |chord: &&mut Chord<'_>| {
            chord.from == from && chord.to == to && chord.notes[0].voice == note.voice && note.grace.is_none()
        };
        if let Some(chord) = layers.iter_mut().filter_map(|layer| layer.last_mut()).find(same) {
            chord.notes.push(note);
            continue;
        }
        let chord = Chord { from, to, notes: vec![note] };
        let free = |layer: &&mut Vec<Chord<'_>>| layer.last().is_none_or(|last| last.to <= from);
        match layers.iter_mut().find(free) {
            Some(layer) => layer.push(chord),
            None => layers.push(vec![chord]),
        }
    }
    layers
}

fn events(chords: &[Chord<'_>], length: u64, layer: usize) -> String {
    let filler = if layer == 0 { "rest" } else { "space" };
    let mut text = String::new();
    let mut at = 0;
    for (index, chord) in chords.iter().enumerate() {
        for (value, dots, triplet) in values(chord.from.saturating_sub(at)) {
            text += &in_triplet(triplet, &format!("<{filler} dur=\"{value}\"{}/>", dotted(dots)));
        }
        if chord.notes[0].grace.is_some() {
            for note in &chord.notes {
                text += &note_text(note, "8", 0, Some(" grace=\"unknown\""), None);
            }
            at = at.max(chord.from);
            continue;
        }
        // A note that reaches beyond what follows it, or beyond the bar, is written as long as there is room.
        let room = chords.get(index + 1).map_or(length.max(chord.to), |next| next.from);
        let parts = values(chord.to.min(room).saturating_sub(chord.from).max(3));
        let count = parts.len();
        for (number, (value, dots, triplet)) in parts.into_iter().enumerate() {
            let tie = match (number, number + 1 == count) {
                (0, true) => None,
                (0, false) => Some("i"),
                (_, false) => Some("m"),
                (_, true) => Some("t"),
            };
            text += &in_triplet(triplet, &chord_text(&chord.notes, value, dots, tie));
        }
        at = chord.to.min(room).max(chord.from);
    }
    for (value, dots, triplet) in values(length.saturating_sub(at)) {
        text += &in_triplet(triplet, &format!("<{filler} dur=\"{value}\"{}/>", dotted(dots)));
    }
    text
}

/// A length as note values: name, dots, whether they are triplets.
fn values(mut length: u64) -> Vec<(&'static str, u8, bool)> {
    let mut found = Vec::new();
    // Thirds of a power of two: what is left over by plain values is written in triplets.
    let triplet = !length.is_multiple_of(3);
    if triplet {
        length = length * 3 / 2;
    }
    for (value, parts) in VALUES {
        while length >= parts {
            let dots = u8::from(parts > 3 && length >= parts + parts / 2 && length < 2 * parts);
            length -= parts + u64::from(dots) * parts / 2;
            found.push((value, dots, triplet));
        }
    }
    found
}

fn in_triplet(triplet: bool, text: &str) -> String {
    if triplet { format!("<tuplet num=\"3\" numbase=\"2\">{text}</tuplet>") } else { text.to_owned() }
}

fn dotted(dots: u8) -> String {
    if dots == 0 { String::new() } else { format!(" dots=\"{dots}\"") }
}

fn chord_text(notes: &[&WrittenNote], value: &str, dots: u8, tie: Option<&str>) -> String {
    if let [note] = notes {
        return note_text(note, value, dots, None, tie);
    }
    let inner: String = notes.iter().map(|note| note_text(note, "", 0, None, tie)).collect();
    format!("<chord dur=\"{value}\"{}>{inner}</chord>", dotted(dots))
}

/// A note; only the first of those that are tied together here has the name.
fn note_text(note: &WrittenNote, value: &str, dots: u8, grace: Option<&str>, tie: Option<&str>) -> String {
    let name = if matches!(tie, None | Some("i")) { format!(" xml:id=\"{}\"", xml(&note.id)) } else { String::new() };
    let value = if value.is_empty() { String::new() } else { format!(" dur=\"{value}\"{}", dotted(dots)) };
    let pitch = sounding(note);
    let accidental = match pitch.alter {
        ..=-2 => " accid=\"ff\"",
        -1 => " accid=\"f\"",
        0 => "",
        1 => " accid=\"s\"",
        2.. => " accid=\"x\"",
    };
    let tie = tied(note, tie).map_or_else(String::new, |tie| format!(" tie=\"{tie}\""));
    format!(
        "<note{name}{value} pname=\"{}\" oct=\"{}\"{accidental}{}{tie}/>",
        pitch.step.to_ascii_lowercase(),
        pitch.octave.max(0),
        grace.unwrap_or_default()
    )
}

/// The tie of one of the parts of a note, which may be tied to its neighbours as a whole.
fn tied(note: &WrittenNote, part: Option<&str>) -> Option<&'static str> {
    let from = matches!(part, Some("m" | "t")) || (note.tied_from && matches!(part, None | Some("i")));
    let to = matches!(part, Some("i" | "m")) || (note.tied_to && matches!(part, None | Some("t")));
    match (from, to) {
        (true, true) => Some("m"),
        (true, false) => Some("t"),
        (false, true) => Some("i"),
        (false, false) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_length_on_the_grid_is_a_sum_of_note_values() {
        for length in 0..2000u64 {
            let parts = |(value, dots, triplet): &(&str, u8, bool)| {
                let plain = VALUES.iter().find(|(name, _)| name == value).unwrap().1;
                let dotted = plain + u64::from(*dots) * plain / 2;
                if *triplet { dotted as f64 * 2.0 / 3.0 } else { dotted as f64 }
            };
            let sum: f64 = values(length).iter().map(parts).sum();
            // Less than a 128th note is lost.
            assert!((sum - length as f64).abs() < 3.0, "{length}: {sum}");
        }
        assert_eq!(values(144), [("4", 1, false)]);
        assert_eq!(values(64), [("4", 0, true)]);
    }
}
