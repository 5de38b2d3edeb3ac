//! Split axes: maps that read alternatives through a reshape get the axes of these.
//!
//! The results of alternatives ([`find_alternative_axes`]) are computed together, so a map of them fuses only where it has the
//! same axes. After a reshape that joins dimensions, an axis of the map is split into those dimensions, and its results are
//! reshaped instead.

use super::fuse_producers::{reshape_position, static_shape};
use super::fusion_cost::count_reads;
use super::use_def::TensorUses;
use crate::ir::{
    AxisKind, DenseTensorType, DimExtent, NodeData, OpKind, ScalarNode, StructuredOp,
    TensorFunction, TensorOp, TensorValue,
};
use crate::schedule::find_alternative_axes;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;
use spirula_program::ScalarOp;

/// Sizes of the axes that an axis becomes, from the outermost.
type AxisParts = SmallVec<[i64; 4]>;

/// Splits the axes of all maps for which it pays.
pub(super) fn split_map_axes(function: &mut TensorFunction) {
    let uses = TensorUses::from_function(function);
    for block in function.block_ids() {
        let mut splitter = AxisSplitter::default();
        let ops = std::mem::take(&mut function.block_mut(block).ops);
        let mut next = Vec::with_capacity(ops.len());
        for op in ops {
            match &op.kind {
                OpKind::Reshape(source) if uses.use_count(*source) == 1 => {
                    let root = splitter.sources.get(source).copied().unwrap_or(*source);
                    splitter.sources.insert(op.results[0], root);
                    next.push(op);
                }
                OpKind::Structured(map) if map.is_map() => {
                    let parts = splitter.choose_parts(function, &uses, map);
                    match parts {
                        Some(parts) => {
                            let split = splitter.split_op(function, &op, map, &parts);
                            next.extend(split);
                        }
                        None => {
                            if !find_alternative_axes(map).is_empty() {
                                splitter.kept.extend(&op.results);
                            }
                            next.push(op);
                        }
                    }
                }
                _ => next.push(op),
            }
        }
        function.block_mut(block).ops = next;
    }
    // The reshapes that are passed by would count as readers.
    super::dce::eliminate_dead_code(function);
}

/// The tensors of a block that have the axes of alternatives, or are reshapes of such.
#[derive(Default)]
struct AxisSplitter {
    /// The tensors whose elements reshaped ones have.
    sources: FxHashMap<TensorValue, TensorValue>,
    /// Results of alternatives, and of maps that have got their axes.
    kept: FxHashSet<TensorValue>,
}

impl AxisSplitter {
    /// The axes that each axis of a map becomes, if it reads such results at its own points through a reshape.
    fn choose_parts(
        &self,
        function: &TensorFunction,
        uses: &TensorUses,
        map: &StructuredOp,
    ) -> Option<Vec<AxisParts>> {
        let mut nodes = map.body.node_ids();
        nodes.find_map(|node| {
            let NodeData::Element(value, position) = map.body.node(node) else {
                return None;
            };
            let root = self.find_kept_source(*value)?;
            if uses.use_count(*value) != 1
                || count_reads(&map.body, &map.collect_roots(), *value) != 1
            {
                return None;
            }
            let (to, from) = (
                static_shape(function.ty(*value))?,
                static_shape(function.ty(root))?,
            );
            let groups = group_dimensions(&to, &from)?;
            let mut parts: Vec<AxisParts> = Vec::new();
            for axis in &map.axes {
                parts.push(std::iter::once(axis.extent.as_static()? as i64).collect());
            }
            for (index, group) in position.iter().zip(groups) {
                if group.len() < 2 {
                    continue;
                }
                let axis = map.body.as_index(*index)? as usize;
                let size = group.iter().product::<i64>();
                if parts[axis].len() > 1 || parts[axis][0] != size {
                    return None;
                }
                parts[axis] = group;
            }
            parts.iter().any(|parts| parts.len() > 1).then_some(parts)
        })
    }

    /// The result of alternatives, or of a map with their axes, that a tensor is a reshape of.
    fn find_kept_source(&self, value: TensorValue) -> Option<TensorValue> {
        let root = self.sources.get(&value)?;
        self.kept.contains(root).then_some(*root)
    }

    /// A map with split axes, and the reshapes that give its results their shapes.
    fn split_op(
        &mut self,
        function: &mut TensorFunction,
        op: &TensorOp,
        map: &StructuredOp,
        parts: &[AxisParts],
    ) -> Vec<TensorOp> {
        let mut split = StructuredOp::default();
        let mut indices: Vec<ScalarNode> = Vec::with_capacity(parts.len());
        for parts in parts {
            let mut whole = split.body.intern_i64(0);
            for size in parts {
                let index = split.add_axis(DimExtent::Static(*size as u64), AxisKind::Parallel);
                let size = split.body.intern_i64(*size);
                whole = split.body.apply_op(ScalarOp::Mul, &[whole, size]);
                whole = split.body.apply_op(ScalarOp::Add, &[whole, index]);
            }
            indices.push(whole);
        }
        let roots: Vec<ScalarNode> = map.yields.iter().map(|y| y.value).collect();
        let values = split
            .body
            .import_nodes(&map.body, &roots, |body, _, data| match data {
                NodeData::Index(axis) => indices.get(*axis as usize).copied(),
                NodeData::Element(value, position) => {
                    let root = self.find_kept_source(*value)?;
                    let (to, from) = (function.ty(root), function.ty(*value));
                    let [to_sizes, from_sizes] = [to, from].map(static_shape);
                    let position = reshape_position(body, position, &from_sizes?, &to_sizes?);
                    Some(body.intern_element(root, to.element, &position))
                }
                _ => None,
            });
        let mut results = Vec::new();
        let mut reshapes = Vec::new();
        for (value, result) in values.into_iter().zip(&op.results) {
            split.add_yield(value);
            let own = function.new_value(DenseTensorType {
                element: function.ty(*result).element,
                shape: split.parallel_shape().collect(),
            });
            results.push(own);
            self.kept.insert(own);
            self.sources.insert(*result, own);
            reshapes.push(TensorOp {
                kind: OpKind::Reshape(own),
                results: vec![*result],
                place: op.place,
            });
        }
        let kind = OpKind::Structured(Box::new(split));
        let map = TensorOp {
            kind,
            results,
            place: op.place,
        };
        std::iter::once(map).chain(reshapes).collect()
    }
}

/// The dimensions of one shape that each dimension of another joins, without those of size 1; none where one is in several.
fn group_dimensions(joined: &[i64], dimensions: &[i64]) -> Option<Vec<AxisParts>> {
    let mut rest = dimensions.iter().copied().filter(|size| *size > 1);
    let mut groups = Vec::with_capacity(joined.len());
    for size in joined {
        let mut group = AxisParts::new();
        let mut left = *size;
        while left > 1 {
            let next = rest.next()?;
            if left % next != 0 {
                return None;
            }
            group.push(next);
            left /= next;
        }
        groups.push(group);
    }
    Some(groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_are_grouped_where_each_is_in_one() {
        let group = |joined: &[i64], dimensions: &[i64]| {
            let groups = group_dimensions(joined, dimensions)?;
            Some(
                groups
                    .into_iter()
                    .map(|group| group.to_vec())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(
            group(&[64, 1000, 1], &[64, 1, 10, 100]),
            Some(vec![vec![64], vec![10, 100], vec![]])
        );
        assert_eq!(group(&[6], &[2, 1, 3]), Some(vec![vec![2, 3]]));
        assert_eq!(group(&[4, 6], &[8, 3]), None);
        assert_eq!(group(&[4], &[]), None);
    }
}
