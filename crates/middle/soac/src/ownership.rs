//! Ownership over calls: an argument is consumed where the function changes it in place, and results are new arrays.

use crate::calls::change_calls;
use crate::consumption::{ElementOrigins, SharingFacts};
use crate::ir::{
    ArgumentOwnership, SoacArgument, SoacBody, SoacFunction, SoacFunctionId, SoacOperand,
    SoacOperation, SoacStatement, SoacType, SoacVariable, SoacVariableId,
};
use rustc_hash::FxHashMap;
use spirula_entity::{EntityArena, EntitySet};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Marks the arguments that calls consume. Copies results of the functions that are called where they share elements
/// with each other, or with parameters that are not consumed.
///
/// # Errors
///
/// An array that is used after it was consumed.
pub fn settle_ownership(function: &mut SoacFunction) -> Result<(), String> {
    let consumed = mark_arguments(function)?;
    let ids: Vec<_> = function.callees.ids().collect();
    for (id, consumed) in ids.into_iter().zip(&consumed) {
        copy_shared_results(&mut function.callees[id], consumed)?;
    }
    Ok(())
}

/// Marks the arguments that calls consume. Returns the parameters that each function consumes.
fn mark_arguments(function: &mut SoacFunction) -> Result<Vec<EntitySet<SoacVariableId>>, String> {
    let ids: Vec<_> = function.callees.ids().collect();
    let mut consumed = vec![EntitySet::<SoacVariableId>::default(); ids.len()];
    loop {
        let mut has_changed = false;
        for &id in &ids {
            let callee = &function.callees[id];
            let facts = SharingFacts::examine(callee)?;
            let mut changed = EntitySet::<SoacVariableId>::default();
            for &variable in &facts.consumed {
                changed.insert(variable);
            }
            for &parameter in &callee.parameters {
                if changed.contains(parameter) {
                    has_changed |= consumed[id.index()].insert(parameter);
                }
            }
        }
        if !has_changed {
            return Ok(consumed);
        }
        mark_calls(function, &consumed);
    }
}

/// Marks the arguments for parameters that are consumed.
fn mark_calls(function: &mut SoacFunction, consumed: &[EntitySet<SoacVariableId>]) {
    let callees = function.callees.iter();
    let ownerships = callees.zip(consumed).map(|((_, callee), consumed)| {
        let parameters = callee.parameters.iter();
        let ownership = parameters.map(|&parameter| {
            if consumed.contains(parameter) {
                ArgumentOwnership::Consumed
            } else {
                ArgumentOwnership::Lent
            }
        });
        ownership.collect::<Vec<_>>()
    });
    let ownerships: Vec<_> = ownerships.collect();
    let mut mark = |callee: &mut SoacFunctionId, arguments: &mut Vec<SoacArgument>| {
        let ownerships = ownerships[callee.index()].iter();
        for (argument, &ownership) in arguments.iter_mut().zip(ownerships) {
            argument.ownership = ownership;
        }
    };
    let ids: Vec<_> = function.callees.ids().collect();
    for id in ids {
        change_calls(&mut function.callees[id].body, &mut mark);
    }
    change_calls(&mut function.body, &mut mark);
}

/// Copies results of a function that share elements with parameters that are not consumed, or with each other.
fn copy_shared_results(
    function: &mut SoacFunction,
    consumed: &EntitySet<SoacVariableId>,
) -> Result<(), String> {
    let origins = SharingFacts::examine(function)?.into_origins();
    let mut lent = EntitySet::default();
    for &parameter in &function.parameters {
        if !consumed.contains(parameter) {
            lent.insert(parameter);
        }
    }
    let mut body = std::mem::take(&mut function.body);
    let mut copier = ResultCopier {
        variables: &mut function.variables,
        origins,
        lent,
    };
    let positions = 0..body.results.len();
    let shared = positions.filter(|&position| copier.is_lent(body.results[position]));
    let shared: Vec<_> = shared.collect();
    copier.copy_results(&mut body, &shared);
    copier.separate_results(&mut body);
    function.body = body;
    Ok(())
}

/// State of the copying of results.
struct ResultCopier<'f> {
    variables: &'f mut EntityArena<SoacVariableId, SoacVariable>,
    /// The makers of the elements of arrays that share those of others.
    origins: FxHashMap<SoacVariableId, ElementOrigins>,
    /// The parameters that are not consumed.
    lent: EntitySet<SoacVariableId>,
}

impl ResultCopier<'_> {
    /// The makers of the elements of an array.
    fn origins_of(&self, operand: SoacOperand) -> ElementOrigins {
        match operand {
            SoacOperand::Variable(id)
                if matches!(self.variables[id].variable_type, SoacType::Array(..)) =>
            {
                let own = || Rc::new(vec![id]);
                self.origins.get(&id).cloned().unwrap_or_else(own)
            }
            _ => ElementOrigins::default(),
        }
    }

    /// Whether an array shares elements with a parameter that is not consumed.
    fn is_lent(&self, operand: SoacOperand) -> bool {
        let origins = self.origins_of(operand);
        origins.iter().any(|&id| self.lent.contains(id))
    }

    /// Copies some results of a body, in branches of choices if they come from there.
    fn copy_results(&mut self, body: &mut SoacBody, positions: &[usize]) {
        if positions.is_empty() {
            return;
        }
        let definitions = ResultDefinitions::find(body);
        let mut choices: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for &position in positions {
            match definitions.find_choice(body, body.results[position]) {
                Some(choice) => choices
                    .entry(choice.statement)
                    .or_default()
                    .push(choice.result),
                None => self.copy_result(body, position),
            }
        }
        for (statement, results) in choices {
            for branch in body.statements[statement].operation.bodies_mut() {
                let results = results.iter().copied();
                let shared = results.filter(|&result| self.is_lent(branch.results[result]));
                let shared: Vec<_> = shared.collect();
                self.copy_results(branch, &shared);
            }
        }
    }

    /// Copies a result of a body at its end.
    fn copy_result(&mut self, body: &mut SoacBody, position: usize) {
        let SoacOperand::Variable(id) = body.results[position] else {
            return;
        };
        let copy = self.variables.push(self.variables[id].clone());
        body.statements.push(SoacStatement {
            results: vec![copy],
            certificates: Vec::new(),
            operation: SoacOperation::Manifest(body.results[position]),
        });
        body.results[position] = SoacOperand::Variable(copy);
    }

    /// Copies results of a function that share elements with earlier ones.
    fn separate_results(&mut self, body: &mut SoacBody) {
        let mut seen = EntitySet::<SoacVariableId>::default();
        for position in 0..body.results.len() {
            let origins = self.origins_of(body.results[position]);
            let mut own = origins.iter().filter(|&&id| !self.lent.contains(id));
            if own.any(|&id| seen.contains(id)) {
                self.copy_result(body, position);
            } else {
                for &id in origins.iter() {
                    seen.insert(id);
                }
            }
        }
    }
}

/// A result of a choice.
struct ChoiceResult {
    /// The position of the statement in its body.
    statement: usize,
    /// The position of the result.
    result: usize,
}

/// The statements of a body that bind variables, with the positions among their results.
struct ResultDefinitions {
    positions: FxHashMap<SoacVariableId, (usize, usize)>,
}

impl ResultDefinitions {
    fn find(body: &SoacBody) -> Self {
        let mut positions = FxHashMap::default();
        for (statement, bound) in body.statements.iter().enumerate() {
            for (result, &id) in bound.results.iter().enumerate() {
                positions.insert(id, (statement, result));
            }
        }
        ResultDefinitions { positions }
    }

    /// The result of a choice that an operand is, or is another name of.
    fn find_choice(&self, body: &SoacBody, operand: SoacOperand) -> Option<ChoiceResult> {
        let mut operand = operand;
        loop {
            let SoacOperand::Variable(id) = operand else {
                return None;
            };
            let &(statement, result) = self.positions.get(&id)?;
            match &body.statements[statement].operation {
                SoacOperation::Slice(source, selectors) if selectors.is_empty() => {
                    operand = *source;
                }
                SoacOperation::If(..) => return Some(ChoiceResult { statement, result }),
                _ => return None,
            }
        }
    }
}
