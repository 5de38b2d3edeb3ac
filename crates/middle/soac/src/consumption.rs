//! Arrays that are changed in place, and what refers to them.
//!
//! `Update`, `Scatter` and histograms consume their arrays: from there on neither the array nor what shares its elements may be
//! used. Slices, reshapes and rearrangements share the elements of their array; so do parameters of loops and of combinators'
//! functions, and the results of choices and loops. All else makes new arrays.
//!
//! A call consumes the arguments that it says. Its results are new arrays.
//!
//! A body that runs several times must not consume what is bound outside of it. If it consumes a parameter, the loop or combinator
//! consumes the array that the parameter comes from.

use crate::ir::{
    SoacBody, SoacFunction, SoacOperand, SoacOperation, SoacStatement, SoacType, SoacVariableId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_entity::{DenseId as _, EntitySet, UnionFind};
use std::rc::Rc;

/// Sets of variables that may share elements.
#[derive(Clone, Debug)]
pub struct SharingClasses {
    classes: UnionFind,
}

impl SharingClasses {
    /// A variable that stands for the set that a variable is in. A variable that was added later is a set of its own.
    pub fn find_root(&self, id: SoacVariableId) -> SoacVariableId {
        if id.index() >= self.classes.len() {
            return id;
        }
        let root = self.classes.peek_root(id.index() as u32);
        SoacVariableId::from_index(root as usize)
    }
}

/// The sets of variables that may share elements, without regard to order.
pub fn find_classes(function: &SoacFunction) -> SharingClasses {
    let mut sharing = SharedElements::new(function);
    sharing.visit_body(&function.body);
    SharingClasses {
        classes: sharing.classes,
    }
}

/// Whether the results of a function may share elements with its parameters and with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FunctionResults {
    /// They may. Nothing in the program calls the function.
    Shared,
    /// They are new arrays. The function is called.
    New,
}

/// The variables that share elements with an array that some statement of a function consumes, wherever that is. The caller
/// may consume results that are new.
pub fn find_consumed(
    function: &SoacFunction,
    results: FunctionResults,
) -> EntitySet<SoacVariableId> {
    let mut sharing = SharedElements::new(function);
    sharing.visit_body(&function.body);
    if results == FunctionResults::New {
        let results = function.body.results.iter();
        sharing
            .consumed
            .extend(results.filter_map(|&result| match result {
                SoacOperand::Variable(id) => Some(id),
                SoacOperand::Constant(_) => None,
            }));
    }
    let consumed_ids = std::mem::take(&mut sharing.consumed);
    let classes = SharingClasses {
        classes: sharing.classes,
    };
    let mut roots = EntitySet::<SoacVariableId>::default();
    for id in consumed_ids {
        roots.insert(classes.find_root(id));
    }
    let mut consumed = EntitySet::default();
    for id in function.variables.ids() {
        if roots.contains(classes.find_root(id)) {
            consumed.insert(id);
        }
    }
    consumed
}

/// The arrays of a combinator's operands, in the order of the parameters that take their elements.
fn parameter_sources(operation: &SoacOperation) -> Vec<SoacOperand> {
    match operation {
        SoacOperation::Map(_, arrays, _) => arrays.clone(),
        SoacOperation::Reduce(_, arrays, neutral, ..)
        | SoacOperation::Scan(_, arrays, neutral, _) => {
            neutral.iter().chain(arrays).copied().collect()
        }
        SoacOperation::Histogram(histogram) => {
            let operands = histogram.targets.iter().chain(&histogram.values);
            operands.copied().collect()
        }
        SoacOperation::Fused(fused) => fused.arrays.clone(),
        SoacOperation::Loop(parameters, ..) => {
            parameters.iter().map(|(_, initial)| *initial).collect()
        }
        _ => Vec::new(),
    }
}

/// Sets of variables that may share elements, without regard to order.
struct SharedElements<'f> {
    function: &'f SoacFunction,
    classes: UnionFind,
    consumed: Vec<SoacVariableId>,
}

impl<'f> SharedElements<'f> {
    fn new(function: &'f SoacFunction) -> Self {
        SharedElements {
            function,
            classes: UnionFind::new(function.variables.len()),
            consumed: Vec::new(),
        }
    }

    fn join(&mut self, a: SoacOperand, b: SoacOperand) {
        if let (SoacOperand::Variable(a), SoacOperand::Variable(b)) = (a, b)
            && is_array(self.function, a)
            && is_array(self.function, b)
        {
            self.classes.join_sets(a.index() as u32, b.index() as u32);
        }
    }

    fn visit_body(&mut self, body: &SoacBody) {
        body.statements
            .iter()
            .for_each(|statement| self.visit_statement(statement));
    }

    fn visit_statement(&mut self, statement: &SoacStatement) {
        let operation = &statement.operation;
        for operand in operation.consumed() {
            if let SoacOperand::Variable(id) = operand {
                self.consumed.push(id);
            }
        }
        let results = statement.results.iter();
        let results: Vec<_> = results.map(|&id| SoacOperand::Variable(id)).collect();
        match operation {
            SoacOperation::Slice(array, _)
            | SoacOperation::Reshape(array, _)
            | SoacOperation::Rearrange(array, _) => self.join(results[0], *array),
            SoacOperation::If(_, accept, reject) => {
                for branch in [accept, reject] {
                    for (&result, &value) in results.iter().zip(&branch.results) {
                        self.join(result, value);
                    }
                }
            }
            SoacOperation::Loop(parameters, _, body) => {
                let values = parameters.iter().zip(&results).zip(&body.results);
                for (((id, _), &result), &value) in values {
                    self.join(SoacOperand::Variable(*id), result);
                    self.join(SoacOperand::Variable(*id), value);
                }
            }
            SoacOperation::Reduce(_, _, _, function, _)
            | SoacOperation::Scan(_, _, _, function) => {
                for (&id, &value) in function.parameters.iter().zip(&function.body.results) {
                    self.join(SoacOperand::Variable(id), value);
                }
            }
            SoacOperation::Fused(fused) => {
                let count = fused.sink.count_inputs();
                if let Some(fold) = fused.sink.fold() {
                    let parameters = &fold.function.parameters;
                    let states = fold.neutral.len();
                    let taken = &fused.function.body.results[count - states..count];
                    let results = fold.function.body.results.iter();
                    let sources = results.chain(taken).zip(parameters);
                    sources.for_each(|(&value, &id)| self.join(SoacOperand::Variable(id), value));
                    let neutral = fold.neutral.iter().zip(parameters);
                    neutral.for_each(|(&value, &id)| self.join(SoacOperand::Variable(id), value));
                }
            }
            _ => {}
        }
        let bound = operation.bound();
        for (&id, source) in bound.iter().zip(parameter_sources(operation)) {
            self.join(SoacOperand::Variable(id), source);
        }
        for body in operation.bodies() {
            self.visit_body(body);
        }
    }
}

fn is_array(function: &SoacFunction, id: SoacVariableId) -> bool {
    matches!(function.variables[id].variable_type, SoacType::Array(..))
}

/// The variables that made the elements of an array.
pub(crate) type ElementOrigins = Rc<Vec<SoacVariableId>>;

/// Checks that no array is used after it was consumed.
///
/// # Errors
///
/// The first use that is too late.
pub fn verify_consumption(function: &SoacFunction) -> Result<(), String> {
    SharingFacts::examine(function).map(|_| ())
}

/// The parameters that a function consumes, and those that its arrays share elements with.
pub(crate) struct SharingFacts<'f> {
    verifier: ConsumptionVerifier<'f>,
    /// The variables whose elements are consumed, parameters among them.
    pub(crate) consumed: Vec<SoacVariableId>,
}

impl<'f> SharingFacts<'f> {
    /// Examines a function.
    ///
    /// # Errors
    ///
    /// The first use of an array after it was consumed.
    pub(crate) fn examine(function: &'f SoacFunction) -> Result<Self, String> {
        let mut verifier = ConsumptionVerifier::new(function);
        let consumed = verifier.verify_body(&function.body)?;
        Ok(SharingFacts { verifier, consumed })
    }

    /// The makers of the elements of arrays that share those of others.
    pub(crate) fn into_origins(self) -> FxHashMap<SoacVariableId, ElementOrigins> {
        self.verifier.origins
    }

    /// The variables that made the elements of an array.
    pub(crate) fn origins_of(&self, operand: SoacOperand) -> ElementOrigins {
        self.verifier.origins_of(operand)
    }
}

/// Checks a function that is called. `lent` are the parameters that some call does not consume.
///
/// # Errors
///
/// A use of an array that is too late, a parameter that is consumed though it stays, or a result that is no new array.
pub(crate) fn verify_callee(
    function: &SoacFunction,
    lent: &EntitySet<SoacVariableId>,
) -> Result<(), String> {
    let facts = SharingFacts::examine(function)?;
    if let Some(id) = facts.consumed.iter().find(|&&id| lent.contains(id)) {
        return Err(format!("{id:?} is consumed, but not by each call (rule 8)"));
    }
    let mut seen = FxHashSet::default();
    for &result in &function.body.results {
        for &id in facts.origins_of(result).iter() {
            if lent.contains(id) || !seen.insert(id) {
                return Err(format!(
                    "{result:?} shares elements with {id:?}, so it is no new array (rule 8)"
                ));
            }
        }
    }
    Ok(())
}

/// State of the verifier.
struct ConsumptionVerifier<'f> {
    function: &'f SoacFunction,
    /// The makers of the elements of arrays that share those of others.
    origins: FxHashMap<SoacVariableId, ElementOrigins>,
    /// The variables whose elements were changed.
    consumed: FxHashSet<SoacVariableId>,
    /// For each variable the number of bodies around it that run several times.
    depths: FxHashMap<SoacVariableId, u32>,
    /// The number of bodies around the statement that run several times.
    depth: u32,
}

impl<'f> ConsumptionVerifier<'f> {
    fn new(function: &'f SoacFunction) -> Self {
        ConsumptionVerifier {
            function,
            origins: FxHashMap::default(),
            consumed: FxHashSet::default(),
            depths: FxHashMap::default(),
            depth: 0,
        }
    }

    fn origins_of(&self, operand: SoacOperand) -> ElementOrigins {
        match operand {
            SoacOperand::Variable(id) if is_array(self.function, id) => {
                let own = || Rc::new(vec![id]);
                self.origins.get(&id).cloned().unwrap_or_else(own)
            }
            _ => ElementOrigins::default(),
        }
    }

    fn require_unconsumed(&self, operand: SoacOperand) -> Result<(), String> {
        let origins = self.origins_of(operand);
        match origins.iter().find(|id| self.consumed.contains(*id)) {
            Some(origin) => Err(format!(
                "{operand:?} is used after {origin:?}, whose elements it has, was consumed (rule 6)"
            )),
            None => Ok(()),
        }
    }

    /// Checks a body. Returns the variables whose elements it consumed.
    fn verify_body(&mut self, body: &SoacBody) -> Result<Vec<SoacVariableId>, String> {
        let mut consumed = Vec::new();
        for statement in &body.statements {
            let mut late = Ok(());
            statement.operation.for_each_operand(|operand| {
                if late.is_ok() {
                    late = self.require_unconsumed(operand);
                }
            });
            late?;
            for id in self.verify_statement(statement)? {
                if self.consumed.insert(id) {
                    consumed.push(id);
                }
            }
        }
        for &result in &body.results {
            self.require_unconsumed(result)?;
        }
        Ok(consumed)
    }

    /// The variables whose elements a statement consumes. Defines the origins of its results.
    fn verify_statement(
        &mut self,
        statement: &SoacStatement,
    ) -> Result<Vec<SoacVariableId>, String> {
        for &id in &statement.results {
            self.depths.insert(id, self.depth);
        }
        let consumed = statement.operation.consumed();
        let consumed = consumed.iter().map(|&operand| self.origins_of(operand));
        let mut consumed: Vec<_> = consumed.flat_map(|origins| origins.to_vec()).collect();
        match &statement.operation {
            SoacOperation::Slice(array, _)
            | SoacOperation::Reshape(array, _)
            | SoacOperation::Rearrange(array, _) => {
                let origins = self.origins_of(*array);
                self.origins.insert(statement.results[0], origins);
            }
            SoacOperation::If(_, accept, reject) => {
                for branch in [accept, reject] {
                    let inner = self.verify_body(branch)?;
                    for &id in &inner {
                        // The other branch may consume it as well.
                        self.consumed.remove(&id);
                    }
                    consumed.extend(inner);
                }
                for (index, &id) in statement.results.iter().enumerate() {
                    let mut origins = vec![id];
                    for branch in [accept, reject] {
                        origins.extend(self.origins_of(branch.results[index]).iter());
                    }
                    origins.retain(|id| !self.consumed.contains(id) && !consumed.contains(id));
                    origins.sort_unstable_by_key(|id| id.index());
                    origins.dedup();
                    self.origins.insert(id, Rc::new(origins));
                }
            }
            operation => consumed.extend(self.verify_repeated(statement, operation)?),
        }
        Ok(consumed)
    }

    /// The variables whose elements a loop or combinator consumes by consuming parameters.
    fn verify_repeated(
        &mut self,
        statement: &SoacStatement,
        operation: &SoacOperation,
    ) -> Result<Vec<SoacVariableId>, String> {
        let parameters = operation.bound();
        let sources = parameter_sources(operation);
        let mut inner = FxHashSet::default();
        self.depth += 1;
        for &id in &parameters {
            self.depths.insert(id, self.depth);
        }
        for body in operation.bodies() {
            inner.extend(self.verify_body(body)?);
        }
        self.depth -= 1;
        if let Some(outer) = inner.iter().find(|&&id| self.is_outside(id)) {
            return Err(format!(
                "{outer:?} is consumed by a body that runs several times (rule 6)"
            ));
        }
        let mut consumed = Vec::new();
        for (id, &source) in parameters.iter().zip(&sources) {
            if inner.contains(id) {
                consumed.extend(self.origins_of(source).iter());
            }
        }
        if let SoacOperation::Loop(_, _, body) = operation {
            for (index, &id) in statement.results.iter().enumerate() {
                let mut origins = vec![id];
                let values = self.origins_of(body.results[index]);
                origins.extend(values.iter().filter(|&&id| self.is_outside(id)));
                if !inner.contains(&parameters[index]) {
                    origins.extend(self.origins_of(sources[index]).iter());
                }
                self.origins.insert(id, Rc::new(origins));
            }
        }
        Ok(consumed)
    }

    /// Whether a variable is bound outside of the bodies of the statement.
    fn is_outside(&self, id: SoacVariableId) -> bool {
        self.depths
            .get(&id)
            .is_none_or(|&depth| depth <= self.depth)
    }
}
