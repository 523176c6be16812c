//! When a note is heard to begin: players bring that moment in time, not the first sample of their sound.

use std::borrow::Cow;

use super::instruments::Family;

/// The envelope is the root mean square over this time.
const WINDOW_S: f64 = 0.005;
/// The peak is looked for in the first part of the sound.
const ATTACK_S: f64 = 0.6;
/// The share of the peak at which a note begins.
const BEGINS: f64 = 0.1;
/// The share of the largest sample at which a sound is there at all.
const THERE: f32 = 0.03;
/// A peak below this is silence.
const SILENT: f32 = 1e-5;

/// Seconds from the first sample of a sound to its onset: where its envelope first reaches a tenth of its peak. None for silence.
///
/// A piano's note begins with the hammer's blow. Its high partials sound at once, while the low ones of a bass string need up to
/// 20 ms to rise: there the envelope is that of the differences between samples, in which high partials count for more.
///
/// The windows of the envelope are centred, so they see a hammer's blow before it falls; the onset is never earlier than
/// the sound itself.
pub(super) fn onset_delay(sound: &[f32], rate: f64, family: Family) -> Option<f64> {
    let half = (WINDOW_S * rate / 2.0) as usize;
    let attack = &sound[..sound.len().min((ATTACK_S * rate) as usize + half)];
    let attack = match family {
        Family::Piano => Cow::Owned(differences(attack)),
        _ => Cow::Borrowed(attack),
    };
    let largest = attack.iter().fold(0.0f32, |largest, s| largest.max(s.abs()));
    if largest < SILENT {
        return None;
    }
    let power = window_power(&attack, half);
    let peak = power.iter().copied().fold(0.0, f64::max);
    let begins = power.iter().position(|&power| power >= BEGINS * BEGINS * peak)?;
    let there = attack.iter().position(|s| s.abs() >= THERE * largest)?;
    Some(begins.max(there) as f64 / rate)
}

/// How much each sample differs from the one before it.
fn differences(sound: &[f32]) -> Vec<f32> {
    let before = std::iter::once(&0.0).chain(sound);
    sound.iter().zip(before).map(|(sample, before)| sample - before).collect()
}

/// For each sample the energy of those at most `half` away.
fn window_power(sound: &[f32], half: usize) -> Vec<f64> {
    let square = |index: usize| f64::from(sound[index]).powi(2);
    let mut sum: f64 = (0..half.min(sound.len())).map(square).sum();
    let mut power = Vec::with_capacity(sound.len());
    for centre in 0..sound.len() {
        if centre + half < sound.len() {
            sum += square(centre + half);
        }
        if centre > half {
            sum -= square(centre - half - 1);
        }
        power.push(sum);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A tone that rises in a straight line for `rise` seconds after `silence` seconds.
    fn tone(silence: f64, rise: f64) -> Vec<f32> {
        let sample = |k: usize| {
            let t = k as f64 / 22_050.0 - silence;
            let level = if rise > 0.0 { (t / rise).min(1.0) } else { 1.0 };
            if t < 0.0 { 0.0 } else { (level * (2765.0 * t).sin()) as f32 }
        };
        (0..22_050).map(sample).collect()
    }

    #[test]
    fn a_blow_begins_where_it_falls_and_a_slow_rise_at_a_tenth() {
        let blow = onset_delay(&tone(0.02, 0.0), 22_050.0, Family::Harp).unwrap();
        assert!((blow - 0.02).abs() < 3e-4, "{blow}");
        let slow = onset_delay(&tone(0.02, 0.3), 22_050.0, Family::Strings).unwrap();
        assert!((slow - 0.05).abs() < 1.5e-3, "{slow}");
        assert_eq!(onset_delay(&[0.0; 9000], 22_050.0, Family::Piano), None);
        assert_eq!(onset_delay(&[], 22_050.0, Family::Piano), None);
    }

    #[test]
    fn a_piano_s_note_begins_with_the_blow_of_the_hammer_though_the_bass_needs_time_to_rise() {
        let mut bass = tone(0.02, 0.2);
        let blow = (0.02 * 22_050.0) as usize;
        // A short ringing of high partials.
        bass[blow..blow + 400].iter_mut().enumerate().for_each(|(k, s)| *s += 0.05 * (1.9 * k as f32).sin());
        let [piano, other] =
            [Family::Piano, Family::Strings].map(|family| onset_delay(&bass, 22_050.0, family).unwrap());
        assert!((piano - 0.02).abs() < 1e-3 && other > 0.03, "{piano} {other}");
    }

    #[test]
    fn the_running_energy_is_that_of_each_window() {
        let sound: Vec<f32> = (0..40).map(|k| ((k * k) as f32 * 0.7).sin()).collect();
        for (centre, power) in window_power(&sound, 5).into_iter().enumerate() {
            let window = &sound[centre.saturating_sub(5)..(centre + 6).min(40)];
            let wanted: f64 = window.iter().map(|&s| f64::from(s).powi(2)).sum();
            assert!((power - wanted).abs() < 1e-9, "{centre}: {power} against {wanted}");
        }
    }
}
