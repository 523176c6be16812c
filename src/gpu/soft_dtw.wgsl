// Soft-DTW and DILATE, one workgroup a pair: path sums forward over anti-diagonals, then probabilities backward.
//
// A path sum is mantissa · 2^exponent, so that nothing under- or overflows and no logarithm is needed.
//
// With penalties Ω, let T be the expected sum of Ω on the way to a cell, the cell included. It is what Ω changes in
// soft-DTW up to the cell. So the probability p of a step into a cell changes by dp = p (mean − T)/γ, where T is that
// of the cell which the step leaves and the mean is over all steps into the cell, and the expected path E changes by
// dE = Σ (p dE + dp E) over the steps onward: that is the gradient of Σ E∘Ω.
//
// T grows along the path while only differences count. So T itself is never computed, only by how much it is greater in
// a cell than in the one to the left and in the one above, from the same differences of the cells before. These are
// small, a mean needs no more, and where one step is certain nothing cancels.

// Local costs in anti-diagonal order, in whose place the backward pass puts the gradient.
@group(0) @binding(3) var<storage, read_write> cells: array<f32>;
// Probabilities that a path in a cell came by (1,0) and by (0,1); with penalties then their changes.
@group(0) @binding(4) var<storage, read_write> steps: array<vec2f>;
@group(0) @binding(6) var<storage, read> times: array<f32>;
// Mantissa and exponent of the last cell; with penalties then what each thread has of Σ E∘Ω.
@group(0) @binding(7) var<storage, read_write> results: array<u32>;

const NOTHING = -2000000000;
// Results before those of the threads.
const HEAD = 2u;

// The penalty of a cell.
fn penalty(pair: Pair, row: u32, column: u32) -> f32 {
    let truth = times[pair.times + 2u * row];
    let weight = times[pair.times + 2u * row + 1u];
    return weight * abs(truth - times[pair.times + 2u * pair.rows + column]);
}

// An anti-diagonal, and where what is kept of it lies: several planes, each as long as the longest run.
struct Slot {
    run: Run,
    start: u32,
    width: u32,
}

fn slot_of(pair: Pair, run: Run, d: u32, planes: u32) -> Slot {
    return Slot(run, (d % 3u) * planes * pair.longest, pair.longest);
}

struct Sum {
    mantissa: f32,
    exponent: i32,
}

// A row above the run wraps round to one beyond it.
fn sum_at(slot: Slot, row: u32) -> Sum {
    let at = row - slot.run.first;
    if (at >= slot.run.count) {
        return Sum(0.0, NOTHING);
    }
    return Sum(bitcast<f32>(kept(slot.start + at)), bitcast<i32>(kept(slot.start + slot.width + at)));
}

// By how much T is greater than to the left (plane 2) or above (plane 3).
fn rise_at(slot: Slot, row: u32, plane: u32) -> f32 {
    let at = row - slot.run.first;
    if (at >= slot.run.count) {
        return 0.0;
    }
    return bitcast<f32>(kept(slot.start + plane * slot.width + at));
}

// 2^exponent for an exponent of at most 0; what is too small for a normal number counts for nothing.
fn power_of_two(exponent: i32) -> f32 {
    return bitcast<f32>(u32(max(exponent + 127, 0)) << 23u);
}

@compute @workgroup_size(256)
fn forward(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * FOLD + group.x;
    if (index >= settings.count) {
        return;
    }
    let pair = pairs[index];
    if (pair.count <= settings.begin) {
        return;
    }
    let penalised = settings.penalised != 0u;
    let planes = 2u + 2u * settings.penalised;
    restore(pair, planes, thread);
    var before = slot_of(pair, run_of(pair, settings.begin - 1u), settings.begin - 1u, planes);
    var before_that = slot_of(pair, run_of(pair, settings.begin - 2u), settings.begin - 2u, planes);
    var run = run_of(pair, settings.begin);
    // Each thread asks for its first cost one anti-diagonal ahead, so that it is there when it is needed.
    var ahead = 0.0;
    if (thread < run.count) {
        ahead = cells[run.start + thread];
    }
    for (var d = settings.begin; d < min(pair.count, settings.end); d++) {
        let next = run_of(pair, d + 1u);
        let first_cost = ahead;
        if (thread < next.count) {
            ahead = cells[next.start + thread];
        }
        let slot = slot_of(pair, run, d, planes);
        for (var at = thread; at < run.count; at += THREADS) {
            var cost = first_cost;
            if (at != thread) {
                cost = cells[run.start + at];
            }
            let row = run.first + at;
            var from_diagonal = sum_at(before_that, row - 1u);
            let from_score = sum_at(before, row - 1u);
            let from_performance = sum_at(before, row);
            if (d == 0u) {
                // A path sum of one before the first cell: its only way in is the diagonal.
                from_diagonal = Sum(1.0, 0);
            }
            let top = max(max(from_diagonal.exponent, from_score.exponent), from_performance.exponent);
            let diagonal = from_diagonal.mantissa * power_of_two(from_diagonal.exponent - top);
            let score = from_score.mantissa * power_of_two(from_score.exponent - top);
            let performance = from_performance.mantissa * power_of_two(from_performance.exponent - top);
            let sum = diagonal + score + performance;
            let inverse = 1.0 / sum;
            let share = vec2f(score, performance) * inverse;
            steps[(1u + settings.penalised) * (run.start + at)] = share;

            let log2 = cost * settings.to_log2;
            let whole = round(log2);
            let bits = bitcast<u32>(sum * exp2(log2 - whole));
            keep(slot.start + at, (bits & 0x007fffffu) | 0x3f800000u);
            keep(slot.start + slot.width + at, bitcast<u32>(top + i32(whole) + i32(bits >> 23u) - 127));
            if (penalised) {
                // By how much T is greater above and to the left than on the diagonal, and the mean greater than both.
                let above = rise_at(before, row - 1u, 2u);
                let left = rise_at(before, row, 3u);
                let rest = diagonal * inverse;
                let over_above = share.y * (left - above) - rest * above;
                let over_left = share.x * (above - left) - rest * left;
                steps[2u * (run.start + at) + 1u] = settings.inverse_gamma * share * vec2f(over_above, over_left);
                let own = penalty(pair, row, d - row);
                // There is nothing to the left of the first column and nothing above the first row.
                keep(slot.start + 2u * slot.width + at, bitcast<u32>(select(own + over_left, 0.0, d == row)));
                keep(slot.start + 3u * slot.width + at, bitcast<u32>(select(own + over_above, 0.0, row == 0u)));
            }
        }
        if (pair.is_far != 0u) {
            storageBarrier();
        }
        workgroupBarrier();
        before_that = before;
        before = slot;
        run = next;
    }
    save(pair, planes, thread);
    if (thread == 0u && settings.end >= pair.count) {
        results[pair.results] = kept(before.start);
        results[pair.results + 1u] = kept(before.start + before.width);
    }
}

// The probability of a step and its change.
struct Step {
    share: f32,
    change: f32,
}

// The steps from a cell to those after it.
struct Onward {
    diagonal: Step,
    score: Step,
    performance: Step,
}

// The probabilities of the steps (1,0) and (0,1) into a cell, then their changes.
fn steps_into(run: Run, row: u32) -> vec4f {
    let at = row - run.first;
    if (at >= run.count) {
        return vec4f(0.0);
    }
    if (settings.penalised == 0u) {
        return vec4f(steps[run.start + at], vec2f(0.0));
    }
    return vec4f(steps[2u * (run.start + at)], steps[2u * (run.start + at) + 1u]);
}

fn steps_onward(run: Run, after: Run, after_that: Run, at: u32) -> Onward {
    let row = run.first + at;
    let diagonal = steps_into(after_that, row + 1u);
    let score = steps_into(after, row + 1u);
    let performance = steps_into(after, row);
    return Onward(
        Step(max(1.0 - diagonal.x - diagonal.y, 0.0), -diagonal.z - diagonal.w),
        Step(score.x, score.z),
        Step(performance.y, performance.w),
    );
}

// What a step brings back from the cell that it leads to: of E, and of dE.
fn flow_from(slot: Slot, row: u32, onward: Step) -> vec2f {
    let at = row - slot.run.first;
    if (at >= slot.run.count) {
        return vec2f(0.0);
    }
    let visits = bitcast<f32>(kept(slot.start + at));
    if (settings.penalised == 0u) {
        return vec2f(onward.share * visits, 0.0);
    }
    let change = bitcast<f32>(kept(slot.start + slot.width + at));
    return vec2f(onward.share * visits, onward.share * change + onward.change * visits);
}

@compute @workgroup_size(256)
fn backward(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * FOLD + group.x;
    if (index >= settings.count) {
        return;
    }
    let pair = pairs[index];
    if (pair.count <= settings.begin) {
        return;
    }
    let penalised = settings.penalised != 0u;
    let planes = 1u + settings.penalised;
    let temporal = settings.temporal / (f32(pair.rows) * f32(pair.columns));
    restore(pair, planes, thread);
    let last = pair.count - 1u - settings.begin;
    var after = slot_of(pair, run_of(pair, last + 1u), last + 1u, planes);
    var after_that = slot_of(pair, run_of(pair, last + 2u), last + 2u, planes);
    var run = run_of(pair, last);
    var expected = 0.0;
    if (penalised) {
        expected = bitcast<f32>(results[pair.results + HEAD + thread]);
    }
    // As in the forward pass, what comes from memory is asked for one anti-diagonal ahead.
    var ahead = steps_onward(run, after.run, after_that.run, thread);
    for (var back = settings.begin; back < min(pair.count, settings.end); back++) {
        let d = pair.count - 1u - back;
        let next = run_of(pair, d - 1u);
        let first_onward = ahead;
        ahead = steps_onward(next, run, after.run, thread);
        let slot = slot_of(pair, run, d, planes);
        for (var at = thread; at < run.count; at += THREADS) {
            var onward = first_onward;
            if (at != thread) {
                onward = steps_onward(run, after.run, after_that.run, at);
            }
            let row = run.first + at;
            var flow = flow_from(after_that, row + 1u, onward.diagonal) + flow_from(after, row + 1u, onward.score)
                + flow_from(after, row, onward.performance);
            if (back == 0u) {
                // Every path visits the last cell, whatever the costs.
                flow = vec2f(1.0, 0.0);
            }
            keep(slot.start + at, bitcast<u32>(flow.x));
            var gradient = settings.shape * flow.x;
            if (penalised) {
                keep(slot.start + slot.width + at, bitcast<u32>(flow.y));
                gradient += temporal * flow.y;
                expected += flow.x * penalty(pair, row, d - row);
            }
            cells[run.start + at] = gradient;
        }
        if (pair.is_far != 0u) {
            storageBarrier();
        }
        workgroupBarrier();
        after_that = after;
        after = slot;
        run = next;
    }
    save(pair, planes, thread);
    if (penalised) {
        results[pair.results + HEAD + thread] = bitcast<u32>(expected);
    }
}
