// Division of every frame by its length, and the gradient through it. 32 threads share a frame.

struct Settings {
    frames: u32,
    // Values per frame.
    width: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> states: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(2) var<storage, read_write> gradient: array<f32>;

const TEAM = 32u;
const TEAMS = 8u;
// Shorter frames are divided by this instead.
const SHORTEST = 1e-12;

var<workgroup> terms: array<f32, 256>;

// The sum of the terms of all threads that share a frame.
fn team_sum(thread: u32, term: f32) -> f32 {
    terms[thread] = term;
    for (var half = TEAM / 2u; half > 0u; half /= 2u) {
        workgroupBarrier();
        if (thread % TEAM < half) {
            terms[thread] += terms[thread + half];
        }
    }
    workgroupBarrier();
    let sum = terms[thread - thread % TEAM];
    workgroupBarrier();
    return sum;
}

// The first and the last value of a frame that a thread looks at; none beyond the last frame.
fn values_of(frame: u32, thread: u32) -> vec2u {
    if (frame >= settings.frames) {
        return vec2u(0u);
    }
    return vec2u(frame * settings.width + thread % TEAM, (frame + 1u) * settings.width);
}

fn length_of(thread: u32, values: vec2u) -> f32 {
    var sum = 0.0;
    for (var i = values.x; i < values.y; i += TEAM) {
        sum += states[i] * states[i];
    }
    return sqrt(team_sum(thread, sum));
}

@compute @workgroup_size(256)
fn divide(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    for (var first = TEAMS * group.x; first < settings.frames; first += TEAMS * groups.x) {
        let values = values_of(first + thread / TEAM, thread);
        let length = max(length_of(thread, values), SHORTEST);
        for (var i = values.x; i < values.y; i += TEAM) {
            output[i] = states[i] / length;
        }
    }
}

// Replaces the gradient of the output by that of the states. The part along the frame changes only its length, which
// the division takes away.
@compute @workgroup_size(256)
fn divide_back(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    for (var first = TEAMS * group.x; first < settings.frames; first += TEAMS * groups.x) {
        let values = values_of(first + thread / TEAM, thread);
        let length = length_of(thread, values);
        let divisor = max(length, SHORTEST);
        var sum = 0.0;
        for (var i = values.x; i < values.y; i += TEAM) {
            sum += states[i] / divisor * gradient[i];
        }
        let along = select(0.0, team_sum(thread, sum), length > SHORTEST);
        for (var i = values.x; i < values.y; i += TEAM) {
            gradient[i] = (gradient[i] - along * (states[i] / divisor)) / divisor;
        }
    }
}
