//! Suites: a corpus of programs of one language, with a table of results by folder.
//!
//! `cargo xtask suite futhark` checks and compiles the programs of Futhark's test suite, and runs their tests on
//! devices, with worker processes and time limits. The programs and their kinds are listed in `tests.tsv` of the
//! corpus. `cargo xtask suite futhark-benchmarks` does so with the benchmarks of `benchmarks.tsv`. The table says for each
//! folder how many programs are accepted, refused, compiled and right; below it are the reasons of failures with their
//! numbers.

use crate::c_interface::run_c_tests;
use crate::find_repository_root;
use crate::opencl::{run_applications, run_conformance_suites};
use anyhow::{Context, Result, ensure};
use clap::{Args as ClapArgs, ValueEnum};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The message about a program without entry points.
const NO_ENTRY: &str = "the program has no entry point";

/// The beginning of the reason of a test whose file of values is missing.
const MISSING_FILE: &str = "there is no file ";

/// Seconds after which a program or test has failed.
const SECONDS: u64 = 30;

/// Number of programs that are named for a reason.
const NAMED: usize = 3;

/// Number of characters of a reason.
const REASON: usize = 110;

/// Languages with a suite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SuiteLanguage {
    /// Futhark's test programs, from their source
    Futhark,
    /// Futhark's benchmarks, from their source
    FutharkBenchmarks,
    /// Futhark's tests of its C libraries, against the C interface; the corpus is a checkout of Futhark
    FutharkC,
    /// Khronos' conformance tests of OpenCL; the corpus is a folder with checkouts, the filter a list of suites
    Opencl,
    /// Applications of OpenCL that are installed; the filter is a list of them
    OpenclApplications,
}

impl SuiteLanguage {
    /// The list of programs in the folder of the corpus.
    fn list(self) -> &'static str {
        match self {
            SuiteLanguage::Futhark => "tests.tsv",
            SuiteLanguage::FutharkBenchmarks => "benchmarks.tsv",
            _ => "",
        }
    }

    /// The folder of the corpus among the corpora.
    fn corpus_folder(self) -> &'static str {
        match self {
            SuiteLanguage::Opencl | SuiteLanguage::OpenclApplications => "opencl",
            _ => "futhark",
        }
    }

    /// The folder that the paths of the list are relative to.
    fn program_folder(self) -> &'static str {
        match self {
            SuiteLanguage::FutharkBenchmarks => "benchmarks",
            SuiteLanguage::FutharkC => "tests_lib/c",
            _ => "",
        }
    }

    /// The title of the table.
    fn title(self) -> &'static str {
        match self {
            SuiteLanguage::Futhark => "Futhark's test programs",
            SuiteLanguage::FutharkBenchmarks => "Futhark's benchmarks",
            SuiteLanguage::FutharkC => "Futhark's tests of C libraries",
            SuiteLanguage::Opencl => "Khronos' conformance tests",
            SuiteLanguage::OpenclApplications => "Applications of OpenCL",
        }
    }
}

/// Arguments of the task.
#[derive(ClapArgs)]
pub struct SuiteOptions {
    /// Language
    language: SuiteLanguage,
    /// Folder of the corpus, with the list of programs
    #[arg(long, value_name = "FOLDER")]
    corpus: Option<PathBuf>,
    /// The command, beside which the OpenCL driver stands
    #[arg(long, value_name = "PATH", default_value = "target/release/spirula")]
    pub spirula: PathBuf,
    /// Devices that the tests run on; `none` runs none
    #[arg(long, value_delimiter = ',', default_value = "cpu,vulkan")]
    pub devices: Vec<String>,
    /// Only programs with this text in their path
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub filter: String,
    /// Processes at a time
    #[arg(long, value_name = "N")]
    pub jobs: Option<usize>,
    /// Seconds after which a program or test has failed, by default 30, and 300 for tests of OpenCL
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    /// File for the table, as Markdown; by default standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// File for the failures, one a line: what was done, the program, the reason
    #[arg(long, value_name = "FILE")]
    failures: Option<PathBuf>,
}

/// The entry of the list for a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ProgramKind {
    /// It has test cases.
    Run,
    /// It has to compile.
    Compile,
    /// It must be refused.
    Error,
    /// It has properties, of which some do not hold on purpose.
    Property,
}

struct SuiteProgram {
    path: String,
    kind: ProgramKind,
}

/// An aspect of the suite with its results: the column of the table.
struct SuiteColumn {
    title: String,
    /// The reason of each failure by program; `None` for success.
    results: BTreeMap<String, Option<String>>,
    /// Tests that were not run, as their files are missing.
    left_out: usize,
}

/// Runs the suite, and writes the table.
pub fn run_suite(options: &SuiteOptions) -> Result<()> {
    let language = options.language;
    let start = Instant::now();
    let root = find_repository_root()?;
    let corpus = match &options.corpus {
        Some(folder) => folder.clone(),
        None => {
            let beside = root.join("../shared/corpus");
            let corpus = std::env::var_os("SPIRULA_CORPUS").map_or(beside, PathBuf::from);
            corpus.join(language.corpus_folder())
        }
    };
    match language {
        SuiteLanguage::Opencl => return run_conformance_suites(&root, &corpus, options),
        SuiteLanguage::OpenclApplications => return run_applications(&root, options),
        _ => {}
    }
    let spirula = root.join(&options.spirula);
    ensure!(spirula.is_file(), "there is no {}", spirula.display());
    if language == SuiteLanguage::FutharkC {
        return run_c_tests(&corpus, &spirula);
    }
    let suite = ProgramSuite {
        programs: read_list(&corpus.join(language.list()), &options.filter)?,
        folder: corpus.join(language.program_folder()),
        spirula,
        jobs: match options.jobs {
            Some(jobs) => jobs.max(1),
            None => std::thread::available_parallelism().map_or(1, usize::from),
        },
        timeout: Duration::from_secs(options.timeout.unwrap_or(SECONDS)),
    };
    let mut columns = suite.check_programs();
    columns.push(suite.compile_programs()?);
    for device in options.devices.iter().filter(|device| *device != "none") {
        columns.push(suite.run_tests(device)?);
    }
    let mut table = format!(
        "{} by folder, {}, Spirula {}, in {:.0} s:\n\n",
        language.title(),
        format_date(SystemTime::now()),
        env!("CARGO_PKG_VERSION"),
        start.elapsed().as_secs_f64()
    );
    write_table(&columns, &mut table);
    write_reasons(&columns, &mut table);
    match &options.output {
        Some(path) => fs::write(path, table)?,
        None => print!("{table}"),
    }
    if let Some(path) = &options.failures {
        fs::write(path, list_failures(&columns))?;
    }
    Ok(())
}

fn read_list(list: &Path, filter: &str) -> Result<Vec<SuiteProgram>> {
    let text = fs::read_to_string(list).with_context(|| format!("{}", list.display()))?;
    let rows = text.lines().skip(1).filter_map(|row| {
        let mut columns = row.split('\t');
        let (path, kind) = (columns.next()?, columns.next()?);
        let kind = match kind {
            "run" | "app" | "lib-test" | "app-synth-data" => ProgramKind::Run,
            "compile" | "none" => ProgramKind::Compile,
            "error" => ProgramKind::Error,
            "property" => ProgramKind::Property,
            _ => return None,
        };
        let path = path.to_owned();
        path.contains(filter).then_some(SuiteProgram { path, kind })
    });
    let programs: Vec<_> = rows.collect();
    ensure!(
        !programs.is_empty(),
        "{} has no such program",
        list.display()
    );
    Ok(programs)
}

/// A suite that is being run.
struct ProgramSuite {
    programs: Vec<SuiteProgram>,
    /// The folder that the paths of programs are relative to.
    folder: PathBuf,
    spirula: PathBuf,
    jobs: usize,
    timeout: Duration,
}

impl ProgramSuite {
    /// Verdicts of the checker: the programs that must be accepted, and those that must be refused.
    fn check_programs(&self) -> Vec<SuiteColumn> {
        let must_be_refused = |program: &SuiteProgram| program.kind == ProgramKind::Error;
        let verdicts = self.run_each(
            |_| true,
            |program| {
                let ran = self.run_command(&["check", &program.path]);
                match (ran, must_be_refused(program)) {
                    (Err(CommandFault::Refused(_)), true) => None,
                    (Ok(()), true) => Some("is accepted".to_owned()),
                    (Ok(()), false) => None,
                    (Err(fault), _) => Some(fault.into_reason()),
                }
            },
        );
        let refused: BTreeSet<&str> = self
            .programs
            .iter()
            .filter(|p| must_be_refused(p))
            .map(|p| p.path.as_str())
            .collect();
        let (refused, accepted) = verdicts
            .into_iter()
            .partition(|(path, _)| refused.contains(path.as_str()));
        vec![
            SuiteColumn {
                title: "accepted".to_owned(),
                results: accepted,
                left_out: 0,
            },
            SuiteColumn {
                title: "refused".to_owned(),
                results: refused,
                left_out: 0,
            },
        ]
    }

    /// Compiles the programs that have to compile and have no cases, or have properties.
    fn compile_programs(&self) -> Result<SuiteColumn> {
        let folder = std::env::temp_dir().join(format!("spirula-suite-{}", std::process::id()));
        fs::create_dir_all(&folder)?;
        let number = AtomicUsize::new(0);
        let results = self.run_each(
            |program| matches!(program.kind, ProgramKind::Compile | ProgramKind::Property),
            |program| {
                let number = number.fetch_add(1, Ordering::Relaxed);
                let output = folder.join(format!("{number}.spb"));
                let output_text = output.to_string_lossy();
                let ran = self.run_command(&["compile", &program.path, "-o", &output_text]);
                // A library has nothing to compile.
                let ran = match ran {
                    Err(CommandFault::Refused(reason)) if reason.starts_with(NO_ENTRY) => Ok(()),
                    ran => ran,
                };
                // A refused program has no output.
                let _ = fs::remove_file(&output);
                ran.err().map(CommandFault::into_reason)
            },
        );
        fs::remove_dir_all(&folder)?;
        Ok(SuiteColumn {
            title: "compiled".to_owned(),
            results,
            left_out: 0,
        })
    }

    /// Runs the tests of programs on a device. A program is right where all its tests pass.
    fn run_tests(&self, device: &str) -> Result<SuiteColumn> {
        let programs = self.programs.iter();
        let tested = programs.filter(|program| program.kind == ProgramKind::Run);
        let tested: Vec<&SuiteProgram> = tested.collect();
        let (mut results, mut left_out) = (BTreeMap::new(), 0);
        if !tested.is_empty() {
            let report =
                std::env::temp_dir().join(format!("spirula-suite-{}.json", std::process::id()));
            let mut command = Command::new(&self.spirula);
            command.arg("test").current_dir(&self.folder);
            command.args(tested.iter().map(|program| &program.path));
            command.args(["--device", device, "--jobs", &self.jobs.to_string()]);
            command.args(["--timeout", &self.timeout.as_secs().to_string()]);
            command.arg("--json").arg(&report);
            let ran = command.stdout(Stdio::null()).output()?;
            let text = fs::read_to_string(&report).with_context(|| {
                let told = String::from_utf8_lossy(&ran.stderr);
                let status = ran.status;
                format!("spirula test ended with {status} and without a report: {told}")
            })?;
            fs::remove_file(&report)?;
            (results, left_out) =
                collect_test_results(&serde_json::from_str::<TestRunReport>(&text)?);
        }
        for program in tested {
            let missing = Some("has no test that can run".to_owned());
            results.entry(program.path.clone()).or_insert(missing);
        }
        Ok(SuiteColumn {
            title: format!("right on {device}"),
            results,
            left_out,
        })
    }

    /// Applies a function to some of the programs, with several threads.
    fn run_each(
        &self,
        is_meant: impl Fn(&SuiteProgram) -> bool,
        run: impl Fn(&SuiteProgram) -> Option<String> + Sync,
    ) -> BTreeMap<String, Option<String>> {
        let meant: Vec<&SuiteProgram> = self.programs.iter().filter(|p| is_meant(p)).collect();
        let next = AtomicUsize::new(0);
        let results = Mutex::new(BTreeMap::new());
        std::thread::scope(|scope| {
            for _ in 0..self.jobs {
                scope.spawn(|| {
                    while let Some(program) = meant.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let result = run(program);
                        let mut results = results.lock().expect("no thread panics with the lock");
                        results.insert(program.path.clone(), result);
                    }
                });
            }
        });
        results
            .into_inner()
            .expect("no thread panics with the lock")
    }

    /// Runs the command in the folder of the corpus.
    fn run_command(&self, arguments: &[&str]) -> Result<(), CommandFault> {
        let fault = |error: std::io::Error| CommandFault::Broken(error.to_string());
        let errors = std::env::temp_dir().join(format!(
            "spirula-suite-{}-{:?}",
            std::process::id(),
            std::thread::current().id()
        ));
        let file = fs::File::create(&errors).map_err(fault)?;
        let child = Command::new(&self.spirula)
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(file)
            .spawn();
        let code = child.and_then(|child| wait_limited(child, self.timeout));
        let told = fs::read(&errors).unwrap_or_default();
        fs::remove_file(&errors).map_err(fault)?;
        let told = String::from_utf8_lossy(&told);
        match code.map_err(fault)? {
            CommandEnd::Exited(Some(0)) => Ok(()),
            CommandEnd::Exited(Some(1)) => Err(CommandFault::Refused(first_error(&told))),
            CommandEnd::Exited(_) => Err(CommandFault::Broken(format!("crashed: {told}"))),
            CommandEnd::Late => Err(CommandFault::Broken("did not end in time".to_owned())),
        }
    }
}

/// Why the command failed.
enum CommandFault {
    /// It refused its input.
    Refused(String),
    /// It crashed, or did not end.
    Broken(String),
}

impl CommandFault {
    fn into_reason(self) -> String {
        match self {
            CommandFault::Refused(reason) | CommandFault::Broken(reason) => reason,
        }
    }
}

/// How a process ended.
enum CommandEnd {
    /// With this code, or by a signal.
    Exited(Option<i32>),
    /// It was ended after the time limit.
    Late,
}

fn wait_limited(mut child: Child, limit: Duration) -> std::io::Result<CommandEnd> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(CommandEnd::Exited(status.code()));
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(CommandEnd::Late);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// The first error among messages.
fn first_error(told: &str) -> String {
    let mut lines = told.lines();
    let error = lines.find_map(|line| line.strip_prefix("error: "));
    error.unwrap_or("no message").to_owned()
}

/// The report of `spirula test --json`.
#[derive(Deserialize)]
struct TestRunReport {
    tests: Vec<TestRunRow>,
}

#[derive(Deserialize)]
struct TestRunRow {
    /// The program, or its folder.
    path: String,
    outcome: String,
    reason: Option<String>,
}

/// The result of each program: the reason of the first test that did not pass. Tests whose files are missing are counted
/// apart.
fn collect_test_results(report: &TestRunReport) -> (BTreeMap<String, Option<String>>, usize) {
    let mut results: BTreeMap<String, Option<String>> = BTreeMap::new();
    let mut left_out = 0;
    for row in &report.tests {
        let reason = row.reason.as_deref().unwrap_or_default();
        if row.outcome != "passed" && reason.starts_with(MISSING_FILE) {
            left_out += 1;
            continue;
        }
        let result = results.entry(row.path.clone()).or_default();
        if row.outcome != "passed" && result.is_none() {
            *result = Some(reason.to_owned());
        }
    }
    (results, left_out)
}

/// The folder of a program: its first two parts, or one for programs without a folder of their own.
fn folder_of(path: &str) -> String {
    let parts: Vec<&str> = path.split('/').collect();
    parts[..parts.len().saturating_sub(1).min(2)].join("/")
}

fn write_table(columns: &[SuiteColumn], table: &mut String) {
    let titles: Vec<&str> = columns.iter().map(|c| c.title.as_str()).collect();
    let _ = writeln!(table, "| folder | {} |", titles.join(" | "));
    let _ = writeln!(table, "|---|{}", "---|".repeat(columns.len()));
    let folders: BTreeSet<String> = columns
        .iter()
        .flat_map(|column| column.results.keys().map(|path| folder_of(path)))
        .collect();
    let mut write_row = |title: &str, is_meant: &dyn Fn(&str) -> bool| {
        let cells = columns.iter().map(|column| {
            let meant = column.results.iter().filter(|(path, _)| is_meant(path));
            let (right, all) = meant.fold((0, 0), |(right, all), (_, reason)| {
                (right + usize::from(reason.is_none()), all + 1)
            });
            if all == 0 {
                String::new()
            } else {
                format!("{right} of {all}")
            }
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(table, "| {title} | {} |", cells.join(" | "));
    };
    for folder in &folders {
        write_row(folder, &|path| folder_of(path) == *folder);
    }
    write_row("**all**", &|_| true);
}

/// Writes the reasons of the failures in each column, the most frequent first.
fn write_reasons(columns: &[SuiteColumn], table: &mut String) {
    for column in columns {
        let mut reasons: BTreeMap<String, Vec<&str>> = BTreeMap::new();
        for (path, reason) in &column.results {
            if let Some(reason) = reason {
                reasons
                    .entry(generalise_reason(reason))
                    .or_default()
                    .push(path);
            }
        }
        if column.left_out > 0 {
            let (title, count) = (&column.title, column.left_out);
            let _ = writeln!(
                table,
                "\nNot run for \"{title}\": {count} tests without their files."
            );
        }
        if reasons.is_empty() {
            continue;
        }
        let _ = writeln!(table, "\nNot {}:\n", column.title);
        let mut reasons: Vec<_> = reasons.into_iter().collect();
        reasons.sort_by_key(|(_, paths)| std::cmp::Reverse(paths.len()));
        for (reason, paths) in reasons {
            let named = paths[..paths.len().min(NAMED)].join(", ");
            let more = if paths.len() > NAMED { ", …" } else { "" };
            let _ = writeln!(table, "- {}: {reason} ({named}{more})", paths.len());
        }
    }
}

/// The reason without what differs from program to program: quoted texts and numbers.
fn generalise_reason(reason: &str) -> String {
    let mut text = String::new();
    for (number, part) in reason.split('`').enumerate() {
        text.push_str(if number % 2 == 1 { "`…`" } else { part });
    }
    let mut general = String::new();
    for c in text.chars() {
        match (c.is_ascii_digit(), general.ends_with('N')) {
            (true, true) => {}
            (true, false) => general.push('N'),
            (false, _) => general.push(c),
        }
    }
    let line = general.lines().next().unwrap_or_default();
    match line.char_indices().nth(REASON) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

fn list_failures(columns: &[SuiteColumn]) -> String {
    let mut lines = String::new();
    for column in columns {
        for (path, reason) in &column.results {
            if let Some(reason) = reason {
                let reason = reason.replace(['\n', '\t'], " ");
                let _ = writeln!(lines, "not {}\t{path}\t{reason}", column.title);
            }
        }
    }
    lines
}

/// The date in UTC, `2026-11-27`. The conversion of days is that of H. Hinnant (chrono-compatible low-level date
/// algorithms).
fn format_date(time: SystemTime) -> String {
    let seconds = time
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs());
    let days = seconds / 86_400 + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_grouped() {
        let reason = generalise_reason("expected `i32`, found `[12]x` at 1234\nmore");
        assert_eq!(reason, "expected `…`, found `…` at N");
        assert_eq!(folder_of("tests/a.fut"), "tests");
        assert_eq!(folder_of("tests/ad/a.fut"), "tests/ad");
        assert_eq!(folder_of("tests/ad/b/a.fut"), "tests/ad");
    }

    #[test]
    fn dates() {
        let date = |seconds| format_date(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(date(0), "1970-01-01");
        assert_eq!(date(951_782_400), "2000-02-29");
        assert_eq!(date(1_795_737_600), "2026-11-27");
    }
}
