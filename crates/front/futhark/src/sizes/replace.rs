//! Replacement of sizes that a type cannot keep: those that go out of scope, and those that functions choose.

use super::SizeInference;
use super::shape::{FunctionShape, ShapedForm, ShapedTypeId, SizeForm, SizeId};
use super::variable::SizeVariables;
use crate::typed::{LocalId, LocalVariable};
use rustc_hash::FxHashMap;

/// Sizes that are replaced, and their replacements.
pub(super) struct SizeReplacement<'r> {
    /// Whether a size is replaced.
    pub(super) is_replaced: &'r dyn Fn(&SizeInference<'_>, SizeId) -> bool,
    /// How the new sizes came about.
    pub(super) description: &'r str,
    /// A name for new sizes.
    pub(super) name: &'r str,
    /// Whether nothing is known of a size that only the parameter of the function itself has. It is equal to all others then.
    pub(super) is_lenient: bool,
}

/// A replacement that is under way.
struct ReplacementState<'r> {
    replacement: &'r SizeReplacement<'r>,
    /// New sizes of the parameters of functions, which no value has.
    hidden: FxHashMap<SizeId, LocalId>,
}

impl SizeInference<'_> {
    /// The type with new sizes in place of some. Returns the new sizes that an expression of the type produces; where they
    /// occur in the result of a function alone, the function chooses them.
    pub(super) fn replace_sizes(
        &mut self,
        id: ShapedTypeId,
        replacement: &SizeReplacement<'_>,
    ) -> (ShapedTypeId, Vec<LocalId>) {
        let id = self.variables.resolve_shape(self.table, id);
        let mut is_affected = false;
        SizeVariables::visit_sizes(self.table, id, &mut |size| {
            is_affected |= (replacement.is_replaced)(self, size);
        });
        let mut produced = Vec::new();
        if !is_affected {
            return (id, produced);
        }
        let mut done = FxHashMap::default();
        self.replace_witnesses(id, replacement, &mut done, &mut produced, true);
        let mut state = ReplacementState {
            replacement,
            hidden: FxHashMap::default(),
        };
        let shape = self.replace_part(id, &mut state, &mut done, &mut produced, true);
        produced.extend(state.hidden.into_values());
        (shape, produced)
    }

    /// Replaces the sizes that values of a type have, small ones first: other sizes may be made of them, as `n - k` is of `k`.
    fn replace_witnesses(
        &mut self,
        id: ShapedTypeId,
        replacement: &SizeReplacement<'_>,
        done: &mut FxHashMap<SizeId, SizeId>,
        produced: &mut Vec<LocalId>,
        is_outermost: bool,
    ) {
        let mut witnesses = Vec::new();
        self.visit_immediate(id, &mut |size| {
            if (replacement.is_replaced)(self, size) {
                witnesses.push((self.count_parts(size), size));
            }
        });
        witnesses.sort_by_key(|(parts, _)| *parts);
        for (_, size) in witnesses {
            self.replace_size(size, replacement, done, produced, is_outermost);
        }
    }

    /// The number of parts of a size.
    fn count_parts(&self, size: SizeId) -> usize {
        match self.table.size(size) {
            SizeForm::Compound(_, parts, _) => {
                let parts = parts.iter();
                1 + parts.map(|part| self.count_parts(*part)).sum::<usize>()
            }
            _ => 1,
        }
    }

    /// A size without parts that are replaced. The rest of it may have to be replaced as a whole.
    fn replace_size(
        &mut self,
        size: SizeId,
        replacement: &SizeReplacement<'_>,
        done: &mut FxHashMap<SizeId, SizeId>,
        produced: &mut Vec<LocalId>,
        is_outermost: bool,
    ) -> SizeId {
        if !(replacement.is_replaced)(self, size) {
            return size;
        }
        if let Some(&known) = done.get(&size) {
            return known;
        }
        let rebuilt = self.rebuild_size(size, done);
        if !(replacement.is_replaced)(self, rebuilt) {
            done.insert(size, rebuilt);
            return rebuilt;
        }
        let local = if is_outermost {
            let description = replacement.description.to_owned();
            self.add_produced(replacement.name, self.place, description)
        } else {
            self.add_chosen(replacement.name)
        };
        produced.push(local);
        let new = self.table.add_local(local);
        done.insert(size, new);
        new
    }

    /// A size whose parts are replaced as others were.
    fn rebuild_size(&mut self, size: SizeId, done: &FxHashMap<SizeId, SizeId>) -> SizeId {
        if let Some(&known) = done.get(&size) {
            return known;
        }
        match self.table.size(size).clone() {
            SizeForm::Compound(head, parts, type_id) => {
                let parts = parts.into_iter();
                let parts = parts.map(|part| self.rebuild_size(part, done)).collect();
                self.table
                    .add_size(SizeForm::Compound(head, parts, type_id))
            }
            _ => size,
        }
    }

    fn replace_part(
        &mut self,
        id: ShapedTypeId,
        state: &mut ReplacementState<'_>,
        done: &mut FxHashMap<SizeId, SizeId>,
        produced: &mut Vec<LocalId>,
        is_outermost: bool,
    ) -> ShapedTypeId {
        let replacement = state.replacement;
        if let ShapedForm::Function(function) = self.table.shape(id).clone() {
            if replacement.is_lenient && !is_outermost {
                self.choose_parameter_sizes(function.parameter, replacement, done, produced);
            }
            return self.replace_function(function, state, done);
        }
        let sizes = self.table.own_sizes(id);
        let sizes: Vec<_> = sizes
            .into_iter()
            .map(|size| self.replace_size(size, replacement, done, produced, is_outermost))
            .collect();
        let parts = self.table.parts_of(id);
        let parts: Vec<_> = parts
            .into_iter()
            .map(|part| self.replace_part(part, state, done, produced, is_outermost))
            .collect();
        self.with_parts(id, sizes, parts)
    }

    /// A type with other sizes of its own and other parts.
    fn with_parts(
        &mut self,
        id: ShapedTypeId,
        sizes: Vec<SizeId>,
        parts: Vec<ShapedTypeId>,
    ) -> ShapedTypeId {
        let (mut sizes, mut parts) = (sizes.into_iter(), parts.into_iter());
        self.table.map_shape(
            id,
            &mut |_, size| sizes.next().unwrap_or(size),
            &mut |_, part| parts.next().unwrap_or(part),
        )
    }

    /// A function type with sizes replaced: the function chooses the new ones.
    fn replace_function(
        &mut self,
        function: FunctionShape,
        state: &mut ReplacementState<'_>,
        done: &FxHashMap<SizeId, SizeId>,
    ) -> ShapedTypeId {
        let mut inner = done.clone();
        let mut chosen = Vec::new();
        let parameter = self.hide_sizes(function.parameter, state, done);
        let result = function.result;
        self.replace_witnesses(result, state.replacement, &mut inner, &mut chosen, false);
        let result = self.replace_part(result, state, &mut inner, &mut chosen, false);
        let mut sizes = function.sizes;
        sizes.extend(chosen);
        self.table.add_shape(ShapedForm::Function(FunctionShape {
            name: function.name,
            parameter,
            sizes,
            result,
        }))
    }

    /// Replaces the sizes of the parameter of a function that another function gives. The other function chooses them: a call
    /// of it shows that no value has them.
    fn choose_parameter_sizes(
        &mut self,
        parameter: ShapedTypeId,
        replacement: &SizeReplacement<'_>,
        done: &mut FxHashMap<SizeId, SizeId>,
        chosen: &mut Vec<LocalId>,
    ) {
        let mut sizes = Vec::new();
        SizeVariables::visit_sizes(self.table, parameter, &mut |size| sizes.push(size));
        for size in sizes {
            self.replace_size(size, replacement, done, chosen, false);
        }
    }

    /// The type of a parameter with sizes replaced. Where there is no replacement, the size is one that no value has.
    fn hide_sizes(
        &mut self,
        id: ShapedTypeId,
        state: &mut ReplacementState<'_>,
        done: &FxHashMap<SizeId, SizeId>,
    ) -> ShapedTypeId {
        let sizes = self.table.own_sizes(id).into_iter().map(|size| {
            if !(state.replacement.is_replaced)(self, size) {
                return size;
            }
            match done.get(&size) {
                Some(&known) => known,
                None => self.hide_size(size, state),
            }
        });
        let sizes: Vec<_> = sizes.collect();
        let parts = self.table.parts_of(id);
        let parts: Vec<_> = parts
            .into_iter()
            .map(|part| self.hide_sizes(part, state, done))
            .collect();
        self.with_parts(id, sizes, parts)
    }

    /// A new size that no value has in the place of another one.
    fn hide_size(&mut self, size: SizeId, state: &mut ReplacementState<'_>) -> SizeId {
        if state.replacement.is_lenient {
            return self.table.add_size(SizeForm::Unknown);
        }
        let local = match state.hidden.get(&size) {
            Some(&known) => known,
            None => {
                let description = state.replacement.description.to_owned();
                self.add_produced(state.replacement.name, self.place, description)
            }
        };
        state.hidden.insert(size, local);
        self.table.add_local(local)
    }

    /// A variable of the program for a size that a function type chooses.
    pub(super) fn add_chosen(&mut self, name: &str) -> LocalId {
        let name = self.program.names.intern(name);
        let type_id = self.program.types.int64();
        self.program.locals.push(LocalVariable { name, type_id })
    }

    /// The type of an expression without variables that go out of scope. Returns the sizes that the expression produces.
    pub(super) fn close_scope(
        &mut self,
        id: ShapedTypeId,
        locals: &[LocalId],
        name: &str,
    ) -> (ShapedTypeId, Vec<LocalId>) {
        let description = format!("because `{name}` goes out of scope");
        let is_replaced = |inference: &SizeInference<'_>, size: SizeId| {
            let mut refers = false;
            inference
                .table
                .visit_locals(size, &mut |local| refers |= locals.contains(&local));
            refers
        };
        self.replace_sizes(
            id,
            &SizeReplacement {
                is_replaced: &is_replaced,
                description: &description,
                name: "d",
                is_lenient: false,
            },
        )
    }
}
