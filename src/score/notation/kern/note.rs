//! Tokens of **kern: length, pitch, ties, ornaments.

use super::super::quarters::Quarters;
use super::super::written::{BeamPlace, Grace, Look, Mark, Stem, WrittenNote, WrittenPitch, WrittenRest};
use super::Reader;
use super::spines::Kind;

impl Reader {
    /// Reads a token: a note, a chord or a rest that begins now. Says whether it takes time.
    pub(super) fn notes(&mut self, row: usize, column: usize, field: &str) -> bool {
        let tokens: Vec<&str> = field.split(' ').filter(|token| !token.is_empty()).collect();
        let Some(first) = tokens.first() else { return false };
        let staff = self.spines[column].staff;
        let voice =
            self.spines[..column].iter().filter(|spine| spine.kind == Kind::Kern && spine.staff == staff).count();
        let is_grace = first.contains(['q', 'Q']);
        let length = if is_grace { Some(Quarters::ZERO) } else { length_of(first) };
        let place = self.place();
        let graces = self.graces.entry((staff, voice)).or_default();
        if !is_grace {
            graces.settle(&mut self.score.notes);
        }
        for (index, token) in tokens.iter().enumerate() {
            let Some(written) = pitch_of(token) else { continue };
            let Some(pitch) = written.sounding(0) else { continue };
            // The names that other Humdrum software gives them.
            let chord = if tokens.len() > 1 { format!("S{}", index + 1) } else { String::new() };
            if is_grace {
                graces.push(self.score.notes.len(), index > 0);
            }
            let duration = length_of(token).filter(|_| !is_grace).or(length).unwrap_or(Quarters::ZERO);
            self.score.notes.push(WrittenNote {
                id: format!("note-L{row}F{}{chord}", column + 1),
                part: staff as u16,
                staff: 1,
                voice: voice.min(1000) as u16 + 1,
                place,
                duration,
                written,
                pitch,
                tied_from: token.contains([']', '_']),
                tied_to: token.contains(['[', '_']),
                grace: is_grace
                    .then_some(Grace { slashed: first.contains('q') && !first.contains("qq"), steps_before: 1 }),
                marks: marks_of(token),
                look: look_of(token, first),
            });
        }
        let Some(length) = length.filter(|_| !is_grace) else { return false };
        let end = place.at + length;
        self.spines[column].until = end;
        let bar = self.bar();
        if first.contains('r') {
            bar.reach(end);
            if !first.contains("yy") {
                self.score.rests.push(WrittenRest {
                    part: staff as u16,
                    staff: 1,
                    voice: voice.min(1000) as u16 + 1,
                    place,
                    duration: length,
                    whole_bar: false,
                    value: None,
                });
            }
        } else {
            bar.note(place.at, end)
        }
        true
    }
}

/// The length of a token: 4 is a quarter note, 0 a breve, 20%3 three twentieths of a whole note.
fn length_of(token: &str) -> Option<Quarters> {
    let start = token.find(|c: char| c.is_ascii_digit())?;
    let digits = &token[start..];
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let number = &digits[..end];
    let rest = &digits[end..];
    let base = if number.bytes().all(|digit| digit == b'0') {
        Quarters::ratio(4 << number.len().min(4), 1)
    } else {
        let parts: i64 = number.parse().ok().filter(|parts| (1..=100_000).contains(parts))?;
        let wholes =
            rest.strip_prefix('%').map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next().unwrap_or_default());
        let wholes = wholes.and_then(|wholes| wholes.parse::<i64>().ok()).filter(|wholes| (1..=1000).contains(wholes));
        Quarters::ratio(4 * wholes.unwrap_or(1), parts)
    };
    let dots = token.matches('.').count().min(6) as u32;
    Some(base.scaled((2 << dots) - 1, 1 << dots))
}

/// The pitch of a token: c is middle C, cc the octave above, C the one below, CC below that.
fn pitch_of(token: &str) -> Option<WrittenPitch> {
    if token.contains('r') {
        return None;
    }
    let is_step = |c: char| matches!(c, 'a'..='g' | 'A'..='G');
    let letter = token.chars().find(|&c| is_step(c))?;
    let count = token.chars().skip_while(|&c| c != letter).take_while(|&c| c == letter).count().min(8) as i8;
    let octave = if letter.is_ascii_lowercase() { 3 + count } else { 4 - count };
    let after: String = token.chars().skip_while(|&c| c != letter).skip_while(|&c| c == letter).collect();
    let signs = |sign: char| after.chars().take_while(|&c| c == sign).count().min(4) as i8;
    Some(WrittenPitch { step: letter.to_ascii_uppercase(), alter: signs('#') - signs('-'), octave })
}

/// How a note is drawn; beams are written at the first note of a chord.
fn look_of(token: &str, first: &str) -> Look {
    let (begins, ends) = (first.matches('L').count(), first.matches('J').count());
    let beam = match begins.cmp(&ends) {
        std::cmp::Ordering::Greater => Some(BeamPlace::Begin),
        std::cmp::Ordering::Less => Some(BeamPlace::End),
        std::cmp::Ordering::Equal => None,
    };
    let stem = match (token.contains('/'), token.contains('\\')) {
        (true, false) => Some(Stem::Up),
        (false, true) => Some(Stem::Down),
        _ => None,
    };
    Look { beam, stem, accidental: token.contains('X'), ..Look::default() }
}

fn marks_of(token: &str) -> Vec<Mark> {
    let ornaments = [
        ('T', "trill-mark"),
        ('t', "trill-mark"),
        ('S', "turn"),
        ('$', "inverted-turn"),
        ('M', "mordent"),
        ('m', "mordent"),
        ('W', "inverted-mordent"),
        ('w', "inverted-mordent"),
    ];
    let mut marks: Vec<Mark> = Vec::new();
    for (_, name) in ornaments.iter().filter(|(sign, _)| token.contains(*sign)) {
        let mark = Mark::Ornament((*name).to_owned());
        if !marks.contains(&mark) {
            marks.push(mark);
        }
    }
    for (sign, name) in [('\'', "staccato"), ('~', "tenuto"), ('^', "accent"), ('`', "staccatissimo")] {
        if token.contains(sign) {
            marks.push(Mark::Articulation(name.to_owned()));
        }
    }
    if token.contains(';') {
        marks.push(Mark::Fermata);
    }
    if token.contains(':') {
        marks.push(Mark::Arpeggio { down: false });
    }
    // @16@ repeats the note in sixteenths.
    let tremolo = token.split('@').nth(1).and_then(|value| value.parse::<u32>().ok());
    if let Some(value) = tremolo.filter(|&value| value >= 8) {
        marks.push(Mark::Tremolo { strokes: (value.ilog2() - 2).min(8) as u8, between: None });
    }
    marks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_have_lengths_and_pitches() {
        let quarters = |token: &str| length_of(token).map(Quarters::as_f64);
        assert_eq!(quarters("4c"), Some(1.0));
        assert_eq!(quarters("(8..gg-L"), Some(0.875));
        assert_eq!(quarters("0r"), Some(8.0));
        assert_eq!(quarters("3%2c"), Some(8.0 / 3.0));
        assert_eq!(quarters("gq"), None);
        let pitch = |token: &str| pitch_of(token).and_then(|pitch| pitch.sounding(0));
        assert_eq!(
            ["4c", "4cc", "4C", "4CC", "(8..bb-L", "16f##", "4en"].map(pitch).map(Option::unwrap),
            [60, 72, 48, 36, 82, 67, 64]
        );
        assert_eq!(pitch("4r"), None);
    }

    #[test]
    fn ornaments_are_named() {
        assert_eq!(marks_of("8.a-T;"), [Mark::Ornament("trill-mark".into()), Mark::Fermata]);
        assert_eq!(marks_of("4c"), []);
    }
}
