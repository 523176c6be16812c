//! From a plan to the sound of its players, dry and in balance.

use super::expression::PlayedNote;
use super::font_voices::{FontNote, FontVoice};
use super::instruments::{Family, Orchestra, Sound};
use super::onset_delay::onset_delay;
use super::plan::Plan;
use super::random_piano::{Blow, RandomPiano};
use super::resonance::Resonance;
use super::sampler::{SampledNote, add_at};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::base::random::Random;
use crate::base::time::{ANALYSIS_RATE, seconds_to_samples};

const RATE: f64 = ANALYSIS_RATE as f64;
/// Samples below this share of the peak do not count for the loudness of a player: rests have none.
const REST: f32 = 0.03;
/// Loudness that players are brought to before they are balanced.
const LEVEL: f32 = 0.1;

/// Plays all notes of a plan, tuned `tuning_cents` above the usual pitch.
pub(super) fn render(
    ctx: &JobContext,
    random: &mut Random,
    plan: &Plan,
    (orchestra, resonance): (&Orchestra, &Resonance),
    tuning_cents: f64,
) -> Result<Vec<f32>> {
    let length = seconds_to_samples(plan.seconds, ANALYSIS_RATE);
    let mut mix = vec![0.0; length];
    for (number, player) in plan.players.iter().enumerate() {
        ctx.check()?;
        let notes: Vec<&PlayedNote> = plan.notes.iter().filter(|note| note.player == number).collect();
        let sound = orchestra.instruments[player.instrument].sound;
        let mut played = play_all(random, orchestra, sound, &notes, tuning_cents, length)?;
        resonance.add(random, &plan.pedals[number], tuning_cents, &mut played)?;
        let gain = if plan.players.len() == 1 { 1.0 } else { 10f64.powf(random.between(-9.0, 3.0) / 20.0) as f32 };
        add_at(&mut mix, 0, &played, gain * LEVEL / loudness(&played).max(1e-9));
    }
    Ok(mix)
}

fn play_all(
    random: &mut Random,
    orchestra: &Orchestra,
    sound: Sound,
    notes: &[&PlayedNote],
    tuning_cents: f64,
    length: usize,
) -> Result<Vec<f32>> {
    match sound {
        Sound::Font { font, program } => {
            let soundfont = (font, &orchestra.fonts[font]);
            let mut voice = FontVoice::new(&orchestra.delays, soundfont, program, tuning_cents, length)?;
            for &&PlayedNote { pitch, velocity, onset_s, damped_s, .. } in notes {
                voice.play(FontNote { pitch, velocity, onset_s, damped_s })?;
            }
            Ok(voice.finish())
        }
        Sound::Sampled { instrument } => {
            let mut mix = vec![0.0; length];
            let manner = orchestra.samples.draw_manner(random, instrument);
            for &&PlayedNote { pitch, velocity, onset_s, damped_s, .. } in notes {
                let note = SampledNote { pitch, velocity, onset_s, damped_s, tuning_cents };
                orchestra.samples.play(random, instrument, &manner, note, &mut mix)?;
            }
            Ok(mix)
        }
        Sound::MadeUpPiano => Ok(play_made_up_piano(random, notes, tuning_cents, length)),
    }
}

fn play_made_up_piano(random: &mut Random, notes: &[&PlayedNote], tuning_cents: f64, length: usize) -> Vec<f32> {
    let piano = RandomPiano::draw(random);
    let mut mix = vec![0.0; length];
    for note in notes {
        let held = seconds_to_samples((note.damped_s - note.onset_s).max(0.0), ANALYSIS_RATE);
        let blow = Blow { pitch: note.pitch, velocity: note.velocity, held, tuning_cents };
        let sound = piano.play(random, blow);
        let delay = onset_delay(&sound, RATE, Family::Piano).unwrap_or(0.0);
        add_at(&mut mix, ((note.onset_s - delay) * RATE).round() as isize, &sound, 1.0);
    }
    piano.soundboard.colour(&mut mix);
    mix
}

/// Root mean square of what is not rest.
fn loudness(sound: &[f32]) -> f32 {
    let peak = sound.iter().fold(0.0f32, |peak, s| peak.max(s.abs()));
    let heard = sound.iter().filter(|s| s.abs() > REST * peak);
    let (sum, count) = heard.fold((0.0f64, 0usize), |(sum, count), s| (sum + f64::from(*s).powi(2), count + 1));
    (sum / count.max(1) as f64).sqrt() as f32
}
