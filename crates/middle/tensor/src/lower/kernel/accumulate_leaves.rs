//! Accumulation: the values of all unrolled points are added to their accumulators.

use super::DispatchLowering;
use super::combine_accumulators::fold_into_accumulators;
use crate::ir::{ScalarNode, TensorReduction};
use crate::lower::node_emitter::NodeEmitter;
use spirula_kernel::ir::{ExprId, VarId};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

impl DispatchLowering<'_> {
    /// Accumulates the values of all points.
    pub(super) fn accumulate_leaves(&mut self) {
        let guard = self.leaves[0].fold_guard;
        if self.leaves.iter().any(|leaf| leaf.fold_guard != guard) {
            return self.accumulate_each();
        }
        let range = self.accumulator_range();
        let leaves = self.leaves.iter().map(|leaf| {
            let values = leaf.values[range.clone()].to_vec();
            let given = leaf.given[range.clone()].to_vec();
            (values, leaf.accumulators[range.clone()].to_vec(), given)
        });
        let leaves: Vec<(Vec<ScalarNode>, Vec<VarId>, Vec<bool>)> = leaves.collect();
        let reductions = self.active_reductions();
        let is_wide = self.dispatch.has_vectors();
        let is_exact = !self.nest.profile.fma;
        self.e.emit_if(guard, |e| {
            let values: Vec<ScalarNode> = leaves.iter().flat_map(|(v, ..)| v).copied().collect();
            if is_wide {
                e.vectorise_reads(&values);
            }
            let each = leaves.iter().flat_map(|(values, vars, given)| {
                let mut first = 0;
                reductions.iter().map(move |reduction| {
                    let range = first..first + reduction.values.len();
                    first = range.end;
                    let is_given = given[range.start];
                    (reduction, &values[range.clone()], &vars[range], is_given)
                })
            });
            let terms = each.map(|(reduction, values, vars, is_given)| {
                let factors = if is_exact || is_given {
                    None
                } else {
                    match_fma_factors(e, reduction, values)
                };
                (reduction, values, vars, is_given, factors)
            });
            let terms: Vec<_> = terms.collect();
            let roots = terms
                .iter()
                .flat_map(|(_, values, _, _, factors)| match factors {
                    Some(factors) => &factors[..],
                    None => values,
                });
            let roots: Vec<ScalarNode> = roots.copied().collect();
            let mut operands = e.emit_nodes(&roots).into_iter();
            for (reduction, values, vars, is_given, factors) in terms {
                let accumulators = vars.iter().map(|v| e.b.read_var(*v));
                let mut arguments: Vec<ExprId> = accumulators.collect();
                let results = match factors {
                    Some(factors) => {
                        let ty = e.body.ty(factors[0]);
                        let factors = operands.by_ref().take(2);
                        arguments.splice(0..0, factors);
                        let sum = e.b.apply_operator(
                            ScalarOperator::with_type(ScalarOp::Fma, ty),
                            &arguments,
                        );
                        vec![e.bind_to_variable(sum, ty)]
                    }
                    None if is_given => operands.by_ref().take(values.len()).collect(),
                    None => {
                        arguments.extend(operands.by_ref().take(values.len()));
                        e.emit_combiner(&reduction.combiner, &arguments)
                    }
                };
                for (var, value) in vars.iter().zip(results) {
                    e.b.push_assignment(*var, value);
                }
            }
        });
    }

    /// The same under a condition for each point. Its values are computed whatever the condition.
    fn accumulate_each(&mut self) {
        let reductions = self.active_reductions();
        let range = self.accumulator_range();
        let values = self
            .leaves
            .iter()
            .flat_map(|leaf| &leaf.values[range.clone()]);
        let values: Vec<ScalarNode> = values.copied().collect();
        if self.dispatch.has_vectors() {
            self.e.vectorise_reads(&values);
        }
        let values = self.e.emit_nodes(&values);
        for (leaf, values) in self.leaves.iter().zip(values.chunks(range.len())) {
            let vars = &leaf.accumulators[range.clone()];
            self.e.emit_if(leaf.fold_guard, |e| {
                fold_into_accumulators(e, reductions, vars, values)
            });
        }
    }
}

/// The factors of a product that is added to a sum with one rounding.
fn match_fma_factors(
    e: &NodeEmitter<'_>,
    reduction: &TensorReduction,
    values: &[ScalarNode],
) -> Option<[ScalarNode; 2]> {
    let [value] = values else { return None };
    let (operator, operands) = e.body.as_apply(*value)?;
    let is_product =
        operator.op == ScalarOp::FMul && matches!(operator.to, ScalarType::F32 | ScalarType::F64);
    let is_sum = reduction.combiner.as_operator() == Some(ScalarOp::FAdd);
    match operands {
        [a, b] if is_product && is_sum => Some([*a, *b]),
        _ => None,
    }
}
