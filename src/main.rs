//! The `agogic` program: everything is in the library.

fn main() -> std::process::ExitCode {
    agogic::command_line()
}
