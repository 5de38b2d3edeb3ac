//! Regions that compute scalars: combiners of reductions and scatters, orders of sorts.

use super::bits;
use super::constant::scalar_bits;
use super::element::Element;
use super::error::Result;
use super::scalar::{Calc, Call, Val, function};
use super::table::plain_name;
use super::translator::Translator;
use crate::mlir::{Block, Float, Op, Value as Mlir};
use spirula_tensor::ir::{Body, Combiner};

/// What values of regions are, each with the number of the body that its nodes are in.
#[derive(Debug)]
pub(super) struct Scalars {
    values: Vec<Option<(u32, Val)>>,
    body: u32,
}

impl Scalars {
    /// Of so many values nothing is known.
    pub fn new(values: usize) -> Self {
        Scalars {
            values: vec![None; values],
            body: 0,
        }
    }

    fn set(&mut self, value: Mlir, val: Val) {
        self.values[value.index()] = Some((self.body, val));
    }

    fn get(&self, value: Mlir) -> Option<&Val> {
        let (body, val) = self.values[value.index()].as_ref()?;
        (*body == self.body).then_some(val)
    }
}

/// Computes a region on scalars. Floats of the format `wide` are `f32` within: those of 16 bits and
/// less are folded without rounding in between.
pub(super) fn scalars(
    t: &mut Translator<'_>,
    body: &mut Body,
    block: Block,
    arguments: Vec<Val>,
    wide: Option<Float>,
) -> Result<Vec<Val>> {
    t.scalars.body += 1;
    scalar_block(t, body, block, arguments, wide, 0)
}

/// Deepest nesting of calls and branches.
const DEPTH: usize = 50;

fn scalar_block(
    t: &mut Translator<'_>,
    body: &mut Body,
    block: Block,
    arguments: Vec<Val>,
    wide: Option<Float>,
    depth: usize,
) -> Result<Vec<Val>> {
    let module = t.module;
    let ops = module.ops(block);
    let Some(last) = ops.last().copied() else {
        return Err(super::Error::invalid(
            spirula_diagnostics::Place::Unknown,
            "a region is empty",
        ));
    };
    let parameters = module.arguments(block);
    let fits = parameters.len() == arguments.len();
    t.ensure(last, fits && depth < DEPTH, "ends a region of another type")?;
    for (parameter, argument) in parameters.zip(arguments) {
        let element = scalar_type(t, last, parameter, wide)?;
        t.ensure(
            last,
            element == argument.element,
            "ends a region of another type",
        )?;
        t.scalars.set(parameter, argument);
    }
    for op in ops {
        if matches!(module.name(*op), "stablehlo.return" | "func.return") {
            let operands = module.operands(*op).iter();
            return operands.map(|value| scalar(t, body, *op, *value)).collect();
        }
        scalar_op(t, body, *op, wide, depth)?;
    }
    Err(t.invalid(last, "a region does not end in a return"))
}

/// The element type of a value of rank 0.
fn scalar_type(t: &Translator<'_>, op: Op, value: Mlir, wide: Option<Float>) -> Result<Element> {
    let (element, shape) = t.tensor_type(op, t.module.type_of(value))?;
    if !shape.is_empty() {
        return Err(t.unsupported(op, "region that computes with tensors"));
    }
    Ok(widened(element, wide))
}

/// The element type that is computed with.
pub(super) fn widened(element: Element, wide: Option<Float>) -> Element {
    match (element, wide) {
        (Element::Float(float), Some(wide)) if float == wide => Element::Float(Float::F32),
        _ => element,
    }
}

/// What a value is; constants may stand outside of the region.
fn scalar(t: &mut Translator<'_>, body: &mut Body, op: Op, value: Mlir) -> Result<Val> {
    if let Some(val) = t.scalars.get(value) {
        return Ok(val.clone());
    }
    let constant = t.module.defining_op(value);
    let constant = constant.filter(|op| t.module.name(*op) == "stablehlo.constant");
    match constant {
        Some(constant) => constant_val(t, body, constant, None),
        None => Err(t.unsupported(op, "region that uses a value from outside")),
    }
}

fn constant_val(
    t: &mut Translator<'_>,
    body: &mut Body,
    op: Op,
    wide: Option<Float>,
) -> Result<Val> {
    let (given, shape) = t.result_type(op, 0)?;
    t.ensure(op, shape.is_empty(), "is no scalar")?;
    let element = t.declared_element(op, 0)?;
    let literals = scalar_bits(t, op, element.stored());
    let literals = literals.ok_or_else(|| t.invalid(op, "a constant has no elements"))?;
    let mut val = Val {
        element,
        nodes: literals.into_iter().map(|l| body.literal(l)).collect(),
    };
    if given != element {
        val = t.real_scalar(op, body, val)?;
    }
    let to = widened(element, wide);
    let converted = Calc::new(body).convert(&val, to);
    converted.ok_or_else(|| t.unsupported(op, format!("constant of {element}")))
}

fn scalar_op(
    t: &mut Translator<'_>,
    body: &mut Body,
    op: Op,
    wide: Option<Float>,
    depth: usize,
) -> Result<()> {
    let module = t.module;
    let name = plain_name(module.name(op));
    let results: Vec<Mlir> = module.results(op).collect();
    if name == "constant" {
        let val = constant_val(t, body, op, wide)?;
        if let Some(result) = results.first() {
            t.scalars.set(*result, val);
        }
        return Ok(());
    }
    let operands = module.operands(op).iter();
    let operands: Vec<Val> = operands
        .map(|value| scalar(t, body, op, *value))
        .collect::<Result<_>>()?;
    let callee = match name {
        "func.call" => module.callee(op, "callee"),
        "composite" => module.callee(op, "decomposition"),
        _ => None,
    };
    let values = if let Some(callee) = callee {
        let function = module.function(callee);
        let function = function.ok_or_else(|| t.invalid(op, format!("no function @{callee}")))?;
        let block = t.region(function, 0)?;
        scalar_block(t, body, block, operands, wide, depth + 1)?
    } else if name == "bitcast_convert" {
        let to = t.result_element(op, 0)?;
        let recast = bits::recast(&mut Calc::new(body), &operands, to);
        vec![recast.ok_or_else(|| t.unsupported(op, "bitcast_convert in a region"))?]
    } else if IDENTITIES.contains(&name) {
        operands.into_iter().take(1).collect()
    } else {
        vec![apply(t, body, op, &operands, wide)?]
    };
    t.ensure(
        op,
        values.len() == results.len(),
        "has another number of results",
    )?;
    for (result, val) in results.into_iter().zip(values) {
        let element = scalar_type(t, op, result, wide)?;
        t.ensure(op, element == val.element, "has a result of another type")?;
        t.scalars.set(result, val);
    }
    Ok(())
}

/// Operations that give a scalar as it is.
const IDENTITIES: &[&str] = &[
    "reshape",
    "broadcast_in_dim",
    "transpose",
    "reverse",
    "optimization_barrier",
];

/// The result of an operation that a row of the table computes.
fn apply(
    t: &mut Translator<'_>,
    body: &mut Body,
    op: Op,
    operands: &[Val],
    wide: Option<Float>,
) -> Result<Val> {
    let name = t.module.name(op);
    let Some((arity, function)) = function(plain_name(name)) else {
        return Err(t.unsupported(op, format!("{name} in a region")));
    };
    t.ensure(op, arity == operands.len(), "has too few or many operands")?;
    let element = t.result_element(op, 0)?;
    let call = Call {
        module: t.module,
        op,
        result: widened(t.expressed(element), wide),
    };
    // Quantised scalars are computed with as the numbers that they stand for.
    let operands = operands.iter().cloned();
    let operands: Vec<Val> = operands
        .map(|val| t.real_scalar(op, body, val))
        .collect::<Result<_>>()?;
    call.check_operands(t, &operands)?;
    let result = function(&mut Calc::new(body), &call, &operands);
    let unknown = || t.unsupported(op, format!("{name} of {}", operands[0].element));
    t.stored_scalar(op, body, result.ok_or_else(unknown)?, element)
}

/// A combiner of a region: its arguments are the parts of the scalars of these types in turn.
pub(super) fn combiner(
    t: &mut Translator<'_>,
    op: Op,
    block: Block,
    elements: &[Element],
    wide: Option<Float>,
) -> Result<(Combiner, Vec<Val>)> {
    let mut body = Body::default();
    let mut number = 0;
    let arguments = elements.iter().map(|element| Val {
        element: *element,
        nodes: (0..element.parts())
            .map(|_| {
                number += 1;
                body.argument(number - 1, element.storage())
            })
            .collect(),
    });
    let arguments = arguments.collect();
    let results = scalars(t, &mut body, block, arguments, wide)?;
    t.ensure(op, !results.is_empty(), "has a region without results")?;
    let nodes = results.iter().flat_map(|val| val.nodes.clone()).collect();
    let combiner = Combiner {
        body,
        results: nodes,
    };
    Ok((combiner, results))
}
