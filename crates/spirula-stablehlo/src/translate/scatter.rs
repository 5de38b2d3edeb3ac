//! `scatter`.

use super::dims::merged_shapes;
use super::element::Element;
use super::error::Result;
use super::gather::Numbers;
use super::region;
use super::scalar::{Calc, Val};
use super::translator::{Tensor, Translator};
use crate::mlir::{Block, Op};
use spirula_tensor::ir::{Body, Combiner, Destination, Node, NodeData, Shape, Structured, Yield};

/// Names of the fields in the order of [`Numbers`].
const SCATTER: [&str; 6] = [
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
];

/// `scatter`
pub(super) fn scatter(t: &mut Translator<'_>, op: Op) -> Result<()> {
    let operands = t.operands(op)?;
    let count = operands.len() / 2;
    t.ensure(
        op,
        operands.len() == 2 * count + 1 && count > 0,
        "has too few or many operands",
    )?;
    let (inputs, rest) = operands.split_at(count);
    let (indices, updates) = (&rest[0], &rest[1..]);
    let attr = t.module.attribute(op, "scatter_dimension_numbers");
    let attr = attr.ok_or_else(|| t.invalid(op, "scatter has no dimension numbers"))?;
    let is_index = matches!(indices.element, Element::Int { .. });
    t.ensure(op, is_index, "has indices that are no integers")?;
    let rank = t.common_shape(op, inputs)?.len();
    let index_sizes = t.shape(indices);
    let update_sizes = t.common_shape(op, updates)?;
    let ranks = (rank, &index_sizes, update_sizes.len());
    let numbers = Numbers::new(t, op, attr, SCATTER, ranks)?;
    let mut batch_sizes = index_sizes.to_vec();
    if numbers.vector < batch_sizes.len() {
        batch_sizes.remove(numbers.vector);
    }
    let others = (0..update_sizes.len()).filter(|at| !numbers.offset.contains(at));
    let others: Shape = others.map(|at| update_sizes[at]).collect();
    let fits = merged_shapes(&others, &batch_sizes.into_iter().collect());
    t.ensure(op, fits.is_some(), "has updates of another shape")?;
    let mut s = Structured::parallel(&update_sizes);
    let point = s.point();
    let batch = numbers.batch(&point);
    let mut position = numbers.start(t, &mut s, indices, (&batch, rank), |_, index, _| index);
    let mut c = Calc::new(&mut s.body);
    for (from, to) in numbers.offset.iter().zip(numbers.kept(rank)) {
        position[to] = c.add(position[to], point[*from]);
    }
    let block = t.region(op, 0)?;
    give_scattered(t, op, s, block, (inputs, updates), &point, &position)
}

fn give_scattered(
    t: &mut Translator<'_>,
    op: Op,
    mut s: Structured,
    block: Block,
    (inputs, updates): (&[Tensor], &[Tensor]),
    point: &[Node],
    position: &[Node],
) -> Result<()> {
    let elements: Vec<Element> = inputs.iter().map(|input| input.element).collect();
    let combiners = combiners(t, op, block, &elements)?;
    let mut combiners = combiners.into_iter();
    for (input, update) in inputs.iter().zip(updates) {
        let value = t.read(&mut s, update, point);
        let value = Calc::new(&mut s.body).convert(&value, input.element);
        let value = value.ok_or_else(|| t.unsupported(op, "type of updates"))?;
        for (base, node) in input.parts.iter().zip(value.nodes) {
            s.yields.push(Yield {
                value: node,
                destination: Destination::Scatter {
                    base: *base,
                    indices: position.to_vec(),
                    combiner: combiners.next().flatten(),
                },
            });
        }
    }
    let mut parts = t.builder.structured(s).into_iter();
    let results = inputs.iter().map(|input| Tensor {
        element: input.element,
        parts: parts.by_ref().take(input.parts.len()).collect(),
        followed: None,
    });
    let results = results.collect();
    t.give(op, results)
}

/// The combiner of each part of a region of one operand.
pub(super) fn part_combiners(
    t: &mut Translator<'_>,
    op: Op,
    block: Block,
    element: Element,
) -> Result<Vec<Option<Combiner>>> {
    combiners(t, op, block, &[element])
}

/// For each part of each operand how an element and an update are combined; nothing where the
/// update replaces the element. Parts must not depend on each other.
fn combiners(
    t: &mut Translator<'_>,
    op: Op,
    block: Block,
    elements: &[Element],
) -> Result<Vec<Option<Combiner>>> {
    let twice: Vec<Element> = elements.iter().chain(elements).copied().collect();
    let (whole, results) = region::combiner(t, op, block, &twice, None)?;
    let types = results.iter().map(|val: &Val| val.element);
    t.ensure(
        op,
        types.eq(elements.iter().copied()),
        "has a region of another type",
    )?;
    let count = whole.results.len() as u32;
    let mut combiners = Vec::new();
    for (at, result) in (0..count).zip(&whole.results) {
        if whole.body.as_argument(*result) == Some(count + at) {
            combiners.push(None);
            continue;
        }
        let mut body = Body::default();
        let mut is_alone = true;
        let results = body.import(&whole.body, &[*result], |body, _, data| match data {
            NodeData::Argument(number) => {
                is_alone &= number % count == at;
                let element = part_type(elements, number % count);
                Some(body.argument(number / count, element))
            }
            _ => None,
        });
        if !is_alone {
            return Err(t.unsupported(op, "scatter of values that depend on each other"));
        }
        combiners.push(Some(Combiner { body, results }));
    }
    Ok(combiners)
}

/// Type of a part, counted over all operands.
fn part_type(elements: &[Element], part: u32) -> spirula_program::Scalar {
    let parts = elements
        .iter()
        .flat_map(|e| std::iter::repeat_n(e.storage(), e.parts()));
    parts
        .into_iter()
        .nth(part as usize)
        .unwrap_or(spirula_program::Scalar::I32)
}
