//! Entry points.

use super::check::Check;
use super::element::Element;
use super::error::{Error, Result};
use super::scalar::{Calc, Val};
use super::translator::{Declared, Item, Tensor, Translator};
use crate::mlir::{Module, Op, Value as Mlir};
use spirula_diagnostics::Place;
use spirula_tensor::ir::{Dim, Function, Shape, Structured, TensorType, Value};

/// A tensor as the program's user sees it.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Type of the elements.
    pub element: Element,
    /// Sizes; none is a dynamic one.
    pub shape: Vec<Option<u64>>,
}

/// A translated entry point.
#[derive(Clone, Debug)]
pub struct Translated {
    /// The function.
    pub function: Function,
    /// Its parameters.
    pub parameters: Vec<Interface>,
    /// Its results; those that only checks compare come after them, without being listed.
    pub results: Vec<Interface>,
    /// What has to hold of its results.
    pub checks: Vec<Check>,
}

/// Translates a function of a module and everything that it calls.
///
/// # Errors
/// Where the module is not well formed, or uses what is not known.
pub fn translate(module: &Module, entry: &str) -> Result<Translated> {
    translate_for(module, entry, &Known::default())
}

/// What is known of arguments when a function is translated.
#[derive(Clone, Debug, Default)]
pub struct Known {
    /// Shapes of the first arguments as they are given, those of complex numbers with a last
    /// dimension for both parts: dimensions of unknown size have their sizes.
    pub shapes: Vec<Vec<u64>>,
    /// Values of the first arguments, where they are integers without dimensions: sizes that are
    /// computed of them are known.
    pub numbers: Vec<Option<i64>>,
}

/// The same for arguments of which something is known.
///
/// # Errors
/// As [`translate`]; also where a shape is not one of its parameter.
pub fn translate_for(module: &Module, entry: &str, known: &Known) -> Result<Translated> {
    let function = module.function(entry);
    let function = function
        .ok_or_else(|| Error::invalid(Place::Unknown, format!("there is no function @{entry}")))?;
    let mut t = Translator::new(module, entry);
    let body = t.region(function, 0)?;
    let mut parameters = Vec::new();
    for (at, argument) in module.arguments(body).enumerate() {
        parameters.push(parameter(&mut t, function, (at, argument), known)?);
    }
    let results = t.block(body)?;
    let mut interfaces = Vec::new();
    for item in results {
        let Item::Tensor(tensor) = item else {
            return Err(t.unsupported(function, "result that is no tensor"));
        };
        interfaces.push(interface(&t, &tensor));
        result(&mut t, function, &tensor)?;
    }
    let checks = results_of_checks(&mut t, function, interfaces.len())?;
    Ok(Translated {
        function: t.builder.finish(),
        parameters,
        results: interfaces,
        checks,
    })
}

fn interface(t: &Translator<'_>, tensor: &Tensor) -> Interface {
    Interface {
        element: tensor.element,
        shape: t.shape(tensor).iter().map(|dim| dim.known()).collect(),
    }
}

/// Sizes with a last dimension for both parts of a complex number.
fn interleaved(shape: &Shape) -> Shape {
    let mut shape = shape.clone();
    shape.push(Dim::Static(2));
    shape
}

fn parameter(
    t: &mut Translator<'_>,
    op: Op,
    (at, argument): (usize, Mlir),
    known: &Known,
) -> Result<Interface> {
    let (element, mut declared) = t.tensor_type(op, t.module.type_of(argument))?;
    let rank = declared.len();
    if element.parts() == 2 {
        declared.push(Some(2));
    }
    let given = known.shapes.get(at).map(Vec::as_slice);
    let outside = parameter_shape(t, &declared, given);
    let outside = outside.ok_or_else(|| {
        let given: Declared = given.into_iter().flatten().copied().map(Some).collect();
        let (given, takes) = (sizes(&given), sizes(&declared));
        t.invalid(
            op,
            format!("argument {at} has sizes {given}, it takes {takes}"),
        )
    })?;
    let shape: Shape = outside[..rank].iter().cloned().collect();
    let name = format!("arg{at}");
    let ty = TensorType {
        element: element.storage(),
        shape: outside,
    };
    let value = t.builder.parameter(&name, ty, element.is_unsigned());
    let tensor = match element.parts() {
        1 => Tensor::new(element, value),
        parts => {
            let whole = Tensor::new(element.part(), value);
            let mut halves = Vec::new();
            for part in 0..parts as i64 {
                let half = t.moved(&whole, &shape, |c, point| {
                    let mut position = point.to_vec();
                    position.push(c.body.i64(part));
                    position
                })?;
                halves.push(half.part());
            }
            Tensor::of(element, &halves)
        }
    };
    let interface = interface(t, &tensor);
    let mut tensor = tensor;
    t.follow_parameter(&mut tensor, known.numbers.get(at).copied().flatten());
    t.bind(argument, Item::Tensor(tensor));
    Ok(interface)
}

/// Sizes as types write them, `[2x?]`.
fn sizes(declared: &Declared) -> String {
    let text = declared.iter().map(|size| match size {
        Some(size) => size.to_string(),
        None => "?".to_owned(),
    });
    format!("[{}]", text.collect::<Vec<_>>().join("x"))
}

/// The shape of a parameter: given sizes, or values that are known with the argument.
fn parameter_shape(
    t: &mut Translator<'_>,
    declared: &Declared,
    given: Option<&[u64]>,
) -> Option<Shape> {
    let Some(given) = given else {
        let size = |size: &Option<u64>| match size {
            Some(size) => Dim::Static(*size),
            None => Dim::Value(t.builder.size()),
        };
        return Some(declared.iter().map(size).collect());
    };
    let mut pairs = declared.iter().zip(given);
    let fits = pairs.all(|(declared, given)| declared.is_none_or(|size| size == *given));
    let whole = fits && declared.len() == given.len();
    whole.then(|| given.iter().map(|size| Dim::Static(*size)).collect())
}

fn result(t: &mut Translator<'_>, _op: Op, tensor: &Tensor) -> Result<()> {
    let value = joined(t, tensor)?;
    t.builder.result(value, tensor.element.is_unsigned());
    Ok(())
}

/// A tensor as one value: parts of complex numbers interleaved.
fn joined(t: &mut Translator<'_>, tensor: &Tensor) -> Result<Value> {
    let [re, im] = tensor.parts[..] else {
        return Ok(tensor.part());
    };
    let shape = interleaved(&t.shape(tensor));
    let part = tensor.element.part();
    let (re, im) = (Tensor::new(part, re), Tensor::new(part, im));
    let joined = t.map(&shape, |t, s: &mut Structured, point| {
        let (side, position) = (point[point.len() - 1], &point[..point.len() - 1]);
        let (re, im) = (t.read(s, &re, position), t.read(s, &im, position));
        let mut c = Calc::new(&mut s.body);
        let zero = c.body.i64(0);
        let is_real = c.eq(side, zero);
        Ok(Val::new(part, c.cond(is_real, re.node(), im.node())))
    })?;
    Ok(joined.part())
}

/// What checks compare, as further results.
fn results_of_checks(t: &mut Translator<'_>, op: Op, first: usize) -> Result<Vec<Check>> {
    let mut next = first;
    let mut checks = Vec::new();
    for (mut check, found, expected) in std::mem::take(&mut t.checks) {
        for (tensor, at) in [(&found, &mut check.found), (&expected, &mut check.expected)] {
            *at = next;
            next += 1;
            result(t, op, tensor)?;
        }
        checks.push(check);
    }
    Ok(checks)
}
