//! Reproducers: a launch whose results differ, as files that run it alone.

use crate::cli::args::RunArgs;
use crate::cli::{CommandFailure, files};
use spirula_runtime::{CaseInput, IndexSpace, LaunchMismatch};
use spirula_text::hex::write_hex;
use std::fmt::Write;
use std::fs;
use std::path::Path;

/// Writes the module, the inputs and the command into the requested folder, and returns the failure of the run.
pub fn write_reproducer(parted: &LaunchMismatch, args: &RunArgs) -> CommandFailure {
    let folder = &args.reproducer;
    let told = parted.to_string();
    match write_reproducer_files(parted, args, folder) {
        Ok(()) => {
            let command = folder.join(COMMAND);
            CommandFailure::with_hint(
                told,
                format!("run that launch alone: sh {}", command.display()),
            )
        }
        Err(CommandFailure::Message { text, .. }) => CommandFailure::with_hint(told, text),
        Err(other) => other,
    }
}

/// Name of the file with the command.
const COMMAND: &str = "run.sh";

fn write_reproducer_files(
    parted: &LaunchMismatch,
    args: &RunArgs,
    folder: &Path,
) -> Result<(), CommandFailure> {
    let failed = |e: std::io::Error| {
        CommandFailure::from_message(format!(
            "no reproducer is written to {}: {e}",
            folder.display()
        ))
    };
    fs::create_dir_all(folder).map_err(failed)?;
    let words = parted.case.module.iter();
    let bytes: Vec<u8> = words.flat_map(|w| w.to_le_bytes()).collect();
    files::write_binary(&folder.join("kernel.spv"), &bytes)?;
    let mut command = String::from("# ");
    // Writing to a string does not fail.
    let _ = writeln!(command, "{parted}");
    command.push_str("cd \"$(dirname \"$0\")\" || exit 1\nspirula run kernel.spv");
    let _ = write!(
        command,
        " --entry '{}'",
        parted.kernel.replace('\'', "'\\''")
    );
    let _ = write!(command, " --devices {} --compare", args.devices.join(","));
    let _ = write!(command, " --atol {:e}", args.atol);
    if let Some(rtol) = args.rtol {
        let _ = write!(command, " --rtol {rtol:e}");
    }
    command.push_str(&format_size_arguments(&parted.case.size));
    for (number, input) in parted.case.inputs.iter().enumerate() {
        let text = match input {
            CaseInput::Local(bytes) => format!("local={bytes}"),
            CaseInput::Bytes(bytes) => format!("hex={}", write_hex(bytes)),
            CaseInput::Buffer(place, bytes) => {
                let name = format!("{number}.bin");
                files::write_binary(&folder.join(&name), bytes)?;
                let at = place.map(|(set, binding, index)| format!("{set},{binding}[{index}]:"));
                format!("{}{}xu8=@{name}", at.unwrap_or_default(), bytes.len())
            }
        };
        let _ = write!(command, " \\\n  --arg '{text}'");
    }
    if !parted.case.push.is_empty() {
        let _ = write!(
            command,
            " \\\n  --push hex={}",
            write_hex(&parted.case.push)
        );
    }
    command.push_str(" \"$@\"\n");
    files::write_text(&folder.join(COMMAND), &command)
}

/// The launch size as arguments.
fn format_size_arguments(size: &IndexSpace) -> String {
    match size {
        IndexSpace::Groups(groups) => format!(" --groups {}", join_sizes(groups, 3)),
        IndexSpace::Items {
            dimensions,
            global,
            local,
            offset,
        } => {
            let of = *dimensions as usize;
            let mut text = format!(" --global {}", join_sizes(global, of));
            if let Some(local) = local {
                text += &format!(" --local {}", join_sizes(local, of));
            }
            if *offset != [0; 3] {
                text += &format!(" --offset {}", join_sizes(offset, of));
            }
            text
        }
    }
}

fn join_sizes<T: ToString>(sizes: &[T], of: usize) -> String {
    let sizes: Vec<_> = sizes.iter().take(of).map(ToString::to_string).collect();
    sizes.join(",")
}
