//! `spirula opencl`: installs the OpenCL driver.

use crate::cli::args::OpenClArgs;
use crate::cli::{CommandFailure, CommandResult, files};
use std::path::{Path, PathBuf};

/// The name of the vendor file.
const VENDOR_FILE: &str = "spirula.icd";

/// The function of a driver that the loader of OpenCL calls first.
const ENTRY_FUNCTION: &str = "clIcdGetPlatformIDsKHR";

/// Runs `spirula opencl`: writes or removes the vendor file, or shows the environment in which the loader finds the driver.
pub fn run_opencl(args: &OpenClArgs) -> CommandResult {
    let file = args.vendors.join(VENDOR_FILE);
    if args.remove {
        std::fs::remove_file(&file).map_err(|error| describe_failure(&file, &error))?;
        return files::write_text(Path::new("-"), &format!("removed {}\n", file.display()));
    }
    let library = find_library(args.library.as_deref())?;
    if !args.install {
        // Debian's loader takes a library for its folder of vendor files, Khronos' a list of libraries.
        let path = library.display();
        let text = format!("OCL_ICD_VENDORS={path} OCL_ICD_FILENAMES={path}\n");
        return files::write_text(Path::new("-"), &text);
    }
    let write = || {
        std::fs::create_dir_all(&args.vendors)?;
        std::fs::write(&file, format!("{}\n", library.display()))
    };
    write().map_err(|error| describe_failure(&file, &error))?;
    let text = format!(
        "wrote {}: OpenCL programs find {}\n",
        file.display(),
        library.display()
    );
    files::write_text(Path::new("-"), &text)
}

fn describe_failure(file: &Path, error: &std::io::Error) -> CommandFailure {
    let text = format!("{}: {error}", file.display());
    let hint = "without --install, this command shows an environment variable that needs no file";
    CommandFailure::with_hint(text, hint)
}

/// The driver: the one that is given, or the one that was built or installed with this program.
fn find_library(given: Option<&Path>) -> Result<PathBuf, CommandFailure> {
    let name = format!(
        "{}spirula_opencl{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let candidates = match given {
        Some(path) => vec![path.to_owned()],
        None => list_candidates(&name),
    };
    let found = candidates.iter().find(|path| path.is_file());
    if let Some(found) = found {
        require_driver(found)?;
    }
    let found = found.and_then(|path| path.canonicalize().ok());
    found.ok_or_else(|| {
        let paths: Vec<String> = candidates.iter().map(|p| p.display().to_string()).collect();
        let text = format!("there is no OpenCL driver at {}", paths.join(" or "));
        let hint =
            "cargo build --release -p spirula-opencl-icd makes it; --library names another place";
        CommandFailure::with_hint(text, hint)
    })
}

/// Refuses a file that does not export the function by which the loader begins.
fn require_driver(path: &Path) -> CommandResult {
    let bytes = std::fs::read(path).map_err(|error| describe_failure(path, &error))?;
    let first = ENTRY_FUNCTION.as_bytes();
    if bytes.windows(first.len()).any(|part| part == first) {
        return Ok(());
    }
    let text = format!(
        "{} is no OpenCL driver: it has no {ENTRY_FUNCTION}",
        path.display()
    );
    let hint = "cargo build --release -p spirula-opencl-icd makes the driver";
    Err(CommandFailure::with_hint(text, hint))
}

fn list_candidates(name: &str) -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(|path| path.canonicalize());
    let Ok(program) = program else {
        return Vec::new();
    };
    let folder = program.parent().unwrap_or(Path::new("."));
    let beside = folder.parent().unwrap_or(folder);
    vec![folder.join(name), beside.join("lib").join(name)]
}
