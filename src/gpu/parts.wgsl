// Sums over the frames of a batch, in parts.

struct PartSettings {
    values: u32,
    parts: u32,
}

struct RowSettings {
    start: u32,
    row: u32,
    columns: u32,
    rows: u32,
    rows_per_part: u32,
    // The rows of each part that this dispatch adds; from the second dispatch on it adds to what is there.
    begin: u32,
    end: u32,
    out_start: u32,
    out_part: u32,
}

@group(0) @binding(0) var<uniform> part_settings: PartSettings;
@group(0) @binding(0) var<uniform> row_settings: RowSettings;
@group(0) @binding(1) var<storage, read> terms: array<f32>;
@group(0) @binding(2) var<storage, read_write> sums: array<f32>;

// Adds the values of all parts, one part after the other, to what is there.
@compute @workgroup_size(256)
fn add_parts(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let s = part_settings;
    for (var i = id.x; i < s.values; i += 256u * groups.x) {
        var sum = sums[i];
        for (var part = 0u; part < s.parts; part++) {
            sum += terms[part * s.values + i];
        }
        sums[i] = sum;
    }
}

const COLUMNS = 16u;
const LANES = 16u;

var<workgroup> lane_sums: array<f32, 256>;

// Adds rows of part y of a matrix: a thread adds every 16th row of one column.
@compute @workgroup_size(256)
fn add_rows(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) thread: u32) {
    let s = row_settings;
    let column = group.x * COLUMNS + thread % COLUMNS;
    let first = group.y * s.rows_per_part;
    let end = min(first + s.end, s.rows);
    var sum = 0.0;
    if (column < s.columns) {
        for (var row = first + s.begin + thread / COLUMNS; row < end; row += LANES) {
            sum += terms[s.start + row * s.row + column];
        }
    }
    lane_sums[thread] = sum;
    workgroupBarrier();
    if (thread < COLUMNS && column < s.columns) {
        let at = s.out_start + group.y * s.out_part + column;
        var total = 0.0;
        if (s.begin > 0u) {
            total = sums[at];
        }
        for (var lane = 0u; lane < LANES; lane++) {
            total += lane_sums[lane * COLUMNS + thread];
        }
        sums[at] = total;
    }
}
