//! Futhark's tests of its C libraries, run against the C interface of Spirula.
//!
//! Each program of `tests_lib/c` in a checkout of Futhark has a program in C that calls it. The interface is generated, compiled
//! together with that program by `cc`, linked with the library beside the command, and run. Manifests are checked against
//! `docs/manifest.schema.json` where Python has the package `jsonschema`.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The library that interfaces are linked with.
const LIBRARY: &str = "spirula_futhark_c";

/// Steps of a test: what is done, and the reason of its failure.
type StepResult = Result<(), String>;

/// The places that the tests need.
struct CTestPlaces {
    spirula: PathBuf,
    checkout: PathBuf,
    /// Folder of the files that are generated.
    folder: PathBuf,
}

/// Runs all tests of a checkout, and prints the result of each.
pub fn run_c_tests(checkout: &Path, spirula: &Path) -> Result<()> {
    let programs = checkout.join("tests_lib/c");
    let places = CTestPlaces {
        spirula: spirula.canonicalize()?,
        checkout: checkout.canonicalize()?,
        folder: std::env::temp_dir().join(format!("spirula-c-{}", std::process::id())),
    };
    fs::create_dir_all(&places.folder)?;
    let can_validate = run(Command::new("python3").args(["-c", "import jsonschema"])).is_ok();
    if !can_validate {
        eprintln!("NOT CHECKED: manifests, as there is no python3 with jsonschema");
    }
    let mut failures = 0;
    let names = list_tests(&programs)?;
    for name in &names {
        let outcome = places.run_test(name, can_validate);
        failures += usize::from(outcome.is_err());
        match outcome {
            Ok(()) => println!("{name}: passed"),
            Err(reason) => println!("{name}: {reason}"),
        }
    }
    fs::remove_dir_all(&places.folder)?;
    println!("{} of {} passed", names.len() - failures, names.len());
    ensure!(failures == 0, "{failures} tests of C libraries failed");
    Ok(())
}

/// The names of the programs that have a program in C.
fn list_tests(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("{}", folder.display()))?;
    let mut names = Vec::new();
    for entry in entries {
        let file = entry?.file_name();
        let name = file.to_string_lossy();
        let name = name
            .strip_prefix("test_")
            .and_then(|n| n.strip_suffix(".c"));
        names.extend(name.map(str::to_owned));
    }
    names.sort();
    ensure!(!names.is_empty(), "{} has no tests", folder.display());
    Ok(names)
}

impl CTestPlaces {
    fn run_test(&self, name: &str, can_validate: bool) -> StepResult {
        let programs = self.checkout.join("tests_lib/c");
        let stem = self.folder.join(name);
        let source = programs.join(format!("{name}.fut"));
        let mut compile = Command::new(&self.spirula);
        compile
            .args(["compile", "--library"])
            .arg(source)
            .arg("-o")
            .arg(&stem);
        run(&mut compile).map_err(|reason| format!("no interface: {reason}"))?;
        if can_validate {
            let schema = self.checkout.join("docs/manifest.schema.json");
            let mut validate = Command::new("python3");
            validate
                .arg(programs.join("validatemanifest.py"))
                .arg(schema);
            validate.arg(stem.with_extension("json"));
            run(&mut validate).map_err(|reason| format!("manifest: {reason}"))?;
        }
        let libraries = self.spirula.parent().unwrap_or(Path::new("."));
        let test = self.folder.join(format!("test_{name}"));
        let mut build = Command::new("cc");
        build
            .args(["-std=c99", "-Wall", "-Wextra", "-pedantic", "-I"])
            .arg(&self.folder);
        build
            .arg(programs.join(format!("test_{name}.c")))
            .arg(stem.with_extension("c"));
        build.arg("-L").arg(libraries).arg(format!("-l{LIBRARY}"));
        run(build.arg("-o").arg(&test)).map_err(|reason| format!("not built: {reason}"))?;
        let mut test = Command::new(&test);
        test.env("LD_LIBRARY_PATH", libraries);
        run(&mut test).map_err(|reason| format!("failed: {reason}"))
    }
}

/// Runs a command. The reason of a failure is its last output.
fn run(command: &mut Command) -> StepResult {
    let Output { status, stderr, .. } = command.output().map_err(|error| error.to_string())?;
    if status.success() {
        return Ok(());
    }
    let told = String::from_utf8_lossy(&stderr);
    let told: Vec<&str> = told.lines().filter(|line| !line.is_empty()).collect();
    Err(told
        .last()
        .map_or_else(|| status.to_string(), |line| (*line).to_owned()))
}
