//! Bars and beats within the bar.

/// A time signature from a tick on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeSignature {
    /// Where it begins; a bar starts here.
    pub tick: u64,
    /// Beats in a bar, at least 1.
    pub numerator: u8,
    /// What a beat is, as a fraction of a whole note: 1, 2, 4, 8 …
    pub denominator: u16,
}

/// A place in the score as musicians name it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarPosition {
    /// Bar as it is numbered: from 1, or as printed.
    pub bar: u32,
    /// Beat in the bar, from 1, in the time signature's own unit; fractions lie between beats.
    pub beat: f64,
    /// Distance from the bar line in quarter notes.
    pub quarters: f64,
}

/// A beat of the score: where the metronome clicks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Beat {
    /// Where it stands.
    pub tick: f64,
    /// Bar, from 1.
    pub bar: u32,
    /// Beat in the bar, from 1; 1 is the downbeat.
    pub beat: u32,
}

/// A bar and the number that is printed at it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BarStart {
    /// Its number; repeats have the same again, a pickup may have 0.
    pub number: u32,
    /// Where it begins, and its time signature.
    pub signature: TimeSignature,
}

/// Bars of a score. Without a time signature the bars are 4/4.
#[derive(Debug, Clone, PartialEq)]
pub struct MeterMap {
    ticks_per_quarter: f64,
    spans: Vec<Span>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Span {
    signature: TimeSignature,
    first_bar: u32,
}

/// Ticks that count as nothing: ticks are whole numbers, but the length of a bar need not be one.
const ROUNDING_TICKS: f64 = 0.499;

impl MeterMap {
    /// Builds the map from signatures in any order; of several at one tick the last given wins.
    pub fn new(ticks_per_quarter: f64, signatures: &[TimeSignature]) -> Self {
        let mut sorted = signatures.to_vec();
        sorted.sort_by_key(|signature| signature.tick);
        let common = TimeSignature { tick: 0, numerator: 4, denominator: 4 };
        let mut map = Self { ticks_per_quarter, spans: vec![Span { signature: common, first_bar: 1 }] };
        for signature in sorted {
            let signature = TimeSignature {
                numerator: signature.numerator.max(1),
                denominator: signature.denominator.max(1),
                ..signature
            };
            let last = map.spans[map.spans.len() - 1];
            if signature.tick == last.signature.tick {
                map.spans.pop();
            }
            // A bar cut short by a new signature still counts as a bar; one too long by rounding is no bar more.
            let ticks = (signature.tick - last.signature.tick) as f64;
            let bars = (ticks - ROUNDING_TICKS) / map.bar_ticks(last.signature);
            let first_bar = last.first_bar.saturating_add(bars.ceil() as u32);
            map.spans.push(Span { signature, first_bar });
        }
        map
    }

    /// Builds the map from all bars in order, with the numbers that are printed. There is at least one.
    pub fn of_bars(ticks_per_quarter: f64, bars: &[BarStart]) -> Self {
        let mut map = Self { ticks_per_quarter, spans: Vec::new() };
        let mut next: Option<(f64, BarStart)> = None;
        for &bar in bars {
            let goes_on = next.is_some_and(|(tick, last)| {
                let TimeSignature { numerator, denominator, .. } = last.signature;
                (tick - bar.signature.tick as f64).abs() < ROUNDING_TICKS
                    && last.number + 1 == bar.number
                    && (numerator, denominator) == (bar.signature.numerator, bar.signature.denominator)
            });
            if !goes_on {
                map.spans.push(Span { signature: bar.signature, first_bar: bar.number });
            }
            let start = if goes_on { next.map_or(0.0, |(tick, _)| tick) } else { bar.signature.tick as f64 };
            next = Some((start + map.bar_ticks(bar.signature), bar));
        }
        if map.spans.first().is_none_or(|first| first.signature.tick > 0) {
            return Self::new(ticks_per_quarter, &[]);
        }
        map
    }

    /// The same bars counted otherwise: the first has this number, and is a pickup of so many quarter notes. None if that is no shorter than
    /// a bar.
    pub fn counted(&self, first_bar: Option<u32>, pickup_quarters: Option<f64>) -> Option<Self> {
        let mut signatures: Vec<TimeSignature> = self.signatures().collect();
        if let Some(quarters) = pickup_quarters {
            let ticks = (quarters * self.ticks_per_quarter).round();
            let next = signatures.get(1).map_or(f64::INFINITY, |next| next.tick as f64);
            if !(ticks >= 1.0 && ticks < self.bar_ticks(signatures[0]).min(next)) {
                return None;
            }
            signatures.insert(1, TimeSignature { tick: ticks as u64, ..signatures[0] });
        }
        let mut map = Self::new(self.ticks_per_quarter, &signatures);
        let first = first_bar.unwrap_or(u32::from(pickup_quarters.is_none()));
        for span in &mut map.spans {
            span.first_bar = (span.first_bar - 1).saturating_add(first);
        }
        Some(map)
    }

    /// The time signature in force at a tick.
    pub fn signature(&self, tick: u64) -> TimeSignature {
        self.span(tick as f64).signature
    }

    /// All time signatures, the one at tick 0 included.
    pub fn signatures(&self) -> impl Iterator<Item = TimeSignature> + '_ {
        self.spans.iter().map(|span| span.signature)
    }

    /// Bar and beat of a tick.
    pub fn position(&self, tick: f64) -> BarPosition {
        let span = self.span(tick);
        let start = span.signature.tick as f64;
        let bar_ticks = self.bar_ticks(span.signature);
        let bars = ((tick - start + ROUNDING_TICKS) / bar_ticks).floor().max(0.0);
        let quarters = ((tick - start - bars * bar_ticks) / self.ticks_per_quarter).max(0.0);
        let beat = quarters * f64::from(span.signature.denominator) / 4.0 + 1.0;
        BarPosition { bar: span.first_bar.saturating_add(bars as u32), beat, quarters }
    }

    /// How many bars begin up to and including a tick, repeats counted each time. Nothing is listed: a score may have billions.
    pub fn bars_until(&self, tick: u64) -> u32 {
        let mut bars = 0.0;
        for (index, span) in self.spans.iter().enumerate().take_while(|(_, span)| span.signature.tick <= tick) {
            let length = self.span_end(index, tick) - span.signature.tick as f64;
            bars += (length / self.bar_ticks(span.signature)).ceil().max(0.0);
        }
        bars as u32
    }

    /// Ticks of the bar lines from 0 up to and including `until_tick`.
    pub fn bar_ticks_until(&self, until_tick: u64) -> Vec<u64> {
        let mut ticks = Vec::new();
        for (index, span) in self.spans.iter().enumerate() {
            let start = span.signature.tick as f64;
            let step = self.bar_ticks(span.signature);
            let end = self.span_end(index, until_tick);
            let lines = (0u64..).map(|bar| start + bar as f64 * step).take_while(|&tick| tick < end);
            ticks.extend(lines.map(|tick| tick.round() as u64));
        }
        ticks
    }

    /// Beats from tick 0 up to and including `until_tick`. Every bar begins with beat 1, also after a bar cut short.
    pub fn beats_until(&self, until_tick: u64) -> Vec<Beat> {
        let mut beats = Vec::new();
        for (index, span) in self.spans.iter().enumerate() {
            let start = span.signature.tick as f64;
            let per_bar = u64::from(span.signature.numerator);
            let step = self.bar_ticks(span.signature) / per_bar as f64;
            let end = self.span_end(index, until_tick);
            let ticks = (0u64..).map(|count| (count, start + count as f64 * step)).take_while(|&(_, tick)| tick < end);
            beats.extend(ticks.map(|(count, tick)| Beat {
                tick,
                bar: span.first_bar.saturating_add(u32::try_from(count / per_bar).unwrap_or(u32::MAX)),
                beat: (count % per_bar) as u32 + 1,
            }));
        }
        beats
    }

    /// Where beats of a span end: what falls on the next signature belongs to that one.
    fn span_end(&self, index: usize, until_tick: u64) -> f64 {
        let next = self.spans.get(index + 1).map_or(f64::INFINITY, |next| next.signature.tick as f64);
        (next - ROUNDING_TICKS).min(until_tick as f64 + ROUNDING_TICKS)
    }

    fn bar_ticks(&self, signature: TimeSignature) -> f64 {
        let quarters = f64::from(signature.numerator) * 4.0 / f64::from(signature.denominator);
        (quarters * self.ticks_per_quarter).max(1.0)
    }

    fn span(&self, tick: f64) -> Span {
        let after = self.spans.partition_point(|span| span.signature.tick as f64 <= tick);
        self.spans[after.max(1) - 1]
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn signature(tick: u64, numerator: u8, denominator: u16) -> TimeSignature {
        TimeSignature { tick, numerator, denominator }
    }

    #[test]
    fn without_a_signature_the_bars_are_common_time() {
        let map = MeterMap::new(480.0, &[]);
        assert_eq!(map.position(1920.0 + 240.0), BarPosition { bar: 2, beat: 1.5, quarters: 0.5 });
        assert_eq!(map.bar_ticks_until(3840), [0, 1920, 3840]);
    }

    #[test]
    fn an_upbeat_counts_as_the_first_bar_and_the_next_signature_begins_the_second() {
        let map = MeterMap::new(480.0, &[signature(0, 1, 4), signature(480, 3, 4)]);
        assert_eq!(map.position(0.0).bar, 1);
        assert_eq!(map.position(480.0), BarPosition { bar: 2, beat: 1.0, quarters: 0.0 });
        assert_eq!(map.bar_ticks_until(2000), [0, 480, 1920]);
    }

    #[test]
    fn a_bar_cut_short_by_a_signature_still_counts() {
        let map = MeterMap::new(480.0, &[signature(2400, 6, 8)]);
        assert_eq!(map.position(2399.0).bar, 2);
        assert_eq!(map.position(2400.0 + 240.0), BarPosition { bar: 3, beat: 2.0, quarters: 0.5 });
        let beats: Vec<_> = map.beats_until(2640).iter().map(|b| (b.bar, b.beat)).collect();
        assert_eq!(beats, [(1, 1), (1, 2), (1, 3), (1, 4), (2, 1), (3, 1), (3, 2)]);
    }

    #[test]
    fn of_several_signatures_at_one_tick_the_last_wins() {
        let map = MeterMap::new(480.0, &[signature(0, 3, 4), signature(0, 2, 4)]);
        assert_eq!(map.signatures().collect::<Vec<_>>(), [signature(0, 2, 4)]);
        assert_eq!(map.position(960.0).bar, 2);
    }

    #[test]
    fn bars_have_the_numbers_that_are_printed() {
        let bar = |number, tick| BarStart { number, signature: signature(tick, 3, 4) };
        // A pickup, two bars, both again.
        let map = MeterMap::of_bars(480.0, &[bar(0, 0), bar(1, 480), bar(2, 1920), bar(1, 3360), bar(2, 4800)]);
        assert_eq!([0.0, 480.0, 2000.0, 3360.0, 4800.0].map(|tick| map.position(tick).bar), [0, 1, 2, 1, 2]);
        assert_eq!(map.bar_ticks_until(5000), [0, 480, 1920, 3360, 4800]);
        assert_eq!([0, 479, 480, 4799, 4800, 5000].map(|tick| map.bars_until(tick)), [1, 1, 2, 4, 5, 5]);
        assert_eq!(map.signatures().count(), 3, "bars that follow one another need no signature");
        assert_eq!(MeterMap::of_bars(480.0, &[]), MeterMap::new(480.0, &[]));
    }

    proptest! {
        #[test]
        fn every_beat_stands_where_its_position_says(
            ticks_per_quarter in prop_oneof![Just(480.0), Just(96.0), 10.0f64..1000.0],
            changes in proptest::collection::vec((0u64..20_000, 1u8..13, 0u32..4), 0..5),
        ) {
            let signatures: Vec<_> = changes.iter().map(|&(t, n, d)| signature(t, n, 1 << d)).collect();
            let map = MeterMap::new(ticks_per_quarter, &signatures);
            let beats = map.beats_until(25_000);
            for pair in beats.windows(2) {
                prop_assert!(pair[0].tick < pair[1].tick);
                let follows = (pair[1].bar == pair[0].bar && pair[1].beat == pair[0].beat + 1)
                    || (pair[1].bar == pair[0].bar + 1 && pair[1].beat == 1);
                prop_assert!(follows, "{:?}", pair);
            }
            for beat in &beats {
                let position = map.position(beat.tick);
                prop_assert_eq!(position.bar, beat.bar);
                prop_assert!((position.beat - f64::from(beat.beat)).abs() < 0.25);
            }
            let downbeats: Vec<u64> =
                beats.iter().filter(|b| b.beat == 1).map(|b| b.tick.round() as u64).collect();
            prop_assert_eq!(downbeats, map.bar_ticks_until(25_000));
        }
    }
}
