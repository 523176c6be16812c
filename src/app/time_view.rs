//! The one time axis: which stretch of the recording all panes show. All zooming and scrolling goes through here.

use serde::{Deserialize, Serialize};

/// The closest look: five milliseconds across the pane.
const SHORTEST_SPAN_S: f64 = 0.005;
/// Where the playhead is brought to when the view follows it, as a share of the span.
const FOLLOW_PLACE: f64 = 0.1;

/// The visible stretch of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct TimeView {
    /// Time at the left edge, in seconds of the recording.
    pub start_s: f64,
    /// Seconds from the left edge to the right one.
    pub span_s: f64,
    /// Length of the recording.
    pub duration_s: f64,
}

impl TimeView {
    /// Shows the whole recording.
    pub fn whole(duration_s: f64) -> Self {
        let duration_s = duration_s.max(SHORTEST_SPAN_S);
        Self { start_s: 0.0, span_s: duration_s, duration_s }
    }

    /// The same look at a recording of this length, as far as it goes.
    pub fn of_recording(&self, duration_s: f64) -> Self {
        let whole = Self::whole(duration_s);
        if !(self.start_s.is_finite() && self.span_s > 0.0 && self.span_s.is_finite()) {
            return whole;
        }
        Self { duration_s: whole.duration_s, ..*self }.kept_within()
    }

    /// Time at the right edge.
    pub fn end_s(&self) -> f64 {
        self.start_s + self.span_s
    }

    /// Where a time stands between the left (0) and right (1) edge.
    pub fn share_of(&self, time_s: f64) -> f64 {
        (time_s - self.start_s) / self.span_s
    }

    /// The time at a share of the width.
    pub fn time_at(&self, share: f64) -> f64 {
        self.start_s + share * self.span_s
    }

    /// Zooms by `factor` (above 1: closer) with `time_s` staying where it is.
    pub fn zoomed(&self, time_s: f64, factor: f64) -> Self {
        let span_s = (self.span_s / factor.clamp(1e-3, 1e3)).clamp(SHORTEST_SPAN_S, self.duration_s);
        let start_s = time_s - self.share_of(time_s) * span_s;
        Self { start_s, span_s, ..*self }.kept_within()
    }

    /// Scrolls by `seconds`.
    pub fn panned(&self, seconds: f64) -> Self {
        Self { start_s: self.start_s + seconds, ..*self }.kept_within()
    }

    /// Scrolls, if need be, so that `time_s` is well inside.
    pub fn showing(&self, time_s: f64) -> Self {
        if (0.05..=0.95).contains(&self.share_of(time_s)) {
            return *self;
        }
        Self { start_s: time_s - 0.4 * self.span_s, ..*self }.kept_within()
    }

    /// Turns the page when the playhead leaves the view.
    pub fn following(&self, time_s: f64) -> Self {
        if (0.0..=0.97).contains(&self.share_of(time_s)) {
            return *self;
        }
        Self { start_s: time_s - FOLLOW_PLACE * self.span_s, ..*self }.kept_within()
    }

    /// Nothing but the recording is shown: beyond its ends there is only blank time.
    fn kept_within(self) -> Self {
        let span_s = self.span_s.clamp(SHORTEST_SPAN_S, self.duration_s);
        Self { start_s: self.start_s.clamp(0.0, self.duration_s - span_s), span_s, ..self }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zooming_keeps_the_time_under_the_pointer_where_it_is() {
        let view = TimeView::whole(100.0).zoomed(40.0, 8.0);
        let closer = view.zoomed(42.0, 2.0);
        assert!((closer.share_of(42.0) - view.share_of(42.0)).abs() < 1e-12);
        assert!((closer.span_s - view.span_s / 2.0).abs() < 1e-12);
    }

    #[test]
    fn following_turns_the_page_and_otherwise_leaves_the_view_alone() {
        let view = TimeView { start_s: 10.0, span_s: 10.0, duration_s: 100.0 };
        assert_eq!(view.following(15.0), view);
        assert!((view.following(20.5).start_s - 19.5).abs() < 1e-9);
        assert!(view.following(5.0).share_of(5.0) >= 0.0);
    }

    #[test]
    fn a_stored_look_is_brought_inside_the_recording() {
        let stored = TimeView { start_s: -5.0, span_s: 10.0, duration_s: 100.0 };
        assert_eq!(stored.of_recording(60.0), TimeView { start_s: 0.0, span_s: 10.0, duration_s: 60.0 });
        assert_eq!(stored.of_recording(4.0), TimeView::whole(4.0));
        assert_eq!(TimeView { span_s: f64::NAN, ..stored }.of_recording(60.0), TimeView::whole(60.0));
    }

    proptest! {
        #[test]
        fn no_gesture_loses_the_recording(
            duration in 0.01..20_000.0f64,
            gestures in prop::collection::vec((0.0..1.0f64, 0.01..100.0f64, -1e5..1e5f64), 1..30),
        ) {
            let mut view = TimeView::whole(duration);
            for (share, factor, pan) in gestures {
                view = view.zoomed(view.time_at(share), factor).panned(pan);
                prop_assert!(view.start_s.is_finite() && view.span_s >= SHORTEST_SPAN_S);
                prop_assert!(view.start_s >= 0.0 && view.end_s() <= duration + 1e-9, "blank time is shown: {view:?}");
            }
        }
    }
}
