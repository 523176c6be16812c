//! The colours of notes on the staves: as in the piano roll.

use eframe::egui::{Color32, Rect, Stroke, StrokeKind};

use super::super::canvas::Canvas;
use crate::align::result::Verdict;
use crate::app::document::view_model::Solution;
use crate::app::preferences::NoteColours;
use crate::app::state::AppState;
use crate::app::ui::theme::Palette;
use crate::engraving::pen::Tone;

/// Two onsets nearer than this, in points, are where they should be.
const SAME_PLACE: f32 = 2.5;

/// What notes look like.
pub struct NoteInk<'a> {
    solution: &'a Solution,
    colours: NoteColours,
    least: f64,
    palette: &'static Palette,
    /// Seconds that are as wide as what counts as the same place.
    same_s: f64,
    staff_lines: Color32,
}

impl<'a> NoteInk<'a> {
    pub fn new(canvas: &Canvas, state: &AppState, solution: &'a Solution) -> Self {
        Self {
            solution,
            colours: state.note_colours(),
            least: f64::from(state.preferences.least_difference),
            palette: canvas.palette,
            same_s: canvas.seconds(SAME_PLACE),
            staff_lines: super::line_colour(canvas),
        }
    }

    /// The colour of something.
    pub fn colour(&self, tone: Tone) -> Color32 {
        match tone {
            Tone::Ink => self.palette.ink,
            Tone::Soft => self.staff_lines,
            Tone::Note(note) => self.of_note(note),
        }
    }

    fn of_note(&self, note: u32) -> Color32 {
        if self.was_not_played(note) {
            return self.palette.reference_edge;
        }
        if self.elsewhere_s(note).is_some() {
            return self.palette.ours_only;
        }
        let confidence = self.solution.alignment.notes.get(note as usize).map_or(1.0, |note| note.confidence);
        match self.colours {
            NoteColours::Reference => self.palette.ink,
            NoteColours::Confidence | NoteColours::Played => {
                // A head must be seen also where nothing is sure.
                let unsure = self.palette.unsure_note.lerp_to_gamma(self.palette.note, 0.3);
                unsure.lerp_to_gamma(self.palette.ink, confidence.clamp(0.0, 1.0) as f32)
            }
        }
    }

    /// Whether a note of the score was not played, as far as that is shown.
    pub fn was_not_played(&self, note: u32) -> bool {
        let verdict = || self.solution.alignment.notes.get(note as usize)?.verdict;
        self.colours == NoteColours::Played
            && verdict().is_some_and(|judged| judged.verdict != Verdict::Played && judged.confidence >= self.least)
    }

    /// When the reference has a note, if that is seen to be another moment.
    pub fn elsewhere_s(&self, note: u32) -> Option<f64> {
        if self.colours != NoteColours::Reference {
            return None;
        }
        let reference_s = (*self.solution.staff.reference_s.as_ref()?.get(note as usize)?)?;
        let ours_s = self.solution.alignment.notes.get(note as usize)?.onset_s;
        ((reference_s - ours_s).abs() > self.same_s).then_some(reference_s)
    }

    /// Whether a note sounds at a moment.
    pub fn sounds_at(&self, note: u32, time_s: f64) -> bool {
        let notes = &self.solution.alignment.notes;
        notes.get(note as usize).is_some_and(|note| (note.onset_s..note.offset_s).contains(&time_s))
    }

    /// Extra notes are shown if they are at least this likely.
    pub fn shows_extra(&self, confidence: f64) -> bool {
        self.colours == NoteColours::Played && confidence >= self.least
    }

    /// The yellow ground of what the score, or the reference, has and the recording has not.
    pub fn paint_ground(&self, canvas: &Canvas, rect: Rect) {
        canvas.painter.rect_filled(rect, rect.height(), self.palette.reference_only);
        let stroke = Stroke::new(1.0, self.palette.reference_edge);
        canvas.painter.rect_stroke(rect, rect.height(), stroke, StrokeKind::Inside);
    }
}
