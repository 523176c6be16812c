//! How an ear learns: first from the notes that were played, then through the alignment that it serves.
//!
//! Through the alignment: stretches of a score are placed by the onset problem, the error of the warp is differentiated through
//! its optimality ([`gdtw::gradient`](crate::warping::gdtw::gradient())), and on through the evidence into the network. Either
//! way an ear is judged by the error of such stretches on other pieces.

mod alignment;
mod blocks;
mod lesson;
mod levels;
mod note_loss;
mod note_sounds;
mod notes;
mod sounds;
mod stretch;

pub(super) use alignment::stretch_scores;
pub(super) use lesson::EarLesson;
pub(super) use note_sounds::load_note_sounds;
pub(super) use sounds::load_aligned_sounds;

#[cfg(test)]
mod tests;
