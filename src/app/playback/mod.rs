//! Hearing: an [`Engine`] mixes recording, warped score and clicks; an [`Output`] pulls samples from it and keeps the time.

mod device;
mod engine;
mod mix;
mod resampler;
mod silent;
mod simulated;
mod stretch;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use device::DeviceOutput;
pub use engine::Engine;
pub use mix::{Click, Mix, Tracks};
pub use silent::SilentOutput;
pub use simulated::{SimulatedClock, SimulatedOutput};

use crate::error::Result;

/// An engine that the output's thread and the window share.
pub type SharedEngine = Arc<Mutex<Engine>>;

/// Locks the engine. A panic while it was held leaves nothing half done that would matter to sound.
pub fn lock(engine: &SharedEngine) -> MutexGuard<'_, Engine> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that pulls samples from an engine in its own time.
pub trait Output {
    /// Starts, or goes on, pulling.
    fn start(&mut self, engine: &SharedEngine) -> Result<()>;
    /// Stops pulling; the device may be kept.
    fn stop(&mut self);
    /// The time on the clock that the engine is told when samples will be heard.
    fn now_s(&self) -> f64;
    /// Whether the device went away since it was started.
    fn is_lost(&self) -> bool;
}

/// Plays: an engine and the output it goes to, replaced by a silent one if there is no device.
pub struct Player {
    engine: SharedEngine,
    output: Box<dyn Output>,
    playing: bool,
}

/// What the window should know after [`Player::poll`] or [`Player::play`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerNews {
    /// There is no sound, and why; said once, because from then on a silent output is used.
    NoSound(String),
    /// The end was reached.
    Ended,
}

impl Player {
    /// A player that is paused at the start.
    pub fn new(output: Box<dyn Output>) -> Self {
        Self { engine: Arc::new(Mutex::new(Engine::default())), output, playing: false }
    }

    /// The engine, to change what is played.
    pub fn engine(&self) -> MutexGuard<'_, Engine> {
        lock(&self.engine)
    }

    /// Whether it plays.
    pub fn is_playing(&self) -> bool {
        self.playing
    }

    /// Starts from where it is.
    pub fn play(&mut self) -> Option<PlayerNews> {
        self.playing = true;
        self.engine().set_playing(true);
        let failed = self.output.start(&self.engine).err()?;
        self.go_silent(&failed.to_string())
    }

    /// Pauses.
    pub fn pause(&mut self) {
        self.playing = false;
        let position = self.position_s();
        self.output.stop();
        let mut engine = self.engine();
        engine.set_playing(false);
        engine.seek(position);
    }

    /// Goes to a time of the recording.
    pub fn seek(&mut self, time_s: f64) {
        self.engine().seek(time_s);
    }

    /// What is heard at this moment, in seconds of the recording.
    pub fn position_s(&self) -> f64 {
        let now = self.output.now_s();
        self.engine().heard_at(now)
    }

    /// To be called every frame while playing.
    pub fn poll(&mut self) -> Option<PlayerNews> {
        if !self.playing {
            return None;
        }
        if self.output.is_lost() {
            self.output.stop();
            // The default device may be another one by now.
            if let Err(error) = self.output.start(&self.engine) {
                return self.go_silent(&error.to_string());
            }
        }
        let now = self.output.now_s();
        if self.engine().has_ended(now) {
            self.pause();
            return Some(PlayerNews::Ended);
        }
        None
    }

    fn go_silent(&mut self, reason: &str) -> Option<PlayerNews> {
        self.output = Box::new(SilentOutput::default());
        let news = PlayerNews::NoSound(reason.to_owned());
        match self.output.start(&self.engine) {
            Ok(()) => Some(news),
            Err(_) => {
                self.pause();
                Some(news)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::AudioClip;
    use crate::error::Error;

    struct NoDevice;

    impl Output for NoDevice {
        fn start(&mut self, _: &SharedEngine) -> Result<()> {
            Err(Error::unsuitable("sound", "there is no device", "plug one in"))
        }
        fn stop(&mut self) {}
        fn now_s(&self) -> f64 {
            0.0
        }
        fn is_lost(&self) -> bool {
            false
        }
    }

    fn clip(seconds: usize) -> Arc<AudioClip> {
        Arc::new(AudioClip { samples: vec![0.1; 22_050 * seconds], sample_rate: 22_050 })
    }

    #[test]
    fn the_playhead_follows_the_clock_and_stops_at_the_end() {
        let clock = SimulatedClock::default();
        let mut player = Player::new(Box::new(SimulatedOutput::new(clock.clone())));
        player.engine().set_tracks(Tracks { recording: Some(clip(4)), ..Tracks::default() });
        player.seek(1.0);
        assert_eq!(player.play(), None);
        clock.advance(1.5);
        assert!((player.position_s() - 2.5).abs() < 0.005, "{}", player.position_s());
        player.pause();
        clock.advance(1.0);
        assert!((player.position_s() - 2.5).abs() < 0.005);
        player.play();
        clock.advance(3.0);
        assert_eq!(player.poll(), Some(PlayerNews::Ended));
        assert!(!player.is_playing());
    }

    #[test]
    fn without_a_device_it_says_so_once_and_the_playhead_still_moves() {
        let mut player = Player::new(Box::new(NoDevice));
        player.engine().set_tracks(Tracks { recording: Some(clip(4)), ..Tracks::default() });
        assert!(matches!(player.play(), Some(PlayerNews::NoSound(reason)) if reason.contains("plug one in")));
        std::thread::sleep(std::time::Duration::from_millis(200));
        assert!(player.position_s() > 0.05);
        player.pause();
        assert_eq!(player.play(), None);
    }
}
