// The cheapest paths of grid searches, from the last knot to the first: one thread a problem. A dispatch goes from the end of its
// knots to their beginning.

struct Row {
    count: u32,
    best_at: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> problems: array<Problem>;
@group(0) @binding(2) var<storage, read> row_of_knot: array<Row>;
@group(0) @binding(3) var<storage, read> rows: array<f32>;
@group(0) @binding(4) var<storage, read> best: array<u32>;
@group(0) @binding(5) var<storage, read_write> path: array<u32>;

const NOWHERE = 0xffffffffu;

@compute @workgroup_size(64)
fn trace(@builtin(global_invocation_id) id: vec3u) {
    if (id.x >= settings.problem_count) {
        return;
    }
    let p = problems[id.x];
    let end = min(settings.end, p.knots);
    for (var i = end; i > settings.begin; i--) {
        let at = p.first_knot + i - 1u;
        var j = 0u;
        if (i == p.knots) {
            let row = p.rows_at + ((i - 1u) & 1u) * p.widest;
            let state = p.rows_at + 4u * p.widest;
            if (rows[state + 1u] > rows[state + 2u]) {
                path[p.first_knot] = NOWHERE;
                return;
            }
            for (var k = 1u; k < row_of_knot[at].count; k++) {
                if (rows[row + k] < rows[row + j]) {
                    j = k;
                }
            }
        } else if (path[p.first_knot] == NOWHERE) {
            return;
        } else {
            j = best[row_of_knot[at + 1u].best_at + path[at + 1u]];
        }
        path[at] = j;
    }
}
