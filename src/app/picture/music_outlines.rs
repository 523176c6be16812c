//! Signs of the music font as outlines: who looks at a vector picture need not have the font.

use std::fmt::Write as _;

use ab_glyph::{Font, FontRef, OutlineCurve, Point};

use crate::app::ui::theme::MUSIC_FONT;

/// The path of a sign whose origin and size are in points; none if the font does not have it.
pub fn path_of(sign: char, [x, y]: [f32; 2], size: f32) -> Option<String> {
    let font = FontRef::try_from_slice(MUSIC_FONT).ok()?;
    let outline = font.outline(font.glyph_id(sign))?;
    let scale = size / font.units_per_em()?;
    let place = |point: Point| format!("{:.2} {:.2}", x + scale * point.x, y - scale * point.y);
    let mut path = String::new();
    let mut last = None;
    for curve in outline.curves {
        let (from, to) = ends(&curve);
        if last != Some(from) {
            let _ = write!(path, "M{}", place(from));
        }
        let _ = match curve {
            OutlineCurve::Line(_, to) => write!(path, "L{}", place(to)),
            OutlineCurve::Quad(_, by, to) => write!(path, "Q{} {}", place(by), place(to)),
            OutlineCurve::Cubic(_, a, b, to) => write!(path, "C{} {} {}", place(a), place(b), place(to)),
        };
        last = Some(to);
    }
    Some(path)
}

fn ends(curve: &OutlineCurve) -> (Point, Point) {
    match curve {
        OutlineCurve::Line(from, to) | OutlineCurve::Quad(from, _, to) | OutlineCurve::Cubic(from, _, _, to) => {
            (*from, *to)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notehead_is_as_wide_as_the_font_says() {
        let path = path_of('\u{E0A4}', [0.0, 0.0], 40.0).unwrap();
        let numbers: Vec<f32> =
            path.split(|c: char| !c.is_ascii_digit() && c != '.' && c != '-').filter_map(|n| n.parse().ok()).collect();
        let widest = numbers.chunks(2).map(|place| place[0]).fold(0.0, f32::max);
        assert!((widest - 11.8).abs() < 0.1, "{widest}");
        assert!(path.starts_with('M'), "{path}");
        assert!(path_of('a', [0.0, 0.0], 40.0).is_none_or(|path| path.is_empty()));
    }
}
