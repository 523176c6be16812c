// What the kernels of grid searches have in common.

struct Settings {
    problem_count: u32,
    // The knots of this dispatch.
    begin: u32,
    end: u32,
}

struct Problem {
    knots: u32,
    first_knot: u32,
    // Two rows of `widest` costs, the edge costs of 2 `widest` differences, then what the next dispatch needs of the last row: its smallest
    // cost, the first and the last time that was reached.
    rows_at: u32,
    widest: u32,
    is_table: u32,
    is_tempo: u32,
    forbids: u32,
    epsilon: f32,
    sigma: f32,
    delta: f32,
}

