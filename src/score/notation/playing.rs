//! The written score played out: bars in playing order, ties joined, grace notes with a time of their own.

use std::collections::HashMap;
use std::path::Path;

use super::order::playing_order;
use super::quarters::Quarters;
use super::tremolo;
use super::written::{WrittenNote, WrittenScore};
use crate::base::error::{Error, Result};

/// Most notes that a score may have when it is played out.
const MOST_NOTES_PLAYED: usize = 1_000_000;

/// The score as it is played.
#[derive(Debug, Clone, Default)]
pub(crate) struct Played {
    /// Notes by onset; those of one onset in the order of the page.
    pub notes: Vec<PlayedNote>,
    /// Bars in playing order.
    pub bars: Vec<PlayedBar>,
    /// What was taken otherwise than it is written.
    pub notices: Vec<String>,
}

/// A note as it is played: of tied notes the first, as long as all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlayedNote {
    /// Index of the written note.
    pub note: u32,
    /// Where it begins.
    pub onset: Quarters,
    /// How long it is, more than nothing unless it is written so.
    pub duration: Quarters,
    /// Which time it is played, counted from 1.
    pub time: u16,
    /// Which of the notes that its tremolo stands for, from 1.
    pub stroke: u16,
}

/// A bar as it is played.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PlayedBar {
    /// Index of the written bar.
    pub bar: u32,
    /// Where it begins.
    pub start: Quarters,
}

/// Which bars are played.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reading {
    /// All repeats and jumps as they are written, abbreviations written out.
    WithRepeats,
    /// Every bar once, in the order of the page, every note once.
    AsWritten,
}

/// Plays a score out; `name` stands in the error message if that makes too many notes.
pub(crate) fn play_out(name: &Path, score: &WrittenScore, reading: Reading) -> Result<Played> {
    let (order, notices) = match (reading, &score.prescribed) {
        (Reading::AsWritten, _) => ((0..score.bars.len() as u32).collect(), Vec::new()),
        (Reading::WithRepeats, Some(prescribed)) => (prescribed.clone(), Vec::new()),
        (Reading::WithRepeats, None) => playing_order(&score.bars),
    };
    let mut played = Played { notices, ..Played::default() };
    let mut times = vec![0u16; score.notes.len()];
    let mut ties = Ties::default();
    let mut start = Quarters::ZERO;
    for bar in order {
        played.bars.push(PlayedBar { bar, start });
        let from = score.notes.partition_point(|note| note.place.bar < bar);
        for (index, note) in score.notes.iter().enumerate().skip(from).take_while(|(_, note)| note.place.bar == bar) {
            times[index] = times[index].saturating_add(1);
            let one = PlayedNote {
                note: index as u32,
                onset: start + note.place.at,
                duration: note.duration,
                time: times[index],
                stroke: 1,
            };
            ties.play(score, one, &mut played.notes);
        }
        if played.notes.len() > MOST_NOTES_PLAYED {
            let cause = format!("the score has more than the {MOST_NOTES_PLAYED} notes accepted");
            return Err(Error::limit(name, cause, "check that this is the score, or split it"));
        }
        start += score.bars[bar as usize].length;
    }
    if reading == Reading::WithRepeats {
        tremolo::write_out(score, &mut played.notes);
    }
    time_graces(score, &mut played.notes);
    played.notes.sort_by_key(|note| note.onset);
    Ok(played)
}

/// Two ends that are meant to meet may miss by the rounding of a file's divisions.
fn meet(end: Quarters, onset: Quarters) -> bool {
    end.max(onset) - end.min(onset) < Quarters::ratio(1, 100)
}

/// The notes from which a tie leads on.
#[derive(Default)]
struct Ties {
    /// By part and pitch: index of the played note, voice of the last note joined to it.
    open: HashMap<(u16, u8), Vec<(usize, u16)>>,
}

impl Ties {
    /// Plays a note, or joins it to the one that is tied to it.
    fn play(&mut self, score: &WrittenScore, one: PlayedNote, played: &mut Vec<PlayedNote>) {
        let note: &WrittenNote = &score.notes[one.note as usize];
        let open = self.open.entry((note.part, note.pitch)).or_default();
        let end = |index: usize, played: &[PlayedNote]| played[index].onset + played[index].duration;
        // What ended before this moment waits for nothing any more.
        open.retain(|&(index, _)| end(index, played) >= one.onset || meet(end(index, played), one.onset));
        let mut joined = None;
        if note.tied_from {
            let fits = |&(index, _): &(usize, u16)| meet(end(index, played), one.onset);
            let same_voice = open.iter().position(|held| held.1 == note.voice && fits(held));
            joined = same_voice.or_else(|| open.iter().position(fits)).map(|position| open.swap_remove(position).0);
        }
        let index = match joined {
            Some(index) => {
                played[index].duration = one.onset + one.duration - played[index].onset;
                index
            }
            None => {
                played.push(one);
                played.len() - 1
            }
        };
        if note.tied_to {
            open.push((index, note.voice));
        }
    }
}

/// The longest a grace note lasts.
const GRACE: (i64, i64) = (1, 8);

/// Gives grace notes their time: before the note that they lead to, at most half of what lies between it and the notes before. At the very
/// beginning there is nothing before, and the first notes wait for them.
fn time_graces(score: &WrittenScore, played: &mut [PlayedNote]) {
    let longest = Quarters::ratio(GRACE.0, GRACE.1);
    let written = |one: &PlayedNote| &score.notes[one.note as usize];
    let mut onsets: HashMap<u16, Vec<Quarters>> = HashMap::new();
    let mut steps: HashMap<(u16, u16, Quarters), u8> = HashMap::new();
    for one in played.iter() {
        let note = written(one);
        match note.grace {
            None => onsets.entry(note.part).or_default().push(one.onset),
            Some(grace) => {
                let most = steps.entry((note.part, note.voice, one.onset)).or_default();
                *most = grace.steps_before.max(*most);
            }
        }
    }
    if steps.is_empty() {
        return;
    }
    onsets.values_mut().for_each(|onsets| onsets.sort_unstable());
    for one in played.iter_mut() {
        let note = written(one);
        let moment = one.onset;
        let Some(&most) = steps.get(&(note.part, note.voice, moment)) else { continue };
        let most = i64::from(most);
        let Some(grace) = note.grace else {
            if moment == Quarters::ZERO {
                let wait = longest.min(one.duration.scaled(1, 2 * most)).scaled(most, 1);
                one.onset += wait;
                one.duration = one.duration - wait;
            }
            continue;
        };
        let onsets = onsets.get(&note.part).map_or(&[][..], Vec::as_slice);
        let before = onsets[..onsets.partition_point(|&onset| onset < moment)].last().copied();
        let before = before.unwrap_or(Quarters::ZERO);
        // A tie may have made it longer than its own moment.
        let tied = one.duration;
        if moment == Quarters::ZERO {
            one.onset = longest.scaled(most - i64::from(grace.steps_before), 1);
            one.duration = tied + longest;
        } else {
            let step = longest.min((moment - before).scaled(1, 2 * most));
            one.onset = moment - step.scaled(grace.steps_before.into(), 1);
            one.duration = tied + step;
        }
    }
}
