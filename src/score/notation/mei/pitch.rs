//! Pitches in MEI: how a note sounds, where it is written as it sounds and where key and bar decide.

use std::collections::HashMap;

use roxmltree::Node;

use super::super::written::WrittenPitch;
use super::super::xml::Element;
use super::definitions::Staff;

/// Accidentals of the bar so far, by step and octave.
pub(super) type BarAccidentals = HashMap<(char, i8), i8>;

/// The pitch of a note, if it has one. `in_bar` is known where the file leaves accidentals to key and bar.
pub(super) fn pitch_of(node: Node<'_, '_>, staff: &Staff, in_bar: Option<&mut BarAccidentals>) -> Option<WrittenPitch> {
    let name = node.attr("pname").or(node.attr("pname.ges"))?;
    let step = name.chars().next().filter(|step| ('a'..='g').contains(step))?.to_ascii_uppercase();
    let octave = node.attr("oct.ges").or(node.attr("oct")).and_then(|octave| octave.parse().ok());
    // Exercises in rhythm leave it out.
    let octave = octave.or(staff.usual_octave).unwrap_or(4);
    let octave = Some(octave).filter(|octave| (-1..=10).contains(octave))? as i8;
    let child = node.child("accid");
    let sounding = node.attr("accid.ges").or_else(|| child?.attr("accid.ges"));
    let printed = node.attr("accid").or_else(|| child?.attr("accid"));
    let alter = match (sounding.or(printed).map(alter_of), in_bar) {
        (Some(alter), Some(in_bar)) => {
            in_bar.insert((step, octave), alter);
            alter
        }
        (Some(alter), None) => alter,
        (None, Some(in_bar)) => {
            in_bar.get(&(step, octave)).copied().unwrap_or_else(|| key_alter(step, staff.accidentals))
        }
        (None, None) => 0,
    };
    Some(WrittenPitch { step, alter, octave })
}

/// Semitones of an accidental; quarter tones count towards the natural.
fn alter_of(accidental: &str) -> i8 {
    match accidental {
        "s" | "su" | "ns" | "3qs" => 1,
        "f" | "fd" | "nf" | "3qf" => -1,
        "ss" | "x" => 2,
        "ff" => -2,
        "xs" | "sx" | "ts" => 3,
        "tf" => -3,
        _ => 0,
    }
}

/// What the key signature makes of a step.
fn key_alter(step: char, accidentals: i8) -> i8 {
    const SHARPS: &str = "FCGDAEB";
    let Some(place) = SHARPS.find(step).map(|place| place as i8) else { return 0 };
    if place < accidentals {
        1
    } else if 6 - place < -accidentals {
        -1
    } else {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_alter_their_steps() {
        let altered =
            |accidentals| "CDEFGAB".chars().filter(|&step| key_alter(step, accidentals) != 0).collect::<String>();
        assert_eq!([0, 1, 3, 7].map(altered), ["", "F", "CFG", "CDEFGAB"]);
        assert_eq!([-1, -3, -7].map(altered), ["B", "EAB", "CDEFGAB"]);
        assert_eq!((key_alter('F', 1), key_alter('B', -1)), (1, -1));
    }
}
