// `‖v‖²` of each vector, and `‖v' − v‖²` to the next.

struct Settings {
    vectors: u32,
    dim: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> values: array<f32>;
@group(0) @binding(2) var<storage, read_write> norms: array<f32>;
@group(0) @binding(3) var<storage, read_write> energy: array<f32>;

@compute @workgroup_size(256)
fn prepare(@builtin(global_invocation_id) id: vec3u) {
    let vector = id.x;
    if (vector >= settings.vectors) {
        return;
    }
    let at = vector * settings.dim;
    let is_last = vector + 1u == settings.vectors;
    var norm = 0.0;
    var change = 0.0;
    for (var c = 0u; c < settings.dim; c++) {
        let value = values[at + c];
        norm += value * value;
        if (!is_last) {
            let difference = values[at + settings.dim + c] - value;
            change += difference * difference;
        }
    }
    norms[vector] = norm;
    energy[vector] = change;
}
