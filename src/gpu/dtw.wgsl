// Classic DTW, one workgroup a pair: accumulated costs over anti-diagonals, then the way back along the cheapest steps.

// Local costs in anti-diagonal order; as soon as a cost has been used, the direction of its cell takes its place.
@group(0) @binding(3) var<storage, read_write> cells: array<u32>;
// For each anti-diagonal one more than the row in which the path crosses it, or 0. Then one more than the
// anti-diagonal where the path is followed next (0: it is complete), and the row; before the way back, the cheapest
// end so far: its anti-diagonal, the same way, and its cost. Last, what has been subtracted from all costs.
@group(0) @binding(4) var<storage, read_write> path: array<u32>;

const DIAGONAL = 0u;
const SCORE = 1u;
const PERFORMANCE = 2u;
const START = 3u;

const UNREACHED = 1e30;
// Anti-diagonals after which the least cost is subtracted from all: only differences matter, and they stay precise.
const BLOCK = 32u;

// The least accumulated cost, as a number that orders like it.
var<workgroup> least: atomic<i32>;
// The cheapest end so far.
var<workgroup> end_cost: f32;
var<workgroup> end_diagonal: u32;

// What reaching a row of an anti-diagonal costs. A row above the run wraps round to one beyond it.
fn reached(run: Run, slot: u32, row: u32) -> f32 {
    if (row - run.first < run.count) {
        return bitcast<f32>(kept(slot + row - run.first));
    }
    return UNREACHED;
}

fn lower(at: u32, by: f32) {
    keep(at, bitcast<u32>(bitcast<f32>(kept(at)) - by));
}

// Floats as whole numbers in the same order, and back.
fn ordered(value: f32) -> i32 {
    let bits = bitcast<i32>(value);
    return select(bits, bits ^ 0x7fffffff, bits < 0);
}

fn unordered(order: i32) -> f32 {
    return bitcast<f32>(select(order, order ^ 0x7fffffff, order < 0));
}

@compute @workgroup_size(256)
fn accumulate(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * FOLD + group.x;
    if (index >= settings.count) {
        return;
    }
    let pair = pairs[index];
    if (pair.count <= settings.begin) {
        return;
    }
    let state = pair.results + pair.count;
    let free = pair.free_ends != 0u;
    // What has been subtracted so far: the start of a path is that much below zero.
    var subtracted = bitcast<f32>(path[state + 2u]);
    if (thread == 0u) {
        end_diagonal = path[state];
        end_cost = bitcast<f32>(path[state + 1u]);
        if (settings.begin == 0u) {
            end_diagonal = pair.count;
            end_cost = UNREACHED;
        }
    }
    restore(pair, 1u, thread);
    var before = run_of(pair, settings.begin - 1u);
    var before_that = run_of(pair, settings.begin - 2u);
    var run = run_of(pair, settings.begin);
    // Each thread asks for its first cost one anti-diagonal ahead, so that it is there when it is needed.
    var ahead = 0u;
    if (thread < run.count) {
        ahead = cells[run.start + thread];
    }
    for (var d = settings.begin; d < min(pair.count, settings.end); d++) {
        let next = run_of(pair, d + 1u);
        let first_cost = ahead;
        if (thread < next.count) {
            ahead = cells[next.start + thread];
        }
        let slot = (d % 3u) * pair.longest;
        let slot_before = ((d + 2u) % 3u) * pair.longest;
        let slot_before_that = ((d + 1u) % 3u) * pair.longest;
        for (var at = thread; at < run.count; at += THREADS) {
            var bits = first_cost;
            if (at != thread) {
                bits = cells[run.start + at];
            }
            let row = run.first + at;
            var best = UNREACHED;
            var direction = START;
            if (row == 0u && (free || d == 0u)) {
                best = -subtracted;
            }
            let diagonal = reached(before_that, slot_before_that, row - 1u);
            if (diagonal < best) {
                best = diagonal;
                direction = DIAGONAL;
            }
            let score = reached(before, slot_before, row - 1u);
            if (score < best) {
                best = score;
                direction = SCORE;
            }
            let performance = reached(before, slot_before, row);
            if (performance < best) {
                best = performance;
                direction = PERFORMANCE;
            }
            let cost = best + bitcast<f32>(bits);
            keep(slot + at, bitcast<u32>(cost));
            cells[run.start + at] = direction;
            if (free && row + 1u == pair.rows && cost < end_cost) {
                end_cost = cost;
                end_diagonal = d + 1u;
            }
        }
        if (pair.is_far != 0u) {
            storageBarrier();
        }
        workgroupBarrier();
        if (d % BLOCK == BLOCK - 1u) {
            if (thread == 0u) {
                atomicStore(&least, ordered(UNREACHED));
            }
            workgroupBarrier();
            for (var at = thread; at < run.count; at += THREADS) {
                atomicMin(&least, ordered(bitcast<f32>(kept(slot + at))));
            }
            for (var at = thread; at < before.count; at += THREADS) {
                atomicMin(&least, ordered(bitcast<f32>(kept(slot_before + at))));
            }
            workgroupBarrier();
            let minimum = unordered(atomicLoad(&least));
            subtracted += minimum;
            for (var at = thread; at < run.count; at += THREADS) {
                lower(slot + at, minimum);
            }
            for (var at = thread; at < before.count; at += THREADS) {
                lower(slot_before + at, minimum);
            }
            if (thread == 0u) {
                end_cost -= minimum;
            }
            if (pair.is_far != 0u) {
                storageBarrier();
            }
            workgroupBarrier();
        }
        before_that = before;
        before = run;
        run = next;
    }
    save(pair, 1u, thread);
    if (thread == 0u) {
        path[state] = end_diagonal;
        path[state + 1u] = bitcast<u32>(end_cost);
        path[state + 2u] = bitcast<u32>(subtracted);
        if (settings.end >= pair.count) {
            // The way back begins in the last row.
            path[state + 1u] = pair.rows - 1u;
        }
    }
}

// The way back is followed by one thread, through directions that all threads fetch: a path moves by at most one row
// from one anti-diagonal to the one before, so over 32 of them it stays within 32 rows.
const WINDOW = 32u;

var<workgroup> window: array<u32, 1024>;
// One more than the anti-diagonal where the path is followed next, or 0 at its end, and the row.
var<workgroup> place: vec2u;

@compute @workgroup_size(256)
fn trace(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * FOLD + group.x;
    if (index >= settings.count) {
        return;
    }
    let pair = pairs[index];
    let state = pair.results + pair.count;
    if (thread == 0u) {
        place = vec2u(path[state], path[state + 1u]);
    }
    for (var windows = settings.begin; windows < settings.end; windows++) {
        let here = workgroupUniformLoad(&place);
        if (here.x == 0u) {
            break;
        }
        for (var i = thread; i < WINDOW * WINDOW; i += THREADS) {
            let back = i / WINDOW;
            var direction = START;
            if (back < here.x) {
                let run = run_of(pair, here.x - 1u - back);
                let at = here.y - i % WINDOW - run.first;
                if (at < run.count) {
                    direction = cells[run.start + at];
                }
            }
            window[i] = direction;
        }
        workgroupBarrier();
        if (thread == 0u) {
            var back = 0u;
            var up = 0u;
            while (back < WINDOW && back < here.x) {
                path[pair.results + here.x - 1u - back] = here.y - up + 1u;
                let direction = window[back * WINDOW + up];
                if (direction == START) {
                    back = here.x;
                } else if (direction == DIAGONAL) {
                    back += 2u;
                    up += 1u;
                } else if (direction == SCORE) {
                    back += 1u;
                    up += 1u;
                } else {
                    back += 1u;
                }
            }
            place = vec2u(here.x - min(back, here.x), here.y - up);
        }
    }
    if (thread == 0u) {
        path[state] = place.x;
        path[state + 1u] = place.y;
    }
}
