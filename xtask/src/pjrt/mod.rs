//! PJRT interface: generates `crates/bindings/pjrt/src/generated` from the C header of PJRT.
//!
//! The generated file is committed, so building the project needs neither the header nor this task.

mod names;
mod parse;
mod tokens;
mod write;

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// The generated file, from the root of the repository.
const OUTPUT: &str = "crates/bindings/pjrt/src/generated/interface.rs";

/// Generates the structs and the table of functions from a header.
///
/// # Errors
/// When the header cannot be read, or has a declaration of an unknown form.
pub fn generate_interface(root: &Path, header: &Path) -> Result<()> {
    let text = fs::read_to_string(header).with_context(|| header.display().to_string())?;
    let interface = parse::parse_header(&text)?;
    let output = root.join(OUTPUT);
    fs::write(&output, write::write_interface(&interface)?)
        .with_context(|| output.display().to_string())?;
    let formatted = std::process::Command::new("rustfmt")
        .args(["--edition", "2024"])
        .arg(&output)
        .status()?;
    anyhow::ensure!(formatted.success(), "rustfmt failed");
    Ok(())
}
