//! Results of a run: buffers are shown, saved, drawn and compared.

use super::bind::{BoundParameter, ValueLabel};
use super::prepare::PreparedValue;
use super::stages::StageTimings;
use crate::cli::args::RunArgs;
use crate::cli::files::{self, has_extension};
use crate::cli::output_form::{check_distinct_outputs, check_output_form};
use crate::cli::stderr::print_stderr_line;
use crate::cli::{CommandFailure, CommandResult, failure};
use crate::values::compare::{ArrayTolerance, compare_arrays};
use crate::values::read_npy_file;
use crate::values::{image, summary};
use spirula_runtime::data::{ElementArray, ElementType, write_npy};
use spirula_runtime::{ComputeDevice, ResourceHandle};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A buffer after the run, or a result.
pub struct OutputArray {
    /// Its name.
    pub label: ValueLabel,
    /// Its contents.
    pub array: ElementArray,
    /// Whether the run changed it.
    pub changed: bool,
}

/// A file for a buffer or result.
#[derive(Clone, Debug, PartialEq, Eq)]
struct ResultFile {
    which: Option<String>,
    path: PathBuf,
}

/// Requests for results.
pub struct RequestedResults {
    out: Vec<ResultFile>,
    image: Vec<ResultFile>,
    check: Vec<(ResultFile, ElementArray)>,
}

impl RequestedResults {
    /// Checks that outputs can be written, and reads the expected results, before anything runs.
    pub fn parse_requests(args: &RunArgs) -> Result<RequestedResults, CommandFailure> {
        let targets = |texts: &[String]| {
            texts
                .iter()
                .map(|t| parse_result_file(t))
                .collect::<Vec<_>>()
        };
        let (out, image) = (targets(&args.out), targets(&args.image));
        for target in &out {
            if !has_extension(&target.path, "npy") && !has_extension(&target.path, "bin") {
                let path = target.path.display();
                return Err(CommandFailure::Usage(format!(
                    "--out {path}: the file has to end in .npy or .bin"
                )));
            }
        }
        for target in &image {
            check_output_form(&target.path, &["png"])?;
        }
        let all = || out.iter().chain(&image).map(|target| target.path.as_path());
        check_distinct_outputs(all())?;
        for target in out.iter().chain(&image) {
            files::check_writable(&target.path)?;
        }
        let check = targets(&args.check).into_iter().map(|target| {
            let want = read_npy_file(&target.path)?;
            Ok((target, want))
        });
        let check = check.collect::<Result<_, CommandFailure>>()?;
        Ok(RequestedResults { out, image, check })
    }
}

/// Parses `[WHICH=]FILE`. An `@` before the file is allowed, as in arguments.
fn parse_result_file(text: &str) -> ResultFile {
    let (which, path) = match text.split_once('=') {
        Some((which, path)) => (Some(which.to_owned()), path),
        None => (None, text),
    };
    let path = path.strip_prefix('@').unwrap_or(path).into();
    ResultFile { which, path }
}

/// Copies all buffers back.
pub fn collect_outputs(
    device: &mut ComputeDevice,
    slots: &[BoundParameter],
    values: Vec<PreparedValue>,
    buffers: &[Option<ResourceHandle>],
) -> Result<Vec<OutputArray>, CommandFailure> {
    let mut out = Vec::new();
    for ((slot, value), buffer) in slots.iter().zip(values).zip(buffers) {
        let (
            PreparedValue::Buffer(before)
            | PreparedValue::Image(_, _, before)
            | PreparedValue::Address(before),
            Some(buffer),
        ) = (value, buffer)
        else {
            continue;
        };
        let bytes = device.download_resource(*buffer);
        let bytes = bytes.map_err(|e| CommandFailure::from_message(e.to_string()))?;
        let changed = bytes != before.bytes();
        let array = ElementArray::new(before.element(), before.shape().to_vec(), bytes);
        let array = array.map_err(|e| CommandFailure::from_message(e.to_string()))?;
        out.push(OutputArray {
            label: slot.label.clone(),
            array,
            changed,
        });
    }
    Ok(out)
}

/// Shows the buffers that changed.
pub fn show_changed_outputs(results: &[OutputArray], args: &RunArgs) -> CommandResult {
    let mut text = String::new();
    for result in results.iter().filter(|r| r.changed) {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{}: {}",
            result.label.title(),
            summary::summarise_array(&result.array, args.show)
        );
    }
    if text.is_empty() {
        text.push_str("no buffer changed\n");
    }
    files::write_text(Path::new("-"), &text)
}

/// Saves, draws and compares results as requested.
pub fn process_outputs(
    results: &[OutputArray],
    wanted: &RequestedResults,
    args: &RunArgs,
    stages: &mut StageTimings,
) -> CommandResult {
    for target in &wanted.out {
        let array = &pick_output(results, target, |r| r.changed)?.array;
        if has_extension(&target.path, "npy") {
            let bytes =
                write_npy(array).map_err(|e| CommandFailure::from_message(e.to_string()))?;
            files::write_binary(&target.path, &bytes)?;
        } else {
            files::write_binary(&target.path, array.bytes())?;
        }
    }
    for target in &wanted.image {
        let array = &pick_output(results, target, |r| {
            r.changed && image::is_picture(&r.array)
        })?
        .array;
        let bytes = stages.time_stage("draw", || image::encode_png(array, args.colormap));
        files::write_binary(&target.path, &bytes.map_err(CommandFailure::from_message)?)?;
    }
    compare_with_expected(results, wanted, args)
}

fn compare_with_expected(
    results: &[OutputArray],
    wanted: &RequestedResults,
    args: &RunArgs,
) -> CommandResult {
    let mut outcome = Ok(());
    for (target, want) in &wanted.check {
        let result = pick_output(results, target, |r| r.changed)?;
        let tolerance = ArrayTolerance {
            absolute: args.atol,
            relative: args
                .rtol
                .unwrap_or(default_relative_tolerance(want.element())),
            ..ArrayTolerance::default()
        };
        let difference = compare_arrays(&result.array, want, tolerance).map_err(|text| {
            CommandFailure::from_message(format!(
                "{} against {}: {text}",
                result.label.title(),
                target.path.display()
            ))
        })?;
        if let Some(difference) = difference {
            let text = format!(
                "{} differs from {}: {difference}",
                result.label.title(),
                target.path.display()
            );
            failure::report_line("error", &text, None);
            outcome = Err(CommandFailure::Reported);
            continue;
        }
        let (title, path) = (result.label.title(), target.path.display());
        print_stderr_line!("{title} is as in {path}");
    }
    outcome
}

/// Default of the relative tolerance: some units in the last place.
fn default_relative_tolerance(element: ElementType) -> f64 {
    match element {
        ElementType::BF16 => 1e-2,
        ElementType::F16 => 1e-3,
        _ => 1e-5,
    }
}

/// The buffer that a request names, or the only one that fits.
fn pick_output<'a>(
    results: &'a [OutputArray],
    target: &ResultFile,
    fits: impl Fn(&OutputArray) -> bool,
) -> Result<&'a OutputArray, CommandFailure> {
    let path = target.path.display();
    let known = || {
        let titles: Vec<_> = results.iter().map(|r| r.label.title()).collect();
        format!("buffers: {}", titles.join("; "))
    };
    if let Some(which) = &target.which {
        let found = results.iter().find(|r| r.label.is_designated_by(which));
        return found.ok_or_else(|| {
            CommandFailure::with_hint(format!("no buffer {which} for {path}"), known())
        });
    }
    let mut fitting = results.iter().filter(|r| fits(r));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(CommandFailure::with_hint(
            format!("no buffer for {path} that changed and fits"),
            known(),
        )),
        _ => {
            let text = format!("several buffers changed: say which with WHICH={path}");
            Err(CommandFailure::with_hint(text, known()))
        }
    }
}
