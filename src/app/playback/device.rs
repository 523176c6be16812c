//! The sound card, through cpal.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use cpal::traits::{DeviceTrait, HostTrait, StreamTrait};
use cpal::{ErrorKind, FromSample, OutputCallbackInfo, Sample, SampleFormat, SizedSample, Stream, StreamConfig};

use super::{ListDevices, Output, OutputDevice, SharedEngine, Started, lock};
use crate::base::error::{Error, Result};

/// The device that was chosen, or the system's choice. It is opened when first asked to play.
pub struct DeviceOutput {
    begun: Instant,
    chosen: Option<OutputDevice>,
    /// The name of the chosen device, if another one is open because it is gone.
    missed: Option<String>,
    stream: Option<Stream>,
    lost: Arc<AtomicBool>,
}

impl Default for DeviceOutput {
    fn default() -> Self {
        Self { begun: Instant::now(), chosen: None, missed: None, stream: None, lost: Arc::default() }
    }
}

impl Output for DeviceOutput {
    fn start(&mut self, engine: &SharedEngine) -> Result<Started> {
        let kept = self.stream.as_ref().filter(|_| !self.lost.load(Ordering::Relaxed));
        if kept.is_none_or(|stream| stream.play().is_err()) {
            self.stream = None;
            self.lost = Arc::default();
            self.missed = None;
            self.stream = Some(self.open(engine).map_err(|error| no_sound(&error))?);
        }
        Ok(self.missed.clone().map_or(Started::AsChosen, Started::Without))
    }

    fn choose(&mut self, device: Option<OutputDevice>) {
        self.stream = None;
        self.chosen = device;
    }

    fn lister(&self) -> ListDevices {
        output_devices
    }

    fn stop(&mut self) {
        // Not every device can pause; one that cannot goes on with the silence of an engine that rests.
        if self.lost.load(Ordering::Relaxed) {
            self.stream = None;
        } else if let Some(stream) = &self.stream {
            let _ = stream.pause();
        }
    }

    fn now_s(&self) -> f64 {
        self.begun.elapsed().as_secs_f64()
    }

    fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

fn no_sound(error: &cpal::Error) -> Error {
    Error::unsuitable(
        "sound output",
        format!("no device could be opened ({error})"),
        "connect headphones or loudspeakers and press play again; everything but sound works without",
    )
}

/// The devices that sound can go to.
fn output_devices() -> Vec<OutputDevice> {
    let devices = cpal::default_host().output_devices().into_iter().flatten();
    let described = devices.filter_map(|device| {
        let name = device.description().ok()?.name().to_owned();
        Some(OutputDevice { id: device.id().ok()?.to_string(), name })
    });
    described.collect()
}

impl DeviceOutput {
    fn open(&mut self, engine: &SharedEngine) -> std::result::Result<Stream, cpal::Error> {
        if let Some(chosen) = &self.chosen {
            let device = chosen.id.parse().ok().and_then(|id| cpal::default_host().device_by_id(&id));
            match device.map(|device| self.open_device(&device, engine)) {
                Some(Ok(stream)) => return Ok(stream),
                Some(Err(_)) | None => self.missed = Some(chosen.name.clone()),
            }
        }
        let device = cpal::default_host().default_output_device().ok_or(ErrorKind::DeviceNotAvailable)?;
        self.open_device(&device, engine)
    }

    fn open_device(&self, device: &cpal::Device, engine: &SharedEngine) -> std::result::Result<Stream, cpal::Error> {
        let config = device.default_output_config()?;
        let format = config.sample_format();
        let config: StreamConfig = config.into();
        let stream = match format {
            SampleFormat::F32 => self.stream::<f32>(device, config, engine)?,
            SampleFormat::I16 => self.stream::<i16>(device, config, engine)?,
            SampleFormat::I32 => self.stream::<i32>(device, config, engine)?,
            SampleFormat::U16 => self.stream::<u16>(device, config, engine)?,
            SampleFormat::U8 => self.stream::<u8>(device, config, engine)?,
            _ => return Err(ErrorKind::UnsupportedConfig.into()),
        };
        stream.play()?;
        Ok(stream)
    }

    fn stream<T: SizedSample + FromSample<f32>>(
        &self,
        device: &cpal::Device,
        config: StreamConfig,
        engine: &SharedEngine,
    ) -> std::result::Result<Stream, cpal::Error> {
        let (channels, rate) = (usize::from(config.channels), config.sample_rate);
        let (engine, lost, begun) = (Arc::clone(engine), Arc::clone(&self.lost), self.begun);
        let mut frames: Vec<[f32; 2]> = Vec::new();
        let fill = move |data: &mut [T], info: &OutputCallbackInfo| {
            let times = info.timestamp();
            let latency = times.playback.saturating_duration_since(times.callback).as_secs_f64();
            frames.resize(data.len() / channels.max(1), [0.0; 2]);
            lock(&engine).fill(&mut frames, rate, begun.elapsed().as_secs_f64() + latency);
            for (target, frame) in data.chunks_mut(channels.max(1)).zip(&frames) {
                spread(target, frame);
            }
        };
        let failed = move |error: cpal::Error| {
            let passing = [ErrorKind::DeviceChanged, ErrorKind::Xrun, ErrorKind::RealtimeDenied];
            if !passing.contains(&error.kind()) {
                lost.store(true, Ordering::Relaxed);
            }
        };
        device.build_output_stream(config, fill, failed, None)
    }
}

/// One channel hears both; of more than two the first two are used.
fn spread<T: Sample + FromSample<f32>>(target: &mut [T], [left, right]: &[f32; 2]) {
    match target {
        [only] => *only = T::from_sample(0.5 * (left + right)),
        [first, second, rest @ ..] => {
            *first = T::from_sample(*left);
            *second = T::from_sample(*right);
            rest.fill(T::EQUILIBRIUM);
        }
        [] => {}
    }
}
