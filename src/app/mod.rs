//! The desktop window.

/// Opens it.
pub fn open() -> crate::Result<()> {
    Ok(())
}
