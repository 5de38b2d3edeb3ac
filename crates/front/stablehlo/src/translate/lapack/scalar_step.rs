//! Loops and steps on single numbers, which sequential algorithms consist of: one matrix of a batch after another.

use super::finish_all;
use crate::translate::element::TensorElement;
use crate::translate::error::TranslateResult;
use crate::translate::scalar::{ElementValue, ScalarBuilder};
use crate::translate::translator::{StablehloTranslator, TypedTensor};
use spirula_program::{ScalarLiteral, ScalarOp as Scalar};
use spirula_tensor::ir::{
    DimExtent, ScalarNode, StructuredOp, StructuredYield, TensorValue, YieldDestination,
};

/// Numbers that are computed once, each as a tensor of rank 0. `compute` may add reduced axes.
pub(super) fn compute_scalars(
    t: &mut StablehloTranslator<'_>,
    compute: impl FnOnce(&StablehloTranslator<'_>, &mut StructuredOp) -> Vec<ElementValue>,
) -> Vec<TypedTensor> {
    let mut s = StructuredOp::default();
    let values = compute(t, &mut s);
    finish_all(t, s, &values)
}

/// An integer as a tensor of rank 0.
pub(super) fn make_integer(t: &mut StablehloTranslator<'_>, value: i64) -> TypedTensor {
    let value = t.builder.add_splat(ScalarLiteral::from_i64(value), &[]);
    TypedTensor::new(TensorElement::I64, value)
}

/// The value of a tensor of rank 0.
pub(super) fn read_scalar(
    t: &StablehloTranslator<'_>,
    s: &mut StructuredOp,
    tensor: &TypedTensor,
) -> ElementValue {
    t.read_element(s, tensor, &[])
}

/// A loop that replaces tensors as long as a condition on them holds.
pub(super) fn repeat_while(
    t: &mut StablehloTranslator<'_>,
    initial: &[TypedTensor],
    condition: impl FnOnce(&StablehloTranslator<'_>, &mut StructuredOp, &[TypedTensor]) -> ScalarNode,
    step: impl FnOnce(&mut StablehloTranslator<'_>, &[TypedTensor]) -> TranslateResult<Vec<TypedTensor>>,
) -> TranslateResult<Vec<TypedTensor>> {
    let parts = list_parts(initial);
    let types: Vec<_> = parts
        .iter()
        .map(|part| t.builder.ty(*part).clone())
        .collect();
    let state = t.builder.begin_block(&types);
    let state = regroup_parts(initial, &state);
    let mut s = StructuredOp::default();
    let goes_on = condition(t, &mut s, &state);
    let goes_on = t.finish_structured(s, &ElementValue::from_truth(goes_on));
    let condition = t.builder.end_block(&goes_on.parts);
    let state = t.builder.begin_block(&types);
    let after = step(t, &regroup_parts(initial, &state))?;
    let body = t.builder.end_block(&list_parts(&after));
    let results = t.builder.add_while(&parts, condition, body);
    Ok(regroup_parts(initial, &results))
}

fn list_parts(tensors: &[TypedTensor]) -> Vec<TensorValue> {
    tensors
        .iter()
        .flat_map(|tensor| tensor.parts.iter().copied())
        .collect()
}

fn regroup_parts(like: &[TypedTensor], parts: &[TensorValue]) -> Vec<TypedTensor> {
    let mut parts = parts.iter().copied();
    let tensors = like.iter().map(|tensor| {
        let own: Vec<TensorValue> = parts.by_ref().take(tensor.parts.len()).collect();
        TypedTensor::from_components(tensor.element, &own)
    });
    tensors.collect()
}

/// A tensor with some elements replaced, in its memory where it is dead afterwards. `compute` returns the position and the value at
/// each point of a shape; positions outside are not written. It may read the element that it replaces, and each part of that
/// only for the same part of the value.
pub(super) fn replace_elements(
    t: &mut StablehloTranslator<'_>,
    tensor: &TypedTensor,
    sizes: &[u64],
    compute: impl Fn(
        &StablehloTranslator<'_>,
        &mut StructuredOp,
        &[ScalarNode],
    ) -> (Vec<ScalarNode>, ElementValue),
) -> TypedTensor {
    let sizes: Vec<DimExtent> = sizes.iter().map(|size| DimExtent::Static(*size)).collect();
    let mut parts = Vec::new();
    for (part, base) in tensor.parts.iter().enumerate() {
        let mut whole = StructuredOp::with_parallel_axes(&sizes);
        let point = whole.axis_indices();
        let (indices, value) = compute(t, &mut whole, &point);
        // Without what only the other part needs.
        let mut s = StructuredOp::with_parallel_axes(&sizes);
        let import = |s: &mut StructuredOp, roots: &[ScalarNode]| {
            s.body.import_nodes(&whole.body, roots, |_, _, _| None)
        };
        let indices = import(&mut s, &indices);
        let value = import(&mut s, &[value.nodes[part]])[0];
        s.yields.push(StructuredYield {
            value,
            destination: YieldDestination::Scatter {
                base: *base,
                indices,
                combiner: None,
                distinct: true,
            },
        });
        parts.extend(t.builder.add_structured(s));
    }
    TypedTensor::from_components(tensor.element, &parts)
}

/// An index limited to a size.
pub(super) fn limit_index(c: &mut ScalarBuilder<'_>, index: ScalarNode, size: u64) -> ScalarNode {
    let (zero, last) = (c.body.intern_i64(0), c.body.intern_i64(size as i64 - 1));
    let index = c.apply_binary(Scalar::SMin, index, last);
    c.apply_binary(Scalar::SMax, index, zero)
}

/// The sum of the absolute values of the parts.
pub(super) fn add_sizes(c: &mut ScalarBuilder<'_>, value: &ElementValue) -> ScalarNode {
    let first = c.abs(value.nodes[0]);
    match value.nodes[1..] {
        [im] => {
            let im = c.abs(im);
            c.add(first, im)
        }
        _ => first,
    }
}

/// The distance of 1 from the next number, and a number below which all are negligible in matrices of a size.
pub(super) fn choose_limits(element: TensorElement, size: u64) -> [f64; 2] {
    let [digits, least] = match element.storage_type().width() {
        64 => [-52, -1022],
        _ => [-23, -126],
    };
    let unit = libm::ldexp(1.0, digits);
    [unit, libm::ldexp(size as f64, least) / unit]
}
