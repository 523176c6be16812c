// Squared distances of all frames of two signals inside a band, in anti-diagonal order.
// A workgroup computes 64 rows x 64 columns, each thread 4 x 4 of them. Differences are squared as they are: that takes
// one subtraction more than the product of two matrices would, but needs neither mean nor norms, and nothing cancels.

// Pair, first row, first column.
@group(0) @binding(3) var<storage, read> tiles: array<vec4u>;
@group(0) @binding(4) var<storage, read> values: array<f32>;
@group(0) @binding(5) var<storage, read_write> cells: array<f32>;

const TILE = 64u;
const DEPTH = 16u;
// One more than a tile, so that threads that store neighbouring depths do not meet in one memory bank.
const STRIDE = 65u;

var<workgroup> x_tile: array<f32, 1040>;
var<workgroup> y_tile: array<f32, 1040>;

fn squares(x: f32, y: vec4f) -> vec4f {
    let difference = vec4f(x) - y;
    return difference * difference;
}

@compute @workgroup_size(256)
fn distances(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * FOLD + group.x;
    if (index >= settings.count) {
        return;
    }
    let tile = tiles[index];
    let pair = pairs[tile.x];
    let row = (thread / 16u) * 4u;
    let column = (thread % 16u) * 4u;
    var sums = mat4x4f();
    for (var first = 0u; first < pair.dim; first += DEPTH) {
        for (var i = thread; i < TILE * DEPTH; i += THREADS) {
            let k = i % DEPTH;
            let at = i / DEPTH;
            var x = 0.0;
            var y = 0.0;
            if (first + k < pair.dim) {
                if (tile.y + at < pair.rows) {
                    x = values[pair.x + (tile.y + at) * pair.dim + first + k];
                }
                if (tile.z + at < pair.columns) {
                    y = values[pair.y + (tile.z + at) * pair.dim + first + k];
                }
            }
            x_tile[k * STRIDE + at] = x;
            y_tile[k * STRIDE + at] = y;
        }
        workgroupBarrier();
        for (var k = 0u; k < DEPTH; k++) {
            let at = k * STRIDE + column;
            let y = vec4f(y_tile[at], y_tile[at + 1u], y_tile[at + 2u], y_tile[at + 3u]);
            let first_x = k * STRIDE + row;
            sums[0] += squares(x_tile[first_x], y);
            sums[1] += squares(x_tile[first_x + 1u], y);
            sums[2] += squares(x_tile[first_x + 2u], y);
            sums[3] += squares(x_tile[first_x + 3u], y);
        }
        workgroupBarrier();
    }
    for (var r = 0u; r < 4u; r++) {
        for (var c = 0u; c < 4u; c++) {
            let i = tile.y + row + r;
            let j = tile.z + column + c;
            // Cells before the first anti-diagonal wrap round to a number beyond the last.
            let diagonal = i + j - pair.first;
            if (i < pair.rows && j < pair.columns && diagonal < pair.count) {
                let run = run_of(pair, diagonal);
                if (i - run.first < run.count) {
                    cells[run.start + i - run.first] = sums[r][c];
                }
            }
        }
    }
}
