//! Modules with dimensions of unknown size: compiled once, run at several sizes.
//!
//! Each run is compared with that of a program which was compiled for the sizes. The corpus gives sizes
//! as arguments in front, integers without dimensions: they take ascending numbers, and the unknown
//! dimensions of the other arguments the same ones in order, the last for all that follow.

use super::super::Outcome;
use super::super::session;
use super::compare::{Rule, compare, largest};
use super::inputs::{Argument, make};
use super::tensor::{Tensor, encode};
use super::{call, compiled};
use spirula::{Known, Tensors};
use spirula_runtime::data::Number;
use spirula_stablehlo::mlir::{self, Module, Op, TypeKind};
use spirula_stablehlo::translate::{Element, Interface};

/// The sizes: not divisors of each other, and one that fills more than a workgroup.
const SIZES: [u64; 3] = [3, 5, 20];

/// What arguments are made from.
const SEED: u64 = 0x5eed;

/// Whether the only function that others see has dimensions of unknown size.
pub fn is_open(bytes: &[u8]) -> bool {
    let Ok(module) = mlir::parse(bytes) else {
        return false;
    };
    module
        .function("main")
        .is_some_and(|main| arguments(&module, main))
}

fn arguments(module: &Module, main: Op) -> bool {
    let body = module.regions(main).next();
    let Some(entry) = body.and_then(|region| module.blocks(region).first()) else {
        return false;
    };
    let mut types = module.arguments(*entry).map(|value| module.type_of(value));
    types.any(|ty| match module.types.kind(ty) {
        TypeKind::Tensor { shape, .. } => shape.contains(&None),
        _ => false,
    })
}

/// Compiles a module once and runs it at all sizes.
pub fn run(bytes: &[u8], session: &session::Options) -> Result<(), Outcome> {
    let (open, tensors) = compiled(bytes, None, Known::default(), session)?;
    for size in SIZES {
        let arguments = made(&tensors, size)?;
        let numbers = arguments.iter().map(number).collect();
        let values: Vec<_> = arguments.into_iter().map(Tensor::into_value).collect();
        let known = Known {
            shapes: values.iter().map(|value| value.shape.clone()).collect(),
            numbers,
        };
        let found = call(&open, &values, session)?;
        let (closed, _) = compiled(bytes, None, known, session)?;
        let expected = call(&closed, &values, session)?;
        let results = tensors.results.iter().zip(found.into_iter().zip(expected));
        for (at, (interface, (found, expected))) in results.enumerate() {
            let found = Tensor::of_value(interface.element, found)?;
            let expected = Tensor::of_value(interface.element, expected)?;
            // Sums may be folded in another order.
            let rule = Rule::Within(1e-5 * largest(&expected));
            let title = format!("result {at} at size {size}");
            compare(&title, &found, &expected, rule, 0.0)?;
        }
    }
    Ok(())
}

/// The value of a size.
fn number(tensor: &Tensor) -> Option<i64> {
    let is_size = matches!(tensor.element, Element::Int { .. }) && tensor.shape.is_empty();
    is_size.then(|| tensor.numbers().next().map(|n| n.to_int() as i64))?
}

/// Arguments at a size.
fn made(tensors: &Tensors, size: u64) -> Result<Vec<Tensor>, Outcome> {
    let is_size = |i: &&Interface| i.shape.is_empty() && matches!(i.element, Element::Int { .. });
    let count = tensors.parameters.iter().take_while(is_size).count();
    let last = count.saturating_sub(1);
    let sizes: Vec<u64> = (0..=last as u64).map(|at| size + at).collect();
    let parameters = tensors.parameters.iter().enumerate();
    let tensors = parameters.map(|(at, interface)| {
        if at < count {
            let mut bytes = Vec::new();
            encode(interface.element, Number::Int(sizes[at].into()), &mut bytes);
            return Some(Tensor {
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
        let (low, high) = bounds(interface.element);
        let argument = Argument {
            element: interface.element,
            shape: shape.collect(),
            low,
            high,
        };
        make(&argument, SEED, at)
    });
    let tensors: Option<Vec<Tensor>> = tensors.collect();
    tensors.ok_or_else(|| Outcome::failed("an argument cannot be made"))
}

/// Small values, which are also positions.
fn bounds(element: Element) -> (Number, Number) {
    match element.part() {
        Element::Float(_) => (Number::Float(-2.0), Number::Float(2.0)),
        _ => (Number::Int(0), Number::Int(3)),
    }
}
