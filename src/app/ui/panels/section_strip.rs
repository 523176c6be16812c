//! The strip above the ruler: the sections of the score as they were played. A click lets a repeat be left out or put back.

use eframe::egui::{
    self, Align2, CursorIcon, FontId, Popup, Rect, Response, Role, Sense, Stroke, StrokeKind, Ui, WidgetInfo, pos2,
    vec2,
};

use super::canvas::GUTTER;
use super::clock;
use crate::align::settings::{Method, Path};
use crate::app::command::Command;
use crate::app::document::view_model::route::{self, LeftOut};
use crate::app::state::AppState;
use crate::app::ui::theme::{self, Palette};
use crate::score::Form;

/// Height of the strip.
pub const STRIP_HEIGHT: f32 = 20.0;
/// Width of the sign for what was left out.
const CHIP: f32 = 24.0;
/// Narrower sections have no letter.
const LEAST_LETTER: f32 = 10.0;
/// Narrower sections are not told by their bars.
const LEAST_BARS: f32 = 96.0;

/// Whether there is a strip to draw.
pub fn has_section_strip(state: &AppState) -> bool {
    state.shown().is_some_and(|solution| !solution.alignment.sections.is_empty())
}

/// Draws the strip, if the score has sections and the alignment tells which of them were played.
pub fn section_strip_ui(ui: &mut Ui, state: &AppState, commands: &mut Vec<Command>) {
    let Some((document, solution)) = state.document.as_ref().zip(state.shown()) else { return };
    let Some(form) = document.piece.score.notation.form.as_deref() else { return };
    let played = &solution.alignment.sections;
    if played.is_empty() {
        return;
    }
    let palette = Palette::of(ui);
    let (whole, _) = ui.allocate_exact_size(vec2(ui.available_width(), STRIP_HEIGHT), Sense::hover());
    let plot = Rect::from_min_max(pos2(whole.left() + GUTTER, whole.top()), whole.max);
    let painter = ui.painter_at(whole);
    painter.rect_filled(whole, 0.0, palette.panel);
    let place = pos2(plot.left() - 6.0, plot.center().y);
    painter.text(place, Align2::RIGHT_CENTER, "section", theme::label_font(), palette.soft_ink);
    let view = state.view();
    let x = |time: f64| plot.left() + (view.share_of(time) * f64::from(plot.width())) as f32;
    let labels = route::labels(played);
    let asked = match &document.settings.method {
        Method::Onsets(onsets) => onsets.path.clone(),
        Method::Frames(_) => Path::Auto,
    };
    for (index, section) in played.iter().enumerate() {
        let (from, to) = (x(section.performance_from_s), x(section.performance_to_s));
        let rect = Rect::from_min_max(pos2(from, plot.top() + 2.0), pos2(to, plot.bottom() - 2.0)).intersect(plot);
        if rect.width() <= 0.0 {
            continue;
        }
        let words = format!(
            "Section {}, {} to {}",
            route::name(form, &labels[index..=index]),
            clock(section.performance_from_s, 1),
            clock(section.performance_to_s, 1)
        );
        let hint = format!("{words}. Click to leave it out, or to play it once more.");
        let response = ui.interact(rect, ui.scope_id().with(("section", index)), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
        let number = form.sections.iter().position(|one| one.label == section.label).unwrap_or(0);
        let fill = palette.series(number).gamma_multiply(if response.hovered() { 0.5 } else { 0.32 });
        painter.rect_filled(rect.shrink2(vec2(0.5, 0.0)), 3.0, fill);
        outline_focus(&painter, palette, &response, rect);
        if rect.width() >= LEAST_LETTER {
            let text = match &section.label {
                label if rect.width() < LEAST_BARS => label.clone(),
                label if section.bar_from == section.bar_to => format!("{label}  bar {}", section.bar_from),
                label => format!("{label}  bars {}-{}", section.bar_from, section.bar_to),
            };
            let font = FontId::new(11.5, theme::strong_family());
            let clipped = painter.with_clip_rect(rect);
            clipped.text(rect.left_center() + vec2(5.0, 0.0), Align2::LEFT_CENTER, text, font, palette.ink);
        }
        let response = response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(hint);
        Popup::menu(&response).show(|ui| {
            let name = route::name(form, &labels[index..=index]);
            ui.label(egui::RichText::new(format!("Section {name}")).family(theme::strong_family()));
            let mut choose = |text: String, labels: Option<route::Labels>| {
                if labels.is_some() && ui.button(text).clicked() {
                    commands.extend(labels.map(|labels| Command::ChoosePath(Path::Sections(labels))));
                }
            };
            let word = if route::is_repeated(&labels, index) { "Leave the repeat out" } else { "Leave it out" };
            choose(word.to_owned(), route::without(&labels, index));
            choose("Play it once more".to_owned(), Some(route::again(&labels, index)));
            ui.separator();
            for (text, path) in [
                ("As the recording suggests", Path::Auto),
                ("All as written", Path::Written),
                ("Without repeats", Path::NoRepeats),
            ] {
                if ui.selectable_label(asked == path, text).clicked() {
                    commands.push(Command::ChoosePath(path));
                }
            }
        });
    }
    for left_out in route::left_out(form, played) {
        let at = match played.get(left_out.before) {
            Some(next) => next.performance_from_s,
            None => played.last().map_or(0.0, |last| last.performance_to_s),
        };
        // Before the place, so that the letter behind it can be read.
        let centre = pos2((x(at) - 0.5 * CHIP).max(plot.left() + 0.5 * CHIP), plot.center().y);
        if plot.x_range().contains(centre.x) {
            chip_ui(
                ui,
                form,
                &labels,
                &left_out,
                Rect::from_center_size(centre, vec2(CHIP, STRIP_HEIGHT - 6.0)),
                commands,
            );
        }
    }
    painter.hline(whole.x_range(), whole.bottom() - 0.5, Stroke::new(1.0, palette.edge));
}

/// The sign for what was left out: a click puts it back.
fn chip_ui(
    ui: &mut Ui,
    form: &Form,
    labels: &route::Labels,
    left_out: &LeftOut,
    rect: Rect,
    commands: &mut Vec<Command>,
) {
    let palette = Palette::of(ui);
    let words = format!("Put back section {}, which was not played", route::name(form, &left_out.labels));
    let response = ui.interact(rect, ui.scope_id().with(("left out", left_out.before)), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, &words));
    let painter = ui.painter();
    painter.rect(rect, 6.0, palette.panel, Stroke::new(1.0, palette.soft_ink), StrokeKind::Inside);
    outline_focus(painter, palette, &response, rect);
    let text = if left_out.labels.len() == 1 { format!("+{}", left_out.labels[0]) } else { "+…".to_owned() };
    painter.text(rect.center(), Align2::CENTER_CENTER, text, theme::label_font(), palette.ink);
    let response = response.on_hover_cursor(CursorIcon::PointingHand).on_hover_text(words);
    if response.clicked() {
        commands.push(Command::ChoosePath(Path::Sections(route::with(labels, left_out))));
    }
}

fn outline_focus(painter: &egui::Painter, palette: &Palette, response: &Response, rect: Rect) {
    if response.has_focus() {
        painter.rect_stroke(rect, 3.0, Stroke::new(1.5, palette.accent), StrokeKind::Inside);
    }
}
