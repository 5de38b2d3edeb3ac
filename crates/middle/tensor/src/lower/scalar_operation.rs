//! Operations at a single point: their results are scalars.

use super::kernel;
use super::node_emitter::{NodeEmitter, TensorStorage};
use crate::ir::{NodeData, StructuredOp, TensorFunction, TensorValue};
use rustc_hash::FxHashMap;
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::ExprId;

/// Emits the values of the results of a map without axes. `sources` has the storage of the tensors that it reads.
pub(super) fn emit_scalar_results(
    b: &mut ProgramBuilder,
    function: &TensorFunction,
    op: &StructuredOp,
    sources: &FxHashMap<TensorValue, TensorStorage>,
) -> Vec<ExprId> {
    let mut e = NodeEmitter::new(b);
    let read = op.body.values_read();
    let stored = read.filter_map(|value| Some((value, *sources.get(&value)?)));
    e.sources = stored.collect();
    let roots: Vec<_> = op.yields.iter().map(|y| y.value).collect();
    let roots = e.body.import_nodes(&op.body, &roots, |body, _, data| {
        let NodeData::Element(value, position) = data else {
            return None;
        };
        let ty = function.ty(*value);
        let flat = kernel::flatten_position(body, position, &ty.shape);
        Some(body.intern_element(*value, ty.element, &[flat]))
    });
    e.emit_nodes(&roots)
}
