//! Choosing parts of a score.

use super::types::Score;
use crate::base::error::{Error, Result};

impl Score {
    /// The score with the notes of some parts only: those that are called so, or else those whose name has the word in it. No names are all parts.
    pub fn only_parts(mut self, names: &[String]) -> Result<Self> {
        if names.is_empty() {
            return Ok(self);
        }
        let chosen = self.tracks_of(names)?;
        let kept: Vec<bool> = self.notes.iter().map(|note| chosen.contains(&note.track)).collect();
        if !kept.contains(&true) {
            return Err(Error::invalid("--part", names.join(", "), "a part with notes"));
        }
        let mut keep = kept.iter();
        self.notes.retain(|_| keep.next() == Some(&true));
        let mut keep = kept.iter();
        self.notation.notes.retain(|_| keep.next() == Some(&true));
        self.notation.liberties.retain(|liberty| chosen.contains(&liberty.track));
        Ok(self)
    }

    /// Whether no other parts than these have notes.
    pub(crate) fn has_only_parts(&self, names: &[String]) -> bool {
        names.is_empty()
            || self.tracks_of(names).is_ok_and(|chosen| self.notes.iter().all(|note| chosen.contains(&note.track)))
    }

    fn tracks_of(&self, names: &[String]) -> Result<Vec<u16>> {
        let parts: Vec<String> = self.notation.parts.iter().map(|part| part.to_lowercase()).collect();
        let mut chosen = Vec::new();
        for name in names {
            let wanted = name.to_lowercase();
            let found = |fits: &dyn Fn(&str) -> bool| {
                (0u16..).zip(&parts).filter(|(_, part)| fits(part)).map(|(track, _)| track).collect::<Vec<_>>()
            };
            let mut of_name = found(&|part| part == wanted);
            if of_name.is_empty() {
                of_name = found(&|part| part.contains(&wanted));
            }
            if of_name.is_empty() {
                return Err(Error::invalid(
                    "--part",
                    format!("\"{name}\""),
                    format!("one of {}", self.notation.parts.join(", ")),
                ));
            }
            chosen.extend(of_name);
        }
        Ok(chosen)
    }
}

#[cfg(test)]
mod tests {
    use super::super::plain_score;
    use super::*;
    use crate::score::{NoteName, NoteOrigin};

    #[test]
    fn parts_are_chosen_by_name_or_by_a_word_in_it() {
        let mut score = plain_score(&[(0.0, 1.0, 60), (0.5, 1.0, 62), (1.0, 1.0, 64)]);
        score.notation.parts = ["Violin I", "Violin II", "Viola"].map(str::to_owned).to_vec();
        for (index, note) in score.notes.iter_mut().enumerate() {
            note.track = index as u16;
            score.notation.notes.push(NoteName {
                id: format!("x{index}"),
                spelling: None,
                origin: NoteOrigin { note: 0, time: 1, stroke: 1 },
            });
        }
        let pitches = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            let chosen = score.clone().only_parts(&names)?;
            assert_eq!(chosen.notes.len(), chosen.notation.notes.len());
            assert!(chosen.has_only_parts(&names));
            Ok::<_, Error>(chosen.notes.iter().map(|note| note.pitch).collect::<Vec<_>>())
        };
        assert_eq!(pitches(&[]).unwrap(), [60, 62, 64]);
        assert_eq!(pitches(&["violin i"]).unwrap(), [60], "the whole name before a part of it");
        assert_eq!(pitches(&["Violin"]).unwrap(), [60, 62]);
        assert_eq!(pitches(&["viola", "Violin II"]).unwrap(), [62, 64]);
        assert!(pitches(&["Horn"]).unwrap_err().to_string().contains("one of Violin I, Violin II, Viola"));
        assert!(!score.has_only_parts(&["Viola".to_owned()]));
    }
}
