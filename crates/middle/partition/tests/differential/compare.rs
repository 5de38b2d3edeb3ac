//! Evaluation of a program before and after partitioning.

use spirula_partition::{PartitionOptions, PartitionReport, partition_module, wrap_as_manual};
use spirula_stablehlo::mlir::{MlirFloat, MlirModule, SsaNumbering, parse_text};
use spirula_stablehlo::sharding::{
    AxisReference, DeviceMesh, EntryShardings, MeshAxis, TensorSharding,
};
use spirula_stablehlo::translate::{
    InterfaceTensor, TensorElement, TranslatedEntry, translate_entry,
};
use spirula_stablehlo::verify_module;
use spirula_tensor::ir::{DenseTensorType, TensorConstant};
use spirula_tensor::{EvalError, evaluate_function};

/// Outputs of SplitMix64.
pub struct RandomStream(pub u64);

impl RandomStream {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ mixed >> 31
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound.max(1)
    }
}

/// Bounds of the elements of an argument.
#[derive(Clone, Copy)]
pub struct ElementBounds {
    pub low: f64,
    pub high: f64,
}

/// Why a comparison gives no verdict.
pub enum SkipReason {
    /// The program itself is not translated.
    Unsupported,
    /// The evaluation takes too long.
    Work,
}

/// The verdict about a program.
pub enum PartitionVerdict {
    Equal(PartitionReport),
    Skipped(SkipReason),
    Wrong(String),
}

fn make_argument(
    interface: &InterfaceTensor,
    bounds: ElementBounds,
    stream: &mut RandomStream,
) -> Option<TensorConstant> {
    let mut shape: Vec<u64> = interface.shape.iter().copied().collect::<Option<_>>()?;
    if interface.element.component_count() == 2 {
        shape.push(2);
    }
    let ty = DenseTensorType::new(interface.element.storage_type(), &shape);
    let size = ty.element.size() as usize;
    let mut bytes = Vec::new();
    let span = bounds.high - bounds.low;
    for _ in 0..ty.element_count().unwrap_or(0) {
        let random = stream.next();
        let unit = (random >> 40) as f64 * 2f64.powi(-24);
        let bits = match interface.element.component_element() {
            TensorElement::Bool => u64::from(unit >= 0.5),
            TensorElement::Float(MlirFloat::F64) => (bounds.low + span * unit).to_bits(),
            TensorElement::Float(float) => float.format().encode_value(bounds.low + span * unit),
            _ => {
                let span = (span as i128).max(1);
                (bounds.low as i128 + i128::from(random >> 11).rem_euclid(span)) as u64
            }
        };
        bytes.extend_from_slice(&bits.to_le_bytes()[..size]);
    }
    Some(TensorConstant { ty, bytes })
}

fn translate(module: &MlirModule) -> Result<TranslatedEntry, String> {
    translate_entry(module, "main").map_err(|error| error.to_string())
}

/// The largest difference of elements, in terms of the largest element.
fn find_difference(
    element: TensorElement,
    found: &TensorConstant,
    expected: &TensorConstant,
) -> Option<f64> {
    if found.ty != expected.ty {
        return Some(f64::INFINITY);
    }
    let count = found.ty.element_count().unwrap_or(0) as usize;
    let TensorElement::Float(float) = element.component_element() else {
        let different =
            (0..count).filter(|at| found.element_bits(*at) != expected.element_bits(*at));
        let different = different.count();
        return (different > 0).then_some(different as f64 / count as f64);
    };
    let format = float.format();
    let decode = |tensor: &TensorConstant, at| format.decode_bits(tensor.element_bits(at));
    let mut largest = 0f64;
    let mut difference = 0f64;
    for at in 0..count {
        let (a, b) = (decode(found, at), decode(expected, at));
        if a == b || a.is_nan() && b.is_nan() {
            largest = if a.is_finite() {
                largest.max(a.abs())
            } else {
                largest
            };
            continue;
        }
        let apart = (a - b).abs();
        difference = difference.max(if apart.is_nan() { f64::INFINITY } else { apart });
        largest = if b.is_finite() {
            largest.max(b.abs())
        } else {
            largest
        };
    }
    (difference > 0.0).then(|| difference / largest.max(1e-30))
}

/// The most that results may differ.
fn find_tolerance(element: TensorElement) -> f64 {
    match element.component_element() {
        TensorElement::Float(MlirFloat::F64) => 1e-9,
        TensorElement::Float(MlirFloat::F32) => 2e-4,
        TensorElement::Float(MlirFloat::F16) => 2e-2,
        TensorElement::Float(_) => 1e-1,
        _ => 0.0,
    }
}

/// Partitions a program and compares its results with those that it has as a whole.
pub fn compare_program(
    module: &MlirModule,
    shardings: Option<EntryShardings>,
    bounds: &[ElementBounds],
    work: u64,
) -> PartitionVerdict {
    let Ok(whole) = translate(module) else {
        return PartitionVerdict::Skipped(SkipReason::Unsupported);
    };
    let mut stream = RandomStream(1);
    let mut arguments = Vec::new();
    for (at, interface) in whole.parameters.iter().enumerate() {
        let default = ElementBounds {
            low: -1.0,
            high: 1.0,
        };
        let bounds = bounds.get(at).copied().unwrap_or(default);
        match make_argument(interface, bounds, &mut stream) {
            Some(argument) => arguments.push(argument),
            None => return PartitionVerdict::Skipped(SkipReason::Unsupported),
        }
    }
    let expected = match evaluate_function(&whole.function, arguments.clone(), work) {
        Ok(results) => results,
        Err(EvalError::Work) => return PartitionVerdict::Skipped(SkipReason::Work),
        Err(error) => return PartitionVerdict::Wrong(error.to_string()),
    };
    let options = PartitionOptions {
        shardings,
        ..PartitionOptions::default()
    };
    let partitioned = match partition_module(module, "main", &options) {
        Ok(partitioned) => partitioned,
        Err(error) => return PartitionVerdict::Wrong(format!("partitioning: {error}")),
    };
    let wrong = |message: String| {
        if std::env::var("SHOW").is_ok() {
            let text = partitioned.module.to_generic_text(SsaNumbering::Unique);
            eprintln!("{text}");
        }
        PartitionVerdict::Wrong(message)
    };
    let wrapped = wrap_as_manual(&partitioned, module);
    for module in [&partitioned.module, &wrapped] {
        if let Some(fault) = verify_module(module).first() {
            return wrong(format!("verification: {fault}"));
        }
    }
    let text = wrapped.to_generic_text(SsaNumbering::Unique);
    let again = match parse_text(text.as_bytes()) {
        Ok(again) => again,
        Err(error) => return wrong(format!("reading again: {error}")),
    };
    let local = match translate(&again) {
        Ok(local) => local,
        Err(error) => return wrong(format!("translation: {error}")),
    };
    let found = match evaluate_function(&local.function, arguments, 16 * work) {
        Ok(found) => found,
        Err(EvalError::Work) => return PartitionVerdict::Skipped(SkipReason::Work),
        Err(error) => return wrong(error.to_string()),
    };
    for (at, interface) in whole.results.iter().enumerate() {
        let difference = find_difference(interface.element, &found[at], &expected[at]);
        let most = find_tolerance(interface.element);
        if let Some(difference) = difference.filter(|difference| *difference > most) {
            return wrong(format!("result {at} differs by {difference:e}"));
        }
    }
    PartitionVerdict::Equal(partitioned.report)
}

/// A mesh of axes with these sizes, named `a`, `b` and so on.
pub fn make_mesh(sizes: &[u64]) -> DeviceMesh {
    let axes = sizes.iter().zip(b'a'..).map(|(size, name)| MeshAxis {
        name: char::from(name).to_string(),
        size: *size,
    });
    DeviceMesh::new(axes.collect(), None).expect("a mesh")
}

/// The sharding whose dimensions are split by these axes.
pub fn make_sharding(mesh: &DeviceMesh, dimensions: &[Vec<usize>]) -> TensorSharding {
    let axis = |at: &usize| AxisReference {
        name: mesh.axes[*at].name.clone(),
        part: None,
    };
    TensorSharding {
        mesh: mesh.clone(),
        dimensions: dimensions
            .iter()
            .map(|axes| axes.iter().map(axis).collect())
            .collect(),
        open: vec![false; dimensions.len()],
        unreduced: Vec::new(),
        extremes: Vec::new(),
    }
}
