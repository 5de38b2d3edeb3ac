//! Variables of size inference, and which variables of the program a size may refer to where.

use super::shape::{ShapeTable, ShapedTypeId, SizeForm, SizeHead, SizeId, SizeVariableId};
use crate::typed::{LocalId, ProgramPlace};
use rustc_hash::{FxHashMap, FxHashSet};

/// Why a size is to be found, for messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SizeOrigin {
    /// It stands for a size parameter of a definition, or is a size of a type that stands for a type parameter.
    Instance,
    /// It is a size of the type of a parameter or pattern.
    Pattern,
    /// It is a size of a parameter of a definition.
    Parameter,
    /// It is a size that the written type of a parameter or pattern leaves open.
    Written,
    /// It is a size that a coercion replaces.
    Coercion,
    /// It is a size that is not written in a type.
    Anonymous,
    /// It is a size of the value of a loop.
    Loop,
    /// It is the size of a slice that is replaced.
    Slice,
    /// It is a size that a function type chooses.
    Existential,
}

impl SizeOrigin {
    /// A description for messages.
    pub fn describe(self) -> &'static str {
        match self {
            SizeOrigin::Instance => "the use of a polymorphic value",
            SizeOrigin::Pattern | SizeOrigin::Parameter | SizeOrigin::Written => {
                "the type of a parameter"
            }
            SizeOrigin::Coercion => "a size coercion whose operand has an unknown size",
            SizeOrigin::Anonymous => "a size that is not written",
            SizeOrigin::Loop => "the value of a loop",
            SizeOrigin::Slice => "a slice",
            SizeOrigin::Existential => "the type of a function",
        }
    }
}

/// How far a choice or a loop may determine a size. The sizes of a parameter are the caller's, those of a loop's value may
/// change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SizeFreedom {
    /// It may become any size.
    Any,
    /// It may become another size that is not found yet.
    Unknown,
    /// It stays as it is.
    None,
}

/// A size that is to be found.
#[derive(Clone, Copy, Debug)]
struct SizeVariable {
    /// The size that it is.
    bound: Option<SizeId>,
    /// The depth of scopes where it was made. It cannot refer to what is bound further inside.
    level: u32,
    /// Whether it may stand for sizes that functions choose.
    is_absorbing: bool,
    /// Whether it does stand for sizes that functions choose.
    is_absorbed: bool,
    /// Whether it stands for a size that the function type at hand chooses.
    is_existential: bool,
    freedom: SizeFreedom,
    origin: SizeOrigin,
    place: ProgramPlace,
}

/// How a variable of the program got its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BinderKind {
    /// By a parameter, a pattern or a loop.
    Bound,
    /// It is a size that an expression produces. The text says how.
    Produced(ProgramPlace, String),
}

/// Where a variable of the program is bound.
#[derive(Clone, Debug)]
pub struct SizeBinder {
    /// The depth of scopes.
    pub level: u32,
    /// How it got its value.
    pub kind: BinderKind,
}

/// Why two sizes are not equal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClashReason {
    /// They differ.
    Differ,
    /// One would contain itself.
    Infinite,
    /// A variable is bound further inside than the size is needed.
    Scope(LocalId),
    /// A size is chosen by a function, and cannot stand for a type parameter.
    Anonymous,
}

/// Two sizes that are not equal.
#[derive(Clone, Copy, Debug)]
pub struct SizeClash {
    /// One of them.
    pub left: SizeId,
    /// The other.
    pub right: SizeId,
    /// Why.
    pub reason: ClashReason,
}

/// The variables of the definition at hand.
#[derive(Debug, Default)]
pub struct SizeVariables {
    variables: Vec<SizeVariable>,
    /// The depth of scopes.
    pub level: u32,
    /// Where variables of the program are bound.
    pub binders: FxHashMap<LocalId, SizeBinder>,
    /// The variables that function types bind around what is compared.
    pub enclosing: Vec<LocalId>,
}

/// The purpose of a new variable.
#[derive(Clone, Copy, Debug)]
pub struct VariableRequest {
    /// Why it is made.
    pub origin: SizeOrigin,
    /// Whether it may stand for sizes that functions choose.
    pub is_absorbing: bool,
    /// Where.
    pub place: ProgramPlace,
}

impl SizeVariables {
    /// A new variable.
    pub fn add(&mut self, table: &mut ShapeTable, request: VariableRequest) -> SizeId {
        let id = SizeVariableId::new(self.variables.len());
        self.variables.push(SizeVariable {
            bound: None,
            level: self.level,
            is_absorbing: request.is_absorbing,
            is_absorbed: false,
            is_existential: request.origin == SizeOrigin::Existential,
            freedom: match request.origin {
                SizeOrigin::Written => SizeFreedom::None,
                SizeOrigin::Parameter | SizeOrigin::Loop => SizeFreedom::Unknown,
                _ => SizeFreedom::Any,
            },
            origin: request.origin,
            place: request.place,
        });
        table.add_size(SizeForm::Variable(id))
    }

    /// Number of variables.
    pub fn count_all(&self) -> usize {
        self.variables.len()
    }

    /// Whether a variable is not found yet.
    pub fn is_free(&self, id: SizeVariableId) -> bool {
        let variable = &self.variables[id.index()];
        variable.bound.is_none() && !variable.is_absorbed
    }

    /// Whether a variable stands for sizes that functions choose.
    pub fn is_absorbed(&self, id: SizeVariableId) -> bool {
        self.variables[id.index()].is_absorbed
    }

    /// Whether a variable may stand for sizes that functions choose.
    pub fn is_absorbing(&self, id: SizeVariableId) -> bool {
        self.variables[id.index()].is_absorbing
    }

    /// Makes a variable stand for sizes that functions choose.
    pub fn absorb(&mut self, id: SizeVariableId) {
        self.variables[id.index()].is_absorbed = true;
    }

    /// The depth of scopes where a variable was made.
    pub fn level_of(&self, id: SizeVariableId) -> u32 {
        self.variables[id.index()].level
    }

    /// Where and why a variable was made.
    pub fn origin_of(&self, id: SizeVariableId) -> (SizeOrigin, ProgramPlace) {
        let variable = &self.variables[id.index()];
        (variable.origin, variable.place)
    }

    /// How far a choice or a loop may determine a variable.
    pub fn freedom_of(&self, id: SizeVariableId) -> SizeFreedom {
        self.variables[id.index()].freedom
    }

    /// Gives a variable its size without a check.
    pub fn bind(&mut self, id: SizeVariableId, size: SizeId) {
        self.variables[id.index()].bound = Some(size);
    }

    /// Makes a variable that is found to be another one, which is not found yet, the one that the other is.
    pub fn exchange(&mut self, table: &mut ShapeTable, id: SizeVariableId, other: SizeVariableId) {
        if !self.is_free(other) {
            return;
        }
        let state = self.variables[other.index()];
        let variable = &mut self.variables[id.index()];
        variable.bound = None;
        variable.level = variable.level.min(state.level);
        variable.freedom = variable.freedom.max(state.freedom);
        let size = table.add_size(SizeForm::Variable(id));
        self.bind(other, size);
    }

    /// The size with the variables in it replaced by what they are.
    pub fn resolve(&self, table: &mut ShapeTable, id: SizeId) -> SizeId {
        match table.size(id) {
            SizeForm::Variable(variable) => match self.variables[variable.index()].bound {
                Some(bound) => self.resolve(table, bound),
                None => id,
            },
            SizeForm::Compound(..) => {
                table.map_size(id, &mut |table, part| self.resolve(table, part))
            }
            _ => id,
        }
    }

    /// The shaped type with the variables in it replaced by what they are.
    pub fn resolve_shape(&self, table: &mut ShapeTable, id: ShapedTypeId) -> ShapedTypeId {
        self.resolve_part(table, id, &mut FxHashMap::default())
    }

    fn resolve_part(
        &self,
        table: &mut ShapeTable,
        id: ShapedTypeId,
        done: &mut FxHashMap<ShapedTypeId, ShapedTypeId>,
    ) -> ShapedTypeId {
        if let Some(&known) = done.get(&id) {
            return known;
        }
        let result = table.map_shape(
            id,
            &mut |table, size| self.resolve(table, size),
            &mut |table, part| self.resolve_part(table, part, done),
        );
        done.insert(id, result);
        result
    }

    /// The shaped type for use outside of the definition at hand: nothing is known of sizes that were not found.
    pub fn close_shape(&self, table: &mut ShapeTable, id: ShapedTypeId) -> ShapedTypeId {
        let id = self.resolve_shape(table, id);
        let unknown = table.add_size(SizeForm::Unknown);
        self.close_part(table, id, unknown, &mut FxHashMap::default())
    }

    fn close_part(
        &self,
        table: &mut ShapeTable,
        id: ShapedTypeId,
        unknown: SizeId,
        done: &mut FxHashMap<ShapedTypeId, ShapedTypeId>,
    ) -> ShapedTypeId {
        if let Some(&known) = done.get(&id) {
            return known;
        }
        let result = table.map_shape(
            id,
            &mut |table, size| {
                let mut is_found = true;
                Self::visit_variables(table, size, &mut |_| is_found = false);
                if is_found { size } else { unknown }
            },
            &mut |table, part| self.close_part(table, part, unknown, done),
        );
        done.insert(id, result);
        result
    }

    /// Calls a function for each size of a shaped type, once for each part that occurs several times.
    pub fn visit_sizes(table: &ShapeTable, id: ShapedTypeId, visit: &mut dyn FnMut(SizeId)) {
        let mut seen = FxHashSet::default();
        let mut open = vec![id];
        while let Some(part) = open.pop() {
            if seen.insert(part) {
                table.own_sizes(part).into_iter().for_each(&mut *visit);
                open.extend(table.parts_of(part));
            }
        }
    }

    /// Calls a function for each variable of inference in a size.
    pub fn visit_variables(table: &ShapeTable, id: SizeId, visit: &mut dyn FnMut(SizeVariableId)) {
        match table.size(id) {
            SizeForm::Variable(variable) => visit(*variable),
            SizeForm::Compound(_, parts, _) => {
                for part in parts {
                    Self::visit_variables(table, *part, visit);
                }
            }
            _ => {}
        }
    }

    /// Whether a size refers to a variable that a function type around it binds.
    fn refers_to_enclosing(&self, table: &ShapeTable, id: SizeId) -> bool {
        let mut refers = false;
        table.visit_locals(id, &mut |local| refers |= self.enclosing.contains(&local));
        refers
    }

    /// Makes two sizes equal.
    ///
    /// # Errors
    ///
    /// The innermost parts that are not.
    pub fn unify(
        &mut self,
        table: &mut ShapeTable,
        left: SizeId,
        right: SizeId,
    ) -> Result<(), SizeClash> {
        let left = self.resolve(table, left);
        let right = self.resolve(table, right);
        if left == right {
            return Ok(());
        }
        let clash = SizeClash {
            left,
            right,
            reason: ClashReason::Differ,
        };
        match (table.size(left).clone(), table.size(right).clone()) {
            (SizeForm::Unknown, SizeForm::Variable(variable)) => {
                self.bind(variable, left);
                Ok(())
            }
            (SizeForm::Variable(variable), SizeForm::Unknown) => {
                self.bind(variable, right);
                Ok(())
            }
            (SizeForm::Unknown, _) | (_, SizeForm::Unknown) => Ok(()),
            (SizeForm::Variable(first), SizeForm::Variable(second)) => {
                if self.gives_way(second, first) {
                    self.link(table, second, left, clash)
                } else {
                    self.link(table, first, right, clash)
                }
            }
            (SizeForm::Variable(variable), _) => self.link(table, variable, right, clash),
            (_, SizeForm::Variable(variable)) => self.link(table, variable, left, clash),
            (SizeForm::Compound(SizeHead::Specified, parts, _), _) => match parts.get(1) {
                Some(&seen) => self.unify(table, seen, right),
                None => Ok(()),
            },
            (_, SizeForm::Compound(SizeHead::Specified, parts, _)) => match parts.get(1) {
                Some(&seen) => self.unify(table, left, seen),
                None => Ok(()),
            },
            (
                SizeForm::Compound(head, parts, _),
                SizeForm::Compound(other_head, other_parts, _),
            ) if head == other_head && parts.len() == other_parts.len() => {
                let mut pairs = parts.into_iter().zip(other_parts);
                pairs.try_for_each(|(part, other)| self.unify(table, part, other))
            }
            _ => Err(clash),
        }
    }

    /// Whether the first of two variables is to stand for the second, not the other way round.
    fn gives_way(&self, first: SizeVariableId, second: SizeVariableId) -> bool {
        let rank = |id: SizeVariableId| {
            let variable = &self.variables[id.index()];
            match (variable.is_existential, variable.is_absorbed) {
                (true, _) => 0,
                (_, true) => 3,
                _ => 2 - u32::from(variable.is_absorbing),
            }
        };
        rank(first) < rank(second)
    }

    /// Makes a variable that is not found yet a size.
    fn link(
        &mut self,
        table: &mut ShapeTable,
        variable: SizeVariableId,
        size: SizeId,
        clash: SizeClash,
    ) -> Result<(), SizeClash> {
        let state = self.variables[variable.index()];
        if state.is_absorbed {
            return Ok(());
        }
        if self.refers_to_enclosing(table, size) && !state.is_existential {
            if state.is_absorbing {
                self.absorb(variable);
                return Ok(());
            }
            let reason = ClashReason::Anonymous;
            return Err(SizeClash { reason, ..clash });
        }
        let mut inner = Vec::new();
        Self::visit_variables(table, size, &mut |other| inner.push(other));
        if inner.contains(&variable) {
            let reason = ClashReason::Infinite;
            return Err(SizeClash { reason, ..clash });
        }
        let mut locals = Vec::new();
        table.visit_locals(size, &mut |local| locals.push(local));
        if let Some(local) = self.find_hidden(&locals, state.level) {
            let reason = ClashReason::Scope(local);
            return Err(SizeClash { reason, ..clash });
        }
        for local in locals {
            if let Some(binder) = self.binders.get_mut(&local) {
                binder.level = binder.level.min(state.level);
            }
        }
        for other in inner {
            let other = &mut self.variables[other.index()];
            other.level = other.level.min(state.level);
        }
        if let SizeForm::Variable(other) = *table.size(size) {
            let other = &mut self.variables[other.index()];
            other.freedom = other.freedom.max(state.freedom);
        }
        self.bind(variable, size);
        Ok(())
    }

    /// Whether a size refers to a variable of the program that is bound further inside than where a variable was made.
    pub fn is_deeper(&self, table: &ShapeTable, size: SizeId, variable: SizeVariableId) -> bool {
        let level = self.level_of(variable);
        let mut is_deeper = false;
        table.visit_locals(size, &mut |local| {
            let binder = self.binders.get(&local);
            is_deeper |= binder.is_some_and(|binder| binder.level > level);
        });
        is_deeper
    }

    /// A variable of the program that is bound further inside than a level.
    pub fn find_hidden(&self, locals: &[LocalId], level: u32) -> Option<LocalId> {
        let is_hidden = |local: &&LocalId| {
            let binder = self.binders.get(local);
            binder.is_some_and(|binder| binder.level > level && binder.kind == BinderKind::Bound)
        };
        locals.iter().find(is_hidden).copied()
    }
}
