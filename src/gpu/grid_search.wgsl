// Grid searches of GDTW: one workgroup finds the cheapest path of one problem, knot after knot.
// All arithmetic is that of the search on the CPU, in single precision, with positions relative to each knot's own grid.

struct Knot {
    count: u32,
    skip: u32,
    start: f32,
    step: f32,
    weight: f32,
    shift: f32,
    from_scale: f32,
    to_scale: f32,
    first: i32,
    first_part: f32,
    last: i32,
    last_part: f32,
    ratio: f32,
    reference: f32,
    padding: vec2u,
}

struct Place {
    costs_at: u32,
    width: u32,
    energy_at: u32,
    best_at: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> problems: array<Problem>;
@group(0) @binding(2) var<storage, read> knots: array<Knot>;
@group(0) @binding(3) var<storage, read> places: array<Place>;
@group(0) @binding(4) var<storage, read> costs: array<f32>;
@group(0) @binding(5) var<storage, read> energy: array<f32>;
@group(0) @binding(6) var<storage, read_write> rows: array<f32>;
@group(0) @binding(7) var<storage, read_write> best: array<u32>;

// What cannot be reached costs this; no path does.
const FAR = 1e38;
// Slope windows are this much wider, in grid steps: rounding must not cut off the last pass's warp.
const ROUNDING = 2.5e-4;
const NOWHERE = 0xffffffffu;

var<workgroup> minima: array<f32, 256>;
var<workgroup> lowest: atomic<u32>;
var<workgroup> highest: atomic<u32>;

fn node_cost(p: Problem, knot: Knot, place: Place, j: u32) -> f32 {
    let at = place.costs_at + knot.skip;
    let width = place.width - knot.skip;
    if (p.is_table != 0u) {
        if (width == 1u) {
            return costs[at];
        }
        let position = clamp(knot.start + f32(j) * knot.step, 0.0, f32(width - 1u));
        let k = min(u32(position + 0.5), width - 1u);
        let a = position - f32(k);
        let here = costs[at + k];
        // Beyond its ends the row goes on as a straight line.
        var before = costs[at + max(k, 1u) - 1u];
        var after = costs[at + min(k + 1u, width - 1u)];
        before = select(before, 2.0 * here - after, k == 0u);
        after = select(after, 2.0 * here - before, k == width - 1u);
        let bend = 0.5 * (before - 2.0 * here + after);
        return (before + 6.0 * here + after) / 8.0 + a * (0.5 * (after - before) + a * bend);
    }
    let position = max(knot.start + f32(j) * knot.step, 0.0);
    let k = min(u32(position), width - 2u);
    let a = position - f32(k);
    let d0 = costs[at + k];
    let line = d0 + a * (costs[at + k + 1u] - d0);
    return knot.weight * (line - a * (1.0 - a) * energy[place.energy_at + knot.skip + k]);
}

// `z²/2`, then linear.
fn huber(z: f32, delta: f32) -> f32 {
    let size = abs(z);
    return select(delta * (size - 0.5 * delta), 0.5 * z * z, size <= delta);
}

struct Found {
    cost: f32,
    predecessor: u32,
}

// The cheapest way from the row before to a scaled position. Every cost of the row is at least `least`, so what is further away than the
// root of a known cost cannot be cheaper.
fn slope_step(knot: Knot, before: u32, least: f32, first: u32, last: u32, j: u32) -> Found {
    let a = knot.shift + f32(j) * knot.to_scale;
    var low = first;
    var high = last;
    if (knot.from_scale > 0.0) {
        let per_scale = 1.0 / knot.from_scale;
        let near = clamp(round(a * per_scale), f32(first), f32(last));
        let away = a - near * knot.from_scale;
        let known = (rows[before + u32(near)] - least) + away * away;
        let reach = sqrt(known) * 1.0001;
        low = max(first, u32(clamp(floor((a - reach) * per_scale), 0.0, f32(last))));
        high = min(last, u32(clamp(ceil((a + reach) * per_scale), f32(low), f32(last))));
    }
    var found = Found(FAR, low);
    for (var k = low; k <= high; k++) {
        let away = a - f32(k) * knot.from_scale;
        let cost = (rows[before + k] - least) + away * away;
        if (cost < found.cost) {
            found = Found(cost, k);
        }
    }
    return found;
}

fn tempo_step(before: u32, edges: u32, zero: u32, least: f32, first: u32, last: u32, j: u32) -> Found {
    var found = Found(FAR, first);
    for (var k = first; k <= last; k++) {
        let reached = rows[before + k] - least;
        if (reached < found.cost) {
            let cost = reached + rows[edges + zero + j - k];
            if (cost < found.cost) {
                found = Found(cost, k);
            }
        }
    }
    return found;
}

@compute @workgroup_size(256)
fn search(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * 32768u + group.x;
    if (index >= settings.problem_count) {
        return;
    }
    let p = problems[index];
    let state = p.rows_at + 4u * p.widest;
    var least = 0.0;
    // The first and the last time of the row before that was reached; none if it is empty.
    var low = 1u;
    var high = 0u;
    if (settings.begin > 0u) {
        least = rows[state];
        low = u32(rows[state + 1u]);
        high = u32(rows[state + 2u]);
    }
    let end = min(settings.end, p.knots);
    for (var i = settings.begin; i < end; i++) {
        let knot = knots[p.first_knot + i];
        let place = places[p.first_knot + i];
        let row = p.rows_at + (i & 1u) * p.widest;
        let before = p.rows_at + ((i + 1u) & 1u) * p.widest;
        let edges = p.rows_at + 2u * p.widest;
        var zero = 0u;
        if (i > 0u && p.is_tempo != 0u) {
            // The cost of each difference of indices, once for all pairs.
            zero = knots[p.first_knot + i - 1u].count - 1u;
            for (var d = thread; d < zero + knot.count; d += 256u) {
                let advance = knot.shift + (f32(d) - f32(zero)) * knot.to_scale;
                let z = (log(max(advance, 0.0) + p.epsilon) - knot.reference) / p.sigma;
                rows[edges + d] = knot.from_scale * huber(z, p.delta);
            }
        }
        if (thread == 0u) {
            atomicStore(&lowest, NOWHERE);
            atomicStore(&highest, 0u);
        }
        storageBarrier();
        workgroupBarrier();
        var smallest = FAR;
        var first_reached = NOWHERE;
        var last_reached = 0u;
        for (var j = thread; j < knot.count; j += 256u) {
            var found = Found(0.0, 0u);
            if (i > 0u) {
                let position = f32(j) * knot.ratio;
                let begin = knot.first_part + position - ROUNDING;
                let finish = knot.last_part + position + ROUNDING;
                let unreachable = low > high || (p.forbids != 0u
                    && (f32(knot.last - i32(low)) + finish < 0.0 || f32(knot.first - i32(high)) + begin > 0.0));
                if (unreachable) {
                    found = Found(FAR, 0u);
                } else {
                    var first = knot.first + i32(ceil(begin));
                    var last = knot.last + i32(floor(finish));
                    if (first > last) {
                        // The slope window lies between two grid points: take the nearer.
                        let middle = round(0.5 * (f32(knot.first - knot.last) + begin + finish));
                        first = knot.last + i32(middle);
                        last = first;
                    }
                    let from_first = u32(clamp(first, i32(low), i32(high)));
                    let from_last = u32(clamp(last, i32(low), i32(high)));
                    if (p.is_tempo != 0u) {
                        found = tempo_step(before, edges, zero, least, from_first, from_last, j);
                    } else {
                        found = slope_step(knot, before, least, from_first, from_last, j);
                    }
                }
            }
            var value = FAR;
            if (found.cost < FAR) {
                value = found.cost + node_cost(p, knot, place, j);
                smallest = min(smallest, value);
                first_reached = min(first_reached, j);
                last_reached = max(last_reached, j);
            }
            rows[row + j] = value;
            best[place.best_at + j] = found.predecessor;
        }
        minima[thread] = smallest;
        if (first_reached != NOWHERE) {
            atomicMin(&lowest, first_reached);
            atomicMax(&highest, last_reached);
        }
        storageBarrier();
        workgroupBarrier();
        for (var half = 128u; half > 0u; half /= 2u) {
            if (thread < half) {
                minima[thread] = min(minima[thread], minima[thread + half]);
            }
            workgroupBarrier();
        }
        least = minima[0];
        low = atomicLoad(&lowest);
        high = atomicLoad(&highest);
        if (low > high) {
            low = 1u;
            high = 0u;
        }
        workgroupBarrier();
    }
    if (thread == 0u) {
        rows[state] = least;
        rows[state + 1u] = f32(low);
        rows[state + 2u] = f32(high);
    }
}
