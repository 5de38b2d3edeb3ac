//! What is done with the buffers after a run: shown, saved, drawn, compared.

use super::bind::{Label, Slot};
use super::made::{Made, from_npy};
use super::stages::Stages;
use crate::cli::args::Run;
use crate::cli::files::{self, has_extension};
use crate::cli::say::say_line;
use crate::cli::{Failure, Outcome, failure};
use crate::values::compare::{Tolerance, compare};
use crate::values::{image, summary};
use spirula_runtime::data::{Array, Element, write_npy};
use spirula_runtime::{Buffer, Device};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// A buffer after the run, or a result.
pub struct Computed {
    /// What it is called.
    pub label: Label,
    /// Its contents.
    pub array: Array,
    /// Whether the run changed it.
    pub changed: bool,
}

/// Which buffer, and the file that it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    which: Option<String>,
    path: PathBuf,
}

/// What was asked for.
pub struct Wanted {
    out: Vec<Target>,
    image: Vec<Target>,
    check: Vec<(Target, Array)>,
}

impl Wanted {
    /// Checks that files can be written, and reads those that are compared with, before anything
    /// runs.
    pub fn parse(args: &Run) -> Result<Wanted, Failure> {
        let targets = |texts: &[String]| texts.iter().map(|t| target(t)).collect::<Vec<_>>();
        let (out, image) = (targets(&args.out), targets(&args.image));
        for target in &out {
            if !has_extension(&target.path, "npy") && !has_extension(&target.path, "bin") {
                let path = target.path.display();
                return Err(Failure::Usage(format!(
                    "--out {path}: the file has to end in .npy or .bin"
                )));
            }
        }
        for target in out.iter().chain(&image) {
            files::check_writable(&target.path)?;
        }
        let check = targets(&args.check).into_iter().map(|target| {
            let want = from_npy(&target.path)?;
            Ok((target, want))
        });
        let check = check.collect::<Result<_, Failure>>()?;
        Ok(Wanted { out, image, check })
    }
}

/// `[WHICH=]FILE`; an `@` before the file is allowed, as in arguments.
fn target(text: &str) -> Target {
    let (which, path) = match text.split_once('=') {
        Some((which, path)) => (Some(which.to_owned()), path),
        None => (None, text),
    };
    let path = path.strip_prefix('@').unwrap_or(path).into();
    Target { which, path }
}

/// Copies all buffers back.
pub fn collect(
    device: &mut Device,
    slots: &[Slot],
    values: Vec<Made>,
    buffers: &[Option<Buffer>],
) -> Result<Vec<Computed>, Failure> {
    let mut out = Vec::new();
    for ((slot, value), buffer) in slots.iter().zip(values).zip(buffers) {
        let (
            Made::Buffer(before) | Made::Image(_, _, before) | Made::Address(before),
            Some(buffer),
        ) = (value, buffer)
        else {
            continue;
        };
        let bytes = device.download(*buffer);
        let bytes = bytes.map_err(|e| Failure::message(e.to_string()))?;
        let changed = bytes != before.bytes();
        let array = Array::new(before.element(), before.shape().to_vec(), bytes);
        let array = array.map_err(|e| Failure::message(e.to_string()))?;
        out.push(Computed {
            label: slot.label.clone(),
            array,
            changed,
        });
    }
    Ok(out)
}

/// Shows what changed.
pub fn show(results: &[Computed], args: &Run) -> Outcome {
    let mut text = String::new();
    for result in results.iter().filter(|r| r.changed) {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            "{}: {}",
            result.label.title(),
            summary::summary(&result.array, args.show)
        );
    }
    if text.is_empty() {
        text.push_str("no buffer changed\n");
    }
    files::write_text(Path::new("-"), &text)
}

/// Saves, draws and compares.
pub fn deal(results: &[Computed], wanted: &Wanted, args: &Run, stages: &mut Stages) -> Outcome {
    for target in &wanted.out {
        let array = &pick(results, target, |r| r.changed)?.array;
        if has_extension(&target.path, "npy") {
            let bytes = write_npy(array).map_err(|e| Failure::message(e.to_string()))?;
            files::write_binary(&target.path, &bytes)?;
        } else {
            files::write_binary(&target.path, array.bytes())?;
        }
    }
    for target in &wanted.image {
        let array = &pick(results, target, |r| {
            r.changed && image::is_picture(&r.array)
        })?
        .array;
        let bytes = stages.time("draw", || image::png(array, args.colormap));
        files::write_binary(&target.path, &bytes.map_err(Failure::message)?)?;
    }
    check(results, wanted, args)
}

fn check(results: &[Computed], wanted: &Wanted, args: &Run) -> Outcome {
    let mut outcome = Ok(());
    for (target, want) in &wanted.check {
        let result = pick(results, target, |r| r.changed)?;
        let tolerance = Tolerance {
            absolute: args.atol,
            relative: args.rtol.unwrap_or(relative(want.element())),
            ..Tolerance::default()
        };
        let difference = compare(&result.array, want, tolerance).map_err(|text| {
            Failure::message(format!(
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
            failure::tell_line("error", &text, None);
            outcome = Err(Failure::Told);
            continue;
        }
        let (title, path) = (result.label.title(), target.path.display());
        say_line!("{title} is as in {path}");
    }
    outcome
}

/// Relative tolerance by default: some units in the last place.
fn relative(element: Element) -> f64 {
    match element {
        Element::BF16 => 1e-2,
        Element::F16 => 1e-3,
        _ => 1e-5,
    }
}

/// The buffer that a target names, or the only one that fits.
fn pick<'a>(
    results: &'a [Computed],
    target: &Target,
    fits: impl Fn(&Computed) -> bool,
) -> Result<&'a Computed, Failure> {
    let path = target.path.display();
    let known = || {
        let titles: Vec<_> = results.iter().map(|r| r.label.title()).collect();
        format!("buffers: {}", titles.join("; "))
    };
    if let Some(which) = &target.which {
        let found = results.iter().find(|r| r.label.is(which));
        return found
            .ok_or_else(|| Failure::hinted(format!("no buffer {which} for {path}"), known()));
    }
    let mut fitting = results.iter().filter(|r| fits(r));
    match (fitting.next(), fitting.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Failure::hinted(
            format!("no buffer for {path} that changed and fits"),
            known(),
        )),
        _ => {
            let text = format!("several buffers changed: say which with WHICH={path}");
            Err(Failure::hinted(text, known()))
        }
    }
}
