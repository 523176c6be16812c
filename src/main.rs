//! The `agogic` program.

fn main() {}
