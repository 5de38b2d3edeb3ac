//! Folding together: the accumulators of a workgroup's invocations into one.

use super::super::write::Writer;
use super::{Lower, accumulator_types};
use crate::ir::Node;
use spirula_kernel::ir::Var;
use spirula_program::Op;

impl Lower<'_> {
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

    /// Folds the accumulators of all invocations in the workgroup's memory, half of them in each
    /// round.
    pub(super) fn combine(&mut self, number: u32) {
        let size = self.dispatch.loops[number as usize].extent as i64;
        let vars = self.leaves[0].accumulators.clone();
        let types = accumulator_types(&self.dispatch.op);
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
            let op = &self.dispatch.op;
            self.e.when(is_in, |e| {
                let read = write.read(e, other);
                let mut first = 0;
                for reduction in &op.reductions {
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
}
