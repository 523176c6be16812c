// What is between the products of matrices in a stack of convolutions: biases, rectifiers, and where a sequence ends.
//
// The frames of all sequences lie one after the other, as if they were one sequence, and every layer has as many as the
// input. A frame that is made of taps from two sequences, at the end of each, has no meaning: there are `valid` frames
// with one.

struct Settings {
    // Frames, of all sequences and of each.
    rows: u32,
    frames: u32,
    // Frames of a sequence with a meaning, and values of each.
    valid: u32,
    width: u32,
    // First bias in the parameters, or first value of a gradient.
    start: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> parameters: array<f32>;
@group(0) @binding(1) var<storage, read> compact: array<f32>;
@group(0) @binding(1) var<storage, read> active_values: array<f32>;
@group(0) @binding(2) var<storage, read_write> values: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;

// Where value i of a frame with a meaning lies if only those are kept; -1 for the others.
fn place(i: u32) -> i32 {
    let s = settings;
    let row = i / s.width;
    let frame = row % s.frames;
    if (frame >= s.valid) {
        return -1;
    }
    return i32(((row / s.frames) * s.valid + frame) * s.width + i % s.width);
}

// Adds the biases and cuts off below zero. Frames without a meaning become zero.
@compute @workgroup_size(256)
fn rectify(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let s = settings;
    for (var i = id.x; i < s.rows * s.width; i += 256u * groups.x) {
        let value = values[i] + parameters[s.start + i % s.width];
        values[i] = select(0.0, value, value > 0.0 && place(i) >= 0);
    }
}

// Adds the biases and keeps the frames with a meaning.
@compute @workgroup_size(256)
fn finish(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let s = settings;
    for (var i = id.x; i < s.rows * s.width; i += 256u * groups.x) {
        let to = place(i);
        if (to >= 0) {
            output[to] = values[i] + parameters[s.start + i % s.width];
        }
    }
}

// The reverse of `finish`: the gradient of each frame, zero for those without a meaning.
@compute @workgroup_size(256)
fn spread(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let s = settings;
    for (var i = id.x; i < s.rows * s.width; i += 256u * groups.x) {
        let at = place(i);
        var value = 0.0;
        if (at >= 0) {
            value = compact[at];
        }
        values[s.start + i] = value;
    }
}

// Gradients flow only through values that were not cut off.
@compute @workgroup_size(256)
fn mask(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let s = settings;
    for (var i = id.x; i < s.rows * s.width; i += 256u * groups.x) {
        if (active_values[i] <= 0.0) {
            values[s.start + i] = 0.0;
        }
    }
}
