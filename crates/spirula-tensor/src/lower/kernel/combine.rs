//! Folding together: the accumulators of a workgroup's invocations into one.

use super::super::write::Writer;
use super::{Lower, accumulator_types};
use crate::ir::{Node, Reduction};
use spirula_kernel::ir::Var;
use spirula_program::Op;

impl<'a> Lower<'a> {
    /// The accumulators that steps are about.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        let sizes = self.dispatch.op.reductions.iter().map(|r| r.values.len());
        match self.only {
            None => 0..sizes.sum(),
            Some(at) => {
                let sizes: Vec<usize> = sizes.collect();
                let first = sizes[..at].iter().sum();
                first..first + sizes[at]
            }
        }
    }

    /// The reductions that steps are about.
    pub(super) fn reductions(&self) -> &'a [Reduction] {
        let all = &self.dispatch.op.reductions;
        match self.only {
            None => all,
            Some(at) => &all[at..=at],
        }
    }

    /// What accumulators begin as where several invocations fold together: the first with what is
    /// asked for, the others with the neutral element, where the operator has one.
    pub(super) fn first_only(&mut self, initial: Vec<Node>) -> Vec<Node> {
        let mut first = 0;
        let mut nodes = initial.clone();
        for reduction in &self.dispatch.op.reductions {
            let neutral = reduction.combiner.neutral(self.e.body.ty(initial[first]));
            if let (Some(neutral), Some(local)) = (neutral, self.local) {
                let body = &mut self.e.body;
                let zero = body.i64(0);
                let is_first = body.op(Op::Eq, &[local, zero]);
                let neutral = body.literal(neutral);
                nodes[first] = body.op(Op::Cond, &[is_first, initial[first], neutral]);
            }
            first += reduction.values.len();
        }
        nodes
    }

    /// What further accumulators of an invocation begin as: neutral elements.
    pub(super) fn neutral(&mut self, mut initial: Vec<Node>) -> Vec<Node> {
        let mut first = 0;
        for reduction in &self.dispatch.op.reductions {
            let body = &mut self.e.body;
            if let Some(neutral) = reduction.combiner.neutral(body.ty(initial[first])) {
                initial[first] = body.literal(neutral);
            }
            first += reduction.values.len();
        }
        initial
    }

    /// Folds an invocation's further accumulators into its first.
    fn combine_leaves(&mut self) {
        let reductions = self.reductions();
        let start = self.range().start;
        let (own, others) = self.leaves.split_at(1);
        for other in others {
            let mut first = start;
            for reduction in reductions {
                let range = first..first + reduction.values.len();
                let both = [&own[0], other].map(|leaf| &leaf.accumulators[range.clone()]);
                let arguments = both.into_iter().flatten().map(|v| self.e.b.value(*v));
                let arguments: Vec<_> = arguments.collect();
                let results = self.e.combine(&reduction.combiner, &arguments);
                for (var, value) in both[0].iter().zip(results) {
                    self.e.b.assign(*var, value);
                }
                first = range.end;
            }
        }
    }

    /// Folds the accumulators of all invocations in the workgroup's memory, half of them in each
    /// round.
    pub(super) fn combine(&mut self, number: u32) {
        self.combine_leaves();
        let size = self.dispatch.loops[number as usize].extent as i64;
        let range = self.range();
        let vars = self.leaves[0].accumulators[range.clone()].to_vec();
        let types = accumulator_types(&self.dispatch.op)[range].to_vec();
        let reductions = self.reductions();
        let memory: Vec<Var> = types.iter().map(|ty| self.shared(*ty, size)).collect();
        let Some(local) = self.local else { return };
        let zero = self.e.body.i64(0);
        let mut distance = size;
        while distance > 1 {
            let above = match distance == size {
                true => zero,
                false => local,
            };
            let limit = self.e.body.i64(distance);
            let is_in = self.e.body.op(Op::SLt, &[above, limit]);
            let write = Writer::new(&types, &memory);
            self.e.when(is_in, |e| write.all(e, local, &vars));
            self.barrier();
            distance /= 2;
            let limit = self.e.body.i64(distance);
            let is_in = self.e.body.op(Op::SLt, &[local, limit]);
            let other = self.e.body.op(Op::Add, &[local, limit]);
            self.e.when(is_in, |e| {
                let read = write.read(e, other);
                let mut first = 0;
                for reduction in reductions {
                    let range = first..first + reduction.values.len();
                    let own = vars[range.clone()].iter().map(|v| e.b.value(*v));
                    let mut arguments: Vec<_> = own.collect();
                    arguments.extend(&read[range.clone()]);
                    let results = e.combine(&reduction.combiner, &arguments);
                    for (var, value) in vars[range.clone()].iter().zip(results) {
                        e.b.assign(*var, value);
                    }
                    first = range.end;
                }
            });
            self.barrier();
        }
    }

    /// Gives what the first invocation has combined to all, as what the reductions gave.
    pub(super) fn share(&mut self) {
        let range = self.range();
        let count = accumulator_types(&self.dispatch.op).len();
        let vars = self.leaves[0].accumulators[range.clone()].to_vec();
        let types = accumulator_types(&self.dispatch.op)[range.clone()].to_vec();
        let memory: Vec<Var> = types.iter().map(|ty| self.shared(*ty, 1)).collect();
        let Some(local) = self.local else { return };
        let zero = self.e.body.i64(0);
        let is_first = self.e.body.op(Op::Eq, &[local, zero]);
        let write = Writer::new(&types, &memory);
        self.e.when(is_first, |e| write.all(e, zero, &vars));
        self.barrier();
        let values = write.read(&mut self.e, zero);
        for leaf in 0..self.leaves.len() {
            for ((at, value), ty) in range.clone().zip(&values).zip(&types) {
                let node = self.e.body.reduced((leaf * count + at) as u32, *ty);
                self.e.set(node, *value);
            }
        }
    }
}
