//! Prefix scans that are written as windows from each element to the first or the last one, such as
//! `cumsum` of JAX.

use super::error::TranslateResult;
use super::reduction::{collect_result_tensors, reduce_by_region};
use super::scalar::{ElementValue, ScalarBuilder};
use super::translator::{StablehloTranslator, TypedTensor};
use super::window::WindowDimension;
use crate::mlir::{MlirBlock, MlirOp};
use spirula_tensor::ir::{
    DimExtent, NodeData, NodeGraph, ScalarNode, StructuredOp, StructuredYield, TensorReduction,
    YieldDestination,
};

/// Windows up to this size are reduced separately, as such reductions can be fused with their uses.
const SHORT: u64 = 8;

/// A scan along a dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowScan {
    dimension: usize,
    /// Whether it begins with the last element.
    is_reverse: bool,
}

impl WindowScan {
    /// The scan that windows are equivalent to, if any; windows of few elements are not turned into
    /// scans.
    pub fn from_windows(
        t: &mut StablehloTranslator<'_>,
        windows: &[WindowDimension],
    ) -> Option<WindowScan> {
        let is_zero = |node: ScalarNode| t.known_node(node) == Some(0);
        let is_dense = |w: &WindowDimension| (w.stride, w.base_dilation, w.dilation) == (1, 1, 1);
        let is_point = |w: &WindowDimension| {
            w.size == DimExtent::Static(1) && is_zero(w.low) && is_zero(w.high)
        };
        let mut wide = (0..windows.len()).filter(|at| !is_point(&windows[*at]));
        let dimension = wide.next()?;
        if wide.next().is_some() || !windows.iter().all(is_dense) {
            return None;
        }
        let window = &windows[dimension];
        if window.size.as_static().is_some_and(|size| size <= SHORT) {
            return None;
        }
        let size = t.node_from_dim(window.size);
        let (rest, zero) = t.compute_node(|c| (c.add_constant(size, -1.0), c.body.intern_i64(0)));
        let is_reverse = match (window.low, window.high) {
            (low, high) if (low, high) == (rest, zero) => false,
            (low, high) if (low, high) == (zero, rest) => true,
            _ => return None,
        };
        (window.input == window.size).then_some(WindowScan {
            dimension,
            is_reverse,
        })
    }

    /// Emits the scan. The result is `None` if the windows' elements beyond the tensor may matter:
    /// each is the initial value once more.
    pub fn translate_scan(
        self,
        t: &mut StablehloTranslator<'_>,
        op: MlirOp,
        block: MlirBlock,
        operands: &[TypedTensor],
        initial: &[TypedTensor],
    ) -> TranslateResult<Option<Vec<TypedTensor>>> {
        let shape = t.tensor_shape(&operands[0]);
        let mut s = StructuredOp::default();
        let mut position = s.reduced_position(&shape, &[self.dimension]);
        if self.is_reverse {
            let mut c = ScalarBuilder::new(&mut s.body);
            let size = c.body.intern_size(shape[self.dimension]);
            let last = c.add_constant(size, -1.0);
            position[self.dimension] = c.sub(last, position[self.dimension]);
        }
        let initial: Vec<ElementValue> = initial
            .iter()
            .map(|v| t.read_element(&mut s, v, &[]))
            .collect();
        let values = operands
            .iter()
            .map(|v| t.read_element(&mut s, v, &position));
        let values: Vec<ElementValue> = values.collect();
        let results = reduce_by_region(t, op, &mut s, block, &initial, &values)?;
        if !s.reductions.iter().all(|r| is_kept(t, &s.body, r)) {
            return Ok(None);
        }
        for value in results.iter().flat_map(|val| &val.nodes) {
            s.yields.push(StructuredYield {
                value: *value,
                destination: YieldDestination::Prefix {
                    indices: position.clone(),
                    shape: shape.clone(),
                },
            });
        }
        Ok(Some(collect_result_tensors(t, s, &results)))
    }
}

/// Whether the initial value of a reduction is known, and combining it with itself yields itself.
fn is_kept(t: &StablehloTranslator<'_>, body: &NodeGraph, reduction: &TensorReduction) -> bool {
    let mut known = NodeGraph::default();
    let initial = known.import_nodes(body, &reduction.initial, |known, _, data| match data {
        NodeData::Element(value, position) if position.is_empty() => {
            let literal = t.builder.as_literal(*value)?;
            Some(known.intern_literal(literal))
        }
        _ => None,
    });
    let combiner = &reduction.combiner;
    let folded = known.import_nodes(&combiner.body, &combiner.results, |_, _, data| match data {
        NodeData::Argument(number) => initial.get(*number as usize % initial.len()).copied(),
        _ => None,
    });
    initial.iter().all(|node| known.as_literal(*node).is_some()) && folded == initial
}
