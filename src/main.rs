//! The `agogic` program: everything is in the library.

fn main() -> std::process::ExitCode {
    quieten_device_selection();
    agogic::command_line()
}

/// Outside a desktop session, over ssh or in a batch queue, the layer of Mesa's Vulkan drivers that chooses among graphics cards
/// looks for a Wayland display all the same and complains on standard error. There it is left out.
#[allow(unsafe_code, reason = "no other thread runs yet that could read the environment")]
fn quieten_device_selection() {
    const LEFT_OUT: &str = "NODEVICE_SELECT";
    let has_session = std::env::var_os("XDG_RUNTIME_DIR").is_some();
    if cfg!(target_os = "linux") && !has_session && std::env::var_os(LEFT_OUT).is_none() {
        unsafe { std::env::set_var(LEFT_OUT, "1") };
    }
}
