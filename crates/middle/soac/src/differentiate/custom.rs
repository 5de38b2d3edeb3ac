//! Functions whose gradient is given.

use super::copy::BodyCopier;
use crate::build::SoacBuilder;
use crate::ir::{SoacLambda, SoacOperand, SoacVariableId};
use rustc_hash::FxHashMap;

/// A call of a function whose gradient is given. The statements of the function are part of the body in which it is
/// called. They read copies of its arguments and end with copies of its results.
#[derive(Clone, Debug)]
pub struct CustomRule {
    /// The arguments.
    pub arguments: Vec<SoacOperand>,
    /// The copies of the arguments.
    pub copies: Vec<SoacVariableId>,
    /// The copies of the results, made by statements that follow each other.
    pub results: Vec<SoacVariableId>,
    /// The gradient: a function of the results and of their adjoints. Its results are the adjoints of the arguments.
    pub gradient: SoacLambda,
}

/// The calls of functions whose gradient is given.
#[derive(Clone, Debug, Default)]
pub struct CustomRules {
    rules: Vec<CustomRule>,
    /// The rule that a result belongs to.
    by_result: FxHashMap<SoacVariableId, usize>,
}

impl CustomRules {
    /// Adds a call.
    pub fn add(&mut self, rule: CustomRule) {
        for &result in &rule.results {
            self.by_result.insert(result, self.rules.len());
        }
        self.rules.push(rule);
    }

    /// Number of calls.
    pub fn len(&self) -> usize {
        self.rules.len()
    }

    /// Whether there are no calls.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// Forgets all calls but the first ones.
    pub fn truncate(&mut self, count: usize) {
        self.rules.truncate(count);
        self.by_result.retain(|_, index| *index < count);
    }

    /// The call that a variable is a result of.
    pub(super) fn find(&self, result: SoacVariableId) -> Option<&CustomRule> {
        self.by_result.get(&result).map(|&index| &self.rules[index])
    }

    /// All calls.
    pub(super) fn iter(&self) -> impl Iterator<Item = &CustomRule> {
        self.rules.iter()
    }

    /// Adds copies of the calls whose statements were copied. Returns where they begin.
    pub(super) fn copy(&mut self, builder: &mut SoacBuilder, copier: &BodyCopier) -> usize {
        let first = self.rules.len();
        let copies: FxHashMap<_, _> = copier.copies.iter().copied().collect();
        let rename = |ids: &[SoacVariableId]| {
            let renamed = ids.iter().map(|id| copies.get(id).copied().unwrap_or(*id));
            renamed.collect::<Vec<_>>()
        };
        let is_copied = |rule: &&CustomRule| rule.results.iter().any(|id| copies.contains_key(id));
        let copied: Vec<CustomRule> = self.rules.iter().filter(is_copied).cloned().collect();
        for rule in copied {
            self.add(CustomRule {
                arguments: copier.operands(&rule.arguments),
                copies: rename(&rule.copies),
                results: rename(&rule.results),
                gradient: copier.clone().copy_lambda(builder, &rule.gradient),
            });
        }
        first
    }

    /// The calls from a position on.
    pub(super) fn list_from_index(&self, first: usize) -> &[CustomRule] {
        &self.rules[first..]
    }
}
