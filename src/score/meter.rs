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
    /// Bar, from 1.
    pub bar: u32,
    /// Beat in the bar, from 1, in the time signature's own unit; fractions lie between beats.
    pub beat: f64,
    /// Distance from the bar line in quarter notes.
    pub quarters: f64,
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
            // A bar cut short by a new signature still counts as a bar.
            let bars = (signature.tick - last.signature.tick) as f64 / map.bar_ticks(last.signature);
            let first_bar = last.first_bar.saturating_add(bars.ceil() as u32);
            map.spans.push(Span { signature, first_bar });
        }
        map
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
        let bars = ((tick - start) / bar_ticks).floor().max(0.0);
        let quarters = (tick - start - bars * bar_ticks) / self.ticks_per_quarter;
        let beat = quarters * f64::from(span.signature.denominator) / 4.0 + 1.0;
        BarPosition { bar: span.first_bar.saturating_add(bars as u32), beat, quarters }
    }

    /// Ticks of the bar lines from 0 up to and including `until_tick`.
    pub fn bar_ticks_until(&self, until_tick: u64) -> Vec<u64> {
        let mut ticks = Vec::new();
        for (index, span) in self.spans.iter().enumerate() {
            let next = self.spans.get(index + 1).map_or(until_tick.saturating_add(1), |next| next.signature.tick);
            let end = next.min(until_tick.saturating_add(1));
            let step = self.bar_ticks(span.signature);
            let first = span.signature.tick as f64;
            let lines = (0u64..).map(|bar| (first + bar as f64 * step).round() as u64);
            ticks.extend(lines.take_while(|&tick| tick < end));
        }
        ticks
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
