//! Dead-code elimination: statements, results and parameters go that no result of the function depends on.
//!
//! A variable that is needed marks the variables that it is computed from, by way of a work list. Checks stay while something
//! that needs their certificate stays.

use crate::ir::{
    FusedSink, SoacBody, SoacFunction, SoacFusedMap, SoacLambda, SoacLoopForm, SoacOperand,
    SoacOperation, SoacStatement, SoacVariableId,
};

/// Whether dead-code elimination removed parameters or results, so that other rules may apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeadCodeOutcome {
    /// Only statements were removed, or nothing.
    Statements,
    /// Parameters or results were removed.
    Signatures,
}

/// Removes what has no effect on the results of a function.
pub fn remove_dead_code(function: &mut SoacFunction) -> DeadCodeOutcome {
    let mut graph = DependencyGraph::new(function);
    let results = std::mem::take(&mut function.body.results);
    graph.add_body(&function.body);
    let live = graph.mark(&results);
    let mut remover = DeadCodeRemover {
        live,
        outcome: DeadCodeOutcome::Statements,
    };
    remover.sweep_body(&mut function.body);
    function.body.results = results;
    remover.outcome
}

/// Which variables are computed from which. The nodes are the variables, and one or two for each statement.
struct DependencyGraph {
    edges: Vec<Vec<u32>>,
    /// The nodes of the statements around the one that is added, innermost last.
    around: Vec<u32>,
}

impl DependencyGraph {
    fn new(function: &SoacFunction) -> Self {
        let mut graph = DependencyGraph {
            edges: vec![Vec::new(); function.variables.len()],
            around: Vec::new(),
        };
        for (id, variable) in function.variables.iter() {
            for &size in variable.variable_type.shape() {
                graph.depend(id.index(), size);
            }
        }
        graph
    }

    fn add_node(&mut self) -> usize {
        self.edges.push(Vec::new());
        self.edges.len() - 1
    }

    /// Notes that a node needs an operand.
    fn depend(&mut self, node: usize, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            self.edges[node].push(id.index() as u32);
        }
    }

    /// Notes that a variable needs a node.
    fn link(&mut self, id: SoacVariableId, node: usize) {
        self.edges[id.index()].push(node as u32);
    }

    fn add_body(&mut self, body: &SoacBody) {
        for statement in &body.statements {
            self.add_statement(statement);
        }
    }

    fn add_statement(&mut self, statement: &SoacStatement) {
        let node = self.add_node();
        for &id in &statement.certificates {
            self.depend(node, SoacOperand::Variable(id));
        }
        for &id in statement.results.iter().chain(&statement.operation.bound()) {
            self.link(id, node);
        }
        match &statement.operation {
            SoacOperation::If(condition, accept, reject) => {
                self.depend(node, *condition);
                for branch in [accept, reject] {
                    self.depend_each(&statement.results, &branch.results);
                }
            }
            SoacOperation::Loop(parameters, form, body) => {
                let ids: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
                self.depend_each(&ids, &body.results);
                for ((id, initial), &result) in parameters.iter().zip(&statement.results) {
                    self.depend(id.index(), *initial);
                    self.link(result, id.index());
                }
                match form {
                    SoacLoopForm::For(_, bound) => self.depend(node, *bound),
                    SoacLoopForm::While(position) => {
                        self.depend(node, SoacOperand::Variable(ids[*position]));
                    }
                }
            }
            SoacOperation::Map(width, arrays, function) => {
                self.depend(node, *width);
                self.depend_each(&function.parameters, arrays);
                self.depend_each(&statement.results, &function.body.results);
            }
            SoacOperation::Fused(fused) => self.add_fused(node, statement, fused),
            SoacOperation::Accumulate(accumulator, position, values) => {
                // An accumulator that is needed needs the values that are written, and the statements around the write.
                for &operand in values.iter().chain([position]) {
                    self.depend(node, operand);
                }
                self.link(*accumulator, node);
                for index in 0..self.around.len() {
                    let outer = self.around[index] as usize;
                    self.link(*accumulator, outer);
                }
            }
            SoacOperation::WithAccumulators(accumulation) => {
                for accumulator in &accumulation.accumulators {
                    self.depend(node, SoacOperand::Variable(accumulator.variable));
                }
                statement
                    .operation
                    .for_each_operand(|operand| self.depend(node, operand));
                for body in statement.operation.bodies() {
                    for &result in &body.results {
                        self.depend(node, result);
                    }
                }
            }
            operation => {
                operation.for_each_operand(|operand| self.depend(node, operand));
                for body in operation.bodies() {
                    for &result in &body.results {
                        self.depend(node, result);
                    }
                }
            }
        }
        self.around.push(node as u32);
        for body in statement.operation.bodies() {
            self.add_body(body);
        }
        self.around.pop();
    }

    fn add_fused(&mut self, node: usize, statement: &SoacStatement, fused: &SoacFusedMap) {
        self.depend(node, fused.width);
        self.depend_each(&fused.function.parameters, &fused.arrays);
        let sink = self.add_node();
        let results = &fused.function.body.results;
        let (taken, others) = results.split_at(fused.sink.count_inputs());
        let (heads, arrays) = statement.results.split_at(fused.sink.count_results());
        heads.iter().for_each(|&id| self.link(id, sink));
        self.depend_each(arrays, others);
        for &operand in taken.iter().chain(fused.sink.targets()) {
            self.depend(sink, operand);
        }
        if let Some(fold) = fused.sink.fold() {
            for &operand in fold.neutral.iter().chain(&fold.function.body.results) {
                self.depend(sink, operand);
            }
            for &id in &fold.function.parameters {
                self.link(id, sink);
            }
        }
    }

    /// Notes that each variable needs an operand.
    fn depend_each(&mut self, ids: &[SoacVariableId], operands: &[SoacOperand]) {
        for (&id, &operand) in ids.iter().zip(operands) {
            self.depend(id.index(), operand);
        }
    }

    /// The nodes that operands need.
    fn mark(mut self, roots: &[SoacOperand]) -> Vec<bool> {
        let root = self.add_node();
        for &operand in roots {
            self.depend(root, operand);
        }
        let mut live = vec![false; self.edges.len()];
        let mut work = vec![root as u32];
        while let Some(node) = work.pop() {
            if !std::mem::replace(&mut live[node as usize], true) {
                work.extend(&self.edges[node as usize]);
            }
        }
        live
    }
}

/// State of the removal.
struct DeadCodeRemover {
    live: Vec<bool>,
    outcome: DeadCodeOutcome,
}

/// The items at some positions.
pub(super) fn keep_positions<T>(items: &mut Vec<T>, is_kept: &[bool]) {
    let mut kept = is_kept.iter();
    items.retain(|_| kept.next().copied().unwrap_or(true));
}

impl DeadCodeRemover {
    fn is_live(&self, id: SoacVariableId) -> bool {
        self.live[id.index()]
    }

    /// Which of some variables are needed. Notes it if some are not.
    fn select(&mut self, ids: &[SoacVariableId]) -> Vec<bool> {
        let kept: Vec<_> = ids.iter().map(|&id| self.is_live(id)).collect();
        if kept.contains(&false) {
            self.outcome = DeadCodeOutcome::Signatures;
        }
        kept
    }

    /// Whether an operation or one in its bodies writes an accumulator that is needed.
    fn writes_live(&self, operation: &SoacOperation) -> bool {
        if let SoacOperation::Accumulate(accumulator, ..) = operation {
            return self.is_live(*accumulator);
        }
        let mut bodies = operation.bodies().into_iter();
        bodies.any(|body| {
            let mut statements = body.statements.iter();
            statements.any(|statement| self.writes_live(&statement.operation))
        })
    }

    fn sweep_body(&mut self, body: &mut SoacBody) {
        let is_live = |statement: &SoacStatement| {
            statement.results.iter().any(|&id| self.is_live(id))
                || self.writes_live(&statement.operation)
        };
        body.statements.retain(is_live);
        for statement in &mut body.statements {
            self.sweep_signature(statement);
            for body in statement.operation.bodies_mut() {
                self.sweep_body(body);
            }
        }
    }

    /// Removes results and parameters of a statement.
    fn sweep_signature(&mut self, statement: &mut SoacStatement) {
        let results = &mut statement.results;
        match &mut statement.operation {
            SoacOperation::If(_, accept, reject) => {
                let kept = self.select(results);
                keep_positions(results, &kept);
                keep_positions(&mut accept.results, &kept);
                keep_positions(&mut reject.results, &kept);
            }
            SoacOperation::Loop(parameters, form, body) => {
                let ids: Vec<_> = parameters.iter().map(|(id, _)| *id).collect();
                let kept = self.select(&ids);
                if let SoacLoopForm::While(position) = form {
                    *position = kept[..*position].iter().filter(|&&kept| kept).count();
                }
                keep_positions(results, &kept);
                keep_positions(parameters, &kept);
                keep_positions(&mut body.results, &kept);
            }
            SoacOperation::Map(_, arrays, function) => {
                let kept = self.select(results);
                keep_positions(results, &kept);
                keep_positions(&mut function.body.results, &kept);
                self.sweep_parameters(arrays, function);
            }
            SoacOperation::Fused(fused) => {
                if let Some(map) = self.sweep_fused(results, fused) {
                    statement.operation = map;
                }
            }
            _ => {}
        }
    }

    fn sweep_parameters(&mut self, arrays: &mut Vec<SoacOperand>, function: &mut SoacLambda) {
        let kept = self.select(&function.parameters);
        keep_positions(arrays, &kept);
        keep_positions(&mut function.parameters, &kept);
    }

    /// Removes results and parameters of a fused map. Returns a map if nothing needs the results of its sink.
    fn sweep_fused(
        &mut self,
        results: &mut Vec<SoacVariableId>,
        fused: &mut SoacFusedMap,
    ) -> Option<SoacOperation> {
        let heads = fused.sink.count_results();
        let mut kept = self.select(&results[heads..]);
        let mut kept_results = vec![true; heads];
        kept_results.extend(&kept);
        let taken = fused.sink.count_inputs();
        kept.splice(0..0, vec![true; taken]);
        let needs_sink = results[..heads].iter().any(|&id| self.is_live(id));
        if !needs_sink {
            kept[..taken].fill(false);
            kept_results[..heads].fill(false);
        }
        keep_positions(results, &kept_results);
        keep_positions(&mut fused.function.body.results, &kept);
        self.sweep_parameters(&mut fused.arrays, &mut fused.function);
        if needs_sink {
            return None;
        }
        fused.sink = FusedSink::Scatter(Vec::new());
        Some(SoacOperation::Map(
            fused.width,
            std::mem::take(&mut fused.arrays),
            std::mem::take(&mut fused.function),
        ))
    }
}
