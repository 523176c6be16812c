//! The boundary to the decoder library: one audio track, packet by packet, through damage, into a [`MonoSink`].

use std::path::{Path, PathBuf};

use symphonia::core::codecs::CodecParameters;
use symphonia::core::codecs::audio::well_known as codec;
use symphonia::core::codecs::audio::{AudioCodecId, AudioCodecParameters, AudioDecoder, AudioDecoderOptions};
use symphonia::core::errors::Error as SymphoniaError;
use symphonia::core::formats::probe::Hint;
use symphonia::core::formats::{FormatOptions, FormatReader, Track, TrackType};
use symphonia::core::io::{MediaSource, MediaSourceStream};
use symphonia::core::meta::MetadataOptions;
use symphonia::core::packet::Packet;
use symphonia::core::units::{TimeBase, Timestamp};

use super::SourceInfo;
use super::complaints;
use super::mp4_trim::Mp4Trim;
use super::sink::{MonoSink, Trim, check_length, check_rate};
use super::watched::Failure;
use crate::base::containment::contained;
use crate::base::error::{Error, Result};
use crate::base::job::JobContext;

/// Samples of delay in AAC that says nothing about it: the overlap of the transform, which every encoder has.
const AAC_DELAY: u32 = 1024;
/// Samples of delay in MP3 without a LAME header: 576 of the usual encoder and 529 of every decoder.
const MP3_DELAY: u32 = 576 + 529;
/// Samples of delay in MPEG layers 1 and 2: their filter bank's.
const MPEG_LAYER_2_DELAY: u32 = 481;

/// More than this in one packet, all channels together, and its header is damaged: the largest of any codec is a 64th of it.
const MOST_SAMPLES_IN_A_PACKET: u64 = 1 << 24;
/// More damaged packets in a row than this, and the rest is no recording.
const MOST_BAD_IN_A_ROW: usize = 100;
/// More silence than this in place of damaged audio, and the file is refused.
const MOST_SILENCE_S: f64 = 60.0;
/// Timestamps of some containers are rounded: a jump below this is no gap.
const SMALLEST_GAP_S: f64 = 0.05;
/// A jump beyond this is a clock that was reset, not a gap.
const LARGEST_GAP_S: f64 = 10.0;
/// Less than this from a damaged file is an error rather than a recording.
const LEAST_OF_DAMAGED_S: f64 = 0.25;
/// More streams chained into one file than this are not read.
const MOST_CHAINED: usize = 1000;

/// An opened file: its demuxer and the decoder of its audio track.
pub(super) struct AudioStream {
    path: PathBuf,
    bytes: Option<u64>,
    /// Whether the file can still be read.
    failure: Failure,
    format: Box<dyn FormatReader>,
    decoder: Box<dyn AudioDecoder>,
    track_id: u32,
    time_base: Option<TimeBase>,
    trim: Trim,
    /// What the header says, in seconds, if it can be trusted to say it.
    promised_s: Option<f64>,
    /// The same, for progress, where an estimate will do.
    estimated_s: Option<f64>,
}

impl AudioStream {
    /// Finds the container, its audio track and a decoder for it.
    pub(super) fn open(
        path: &Path,
        source: Box<dyn MediaSource>,
        failure: Failure,
        head: &[u8],
        mp4_trims: &[Mp4Trim],
    ) -> Result<Self> {
        let mut hint = Hint::new();
        if let Some(extension) = path.extension().and_then(|e| e.to_str()) {
            hint.with_extension(extension);
        }
        let bytes = source.byte_len();
        let stream = MediaSourceStream::new(source, Default::default());
        let format = decoder_call(|| {
            symphonia::default::get_probe().probe(&hint, stream, FormatOptions::default(), MetadataOptions::default())
        });
        failure.check(path)?;
        let format = format.map_err(|e| complaints::not_readable(path, head, &e))?;
        let (track, decoder) = audio_track(path, &*format)?;

        let codec = decoder.codec_params().codec;
        let rate = decoder.codec_params().sample_rate.unwrap_or(0);
        let in_mp4 =
            mp4_trims.iter().find(|trim| trim.track_id == track.id && format.format_info().short_name == "isomp4");
        let trim = match in_mp4 {
            Some(mp4) => Trim { skip_s: mp4.skip_s, keep_s: mp4.keep_s },
            None => trim_of_track(&track, codec, rate),
        };
        let estimated_s = track.time_base.zip(track.duration).map(|(b, d)| b.calc_duration_saturating(d).as_secs_f64());
        let is_estimate = format.format_info().short_name == "aac" || (is_mpeg_audio(codec) && track.delay.is_none());
        let promised_s = estimated_s.filter(|_| !is_estimate);
        if let Some(promised_s) = promised_s {
            let most_s = uncompressed_s(&*decoder, bytes).unwrap_or(f64::INFINITY);
            check_length(path, (promised_s - trim.skip_s).min(trim.keep_s.unwrap_or(f64::INFINITY)).min(most_s))?;
        }
        Ok(Self {
            path: path.to_owned(),
            bytes,
            failure,
            decoder,
            track_id: track.id,
            time_base: track.time_base,
            trim,
            promised_s,
            estimated_s,
            format,
        })
    }

    /// Decodes to the end: the mono samples at the analysis rate, and the facts.
    pub(super) fn decode(mut self, ctx: &JobContext) -> Result<(Vec<f32>, SourceInfo)> {
        let mut sink = MonoSink::new(&self.path, self.bytes, self.trim);
        let mut damage = Damage::default();
        let mut source = None;
        let mut chained = 0;
        let mut reported = -1.0;
        let mut last_packet_s = 0.0;
        // Where the previous packet ended on the container's clock.
        let mut clock: Option<f64> = None;
        loop {
            ctx.check()?;
            let next = decoder_call(|| self.format.next_packet());
            // Half a recording is no use where the other half is out of reach for the moment.
            self.failure.check(&self.path)?;
            let packet = match next {
                Ok(Some(packet)) if packet.track_id == self.track_id => packet,
                Ok(Some(_)) => continue,
                Ok(None) => break,
                Err(SymphoniaError::ResetRequired) if chained < MOST_CHAINED => {
                    chained += 1;
                    self.start_chained()?;
                    clock = None;
                    continue;
                }
                Err(e) => {
                    damage.cut_off = Some(complaints::detail(&e));
                    break;
                }
            };
            let start_s = self.seconds(packet.pts);
            if let (Some(start_s), Some(end_s)) = (start_s, clock) {
                let gap = start_s - end_s;
                if (SMALLEST_GAP_S..LARGEST_GAP_S).contains(&gap) {
                    damage.add_silence(&self.path, gap)?;
                    sink.push_silence(gap)?;
                }
            }
            // Some containers do not state durations: the previous packet's is the best guess.
            let packet_s = self.packet_seconds(&packet).unwrap_or(last_packet_s);
            let before_s = sink.seconds_in();
            match decoder_call(|| self.decoder.decode(&packet)) {
                Ok(audio) => {
                    sink.push(&audio)?;
                    damage.bad_in_a_row = 0;
                    if source.is_none() && !audio.is_empty() {
                        let spec = (audio.spec().channels().count(), audio.spec().rate());
                        source = Some(self.source_info(spec.0, spec.1));
                    }
                }
                Err(SymphoniaError::DecodeError(_) | SymphoniaError::IoError(_)) => {
                    damage.add_bad_packet(&self.path)?;
                    // Before the first good packet the rate is not known, and nothing follows that could shift.
                    if sink.has_begun() {
                        damage.add_silence(&self.path, packet_s)?;
                        sink.push_silence(packet_s)?;
                    }
                }
                Err(e @ SymphoniaError::Unsupported(_)) => {
                    return Err(complaints::codec_not_supported(&self.path, self.decoder.codec_params().codec, &e));
                }
                // The decoder asks for a fresh start, which the next packets give it.
                Err(SymphoniaError::ResetRequired) => self.decoder.reset(),
                Err(e) => {
                    damage.cut_off = Some(complaints::detail(&e));
                    break;
                }
            }
            last_packet_s = sink.seconds_in() - before_s;
            clock = start_s.map(|start_s| start_s + packet_s.max(last_packet_s));
            if let Some(total_s) = self.estimated_s.filter(|&s| s > 0.0) {
                let fraction = (sink.seconds_in() / total_s).min(1.0) as f32;
                if fraction - reported >= 0.001 {
                    reported = fraction;
                    ctx.report("decoding", fraction)?;
                }
            }
        }
        self.conclude(sink, damage, source)
    }

    fn conclude(self, sink: MonoSink, damage: Damage, source: Option<SourceInfo>) -> Result<(Vec<f32>, SourceInfo)> {
        let decoded_s = sink.seconds_in();
        let damage = damage.sentence(decoded_s, self.promised_s);
        match (source, damage) {
            (Some(_), Some(damage)) if decoded_s - self.trim.skip_s < LEAST_OF_DAMAGED_S => Err(
                complaints::too_damaged(&self.path, format!("almost nothing of the audio can be decoded: {damage}")),
            ),
            (Some(mut source), damage) => {
                source.damage = damage;
                Ok((sink.finish()?, source))
            }
            (None, Some(damage)) => {
                Err(complaints::too_damaged(&self.path, format!("no audio can be decoded: {damage}")))
            }
            (None, None) => {
                let subject = self.path.display().to_string();
                Err(Error::unsuitable(subject, "the audio has no samples", "choose a recording that has sound"))
            }
        }
    }

    fn start_chained(&mut self) -> Result<()> {
        let (track, decoder) = audio_track(&self.path, &*self.format)?;
        self.track_id = track.id;
        self.time_base = track.time_base;
        self.decoder = decoder;
        Ok(())
    }

    fn source_info(&self, channels: usize, sample_rate: u32) -> SourceInfo {
        SourceInfo {
            container: self.format.format_info().short_name.to_owned(),
            codec: self.decoder.codec_info().short_name.to_owned(),
            channels,
            sample_rate,
            damage: None,
        }
    }

    fn seconds(&self, time: Timestamp) -> Option<f64> {
        self.time_base?.calc_time(time).map(|t| t.as_secs_f64())
    }

    fn packet_seconds(&self, packet: &Packet) -> Option<f64> {
        let seconds = self.time_base?.calc_duration(packet.dur)?.as_secs_f64();
        // A damaged header may promise years.
        (seconds > 0.0).then_some(seconds.min(LARGEST_GAP_S))
    }
}

/// What went wrong on the way, as long as it can be lived with.
#[derive(Default)]
struct Damage {
    bad_packets: usize,
    bad_in_a_row: usize,
    silence_s: f64,
    cut_off: Option<String>,
}

impl Damage {
    fn add_bad_packet(&mut self, path: &Path) -> Result<()> {
        self.bad_packets += 1;
        self.bad_in_a_row += 1;
        if self.bad_in_a_row > MOST_BAD_IN_A_ROW {
            let cause = format!("more than {MOST_BAD_IN_A_ROW} packets in a row cannot be decoded");
            return Err(complaints::too_damaged(path, cause));
        }
        Ok(())
    }

    fn add_silence(&mut self, path: &Path, seconds: f64) -> Result<()> {
        self.silence_s += seconds;
        if self.silence_s > MOST_SILENCE_S {
            let cause = format!("more than {MOST_SILENCE_S} s of the audio are missing or cannot be decoded");
            return Err(complaints::too_damaged(path, cause));
        }
        Ok(())
    }

    fn sentence(&self, decoded_s: f64, promised_s: Option<f64>) -> Option<String> {
        let mut parts = Vec::new();
        if self.silence_s > 0.0 {
            parts.push(format!("{:.2} s of damaged or missing audio are replaced by silence", self.silence_s));
        } else if self.bad_packets > 0 {
            parts.push(format!("{} damaged packets are left out", self.bad_packets));
        }
        match (&self.cut_off, promised_s) {
            (_, Some(promised_s)) if decoded_s < promised_s - 0.1 => {
                parts.push(format!("the file is cut off after {decoded_s:.2} of {promised_s:.2} s"));
            }
            (Some(cause), _) => parts.push(format!("the file is cut off after {decoded_s:.2} s ({cause})")),
            _ => (),
        }
        (!parts.is_empty()).then(|| parts.join("; "))
    }
}

fn audio_track(path: &Path, format: &dyn FormatReader) -> Result<(Track, Box<dyn AudioDecoder>)> {
    let track = format.default_track(TrackType::Audio).ok_or_else(|| complaints::no_audio_track(path))?;
    let Some(CodecParameters::Audio(params)) = &track.codec_params else {
        return Err(complaints::no_audio_track(path));
    };
    if let Some(rate) = params.sample_rate {
        check_rate(path, rate)?;
    }
    // A decoder reserves room for what a packet is said to hold.
    let frames = params.max_frames_per_packet.max(params.frames_per_block).unwrap_or(0);
    let channels = params.channels.as_ref().map_or(1, |channels| channels.count().max(1));
    if frames.saturating_mul(channels as u64) > MOST_SAMPLES_IN_A_PACKET {
        return Err(complaints::packet_too_large(path, frames, channels));
    }
    let decoder = make_decoder(params).map_err(|e| complaints::codec_not_supported(path, params.codec, &e))?;
    Ok((track.clone(), decoder))
}

/// A call into the decoder library, whose panics become errors.
fn decoder_call<T>(call: impl FnOnce() -> Result<T, SymphoniaError>) -> Result<T, SymphoniaError> {
    contained(call).unwrap_or(Err(SymphoniaError::LimitError("the decoder failed")))
}

fn make_decoder(params: &AudioCodecParameters) -> Result<Box<dyn AudioDecoder>, SymphoniaError> {
    // Gapless: the MP3 and Vorbis decoders drop encoder delay and padding themselves.
    let options = AudioDecoderOptions::default().gapless(true);
    decoder_call(|| symphonia::default::get_codecs().make_audio_decoder(params, &options))
}

/// Encoder delay that the decoder does not take out itself.
fn trim_of_track(track: &Track, codec: AudioCodecId, rate: u32) -> Trim {
    let seconds = |samples: u32| if rate == 0 { 0.0 } else { f64::from(samples) / f64::from(rate) };
    let unsaid = match codec {
        codec::CODEC_ID_AAC => AAC_DELAY,
        codec::CODEC_ID_MP3 => MP3_DELAY,
        codec::CODEC_ID_MP1 | codec::CODEC_ID_MP2 => MPEG_LAYER_2_DELAY,
        _ => 0,
    };
    let decoder_trims = matches!(codec, codec::CODEC_ID_VORBIS) || (is_mpeg_audio(codec) && track.delay.is_some());
    if decoder_trims {
        return Trim::default();
    }
    Trim { skip_s: seconds(track.delay.unwrap_or(unsaid)), keep_s: None }
}

/// How much uncompressed audio a file of so many bytes can hold at most; none for compressed audio. What records into a pipe
/// writes the header before it knows the length, and a very large one at that.
fn uncompressed_s(decoder: &dyn AudioDecoder, bytes: Option<u64>) -> Option<f64> {
    if !decoder.codec_info().short_name.starts_with("pcm_") {
        return None;
    }
    let params = decoder.codec_params();
    let bits = params.bits_per_coded_sample.or(params.bits_per_sample).unwrap_or(8);
    let channels = params.channels.as_ref().map_or(1, |channels| channels.count());
    let bits_per_s = f64::from(bits) * channels as f64 * f64::from(params.sample_rate?);
    // A pipe has no length: then the header is not believed.
    Some(8.0 * bytes.unwrap_or(0) as f64 / bits_per_s)
}

fn is_mpeg_audio(codec: AudioCodecId) -> bool {
    matches!(codec, codec::CODEC_ID_MP1 | codec::CODEC_ID_MP2 | codec::CODEC_ID_MP3)
}
