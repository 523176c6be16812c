//! The columns of a Humdrum file, which split, join, swap, begin and end.

use super::super::quarters::Quarters;

/// What stands in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Kern,
    Dynamics,
    Text,
    Other,
}

/// A column.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spine {
    pub kind: Kind,
    /// The **kern column that it is, or that it belongs to, from the left.
    pub staff: usize,
    /// Where its current note ends, from the beginning of the bar.
    pub until: Quarters,
}

impl Spine {
    pub fn new(kind: Kind, staff: usize) -> Self {
        Self { kind, staff, until: Quarters::ZERO }
    }
}

/// The columns after a row that changes them.
pub(super) fn manipulated(spines: &[Spine], fields: &[&str]) -> Vec<Spine> {
    let mut next: Vec<Spine> = Vec::with_capacity(spines.len() + 1);
    let mut swapped: Option<usize> = None;
    let mut joining = false;
    for (spine, field) in spines.iter().zip(fields) {
        let joins = *field == "*v";
        match *field {
            "*-" => {}
            "*^" => next.extend([*spine, *spine]),
            "*+" => next.extend([*spine, Spine::new(Kind::Other, spine.staff)]),
            "*v" if joining && next.last().is_some_and(|last| last.staff == spine.staff && last.kind == spine.kind) => {
                if let Some(last) = next.last_mut() {
                    last.until = last.until.max(spine.until);
                }
            }
            "*x" => {
                next.push(*spine);
                let here = next.len() - 1;
                match swapped.take() {
                    Some(first) => next.swap(first, here),
                    None => swapped = Some(here),
                }
            }
            _ => next.push(*spine),
        }
        joining = joins;
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_split_join_swap_and_end() {
        let spines = [Spine::new(Kind::Kern, 0), Spine::new(Kind::Kern, 1)];
        let staves = |spines: &[Spine]| spines.iter().map(|spine| spine.staff).collect::<Vec<_>>();
        let split = manipulated(&spines, &["*", "*^"]);
        assert_eq!(staves(&split), [0, 1, 1]);
        assert_eq!(staves(&manipulated(&split, &["*", "*v", "*v"])), [0, 1]);
        assert_eq!(staves(&manipulated(&spines, &["*v", "*v"])), [0, 1], "voices of different staves do not join");
        assert_eq!(staves(&manipulated(&spines, &["*x", "*x"])), [1, 0]);
        assert_eq!(staves(&manipulated(&spines, &["*-", "*"])), [1]);
    }
}
