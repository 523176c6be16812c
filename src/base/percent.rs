//! Shares as people read them, the same in every place.

/// A share of 1 in whole per cent, rounded down but for rounding errors: only what is certain is 100 %.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", (100.0 * share + 1e-4).floor())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_certain_is_not_called_so() {
        assert_eq!([0.9994, 1.0, 0.987, 0.0].map(percent), ["99 %", "100 %", "98 %", "0 %"]);
        assert_eq!(percent(f64::from(0.29f32)), "29 %", "a rounding error takes nothing away");
    }
}
