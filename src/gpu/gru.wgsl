// The recurrences of a bidirectional GRU: a workgroup takes a sequence (x) in a direction (y).
//
// `gates` has a row per frame and direction. Its last 3 hidden values are first the projected input of r, z and n.
// Where a row has 4 hidden values, for learning, `advance` replaces them by U_n h + c_n, r, z and n, and `retreat`
// replaces those by the gradients of U_n h + c_n and of the arguments of r, z and n. `states` has a row of hidden
// values per frame and direction.
//
// A dispatch runs over a stretch of frames and takes up the recurrence where the one before left it in these arrays.
//
// Several threads share the sum of one unit. `weights` has, per direction, the weights of four terms together, then the
// units, so that neighbouring threads read neighbouring values.

struct Settings {
    frames: u32,
    hidden: u32,
    // Fours of terms that the sum of a unit has.
    quads: u32,
    // Threads that share a sum, and fours that each of them adds.
    splits: u32,
    share: u32,
    // Values in a row of `gates`.
    row: u32,
    // Where the biases of the input begin in the parameters, and the parameters of a direction.
    biases: u32,
    parameters: u32,
    // The frames of this dispatch, counted in the direction in which the state moves: from `begin` to before `end`.
    begin: u32,
    end: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> parameters: array<f32>;
@group(0) @binding(1) var<storage, read_write> state_gradient: array<f32>;
@group(0) @binding(2) var<storage, read> weights: array<vec4f>;
@group(0) @binding(3) var<storage, read_write> gates: array<f32>;
@group(0) @binding(4) var<storage, read_write> states: array<f32>;

const THREADS = 256u;
// Up to so many units every thread keeps its weights at hand over all frames: twelve fours at most, since at least four
// threads share a sum.
const MOST_HELD = 64u;

// Zeros follow the values that are read in fours. Forward: the state, and the sums of r, z and n.
var<workgroup> state: array<f32, 768>;
var<workgroup> gate_sums: array<f32, 2304>;

// Backward: the gradients of U_n h + c_n and of the arguments of r and z, their sums, and the gradient of the state
// before that does not pass through the weights.
var<workgroup> gate_gradients: array<f32, 2304>;
var<workgroup> sums: array<f32, 768>;
var<workgroup> direct: array<f32, 768>;

fn total(v: vec4f) -> f32 {
    return (v.x + v.y) + (v.z + v.w);
}

// Weights that a thread keeps: a column of a matrix is a four.
struct Held {
    a: mat4x4f,
    b: mat4x4f,
    c: mat4x4f,
}

fn sum_of_products(a: mat4x4f, b: mat4x4f) -> f32 {
    return total(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
}

// The row of `gates` and `states` for frame `count`, counted in the direction in which the state moves.
fn row_of(sequence: u32, direction: u32, count: u32) -> u32 {
    let frame = select(count, settings.frames - 1u - count, direction == 1u);
    return 2u * (sequence * settings.frames + frame) + direction;
}

// Neither this nor `hyperbolic` overflows.
fn sigmoid(x: f32) -> f32 {
    let e = exp(-abs(x));
    return select(e, 1.0, x >= 0.0) / (1.0 + e);
}

// The tangent. Some drivers have one that is not a number for large arguments; small ones need the series to stay
// exact.
fn hyperbolic(x: f32) -> f32 {
    let e = exp(-2.0 * abs(x));
    let large = sign(x) * (1.0 - e) / (1.0 + e);
    let q = x * x;
    let small = x * (1.0 + q * (-1.0 / 3.0 + q * (2.0 / 15.0 + q * (-17.0 / 315.0 + q * (62.0 / 2835.0)))));
    return select(large, small, q < 0.0625);
}

// Biases of r, z and n, and that of U_n h.
fn biases(direction: u32, unit: u32) -> vec4f {
    let hidden = settings.hidden;
    let at = direction * settings.parameters + settings.biases + unit;
    let r = parameters[at] + parameters[at + 3u * hidden];
    let z = parameters[at + hidden] + parameters[at + 4u * hidden];
    return vec4f(r, z, parameters[at + 2u * hidden], parameters[at + 5u * hidden]);
}

// The projected input of r, z and n.
fn projected(row: u32, unit: u32) -> vec3f {
    let hidden = settings.hidden;
    let at = (row + 1u) * settings.row - 3u * hidden + unit;
    return vec3f(gates[at], gates[at + hidden], gates[at + 2u * hidden]);
}

fn state_four(k: u32) -> vec4f {
    return vec4f(state[4u * k], state[4u * k + 1u], state[4u * k + 2u], state[4u * k + 3u]);
}

// The weights of a unit for four k of the state; zeros from `end` on, where those of the next thread begin.
fn forward_four(direction: u32, k: u32, end: u32, gate: u32, unit: u32) -> vec4f {
    if (k >= end) {
        return vec4f(0.0);
    }
    return weights[((direction * settings.quads + k) * 3u + gate) * settings.hidden + unit];
}

fn forward_sixteen(direction: u32, k: u32, end: u32, gate: u32, unit: u32) -> mat4x4f {
    return mat4x4f(
        forward_four(direction, k, end, gate, unit),
        forward_four(direction, k + 1u, end, gate, unit),
        forward_four(direction, k + 2u, end, gate, unit),
        forward_four(direction, k + 3u, end, gate, unit),
    );
}

// The weights of r, z and n that thread i multiplies.
fn held_forward(direction: u32, i: u32) -> Held {
    let unit = i % settings.hidden;
    let k = (i / settings.hidden) * settings.share;
    let end = min(k + settings.share, settings.quads);
    return Held(
        forward_sixteen(direction, k, end, 0u, unit),
        forward_sixteen(direction, k, end, 1u, unit),
        forward_sixteen(direction, k, end, 2u, unit),
    );
}

fn multiply_state_held(held: Held, i: u32) {
    let k = (i / settings.hidden) * settings.share;
    let sixteen = mat4x4f(state_four(k), state_four(k + 1u), state_four(k + 2u), state_four(k + 3u));
    gate_sums[3u * i] = sum_of_products(held.a, sixteen);
    gate_sums[3u * i + 1u] = sum_of_products(held.b, sixteen);
    gate_sums[3u * i + 2u] = sum_of_products(held.c, sixteen);
}

// The products of the recurrent weights with the state.
fn multiply_state(direction: u32, thread: u32) {
    let s = settings;
    for (var i = thread; i < s.splits * s.hidden; i += THREADS) {
        let first = (i / s.hidden) * s.share;
        let end = min(first + s.share, s.quads);
        var at = (direction * s.quads + first) * 3u * s.hidden + i % s.hidden;
        var r = vec4f(0.0);
        var z = vec4f(0.0);
        var n = vec4f(0.0);
        for (var k = first; k < end; k++) {
            let four = state_four(k);
            r += weights[at] * four;
            z += weights[at + s.hidden] * four;
            n += weights[at + 2u * s.hidden] * four;
            at += 3u * s.hidden;
        }
        gate_sums[3u * i] = total(r);
        gate_sums[3u * i + 1u] = total(z);
        gate_sums[3u * i + 2u] = total(n);
    }
}

@compute @workgroup_size(256)
fn advance(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let s = settings;
    let direction = group.y;
    for (var i = thread; i < 768u; i += THREADS) {
        var before = 0.0;
        if (s.begin > 0u && i < s.hidden) {
            before = states[row_of(group.x, direction, s.begin - 1u) * s.hidden + i];
        }
        state[i] = before;
    }
    let holds = s.hidden <= MOST_HELD;
    var held: Held;
    if (holds && thread < s.splits * s.hidden) {
        held = held_forward(direction, thread);
    }
    var own_bias = vec4f(0.0);
    if (thread < s.hidden) {
        own_bias = biases(direction, thread);
    }
    workgroupBarrier();
    for (var count = s.begin; count < s.end; count++) {
        let row = row_of(group.x, direction, count);
        // Asked for now, so that it is there when the products are.
        var own_input = vec3f(0.0);
        if (thread < s.hidden) {
            own_input = projected(row, thread);
        }
        if (!holds) {
            multiply_state(direction, thread);
        } else if (thread < s.splits * s.hidden) {
            multiply_state_held(held, thread);
        }
        workgroupBarrier();
        for (var unit = thread; unit < s.hidden; unit += THREADS) {
            var input = own_input;
            var bias = own_bias;
            if (unit != thread) {
                input = projected(row, unit);
                bias = biases(direction, unit);
            }
            var sum = vec3f(0.0);
            for (var i = unit; i < s.splits * s.hidden; i += s.hidden) {
                sum += vec3f(gate_sums[3u * i], gate_sums[3u * i + 1u], gate_sums[3u * i + 2u]);
            }
            let r = sigmoid(input.x + sum.x + bias.x);
            let z = sigmoid(input.y + sum.y + bias.y);
            let recurrent = sum.z + bias.w;
            let n = hyperbolic(input.z + bias.z + r * recurrent);
            let after = n + z * (state[unit] - n);
            state[unit] = after;
            states[row * s.hidden + unit] = after;
            if (s.row == 4u * s.hidden) {
                let at = row * s.row + unit;
                gates[at] = recurrent;
                gates[at + s.hidden] = r;
                gates[at + 2u * s.hidden] = z;
                gates[at + 3u * s.hidden] = n;
            }
        }
        workgroupBarrier();
    }
}

// What the forward pass left of a unit: its gates, the state before, and the gradient of the state after.
struct Recorded {
    gates: vec4f,
    before: f32,
    gradient: f32,
}

fn recorded(sequence: u32, direction: u32, count: u32, unit: u32) -> Recorded {
    let hidden = settings.hidden;
    let row = row_of(sequence, direction, count);
    let at = row * settings.row + unit;
    var found: Recorded;
    found.gates = vec4f(gates[at], gates[at + hidden], gates[at + 2u * hidden], gates[at + 3u * hidden]);
    found.gradient = state_gradient[row * hidden + unit];
    found.before = 0.0;
    if (count > 0u) {
        found.before = states[row_of(sequence, direction, count - 1u) * hidden + unit];
    }
    return found;
}

fn gradient_four(k: u32) -> vec4f {
    let i = 4u * k;
    return vec4f(gate_gradients[i], gate_gradients[i + 1u], gate_gradients[i + 2u], gate_gradients[i + 3u]);
}

// The same for four k of the gates' gradients.
fn backward_four(direction: u32, k: u32, end: u32, unit: u32) -> vec4f {
    if (k >= end) {
        return vec4f(0.0);
    }
    return weights[(direction * settings.quads + k) * settings.hidden + unit];
}

fn backward_sixteen(direction: u32, k: u32, end: u32, unit: u32) -> mat4x4f {
    return mat4x4f(
        backward_four(direction, k, end, unit),
        backward_four(direction, k + 1u, end, unit),
        backward_four(direction, k + 2u, end, unit),
        backward_four(direction, k + 3u, end, unit),
    );
}

fn gradient_sixteen(k: u32) -> mat4x4f {
    return mat4x4f(gradient_four(k), gradient_four(k + 1u), gradient_four(k + 2u), gradient_four(k + 3u));
}

// The weights that thread i multiplies.
fn held_backward(direction: u32, i: u32) -> Held {
    let unit = i % settings.hidden;
    let k = (i / settings.hidden) * settings.share;
    let end = min(k + settings.share, settings.quads);
    return Held(
        backward_sixteen(direction, k, end, unit),
        backward_sixteen(direction, k + 4u, end, unit),
        backward_sixteen(direction, k + 8u, end, unit),
    );
}

fn multiply_gradients_held(held: Held, i: u32) {
    let k = (i / settings.hidden) * settings.share;
    let a = sum_of_products(held.a, gradient_sixteen(k));
    let b = sum_of_products(held.b, gradient_sixteen(k + 4u));
    sums[i] = a + b + sum_of_products(held.c, gradient_sixteen(k + 8u));
}

// The product of the gates' gradients with the transposed recurrent weights.
fn multiply_gradients(direction: u32, thread: u32) {
    let s = settings;
    for (var i = thread; i < s.splits * s.hidden; i += THREADS) {
        let first = (i / s.hidden) * s.share;
        let end = min(first + s.share, s.quads);
        var at = (direction * s.quads + first) * s.hidden + i % s.hidden;
        var sum = vec4f(0.0);
        for (var k = first; k < end; k++) {
            sum += weights[at] * gradient_four(k);
            at += s.hidden;
        }
        sums[i] = total(sum);
    }
}

// Takes up the gradients of frame `end`, which the dispatch before has left; there are none after the last frame.
fn take_up_gradients(sequence: u32, direction: u32, thread: u32) {
    let s = settings;
    let exists = s.end < s.frames;
    let row = row_of(sequence, direction, min(s.end, s.frames - 1u));
    for (var i = thread; i < 2304u; i += THREADS) {
        var gradient = 0.0;
        if (exists && i < 3u * s.hidden) {
            gradient = gates[row * s.row + i];
        }
        gate_gradients[i] = gradient;
    }
    for (var i = thread; i < 768u; i += THREADS) {
        var gradient = 0.0;
        if (exists && i < s.hidden) {
            gradient = state_gradient[row * s.hidden + i];
        }
        direct[i] = gradient;
    }
}

// Leaves in `states` the state before each frame in place of that after it, which no frame needs any more, and in
// `state_gradient`, for the first frame of the stretch, the gradient of the state before that does not pass through the
// weights.
@compute @workgroup_size(256)
fn retreat(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let s = settings;
    let direction = group.y;
    take_up_gradients(group.x, direction, thread);
    let holds = s.hidden <= MOST_HELD;
    var held: Held;
    if (holds && thread < s.splits * s.hidden) {
        held = held_backward(direction, thread);
    }
    workgroupBarrier();
    for (var left = s.end; left > s.begin; left--) {
        let count = left - 1u;
        let row = row_of(group.x, direction, count);
        // Asked for now, so that it is there when the products are.
        var own: Recorded;
        if (thread < s.hidden) {
            own = recorded(group.x, direction, count, thread);
        }
        if (!holds) {
            multiply_gradients(direction, thread);
        } else if (thread < s.splits * s.hidden) {
            multiply_gradients_held(held, thread);
        }
        workgroupBarrier();
        for (var unit = thread; unit < s.hidden; unit += THREADS) {
            var found = own;
            if (unit != thread) {
                found = recorded(group.x, direction, count, unit);
            }
            var gradient = found.gradient + direct[unit];
            for (var i = unit; i < s.splits * s.hidden; i += s.hidden) {
                gradient += sums[i];
            }
            let recurrent = found.gates.x;
            let r = found.gates.y;
            let z = found.gates.z;
            let n = found.gates.w;
            let for_n = gradient * (1.0 - z) * (1.0 - n * n);
            let for_recurrent = for_n * r;
            let for_r = for_n * recurrent * r * (1.0 - r);
            let for_z = gradient * (found.before - n) * z * (1.0 - z);
            gate_gradients[unit] = for_recurrent;
            gate_gradients[s.hidden + unit] = for_r;
            gate_gradients[2u * s.hidden + unit] = for_z;
            let past_weights = gradient * z;
            direct[unit] = past_weights;
            if (count == s.begin) {
                state_gradient[row * s.hidden + unit] = past_weights;
            }
            states[row * s.hidden + unit] = found.before;
            let at = row * s.row + unit;
            gates[at] = for_recurrent;
            gates[at + s.hidden] = for_r;
            gates[at + 2u * s.hidden] = for_z;
            gates[at + 3u * s.hidden] = for_n;
        }
        workgroupBarrier();
    }
}
