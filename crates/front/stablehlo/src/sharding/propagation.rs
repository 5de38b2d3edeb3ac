//! Propagation of shardings from the arguments of a function to its results.
//!
//! A result whose sharding a program leaves open may have any: values are the same. Callers expect one that follows from
//! the arguments as in Shardy. So each operation passes the axes of its operands' dimensions on to the dimensions of its results
//! that correspond to them. An axis splits one dimension only; the first operand that has it wins. Nothing is passed backwards.

use super::layout::TensorSharding;
use super::mesh::AxisReference;
use super::text::{read_manual_axes, read_sharding, read_sharding_list};
use crate::dialect::AttributeRecord;
use crate::dialect::MlirOpcode;
use crate::dialect::records::{
    BroadcastInDimAttributes, CallAttributes, ConcatenateAttributes, DotGeneralAttributes,
    ReduceAttributes, TransposeAttributes,
};
use crate::mlir::{MlirBlock, MlirModule, MlirOp, MlirValue};
use rustc_hash::FxHashMap;

/// Deepest nesting of calls and regions that is followed.
const DEPTH: usize = 100;

/// The shardings of a function's results, by those of its parameters.
pub(super) fn find_result_shardings(
    module: &MlirModule,
    function: MlirOp,
    parameters: &[Option<TensorSharding>],
) -> Vec<Option<TensorSharding>> {
    let mut propagation = ShardingPropagation {
        module,
        known: FxHashMap::default(),
        depth: 0,
    };
    propagation.propagate_region(function, 0, parameters)
}

impl TensorSharding {
    /// Whether an axis splits a dimension.
    fn uses_axis(&self, axis: &AxisReference) -> bool {
        let mut axes = self.dimensions.iter().flatten();
        axes.any(|used| used.name == axis.name)
    }

    /// Splits a dimension by axes that split no other.
    fn extend_dimension(&mut self, dimension: usize, axes: &[AxisReference]) {
        if !self.dimensions[dimension].is_empty() {
            return;
        }
        let unused = axes.iter().filter(|axis| !self.uses_axis(axis)).cloned();
        self.dimensions[dimension] = unused.collect();
    }

    /// Splits the dimensions that are open and not split yet as another sharding does.
    pub(super) fn fill_open_dimensions(&mut self, other: &TensorSharding) {
        if self.mesh.axes.is_empty() {
            self.mesh = other.mesh.clone();
        }
        if other.mesh.axes != self.mesh.axes || other.dimensions.len() != self.dimensions.len() {
            return;
        }
        for dimension in 0..self.dimensions.len() {
            if self.open[dimension] {
                self.extend_dimension(dimension, &other.dimensions[dimension]);
            }
        }
    }
}

/// Shardings of values so far.
struct ShardingPropagation<'m> {
    module: &'m MlirModule,
    known: FxHashMap<MlirValue, TensorSharding>,
    depth: usize,
}

/// Pairs of dimensions: of an operand, and of the result.
type DimensionPairs = Vec<(usize, usize)>;

impl ShardingPropagation<'_> {
    /// Propagates through the block of a region whose arguments have these shardings.
    fn propagate_region(
        &mut self,
        op: MlirOp,
        region: usize,
        arguments: &[Option<TensorSharding>],
    ) -> Vec<Option<TensorSharding>> {
        let module = self.module;
        let region = module.regions(op).nth(region);
        let Some([block]) = region.map(|region| module.blocks(region)) else {
            return Vec::new();
        };
        for (value, sharding) in module.arguments(*block).zip(arguments) {
            self.set_sharding(value, sharding.clone());
        }
        self.depth += 1;
        let results = if self.depth < DEPTH {
            self.propagate_block(*block)
        } else {
            Vec::new()
        };
        self.depth -= 1;
        results
    }

    fn propagate_block(&mut self, block: MlirBlock) -> Vec<Option<TensorSharding>> {
        let module = self.module;
        for op in module.ops(block) {
            if module.is_return(*op) {
                return self.operand_shardings(*op);
            }
            let shardings = self.propagate_operation(*op);
            for (result, sharding) in module.results(*op).zip(shardings) {
                self.set_sharding(result, sharding);
            }
        }
        Vec::new()
    }

    /// Sets the sharding of a value, without axes that do not divide a dimension.
    fn set_sharding(&mut self, value: MlirValue, sharding: Option<TensorSharding>) {
        self.known.remove(&value);
        let sizes = self.module.types.static_shape(self.module.type_of(value));
        let (Some(mut sharding), Some(sizes)) = (sharding, sizes) else {
            return;
        };
        if sharding.dimensions.len() != sizes.len() {
            return;
        }
        for (dimension, size) in sizes.iter().enumerate() {
            while !sharding.dimensions[dimension].is_empty()
                && !size.is_multiple_of(sharding.shard_counts()[dimension])
            {
                sharding.dimensions[dimension].pop();
            }
        }
        self.known.insert(value, sharding);
    }

    fn operand_shardings(&self, op: MlirOp) -> Vec<Option<TensorSharding>> {
        let operands = self.module.operands(op).iter();
        operands
            .map(|value| self.known.get(value).cloned())
            .collect()
    }

    fn propagate_operation(&mut self, op: MlirOp) -> Vec<Option<TensorSharding>> {
        use MlirOpcode as Op;
        let module = self.module;
        let operands = self.operand_shardings(op);
        match module.opcode(op) {
            Some(Op::SdyShardingConstraint) => {
                let given = module.find_attribute(op, "sharding");
                let given = given.and_then(|attr| read_sharding(module, attr));
                vec![given.map(|mut given| {
                    if let Some(Some(operand)) = operands.first() {
                        given.fill_open_dimensions(operand);
                    }
                    given
                })]
            }
            Some(Op::SdyManualComputation) => self.propagate_manual_computation(op, operands),
            Some(Op::FuncCall) => {
                let call = CallAttributes::read(module, op).ok();
                let callee = call.and_then(|call| module.find_function(call.callee.0));
                callee.map_or_else(Vec::new, |callee| {
                    self.propagate_region(callee, 0, &operands)
                })
            }
            Some(Op::While) => {
                let after = self.propagate_region(op, 1, &operands);
                let pairs = operands.into_iter().zip(after);
                pairs.map(|(before, after)| before.or(after)).collect()
            }
            Some(Op::If | Op::Case) => {
                let mut all: Vec<Option<TensorSharding>> = Vec::new();
                for region in 0..module.regions(op).len() {
                    let own = self.propagate_region(op, region, &[]);
                    all.resize(own.len(), None);
                    let pairs = all.iter_mut().zip(own);
                    pairs.for_each(|(all, own)| *all = all.take().or(own));
                }
                all
            }
            Some(Op::OptimizationBarrier | Op::UnrealizedConversionCast) => operands,
            Some(Op::Iota | Op::Constant | Op::RngBitGenerator) => Vec::new(),
            opcode => module
                .results(op)
                .map(|result| self.join_operands(op, opcode, result, &operands))
                .collect(),
        }
    }

    /// The results have the shardings that are given. Axes that are not manual pass through the body.
    fn propagate_manual_computation(
        &mut self,
        op: MlirOp,
        mut operands: Vec<Option<TensorSharding>>,
    ) -> Vec<Option<TensorSharding>> {
        let module = self.module;
        let attribute = |name| module.find_attribute(op, name);
        let given = attribute("out_shardings").and_then(|attr| read_sharding_list(module, attr));
        let manual = attribute("manual_axes").and_then(|attr| read_manual_axes(module, attr));
        let manual = manual.unwrap_or_default();
        for dimension in operands
            .iter_mut()
            .flatten()
            .flat_map(|own| &mut own.dimensions)
        {
            dimension.retain(|axis| !manual.contains(&axis.name));
        }
        let inner = self.propagate_region(op, 0, &operands);
        let mut results = given.unwrap_or_default();
        for (result, inner) in results.iter_mut().zip(&inner) {
            if let Some(inner) = inner {
                result.fill_open_dimensions(inner);
            }
        }
        results.into_iter().map(Some).collect()
    }

    /// The sharding of a result by the dimensions of the operands that correspond to its own.
    fn join_operands(
        &self,
        op: MlirOp,
        opcode: Option<MlirOpcode>,
        result: MlirValue,
        operands: &[Option<TensorSharding>],
    ) -> Option<TensorSharding> {
        let module = self.module;
        let rank = module.types.static_shape(module.type_of(result))?.len();
        let mut joined: Option<TensorSharding> = None;
        for (number, sharding) in operands.iter().enumerate() {
            let Some(sharding) = sharding else { continue };
            let pairs = self.pair_dimensions(op, opcode, number, result)?;
            let joined = joined.get_or_insert_with(|| TensorSharding {
                mesh: sharding.mesh.clone(),
                dimensions: vec![Vec::new(); rank],
                open: vec![true; rank],
                unreduced: Vec::new(),
                extremes: Vec::new(),
            });
            if joined.mesh.axes != sharding.mesh.axes {
                continue;
            }
            for (from, to) in pairs {
                if from < sharding.dimensions.len() && to < rank {
                    joined.extend_dimension(to, &sharding.dimensions[from]);
                }
            }
        }
        joined
    }

    /// The dimensions of an operand that are dimensions of a result.
    fn pair_dimensions(
        &self,
        op: MlirOp,
        opcode: Option<MlirOpcode>,
        number: usize,
        result: MlirValue,
    ) -> Option<DimensionPairs> {
        use MlirOpcode as Op;
        let module = self.module;
        let operand = module.operands(op)[number];
        let from = module.types.static_shape(module.type_of(operand))?;
        let to = module.types.static_shape(module.type_of(result))?;
        let equal = |pairs: DimensionPairs| {
            let pairs = pairs.into_iter();
            pairs
                .filter(|(a, b)| from.get(*a) == to.get(*b))
                .collect::<DimensionPairs>()
        };
        let positions = |list: &[i64]| list.iter().map(|at| *at as usize).collect::<Vec<_>>();
        Some(match opcode {
            Some(Op::Transpose) => {
                let attributes = TransposeAttributes::read(module, op).ok()?;
                let order = positions(&attributes.permutation.values);
                order
                    .into_iter()
                    .enumerate()
                    .map(|(to, from)| (from, to))
                    .collect()
            }
            Some(Op::BroadcastInDim) => {
                let attributes = BroadcastInDimAttributes::read(module, op).ok()?;
                let dimensions = positions(&attributes.broadcast_dimensions.values);
                equal(dimensions.into_iter().enumerate().collect())
            }
            Some(Op::Reshape) => pair_reshaped(&from, &to),
            Some(Op::Reduce) if module.results(op).nth(number) == Some(result) => {
                let attributes = ReduceAttributes::read(module, op).ok()?;
                let reduced = positions(&attributes.dimensions.values);
                let kept = (0..from.len()).filter(|at| !reduced.contains(at));
                kept.enumerate().map(|(to, from)| (from, to)).collect()
            }
            Some(Op::DotGeneral) => {
                let attributes = DotGeneralAttributes::read(module, op).ok()?;
                pair_product(&attributes, number, module, op)?
            }
            Some(Op::Concatenate) => {
                let attributes = ConcatenateAttributes::read(module, op).ok()?;
                let joined = attributes.dimension.value as usize;
                let others = (0..from.len()).filter(|at| *at != joined);
                others.map(|at| (at, at)).collect()
            }
            Some(Op::Gather) if number == 0 => self.pair_gathered(op, from.len(), &equal),
            Some(Op::Slice | Op::DynamicSlice | Op::DynamicUpdateSlice | Op::Pad | Op::Reverse)
                if number == 0 =>
            {
                equal((0..from.len()).map(|at| (at, at)).collect())
            }
            Some(Op::Gather | Op::DynamicSlice | Op::DynamicUpdateSlice | Op::Pad | Op::Reduce) => {
                Vec::new()
            }
            // Any other operation computes an element from the elements at its place.
            _ if from == to => (0..from.len()).map(|at| (at, at)).collect(),
            _ => Vec::new(),
        })
    }

    /// The dimensions that a gather takes as a whole.
    fn pair_gathered(
        &self,
        op: MlirOp,
        rank: usize,
        equal: &impl Fn(DimensionPairs) -> DimensionPairs,
    ) -> DimensionPairs {
        let Some(numbers) = self.module.find_attribute(op, "dimension_numbers") else {
            return Vec::new();
        };
        let field = |name| self.module.field_integers(numbers, name);
        let mut dropped = field("collapsed_slice_dims");
        dropped.extend(field("operand_batching_dims"));
        let kept = (0..rank).filter(|at| !dropped.contains(&(*at as i64)));
        let offsets = field("offset_dims");
        equal(kept.zip(offsets.iter().map(|at| *at as usize)).collect())
    }
}

/// The dimensions of an operand of a product: dimensions of batches come first, then those of both operands.
fn pair_product(
    attributes: &DotGeneralAttributes,
    number: usize,
    module: &MlirModule,
    op: MlirOp,
) -> Option<DimensionPairs> {
    let numbers = &attributes.dot_dimension_numbers;
    let sides = [0, 1].map(|side| (&numbers.batching[side], &numbers.contracting[side]));
    let ranks: Vec<usize> = module
        .operands(op)
        .iter()
        .map(|value| Some(module.types.static_shape(module.type_of(*value))?.len()))
        .collect::<Option<_>>()?;
    let free = |side: usize| {
        let (batching, contracting) = sides[side];
        let (batching, contracting) = (&batching.values, &contracting.values);
        let all = 0..ranks[side];
        all.filter(move |at| {
            !batching.contains(&(*at as i64)) && !contracting.contains(&(*at as i64))
        })
    };
    let batching = &sides.get(number)?.0.values;
    let pairs = batching
        .iter()
        .enumerate()
        .map(|(to, from)| (*from as usize, to));
    let first = batching.len() + if number == 1 { free(0).count() } else { 0 };
    let rest = free(number)
        .enumerate()
        .map(|(to, from)| (from, first + to));
    Some(pairs.chain(rest).collect())
}

/// The dimensions that a reshape keeps: equal ones, and the outermost of those that are joined or split.
fn pair_reshaped(from: &[u64], to: &[u64]) -> DimensionPairs {
    let mut pairs = Vec::new();
    let (mut a, mut b) = (0, 0);
    while a < from.len() && b < to.len() {
        let (first, second) = (a, b);
        let (mut before, mut after) = (from[a], to[b]);
        (a, b) = (a + 1, b + 1);
        while before != after {
            if before < after && a < from.len() {
                before = before.saturating_mul(from[a]);
                a += 1;
            } else if after < before && b < to.len() {
                after = after.saturating_mul(to[b]);
                b += 1;
            } else {
                return pairs;
            }
        }
        let outer = |sizes: &[u64], start: usize, end: usize| {
            (start..end).find(|at| sizes[*at] != 1).unwrap_or(start)
        };
        pairs.push((outer(from, first, a), outer(to, second, b)));
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::pair_reshaped;

    #[test]
    fn reshapes_keep_outer_dimensions() {
        assert_eq!(pair_reshaped(&[8, 6], &[8, 6]), [(0, 0), (1, 1)]);
        assert_eq!(pair_reshaped(&[8, 6], &[2, 4, 6]), [(0, 0), (1, 2)]);
        assert_eq!(pair_reshaped(&[8, 6], &[48]), [(0, 0)]);
        assert_eq!(pair_reshaped(&[8, 6], &[1, 8, 6]), [(0, 1), (1, 2)]);
        assert_eq!(pair_reshaped(&[1, 6], &[6]), [(1, 0)]);
    }
}
