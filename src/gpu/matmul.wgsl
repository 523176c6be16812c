// Products of many pairs of matrices: out[b] = scale · a[b] · b[b], or that added to what is there.
// A workgroup computes 64 x 64 values, each thread 4 x 4 of them.

struct Settings {
    rows: u32,
    columns: u32,
    inner: u32,
    scale: f32,
    a_start: u32,
    a_batch: u32,
    a_row: u32,
    a_column: u32,
    b_start: u32,
    b_batch: u32,
    b_row: u32,
    b_column: u32,
    out_start: u32,
    out_batch: u32,
    out_row: u32,
    adds: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> a: array<f32>;
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> out: array<f32>;

const TILE = 64u;
const DEPTH = 16u;

var<workgroup> a_tile: array<f32, 1024>;
var<workgroup> b_tile: array<f32, 1024>;

// Writes four values of a row of product z, those that exist.
fn put(z: u32, row: u32, column: u32, values: vec4f) {
    let s = settings;
    for (var c = 0u; c < 4u; c++) {
        if (row < s.rows && column + c < s.columns) {
            let at = s.out_start + z * s.out_batch + row * s.out_row + column + c;
            let value = s.scale * values[c];
            if (s.adds != 0u) {
                out[at] += value;
            } else {
                out[at] = value;
            }
        }
    }
}

@compute @workgroup_size(256)
fn multiply(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let s = settings;
    let first_row = group.y * TILE;
    let first_column = group.x * TILE;
    let a_first = s.a_start + group.z * s.a_batch;
    let b_first = s.b_start + group.z * s.b_batch;
    let row = (thread / 16u) * 4u;
    let column = (thread % 16u) * 4u;
    // A name for each row: an array is in registers only if the loops over it are unrolled.
    var sum_0 = vec4f(0.0);
    var sum_1 = vec4f(0.0);
    var sum_2 = vec4f(0.0);
    var sum_3 = vec4f(0.0);
    for (var first = 0u; first < s.inner; first += DEPTH) {
        for (var i = thread; i < TILE * DEPTH; i += 256u) {
            // Neighbouring threads read neighbouring values, whichever way the matrix lies.
            var k = i % DEPTH;
            var at = i / DEPTH;
            if (s.a_row == 1u) {
                k = i / TILE;
                at = i % TILE;
            }
            var value = 0.0;
            if (first_row + at < s.rows && first + k < s.inner) {
                value = a[a_first + (first_row + at) * s.a_row + (first + k) * s.a_column];
            }
            a_tile[k * TILE + at] = value;
        }
        for (var i = thread; i < TILE * DEPTH; i += 256u) {
            var k = i / TILE;
            var at = i % TILE;
            if (s.b_row == 1u) {
                k = i % DEPTH;
                at = i / DEPTH;
            }
            var value = 0.0;
            if (first_column + at < s.columns && first + k < s.inner) {
                value = b[b_first + (first + k) * s.b_row + (first_column + at) * s.b_column];
            }
            b_tile[k * TILE + at] = value;
        }
        workgroupBarrier();
        for (var k = 0u; k < DEPTH; k++) {
            let i = k * TILE + row;
            let j = k * TILE + column;
            let values = vec4f(b_tile[j], b_tile[j + 1u], b_tile[j + 2u], b_tile[j + 3u]);
            sum_0 += a_tile[i] * values;
            sum_1 += a_tile[i + 1u] * values;
            sum_2 += a_tile[i + 2u] * values;
            sum_3 += a_tile[i + 3u] * values;
        }
        workgroupBarrier();
    }
    put(group.z, first_row + row, first_column + column, sum_0);
    put(group.z, first_row + row + 1u, first_column + column, sum_1);
    put(group.z, first_row + row + 2u, first_column + column, sum_2);
    put(group.z, first_row + row + 3u, first_column + column, sum_3);
}
