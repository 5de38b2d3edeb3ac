//! Reverse mode of choices.

use super::adjoint::{AdjointMap, SparseAdjoint};
use super::alias::AliasTable;
use super::arithmetic::add_zero;
use super::copy::BodyCopier;
use super::need::visit_bound;
use super::reverse::ReverseTransform;
use crate::ir::{SoacBody, SoacOperand, SoacOperation, SoacType, SoacVariableId};
use spirula_program::ScalarType;
use std::collections::BTreeSet;

/// A branch that was swept: its statements, and what came of it.
struct SweptBranch {
    body: SoacBody,
    adjoints: AdjointMap,
}

impl ReverseTransform<'_> {
    /// Runs the branches of a choice again, and sweeps the one that is taken in reverse.
    pub(super) fn reverse_if(
        &mut self,
        condition: SoacOperand,
        accept: &SoacBody,
        reject: &SoacBody,
        adjoints: &[Option<SoacOperand>],
    ) {
        let bound = self.builder.count_variables();
        let outer = std::mem::take(&mut self.adjoints);
        let mut branches = Vec::with_capacity(2);
        for body in [accept, reject] {
            self.adjoints = AdjointMap {
                sparse: Vec::new(),
                ..outer.clone()
            };
            branches.push(self.sweep_branch(body, adjoints, bound));
        }
        self.adjoints = outer;
        let mut changed = BTreeSet::new();
        for branch in &branches {
            for (&id, value) in &branch.adjoints.values {
                if id.index() < bound && self.adjoints.values.get(&id) != Some(value) {
                    changed.insert(id);
                }
            }
        }
        let changed: Vec<_> = changed.into_iter().collect();
        let sparse: Vec<Vec<SparseAdjoint>> = branches
            .iter_mut()
            .map(|branch| std::mem::take(&mut branch.adjoints.sparse))
            .collect();
        let mut bodies = Vec::with_capacity(2);
        for (index, branch) in branches.into_iter().enumerate() {
            bodies.push(self.finish_branch(branch, index, &changed, &sparse));
        }
        let (Some(reject), Some(accept)) = (bodies.pop(), bodies.pop()) else {
            return;
        };
        self.bind_branches(condition, [accept, reject], &changed, sparse.concat());
    }

    fn sweep_branch(
        &mut self,
        body: &SoacBody,
        adjoints: &[Option<SoacOperand>],
        bound: usize,
    ) -> SweptBranch {
        self.builder.begin_body();
        let mut copier = self.make_copier();
        self.copy_consumed(&mut copier, &[], body);
        self.reverse_body(copier, body, adjoints);
        self.apply_inner_sparse(0, bound);
        let body = self.builder.end_body(Vec::new());
        SweptBranch {
            body,
            adjoints: std::mem::take(&mut self.adjoints),
        }
    }

    /// The body of a branch with its results: the adjoints that one of the branches changes, and the contributions of both.
    /// Those of the other branch have no position.
    fn finish_branch(
        &mut self,
        branch: SweptBranch,
        index: usize,
        changed: &[SoacVariableId],
        sparse: &[Vec<SparseAdjoint>],
    ) -> SoacBody {
        self.builder.resume_body(branch.body);
        let mut results = Vec::new();
        for id in changed {
            results.push(match branch.adjoints.values.get(id) {
                Some(value) => *value,
                None => {
                    let value_type = self.builder.type_of(SoacOperand::Variable(*id));
                    add_zero(self.builder, &value_type)
                }
            });
        }
        for (other, list) in sparse.iter().enumerate() {
            for part in list {
                if other == index {
                    results.extend(&part.positions);
                    results.push(part.value);
                    continue;
                }
                let nowhere = SoacOperand::from_int64(-1);
                for _ in &part.positions {
                    results.push(if part.prefix.is_empty() {
                        nowhere
                    } else {
                        self.replicate(&part.prefix, nowhere)
                    });
                }
                let value_type = self.builder.type_of(part.value);
                results.push(add_zero(self.builder, &value_type));
            }
        }
        self.builder.end_body(results)
    }

    /// Adds the choice between swept branches, and binds its results.
    fn bind_branches(
        &mut self,
        condition: SoacOperand,
        bodies: [SoacBody; 2],
        changed: &[SoacVariableId],
        sparse: Vec<SparseAdjoint>,
    ) {
        let mut types = Vec::new();
        for &id in changed {
            types.push(self.builder.type_of(SoacOperand::Variable(id)));
        }
        for part in &sparse {
            let position = SoacType::from_shape(ScalarType::I64, part.prefix.clone());
            types.extend(part.positions.iter().map(|_| position.clone()));
            types.push(self.builder.type_of(part.value));
        }
        if types.is_empty() {
            return;
        }
        let [accept, reject] = bodies;
        let operation = SoacOperation::If(condition, accept, reject);
        let results = self.builder.add_operation("adj", types, operation);
        let mut results = results.into_iter();
        for (&id, result) in changed.iter().zip(&mut results) {
            self.adjoints.values.insert(id, result);
        }
        for part in sparse {
            let positions = results.by_ref().take(part.positions.len()).collect();
            if let Some(value) = results.next() {
                self.adjoints.sparse.push(SparseAdjoint {
                    positions,
                    value,
                    ..part
                });
            }
        }
    }

    /// Copies the arrays from outside of a body and its parameters that it consumes, since it is run again.
    pub(super) fn copy_consumed(
        &mut self,
        copier: &mut BodyCopier,
        parameters: &[SoacVariableId],
        body: &SoacBody,
    ) {
        let mut bound: BTreeSet<_> = parameters.iter().copied().collect();
        for statement in &body.statements {
            visit_bound(statement, &mut |id| {
                bound.insert(id);
            });
        }
        let mut consumed = AliasTable::default().visit_body(body);
        consumed.sort_unstable();
        consumed.dedup();
        for id in consumed {
            let array = SoacOperand::Variable(id);
            if bound.contains(&id) {
                continue;
            }
            let source = copier.operand(array);
            let array_type = self.builder.type_of(source);
            if matches!(array_type, SoacType::Array(..)) {
                let manifest = SoacOperation::Manifest(source);
                let copy = self.builder.add_single("again", array_type, manifest);
                copier.replace(id, copy);
                self.link_copy(id, copy);
            }
        }
    }
}
