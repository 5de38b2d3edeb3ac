//! Models of the corpus: translated, evaluated by definition on their inputs, and compared with
//! their expected results.

use super::oracle::{OracleTally, OracleTolerance, are_alike, first_difference};
use serde_json::Value as Json;
use spirula_stablehlo::mlir::{MlirFloat, parse_text};
use spirula_stablehlo::translate::{
    InterfaceTensor, KnownArguments, TensorElement, TranslateOptions, TranslatedEntry,
    translate_for,
};
use spirula_tensor::ir::{DenseTensorType, TensorConstant};
use spirula_tensor::{EvalError, evaluate_function};
use spirula_testing::{find_corpus, list_files};
use std::path::Path;

/// Nodes that a model may evaluate, unless `WORK` sets another number.
const WORK: u64 = 8_000_000;

fn work() -> u64 {
    let named = std::env::var("WORK").ok();
    named.and_then(|text| text.parse().ok()).unwrap_or(WORK)
}

/// Outputs of SplitMix64.
struct ModelInputStream {
    state: u64,
}

impl ModelInputStream {
    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = self.state;
        let z = (z ^ z >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    /// Bits of an element between two bounds.
    fn element(&mut self, element: TensorElement, (lo, hi): (f64, f64)) -> u64 {
        let z = self.next();
        let unit = |z: u64| (z >> 40) as f64 * 2f64.powi(-24);
        match element {
            TensorElement::Bool => u64::from(unit(z) >= 0.5),
            TensorElement::Float(MlirFloat::F64) => {
                let u = (z >> 11) as f64 * 2f64.powi(-53);
                (lo + (hi - lo) * u).to_bits()
            }
            TensorElement::Float(float) => float.format().encode_value(lo + (hi - lo) * unit(z)),
            _ => {
                let (lo, hi) = (lo as i128, hi as i128);
                (lo + i128::from(z >> 11).rem_euclid((hi - lo).max(1))) as u64
            }
        }
    }
}

/// Type of a tensor as parameters and results have it.
fn outside(interface: &InterfaceTensor, shape: &[u64]) -> DenseTensorType {
    let mut shape = shape.to_vec();
    if interface.element.component_count() == 2 {
        shape.push(2);
    }
    DenseTensorType::new(interface.element.storage_type(), &shape)
}

fn sizes(json: &Json) -> Vec<u64> {
    let sizes = json["shape"].as_array().expect("a shape");
    sizes.iter().filter_map(Json::as_u64).collect()
}

/// Sizes of an argument as it is given.
fn given(json: &Json) -> Vec<u64> {
    let is_complex = json["dtype"].as_str().is_some_and(|ty| ty.starts_with('c'));
    sizes(json)
        .into_iter()
        .chain(is_complex.then_some(2))
        .collect()
}

fn arguments(manifest: &Json, translated: &TranslatedEntry) -> Vec<TensorConstant> {
    let seed = manifest["seed"].as_str().unwrap_or("0x0");
    let seed = u64::from_str_radix(&seed[2..], 16).expect("a seed");
    let pairs = described(manifest, "args")
        .iter()
        .zip(&translated.parameters)
        .enumerate();
    pairs
        .map(|(at, (json, interface))| {
            let mut stream = ModelInputStream {
                state: seed ^ (at as u64 + 1) << 40,
            };
            let ty = outside(interface, &sizes(json));
            let bounds = (json["lo"].as_f64(), json["hi"].as_f64());
            let bounds = (bounds.0.unwrap_or(0.0), bounds.1.unwrap_or(1.0));
            let size = ty.element.size() as usize;
            let mut bytes = Vec::new();
            for _ in 0..ty.element_count().unwrap_or(0) {
                let bits = stream.element(interface.element.component_element(), bounds);
                bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
            }
            TensorConstant { ty, bytes }
        })
        .collect()
}

/// Shape and bytes of an array in a file, its complex numbers as two.
fn array(path: &Path) -> Vec<u8> {
    let bytes = std::fs::read(path).expect("the array can be read");
    let header = u16::from_le_bytes([bytes[8], bytes[9]]) as usize;
    bytes[10 + header..].to_vec()
}

/// Compares a result with its description.
fn compare(
    folder: &Path,
    json: &Json,
    interface: &InterfaceTensor,
    found: &TensorConstant,
) -> Result<(), String> {
    let ty = outside(interface, &sizes(json));
    let most = json["tol"].as_f64().unwrap_or(0.0) * json["absmax"].as_f64().unwrap_or(1.0);
    let rule = OracleTolerance::Within(most);
    let whole = json["file"].as_str().map(|name| TensorConstant {
        ty: ty.clone(),
        bytes: array(&folder.join(name)),
    });
    let count = ty.element_count().unwrap_or(0) as usize;
    let mismatch = json["mismatch"].as_f64().unwrap_or(0.0);
    let Some(expected) = whole else {
        let at = array(&folder.join(json["index_file"].as_str().unwrap_or_default()));
        let values = array(&folder.join(json["value_file"].as_str().unwrap_or_default()));
        let parts = interface.element.component_count();
        let at = at
            .chunks_exact(4)
            .map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let at: Vec<usize> = at
            .flat_map(|at| (0..parts).map(move |part| at as usize * parts + part))
            .collect();
        let expected = TensorConstant {
            ty: DenseTensorType::new(ty.element, &[at.len() as u64]),
            bytes: values,
        };
        let pairs = at.iter().enumerate();
        let different = pairs.filter(|(sample, at)| {
            let (found, expected) = (found.element_bits(**at), expected.element_bits(*sample));
            !are_alike(interface.element, found, expected, rule)
        });
        let different = different.count();
        return if different as f64 <= mismatch * at.len() as f64 {
            Ok(())
        } else {
            Err(format!(
                "{different} of {} sampled elements differ",
                at.len()
            ))
        };
    };
    let differs = |at: &usize| {
        let (found, expected) = (found.element_bits(*at), expected.element_bits(*at));
        !are_alike(interface.element, found, expected, rule)
    };
    let different = (0..count).filter(differs).count();
    match first_difference(interface.element, found, &expected, rule) {
        Some(text) if different as f64 > mismatch * count as f64 => Err(format!(
            "{text}, {different} of {count} differ by more than {most:e}"
        )),
        _ => Ok(()),
    }
}

fn described<'a>(manifest: &'a Json, what: &str) -> &'a [Json] {
    manifest[what].as_array().map_or(&[], Vec::as_slice)
}

/// Runs a model, translated for its arguments' shapes or for any.
fn model(path: &Path, is_static: bool, tally: &mut OracleTally) {
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().expect("a folder");
    let bytes = std::fs::read(path).expect("the model can be read");
    let module = parse_text(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    let manifest = std::fs::read(path.with_extension("json")).expect("a manifest");
    let manifest: Json = serde_json::from_slice(&manifest).expect("a manifest");
    let shapes = if is_static {
        described(&manifest, "args").iter().map(given).collect()
    } else {
        Vec::new()
    };
    let options = TranslateOptions {
        known: KnownArguments {
            shapes,
            ..KnownArguments::default()
        },
        ..TranslateOptions::default()
    };
    let translated = match translate_for(&module, "main", &options) {
        Ok(translated) => translated,
        Err(error) => return tally.failed(&name, error, &bytes),
    };
    let arguments = arguments(&manifest, &translated);
    let results = match evaluate_function(&translated.function, arguments, work()) {
        Ok(results) => results,
        Err(EvalError::Work) => return tally.too_long.push(name.into_owned()),
        Err(error) => return tally.wrong.push(format!("{name}: {error}")),
    };
    for (at, json) in described(&manifest, "results").iter().enumerate() {
        let Some(interface) = translated.results.get(at) else {
            return tally.wrong.push(format!("{name}: no result {at}"));
        };
        if let Err(text) = compare(folder, json, interface, &results[at]) {
            return tally.wrong.push(format!("{name}: result {at}: {text}"));
        }
    }
    tally.right += 1;
}

fn folder(folder: &str, least: usize) {
    let Some(path) = find_corpus(&format!("stablehlo/{folder}")) else {
        return;
    };
    let mut tally = OracleTally::default();
    let only = std::env::var("ONLY").unwrap_or_default();
    for file in list_files(&path, ".mlir") {
        if file.to_string_lossy().contains(&only) {
            model(&file, true, &mut tally);
        }
    }
    tally.show(folder);
    assert!(
        tally.right >= least || !only.is_empty(),
        "fewer are right than were"
    );
}

#[test]
fn worked_examples_are_right() {
    folder("seeds", 4);
}

#[test]
fn models_are_right() {
    folder("models", 385);
}

/// Models of dynamic shapes, translated once for all shapes.
#[test]
fn sizes_may_be_known_late() {
    let Some(path) = find_corpus("stablehlo/models") else {
        return;
    };
    let mut tally = OracleTally::default();
    for file in list_files(&path, ".mlir") {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("dyn_") {
            model(&file, false, &mut tally);
        }
    }
    tally.show("models of dynamic shapes");
    assert!(tally.right >= 18, "fewer are right than were");
}

#[test]
fn torch_is_right() {
    folder("torch", 13);
}
