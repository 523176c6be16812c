//! A whole recording through the network on the CPU: as big matrix products, stretch by stretch on all threads.

use super::inputs;
use super::layout::{ATTACKS, CROSS, INPUTS, Layer, Layers, OUTPUTS, PITCHES, neighbours, place};
use crate::base::error::Result;
use crate::base::job::JobContext;
use crate::features::EAR_ROW;
use crate::networks::card::EarSpec;
use crate::networks::gru::{GruRef, Output, PackedGru};
use crate::networks::panels::{Panels, ROWS, add_product};

/// A network whose weights are packed for products.
pub(super) struct Packed<'a> {
    spec: EarSpec,
    conv1: Panels<f32>,
    attack: Panels<f32>,
    /// For each pitch what its place and the bias of the first convolution add.
    places: Vec<f32>,
    summary: Linear<'a>,
    conv2: Linear<'a>,
    cross: Panels<f32>,
    gru: PackedGru<'a>,
    post: Linear<'a>,
    out: Linear<'a>,
}

/// Weights and biases.
struct Linear<'a> {
    panels: Panels<f32>,
    bias: &'a [f32],
}

impl<'a> Linear<'a> {
    fn new((layer, range): &(Layer, std::ops::Range<usize>), parameters: &'a [f32]) -> Self {
        let own = &parameters[range.clone()];
        Self { panels: pack(*layer, own), bias: &own[layer.weights()..] }
    }

    /// The layer's output of `count` rows, which start `stride` values apart.
    fn run(&self, count: usize, input: &[f32], stride: usize) -> Vec<f32> {
        let mut output = self.bias.repeat(count);
        add_product(&self.panels, count, input, stride, &mut output);
        output
    }
}

/// The weights of a layer for rows that hold the inputs of all taps one after the other.
fn pack(layer: Layer, weights: &[f32]) -> Panels<f32> {
    let Layer { inputs, outputs, taps, .. } = layer;
    Panels::pack(taps * inputs, outputs, |row, output| weights[(output * inputs + row % inputs) * taps + row / inputs])
}

fn rectify(values: &mut [f32]) {
    values.iter_mut().for_each(|value| *value = value.max(0.0));
}

/// Zeros before and after the first and last frame.
fn padded(values: &[f32], zeros: usize) -> Vec<f32> {
    let mut padded = vec![0.0; values.len() + 2 * zeros];
    padded[zeros..zeros + values.len()].copy_from_slice(values);
    padded
}

impl<'a> Packed<'a> {
    /// Packs weights in the order of the file.
    pub fn new(spec: &EarSpec, parameters: &'a [f32]) -> Result<Self> {
        let layers = Layers::of(spec);
        let of = |(layer, range): &(Layer, std::ops::Range<usize>)| pack(*layer, &parameters[range.clone()]);
        let (conv1, by_place) = (&layers.conv1, &parameters[layers.place.1.clone()]);
        let bias = &parameters[conv1.1.clone()][conv1.0.weights()..];
        let of_pitch = |pitch: usize| {
            let (place, width) = (place(pitch), layers.place.0.inputs);
            let added = move |(bias, weights): (&f32, &[f32])| {
                bias + place.iter().zip(weights).map(|(place, weight)| place * weight).sum::<f32>()
            };
            bias.iter().zip(by_place.chunks_exact(width)).map(added)
        };
        Ok(Self {
            spec: *spec,
            conv1: of(conv1),
            attack: of(&layers.attack),
            places: (0..PITCHES).flat_map(of_pitch).collect(),
            summary: Linear::new(&layers.summary, parameters),
            conv2: Linear::new(&layers.conv2, parameters),
            cross: of(&layers.cross),
            gru: PackedGru::new(GruRef::new(layers.gru.0, &parameters[layers.gru.1])?.with_output(Output::States)),
            post: Linear::new(&layers.post, parameters),
            out: Linear::new(&layers.out, parameters),
        })
    }

    /// [`OUTPUTS`] values for every asked pitch and frame; `rows` are the levels of consecutive frames, with silence round them.
    pub fn hear(&self, ctx: &JobContext, rows: &[f32], asked: &[usize]) -> Result<Vec<f32>> {
        let frames = rows.len() / EAR_ROW;
        let seen = self.see(ctx, rows, asked)?;
        let mut output = Vec::with_capacity(asked.len() * frames * OUTPUTS);
        for group in asked.chunks(ROWS) {
            ctx.check()?;
            let together = self.compare(frames, &seen, group);
            let states = self.gru.states(ctx, frames, &together)?;
            for index in 0..group.len() {
                output.extend(self.judge(
                    frames,
                    states.each_ref().map(|states| {
                        let length = frames * self.spec.hidden;
                        &states[index * length..(index + 1) * length]
                    }),
                ));
            }
        }
        Ok(output)
    }

    /// What each pitch is seen to do on its own, and its summary for others: conv1 and sum.
    fn see(&self, ctx: &JobContext, rows: &[f32], asked: &[usize]) -> Result<Vec<Seen>> {
        const MARGIN: usize = 2;
        let (frames, channels) = (rows.len() / EAR_ROW, self.spec.channels);
        let mut attacks = vec![0.0; (frames + 2 * MARGIN) * ATTACKS];
        inputs::fill_attack(rows, &mut attacks[MARGIN * ATTACKS..(MARGIN + frames) * ATTACKS]);
        let mut shared = vec![0.0; frames * channels];
        add_product(&self.attack, frames, &attacks, ATTACKS, &mut shared);
        let mut inputs = vec![0.0; (frames + 2 * MARGIN) * INPUTS];
        let mut all: Vec<Seen> = (0..PITCHES).map(|_| Seen::default()).collect();
        for pitch in needed(asked) {
            ctx.check()?;
            inputs::fill(rows, pitch, &mut inputs[MARGIN * INPUTS..(MARGIN + frames) * INPUTS]);
            let place = &self.places[pitch * channels..(pitch + 1) * channels];
            let mut own = shared.clone();
            for frame in own.chunks_exact_mut(channels) {
                frame.iter_mut().zip(place).for_each(|(value, place)| *value += place);
            }
            add_product(&self.conv1, frames, &inputs, INPUTS, &mut own);
            rectify(&mut own);
            let mut summary = self.summary.run(frames, &own, channels);
            rectify(&mut summary);
            let own = if asked.contains(&pitch) { padded(&own, channels) } else { Vec::new() };
            all[pitch] = Seen { own, summary };
        }
        Ok(all)
    }

    /// What pitches are seen to do in view of the others: conv2 and cross, a pitch after the other.
    fn compare(&self, frames: usize, seen: &[Seen], pitches: &[usize]) -> Vec<f32> {
        let (channels, summary) = (self.spec.channels, self.spec.summary);
        let width = CROSS.len() * summary;
        let mut together = Vec::with_capacity(pitches.len() * frames * channels);
        for &pitch in pitches {
            let mut others = vec![0.0; frames * width];
            for (place, other) in neighbours(pitch).into_iter().enumerate() {
                let Some(other) = other else { continue };
                let rows = others.chunks_exact_mut(width).zip(seen[other].summary.chunks_exact(summary));
                rows.for_each(|(row, own)| row[place * summary..(place + 1) * summary].copy_from_slice(own));
            }
            let mut values = self.conv2.run(frames, &seen[pitch].own, channels);
            add_product(&self.cross, frames, &others, width, &mut values);
            rectify(&mut values);
            together.extend(values);
        }
        together
    }

    /// What is said of one pitch, from the states of both directions: post and out.
    fn judge(&self, frames: usize, states: [&[f32]; 2]) -> Vec<f32> {
        let hidden = self.spec.hidden;
        let width = 2 * hidden;
        let mut joined = vec![0.0; (frames + 2) * width];
        for (direction, states) in states.into_iter().enumerate() {
            for (frame, state) in joined[width..].chunks_exact_mut(width).zip(states.chunks_exact(hidden)) {
                frame[direction * hidden..(direction + 1) * hidden].copy_from_slice(state);
            }
        }
        let mut head = self.post.run(frames, &joined, width);
        rectify(&mut head);
        self.out.run(frames, &head, self.spec.head)
    }
}

/// What one pitch is seen to do on its own.
#[derive(Default)]
struct Seen {
    /// With a frame of zeros before and after; empty if the pitch was not asked for.
    own: Vec<f32>,
    /// Empty if nobody looks at the pitch.
    summary: Vec<f32>,
}

/// The asked pitches and those that they look at, in order.
pub(super) fn needed(asked: &[usize]) -> Vec<usize> {
    let mut is_needed = [false; PITCHES];
    for &pitch in asked {
        is_needed[pitch] = true;
        neighbours(pitch).into_iter().flatten().for_each(|other| is_needed[other] = true);
    }
    (0..PITCHES).filter(|&pitch| is_needed[pitch]).collect()
}
