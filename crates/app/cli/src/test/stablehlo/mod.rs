//! Folders of StableHLO modules.
//!
//! A module with a manifest of its name is called with the arguments of the manifest, and its results are compared. The
//! manifest `NAME.json` is beside `NAME.mlir` and `NAME.FORM.mlir`, for `NAME.mlirbc` also in `../models`. In other
//! modules each public function without parameters is a test with checks of its own. Sections are separated by `//
//! -----`. A `main` with dimensions of unknown size is compiled once and run at several sizes (`sizes`). Any other
//! module must only be readable.

mod compare;
mod inputs;
mod manifest;
mod sections;
mod sizes;
mod tensor;

use super::session::{self, read_referenced_file};
use super::{SuiteResult, TestOutcome, TestSuite};
use crate::bench::workload::BenchWorkload;
use compare::{ElementTolerance, compare_tensors};
use manifest::TensorManifest;
use spirula::{CompileOptions, CompileOutput, KnownArguments, TensorSignature};
use spirula_program::{CallValue, CompiledProgram, ProgramSession, ProgramValue};
use spirula_runtime::DeviceMachine;
use spirula_stablehlo::translate::{ResultCheck, ResultTolerance};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use tensor::TestTensor;

/// Extension of modules in bytecode.
const BYTECODE: &str = "mlirbc";

/// Extensions of modules.
const EXTENSIONS: &[&str] = &["mlir", BYTECODE];

/// Folder of the manifests of bytecode, relative to the folder of the module.
const MODELS: &str = "../models";

struct StableHloSuite {
    tests: Vec<StableHloTest>,
}

struct StableHloTest {
    name: String,
    module: PathBuf,
    what: StableHloTestKind,
}

/// Kind of a test.
enum StableHloTestKind {
    /// Calls `main` and compares its results with this manifest.
    Manifest(PathBuf),
    /// Runs a function of a section that has checks of its own.
    Function(usize, String),
    /// Runs `main` at several sizes.
    Sizes,
    /// Reads all sections.
    Read,
}

/// Loads a folder of modules with all of its subfolders, or a single module.
pub fn load_stablehlo_suite(path: &Path) -> Option<SuiteResult> {
    if path.is_file() && is_module(path) {
        let beside = path.parent().unwrap_or(path);
        return Some(build_module_suite(&[path.to_owned()], beside));
    }
    let entries = fs::read_dir(path).ok()?;
    let mut files = entries.filter_map(|entry| Some(entry.ok()?.path()));
    files.any(|file| is_module(&file)).then(|| {
        let mut modules = Vec::new();
        gather_module_paths(path, &mut modules)?;
        build_module_suite(&modules, path)
    })
}

/// The tests of modules. Their names are relative to a folder.
fn build_module_suite(modules: &[PathBuf], folder: &Path) -> SuiteResult {
    let mut tests = Vec::new();
    for module in modules {
        let name = module.strip_prefix(folder).unwrap_or(module);
        let name = name.to_string_lossy().into_owned();
        let found = tests_of(module, &name)?;
        tests.extend(found.into_iter().map(|(name, what)| StableHloTest {
            name,
            module: module.clone(),
            what,
        }));
    }
    Ok(Box::new(StableHloSuite { tests }))
}

fn is_module(path: &Path) -> bool {
    let extension = path.extension().and_then(|e| e.to_str());
    extension.is_some_and(|e| EXTENSIONS.contains(&e))
}

/// Collects the modules in and below a folder, in the order of their paths. Links are not followed.
fn gather_module_paths(folder: &Path, modules: &mut Vec<PathBuf>) -> Result<(), String> {
    let unreadable = |e: std::io::Error| format!("cannot read {}: {e}", folder.display());
    let mut entries: Vec<_> = fs::read_dir(folder)
        .map_err(unreadable)?
        .collect::<Result<_, _>>()
        .map_err(unreadable)?;
    entries.sort_by_key(fs::DirEntry::path);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(unreadable)?.is_dir() {
            gather_module_paths(&path, modules)?;
        } else if is_module(&path) {
            modules.push(path);
        }
    }
    Ok(())
}

fn tests_of(module: &Path, name: &str) -> Result<Vec<(String, StableHloTestKind)>, String> {
    if let Some(manifest) = manifest_of(module) {
        return Ok(vec![(
            name.to_owned(),
            StableHloTestKind::Manifest(manifest),
        )]);
    }
    let bytes = fs::read(module).map_err(|e| format!("cannot read {}: {e}", module.display()))?;
    let functions = sections::list_test_functions(&bytes);
    Ok(match functions.as_slice() {
        [] if sizes::is_open(&bytes) => vec![(name.to_owned(), StableHloTestKind::Sizes)],
        [] => vec![(name.to_owned(), StableHloTestKind::Read)],
        [(section, only)] => {
            let what = StableHloTestKind::Function(*section, only.clone());
            vec![(name.to_owned(), what)]
        }
        several => several
            .iter()
            .map(|(section, function)| {
                let what = StableHloTestKind::Function(*section, function.clone());
                (format!("{name}:{section}:{function}"), what)
            })
            .collect(),
    })
}

fn manifest_of(module: &Path) -> Option<PathBuf> {
    let stem = module.file_stem()?.to_str()?;
    let program = stem.split('.').next()?;
    let beside = module.parent()?;
    let is_bytecode = module.extension().is_some_and(|e| e == BYTECODE);
    let models = is_bytecode.then(|| beside.join(MODELS));
    let mut places = [
        Some(beside.join(format!("{stem}.json"))),
        Some(beside.join(format!("{program}.json"))),
        models.map(|models| models.join(format!("{program}.json"))),
    ]
    .into_iter()
    .flatten();
    places.find(|path| path.is_file())
}

impl TestSuite for StableHloSuite {
    fn test_names(&self) -> Vec<String> {
        self.tests.iter().map(|t| t.name.clone()).collect()
    }

    fn only_read(&self) -> usize {
        let tests = self.tests.iter();
        tests
            .filter(|t| matches!(t.what, StableHloTestKind::Read))
            .count()
    }

    fn is_only_read(&self, name: &str) -> bool {
        let test = self.tests.iter().find(|t| t.name == name);
        test.is_some_and(|t| matches!(t.what, StableHloTestKind::Read))
    }

    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome> {
        let test = self.tests.iter().find(|t| t.name == name);
        let test = test.ok_or_else(|| TestOutcome::failed("no such test"))?;
        let bytes = read_referenced_file(&test.module)?;
        match &test.what {
            StableHloTestKind::Manifest(path) => {
                let manifest = TensorManifest::read_manifest(path)?;
                let (program, values) = called_with(&bytes, &manifest, session)?;
                manifest.verify_main_results(call_sole_entry(&program, &values, session)?)
            }
            StableHloTestKind::Function(section, function) => {
                let section = sections::select_section(&bytes, *section);
                let (program, tensors) =
                    compile_function(section, Some(function), KnownArguments::default(), session)?;
                verify_result_checks(&tensors.checks, &call_sole_entry(&program, &[], session)?)
            }
            StableHloTestKind::Sizes => sizes::run_all_sizes(&bytes, session),
            StableHloTestKind::Read => {
                let read = |section| spirula::read_input(section).map(|_| ());
                Ok(sections::list_sections(&bytes)
                    .into_iter()
                    .try_for_each(read)?)
            }
        }
    }

    fn load_workload(
        &self,
        name: &str,
        session: &session::TestEnvironment,
    ) -> Result<Option<BenchWorkload>, TestOutcome> {
        let test = self.tests.iter().find(|t| t.name == name);
        let test = test.ok_or_else(|| TestOutcome::failed("no such test"))?;
        let StableHloTestKind::Manifest(path) = &test.what else {
            return Ok(None);
        };
        let manifest = TensorManifest::read_manifest(path)?;
        let (program, values) =
            called_with(&read_referenced_file(&test.module)?, &manifest, session)?;
        let entry = program.entries.first();
        let entry = entry.ok_or_else(|| TestOutcome::failed("there is no entry point"))?;
        Ok(Some(BenchWorkload {
            source: None,
            program: test.name.clone(),
            dataset: "#0".to_owned(),
            entry: entry.name.clone(),
            compiled: Rc::new(program),
            items: values.into_iter().map(CallValue::Plain).collect(),
            sizes: Vec::new(),
        }))
    }
}

/// The program of a manifest with its arguments.
fn called_with(
    bytes: &[u8],
    manifest: &TensorManifest,
    session: &session::TestEnvironment,
) -> Result<(CompiledProgram, Vec<ProgramValue>), TestOutcome> {
    let arguments = manifest.load_arguments()?;
    let values: Vec<ProgramValue> = arguments.into_iter().map(TestTensor::into_value).collect();
    let known = KnownArguments {
        shapes: values.iter().map(|value| value.shape.clone()).collect(),
        ..KnownArguments::default()
    };
    let (program, _) = compile_function(bytes, None, known, session)?;
    Ok((program, values))
}

/// Compiles a function of a module, by default `main`. `known` has facts about its arguments.
fn compile_function(
    bytes: &[u8],
    function: Option<&str>,
    known: KnownArguments,
    session: &session::TestEnvironment,
) -> Result<(CompiledProgram, TensorSignature), TestOutcome> {
    let options = CompileOptions {
        function: function.map(str::to_owned),
        known,
        profile: session.profile,
        ..CompileOptions::default()
    };
    let compiled = spirula::compile_input(bytes, &options)?;
    match compiled.output {
        CompileOutput::Program(program) => Ok((*program, compiled.tensors.unwrap_or_default())),
        CompileOutput::Module(_) => Err(TestOutcome::failed("it is a module, not a program")),
    }
}

/// Calls the only entry point.
fn call_sole_entry(
    program: &CompiledProgram,
    values: &[ProgramValue],
    session: &session::TestEnvironment,
) -> Result<Vec<ProgramValue>, TestOutcome> {
    let entry = program.entries.first();
    let entry = entry.ok_or_else(|| TestOutcome::failed("there is no entry point"))?;
    let mut device = session.open_device()?;
    let machine = DeviceMachine::new(&mut device);
    let called =
        ProgramSession::new(program, machine).and_then(|mut s| s.call_entry(&entry.name, values));
    let given = called?;
    let without = || TestOutcome::failed("a result has no external form");
    given.into_iter().map(|v| v.ok_or_else(without)).collect()
}

/// Checks the results that a function itself compares.
fn verify_result_checks(checks: &[ResultCheck], given: &[ProgramValue]) -> Result<(), TestOutcome> {
    for (number, check) in checks.iter().enumerate() {
        let (Some(found), Some(expected)) = (given.get(check.found), given.get(check.expected))
        else {
            return Err(TestOutcome::failed(
                "there are fewer results than checks name",
            ));
        };
        let tensor = |value: &ProgramValue| TestTensor::of_value(check.element, value.clone());
        let rule = match check.likeness {
            ResultTolerance::Equal => ElementTolerance::Within(0.0),
            ResultTolerance::Within(most) => ElementTolerance::Within(most),
            ResultTolerance::Ulps(most) => ElementTolerance::Steps(most),
        };
        let title = format!("check {number}");
        compare_tensors(&title, &tensor(found)?, &tensor(expected)?, rule, 0.0)?;
    }
    Ok(())
}
