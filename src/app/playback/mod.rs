//! Hearing: an [`Engine`] mixes recording, warped score and clicks; an [`Output`] pulls samples from it and keeps the time.

mod count_in;
mod device;
mod engine;
mod mix;
mod resampler;
mod silent;
mod simulated;
mod stretch;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

pub use count_in::CountIn;
pub use device::DeviceOutput;
pub use engine::Engine;
pub use mix::{Click, Mix, Tracks};
pub use silent::SilentOutput;
pub use simulated::{SimulatedClock, SimulatedOutput};

use crate::base::error::Result;

/// An engine that the output's thread and the window share.
pub type SharedEngine = Arc<Mutex<Engine>>;

/// Locks the engine. A panic while it was held leaves nothing half done that would matter to sound.
pub fn lock(engine: &SharedEngine) -> MutexGuard<'_, Engine> {
    engine.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Something that sound can go to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputDevice {
    /// Tells it from others, also after a restart.
    pub id: String,
    /// What people call it.
    pub name: String,
}

/// Asks the system for devices, which may take a while.
pub type ListDevices = fn() -> Vec<OutputDevice>;

/// How pulling has begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// Through the device that was chosen.
    AsChosen,
    /// Through another one, because the chosen one, named here, is gone.
    Without(String),
}

/// Something that pulls samples from an engine in its own time.
pub trait Output {
    /// Starts, or goes on, pulling.
    fn start(&mut self, engine: &SharedEngine) -> Result<Started>;
    /// Uses another device from the next start on; none is the system's choice.
    fn choose(&mut self, device: Option<OutputDevice>);
    /// What asks for the devices there are, on whatever thread.
    fn lister(&self) -> ListDevices;
    /// Stops pulling; the device may be kept.
    fn stop(&mut self);
    /// The time on the clock that the engine is told when samples will be heard.
    fn now_s(&self) -> f64;
    /// Whether the device went away since it was started.
    fn is_lost(&self) -> bool;
}

/// Plays: an engine and the output it goes to, with a silent one in its place while there is no device.
pub struct Player {
    engine: SharedEngine,
    output: Box<dyn Output>,
    silent: Option<SilentOutput>,
    playing: bool,
    told: Option<PlayerNews>,
}

/// What the window should know after [`Player::poll`] or [`Player::play`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlayerNews {
    /// There is no sound, and why; said once.
    NoSound(String),
    /// The device that was chosen, named here, is gone and another one is used; said once.
    OtherDevice(String),
    /// The end was reached.
    Ended,
}

impl Player {
    /// A player that is paused at the start.
    pub fn new(output: Box<dyn Output>) -> Self {
        let engine = Arc::new(Mutex::new(Engine::default()));
        Self { engine, output, silent: None, playing: false, told: None }
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
        self.start()
    }

    /// Sends sound to another device, at once if it plays.
    pub fn choose(&mut self, device: Option<OutputDevice>) -> Option<PlayerNews> {
        let position = self.position_s();
        self.output.stop();
        self.output.choose(device);
        self.told = None;
        if !self.playing {
            return None;
        }
        self.engine().seek(position);
        self.start()
    }

    /// What asks for the devices there are.
    pub fn lister(&self) -> ListDevices {
        self.output.lister()
    }

    /// Pauses.
    pub fn pause(&mut self) {
        self.playing = false;
        let position = self.position_s();
        self.clock_mut().stop();
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
        let now = self.clock().now_s();
        self.engine().heard_at(now)
    }

    /// To be called every frame while playing.
    pub fn poll(&mut self) -> Option<PlayerNews> {
        if !self.playing {
            return None;
        }
        if self.silent.is_none() && self.output.is_lost() {
            self.output.stop();
            // The default device may be another one by now.
            if let Some(news) = self.start() {
                return Some(news);
            }
        }
        let now = self.clock().now_s();
        if self.engine().has_ended(now) {
            self.pause();
            return Some(PlayerNews::Ended);
        }
        None
    }

    /// The output that keeps the time.
    fn clock(&self) -> &dyn Output {
        self.silent.as_ref().map_or(&*self.output, |silent| silent as &dyn Output)
    }

    fn clock_mut(&mut self) -> &mut dyn Output {
        match &mut self.silent {
            Some(silent) => silent,
            None => &mut *self.output,
        }
    }

    /// Every start tries the device again: it may have been plugged in.
    fn start(&mut self) -> Option<PlayerNews> {
        self.silent = None;
        let news = match self.output.start(&self.engine) {
            Ok(Started::AsChosen) => {
                self.told = None;
                return None;
            }
            Ok(Started::Without(name)) => PlayerNews::OtherDevice(name),
            Err(error) => {
                let silent = self.silent.insert(SilentOutput::default());
                if silent.start(&self.engine).is_err() {
                    self.pause();
                }
                PlayerNews::NoSound(error.to_string())
            }
        };
        if self.told.as_ref() == Some(&news) {
            return None;
        }
        self.told = Some(news.clone());
        Some(news)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audio::AudioClip;
    use crate::base::error::Error;

    struct NoDevice;

    impl Output for NoDevice {
        fn start(&mut self, _: &SharedEngine) -> Result<Started> {
            Err(Error::unsuitable("sound", "there is no device", "plug one in"))
        }
        fn choose(&mut self, _: Option<OutputDevice>) {}
        fn lister(&self) -> ListDevices {
            Vec::new
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
    fn a_chosen_device_that_is_gone_is_told_once_and_another_is_heard() {
        let clock = SimulatedClock::default();
        let mut player = Player::new(Box::new(SimulatedOutput::new(clock.clone())));
        player.engine().set_tracks(Tracks { recording: Some(clip(9)), ..Tracks::default() });
        let there = player.lister()().remove(1);
        assert_eq!(player.choose(Some(there)), None);
        assert_eq!(player.play(), None);
        clock.advance(1.0);
        let gone = OutputDevice { id: "gone".to_owned(), name: "Headphones".to_owned() };
        assert_eq!(player.choose(Some(gone)), Some(PlayerNews::OtherDevice("Headphones".to_owned())));
        clock.advance(1.0);
        assert!((player.position_s() - 2.0).abs() < 0.005, "{}", player.position_s());
        player.pause();
        assert_eq!(player.play(), None, "it was told");
        assert_eq!(player.choose(None), None);
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
