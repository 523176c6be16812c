//! The part of a list that one worker does.

/// The `index`th of `count` parts, counted from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    pub index: usize,
    pub count: usize,
}

impl Shard {
    /// As it is typed: `3/40`.
    pub(in crate::cli) fn parse(text: &str) -> Result<Self, String> {
        let parsed = text.split_once('/').and_then(|(index, count)| Some((index.parse().ok()?, count.parse().ok()?)));
        match parsed {
            Some((index, count)) if (1..=count).contains(&index) => Ok(Self { index, count }),
            _ => Err("expected I/N with I from 1 to N, such as 3/40".to_owned()),
        }
    }

    /// Whether it has the row of this number, counted from 0. Neighbours, which are often of a size, go to different shards.
    pub(super) fn has(self, row: usize) -> bool {
        row % self.count == self.index - 1
    }
}

impl std::fmt::Display for Shard {
    /// As it is part of file names, which sort by it.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let width = self.count.to_string().len();
        write!(f, "{:0width$}-of-{}", self.index, self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_belongs_to_exactly_one_shard() {
        let shards: Vec<Shard> = (1..=7).map(|index| Shard::parse(&format!("{index}/7")).unwrap()).collect();
        for row in 0..100 {
            assert_eq!(shards.iter().filter(|shard| shard.has(row)).count(), 1);
        }
        assert_eq!(Shard::parse("3/40").unwrap().to_string(), "03-of-40");
        for wrong in ["", "3", "0/4", "5/4", "1/0", "a/b", "1/2/3", "-1/2"] {
            assert!(Shard::parse(wrong).is_err(), "{wrong}");
        }
    }
}
