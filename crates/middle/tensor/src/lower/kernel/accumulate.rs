//! Adding to accumulators.

use super::DispatchLowering;
use super::combine::fold;
use crate::ir::{ScalarNode, TensorReduction};
use crate::lower::emit::NodeEmitter;
use spirula_kernel::ir::{ExprId, VarId};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

impl DispatchLowering<'_> {
    /// Folds the values of all leaves into their accumulators.
    pub(super) fn accumulate(&mut self) {
        let guard = self.leaves[0].fold_guard;
        if self.leaves.iter().any(|leaf| leaf.fold_guard != guard) {
            return self.accumulate_each();
        }
        let range = self.range();
        let leaves = self.leaves.iter().map(|leaf| {
            let values = leaf.values[range.clone()].to_vec();
            let given = leaf.given[range.clone()].to_vec();
            (values, leaf.accumulators[range.clone()].to_vec(), given)
        });
        let leaves: Vec<(Vec<ScalarNode>, Vec<VarId>, Vec<bool>)> = leaves.collect();
        let reductions = self.reductions();
        let is_wide = self.dispatch.has_vectors();
        let is_exact = !self.dispatch.profile.fma;
        self.e.when(guard, |e| {
            let values: Vec<ScalarNode> = leaves.iter().flat_map(|(v, ..)| v).copied().collect();
            if is_wide {
                e.widen(&values);
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
                let factors = match is_exact || is_given {
                    true => None,
                    false => factors(e, reduction, values),
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
            let mut operands = e.emit(&roots).into_iter();
            for (reduction, values, vars, is_given, factors) in terms {
                let accumulators = vars.iter().map(|v| e.b.value(*v));
                let mut arguments: Vec<ExprId> = accumulators.collect();
                let results = match factors {
                    Some(factors) => {
                        let ty = e.body.ty(factors[0]);
                        let factors = operands.by_ref().take(2);
                        arguments.splice(0..0, factors);
                        let sum = e.b.apply(ScalarOperator::of(ScalarOp::Fma, ty), &arguments);
                        vec![e.kept(sum, ty)]
                    }
                    None if is_given => operands.by_ref().take(values.len()).collect(),
                    None => {
                        arguments.extend(operands.by_ref().take(values.len()));
                        e.combine(&reduction.combiner, &arguments)
                    }
                };
                for (var, value) in vars.iter().zip(results) {
                    e.b.assign(*var, value);
                }
            }
        });
    }

    /// The same under a condition for each of them; their values are there whatever the condition.
    fn accumulate_each(&mut self) {
        let reductions = self.reductions();
        let range = self.range();
        let values = self
            .leaves
            .iter()
            .flat_map(|leaf| &leaf.values[range.clone()]);
        let values: Vec<ScalarNode> = values.copied().collect();
        if self.dispatch.has_vectors() {
            self.e.widen(&values);
        }
        let values = self.e.emit(&values);
        for (leaf, values) in self.leaves.iter().zip(values.chunks(range.len())) {
            let vars = &leaf.accumulators[range.clone()];
            self.e
                .when(leaf.fold_guard, |e| fold(e, reductions, vars, values));
        }
    }
}

/// The factors of a product that is added with one rounding.
fn factors(
    e: &NodeEmitter<'_>,
    reduction: &TensorReduction,
    values: &[ScalarNode],
) -> Option<[ScalarNode; 2]> {
    let [value] = values else { return None };
    let (operator, operands) = e.body.applied(*value)?;
    let is_product =
        operator.op == ScalarOp::FMul && matches!(operator.to, ScalarType::F32 | ScalarType::F64);
    let is_sum = reduction.combiner.operator() == Some(ScalarOp::FAdd);
    match operands {
        [a, b] if is_product && is_sum => Some([*a, *b]),
        _ => None,
    }
}
