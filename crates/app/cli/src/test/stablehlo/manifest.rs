//! Manifests of tensor tests: `NAME.json` beside a module has the arguments and expected results of `main`.

use super::super::TestOutcome;
use super::super::session::{parse_json_number, read_referenced_file};
use super::compare::{
    ElementTolerance, compare_tensors, largest_finite_magnitude, mean_and_magnitude,
};
use super::inputs::{RandomTensorSpec, make_random_tensor};
use super::tensor::{TestTensor, element_named};
use serde::Deserialize;
use serde_json::Value as Json;
use spirula_program::ProgramValue;
use spirula_runtime::data::{ElementNumber, ElementType as Stored, read_npy};
use spirula_stablehlo::translate::TensorElement;
use std::path::{Path, PathBuf};

/// A manifest.
pub struct TensorManifest {
    folder: PathBuf,
    seed: u64,
    arguments: Vec<RandomTensorSpec>,
    results: Vec<ExpectedTensor>,
}

#[derive(Deserialize)]
struct TensorManifestFile {
    /// Seed in hexadecimal digits. Modules without arguments have none.
    seed: Option<String>,
    args: Vec<ManifestArgument>,
    results: Vec<ExpectedTensor>,
}

#[derive(Deserialize)]
struct ManifestArgument {
    dtype: String,
    shape: Vec<usize>,
    lo: Json,
    hi: Json,
}

#[derive(Deserialize)]
struct ExpectedTensor {
    dtype: String,
    shape: Vec<usize>,
    #[serde(default)]
    tol: f64,
    /// Largest finite absolute value; by default that of the stored elements.
    absmax: Option<f64>,
    /// Share of the elements that may differ.
    #[serde(default)]
    mismatch: f64,
    /// The whole result.
    file: Option<String>,
    /// Positions and elements of a sample.
    index_file: Option<String>,
    value_file: Option<String>,
    mean: Option<f64>,
    abs_mean: Option<f64>,
}

impl TensorManifest {
    /// Reads a manifest.
    pub fn read_manifest(path: &Path) -> Result<TensorManifest, TestOutcome> {
        let file: TensorManifestFile =
            serde_json::from_slice(&read_referenced_file(path)?).map_err(TestOutcome::failed)?;
        let digits = file.seed.as_deref().unwrap_or("0x0");
        let seed = u64::from_str_radix(digits.trim_start_matches("0x"), 16);
        let seed = seed.map_err(|_| TestOutcome::failed(format!("{digits} is not a seed")))?;
        let arguments = file
            .args
            .iter()
            .map(parse_argument)
            .collect::<Result<_, _>>()?;
        Ok(TensorManifest {
            folder: path.parent().unwrap_or(Path::new(".")).to_owned(),
            seed,
            arguments,
            results: file.results,
        })
    }

    /// Makes the arguments.
    pub fn load_arguments(&self) -> Result<Vec<TestTensor>, TestOutcome> {
        let made = self.arguments.iter().enumerate().map(|(number, argument)| {
            let tensor = make_random_tensor(argument, self.seed, number);
            tensor.ok_or_else(|| TestOutcome::failed(format!("argument {number} cannot be made")))
        });
        made.collect()
    }

    /// Compares the results of `main`.
    pub fn verify_main_results(&self, given: Vec<ProgramValue>) -> Result<(), TestOutcome> {
        let mut given = given.into_iter();
        for (number, expected) in self.results.iter().enumerate() {
            let value = given.next();
            let value = value.ok_or_else(|| TestOutcome::failed("there are fewer results"))?;
            let got = TestTensor::of_value(parse_element_type(&expected.dtype)?, value)?;
            self.check_result(&format!("result {number}"), &got, expected)?;
        }
        match given.count() {
            0 => Ok(()),
            more => Err(TestOutcome::failed(format!(
                "there are {more} results more"
            ))),
        }
    }

    fn check_result(
        &self,
        title: &str,
        got: &TestTensor,
        want: &ExpectedTensor,
    ) -> Result<(), TestOutcome> {
        if got.shape != want.shape {
            let (found, shape) = (got.format_type(), &want.shape);
            return Err(TestOutcome::failed(format!(
                "{title}: {found}, expected the shape {shape:?}"
            )));
        }
        let file = |name: &str| read_referenced_file(&self.folder.join(name));
        let (got, expected) = match (&want.file, &want.index_file, &want.value_file) {
            (Some(name), ..) => {
                // Some files store scalars as arrays of one element.
                let stored = TestTensor::of_npy(got.element, &file(name)?)?;
                (got.clone(), stored.into_reshaped(&want.shape)?)
            }
            (None, Some(places), Some(values)) => {
                check_means(title, got, want)?;
                let places = read_npy(&file(places)?).map_err(TestOutcome::failed)?;
                let values = TestTensor::of_npy(got.element, &file(values)?)?;
                (got.gather_elements(&places)?, values)
            }
            _ => {
                return Err(TestOutcome::failed(
                    "the manifest names no file of a result",
                ));
            }
        };
        let scale = want
            .absmax
            .unwrap_or_else(|| largest_finite_magnitude(&expected));
        let rule = ElementTolerance::Within(want.tol * scale);
        compare_tensors(title, &got, &expected, rule, want.mismatch)
    }
}

/// If all elements are within the tolerance, the means are, too.
fn check_means(title: &str, got: &TestTensor, want: &ExpectedTensor) -> Result<(), TestOutcome> {
    let Some((mean, abs_mean)) = mean_and_magnitude(got) else {
        return Ok(());
    };
    let most = want.tol * want.absmax.unwrap_or(0.0);
    for (what, got, want) in [
        ("mean", mean, want.mean),
        ("mean of absolute values", abs_mean, want.abs_mean),
    ] {
        let Some(want) = want.filter(|want| want.is_finite()) else {
            continue;
        };
        // This is the error of a sum in another order.
        let noise = want.abs() * 1e-9 + abs_mean * 1e-12;
        if (got - want).abs() > most + noise {
            return Err(TestOutcome::failed(format!(
                "{title}: its {what} is {got}, expected {want}"
            )));
        }
    }
    Ok(())
}

fn parse_argument(arg: &ManifestArgument) -> Result<RandomTensorSpec, TestOutcome> {
    let element = parse_element_type(&arg.dtype)?;
    Ok(RandomTensorSpec {
        element,
        shape: arg.shape.clone(),
        low: parse_bound(element, &arg.lo)?,
        high: parse_bound(element, &arg.hi)?,
    })
}

/// Parses a bound. The upper bound may be beyond the type.
fn parse_bound(element: TensorElement, value: &Json) -> Result<ElementNumber, TestOutcome> {
    let text = value.to_string();
    let is_float = matches!(element.component_element(), TensorElement::Float(_));
    match text.parse::<i128>() {
        Ok(whole) if !is_float => Ok(ElementNumber::Int(whole)),
        _ if is_float => parse_json_number(Stored::F64, value),
        _ => {
            let real: Option<f64> = text.parse().ok();
            let whole = real.filter(|x| x.fract() == 0.0).map(|x| x as i128);
            let bad = || TestOutcome::failed(format!("{text} is not of type {element}"));
            whole.map(ElementNumber::Int).ok_or_else(bad)
        }
    }
}

fn parse_element_type(name: &str) -> Result<TensorElement, TestOutcome> {
    let unknown = || TestOutcome::unsupported(format!("tensors of {name}"));
    element_named(name).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// Checks all manifests of the corpus: generated arguments equal the stored ones, and stored results agree with
    /// themselves.
    #[test]
    fn generated_arguments_are_the_stored_ones() {
        let Some(corpus) = spirula_testing::find_corpus("stablehlo") else {
            return;
        };
        let mut compared = 0;
        for folder in ["seeds", "models"] {
            for path in spirula_testing::list_files(&corpus.join(folder), ".json") {
                let manifest = TensorManifest::read_manifest(&path).expect("the manifest reads");
                let small = manifest
                    .arguments
                    .iter()
                    .map(|a| a.shape.iter().product::<usize>());
                let first = path.with_extension("in0.npy");
                if !first.is_file() || small.sum::<usize>() > 1 << 20 {
                    continue;
                }
                for (number, made) in manifest.load_arguments().unwrap().into_iter().enumerate() {
                    let stored = path.with_extension(format!("in{number}.npy"));
                    let stored = fs::read(stored).expect("all arguments are stored");
                    let stored = TestTensor::of_npy(made.element, &stored).unwrap();
                    assert_eq!(made, stored, "{} {number}", path.display());
                    compared += 1;
                }
            }
        }
        assert!(compared > 100, "{compared}");
    }

    #[test]
    fn stored_results_agree_with_themselves() {
        let Some(corpus) = spirula_testing::find_corpus("stablehlo") else {
            return;
        };
        let mut compared = 0;
        for folder in ["seeds", "models", "torch", "syntax"] {
            for path in spirula_testing::list_files(&corpus.join(folder), ".json") {
                let manifest = TensorManifest::read_manifest(&path).expect("the manifest reads");
                if manifest.results.iter().any(|r| r.file.is_none()) {
                    continue;
                }
                let stored = manifest.results.iter().map(|result| {
                    let name = result.file.as_deref().unwrap_or_default();
                    let bytes = fs::read(manifest.folder.join(name)).expect("a stored result");
                    let element = parse_element_type(&result.dtype).unwrap();
                    let stored = TestTensor::of_npy(element, &bytes).unwrap();
                    stored.into_reshaped(&result.shape).unwrap().into_value()
                });
                let mut stored: Vec<ProgramValue> = stored.collect();
                assert_eq!(
                    manifest.verify_main_results(stored.clone()),
                    Ok(()),
                    "{}",
                    path.display()
                );
                compared += 1;
                let Some(last) = stored.last_mut().and_then(|v| v.bytes.last_mut()) else {
                    continue;
                };
                *last ^= 0x55;
                let strict = manifest.results.iter().all(|r| r.mismatch == 0.0);
                assert_eq!(
                    strict,
                    manifest.verify_main_results(stored).is_err(),
                    "{}",
                    path.display()
                );
            }
        }
        assert!(compared > 300, "{compared}");
    }
}
