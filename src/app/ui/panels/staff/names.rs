//! What notes are called for those who cannot see them.

use eframe::egui::accesskit::Action;
use eframe::egui::{Id, Rect, Role, Sense, Ui, WidgetInfo};

use super::super::canvas::Canvas;
use super::head_rect;
use crate::app::command::Command;
use crate::app::document::view_model::{Piece, Solution};
use crate::engraving::pen::HeadSpot;
use crate::score::WrittenPitch;

/// So many notes have a name each at most: a longer list helps nobody.
const MOST_NAMES: usize = 400;

/// "C sharp 5, bar 12 beat 3, 12.43 seconds".
pub fn note_name(piece: &Piece, solution: &Solution, note: usize) -> Option<String> {
    let head = &piece.engraving.heads[piece.engraving.head_of(note)? as usize];
    let position = piece.score.position(piece.score.notes.get(note)?);
    let onset_s = solution.alignment.notes.get(note)?.onset_s;
    let beat = (position.beat * 100.0).round() / 100.0;
    Some(format!("{}, bar {} beat {beat}, {onset_s:.2} seconds", spoken(head.pitch), position.bar))
}

/// A pitch in words.
fn spoken(pitch: WrittenPitch) -> String {
    let alter = match pitch.alter {
        ..=-2 => " double flat",
        -1 => " flat",
        0 => "",
        1 => " sharp",
        2.. => " double sharp",
    };
    format!("{}{alter} {}", pitch.step, pitch.octave)
}

/// Gives every note that begins where it is seen a name, and lets those select it who cannot point.
pub fn name_notes(
    ui: &Ui,
    canvas: &Canvas,
    (piece, solution): (&Piece, &Solution),
    spots: &[HeadSpot],
    space: f32,
    commands: &mut Vec<Command>,
) {
    let is_heard = ui.ctx().accesskit_node_builder(canvas.response.id, |_| ()).is_some();
    if !is_heard || spots.len() > MOST_NAMES {
        return;
    }
    for spot in spots {
        let head = &piece.engraving.heads[spot.head as usize];
        let rect: Rect = head_rect(spot, space);
        if !head.begins || !canvas.plot.contains(rect.center()) {
            continue;
        }
        if let Some(name) = note_name(piece, solution, head.note as usize) {
            let id: Id = canvas.response.id.with(("note", head.note));
            let response = ui.interact(rect, id, Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::ListItem, true, name.clone()));
            ui.ctx().accesskit_node_builder(id, |node| node.add_action(Action::Click));
            if ui.input(|input| input.has_accesskit_action_request(id, Action::Click)) {
                commands.push(Command::SelectNote(head.note as usize));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pitches_are_spoken() {
        let pitch = |step, alter, octave| spoken(WrittenPitch { step, alter, octave });
        assert_eq!(pitch('C', 1, 5), "C sharp 5");
        assert_eq!(pitch('B', -2, 3), "B double flat 3");
        assert_eq!(pitch('A', 0, 4), "A 4");
    }
}
