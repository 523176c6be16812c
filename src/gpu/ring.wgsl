// The last three anti-diagonals of a recurrence, in workgroup memory, or in an array where they are too long for it.
// It is put after `pairs.wgsl` and before the source of the kernels with such a recurrence.

// Also keeps the anti-diagonals from one dispatch to the next.
@group(0) @binding(5) var<storage, read_write> far: array<u32>;

var<workgroup> near: array<u32, 4032>;

var<private> is_far: bool;
var<private> far_start: u32;

fn kept(at: u32) -> u32 {
    if (is_far) {
        return far[far_start + at];
    }
    return near[at];
}

fn keep(at: u32, value: u32) {
    if (is_far) {
        far[far_start + at] = value;
    } else {
        near[at] = value;
    }
}

// Makes what a dispatch before has kept available; `planes` values per cell.
fn restore(pair: Pair, planes: u32, thread: u32) {
    is_far = pair.is_far != 0u;
    far_start = pair.far;
    if (!is_far && settings.begin > 0u) {
        for (var at = thread; at < 3u * planes * pair.longest; at += THREADS) {
            near[at] = far[far_start + at];
        }
    }
    workgroupBarrier();
}

// Keeps it for the next dispatch, if there is one.
fn save(pair: Pair, planes: u32, thread: u32) {
    if (!is_far && settings.end < pair.count) {
        for (var at = thread; at < 3u * planes * pair.longest; at += THREADS) {
            far[far_start + at] = near[at];
        }
    }
}
