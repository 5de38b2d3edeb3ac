//! Modules with dimensions of unknown size: they are compiled once and run at several sizes.
//!
//! Each run is compared with a program that was compiled for the sizes. In the corpus the first arguments are sizes:
//! integers without dimensions. They get ascending numbers. The unknown dimensions of the other arguments get the same
//! numbers in order, and the last number for all that follow.

use super::super::TestOutcome;
use super::super::session;
use super::compare::{ElementTolerance, compare_tensors, largest_finite_magnitude};
use super::inputs::{RandomTensorSpec, make_random_tensor};
use super::tensor::{TestTensor, encode_component};
use super::{call_sole_entry, compile_function};
use spirula::{KnownArguments, TensorSignature};
use spirula_runtime::data::ElementNumber;
use spirula_stablehlo::mlir::{self, MlirModule, MlirOp, MlirTypeKind};
use spirula_stablehlo::translate::{InterfaceTensor, TensorElement};

/// The sizes. None divides another, and one fills more than a workgroup.
const SIZES: [u64; 3] = [3, 5, 20];

/// Seed of the arguments.
const SEED: u64 = 0x5eed;

/// Whether the entry point has dimensions of unknown size.
pub fn is_open(bytes: &[u8]) -> bool {
    let Ok(module) = mlir::parse_text(bytes) else {
        return false;
    };
    module
        .find_function("main")
        .is_some_and(|main| has_runtime_sizes(&module, main))
}

fn has_runtime_sizes(module: &MlirModule, main: MlirOp) -> bool {
    let body = module.regions(main).next();
    let Some(entry) = body.and_then(|region| module.blocks(region).first()) else {
        return false;
    };
    let mut types = module.arguments(*entry).map(|value| module.type_of(value));
    types.any(|ty| match module.types.kind(ty) {
        MlirTypeKind::Tensor { shape, .. } => shape.contains(&None),
        _ => false,
    })
}

/// Compiles a module once and runs it at all sizes.
pub fn run_all_sizes(bytes: &[u8], session: &session::TestEnvironment) -> Result<(), TestOutcome> {
    let (open, tensors) = compile_function(bytes, None, KnownArguments::default(), session)?;
    for size in SIZES {
        let arguments = make_sized_arguments(&tensors, size)?;
        let numbers = arguments.iter().map(read_size_value).collect();
        let values: Vec<_> = arguments.into_iter().map(TestTensor::into_value).collect();
        let known = KnownArguments {
            shapes: values.iter().map(|value| value.shape.clone()).collect(),
            numbers,
        };
        let found = call_sole_entry(&open, &values, session)?;
        let (closed, _) = compile_function(bytes, None, known, session)?;
        let expected = call_sole_entry(&closed, &values, session)?;
        let results = tensors.results.iter().zip(found.into_iter().zip(expected));
        for (at, (interface, (found, expected))) in results.enumerate() {
            let found = TestTensor::of_value(interface.element, found)?;
            let expected = TestTensor::of_value(interface.element, expected)?;
            // Sums may be computed in another order.
            let rule = ElementTolerance::Within(1e-5 * largest_finite_magnitude(&expected));
            let title = format!("result {at} at size {size}");
            compare_tensors(&title, &found, &expected, rule, 0.0)?;
        }
    }
    Ok(())
}

/// The value of a size.
fn read_size_value(tensor: &TestTensor) -> Option<i64> {
    let is_size = matches!(tensor.element, TensorElement::Int { .. }) && tensor.shape.is_empty();
    is_size.then(|| tensor.numbers().next().map(|n| n.to_int() as i64))?
}

/// Makes arguments at a size.
fn make_sized_arguments(
    tensors: &TensorSignature,
    size: u64,
) -> Result<Vec<TestTensor>, TestOutcome> {
    let is_size =
        |i: &&InterfaceTensor| i.shape.is_empty() && matches!(i.element, TensorElement::Int { .. });
    let count = tensors.parameters.iter().take_while(is_size).count();
    let last = count.saturating_sub(1);
    let sizes: Vec<u64> = (0..=last as u64).map(|at| size + at).collect();
    let parameters = tensors.parameters.iter().enumerate();
    let tensors = parameters.map(|(at, interface)| {
        if at < count {
            let mut bytes = Vec::new();
            encode_component(
                interface.element,
                ElementNumber::Int(sizes[at].into()),
                &mut bytes,
            );
            return Some(TestTensor {
                element: interface.element,
                shape: Vec::new(),
                bytes,
            });
        }
        let mut open = 0;
        let shape = interface.shape.iter().map(|dim| {
            let size = dim.unwrap_or_else(|| {
                open += 1;
                sizes[last.min(open - 1)]
            });
            size as usize
        });
        let (low, high) = small_value_bounds(interface.element);
        let argument = RandomTensorSpec {
            element: interface.element,
            shape: shape.collect(),
            low,
            high,
        };
        make_random_tensor(&argument, SEED, at)
    });
    let tensors: Option<Vec<TestTensor>> = tensors.collect();
    tensors.ok_or_else(|| TestOutcome::failed("an argument cannot be made"))
}

/// Bounds of small values, which are valid positions, too.
fn small_value_bounds(element: TensorElement) -> (ElementNumber, ElementNumber) {
    match element.component_element() {
        TensorElement::Float(_) => (ElementNumber::Float(-2.0), ElementNumber::Float(2.0)),
        _ => (ElementNumber::Int(0), ElementNumber::Int(3)),
    }
}
