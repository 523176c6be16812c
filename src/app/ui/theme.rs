//! The look: one palette for each theme, the fonts, the spacing. Every colour of the window is named here.

use eframe::egui::{
    self, Color32, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Margin, Shadow, Stroke, Style,
    TextStyle, Theme, Visuals, vec2,
};

/// The colours of one theme.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Palette {
    /// Behind everything.
    pub window: Color32,
    /// Bars and side panels.
    pub panel: Color32,
    /// Inside the panes on the time axis.
    pub canvas: Color32,
    /// Rows of black keys and every other bar.
    pub shade: Color32,
    /// Beat lines.
    pub grid: Color32,
    /// Bar lines and edges.
    pub edge: Color32,
    /// Text.
    pub ink: Color32,
    /// Labels and what is less important.
    pub soft_ink: Color32,
    /// Buttons.
    pub button: Color32,
    /// Buttons under the pointer.
    pub button_hover: Color32,
    /// The one accent: selection, playhead, what can be dragged.
    pub accent: Color32,
    /// Text on the accent.
    pub on_accent: Color32,
    /// The recording.
    pub wave: Color32,
    /// Its loud core.
    pub wave_core: Color32,
    /// A note that the recording supports, or that both alignments have.
    pub note: Color32,
    /// A note that nothing supports.
    pub unsure_note: Color32,
    /// Only the alignment has it: red, hatched. Darker than the yellow, so that nobody needs the hue to tell them apart.
    pub ours_only: Color32,
    /// Only the reference has it: yellow of the Okabe-Ito set, outlined.
    pub reference_only: Color32,
    /// Outline of the yellow.
    pub reference_edge: Color32,
    /// The reference's curve.
    pub reference: Color32,
    /// The previous curve.
    pub ghost: Color32,
    /// Curves of alignments that were kept: green, blue, purple and brown that colour-blind people tell apart.
    pub kept: [Color32; 4],
    /// Errors.
    pub error: Color32,
}

const fn rgb(hex: u32) -> Color32 {
    Color32::from_rgb((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

/// Colours on a dark ground.
pub const DARK: Palette = Palette {
    window: rgb(0x0F1216),
    panel: rgb(0x171B21),
    canvas: rgb(0x12151A),
    shade: rgb(0x161A20),
    grid: rgb(0x1E242C),
    edge: rgb(0x2B333D),
    ink: rgb(0xE3E8EE),
    soft_ink: rgb(0x8F9BA9),
    button: rgb(0x242B34),
    button_hover: rgb(0x2F3844),
    accent: rgb(0x4FB3BF),
    on_accent: rgb(0x061B1E),
    wave: rgb(0x4A6682),
    wave_core: rgb(0x7CA1C4),
    note: rgb(0xB7C6D6),
    unsure_note: rgb(0x4A5562),
    ours_only: rgb(0xE5383B),
    reference_only: rgb(0xF0E442),
    reference_edge: rgb(0xA89A00),
    reference: rgb(0xE69F00),
    ghost: rgb(0x566270),
    kept: [rgb(0x1FB58F), rgb(0xCC79A7), rgb(0x9B8CF0), rgb(0xC79A6B)],
    error: rgb(0xF07A6A),
};

/// Colours on a light ground.
pub const LIGHT: Palette = Palette {
    window: rgb(0xE9ECF0),
    panel: rgb(0xF6F7F9),
    canvas: rgb(0xFFFFFF),
    shade: rgb(0xF6F8FA),
    grid: rgb(0xECEFF2),
    edge: rgb(0xD5DBE2),
    ink: rgb(0x1F2933),
    soft_ink: rgb(0x63707E),
    button: rgb(0xE8ECF0),
    button_hover: rgb(0xDBE1E8),
    accent: rgb(0x0B7A87),
    on_accent: rgb(0xFFFFFF),
    wave: rgb(0x9DB7D0),
    wave_core: rgb(0x4F7DA8),
    note: rgb(0x3A4757),
    unsure_note: rgb(0xB9C3CE),
    ours_only: rgb(0xCC1F2D),
    reference_only: rgb(0xF0E442),
    reference_edge: rgb(0x8F8300),
    reference: rgb(0xC28600),
    ghost: rgb(0xB4BEC9),
    kept: [rgb(0x009E73), rgb(0xB6568A), rgb(0x6A5ACD), rgb(0x8C6239)],
    error: rgb(0xB33A2B),
};

impl Palette {
    /// The palette of the theme that `ui` is drawn in.
    pub fn of(ui: &egui::Ui) -> &'static Self {
        if ui.visuals().dark_mode { &DARK } else { &LIGHT }
    }

    /// The colour of a kept alignment.
    pub fn series(&self, index: usize) -> Color32 {
        self.kept[index % self.kept.len()]
    }
}

/// The semi-bold family, for titles.
pub fn strong_family() -> FontFamily {
    FontFamily::Name("strong".into())
}

/// The family of the music font.
pub fn music_family() -> FontFamily {
    FontFamily::Name("music".into())
}

/// The music font: SMuFL signs, four staff spaces high at its size.
pub const MUSIC_FONT: &[u8] = include_bytes!("../../../assets/fonts/Agogic-Music.otf");

/// Small text in panes.
pub fn label_font() -> FontId {
    FontId::proportional(11.0)
}

/// Sets fonts, spacing and both palettes.
pub fn install(ctx: &egui::Context) {
    ctx.set_fonts(fonts());
    ctx.set_style_of(Theme::Dark, style(&DARK, Visuals::dark()));
    ctx.set_style_of(Theme::Light, style(&LIGHT, Visuals::light()));
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let faces: [(&str, &'static [u8]); 2] = [
        ("Inter", include_bytes!("../../../assets/fonts/Inter-Regular.otf")),
        ("Inter SemiBold", include_bytes!("../../../assets/fonts/Inter-SemiBold.otf")),
    ];
    for (name, bytes) in faces {
        fonts.font_data.insert(name.to_owned(), FontData::from_static(bytes).into());
    }
    let mut fallback = fonts.families.get(&FontFamily::Proportional).cloned().unwrap_or_default();
    // Signs of formulas that the others lack.
    fallback.push("Hack".to_owned());
    let with_fallback = |name: &str| std::iter::once(name.to_owned()).chain(fallback.iter().cloned()).collect();
    fonts.families.insert(FontFamily::Proportional, with_fallback("Inter"));
    fonts.families.insert(strong_family(), with_fallback("Inter SemiBold"));
    fonts.font_data.insert("music".to_owned(), FontData::from_static(MUSIC_FONT).into());
    fonts.families.insert(music_family(), vec!["music".to_owned()]);
    fonts
}

fn style(palette: &Palette, base: Visuals) -> Style {
    let mut style = Style { visuals: visuals(palette, base), ..Style::default() };
    style.text_styles = [
        (TextStyle::Small, FontId::proportional(11.0)),
        (TextStyle::Body, FontId::proportional(13.0)),
        (TextStyle::Button, FontId::proportional(13.0)),
        (TextStyle::Heading, FontId::new(15.0, strong_family())),
        (TextStyle::Monospace, FontId::monospace(12.0)),
    ]
    .into();
    style.spacing.item_spacing = vec2(8.0, 6.0);
    style.spacing.button_padding = vec2(10.0, 4.0);
    style.spacing.interact_size = vec2(36.0, 26.0);
    style.spacing.menu_margin = Margin::same(6);
    style.spacing.window_margin = Margin::same(18);
    // Scroll bars get room of their own instead of lying over what is scrolled.
    style.spacing.scroll.floating_allocated_width = 9.0;
    style.spacing.slider_width = 110.0;
    style.spacing.combo_width = 120.0;
    style.spacing.tooltip_width = 320.0;
    style.interaction.selectable_labels = false;
    style.interaction.tooltip_delay = 0.45;
    style.animation_time = 0.09;
    style
}

fn visuals(palette: &Palette, mut visuals: Visuals) -> Visuals {
    let radius = CornerRadius::same(5);
    visuals.override_text_color = Some(palette.ink);
    visuals.weak_text_color = Some(palette.soft_ink);
    visuals.hyperlink_color = palette.accent;
    visuals.panel_fill = palette.panel;
    visuals.window_fill = palette.panel;
    visuals.window_stroke = Stroke::new(1.0, palette.edge);
    visuals.window_corner_radius = CornerRadius::same(10);
    visuals.menu_corner_radius = CornerRadius::same(8);
    visuals.window_shadow = Shadow { offset: [0, 12], blur: 32, spread: 0, color: Color32::from_black_alpha(90) };
    visuals.popup_shadow = Shadow { offset: [0, 6], blur: 16, spread: 0, color: Color32::from_black_alpha(60) };
    visuals.faint_bg_color = palette.shade;
    visuals.extreme_bg_color = palette.canvas;
    visuals.code_bg_color = palette.canvas;
    visuals.error_fg_color = palette.error;
    visuals.warn_fg_color = palette.reference;
    visuals.selection.bg_fill = palette.accent.gamma_multiply(0.35);
    visuals.selection.stroke = Stroke::new(1.0, palette.ink);
    visuals.slider_trailing_fill = true;
    // A cursor that blinks would have the window painted for ever.
    visuals.text_cursor.blink = false;
    visuals.indent_has_left_vline = false;
    let widgets = &mut visuals.widgets;
    for (state, fill) in [
        (&mut widgets.noninteractive, palette.panel),
        (&mut widgets.inactive, palette.button),
        (&mut widgets.hovered, palette.button_hover),
        (&mut widgets.active, palette.accent.gamma_multiply(0.5)),
        (&mut widgets.open, palette.button_hover),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.bg_stroke = Stroke::NONE;
        state.fg_stroke = Stroke::new(1.0, palette.ink);
        state.corner_radius = radius;
        state.expansion = 0.0;
    }
    // Boxes to tick and the rails of sliders are small: they must stand out from the panel.
    widgets.inactive.bg_fill = palette.edge;
    widgets.hovered.bg_fill = palette.edge.lerp_to_gamma(palette.soft_ink, 0.25);
    widgets.noninteractive.bg_stroke = Stroke::new(1.0, palette.edge);
    widgets.noninteractive.fg_stroke = Stroke::new(1.0, palette.ink);
    visuals
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: Color32) -> f32 {
        let linear = |c: u8| (f32::from(c) / 255.0).powf(2.2);
        0.2126 * linear(colour.r()) + 0.7152 * linear(colour.g()) + 0.0722 * linear(colour.b())
    }

    fn contrast(a: Color32, b: Color32) -> f32 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn text_can_be_read_in_both_themes() {
        for palette in [&DARK, &LIGHT] {
            for ground in [palette.panel, palette.canvas, palette.button] {
                assert!(contrast(palette.ink, ground) > 7.0);
                assert!(contrast(palette.soft_ink, ground) > 4.0, "{}", contrast(palette.soft_ink, ground));
            }
            assert!(contrast(palette.on_accent, palette.accent) > 4.5);
            assert!(contrast(palette.accent, palette.canvas) > 3.0);
        }
    }

    #[test]
    fn red_is_red_and_stands_apart_from_yellow_without_its_hue() {
        for palette in [&DARK, &LIGHT] {
            let [red, green, blue, _] = palette.ours_only.to_array().map(f32::from);
            assert!(red > 3.0 * green && red > 3.0 * blue, "{:?} is no red", palette.ours_only);
            assert!((green - blue).abs() < 0.1 * red, "{:?} leans to orange or purple", palette.ours_only);
            assert!(contrast(palette.ours_only, palette.canvas) > 3.0);
            assert!(contrast(palette.ours_only, palette.reference_only) > 3.0);
            assert!(contrast(palette.accent, palette.panel) > 3.0, "the ring of the focus can be seen");
        }
    }
}
