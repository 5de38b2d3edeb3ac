//! Futhark programs in printed form, with the test blocks of their sources.
//!
//! `INDEX.tsv` lists the printed programs (`dump`, may be compressed with gzip) and their sources (`source`, named from
//! the parent folder). Without a list, all sources with test blocks are tests. Their printed form is beside them,
//! `prog.fut.imp`, or Futhark's compiler prints it.
//!
//! A case that expects the result of a trusted run is compared with a second run. That run is on the CPU device, or for
//! large inputs on the same device with other tuning parameters, which must not change results. Cases that take long
//! are only run. A file of tuning parameters beside a source, `prog.fut.tuning`, is used. Cases whose files of values
//! are missing fail. A list may lack large files: such cases are left out, with a note. Cases whose tags exclude this
//! compiler are left out, too. Programs that must be refused are passed to Futhark's compiler.

mod cases;
mod printed;
mod random;
mod script;
mod tuning;

use super::session::{self, expect_array, read_referenced_file};
use super::{SuiteResult, TestOutcome, TestSuite};
use crate::bench::workload::BenchWorkload;
use crate::cli::dump_kernels;
use crate::cli::files::decompress_gzip;
use crate::values::compare::ArrayTolerance;
use crate::values::program::to_array;
use cases::{FutharkCase, FutharkExpectation, FutharkInput, TestDataSource, parse_futhark_cases};
use printed::PrintedProgramSource;
use regex_lite::RegexBuilder;
use spirula::{CompileOptions, CompileOutput};
use spirula_program::program::ProgramEntry;
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

/// Tolerance of floats. It is multiplied by the largest expected number where that is above 1.
const TOLERANCE: f64 = 0.002;

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

/// Prefix of the script functions that read files.
const LOAD: &str = "$load";

/// Extension of sources.
const SOURCE: &str = "fut";

/// The tag of cases that are not tested.
const NOT_TESTED: &str = "notest";

/// The tag of cases that are not measured.
const NOT_MEASURED: &str = "nobench";

/// The tag of cases that are neither.
const DISABLED: &str = "disable";

/// The default entry point.
const MAIN: &str = "main";

/// The name by which tags include and exclude this compiler (`only_vulkan`, `no_vulkan`).
const BACKEND: &str = "vulkan";

struct FutharkSuite {
    tests: Vec<FutharkTest>,
    /// The program that was compiled last, with its origin.
    compiled: RefCell<Option<(PrintedProgramSource, Rc<CompiledProgram>)>>,
}

struct FutharkTest {
    name: String,
    /// Whether the test is from a list, whose files of values may be missing.
    is_listed: bool,
    /// The source, as the list names it.
    source: String,
    /// Name of the data set in measurements.
    dataset: String,
    printed: PrintedProgramSource,
    /// The source's file.
    path: PathBuf,
    /// The folder of the source.
    beside: PathBuf,
    case: FutharkCase,
}

/// Loads a folder whose list has the required columns.
pub fn load_futhark_suite(path: &Path) -> Option<SuiteResult> {
    let index = fs::read_to_string(path.join(INDEX)).ok()?;
    let tests = || {
        let rows = index.lines().skip(1);
        let tests: Result<Vec<_>, String> = rows.map(|row| parse_test_row(path, row)).collect();
        tests.map(|tests| tests.into_iter().flatten().collect())
    };
    let is_list = index.starts_with(COLUMNS);
    is_list.then(|| tests().map(build_futhark_suite))
}

fn build_futhark_suite(tests: Vec<FutharkTest>) -> Box<dyn TestSuite> {
    Box::new(FutharkSuite {
        tests,
        compiled: RefCell::new(None),
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
        Ok(tests) if tests.iter().all(Vec::is_empty) => None,
        tests => {
            Some(tests.map(|tests| build_futhark_suite(tests.into_iter().flatten().collect())))
        }
    }
}

fn tests_of_source(source: &Path) -> Result<Vec<FutharkTest>, String> {
    let name = source.file_name().unwrap_or_default().to_string_lossy();
    let printed = PrintedProgramSource::Source(source.to_owned());
    tests_in(source, &name, &printed)
}

/// The tests of a row of the list.
fn parse_test_row(folder: &Path, row: &str) -> Result<Vec<FutharkTest>, String> {
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

/// The tests of a source. Cases of an entry point are counted from 0.
fn tests_in(
    source: &Path,
    name: &str,
    printed: &PrintedProgramSource,
) -> Result<Vec<FutharkTest>, String> {
    let text = fs::read(source).map_err(|e| format!("cannot read {}: {e}", source.display()))?;
    let beside = source.parent().unwrap_or(source);
    let is_listed = matches!(printed, PrintedProgramSource::File(_));
    let mut tests: Vec<FutharkTest> = Vec::new();
    let all = parse_futhark_cases(&String::from_utf8_lossy(&text));
    for case in all.map_err(|fault| format!("{}: {fault}", source.display()))? {
        if !is_meant(&case.tags) {
            continue;
        }
        let is_tested = !has_tag(&case, NOT_TESTED);
        let same = tests
            .iter()
            .filter(|t| t.case.entry == case.entry && has_tag(&t.case, NOT_TESTED) != is_tested);
        let number = same.count();
        let kind = if is_tested { "" } else { "notest:" };
        tests.push(FutharkTest {
            name: format!("{name}:{}:{kind}{number}", case.entry),
            is_listed,
            source: name.to_owned(),
            dataset: format_dataset_name(&case),
            printed: printed.clone(),
            path: source.to_owned(),
            beside: beside.to_owned(),
            case,
        });
    }
    Ok(tests)
}

fn has_tag(case: &FutharkCase, tag: &str) -> bool {
    case.tags.iter().any(|t| t == tag)
}

/// The name of a data set, as in `futhark bench`: its own name, its file, or its number in the block with the beginning
/// of its values.
fn format_dataset_name(case: &FutharkCase) -> String {
    const MOST: usize = 50;
    if let Some(name) = &case.name {
        return name.clone();
    }
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = match &case.input {
        FutharkInput::Values(TestDataSource::File(file)) => {
            return file.strip_suffix(".gz").unwrap_or(file).to_owned();
        }
        FutharkInput::Script(TestDataSource::File(file)) => return file.clone(),
        FutharkInput::Script(TestDataSource::Text(text)) | FutharkInput::Random(text) => {
            return one_line(text);
        }
        FutharkInput::Values(TestDataSource::Text(text)) => {
            match ProgramValue::read_all(text.as_bytes()) {
                Ok(values) => {
                    let values: Vec<String> = values.iter().map(ProgramValue::to_string).collect();
                    values.join(" ")
                }
                Err(_) => one_line(text),
            }
        }
    };
    let number = case.number;
    let dots = if text.chars().count() > MOST {
        "..."
    } else {
        ""
    };
    let text: String = text.chars().take(MOST).collect();
    format!("#{number} (\"{text}{dots}\")")
}

/// Whether tags allow a case for this compiler.
fn is_meant(tags: &[String]) -> bool {
    tags.iter().all(|tag| match tag.split_once('_') {
        Some(("only", backend)) => backend == BACKEND,
        Some(("no", backend)) => backend != BACKEND,
        _ => tag != DISABLED,
    })
}

/// The first missing file of a case.
fn missing_file(case: &FutharkCase, beside: &Path) -> Option<String> {
    let mut needed: Vec<&str> = Vec::new();
    let sources = [
        match &case.input {
            FutharkInput::Values(source) | FutharkInput::Script(source) => Some(source),
            FutharkInput::Random(_) => None,
        },
        match &case.expect {
            FutharkExpectation::Values(source) => Some(source),
            _ => None,
        },
    ];
    needed.extend(
        sources
            .into_iter()
            .flatten()
            .filter_map(|source| match source {
                TestDataSource::File(name) => Some(name.as_str()),
                TestDataSource::Text(_) => None,
            }),
    );
    if let FutharkInput::Script(TestDataSource::Text(script)) = &case.input {
        let loads = script.split(LOAD).skip(1);
        needed.extend(loads.filter_map(|s| s.split('"').nth(1)));
    }
    let missing = needed.into_iter().find(|name| !beside.join(name).is_file());
    missing.map(str::to_owned)
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
            Some(test) if !matches!(test.case.expect, FutharkExpectation::Refusal(_)) => {
                self.load_program(test, session).map(|_| ())
            }
            _ => Ok(()),
        }
    }

    fn run_test(&self, name: &str, session: &session::TestEnvironment) -> Result<(), TestOutcome> {
        let test = self.tests.iter().find(|t| t.name == name);
        let test = test.ok_or_else(|| TestOutcome::failed("no such test"))?;
        if let FutharkExpectation::Refusal(pattern) = &test.case.expect {
            let told = test
                .printed
                .read_compiler_refusal(session.programs.futhark.as_deref())?;
            return matches_error(&told, pattern);
        }
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
            FutharkExpectation::Trusted if is_long => {
                return found.map(|_| ()).map_err(TestOutcome::from);
            }
            FutharkExpectation::Anything | FutharkExpectation::Refusal(_) => {
                return found.map(|_| ()).map_err(TestOutcome::from);
            }
            FutharkExpectation::Values(source) => test.read_data_values(source)?,
            FutharkExpectation::Trusted => {
                let is_same = session.device == session::CPU || is_much(&items);
                let second = if is_same {
                    call(&mut session.open_device()?, &otherwise)
                } else {
                    call(&mut session.with_device(session::CPU).open_device()?, &[])
                };
                second?
            }
        };
        compare_results(&found?, &wanted)
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
            compiled,
        }))
    }
}

/// Whether arguments are so large that the CPU device takes too long.
fn is_much(items: &[CallValue]) -> bool {
    let sizes = items.iter().flat_map(|item| match item {
        CallValue::Plain(value) => std::slice::from_ref(value),
        CallValue::Opaque(_, parts) => parts.as_slice(),
    });
    sizes.map(|value| value.bytes.len()).sum::<usize>() > MUCH
}

impl FutharkSuite {
    /// Loads the program of a test. The last one is kept.
    fn load_program(
        &self,
        test: &FutharkTest,
        session: &session::TestEnvironment,
    ) -> Result<Rc<CompiledProgram>, TestOutcome> {
        if let Some((printed, program)) = &*self.compiled.borrow()
            && *printed == test.printed
        {
            return Ok(Rc::clone(program));
        }
        let programs = &session.programs;
        let bytes = test
            .printed
            .read_printed_form(programs.futhark.as_deref())?;
        let compiled = spirula::compile_input(&bytes, &CompileOptions::default())?;
        let CompileOutput::Program(program) = compiled.output else {
            return Err(TestOutcome::failed("it is a module, not a program"));
        };
        let program = Rc::new(*program);
        if let Some(folder) = &programs.dump_spirv {
            let name = test.source.replace('/', "__");
            dump_kernels::dump_kernels(&program, folder, &name).map_err(TestOutcome::failed)?;
        }
        *self.compiled.borrow_mut() = Some((test.printed.clone(), Rc::clone(&program)));
        Ok(program)
    }
}

impl FutharkTest {
    fn is_tested(&self) -> bool {
        !has_tag(&self.case, NOT_TESTED)
    }

    /// Whether the test is listed and lacks files. A list may lack large files.
    fn is_left_out(&self) -> bool {
        self.is_listed && missing_file(&self.case, &self.beside).is_some()
    }

    fn is_measured(&self) -> bool {
        let fails = matches!(
            self.case.expect,
            FutharkExpectation::Error(_) | FutharkExpectation::Refusal(_)
        );
        !fails && !has_tag(&self.case, NOT_MEASURED)
    }

    /// Fails where a file of the case is missing.
    fn find_files(&self) -> Result<(), TestOutcome> {
        match missing_file(&self.case, &self.beside) {
            None => Ok(()),
            Some(name) => {
                let path = self.beside.join(name);
                Err(TestOutcome::failed(format!(
                    "there is no file {}",
                    path.display()
                )))
            }
        }
    }

    fn load_call_items(
        &self,
        program: &CompiledProgram,
        session: &session::TestEnvironment,
    ) -> Result<Vec<CallValue>, TestOutcome> {
        let values = match &self.case.input {
            FutharkInput::Values(source) => self.read_data_values(source)?,
            FutharkInput::Random(types) => {
                random::make_random_values(types).map_err(TestOutcome::failed)?
            }
            FutharkInput::Script(source) => {
                return self.evaluate_script_arguments(source, program, session);
            }
        };
        Ok(values.into_iter().map(CallValue::Plain).collect())
    }

    /// Evaluates a script, with the program on the tested device.
    fn evaluate_script_arguments(
        &self,
        source: &TestDataSource,
        program: &CompiledProgram,
        session: &session::TestEnvironment,
    ) -> Result<Vec<CallValue>, TestOutcome> {
        let text = self.read_source_bytes(source)?;
        let mut device = session.open_device()?;
        let mut host = ScriptHost {
            test: self,
            program,
            session: ProgramSession::new(program, DeviceMachine::new(&mut device))?,
        };
        let name = &self.case.entry;
        let entry = script::ScriptEnvironment::find_entry(&host, name);
        let entry = entry.ok_or_else(|| TestOutcome::failed(format!("no entry point {name}")))?;
        script::evaluate_arguments(&String::from_utf8_lossy(&text), &entry, &mut host)
    }

    fn read_data_values(&self, source: &TestDataSource) -> Result<Vec<ProgramValue>, TestOutcome> {
        ProgramValue::read_all(&self.read_source_bytes(source)?).map_err(TestOutcome::failed)
    }

    fn read_source_bytes(&self, source: &TestDataSource) -> Result<Vec<u8>, TestOutcome> {
        match source {
            TestDataSource::Text(text) => Ok(text.clone().into_bytes()),
            TestDataSource::File(name) => self.read_neighbour_file(name),
        }
    }

    fn read_neighbour_file(&self, name: &str) -> Result<Vec<u8>, TestOutcome> {
        decompress_gzip(read_referenced_file(&self.beside.join(name))?).map_err(TestOutcome::failed)
    }
}

/// Script environment of a test: its program on a device, and the files beside its source.
struct ScriptHost<'a> {
    test: &'a FutharkTest,
    program: &'a CompiledProgram,
    session: ProgramSession<'a, DeviceMachine<'a>>,
}

impl script::ScriptEnvironment for ScriptHost<'_> {
    fn find_entry(&self, name: &str) -> Option<ProgramEntry> {
        let mut entries = self.program.entries.iter();
        entries.find(|entry| entry.name == name).cloned()
    }

    fn call_entry(
        &mut self,
        name: &str,
        items: &[CallValue],
    ) -> Result<Vec<CallValue>, TestOutcome> {
        Ok(self.session.call_items(name, items)?)
    }

    fn read_file(&self, name: &str) -> Result<Vec<u8>, TestOutcome> {
        self.test.read_neighbour_file(name)
    }
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

/// Compares an error, in the form of standard error, with the expected pattern.
fn verify_expected_error(
    found: Result<Vec<ProgramValue>, ProgramError<DeviceError>>,
    pattern: &str,
) -> Result<(), TestOutcome> {
    let told = match found {
        Ok(_) => return Err(TestOutcome::failed("it gave results, an error is expected")),
        Err(error @ (ProgramError::Failed(..) | ProgramError::Invalid(_))) => {
            format!("Error: {error}")
        }
        Err(error) => return Err(error.into()),
    };
    matches_error(&told, pattern)
}

/// Compares a message with the expected pattern.
fn matches_error(told: &str, pattern: &str) -> Result<(), TestOutcome> {
    let regex = RegexBuilder::new(pattern)
        .dot_matches_new_line(true)
        .build();
    let regex = regex.map_err(TestOutcome::failed)?;
    if regex.is_match(told) {
        Ok(())
    } else {
        Err(TestOutcome::failed(format!(
            "it failed with {told:?}, expected {pattern:?}"
        )))
    }
}

/// Compares results. Types and shapes must be equal, and numbers within the tolerance.
fn compare_results(found: &[ProgramValue], wanted: &[ProgramValue]) -> Result<(), TestOutcome> {
    if found.len() != wanted.len() {
        let (found, wanted) = (found.len(), wanted.len());
        return Err(TestOutcome::failed(format!(
            "{found} results, {wanted} are expected"
        )));
    }
    for (number, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let title = format!("result {number}");
        let found = to_array(found).map_err(TestOutcome::failed)?;
        let wanted = to_array(wanted).map_err(TestOutcome::failed)?;
        if found.shape() != wanted.shape() {
            let (found, wanted) = (found.shape_text(), wanted.shape_text());
            return Err(TestOutcome::failed(format!(
                "{title}: {found}, expected {wanted}"
            )));
        }
        let numbers = wanted.iter_numbers().map(|n| n.to_f64().abs());
        let largest = numbers.filter(|n| n.is_finite()).fold(1.0, f64::max);
        let tolerance = ArrayTolerance {
            absolute: TOLERANCE * largest,
            ..ArrayTolerance::default()
        };
        expect_array(&title, &found, &wanted, tolerance)?;
    }
    Ok(())
}
