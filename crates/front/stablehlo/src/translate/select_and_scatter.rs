//! `select_and_scatter`: the scatter that reverses the reduction of windows.

use super::dims::merged_shapes;
use super::element::TensorElement;
use super::error::TranslateResult;
use super::movement::select_value;
use super::scalar::{ElementValue, ScalarBuilder};
use super::scalar_region;
use super::translator::{StablehloTranslator, TypedTensor};
use super::window::{
    WindowAttributes, compute_windowed_shape, locate_window_element, read_windows, window_axes,
    window_sizes,
};
use crate::dialect::records::SelectAndScatterAttributes;
use crate::mlir::MlirOp;
use spirula_program::{ScalarOp as Scalar, ScalarType as Ty};
use spirula_tensor::ir::{
    NodeGraph, ScalarCombiner, StructuredOp, StructuredYield, TensorReduction, TensorShape,
    YieldDestination,
};

/// `select_and_scatter`: finds the element of each window that the selection prefers, then scatters
/// the sources to those positions.
pub(super) fn select_and_scatter(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
) -> TranslateResult<()> {
    let operands = t.tensor_operands(op)?;
    t.ensure_holds(op, operands.len() == 3, "has a wrong number of operands")?;
    let [operand, source, initial] = [0, 1, 2].map(|at| operands[at].clone());
    let input = t.tensor_shape(&operand);
    let attributes: SelectAndScatterAttributes = t.read_attributes(op)?;
    let sizes = window_sizes(t, op, attributes.window_dimensions.as_ref(), input.len())?;
    let attributes = WindowAttributes {
        strides: attributes.window_strides,
        padding: attributes.padding,
        ..WindowAttributes::default()
    };
    let windows = read_windows(t, op, &input, &sizes, &attributes)?;
    let shape = compute_windowed_shape(t, op, &windows)?;
    let fits = merged_shapes(&shape, &t.tensor_shape(&source)).is_some()
        && t.tensor_shape(&initial).is_empty();
    t.ensure_holds(op, fits, "has a source of another shape")?;
    let mut s = StructuredOp::with_parallel_axes(&shape);
    let point = s.axis_indices();
    let offsets = window_axes(&mut s, &windows);
    let (position, inside) = locate_window_element(t, &mut s, &windows, &point, &offsets);
    let mut c = ScalarBuilder::new(&mut s.body);
    let none = c.body.intern_i64(-1);
    let mut flat = c.body.intern_i64(0);
    for (index, size) in position.iter().zip(&input) {
        let size = c.body.intern_size(*size);
        flat = c.mul(flat, size);
        flat = c.add(flat, *index);
    }
    let flat = c.select(inside, flat, none);
    let value = t.read_element(&mut s, &operand, &position);
    let zero = ScalarBuilder::new(&mut s.body).make_constant_value(value.element, 0.0);
    let value = select_value(&mut s, inside, &value, &zero);
    let combiner = build_preference_combiner(t, op, operand.element)?;
    let mut initials = zero.nodes.to_vec();
    initials.push(none);
    let mut values = value.nodes.to_vec();
    values.push(flat);
    let chosen = s.add_reduction(TensorReduction {
        initial: initials,
        values,
        combiner,
    });
    s.add_yield(chosen[chosen.len() - 1]);
    let positions = t.builder.add_structured(s)[0];
    let positions = TypedTensor::new(TensorElement::I64, positions);
    scatter_to(t, op, &positions, &source, &initial, &input)
}

/// The combiner that returns the preferred one of two candidates, each a value and a position. The
/// selection gets the candidate with the lower position first, whatever the order of the reduction.
/// Position -1 is no candidate.
fn build_preference_combiner(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    element: TensorElement,
) -> TranslateResult<ScalarCombiner> {
    let block = t.region_block(op, 0)?;
    let count = element.component_count();
    let mut body = NodeGraph::default();
    let mut arguments = Vec::new();
    for side in 0..2 {
        let first = side * (count + 1);
        let nodes =
            (0..count).map(|at| body.intern_argument((first + at) as u32, element.storage_type()));
        let val = ElementValue {
            element,
            nodes: nodes.collect(),
        };
        let at = body.intern_argument((first + count) as u32, Ty::I64);
        arguments.push((val, at));
    }
    let (a, a_at) = arguments[0].clone();
    let (b, b_at) = arguments[1].clone();
    let mut c = ScalarBuilder::new(&mut body);
    let (zero, is_first) = (c.body.intern_i64(0), c.le(a_at, b_at));
    let pick = |c: &mut ScalarBuilder<'_>, condition, a: &ElementValue, b: &ElementValue| {
        let parts = a.nodes.iter().zip(&b.nodes);
        let nodes = parts.map(|(a, b)| c.select(condition, *a, *b)).collect();
        ElementValue { element, nodes }
    };
    let first = pick(&mut c, is_first, &a, &b);
    let second = pick(&mut c, is_first, &b, &a);
    let keeps =
        scalar_region::translate_scalar_region(t, &mut body, block, vec![first, second], None)?;
    t.ensure_holds(
        op,
        keeps.len() == 1 && keeps[0].element == TensorElement::Bool,
        "has a wrong selection",
    )?;
    let mut c = ScalarBuilder::new(&mut body);
    let differs = c.apply_binary(Scalar::Eq, keeps[0].node(), is_first);
    let (a_none, b_none) = (c.lt(a_at, zero), c.lt(b_at, zero));
    let truth = c.truth_constant(true);
    let takes_a = c.select(b_none, truth, differs);
    let a_some = c.not(a_none);
    let takes_a = c.and(a_some, takes_a);
    let mut results = pick(&mut c, takes_a, &a, &b).nodes.to_vec();
    results.push(c.select(takes_a, a_at, b_at));
    Ok(ScalarCombiner { body, results })
}

/// Scatters sources to flat positions of a tensor of an initial value.
fn scatter_to(
    t: &mut StablehloTranslator<'_>,
    op: MlirOp,
    positions: &TypedTensor,
    source: &TypedTensor,
    initial: &TypedTensor,
    sizes: &TensorShape,
) -> TranslateResult<()> {
    let element = source.element;
    t.ensure_holds(
        op,
        initial.element == element,
        "has an initial value of another type",
    )?;
    let count = t.compute_dim(sizes, |c, sizes| {
        let one = c.body.intern_i64(1);
        sizes
            .iter()
            .fold(one, |product, size| c.mul(product, *size))
    });
    let flat: TensorShape = [count].into_iter().collect();
    let base = t.broadcast_tensor(op, initial, &flat, Vec::new())?;
    let block = t.region_block(op, 1)?;
    let combiners = super::scatter::part_combiners(t, op, block, element)?;
    let mut s = StructuredOp::with_parallel_axes(&t.tensor_shape(source));
    let point = s.axis_indices();
    let position = t.read_element(&mut s, positions, &point).node();
    let value = t.read_element(&mut s, source, &point);
    for (at, combiner) in combiners.into_iter().enumerate() {
        s.yields.push(StructuredYield {
            value: value.nodes[at],
            destination: YieldDestination::Scatter {
                base: base.parts[at],
                indices: vec![position],
                combiner,
                distinct: false,
            },
        });
    }
    let parts = t.builder.add_structured(s);
    let scattered = TypedTensor::from_components(element, &parts);
    let result = t.reshape_tensor(op, &scattered, sizes.clone())?;
    t.bind_result(op, result)
}
