//! The numbers at brackets of first and second endings.

/// The numbers of a bracket: "1", "1, 2", "1-3", "1.".
pub(super) fn numbers(text: &str) -> Vec<u8> {
    let mut numbers: Vec<u8> = Vec::new();
    for piece in text.split([',', ' ', ';']).map(|piece| piece.trim_end_matches('.')) {
        let mut ends = piece.split('-').map(|number| number.trim_end_matches('.').parse::<u8>());
        match (ends.next(), ends.next()) {
            (Some(Ok(first)), Some(Ok(last))) => numbers.extend(first..=last),
            (Some(Ok(only)), None) => numbers.push(only),
            _ => {}
        }
    }
    numbers.retain(|&number| number > 0);
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brackets_are_numbered_in_many_ways() {
        assert_eq!(numbers("1"), [1]);
        assert_eq!(numbers("1, 2"), [1, 2]);
        assert_eq!(numbers("1.-3."), [1, 2, 3]);
        assert_eq!(numbers("0, 1, 5"), [1, 5]);
        assert_eq!(numbers("prima"), [] as [u8; 0]);
        assert_eq!(numbers("9-1"), [] as [u8; 0]);
    }
}
