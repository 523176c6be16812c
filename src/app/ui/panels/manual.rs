//! The manual, for the Help menu: its pages on the left, the chosen one on the right.

use eframe::egui::text::LayoutJob;
use eframe::egui::{Align, Frame, Grid, Id, Label, Layout, RichText, ScrollArea, TextFormat, TextStyle, Ui, vec2};

use crate::app::command::Command;
use crate::app::manual::{Block, Page, Piece, Style, blocks, linked, pages};
use crate::app::ui::theme::{self, Palette};

const CONTENTS_WIDTH: f32 = 220.0;

pub(super) fn manual_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    let size = ui.ctx().content_rect().size() - vec2(120.0, 150.0);
    let size = size.min(vec2(980.0, 760.0)).max(vec2(360.0, 200.0));
    ui.set_width(size.x);
    let id = chosen_page();
    let mut chosen = ui.data(|data| data.get_temp::<usize>(id)).unwrap_or(0);
    let before = chosen;
    let column = |ui: &mut Ui, width: f32, content: &mut dyn FnMut(&mut Ui)| {
        ui.allocate_ui_with_layout(vec2(width, size.y), Layout::top_down(Align::Min), |ui| {
            ui.set_min_size(vec2(width, size.y));
            ui.set_max_size(vec2(width, size.y));
            content(ui);
        });
    };
    ui.allocate_ui_with_layout(size, Layout::left_to_right(Align::Min), |ui| {
        // The line between the columns is as high as there is room.
        ui.set_max_height(size.y);
        column(ui, CONTENTS_WIDTH, &mut |ui| {
            ScrollArea::vertical().id_salt("contents").auto_shrink(false).show(ui, |ui| {
                for (index, page) in pages().iter().enumerate() {
                    ui.horizontal(|ui| {
                        ui.add_space(14.0 * page.level as f32);
                        ui.selectable_value(&mut chosen, index, page.title);
                    });
                }
            });
        });
        ui.separator();
        let Some(page) = pages().get(chosen) else { return };
        column(ui, size.x - CONTENTS_WIDTH - 30.0, &mut |ui| {
            ScrollArea::vertical().id_salt(("page", before)).auto_shrink(false).show(ui, |ui| {
                for (index, block) in blocks(page.text).iter().enumerate() {
                    block_ui(ui, page, index, block, &mut chosen);
                }
            });
        });
    });
    if chosen != before {
        ui.data_mut(|data| data.insert_temp(id, chosen));
    }
    ui.add_space(8.0);
    if ui.button("Close").clicked() {
        commands.push(Command::CloseDialog);
    }
}

/// Makes the manual open at a page, given by its file name in the book.
pub(super) fn choose(ui: &Ui, path: &str) {
    if let Some(index) = pages().iter().position(|page| page.path == path) {
        ui.data_mut(|data| data.insert_temp(chosen_page(), index));
    }
}

/// What the chosen page is remembered by.
fn chosen_page() -> Id {
    Id::unique("page of the manual")
}

fn block_ui(ui: &mut Ui, page: &Page, index: usize, block: &Block, chosen: &mut usize) {
    match block {
        Block::Heading(level, pieces) => {
            ui.add_space(if *level == 1 { 0.0 } else { 10.0 });
            let text: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let size = [22.0, 17.0, 14.5][(level - 1).min(2)];
            ui.label(RichText::new(text).family(theme::strong_family()).size(size));
        }
        Block::Paragraph(pieces) => text_ui(ui, page, pieces, chosen),
        Block::Item(level, sign, pieces) => {
            ui.horizontal_top(|ui| {
                ui.add_space(16.0 * *level as f32 + 6.0);
                ui.label(sign);
                ui.vertical(|ui| text_ui(ui, page, pieces, chosen));
            });
        }
        Block::Code(code) => {
            Frame::new().fill(Palette::of(ui).panel).inner_margin(8).corner_radius(4).show(ui, |ui| {
                ScrollArea::horizontal().id_salt(("code", index)).show(ui, |ui| {
                    ui.add(Label::new(RichText::new(code).monospace().size(12.0)).extend());
                });
            });
        }
        Block::Table(rows) => {
            ScrollArea::horizontal().id_salt(("table", index)).show(ui, |ui| {
                Grid::new(("cells", index)).striped(true).spacing(vec2(18.0, 4.0)).max_col_width(380.0).show(
                    ui,
                    |ui| {
                        for row in rows {
                            for cell in row {
                                ui.vertical(|ui| text_ui(ui, page, cell, chosen));
                            }
                            ui.end_row();
                        }
                    },
                );
            });
        }
    }
    ui.add_space(4.0);
}

/// A paragraph: one text, or, where links are to be clicked, its pieces one after another.
fn text_ui(ui: &mut Ui, page: &Page, pieces: &[Piece], chosen: &mut usize) {
    if pieces.iter().all(|piece| piece.link.is_none()) {
        ui.add(Label::new(laid_out(ui, pieces)).wrap());
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 0.0;
        for piece in pieces {
            match &piece.link {
                None => drop(ui.label(rich(ui, piece))),
                Some(target) => match linked(page, target) {
                    Some(index) => {
                        if ui.link(&piece.text).clicked() {
                            *chosen = index;
                        }
                    }
                    None if target.contains("://") => drop(ui.hyperlink_to(&piece.text, target)),
                    None => drop(ui.label(&piece.text)),
                },
            }
        }
    });
}

/// A piece by itself: laid out as links are, so that both stand on one line.
fn rich(ui: &Ui, piece: &Piece) -> RichText {
    let text = RichText::new(&piece.text);
    match piece.style {
        Style::Plain => text,
        Style::Strong => text.family(theme::strong_family()),
        Style::Emphasis => text.italics(),
        Style::Code => text.monospace(),
        Style::Picture => text.italics().color(Palette::of(ui).soft_ink),
    }
}

fn laid_out(ui: &Ui, pieces: &[Piece]) -> LayoutJob {
    let (font, palette) = (TextStyle::Body.resolve(ui.style()), Palette::of(ui));
    let mut job = LayoutJob::default();
    for piece in pieces {
        let plain = TextFormat::simple(font.clone(), palette.ink);
        let format = match piece.style {
            Style::Plain => plain,
            Style::Strong => {
                TextFormat { font_id: eframe::egui::FontId::new(font.size, theme::strong_family()), ..plain }
            }
            Style::Emphasis => TextFormat { italics: true, ..plain },
            Style::Code => {
                TextFormat { font_id: TextStyle::Monospace.resolve(ui.style()), background: palette.panel, ..plain }
            }
            Style::Picture => TextFormat { italics: true, color: palette.soft_ink, ..plain },
        };
        job.append(&piece.text, 0.0, format);
    }
    job
}

#[cfg(test)]
mod tests {
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable;

    use super::*;

    /// A sign that no font has ends the test.
    #[test]
    fn every_page_can_be_shown_with_the_fonts_that_there_are() {
        let mut harness = Harness::builder()
            .with_size(vec2(1200.0, 900.0))
            .with_context_setup(theme::install)
            .build_ui(|ui| manual_ui(ui, &mut Vec::new()));
        for (index, page) in pages().iter().enumerate() {
            harness.ctx.data_mut(|data| data.insert_temp(chosen_page(), index));
            harness.run_steps(2);
            let wide = harness.get_by_label("Close").rect();
            assert!(wide.left() >= 0.0 && wide.bottom() <= 900.0, "{}: {wide:?}", page.path);
        }
    }
}
