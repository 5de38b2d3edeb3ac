//! Aliases: which arrays a statement consumes, through views of them.

use crate::ir::{SoacBody, SoacOperand, SoacOperation, SoacStatement, SoacVariableId};
use rustc_hash::FxHashMap;

/// The arrays that variables may be views of. A variable that is not in the table is only its own.
#[derive(Clone, Debug, Default)]
pub(super) struct AliasTable {
    roots: FxHashMap<SoacVariableId, Vec<SoacVariableId>>,
}

impl AliasTable {
    /// The arrays that an operand may be a view of.
    pub(super) fn find_roots(&self, operand: SoacOperand) -> Vec<SoacVariableId> {
        match operand {
            SoacOperand::Variable(id) => self.roots.get(&id).cloned().unwrap_or_else(|| vec![id]),
            SoacOperand::Constant(_) => Vec::new(),
        }
    }

    fn set(&mut self, id: SoacVariableId, mut roots: Vec<SoacVariableId>) {
        roots.sort_unstable();
        roots.dedup();
        self.roots.insert(id, roots);
    }

    /// Notes the aliases that a body makes. Returns the arrays that it consumes.
    pub(super) fn visit_body(&mut self, body: &SoacBody) -> Vec<SoacVariableId> {
        let statements = body.statements.iter();
        statements
            .flat_map(|statement| self.visit_statement(statement))
            .collect()
    }

    /// Notes the aliases that a statement makes. Returns the arrays that it consumes.
    pub(super) fn visit_statement(&mut self, statement: &SoacStatement) -> Vec<SoacVariableId> {
        let results = &statement.results;
        match &statement.operation {
            SoacOperation::Slice(array, _)
            | SoacOperation::Reshape(array, _)
            | SoacOperation::Rearrange(array, _) => {
                let roots = self.find_roots(*array);
                self.set(results[0], roots);
                Vec::new()
            }
            SoacOperation::Update(array, _, _) | SoacOperation::Scatter(array, _, _) => {
                let roots = self.find_roots(*array);
                self.set(results[0], roots.clone());
                roots
            }
            SoacOperation::Histogram(histogram) => {
                self.visit_targets(results, histogram.targets.iter().copied())
            }
            SoacOperation::If(_, accept, reject) => {
                let mut consumed = self.visit_body(accept);
                consumed.extend(self.visit_body(reject));
                for (index, &result) in results.iter().enumerate() {
                    let mut roots = self.find_roots(accept.results[index]);
                    roots.extend(self.find_roots(reject.results[index]));
                    self.set(result, roots);
                }
                consumed
            }
            SoacOperation::Loop(parameters, _, body) => {
                for (id, initial) in parameters {
                    let roots = self.find_roots(*initial);
                    self.set(*id, roots);
                }
                let consumed = self.visit_body(body);
                for (index, &result) in results.iter().enumerate() {
                    let mut roots = self.find_roots(parameters[index].1);
                    roots.extend(self.find_roots(body.results[index]));
                    self.set(result, roots);
                }
                consumed
            }
            SoacOperation::Map(_, arrays, function) => {
                self.link(&function.parameters, arrays);
                self.visit_body(&function.body)
            }
            SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => self.visit_body(&function.body),
            SoacOperation::WithAccumulators(accumulation) => {
                let mut consumed = self.visit_body(&accumulation.body);
                let accumulators = accumulation.accumulators.iter();
                let targets = accumulators.flat_map(|accumulator| &accumulator.targets);
                let targets: Vec<_> = targets.copied().collect();
                let (written, plain) = results.split_at(targets.len());
                consumed.extend(self.visit_targets(written, targets));
                self.link(plain, &accumulation.body.results);
                consumed
            }
            SoacOperation::Call(..) => {
                let consumed = statement.operation.consumed().into_iter();
                consumed
                    .flat_map(|operand| self.find_roots(operand))
                    .collect()
            }
            _ => Vec::new(),
        }
    }

    /// Notes that variables may be views of operands.
    fn link(&mut self, variables: &[SoacVariableId], operands: &[SoacOperand]) {
        for (&variable, &operand) in variables.iter().zip(operands) {
            let roots = self.find_roots(operand);
            self.set(variable, roots);
        }
    }

    /// Notes that results are written in place of targets. Returns the arrays that are consumed.
    fn visit_targets(
        &mut self,
        results: &[SoacVariableId],
        targets: impl IntoIterator<Item = SoacOperand>,
    ) -> Vec<SoacVariableId> {
        let mut consumed = Vec::new();
        for (&result, target) in results.iter().zip(targets) {
            let roots = self.find_roots(target);
            self.set(result, roots.clone());
            consumed.extend(roots);
        }
        consumed
    }
}
