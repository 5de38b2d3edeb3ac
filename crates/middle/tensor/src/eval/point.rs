//! Evaluation of a structured operation: point after point of its index space.

use super::combiner::{CombinerCall, apply_operator};
use super::{EvalError, SharedTensor, TensorEvaluator, set_bits, static_sizes};
use crate::ir::{
    NodeData, NodeGraph, ScalarNode, StructuredOp, TensorConstant, TensorReduction,
    YieldDestination,
};
use spirula_diagnostics::SourceLocation;
use spirula_program::ScalarOp;

/// The state at a point of an index space.
pub(super) struct PointState<'a> {
    body: &'a NodeGraph,
    /// Nodes by the last of these that they depend on: nothing, the first axis, …, the last axis, accumulators.
    levels: Vec<Vec<ScalarNode>>,
    indices: Vec<u64>,
    registers: Vec<u64>,
    /// Registers without a value, because of a read outside.
    missing: Vec<bool>,
    accumulators: Vec<u64>,
    tensors: Vec<Option<(SharedTensor, Vec<u64>)>>,
    place: SourceLocation,
}

impl<'a> PointState<'a> {
    pub fn new(
        machine: &TensorEvaluator<'_>,
        op: &'a StructuredOp,
        extents: &[u64],
    ) -> Result<Self, EvalError> {
        let body = &op.body;
        let needed = body.mark_reachable(&op.collect_roots());
        let mut level_of = vec![0; body.len()];
        let mut levels = vec![Vec::new(); extents.len() + 2];
        let mut tensors = vec![None; machine.values.len()];
        for node in body.node_ids().filter(|n| needed[n.index()]) {
            let operands = body.operands(node).iter();
            let within = operands.map(|n| level_of[n.index()]).max().unwrap_or(0);
            let level = match body.node(node) {
                NodeData::Index(axis) => *axis as usize + 1,
                NodeData::Reduced(_) => extents.len() + 1,
                NodeData::Element(value, _) | NodeData::Size(value) => {
                    let tensor = machine.get(*value)?;
                    let shape = static_sizes(&tensor.ty);
                    tensors[value.index()] = Some((tensor, shape));
                    within
                }
                _ => within,
            };
            level_of[node.index()] = level;
            levels[level].push(node);
        }
        Ok(PointState {
            body,
            levels,
            indices: vec![0; extents.len()],
            registers: vec![0; body.len()],
            missing: vec![false; body.len()],
            accumulators: Vec::new(),
            tensors,
            place: machine.place,
        })
    }

    /// The approximate number of nodes that are evaluated at each point.
    pub fn innermost_work(&self) -> u64 {
        let last = self.levels.len() - 2;
        1 + self.levels[last].len() as u64 + u64::from(last == 0)
    }

    pub fn run_points(
        &mut self,
        op: &StructuredOp,
        extents: &[u64],
        results: &mut [TensorConstant],
    ) -> Result<(), EvalError> {
        let parallel = op.parallel_rank();
        let (outer, inner) = extents.split_at(parallel);
        if outer.contains(&0) {
            return Ok(());
        }
        let mut combiners: Vec<(&TensorReduction, CombinerCall<'_>)> = op
            .reductions
            .iter()
            .map(|fold| (fold, CombinerCall::new(&fold.combiner)))
            .collect();
        let mut scatters: Vec<Option<CombinerCall<'_>>> = op
            .yields
            .iter()
            .map(|result| match &result.destination {
                YieldDestination::Scatter { combiner, .. } => {
                    combiner.as_ref().map(CombinerCall::new)
                }
                _ => None,
            })
            .collect();
        let mut changed = Some(0);
        let mut at = 0;
        while let Some(axis) = changed {
            let first = if axis == 0 { 0 } else { axis + 1 };
            (first..=parallel).for_each(|level| self.evaluate_level(level));
            let mut give = |point: &mut Self| -> Result<(), EvalError> {
                point.evaluate_level(extents.len() + 1);
                let yields = op.yields.iter().zip(&mut *results);
                for ((result, tensor), by) in yields.zip(&mut scatters) {
                    point.write_result(&result.destination, result.value, tensor, at, by)?;
                }
                Ok(())
            };
            if op.is_scan() && !op.reductions.is_empty() {
                self.run_folds(&mut combiners, inner, parallel, &mut give)?
            } else {
                self.run_folds(&mut combiners, inner, parallel, &mut |_| Ok(()))?;
                give(self)?;
            }
            at += 1;
            changed = advance_indices(&mut self.indices[..parallel], outer);
        }
        Ok(())
    }

    fn run_folds(
        &mut self,
        combiners: &mut [(&TensorReduction, CombinerCall<'_>)],
        extents: &[u64],
        parallel: usize,
        after_each: &mut dyn FnMut(&mut Self) -> Result<(), EvalError>,
    ) -> Result<(), EvalError> {
        self.accumulators.clear();
        for (reduction, _) in &*combiners {
            for node in &reduction.initial {
                let bits = self.read_value(*node)?;
                self.accumulators.push(bits);
            }
        }
        if combiners.is_empty() || extents.contains(&0) {
            return Ok(());
        }
        self.indices[parallel..].fill(0);
        let mut changed = Some(0);
        while let Some(axis) = changed {
            let levels = parallel + axis + 1..=parallel + extents.len();
            levels.for_each(|level| self.evaluate_level(level));
            let mut first = 0;
            for (reduction, combiner) in &mut *combiners {
                let last = first + reduction.values.len();
                let values = reduction.values.iter().map(|node| self.read_value(*node));
                let values: Vec<u64> = values.collect::<Result<_, _>>()?;
                let before = self.accumulators[first..last].iter().copied();
                let after = combiner.apply_combiner(before.chain(values));
                self.accumulators[first..last].copy_from_slice(&after);
                first = last;
            }
            after_each(self)?;
            changed = advance_indices(&mut self.indices[parallel..], extents);
        }
        Ok(())
    }

    fn write_result(
        &self,
        destination: &YieldDestination,
        value: ScalarNode,
        tensor: &mut TensorConstant,
        at: usize,
        by: &mut Option<CombinerCall<'_>>,
    ) -> Result<(), EvalError> {
        if matches!(
            destination,
            YieldDestination::Point | YieldDestination::Each(_)
        ) {
            set_bits(tensor, at, self.read_value(value)?);
            return Ok(());
        }
        let position = destination
            .indices()
            .iter()
            .map(|node| self.read_value(*node));
        let position: Vec<u64> = position.collect::<Result<_, _>>()?;
        let Some(at) = element_offset(&position, &static_sizes(&tensor.ty)) else {
            return Ok(());
        };
        let mut bits = self.read_value(value)?;
        if let Some(by) = by {
            bits = by.apply_combiner([tensor.element_bits(at), bits].into_iter())[0];
        }
        set_bits(tensor, at, bits);
        Ok(())
    }

    fn read_value(&self, node: ScalarNode) -> Result<u64, EvalError> {
        if self.missing[node.index()] {
            Err(EvalError::Outside(self.place))
        } else {
            Ok(self.registers[node.index()])
        }
    }

    fn evaluate_level(&mut self, level: usize) {
        for at in 0..self.levels[level].len() {
            let node = self.levels[level][at];
            let result = self.evaluate_node(node);
            self.missing[node.index()] = result.is_none();
            self.registers[node.index()] = result.unwrap_or(0);
        }
    }

    /// Evaluates a node. It has no value if an operand has none, or a read is outside.
    fn evaluate_node(&self, node: ScalarNode) -> Option<u64> {
        let known = |node: &ScalarNode| {
            let is_known = !self.missing[node.index()];
            is_known.then(|| self.registers[node.index()])
        };
        match self.body.node(node) {
            NodeData::Literal(literal) => Some(literal.bits),
            NodeData::Index(axis) => Some(self.indices[*axis as usize]),
            NodeData::Size(value) => Some(self.tensors[value.index()].as_ref()?.0.element_bits(0)),
            NodeData::Reduced(number) => self.accumulators.get(*number as usize).copied(),
            NodeData::Element(value, position) => {
                let (tensor, shape) = self.tensors[value.index()].as_ref()?;
                let mut at = 0;
                for (node, size) in position.iter().zip(shape) {
                    let index = known(node).filter(|index| index < size)?;
                    at = at * *size as usize + index as usize;
                }
                (position.len() == shape.len()).then(|| tensor.element_bits(at))
            }
            NodeData::Apply(operator, operands) if operator.op == ScalarOp::Cond => {
                let chosen = if known(&operands[0])? != 0 { 1 } else { 2 };
                known(&operands[chosen])
            }
            NodeData::Apply(operator, operands) => {
                let all_known = operands.iter().all(|n| !self.missing[n.index()]);
                all_known.then(|| apply_operator(*operator, operands, &self.registers))
            }
            NodeData::Counter(_) | NodeData::Argument(_) => None,
        }
    }
}

/// The row-major place of a position, if it is inside.
fn element_offset(position: &[u64], shape: &[u64]) -> Option<usize> {
    let mut indices = position.iter().zip(shape);
    indices.try_fold(0, |at, (index, size)| {
        (index < size).then(|| at * *size as usize + *index as usize)
    })
}

/// Moves to the next point in row-major order. Returns the first axis whose index changed.
fn advance_indices(indices: &mut [u64], extents: &[u64]) -> Option<usize> {
    for axis in (0..indices.len()).rev() {
        indices[axis] += 1;
        if indices[axis] < extents[axis] {
            return Some(axis);
        }
        indices[axis] = 0;
    }
    None
}
