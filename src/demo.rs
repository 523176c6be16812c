//! x
/// x
pub fn files() -> [(&'static str, &'static [u8]); 0] { [] }
