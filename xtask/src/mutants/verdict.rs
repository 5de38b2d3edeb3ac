//! The verdicts of both verifiers on a module.

use anyhow::{Context, Result};
use spirula_spirv::{binary, text, verify};
use std::path::Path;
use std::process::Command;

/// The environment of a module in the manifest.
pub struct Environment {
    pub name: String,
    scalar: bool,
}

impl Environment {
    /// Parses a name. It ends with `+scalar` where blocks may have the scalar layout.
    pub fn parse_environment(text: &str) -> Self {
        let scalar = text.ends_with("+scalar");
        Environment {
            name: text.trim_end_matches("+scalar").to_owned(),
            scalar,
        }
    }
}

/// Verdict of a verifier: its first message, which is empty for a valid module.
pub struct Verdict {
    pub message: String,
}

impl Verdict {
    pub fn is_valid(&self) -> bool {
        self.message.is_empty()
    }

    /// The message without ids, numbers and names, to count similar messages.
    pub fn generalise_message(&self) -> String {
        let mut out = String::new();
        let mut quoted = false;
        let line = self.message.lines().next().unwrap_or("");
        let line = match line.split_once("): ") {
            Some((place, rest)) if place.starts_with("word ") => rest,
            _ => line,
        };
        for c in line.chars() {
            if c == '\'' {
                quoted = !quoted;
            }
            if !quoted && !c.is_ascii_digit() && out.len() < 150 {
                out.push(c);
            }
        }
        out
    }
}

/// The verdict of Khronos' validator.
pub fn run_khronos_validator(
    validator: &Path,
    file: &Path,
    environment: &Environment,
) -> Result<Verdict> {
    let mut command = Command::new(validator);
    command.arg("--target-env").arg(&environment.name);
    if environment.scalar {
        command.arg("--scalar-block-layout");
    }
    let output = command
        .arg(file)
        .output()
        .with_context(|| format!("{} cannot be run", validator.display()))?;
    let message = if output.status.success() {
        String::new()
    } else {
        let text = String::from_utf8_lossy(&output.stderr).into_owned()
            + &String::from_utf8_lossy(&output.stdout);
        let text = text.trim().trim_start_matches("error: ").to_owned();
        if text.is_empty() {
            "no message".to_owned()
        } else {
            text
        }
    };
    Ok(Verdict { message })
}

/// The verdict of Spirula's verifier.
pub fn run_own_verifier(words: Vec<u32>, environment: &Environment) -> Result<Verdict> {
    let options = verify::VerifyOptions {
        target: environment.name.parse()?,
        scalar_block_layout: environment.scalar,
    };
    let message = match verify::verify_words(words, &options) {
        Ok(_) => String::new(),
        Err(faults) => faults[0].to_string(),
    };
    Ok(Verdict { message })
}

/// The words of a module, or of an assembled text of a version of SPIR-V.
pub fn to_words(bytes: &[u8], version: Option<&str>) -> Result<Vec<u32>> {
    if binary::is_spirv(bytes) {
        return binary::words_from_bytes(bytes).map_err(|e| anyhow::anyhow!("{e}"));
    }
    let source = std::str::from_utf8(bytes)?;
    let mut words = text::parse_assembly(source, &text::ParseOptions::default())
        .map_err(|faults| anyhow::anyhow!("{}", faults[0]))?;
    let minor = version
        .and_then(|v| v.strip_prefix("1."))
        .and_then(|v| v.parse::<u8>().ok());
    if let Some(minor) = minor {
        words[1] = spirula_spirv::grammar::SpirvVersion::new(1, minor).word();
    }
    Ok(words)
}
