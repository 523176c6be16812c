//! Grid searches of GDTW: distances once, then as many passes as are asked for.

use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::card::{Array, Card, Commands, Kernel, MOST_ITERATIONS, THREADS};
use super::matmul::{Matrices, Product, multiply};
use crate::base::accelerator::{Failure, GridEdges, GridKnot, GridPass, GridSearch, NodeCosts, Outcome};

const NORMS: Kernel = Kernel { source: include_str!("norms.wgsl"), entry: "prepare" };
const DISTANCES: Kernel = Kernel { source: include_str!("distances.wgsl"), entry: "finish" };
const SEARCH: Kernel =
    Kernel { source: concat!(include_str!("grid.wgsl"), include_str!("grid_search.wgsl")), entry: "search" };
const TRACE: Kernel =
    Kernel { source: concat!(include_str!("grid.wgsl"), include_str!("grid_trace.wgsl")), entry: "trace" };
/// What the kernel writes for a problem whose last knot cannot be reached.
const NOWHERE: u32 = u32::MAX;

/// Node costs of some problems on the card.
pub(super) struct Searches<'a> {
    card: &'a Card,
    parts: Vec<Part>,
    most_values: usize,
}

/// Problems of one kind and dimension whose node costs share one array.
struct Part {
    problems: Range<usize>,
    is_table: bool,
    costs: Array,
    energy: Array,
    /// Of each problem, for each knot.
    places: Vec<Vec<Place>>,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Place {
    costs_at: u32,
    width: u32,
    energy_at: u32,
    best_at: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
struct Problem {
    knots: u32,
    first_knot: u32,
    rows_at: u32,
    widest: u32,
    is_table: u32,
    is_tempo: u32,
    forbids: u32,
    epsilon: f32,
    sigma: f32,
    delta: f32,
}

/// Brings the node costs of all problems to the card, at most `most_values` in one array.
pub(super) fn grid_search<'a>(card: &'a Card, problems: &[NodeCosts<'_>], most_values: usize) -> Outcome<Searches<'a>> {
    let most_values = most_values.min(card.longest_array());
    let mut parts = Vec::new();
    let mut first = 0;
    while first < problems.len() {
        let end = end_of_part(problems, first, most_values)?;
        parts.push(match &problems[first] {
            NodeCosts::Distances { dim, .. } => distances(card, problems, first..end, *dim),
            NodeCosts::Table { .. } => table(card, problems, first..end),
        });
        first = end;
    }
    Ok(Searches { card, parts, most_values })
}

/// One past the problems that share arrays with the first: of the same kind, as many as fit.
fn end_of_part(problems: &[NodeCosts<'_>], first: usize, most_values: usize) -> Outcome<usize> {
    let kind = |problem: &NodeCosts<'_>| match problem {
        NodeCosts::Distances { dim, .. } => Some(*dim),
        NodeCosts::Table { .. } => None,
    };
    let (mut costs, mut vectors, mut end) = (0, 0, first);
    for problem in &problems[first..] {
        let (offsets, values) = match problem {
            NodeCosts::Distances { x, y, offsets, .. } => (offsets, x.len() + y.len()),
            NodeCosts::Table { offsets, .. } => (offsets, 0),
        };
        costs += offsets.last().copied().unwrap_or(0);
        vectors += values;
        if kind(problem) != kind(&problems[first]) || costs.max(vectors) > most_values {
            break;
        }
        end += 1;
    }
    if end == first {
        return Err(Failure::unsuited("a problem is larger than its memory"));
    }
    Ok(end)
}

fn table(card: &Card, problems: &[NodeCosts<'_>], range: Range<usize>) -> Part {
    let (mut all, mut places) = (Vec::new(), Vec::new());
    for problem in &problems[range.clone()] {
        let NodeCosts::Table { costs, offsets } = problem else { continue };
        let place = |pair: &[usize]| Place {
            costs_at: (all.len() + pair[0]) as u32,
            width: (pair[1] - pair[0]) as u32,
            energy_at: 0,
            best_at: 0,
        };
        places.push(offsets.windows(2).map(place).collect());
        all.extend_from_slice(costs);
    }
    Part { problems: range, is_table: true, costs: card.upload(&all), energy: card.array(1), places }
}

fn distances(card: &Card, problems: &[NodeCosts<'_>], range: Range<usize>, dim: usize) -> Part {
    let (mut vectors, mut places, mut blocks) = (Vec::new(), Vec::new(), Vec::new());
    let mut rows: Vec<[u32; 4]> = Vec::new();
    let mut cells = 0;
    for problem in &problems[range.clone()] {
        let NodeCosts::Distances { x, y, first, offsets, .. } = problem else { continue };
        let (x_vector, y_vector) = (vectors.len() / dim, (vectors.len() + x.len()) / dim);
        vectors.extend_from_slice(x);
        vectors.extend_from_slice(y);
        let mut of_problem = Vec::with_capacity(first.len());
        for (knot, (&frame, pair)) in first.iter().zip(offsets.windows(2)).enumerate() {
            let (costs_at, width) = (cells + pair[0], pair[1] - pair[0]);
            let row = [costs_at, width, x_vector + knot, y_vector + frame];
            join(&mut blocks, row);
            rows.push(row.map(|v| v as u32));
            of_problem.push(Place {
                costs_at: costs_at as u32,
                width: width as u32,
                energy_at: (y_vector + frame) as u32,
                best_at: 0,
            });
        }
        places.push(of_problem);
        cells += offsets.last().copied().unwrap_or(0);
    }
    let count = vectors.len() / dim;
    let vectors = card.upload(&vectors);
    let (norms, energy, costs) = (card.array(count), card.array(count), card.array(cells));
    let mut commands = card.commands();
    let lines = count.div_ceil(THREADS as usize) as u32;
    commands.run(NORMS, [lines, 1, 1], &[count as u32, dim as u32], &[&vectors, &norms, &energy]);
    products(&mut commands, &blocks, dim, &vectors, &costs);
    commands.run(DISTANCES, in_lines(rows.len()), &[rows.len() as u32], &[&card.upload(&rows), &norms, &costs]);
    commands.submit();
    Part { problems: range, is_table: false, costs, energy, places }
}

/// Workgroups in lines: more than a dispatch counts along one dimension.
fn in_lines(count: usize) -> [u32; 3] {
    const LINE: usize = 32_768;
    [count.min(LINE) as u32, count.div_ceil(LINE) as u32, 1]
}

/// Neighbouring knots that have distances to the same frames.
#[derive(Debug, Clone, Copy)]
struct Block {
    cells_at: usize,
    width: usize,
    x_vector: usize,
    y_vector: usize,
    knots: usize,
}

fn join(blocks: &mut Vec<Block>, [cells_at, width, x_vector, y_vector]: [usize; 4]) {
    match blocks.last_mut() {
        Some(last)
            if (last.width, last.y_vector, last.x_vector + last.knots) == (width, y_vector, x_vector)
                && last.cells_at + last.knots * width == cells_at =>
        {
            last.knots += 1;
        }
        _ => blocks.push(Block { cells_at, width, x_vector, y_vector, knots: 1 }),
    }
}

/// The products of all blocks; those that are equally large and equally far apart in one go.
fn products(commands: &mut Commands<'_>, blocks: &[Block], dim: usize, vectors: &Array, costs: &Array) {
    /// Matrices of one dispatch.
    const MOST: usize = 65_535;
    let apart = |a: &Block, b: &Block| {
        let fits = (a.width, a.knots) == (b.width, b.knots);
        let distance = |of: fn(&Block) -> usize| of(b).wrapping_sub(of(a));
        fits.then(|| [distance(|b| b.cells_at), distance(|b| b.x_vector), distance(|b| b.y_vector)])
    };
    let mut rest = blocks;
    while let Some(first) = rest.first() {
        let step = rest.get(1).and_then(|second| apart(first, second)).filter(|step| step.iter().all(|s| *s < 1 << 31));
        let alike = rest.windows(2).take_while(|pair| step.is_some() && apart(&pair[0], &pair[1]) == step).count();
        let count = (alike + 1).min(MOST);
        let [cells, x, y] = step.unwrap_or_default();
        let rows_of = |vector: usize, batch: usize| Matrices {
            array: vectors,
            start: vector * dim,
            batch: batch * dim,
            row: dim,
            column: 1,
        };
        let product = Product { count, rows: first.knots, columns: first.width, inner: dim, scale: 1.0, adds: false };
        let out = Matrices { array: costs, start: first.cells_at, batch: cells, row: first.width, column: 1 };
        multiply(commands, product, rows_of(first.x_vector, x), rows_of(first.y_vector, y).transposed(), out);
        rest = &rest[count..];
    }
}

impl GridSearch for Searches<'_> {
    fn cheapest_paths(&mut self, passes: &[GridPass]) -> Outcome<Vec<Option<Vec<u32>>>> {
        let mut paths = Vec::with_capacity(passes.len());
        for part in &self.parts {
            let passes = &passes[part.problems.clone()];
            let mut first = 0;
            while first < passes.len() {
                let end = first + that_fit(&passes[first..], self.most_values)?;
                paths.extend(part.search(self.card, first..end, &passes[first..end])?);
                first = end;
            }
        }
        Ok(paths)
    }
}

/// How many of the passes may be searched together: each grid point takes a value.
fn that_fit(passes: &[GridPass], most_values: usize) -> Outcome<usize> {
    let mut total = 0;
    let nodes = |pass: &GridPass| pass.knots.iter().map(|knot| knot.count as usize).sum::<usize>();
    let fits = |pass: &&GridPass| {
        total += nodes(pass);
        total <= most_values
    };
    match passes.iter().take_while(fits).count() {
        0 => Err(Failure::unsuited("a grid is larger than its memory")),
        count => Ok(count),
    }
}

/// The knots of each dispatch of the search, so that none takes long.
fn stretches(card: &Card, passes: &[GridPass]) -> Outcome<Vec<Range<usize>>> {
    /// Iterations that every knot takes: the search for the smallest cost, and a few.
    const PER_KNOT: usize = 24;
    let longest = passes.iter().map(|pass| pass.knots.len()).max().unwrap_or(0);
    let mut stretches = Vec::new();
    let (mut start, mut taken) = (0, 0);
    for i in 0..longest {
        let of_pass = |pass: &GridPass| {
            let Some(knot) = pass.knots.get(i) else { return 0 };
            let before = if i > 0 { pass.knots[i - 1].count as usize } else { 0 };
            let window = (knot.last.saturating_sub(knot.first).max(0) as usize).saturating_add(3).min(before);
            let turns = |count: usize| count.div_ceil(THREADS as usize);
            turns(knot.count as usize) * (5 + window) + turns(knot.count as usize + before)
        };
        let iterations = PER_KNOT + passes.iter().map(of_pass).max().unwrap_or(0);
        if card.is_software && iterations > MOST_ITERATIONS {
            return Err(Failure::unsuited("a grid is too wide for a software device"));
        }
        if taken + iterations > MOST_ITERATIONS && i > start {
            stretches.push(start..i);
            (start, taken) = (i, 0);
        }
        taken += iterations;
    }
    stretches.push(start..longest);
    Ok(stretches)
}

impl Part {
    /// The paths of the problems `range` of this part.
    fn search(&self, card: &Card, range: Range<usize>, passes: &[GridPass]) -> Outcome<Vec<Option<Vec<u32>>>> {
        let (mut problems, mut knots, mut places) = (Vec::new(), Vec::<GridKnot>::new(), Vec::new());
        let (mut nodes, mut row_values) = (0, 0);
        for (pass, of_problem) in passes.iter().zip(&self.places[range]) {
            let widest = pass.knots.iter().map(|knot| knot.count).max().unwrap_or(0);
            let [epsilon, sigma, delta] = match pass.edges {
                GridEdges::Slope => [0.0; 3],
                GridEdges::LogTempo { epsilon, sigma, delta } => [epsilon, sigma, delta],
            };
            problems.push(Problem {
                knots: pass.knots.len() as u32,
                first_knot: knots.len() as u32,
                rows_at: row_values,
                widest,
                is_table: u32::from(self.is_table),
                is_tempo: u32::from(pass.edges != GridEdges::Slope),
                forbids: u32::from(pass.forbids),
                epsilon,
                sigma,
                delta,
            });
            // Two rows, the costs of differences, and three values of state.
            row_values += 4 * widest + 3;
            for (knot, place) in pass.knots.iter().zip(of_problem) {
                places.push(Place { best_at: nodes, ..*place });
                nodes += knot.count;
            }
            knots.extend_from_slice(&pass.knots);
        }
        let (rows, best) = (card.array(row_values as usize), card.array(nodes as usize));
        let path = card.array(knots.len());
        let row_of_knot: Vec<[u32; 2]> = knots.iter().zip(&places).map(|(k, place)| [k.count, place.best_at]).collect();
        let arrays = [card.upload(&problems), card.upload(&knots), card.upload(&places)];
        let bound = [&arrays[0], &arrays[1], &arrays[2], &self.costs, &self.energy, &rows, &best];
        let mut commands = card.commands();
        for Range { start, end } in stretches(card, passes)? {
            let settings = [problems.len() as u32, start as u32, end as u32];
            commands.run(SEARCH, in_lines(problems.len()), &settings, &bound);
        }
        let longest = passes.iter().map(|pass| pass.knots.len()).max().unwrap_or(0);
        let widest = problems.iter().map(|problem| problem.widest as usize).max().unwrap_or(0);
        let row_of_knot = card.upload(&row_of_knot);
        // The row of the last knot is looked through before the way back begins.
        let at_once = MOST_ITERATIONS.saturating_sub(widest).max(1);
        for end in (1..=longest).rev().step_by(at_once) {
            let settings = [problems.len() as u32, end.saturating_sub(at_once) as u32, end as u32];
            let groups = [problems.len().div_ceil(64) as u32, 1, 1];
            commands.run(TRACE, groups, &settings, &[&arrays[0], &row_of_knot, &rows, &best, &path]);
        }
        let found = commands.read(&[&path])?.remove(0);
        let of_problem = |problem: &Problem| {
            let path = &found[problem.first_knot as usize..][..problem.knots as usize];
            (path.first() != Some(&NOWHERE)).then(|| path.to_vec())
        };
        Ok(problems.iter().map(of_problem).collect())
    }
}
