//! Unification of types: which types the variables of inference stand for.
//!
//! The algorithm is that of Robinson with an occurs check. A variable that is not bound may be restricted: to numbers of
//! some kinds, to records that have some fields, to sums that have some constructors.

use super::types::{PrimitiveType, TypeForm, TypeId, TypeParameterId, TypeTable, TypeVariableId};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{NumberType, SourceNameId};
use rustc_hash::FxHashMap;

/// The set of scalar types that an overloaded operator or a literal allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarClass {
    /// Whole numbers and floats: an integer literal.
    Number,
    /// Whole numbers.
    Integer,
    /// Whole numbers with a sign: an index.
    Signed,
    /// Floats.
    Float,
    /// Whole numbers and `bool`: the bitwise operators.
    Bits,
    /// All scalar types: the comparisons.
    Scalar,
}

impl ScalarClass {
    /// Whether a scalar type belongs to the class.
    pub fn contains(self, scalar: PrimitiveType) -> bool {
        let PrimitiveType::Number(number_type) = scalar else {
            return matches!(self, ScalarClass::Scalar | ScalarClass::Bits);
        };
        let is_float = matches!(
            number_type,
            NumberType::F16 | NumberType::F32 | NumberType::F64
        );
        match self {
            ScalarClass::Number | ScalarClass::Scalar => true,
            ScalarClass::Integer | ScalarClass::Bits => !is_float,
            ScalarClass::Signed => matches!(
                number_type,
                NumberType::I8 | NumberType::I16 | NumberType::I32 | NumberType::I64
            ),
            ScalarClass::Float => is_float,
        }
    }

    /// The scalar types that belong to both classes. None if there are none.
    fn intersect(self, other: ScalarClass) -> Option<ScalarClass> {
        use ScalarClass::{Bits, Float, Integer, Number, Scalar, Signed};
        match (self, other) {
            (class, same) if class == same => Some(class),
            (Scalar, class) | (class, Scalar) => Some(class),
            (Number, Float) | (Float, Number) => Some(Float),
            (Signed, Number | Integer | Bits) | (Number | Integer | Bits, Signed) => Some(Signed),
            (Number | Integer | Bits, Number | Integer | Bits) => Some(Integer),
            _ => None,
        }
    }

    /// Whether all scalar types of the class belong to another.
    pub fn is_within(self, other: ScalarClass) -> bool {
        self.intersect(other) == Some(self)
    }

    /// The type of a value whose type nothing else determines.
    pub fn default_scalar(self) -> PrimitiveType {
        PrimitiveType::Number(match self {
            ScalarClass::Float => NumberType::F64,
            _ => NumberType::I32,
        })
    }

    /// A name for diagnostics.
    pub fn describe(self) -> &'static str {
        match self {
            ScalarClass::Number => "a number",
            ScalarClass::Integer => "an integer",
            ScalarClass::Signed => "a signed integer",
            ScalarClass::Float => "a float",
            ScalarClass::Bits => "an integer or bool",
            ScalarClass::Scalar => "a scalar",
        }
    }
}

/// The facts known of a variable.
#[derive(Clone, Debug, Default)]
pub enum VariableState {
    /// Nothing.
    #[default]
    Free,
    /// It stands for a type.
    Bound(TypeId),
    /// It stands for a scalar type of a class.
    Scalar(ScalarClass),
    /// It stands for a type whose values can be compared, that is, one without functions.
    Comparable,
    /// It stands for a record with at least these fields.
    Record(Vec<(SourceNameId, TypeId)>),
    /// It stands for a sum with at least these constructors.
    Sum(Vec<(SourceNameId, Vec<TypeId>)>),
}

/// Why two types are not equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnifyFault {
    /// They differ.
    Mismatch,
    /// One would contain itself.
    Infinite,
    /// A type is not in the class that is needed.
    Class(ScalarClass, TypeId),
    /// A type has no such field.
    Field(SourceNameId, TypeId),
    /// A type has no such constructor.
    Constructor(SourceNameId, TypeId),
    /// Values of the type cannot be compared.
    Compare(TypeId),
    /// A type parameter would be part of a type outside of its function.
    Escape(TypeParameterId),
}

/// The variables of the definition at hand.
#[derive(Debug, Default)]
pub struct VariableTable {
    states: Vec<VariableState>,
    places: Vec<TextRange>,
    /// For each variable the number of the first variable of the scope that its type belongs to, or a later one of the scope.
    levels: Vec<usize>,
    /// For each type parameter the number of the first variable of its scope.
    scopes: FxHashMap<TypeParameterId, usize>,
}

impl VariableTable {
    /// A new variable, for a type that is needed at a place.
    pub fn add(&mut self, types: &mut TypeTable, state: VariableState, place: TextRange) -> TypeId {
        let id = TypeVariableId::new(self.states.len());
        self.levels.push(self.states.len());
        self.states.push(state);
        self.places.push(place);
        types.intern(TypeForm::Variable(id))
    }

    /// The facts known of a variable.
    pub fn state(&self, id: TypeVariableId) -> &VariableState {
        &self.states[id.index()]
    }

    /// Begins the scope of a type parameter. Variables from before it cannot stand for types with the parameter.
    pub fn begin_parameter(&mut self, parameter: TypeParameterId) {
        self.scopes.insert(parameter, self.states.len());
    }

    /// Where a variable was made.
    pub fn place(&self, id: TypeVariableId) -> TextRange {
        self.places[id.index()]
    }

    /// Binds a variable without a check.
    pub fn bind(&mut self, id: TypeVariableId, bound: TypeId) {
        self.states[id.index()] = VariableState::Bound(bound);
    }

    /// The variables from `first` on.
    pub fn variables_from(&self, first: usize) -> impl Iterator<Item = TypeVariableId> + use<> {
        (first..self.states.len()).map(TypeVariableId::new)
    }

    /// Number of variables.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// The type with the variables and the abbreviations at its top resolved.
    pub fn resolve(&mut self, types: &mut TypeTable, id: TypeId) -> TypeId {
        let mut at = id;
        loop {
            match types.form(at) {
                TypeForm::Variable(variable) => match self.states[variable.index()] {
                    VariableState::Bound(bound) => at = bound,
                    _ => break,
                },
                TypeForm::Abstract(name, arguments) if types.is_defined(*name) => {
                    let (name, arguments) = (*name, arguments.clone());
                    match types.expand_definition(name, &arguments) {
                        Some(expanded) => at = expanded,
                        None => break,
                    }
                }
                _ => break,
            }
        }
        if let TypeForm::Variable(variable) = types.form(id)
            && id != at
        {
            self.states[variable.index()] = VariableState::Bound(at);
        }
        at
    }

    /// The type with all variables in it resolved.
    pub fn resolve_all(&mut self, types: &mut TypeTable, id: TypeId) -> TypeId {
        let id = self.resolve(types, id);
        types.map_parts(id, |types, part| self.resolve_all(types, part))
    }

    /// Makes two types equal.
    ///
    /// # Errors
    ///
    /// The innermost reason why they are not. Variables that were bound on the way stay bound.
    pub fn unify(
        &mut self,
        types: &mut TypeTable,
        left: TypeId,
        right: TypeId,
    ) -> Result<(), UnifyFault> {
        let left = self.resolve(types, left);
        let right = self.resolve(types, right);
        if left == right {
            return Ok(());
        }
        match (types.form(left).clone(), types.form(right).clone()) {
            (TypeForm::Variable(variable), _) => self.unify_variable(types, variable, right),
            (_, TypeForm::Variable(variable)) => self.unify_variable(types, variable, left),
            (TypeForm::Array(left), TypeForm::Array(right)) => self.unify(types, left, right),
            (
                TypeForm::Function(parameter, result),
                TypeForm::Function(other_parameter, other_result),
            ) => {
                self.unify(types, parameter, other_parameter)?;
                self.unify(types, result, other_result)
            }
            (TypeForm::Record(fields), TypeForm::Record(others)) => {
                let names = |fields: &[(SourceNameId, TypeId)]| {
                    fields.iter().map(|(name, _)| *name).collect::<Vec<_>>()
                };
                if names(&fields) != names(&others) {
                    return Err(UnifyFault::Mismatch);
                }
                let pairs = fields.iter().zip(&others);
                pairs
                    .into_iter()
                    .try_for_each(|((_, field), (_, other))| self.unify(types, *field, *other))
            }
            (TypeForm::Sum(clauses), TypeForm::Sum(others)) => {
                let shape = |clauses: &[(SourceNameId, Vec<TypeId>)]| {
                    let clauses = clauses.iter();
                    clauses
                        .map(|(name, payload)| (*name, payload.len()))
                        .collect::<Vec<_>>()
                };
                if shape(&clauses) != shape(&others) {
                    return Err(UnifyFault::Mismatch);
                }
                for ((_, payload), (_, other)) in clauses.iter().zip(&others) {
                    self.unify_lists(types, payload, other)?;
                }
                Ok(())
            }
            (TypeForm::Abstract(name, arguments), TypeForm::Abstract(other, others))
                if name == other =>
            {
                self.unify_lists(types, &arguments, &others)
            }
            _ => Err(UnifyFault::Mismatch),
        }
    }

    /// Makes the types of two lists equal, which have the same length.
    fn unify_lists(
        &mut self,
        types: &mut TypeTable,
        left: &[TypeId],
        right: &[TypeId],
    ) -> Result<(), UnifyFault> {
        if left.len() != right.len() {
            return Err(UnifyFault::Mismatch);
        }
        let mut pairs = left.iter().zip(right);
        pairs.try_for_each(|(&left, &right)| self.unify(types, left, right))
    }

    /// Makes a variable that is not bound equal to a type.
    fn unify_variable(
        &mut self,
        types: &mut TypeTable,
        variable: TypeVariableId,
        other: TypeId,
    ) -> Result<(), UnifyFault> {
        let state = self.states[variable.index()].clone();
        if let TypeForm::Variable(other_variable) = types.form(other) {
            let other_variable = *other_variable;
            let other_state = self.states[other_variable.index()].clone();
            if let (VariableState::Scalar(left), VariableState::Scalar(right)) =
                (&state, &other_state)
                && left.intersect(*right).is_none()
            {
                return Err(UnifyFault::Class(*left, other));
            }
            let level = self.levels[variable.index()].min(self.levels[other_variable.index()]);
            self.levels[other_variable.index()] = level;
            self.bind(variable, other);
            let merged = self.merge_states(types, state, other_state, other)?;
            if !matches!(self.states[other_variable.index()], VariableState::Bound(_)) {
                self.states[other_variable.index()] = merged;
            }
            return Ok(());
        }
        self.check_occurrences(types, variable, other)?;
        self.bind(variable, other);
        let required = self.require_state(types, state.clone(), other);
        if required.is_err() {
            self.states[variable.index()] = state;
        }
        required
    }

    /// The facts known of a variable that two variables became.
    fn merge_states(
        &mut self,
        types: &mut TypeTable,
        left: VariableState,
        right: VariableState,
        id: TypeId,
    ) -> Result<VariableState, UnifyFault> {
        use VariableState::{Comparable, Free, Record, Scalar, Sum};
        match (left, right) {
            (Free, state) | (state, Free) => Ok(state),
            (Comparable, state) | (state, Comparable) => Ok(state),
            (Scalar(left), Scalar(right)) => match left.intersect(right) {
                Some(class) => Ok(Scalar(class)),
                None => Err(UnifyFault::Class(left, id)),
            },
            (Record(fields), Record(mut others)) => {
                for (name, field) in fields {
                    match others.iter().find(|(other, _)| *other == name) {
                        Some((_, other)) => self.unify(types, field, *other)?,
                        None => others.push((name, field)),
                    }
                }
                Ok(Record(others))
            }
            (Sum(clauses), Sum(mut others)) => {
                for (name, payload) in clauses {
                    match others.iter().position(|(other, _)| *other == name) {
                        Some(index) => {
                            let other = others[index].1.clone();
                            self.unify_lists(types, &payload, &other)?;
                        }
                        None => others.push((name, payload)),
                    }
                }
                Ok(Sum(others))
            }
            _ => Err(UnifyFault::Mismatch),
        }
    }

    /// Requires of a type that is no variable what was known of a variable.
    pub fn require_state(
        &mut self,
        types: &mut TypeTable,
        state: VariableState,
        id: TypeId,
    ) -> Result<(), UnifyFault> {
        match state {
            VariableState::Free | VariableState::Bound(_) => Ok(()),
            VariableState::Comparable => self.require_comparable(types, id),
            VariableState::Scalar(class) => match types.form(id) {
                TypeForm::Scalar(scalar) if class.contains(*scalar) => Ok(()),
                TypeForm::Abstract(name, _)
                    if types
                        .abstract_class(*name)
                        .is_some_and(|own| own.is_within(class)) =>
                {
                    Ok(())
                }
                _ => Err(UnifyFault::Class(class, id)),
            },
            VariableState::Record(fields) => {
                let TypeForm::Record(others) = types.form(id).clone() else {
                    return Err(UnifyFault::Field(fields[0].0, id));
                };
                for (name, field) in fields {
                    match others.iter().find(|(other, _)| *other == name) {
                        Some((_, other)) => self.unify(types, field, *other)?,
                        None => return Err(UnifyFault::Field(name, id)),
                    }
                }
                Ok(())
            }
            VariableState::Sum(clauses) => {
                let TypeForm::Sum(others) = types.form(id).clone() else {
                    return Err(UnifyFault::Constructor(clauses[0].0, id));
                };
                for (name, payload) in clauses {
                    match others.iter().find(|(other, _)| *other == name) {
                        Some((_, other)) => self.unify_lists(types, &payload, other)?,
                        None => return Err(UnifyFault::Constructor(name, id)),
                    }
                }
                Ok(())
            }
        }
    }

    /// Requires that values of a type can be compared.
    pub fn require_comparable(
        &mut self,
        types: &mut TypeTable,
        id: TypeId,
    ) -> Result<(), UnifyFault> {
        let id = self.resolve(types, id);
        match types.form(id) {
            TypeForm::Function(..) => Err(UnifyFault::Compare(id)),
            TypeForm::Variable(variable) => {
                let variable = *variable;
                if matches!(self.state(variable), VariableState::Free) {
                    self.states[variable.index()] = VariableState::Comparable;
                }
                Ok(())
            }
            _ => {
                let parts = types.parts_of(id);
                parts
                    .into_iter()
                    .try_for_each(|part| self.require_comparable(types, part))
            }
        }
    }

    /// Requires that a type is a scalar of a class.
    pub fn require_class(
        &mut self,
        types: &mut TypeTable,
        class: ScalarClass,
        id: TypeId,
    ) -> Result<(), UnifyFault> {
        let place = TextRange::default();
        let needed = self.add(types, VariableState::Scalar(class), place);
        self.unify(types, needed, id)
    }

    /// Requires that a variable may stand for a type: it does not occur in it, and neither does a type parameter of a function within
    /// the scope of the variable. The variables of the type belong to that scope then, too.
    fn check_occurrences(
        &mut self,
        types: &mut TypeTable,
        variable: TypeVariableId,
        id: TypeId,
    ) -> Result<(), UnifyFault> {
        let id = self.resolve(types, id);
        let level = self.levels[variable.index()];
        match types.form(id) {
            TypeForm::Variable(other) if *other == variable => Err(UnifyFault::Infinite),
            TypeForm::Variable(other) => {
                let own = &mut self.levels[other.index()];
                *own = level.min(*own);
                Ok(())
            }
            TypeForm::Parameter(parameter)
                if self
                    .scopes
                    .get(parameter)
                    .is_some_and(|&first| level < first) =>
            {
                Err(UnifyFault::Escape(*parameter))
            }
            _ => {
                let parts = types.parts_of(id);
                parts
                    .into_iter()
                    .try_for_each(|part| self.check_occurrences(types, variable, part))
            }
        }
    }
}
