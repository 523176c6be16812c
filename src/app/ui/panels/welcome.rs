//! The welcome of the first start: a greeting, then three cards that point at what they speak of.

use eframe::egui::{
    self, Align, Align2, Button, Color32, Frame, Id, LayerId, Layout, Modal, Order, Rect, Response, RichText, Shape,
    Stroke, StrokeKind, Ui, UiKind, pos2, vec2,
};

use super::manual;
use crate::app::command::Command;
use crate::app::state::{AppState, Dialog};
use crate::app::system_dialog::Question;
use crate::app::ui::panes::{PaneKind, is_shown, rect_of};
use crate::app::ui::places::{self, Place};
use crate::app::ui::theme::{DARK, LIGHT, Palette};
use crate::app::welcome::{Callout, Welcome};

const GREETING_WIDTH: f32 = 380.0;
const CARD_WIDTH: f32 = 300.0;
/// Between a card and what it points at: as long as its beak.
const BEAK: f32 = 14.0;
/// The page of the manual that the greeting leads to.
const TUTORIAL: &str = "tutorial.md";

/// Draws the welcome, unless a dialog wants an answer first.
pub fn welcome_ui(ctx: &egui::Context, state: &AppState, commands: &mut Vec<Command>) {
    let Some(welcome) = state.welcome.filter(|_| state.dialog.is_none()) else {
        ctx.data_mut(|data| data.remove::<Welcome>(focused_step()));
        return;
    };
    let area = match welcome.callout() {
        None => Modal::default_area(Id::unique("welcome")),
        Some(_) => callout_area(ctx, welcome, target(ctx, state, welcome)),
    };
    let backdrop =
        if welcome == Welcome::Greeting { palette(ctx).window.gamma_multiply(0.6) } else { Color32::TRANSPARENT };
    let margin = if welcome == Welcome::Greeting { 26 } else { 16 };
    let frame = Frame::popup(&ctx.style_of(ctx.theme())).inner_margin(margin).corner_radius(12);
    let modal = Modal::new(Id::unique("welcome")).area(area).frame(frame).backdrop_color(backdrop);
    let shown = modal.show(ctx, |ui| match welcome.callout() {
        None => greeting_ui(ui, commands),
        Some(callout) => callout_ui(ui, welcome, callout, commands),
    });
    if shown.backdrop_response.clicked() {
        commands.push(Command::Welcome(None));
    }
}

fn greeting_ui(ui: &mut Ui, commands: &mut Vec<Command>) {
    ui.set_width(GREETING_WIDTH);
    ui.spacing_mut().item_spacing.y = 8.0;
    ui.label(RichText::new("Welcome to Agogic").heading().size(20.0));
    ui.label("Agogic finds the moment in a recording at which each note of the score was played.");
    let soft = Palette::of(ui).soft_ink;
    ui.label(RichText::new("Behind this is the demo: the opening of a Bach prelude, already aligned.").color(soft));
    ui.add_space(6.0);
    let explore = wide_button(ui, "Explore the demo", true);
    focus_at_first(&explore, Welcome::Greeting);
    if explore.clicked() {
        commands.push(Command::Welcome(Welcome::Greeting.next()));
    }
    if wide_button(ui, "Open a recording and a score…", false).clicked() {
        commands.extend([Command::Welcome(None), Command::Ask(Question::OpenFiles)]);
    }
    if wide_button(ui, "Ten-minute tutorial", false).clicked() {
        manual::choose(ui, TUTORIAL);
        commands.extend([Command::Welcome(None), Command::Show(Dialog::Manual)]);
    }
    ui.add_space(4.0);
    let more = "You can drop files anywhere on the window. Esc closes this; Help brings it back.";
    ui.label(RichText::new(more).small().color(soft));
}

fn callout_ui(ui: &mut Ui, welcome: Welcome, callout: Callout, commands: &mut Vec<Command>) {
    ui.set_width(CARD_WIDTH);
    let soft = Palette::of(ui).soft_ink;
    ui.heading(callout.title);
    ui.label(callout.text);
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new(format!("{} of {}", callout.number, Welcome::CALLOUTS)).color(soft));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let next = main_button(ui, if welcome.next().is_some() { "Next" } else { "Done" });
            focus_at_first(&next, welcome);
            if next.clicked() {
                commands.push(Command::Welcome(welcome.next()));
            }
            if welcome.next().is_some() && ui.button("Skip").clicked() {
                commands.push(Command::Welcome(None));
            }
        });
    });
}

/// What a callout points at. What is hidden gives way to what is next to it.
fn target(ctx: &egui::Context, state: &AppState, welcome: Welcome) -> Rect {
    let layout = &state.preferences.layout;
    let pane = |kind: PaneKind| is_shown(layout, kind).then(|| rect_of(layout, kind)).flatten();
    let found = match welcome {
        Welcome::Greeting => None,
        Welcome::Notes => {
            pane(PaneKind::Staff).or_else(|| pane(PaneKind::PianoRoll)).or_else(|| pane(PaneKind::Waveform))
        }
        Welcome::Playing => places::find(ctx, Place::Transport),
        Welcome::Result if state.preferences.side_panel => places::find(ctx, Place::Side),
        Welcome::Result => places::find(ctx, Place::Menu),
    };
    found.unwrap_or_else(|| ctx.content_rect().shrink(40.0))
}

/// Darkens all but the target and gives the card its place: above what is low, below what is high, left of what is at the right.
fn callout_area(ctx: &egui::Context, welcome: Welcome, target: Rect) -> egui::Area {
    let (screen, palette) = (ctx.content_rect(), palette(ctx));
    let target = target.intersect(screen);
    // Above the notices, below the card.
    let painter = ctx.layer_painter(LayerId::new(Order::Middle, Id::unique("welcome shade")));
    let shade = Color32::from_black_alpha(if ctx.theme() == egui::Theme::Dark { 130 } else { 90 });
    for rect in around(screen, target) {
        painter.rect_filled(rect, 0.0, shade);
    }
    painter.rect_stroke(target.shrink(1.0), 4.0, Stroke::new(2.0, palette.accent), StrokeKind::Inside);
    let (pivot, tip, away) = if target.left() > screen.center().x {
        (Align2::RIGHT_TOP, pos2(target.left(), target.top() + 70.0), vec2(-1.0, 0.0))
    } else if target.center().y > screen.center().y {
        (Align2::LEFT_BOTTOM, pos2(target.left() + 60.0, target.top()), vec2(0.0, -1.0))
    } else {
        (Align2::LEFT_TOP, pos2(target.left() + 160.0, target.bottom()), vec2(0.0, 1.0))
    };
    let base = tip + BEAK * away;
    let side = 0.7 * BEAK * away.rot90();
    painter.add(Shape::convex_polygon(vec![tip, base + side, base - side], palette.accent, Stroke::NONE));
    // The card begins a little before its beak.
    let corner = base - vec2(40.0 * away.y.abs(), 40.0 * away.x.abs());
    let id = Id::unique(("welcome card", welcome.callout().map(|callout| callout.number)));
    egui::Area::new(id)
        .kind(UiKind::Modal)
        .sense(egui::Sense::hover())
        .order(Order::Foreground)
        .interactable(true)
        .pivot(pivot)
        .fixed_pos(corner)
}

/// The screen without a hole.
fn around(screen: Rect, hole: Rect) -> [Rect; 4] {
    [
        Rect::from_min_max(screen.min, pos2(screen.right(), hole.top())),
        Rect::from_min_max(pos2(screen.left(), hole.bottom()), screen.max),
        Rect::from_min_max(pos2(screen.left(), hole.top()), pos2(hole.left(), hole.bottom())),
        Rect::from_min_max(pos2(hole.right(), hole.top()), pos2(screen.right(), hole.bottom())),
    ]
}

fn palette(ctx: &egui::Context) -> &'static Palette {
    if ctx.theme() == egui::Theme::Dark { &DARK } else { &LIGHT }
}

fn main_button(ui: &mut Ui, text: &str) -> Response {
    let palette = Palette::of(ui);
    ui.add(Button::new(RichText::new(text).color(palette.on_accent)).fill(palette.accent))
}

fn wide_button(ui: &mut Ui, text: &str, main: bool) -> Response {
    let palette = Palette::of(ui);
    let (ink, fill) = if main { (palette.on_accent, palette.accent) } else { (palette.ink, palette.button) };
    let size = vec2(ui.available_width(), 34.0);
    ui.add(Button::new(RichText::new(text).color(ink)).fill(fill).min_size(size))
}

/// Puts the focus on a button when its step appears: Enter and Space press it, Tab goes on from it.
fn focus_at_first(button: &Response, step: Welcome) {
    let before = button.ctx.data(|data| data.get_temp::<Welcome>(focused_step()));
    if before != Some(step) {
        button.request_focus();
        button.ctx.data_mut(|data| data.insert_temp(focused_step(), step));
    }
}

fn focused_step() -> Id {
    Id::unique("step of the welcome with the focus")
}
