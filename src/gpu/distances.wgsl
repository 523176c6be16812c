// Products of vectors become squared distances: `‖x‖² + ‖y‖² − 2 x·y`, one workgroup a row.

struct Settings {
    rows: u32,
}

struct Row {
    cells_at: u32,
    width: u32,
    x_vector: u32,
    y_vector: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> rows: array<Row>;
@group(0) @binding(2) var<storage, read> norms: array<f32>;
@group(0) @binding(3) var<storage, read_write> cells: array<f32>;

@compute @workgroup_size(256)
fn finish(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let index = group.y * 32768u + group.x;
    if (index >= settings.rows) {
        return;
    }
    let row = rows[index];
    let norm = norms[row.x_vector];
    for (var k = thread; k < row.width; k += 256u) {
        let at = row.cells_at + k;
        cells[at] = max(norm + norms[row.y_vector + k] - 2.0 * cells[at], 0.0);
    }
}
