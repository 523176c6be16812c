// From a gradient G on squared distances, in anti-diagonal order, to one on the features behind them:
// 2 Σ_j G_ij (x_i − y_j) for the score, 2 Σ_i G_ij (y_j − x_i) for the performance.
// A workgroup computes 64 frames x 64 values, each thread 4 x 4 of them.

// Pair, 0 for the score or 1 for the performance, first frame, first value.
@group(0) @binding(3) var<storage, read> tiles: array<vec4u>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read> cells: array<f32>;
// Laid out as the values are.
@group(0) @binding(6) var<storage, read_write> gradient: array<f32>;

const TILE = 64u;
const DEPTH = 16u;
// One more than a tile, so that threads that store neighbouring depths do not meet in one memory bank.
const STRIDE = 65u;

var<workgroup> weights: array<f32, 1040>;
var<workgroup> others: array<f32, 1024>;

// Two signals, the one whose gradient is wanted first.
struct Sides {
    own: u32,
    frames: u32,
    other: u32,
    others: u32,
}

fn cell_of(pair: Pair, frame: u32, other: u32, transposed: bool) -> f32 {
    let row = select(frame, other, transposed);
    let run = diagonals[pair.diagonals + frame + other];
    return cells[run.y + row - run.x];
}

@compute @workgroup_size(256)
fn features(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * FOLD + group.x;
    if (index >= settings.count) {
        return;
    }
    let tile = tiles[index];
    let pair = pairs[tile.x];
    let transposed = tile.y == 1u;
    var sides = Sides(pair.x, pair.rows, pair.y, pair.columns);
    if (transposed) {
        sides = Sides(pair.y, pair.columns, pair.x, pair.rows);
    }
    let dim = pair.dim;
    let frame = (thread / 16u) * 4u;
    let value = (thread % 16u) * 4u;
    var own = mat4x4f();
    var sums = mat4x4f();
    for (var r = 0u; r < 4u; r++) {
        for (var c = 0u; c < 4u; c++) {
            let i = tile.z + frame + r;
            let k = tile.w + value + c;
            if (i < sides.frames && k < dim) {
                own[r][c] = values[sides.own + i * dim + k];
            }
        }
    }
    let inner = select(pair.columns, pair.rows, transposed);
    for (var first = 0u; first < inner; first += DEPTH) {
        for (var i = thread; i < TILE * DEPTH; i += THREADS) {
            let j = i % DEPTH;
            let at = i / DEPTH;
            var weight = 0.0;
            if (tile.z + at < sides.frames && first + j < sides.others) {
                weight = cell_of(pair, tile.z + at, first + j, transposed);
            }
            weights[j * STRIDE + at] = weight;
        }
        for (var i = thread; i < TILE * DEPTH; i += THREADS) {
            let j = i / TILE;
            let at = i % TILE;
            var other = 0.0;
            if (tile.w + at < dim && first + j < sides.others) {
                other = values[sides.other + (first + j) * dim + tile.w + at];
            }
            others[i] = other;
        }
        workgroupBarrier();
        for (var j = 0u; j < DEPTH; j++) {
            let at = j * TILE + value;
            let other = vec4f(others[at], others[at + 1u], others[at + 2u], others[at + 3u]);
            let weight = j * STRIDE + frame;
            sums[0] += weights[weight] * (own[0] - other);
            sums[1] += weights[weight + 1u] * (own[1] - other);
            sums[2] += weights[weight + 2u] * (own[2] - other);
            sums[3] += weights[weight + 3u] * (own[3] - other);
        }
        workgroupBarrier();
    }
    for (var r = 0u; r < 4u; r++) {
        for (var c = 0u; c < 4u; c++) {
            let i = tile.z + frame + r;
            let k = tile.w + value + c;
            if (i < sides.frames && k < dim) {
                gradient[sides.own + i * dim + k] = 2.0 * sums[r][c];
            }
        }
    }
}
