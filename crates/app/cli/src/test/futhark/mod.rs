//! Futhark programs with the test blocks of their sources.
//!
//! All sources with test blocks in a folder are tests. They are compiled from their source. The printed form of
//! Futhark's compiler is read only where an option chooses it: from `prog.fut.imp` beside the source, or from that
//! compiler. A list of printed programs, `INDEX.tsv`, chooses it, too: it names printed programs (`dump`, may be
//! compressed with gzip) and their sources (`source`, named from the parent folder).
//!
//! A case that expects the result of a trusted run is compared with a second run. That run is on the CPU device, or for
//! large inputs on the same device with other tuning parameters, which must not change results. Cases that take long
//! are only run. A file of tuning parameters beside a source, `prog.fut.tuning`, is used. Cases whose files of values
//! are missing fail. A list may lack large files: such cases are left out, with a note. Cases whose tags exclude this
//! compiler are left out, too. A program that must be refused passes where the checker refuses it; a message unlike the
//! expected one is reported, and is no failure. A source with a malformed block is one test that fails.

mod cases;
mod compare;
mod inputs;
mod listing;
mod printed;
mod property;
mod random;
pub mod tuning;

use super::session;
use super::{SuiteResult, TestOutcome, TestSuite};
use crate::bench::workload::BenchWorkload;
use crate::cli::dump_kernels;
use crate::cli::futhark::check_program_file;
use crate::values::items::parts_of;
use cases::FutharkExpectation;
use compare::{compare_results, matches_pattern, verify_expected_error};
use listing::{FutharkTest, SourceTests, tests_in};
use printed::PrintedProgramSource;
use spirula::{CompileOptions, CompileOutput, ScheduleProfile};
use spirula_futhark::compile::CheckedSource;
use spirula_futhark::interface::describe_interface;
use spirula_program::{CallValue, CompiledProgram, ProgramError, ProgramSession, ProgramValue};
use spirula_runtime::{ComputeDevice, DeviceError, DeviceMachine};
use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The list of programs.
const INDEX: &str = "INDEX.tsv";

/// The required columns, which are the first of the list.
const COLUMNS: &str = "dump\tsource\t";

/// Tuning parameters of the second run on the CPU device.
const OTHERWISE: [(&str, u64); 3] = [
    ("thread_block_size", 128),
    ("grid_size", 24),
    ("tile_size", 8),
];

/// Longest run that is compared with a trusted run.
const PATIENCE: Duration = Duration::from_secs(10);

/// Bytes of arguments above which the trusted run is on the device itself.
const MUCH: usize = 16 << 20;

/// Extension of sources.
const SOURCE: &str = "fut";

/// The default entry point.
const MAIN: &str = "main";

struct FutharkSuite {
    tests: Vec<FutharkTest>,
    /// Number of specifications that are passed over.
    passed_over: usize,
    /// The program that was compiled last, or why it could not be compiled, with its origin.
    compiled: RefCell<Option<(PrintedProgramSource, ScheduleProfile, ProgramLoadResult)>>,
    /// A remark on the test that was run last.
    remark: RefCell<Option<String>>,
}

/// A compiled program, or why it could not be compiled.
type ProgramLoadResult = Result<Rc<CompiledProgram>, TestOutcome>;

/// Loads a folder whose list has the required columns.
pub fn load_futhark_suite(path: &Path) -> Option<SuiteResult> {
    let index = fs::read_to_string(path.join(INDEX)).ok()?;
    let tests = || {
        let rows = index.lines().skip(1);
        let tests: Result<Vec<_>, String> = rows.map(|row| parse_test_row(path, row)).collect();
        tests.map(build_futhark_suite)
    };
    let is_list = index.starts_with(COLUMNS);
    is_list.then(tests)
}

fn build_futhark_suite(sources: Vec<SourceTests>) -> Box<dyn TestSuite> {
    Box::new(FutharkSuite {
        passed_over: sources.iter().map(|source| source.passed_over).sum(),
        tests: sources
            .into_iter()
            .flat_map(|source| source.tests)
            .collect(),
        compiled: RefCell::new(None),
        remark: RefCell::new(None),
    })
}

/// Loads the sources with test blocks in a folder, or a single one.
pub fn load_sources(path: &Path) -> Option<SuiteResult> {
    let is_source = |p: &Path| p.is_file() && p.extension().is_some_and(|e| e == SOURCE);
    let mut sources: Vec<PathBuf> = if is_source(path) {
        vec![path.to_owned()]
    } else {
        let entries = fs::read_dir(path).ok()?;
        let all = entries.filter_map(|entry| Some(entry.ok()?.path()));
        all.filter(|path| is_source(path)).collect()
    };
    sources.sort();
    let tests: Result<Vec<_>, String> = sources.iter().map(|s| tests_of_source(s)).collect();
    match tests {
        Ok(tests) if tests.iter().all(|source| !source.has_blocks) => None,
        tests => Some(tests.map(build_futhark_suite)),
    }
}

fn tests_of_source(source: &Path) -> Result<SourceTests, String> {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let printed = PrintedProgramSource::Source(source.to_owned());
    tests_in(source, &name, &printed)
}

/// The tests of a row of the list.
fn parse_test_row(folder: &Path, row: &str) -> Result<SourceTests, String> {
    let mut columns = row.split('\t');
    let (Some(dump), Some(name)) = (columns.next(), columns.next()) else {
        return Err(format!("{INDEX} has a row without a source: {row:?}"));
    };
    let source = folder.join("..").join(name);
    tests_in(
        &source,
        name,
        &PrintedProgramSource::File(folder.join(dump)),
    )
}

impl TestSuite for FutharkSuite {
    fn test_names(&self) -> Vec<String> {
        let tested = self.tests.iter().filter(|t| t.is_tested());
        let whole = tested.filter(|t| !t.is_left_out());
        whole.map(|t| t.name.clone()).collect()
    }

    fn left_out(&self) -> usize {
        let tested = self.tests.iter().filter(|t| t.is_tested());
        tested.filter(|t| t.is_left_out()).count()
    }

    fn passed_over(&self) -> usize {
        self.passed_over
    }

    fn take_remark(&self) -> Option<String> {
        self.remark.take()
    }

    fn workload_names(&self) -> Vec<String> {
        let measured = self.tests.iter().filter(|t| t.is_measured());
        let whole = measured.filter(|t| !t.is_left_out());
        whole.map(|t| t.name.clone()).collect()
    }

    fn prepare_test(
        &self,
        name: &str,
        session: &session::TestEnvironment,
    ) -> Result<(), TestOutcome> {
        let test = self.tests.iter().find(|t| t.name == name);
        match test {
            Some(test) if test.needs_program() => self.load_program(test, session).map(|_| ()),
            _ => Ok(()),
        }
    }

    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome> {
        let test = self.tests.iter().find(|t| t.name == name);
        let test = test.ok_or_else(|| TestOutcome::failed("no such test"))?;
        match &test.case.expect {
            FutharkExpectation::Refusal(pattern) => self.test_refusal(test, pattern, session),
            FutharkExpectation::Warning(pattern) => test_warning(test, pattern),
            FutharkExpectation::Compilation => self.test_compilation(test, session),
            FutharkExpectation::Property => self.test_property(test, session),
            _ => self.test_call(test, session),
        }
    }

    fn load_workload(
        &self,
        name: &str,
        session: &session::TestEnvironment,
    ) -> Result<Option<BenchWorkload>, TestOutcome> {
        let test = self.tests.iter().find(|t| t.name == name);
        let test = test.ok_or_else(|| TestOutcome::failed("no such test"))?;
        if !test.is_measured() {
            return Ok(None);
        }
        test.find_files()?;
        let compiled = self.load_program(test, session)?;
        Ok(Some(BenchWorkload {
            program: match test.case.entry.as_str() {
                MAIN => test.source.clone(),
                entry => format!("{}:{entry}", test.source),
            },
            dataset: test.dataset.clone(),
            entry: test.case.entry.clone(),
            items: test.load_call_items(&compiled, session)?,
            sizes: tuning::read_tuning_parameters(&test.path)?,
            source: Some(test.path.clone()),
            compiled,
        }))
    }
}

/// Whether arguments are so large that the CPU device takes too long.
fn is_much(items: &[CallValue]) -> bool {
    let parts = items.iter().flat_map(parts_of);
    parts.map(|value| value.bytes.len()).sum::<usize>() > MUCH
}

impl FutharkSuite {
    /// Tests that the checker refuses a program. A message that does not match the pattern is a remark.
    fn test_refusal(
        &self,
        test: &FutharkTest,
        pattern: &str,
        session: &session::TestEnvironment,
    ) -> Result<(), TestOutcome> {
        let message = test.printed.read_refusal(&session.programs)?;
        if !matches_pattern(&message, pattern).map_err(TestOutcome::failed)? {
            let text = format!("it is refused with {message:?}, not with {pattern:?}");
            *self.remark.borrow_mut() = Some(text);
        }
        Ok(())
    }

    /// Tests that a program compiles. One without entry points has nothing to compile, and is checked.
    fn test_compilation(
        &self,
        test: &FutharkTest,
        session: &session::TestEnvironment,
    ) -> Result<(), TestOutcome> {
        let checked = check_test_program(test)?;
        if checked.program.entries.is_empty() {
            return Ok(());
        }
        self.load_program(test, session).map(|_| ())
    }

    fn test_property(
        &self,
        test: &FutharkTest,
        session: &session::TestEnvironment,
    ) -> Result<(), TestOutcome> {
        let checked = check_test_program(test)?;
        let interface = describe_interface(&checked.program);
        let program = self.load_program(test, session)?;
        let mut device = session.open_device()?;
        let mut calls = ProgramSession::new(&program, DeviceMachine::new(&mut device))?;
        property::test_property(&test.case.entry, &program, &interface, &mut calls)
    }

    /// Calls the entry point of a test, and compares its results.
    fn test_call(
        &self,
        test: &FutharkTest,
        session: &session::TestEnvironment,
    ) -> Result<(), TestOutcome> {
        test.find_files()?;
        let program = self.load_program(test, session)?;
        let items = test.load_call_items(&program, session)?;
        let entry = &test.case.entry;
        let call = |device: &mut ComputeDevice, sizes: &[(String, u64)]| {
            call_entry_point(device, &program, entry, &items, sizes)
        };
        let sizes = tuning::read_tuning_parameters(&test.path)?;
        let otherwise = OTHERWISE.map(|(name, size)| (name.to_owned(), size));
        let start = Instant::now();
        let found = call(&mut session.open_device()?, &sizes);
        let is_long = start.elapsed() > PATIENCE;
        let wanted = match &test.case.expect {
            FutharkExpectation::Error(pattern) => return verify_expected_error(found, pattern),
            FutharkExpectation::Values(source) => test.read_expected_values(source, &program)?,
            FutharkExpectation::Trusted if !is_long => {
                let is_same = session.device == session::CPU || is_much(&items);
                let second = if is_same {
                    call(&mut session.open_device()?, &otherwise)
                } else {
                    call(&mut session.with_device(session::CPU).open_device()?, &[])
                };
                second?
            }
            _ => return found.map(|_| ()).map_err(TestOutcome::from),
        };
        compare_results(&found?, &wanted)
    }

    /// Loads the program of a test. The last one is kept.
    fn load_program(
        &self,
        test: &FutharkTest,
        session: &session::TestEnvironment,
    ) -> ProgramLoadResult {
        if let Some((printed, profile, attempt)) = &*self.compiled.borrow()
            && *printed == test.printed
            && *profile == session.profile
        {
            return attempt.clone();
        }
        let attempt = compile_program(test, session).map(Rc::new);
        let printed = test.printed.clone();
        *self.compiled.borrow_mut() = Some((printed, session.profile, attempt.clone()));
        attempt
    }
}

fn compile_program(
    test: &FutharkTest,
    session: &session::TestEnvironment,
) -> Result<CompiledProgram, TestOutcome> {
    let programs = &session.programs;
    let (bytes, path) = test.printed.read_program(programs)?;
    let read = spirula::read_located_input(&bytes, &path)?;
    let compiled = read.compile_with(&CompileOptions {
        profile: session.profile,
        ..CompileOptions::default()
    })?;
    let CompileOutput::Program(program) = compiled.output else {
        return Err(TestOutcome::failed("it is a module, not a program"));
    };
    if let Some(folder) = &programs.dump_spirv {
        let name = test.source.replace('/', "__");
        dump_kernels::dump_kernels(&program, folder, &name).map_err(TestOutcome::failed)?;
    }
    Ok(*program)
}

/// Checks the program of a test, which must be valid.
fn check_test_program(test: &FutharkTest) -> Result<CheckedSource, TestOutcome> {
    check_program_file(&test.path)
        .map_err(|faults| TestOutcome::failed(&faults[0].diagnostic.message))
}

/// Tests that the checker gives a warning that matches a pattern. Where it gives none, the empty text must match.
fn test_warning(test: &FutharkTest, pattern: &str) -> Result<(), TestOutcome> {
    let mut warnings = test.printed.read_warnings()?;
    if warnings.is_empty() {
        warnings.push(String::new());
    }
    for warning in &warnings {
        if matches_pattern(warning, pattern).map_err(TestOutcome::failed)? {
            return Ok(());
        }
    }
    let warnings = warnings.join("\n");
    Err(TestOutcome::failed(format!(
        "no warning matches {pattern:?}: {warnings}"
    )))
}

/// Calls an entry point on a device. Opaque results are replaced by their parts.
fn call_entry_point(
    device: &mut ComputeDevice,
    program: &CompiledProgram,
    entry: &str,
    items: &[CallValue],
    sizes: &[(String, u64)],
) -> Result<Vec<ProgramValue>, ProgramError<DeviceError>> {
    let mut machine = DeviceMachine::new(device);
    for (class, size) in sizes {
        machine.set_parameter(class, *size);
    }
    let given = ProgramSession::new(program, machine)?.call_items(entry, items)?;
    let parts = given.into_iter().flat_map(|item| match item {
        CallValue::Plain(value) => vec![value],
        CallValue::Opaque(_, parts) => parts,
    });
    Ok(parts.collect())
}
