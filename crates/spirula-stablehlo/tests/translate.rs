//! Translation of the corpus: how much of it is translated, and that what is gives right values
//! when the tensor IR is run by definition.

use spirula_program::{Literal, Scalar};
use spirula_source::{Source, render};
use spirula_stablehlo::mlir::{Module, parse, sections};
use spirula_stablehlo::translate::{Error, Translated, translate};
use spirula_tensor::ir::Constant;
use spirula_tensor::{EvalError, evaluate};
use spirula_testing::{corpus, files};
use std::collections::BTreeMap;
use std::path::Path;

/// Nodes that a program may evaluate.
const WORK: u64 = 30_000_000;

/// What became of the programs of a folder.
#[derive(Default)]
struct Tally {
    right: usize,
    unsupported: BTreeMap<String, Vec<String>>,
    wrong: Vec<String>,
    too_long: Vec<String>,
}

impl Tally {
    fn failed(&mut self, name: &str, error: Error, bytes: &[u8]) {
        match error {
            Error::Unsupported { what, .. } => {
                self.unsupported
                    .entry(what)
                    .or_default()
                    .push(name.to_owned());
            }
            Error::Invalid(diagnostic) => {
                let source = Source { name, bytes };
                self.wrong.push(render(&diagnostic, source, false));
            }
        }
    }

    fn show(&self, folder: &str) {
        let unsupported: usize = self.unsupported.values().map(Vec::len).sum();
        let (right, wrong, long) = (self.right, self.wrong.len(), self.too_long.len());
        eprintln!("{folder}: {right} right, {wrong} wrong, {unsupported} unsupported, {long} long");
        let mut causes: Vec<_> = self.unsupported.iter().collect();
        causes.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        for (what, names) in causes {
            eprintln!("  {:4} unsupported {what} ({})", names.len(), names[0]);
        }
        for wrong in &self.wrong {
            eprintln!("  wrong: {}", wrong.trim_end());
        }
        for long in &self.too_long {
            eprintln!("  long: {long}");
        }
    }
}

fn bits(tensor: &Constant) -> impl Iterator<Item = u64> + '_ {
    let count = tensor.ty.elements().unwrap_or(0) as usize;
    (0..count).map(|at| tensor.bits(at))
}

/// Runs a function without arguments and says which check does not hold.
fn run(translated: &Translated, work: u64) -> Result<(), Result<String, EvalError>> {
    let results = evaluate(&translated.function, Vec::new(), work).map_err(Err)?;
    for check in &translated.checks {
        let (found, expected) = (&results[check.found], &results[check.expected]);
        if let Some(at) = check.first_difference(bits(found), bits(expected)) {
            let shown = |tensor: &Constant| {
                let literal = Literal::new(tensor.ty.element, tensor.bits(at));
                match (tensor.ty.element, check.element) {
                    (Scalar::I8 | Scalar::I16, element) => {
                        format!("{:#x} ({element})", literal.bits)
                    }
                    _ => literal.to_string(),
                }
            };
            let (found, expected) = (shown(found), shown(expected));
            let text = format!("element {at}: {found} instead of {expected}");
            return Err(Ok(text));
        }
    }
    Ok(())
}

/// All functions of a file's modules that are tests.
fn tests(path: &Path, every: bool, tally: &mut Tally) {
    let bytes = std::fs::read(path).expect("the file can be read");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    for range in sections(&bytes) {
        let text = &bytes[range];
        let module = parse(text).unwrap_or_else(|error| panic!("{stem}: {error}"));
        for name in names(&module, every) {
            let shown = if every {
                format!("{stem}/{name}")
            } else {
                stem.to_string()
            };
            match translate(&module, &name) {
                Err(error) => tally.failed(&shown, error, text),
                Ok(translated) if !translated.parameters.is_empty() => {}
                Ok(translated) => match run(&translated, WORK) {
                    Ok(()) => tally.right += 1,
                    Err(Ok(difference)) => tally.wrong.push(format!("{shown}: {difference}")),
                    Err(Err(EvalError::Work)) => tally.too_long.push(shown),
                    Err(Err(error)) => tally.wrong.push(format!("{shown}: {error}")),
                },
            }
        }
    }
}

fn names(module: &Module, every: bool) -> Vec<String> {
    let all = module.functions().iter();
    let all = all.filter_map(|op| module.text(*op, "sym_name"));
    all.filter(|name| every || *name == "main")
        .map(str::to_owned)
        .collect()
}

fn folder(folder: &str, every: bool, least: usize) {
    let Some(path) = corpus(&format!("stablehlo/{folder}")) else {
        return;
    };
    let mut tally = Tally::default();
    let only = std::env::var("ONLY").unwrap_or_default();
    for file in files(&path, ".mlir") {
        let is_direct = file.parent() == Some(&path) || every;
        if is_direct && file.to_string_lossy().contains(&only) {
            tests(&file, every, &mut tally);
        }
    }
    tally.show(folder);
    assert!(
        tally.right >= least || !only.is_empty(),
        "fewer are right than were"
    );
}

#[test]
fn testdata_is_right() {
    folder("testdata", false, 1392);
}

#[test]
fn interpreter_tests_are_right() {
    folder("interpret", true, 251);
}

#[test]
fn quantised_testdata_is_right() {
    folder("testdata/quantized", false, 0);
}
