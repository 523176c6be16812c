//! The engine: stretches, clicks, resamples, and knows what is heard when.

use std::collections::VecDeque;

use super::count_in::CountIn;
use super::mix::{Mix, Tracks};
use super::resampler::{HALF, Kernel};
use super::stretch::Stretcher;

/// Slowest and fastest playing.
pub const SPEEDS: std::ops::RangeInclusive<f64> = 0.25..=1.0;
/// Samples over which sound fades in after a jump.
const FADE_IN: u32 = 200;
/// How long a click sounds, in seconds.
const CLICK_S: f64 = 0.03;
/// How many marks of what is heard when are kept: more than any device buffers.
const MARKS: usize = 64;

/// From `heard_at_s` on the output's clock, the recording's time `place_s` is heard, going on at `speed`.
#[derive(Debug, Clone, Copy)]
struct Mark {
    heard_at_s: f64,
    place_s: f64,
    speed: f64,
}

/// Makes what is heard.
#[derive(Debug)]
pub struct Engine {
    tracks: Tracks,
    mix: Mix,
    speed: f64,
    looped: Option<(f64, f64)>,
    playing: bool,
    stretcher: Stretcher,
    /// Stretched samples with the recording's time of each, not yet resampled.
    ready: VecDeque<([f32; 2], f64)>,
    scratch: Vec<[f32; 2]>,
    /// Place in `ready`, fraction of a sample.
    fraction: f64,
    kernel: Kernel,
    click: Option<(u32, bool)>,
    since_jump: u32,
    marks: VecDeque<Mark>,
    paused_at_s: f64,
    end_heard_at_s: Option<f64>,
    count_in: Option<CountIn>,
}

impl Default for Engine {
    fn default() -> Self {
        Self {
            tracks: Tracks::default(),
            mix: Mix::default(),
            speed: 1.0,
            looped: None,
            playing: false,
            stretcher: Stretcher::new(0.0),
            ready: VecDeque::new(),
            scratch: Vec::new(),
            fraction: 0.0,
            kernel: Kernel::default(),
            click: None,
            since_jump: 0,
            marks: VecDeque::new(),
            paused_at_s: 0.0,
            end_heard_at_s: None,
            count_in: None,
        }
    }
}

impl Engine {
    /// Changes what is played, without a jump.
    pub fn set_tracks(&mut self, tracks: Tracks) {
        self.tracks = tracks;
    }

    /// Changes how it is mixed.
    pub fn set_mix(&mut self, mix: Mix) {
        self.mix = mix;
    }

    /// Changes the speed, kept within `SPEEDS`.
    pub fn set_speed(&mut self, speed: f64) {
        self.speed = speed.clamp(*SPEEDS.start(), *SPEEDS.end());
    }

    /// Repeats a stretch of the recording.
    pub fn set_loop(&mut self, looped: Option<(f64, f64)>) {
        self.looped = looped.filter(|(from, to)| to - from > 0.02);
    }

    /// Clicks before going on, until the next jump.
    pub fn set_count_in(&mut self, count_in: CountIn) {
        self.count_in = Some(count_in);
    }

    /// Plays or rests.
    pub fn set_playing(&mut self, playing: bool) {
        self.playing = playing;
    }

    /// Jumps.
    pub fn seek(&mut self, time_s: f64) {
        let time_s = time_s.clamp(0.0, self.tracks.duration_s());
        self.jump(time_s);
        self.marks.clear();
        self.paused_at_s = time_s;
        self.end_heard_at_s = None;
    }

    /// What is heard at a time of the output's clock.
    pub fn heard_at(&self, now_s: f64) -> f64 {
        let heard = self.marks.iter().rev().find(|mark| mark.heard_at_s <= now_s);
        let place = match heard {
            Some(mark) if self.playing => mark.place_s + (now_s - mark.heard_at_s) * mark.speed,
            _ => self.marks.front().map_or(self.paused_at_s, |mark| mark.place_s),
        };
        place.min(self.tracks.duration_s())
    }

    /// Whether the end of the recording has been heard.
    pub fn has_ended(&self, now_s: f64) -> bool {
        self.end_heard_at_s.is_some_and(|end| now_s >= end)
    }

    /// Fills interleaved stereo for an output at `rate` whose first frame is heard at `heard_at_s`.
    pub fn fill(&mut self, out: &mut [[f32; 2]], rate: u32, heard_at_s: f64) {
        if !self.playing || self.end_heard_at_s.is_some() {
            out.fill([0.0; 2]);
            return;
        }
        if let Some(mut count_in) = self.count_in.take() {
            self.mark(Mark { heard_at_s, place_s: self.paused_at_s, speed: 0.0 });
            let counted = count_in.fill(out, rate);
            if counted == out.len() {
                self.count_in = Some(count_in);
                return;
            }
            return self.fill(&mut out[counted..], rate, heard_at_s + counted as f64 / f64::from(rate));
        }
        let step = f64::from(self.tracks.rate()) / f64::from(rate);
        let mut last_place = f64::NEG_INFINITY;
        for (n, frame) in out.iter_mut().enumerate() {
            while self.ready.len() < 2 * HALF + 2 {
                self.stretch_on();
            }
            let place_s = self.ready[HALF - 1].1;
            // A mark at the start of each buffer and at each jump of a loop.
            if place_s < last_place || last_place == f64::NEG_INFINITY {
                let heard_at_s = heard_at_s + n as f64 / f64::from(rate);
                self.mark(Mark { heard_at_s, place_s, speed: self.speed });
            }
            last_place = place_s;
            if self.looped.is_none() && place_s >= self.tracks.duration_s() {
                self.end_heard_at_s.get_or_insert(heard_at_s + n as f64 / f64::from(rate));
                *frame = [0.0; 2];
                continue;
            }
            let (head, tail) = self.ready.as_slices();
            let mut window = [[0.0; 2]; 2 * HALF];
            for (slot, (value, _)) in window.iter_mut().zip(head.iter().chain(tail)) {
                *slot = *value;
            }
            *frame = self.kernel.value(&window, self.fraction).map(|value| value.clamp(-1.0, 1.0));
            self.fraction += step;
            while self.fraction >= 1.0 {
                self.ready.pop_front();
                self.fraction -= 1.0;
            }
        }
    }

    fn jump(&mut self, time_s: f64) {
        let rate = f64::from(self.tracks.rate());
        self.stretcher = Stretcher::new((time_s * rate).round());
        self.ready.clear();
        // Room for the kernel to look back.
        self.ready.extend(std::iter::repeat_n(([0.0; 2], time_s), HALF - 1));
        self.fraction = 0.0;
        self.since_jump = 0;
        self.click = None;
        self.count_in = None;
    }

    fn mark(&mut self, mark: Mark) {
        self.marks.push_back(mark);
        while self.marks.len() > MARKS {
            self.marks.pop_front();
        }
    }

    fn stretch_on(&mut self) {
        let rate = f64::from(self.tracks.rate());
        let begun_s = self.stretcher.place() / rate;
        if let Some((from, _)) = self.looped.filter(|(_, to)| begun_s >= *to) {
            self.stretcher = Stretcher::new((from * rate).round());
            self.since_jump = 0;
            return;
        }
        let mut scratch = std::mem::take(&mut self.scratch);
        scratch.clear();
        self.stretcher.step(self.speed, &|sample| self.tracks.at(sample, &self.mix), &mut scratch);
        let loop_end = self.looped.map_or(f64::INFINITY, |(_, to)| to);
        for (n, frame) in scratch.iter().enumerate() {
            let time_s = begun_s + n as f64 * self.speed / rate;
            if time_s >= loop_end {
                break;
            }
            let fade = (self.since_jump as f32 / FADE_IN as f32).min(1.0);
            self.since_jump = self.since_jump.saturating_add(1);
            let click = self.click_at(time_s, self.speed / rate, rate);
            self.ready.push_back(([fade * frame[0] + click, fade * frame[1] + click], time_s));
        }
        self.scratch = scratch;
    }

    /// Clicks are made after stretching, so that they stay crisp.
    fn click_at(&mut self, time_s: f64, step_s: f64, rate: f64) -> f32 {
        if !self.mix.clicks {
            return 0.0;
        }
        let clicks = &self.tracks.clicks;
        let next = clicks.partition_point(|click| click.time_s < time_s);
        if let Some(click) = clicks.get(next).filter(|click| click.time_s < time_s + step_s) {
            self.click = Some((0, click.accent));
        }
        let Some((age, accent)) = &mut self.click else { return 0.0 };
        let t = f64::from(*age) / rate;
        *age += 1;
        click_sound(t, *accent)
    }
}

/// A click, so many seconds after it began.
pub(super) fn click_sound(t: f64, accent: bool) -> f32 {
    if t > CLICK_S {
        return 0.0;
    }
    let frequency = if accent { 1760.0 } else { 1175.0 };
    let level = if accent { 0.5 } else { 0.35 };
    (level * (-t * 150.0).exp() * (std::f64::consts::TAU * frequency * t).sin()) as f32
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::mix::Click;
    use super::*;
    use crate::audio::AudioClip;

    fn engine(seconds: f64) -> Engine {
        let samples = (0..(22_050.0 * seconds) as usize).map(|n| (n as f32 * 0.05).sin() * 0.3).collect();
        let mut engine = Engine::default();
        let recording = Some(Arc::new(AudioClip { samples, sample_rate: 22_050 }));
        engine.set_tracks(Tracks { recording, ..Tracks::default() });
        engine.set_playing(true);
        engine
    }

    fn play(engine: &mut Engine, seconds: f64, rate: u32) -> Vec<[f32; 2]> {
        let mut out = vec![[0.0; 2]; (seconds * f64::from(rate)) as usize];
        let mut heard = 0.0;
        for block in out.chunks_mut(512) {
            engine.fill(block, rate, heard);
            heard += block.len() as f64 / f64::from(rate);
        }
        out
    }

    #[test]
    fn a_click_sounds_at_its_beat_at_any_speed() {
        for speed in [1.0, 0.5] {
            let mut engine = engine(4.0);
            let silence = Arc::new(AudioClip { samples: vec![0.0; 88_200], sample_rate: 22_050 });
            let clicks = Arc::new(vec![Click { time_s: 1.0, accent: true }]);
            engine.set_tracks(Tracks { recording: Some(silence), score: None, clicks });
            engine.set_mix(Mix { clicks: true, ..Mix::default() });
            engine.set_speed(speed);
            let out = play(&mut engine, 3.0, 44_100);
            let first = out.iter().position(|frame| frame[0].abs() > 0.02).unwrap();
            let heard_s = first as f64 / 44_100.0;
            assert!((heard_s - 1.0 / speed).abs() < 0.003, "{heard_s} at {speed}");
        }
    }

    #[test]
    fn a_bar_is_counted_before_the_music_and_the_playhead_waits() {
        let mut engine = engine(4.0);
        engine.seek(1.0);
        engine.set_count_in(CountIn::new(2, 0.5));
        let out = play(&mut engine, 0.8, 44_100);
        assert!((engine.heard_at(0.75) - 1.0).abs() < 1e-9, "{}", engine.heard_at(0.75));
        assert!(out[22_050..22_100].iter().any(|frame| frame[0].abs() > 0.05), "the second click");
        assert!(out[30_000..35_000].iter().all(|frame| frame[0] == 0.0), "no music yet");
        play(&mut engine, 0.9, 44_100);
        assert!((engine.heard_at(0.8) - 1.6).abs() < 0.02, "{}", engine.heard_at(0.8));
        engine.set_count_in(CountIn::new(2, 0.5));
        engine.seek(0.0);
        let out = play(&mut engine, 0.2, 44_100);
        assert!(out[4000..8000].iter().any(|frame| frame[0].abs() > 0.05), "a jump ends the counting");
    }

    #[test]
    fn a_loop_comes_back_and_never_ends() {
        let mut engine = engine(4.0);
        engine.seek(1.0);
        engine.set_loop(Some((1.0, 1.5)));
        play(&mut engine, 5.2, 48_000);
        assert!(!engine.has_ended(5.2));
        assert!((engine.heard_at(5.19) - 1.19).abs() < 0.01, "{}", engine.heard_at(5.19));
    }

    #[test]
    fn at_half_speed_the_place_moves_half_as_fast_and_the_end_is_told_when_heard() {
        let mut engine = engine(1.0);
        engine.set_speed(0.5);
        play(&mut engine, 2.5, 44_100);
        assert!((engine.heard_at(1.8) - 0.9).abs() < 0.01, "{}", engine.heard_at(1.8));
        assert!(!engine.has_ended(1.9) && engine.has_ended(2.1));
    }
}
