//! Where the window is on the monitor when it opens: all of it where it can be seen.

use eframe::egui::{Pos2, Rect, Vec2, pos2, vec2};

/// Room that bars of the system may take from the monitor's height. Systems do not tell how much it is.
const BARS: f32 = 56.0;

/// The size and place that a window should have instead.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// Size without the frame.
    pub inner_size: Vec2,
    /// Where its frame's corner goes; none if it can stay, or if it is on a monitor whose place is not known.
    pub position: Option<Pos2>,
}

/// How a window that is not wholly on the monitor should be; none if it is. `outer` is the window with its frame, where known.
pub fn fitted(monitor: Vec2, inner: Vec2, outer: Option<Rect>) -> Option<Placement> {
    let frame = outer.map_or(Vec2::ZERO, |outer| (outer.size() - inner).max(Vec2::ZERO));
    let most = (monitor - frame - vec2(0.0, BARS)).max(Vec2::splat(1.0));
    let inner_size = inner.min(most);
    // Coordinates are those of all monitors together: only on the first one do they tell what is outside.
    let on_first = Rect::from_min_size(pos2(-frame.x, -frame.y), monitor);
    let position = outer.filter(|outer| on_first.contains(outer.min)).and_then(|outer| {
        let size = inner_size + frame;
        let least = |place: f32, room: f32| place.min(room).max(0.0);
        let place = pos2(least(outer.min.x, monitor.x - size.x), least(outer.min.y, monitor.y - size.y));
        (place != outer.min).then_some(place)
    });
    (inner_size != inner || position.is_some()).then_some(Placement { inner_size, position })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outer(x: f32, y: f32, inner: Vec2) -> Option<Rect> {
        Some(Rect::from_min_size(pos2(x, y), inner + vec2(4.0, 30.0)))
    }

    #[test]
    fn a_window_larger_than_a_small_screen_is_made_to_fit_it() {
        let (monitor, inner) = (vec2(1280.0, 720.0), vec2(1440.0, 900.0));
        let placement = fitted(monitor, inner, outer(0.0, 20.0, inner)).unwrap();
        let size = placement.inner_size + vec2(4.0, 30.0);
        let corner = placement.position.unwrap_or(pos2(0.0, 20.0));
        assert!(corner.x >= 0.0 && corner.y >= 0.0, "{placement:?}");
        assert!(corner.x + size.x <= 1280.0 && corner.y + size.y <= 720.0, "{placement:?}");
        // Where the system does not tell where the window is, its size at least fits.
        assert_eq!(fitted(monitor, inner, None).unwrap().inner_size, vec2(1280.0, 720.0 - BARS));
    }

    #[test]
    fn a_window_that_hangs_over_the_edge_is_moved_and_keeps_its_size() {
        let (monitor, inner) = (vec2(1920.0, 1080.0), vec2(1000.0, 700.0));
        let placement = fitted(monitor, inner, outer(1200.0, 600.0, inner)).unwrap();
        assert_eq!(placement, Placement { inner_size: inner, position: Some(pos2(916.0, 350.0)) });
    }

    #[test]
    fn a_window_that_is_seen_whole_or_on_another_monitor_stays() {
        let (monitor, inner) = (vec2(1920.0, 1080.0), vec2(1000.0, 700.0));
        assert_eq!(fitted(monitor, inner, outer(100.0, 50.0, inner)), None);
        assert_eq!(fitted(monitor, inner, outer(2500.0, 50.0, inner)), None);
    }
}
