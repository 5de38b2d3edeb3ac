//! Khronos' validator as a process.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// An installed `spirv-val`.
#[derive(Clone, Debug)]
pub struct SpirvValTool {
    program: PathBuf,
}

impl SpirvValTool {
    /// Finds the program that `SPIRV_VAL` names, else the one on the path. Returns `None` and reports it if there
    /// is none.
    ///
    /// # Panics
    /// If there is none and `CI` is set.
    pub fn find_program() -> Option<SpirvValTool> {
        let program = std::env::var_os("SPIRV_VAL").map_or("spirv-val".into(), PathBuf::from);
        if Command::new(&program)
            .arg("--version")
            .output()
            .is_ok_and(|o| o.status.success())
        {
            return Some(SpirvValTool { program });
        }
        assert!(
            std::env::var_os("CI").is_none(),
            "the SPIR-V validator is missing"
        );
        eprintln!("NOT TESTED: no spirv-val; set SPIRV_VAL");
        None
    }

    /// Validates a module for a target environment.
    ///
    /// # Errors
    /// The output of the validator, if it rejects the module.
    ///
    /// # Panics
    /// If the validator does not run.
    pub fn validate_module(&self, module: &[u8], environment: &str) -> Result<(), String> {
        let mut child = Command::new(&self.program)
            .args(["--target-env", environment, "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the validator starts");
        if let Some(mut input) = child.stdin.take() {
            // A validator that rejects the header closes its input early.
            _ = input.write_all(module);
        }
        let output = child.wait_with_output().expect("the validator ends");
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(String::from_utf8_lossy(&said).trim().to_owned())
    }
}
