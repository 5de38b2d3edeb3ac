//! Functions that are called: parameters that they do not need go, and so do functions that nothing calls.

use super::dead::keep_positions;
use super::remove_dead_code;
use crate::calls::{change_calls, visit_calls};
use crate::ir::{
    SoacArgument, SoacBody, SoacFunction, SoacFunctionId, SoacOperand, SoacOperation,
    SoacStatement, SoacVariableId,
};
use spirula_entity::{EntityArena, EntitySet};

/// How often parameters are removed at most. Arguments that are computed for them are dead code after that.
const MAX_ROUNDS: usize = 8;

/// Removes what the functions that a function calls do not need.
pub fn prune_signatures(function: &mut SoacFunction) {
    for _ in 0..MAX_ROUNDS {
        remove_dead_code(function);
        let ids: Vec<_> = function.callees.ids().collect();
        for id in ids {
            remove_dead_code(&mut function.callees[id]);
        }
        if !remove_parameters(function) {
            break;
        }
    }
    remove_uncalled(function);
}

/// An argument of a call.
struct PassedVariable {
    /// The function, and the position of its parameter.
    callee: SoacFunctionId,
    position: usize,
    /// The variable that is passed.
    variable: SoacVariableId,
}

/// The variables that a function needs.
struct NeededVariables {
    /// Those that something other than a call uses.
    needed: EntitySet<SoacVariableId>,
    /// Those that calls pass on.
    passed: Vec<PassedVariable>,
}

impl NeededVariables {
    fn find(function: &SoacFunction) -> Self {
        let mut variables = NeededVariables {
            needed: EntitySet::default(),
            passed: Vec::new(),
        };
        variables.visit_body(function, &function.body);
        variables
    }

    fn visit_body(&mut self, function: &SoacFunction, body: &SoacBody) {
        for statement in &body.statements {
            self.visit_statement(function, statement);
        }
        for &result in &body.results {
            self.need(result);
        }
    }

    fn visit_statement(&mut self, function: &SoacFunction, statement: &SoacStatement) {
        for &id in &statement.certificates {
            self.needed.insert(id);
        }
        for id in statement.operation.bound().iter().chain(&statement.results) {
            for &size in function.variables[*id].variable_type.shape() {
                self.need(size);
            }
        }
        if let SoacOperation::Call(callee, arguments) = &statement.operation {
            for (position, argument) in arguments.iter().enumerate() {
                if let SoacOperand::Variable(variable) = argument.operand {
                    self.passed.push(PassedVariable {
                        callee: *callee,
                        position,
                        variable,
                    });
                }
            }
            return;
        }
        statement.operation.for_each_operand(|operand| {
            if let SoacOperand::Variable(id) = operand {
                self.needed.insert(id);
            }
        });
        for body in statement.operation.bodies() {
            self.visit_body(function, body);
        }
    }

    fn need(&mut self, operand: SoacOperand) {
        if let SoacOperand::Variable(id) = operand {
            self.needed.insert(id);
        }
    }

    /// Which parameters of the function are needed. So are the sizes of those that are.
    fn select_parameters(&mut self, function: &SoacFunction) -> Vec<bool> {
        for &id in &function.parameters {
            if self.needed.contains(id) {
                for &size in function.variables[id].variable_type.shape() {
                    self.need(size);
                }
            }
        }
        let parameters = function.parameters.iter();
        parameters.map(|&id| self.needed.contains(id)).collect()
    }
}

/// Removes parameters of the functions that are called. Returns whether there were some.
fn remove_parameters(function: &mut SoacFunction) -> bool {
    let callees = &function.callees;
    let mut variables: Vec<_> = callees
        .iter()
        .map(|(_, callee)| NeededVariables::find(callee))
        .collect();
    let select = |variables: &mut Vec<NeededVariables>| -> Vec<Vec<bool>> {
        let pairs = variables.iter_mut().zip(callees.iter());
        pairs
            .map(|(needed, (_, callee))| needed.select_parameters(callee))
            .collect()
    };
    let mut kept = select(&mut variables);
    loop {
        for needed in &mut variables {
            for passed in &needed.passed {
                if kept[passed.callee.index()][passed.position] {
                    needed.needed.insert(passed.variable);
                }
            }
        }
        let more = select(&mut variables);
        if more == kept {
            break;
        }
        kept = more;
    }
    if kept.iter().flatten().all(|&kept| kept) {
        return false;
    }
    let mut callees = std::mem::take(&mut function.callees);
    let ids: Vec<_> = callees.ids().collect();
    for id in ids {
        keep_positions(&mut callees[id].parameters, &kept[id.index()]);
        change_calls(&mut callees[id].body, &mut |callee, arguments| {
            keep_positions(arguments, &kept[callee.index()]);
        });
    }
    function.callees = callees;
    change_calls(&mut function.body, &mut |callee, arguments| {
        keep_positions(arguments, &kept[callee.index()]);
    });
    true
}

/// Removes the functions that nothing calls.
fn remove_uncalled(function: &mut SoacFunction) {
    let mut pending = Vec::new();
    visit_calls(&function.body, &mut |callee, _| pending.push(callee));
    let mut called = EntitySet::<SoacFunctionId>::default();
    while let Some(id) = pending.pop() {
        if called.insert(id) {
            let body = &function.callees[id].body;
            visit_calls(body, &mut |callee, _| pending.push(callee));
        }
    }
    let mut kept = EntityArena::<SoacFunctionId, SoacFunction>::default();
    let mut numbers = Vec::with_capacity(function.callees.len());
    for (id, callee) in function.callees.iter() {
        let number = called.contains(id).then(|| kept.push(callee.clone()));
        numbers.push(number.unwrap_or(id));
    }
    if kept.len() == numbers.len() {
        return;
    }
    let mut renumber = |callee: &mut SoacFunctionId, _: &mut Vec<SoacArgument>| {
        *callee = numbers[callee.index()];
    };
    let ids: Vec<_> = kept.ids().collect();
    for id in ids {
        change_calls(&mut kept[id].body, &mut renumber);
    }
    change_calls(&mut function.body, &mut renumber);
    function.callees = kept;
}
