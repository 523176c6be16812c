// What the kernels on pairs of signals share: where the values of a pair lie, and the runs of its anti-diagonals.
// It is put before the source of each of them.

struct Settings {
    // Workgroups that have something to do.
    count: u32,
    // The anti-diagonals of this dispatch: a thread must not be busy for too long.
    begin: u32,
    end: u32,
    // Soft-DTW and DILATE: whether there are temporal penalties.
    penalised: u32,
    // From a local cost to the binary logarithm of its weight: −1 / (γ ln 2).
    to_log2: f32,
    // Weight of the soft-DTW value in the gradient.
    shape: f32,
    // Weight of the mean penalty of the expected path.
    temporal: f32,
    inverse_gamma: f32,
}

struct Pair {
    // First values of the score and of the performance.
    x: u32,
    y: u32,
    // Values per frame.
    dim: u32,
    rows: u32,
    columns: u32,
    // Row + column of the first anti-diagonal.
    first: u32,
    // Place of the first anti-diagonal in `diagonals`, how many there are, and the cells of the longest.
    diagonals: u32,
    count: u32,
    longest: u32,
    // DTW: whether a path may begin and end at any column.
    free_ends: u32,
    // DILATE: truth and weight of each row, then the time of each column.
    times: u32,
    // Where its results begin.
    results: u32,
    // Where the last three anti-diagonals are kept in an array, and whether always or only between two dispatches.
    far: u32,
    is_far: u32,
}

@group(0) @binding(0) var<uniform> settings: Settings;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
// First row of each anti-diagonal, and where its cells begin. Two more records of each pair end the last run.
@group(0) @binding(2) var<storage, read> diagonals: array<vec2u>;

// Workgroups side by side; more of them lie in the next row.
const FOLD = 65535u;
const THREADS = 256u;

// The rows of an anti-diagonal that are inside the band.
struct Run {
    first: u32,
    count: u32,
    // Where their cells lie.
    start: u32,
}

const EMPTY = Run(0u, 0u, 0u);

fn run_of(pair: Pair, diagonal: u32) -> Run {
    // Also for one that would lie before the first.
    if (diagonal > pair.count) {
        return EMPTY;
    }
    let here = diagonals[pair.diagonals + diagonal];
    let next = diagonals[pair.diagonals + diagonal + 1u];
    return Run(here.x, next.y - here.y, here.y);
}
