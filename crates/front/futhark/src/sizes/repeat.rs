//! Loops: which sizes of their value change from one iteration to the next.
//!
//! The value has a variable for each size. Where the body returns the first size, or the present size of another part
//! that began with the same first size, the size does not change; all others are produced by the loop. Since parts may exchange their
//! sizes, the sizes that change are the least set that is closed under copies.

use super::shape::{ShapedForm, ShapedTypeId, SizeForm, SizeId, SizeVariableId};
use super::variable::{BinderKind, SizeBinder, SizeFreedom, SizeOrigin, SizeVariables};
use super::{LocalShape, SizeInference, SizeResult};
use crate::typed::{LocalId, LocalVariable, TypedExpressionId, TypedLoop, TypedLoopForm};
use rustc_hash::{FxHashMap, FxHashSet};

/// A size of the value of a loop.
struct LoopSize {
    variable: SizeVariableId,
    /// The size before the first iteration.
    first: SizeId,
}

/// How the body of a loop makes a size.
enum SizeChange {
    /// It is a new size.
    New,
    /// It is the size of another part, which began with the same size.
    Copy(SizeVariableId),
}

impl SizeInference<'_> {
    /// The type of a loop.
    pub(super) fn infer_loop(
        &mut self,
        id: TypedExpressionId,
        typed_loop: &TypedLoop,
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let initial = self.infer(typed_loop.initial)?;
        let outer = match typed_loop.form {
            TypedLoopForm::Count(_, bound) | TypedLoopForm::Elements(_, bound) => {
                Some(self.infer(bound)?)
            }
            TypedLoopForm::While(_) => None,
        };
        let initial = self.variables.resolve_shape(self.table, initial);
        let first_local = self.program.locals.len();
        let mut sizes = Vec::new();
        let state = self.open_state(initial, &mut sizes);
        let level = self.variables.level;
        self.variables.level += 1;
        let mut bound = Vec::new();
        match (typed_loop.form, outer) {
            (TypedLoopForm::Count(counter, _), Some(shape)) => {
                self.locals.insert(counter, LocalShape::Value(shape));
                self.bind_size_name(counter);
                bound.push(counter);
            }
            (TypedLoopForm::Elements(pattern, _), Some(array)) => {
                let element = match self.expand(array) {
                    ShapedForm::Array(_, element) => element,
                    _ => self.table.add_any(),
                };
                self.bind_pattern(pattern, element, &[], &mut bound)?;
            }
            _ => {}
        }
        self.bind_pattern(typed_loop.pattern, state, &[], &mut bound)?;
        if let TypedLoopForm::While(condition) = typed_loop.form {
            self.infer(condition)?;
        }
        self.variables.level += 1;
        let body = self.infer(typed_loop.body)?;
        self.variables.level = level;
        self.place = place;
        let body = self.variables.resolve_shape(self.table, body);
        let changing = self.find_changing(state, body, &sizes);
        self.check_escapes(&changing, level)?;
        let carried = self.bind_carried(&changing, &sizes, level + 1);
        self.variables.level = level + 2;
        self.check_state(typed_loop, state, initial, body, first_local, &carried)?;
        self.variables.level = level;
        let result = self.loop_result(id, state, &carried);
        self.record
            .patterns
            .push((typed_loop.pattern, carried, state));
        Ok(result)
    }

    /// The type of the value of a loop, with a variable for each size.
    fn open_state(&mut self, id: ShapedTypeId, sizes: &mut Vec<LoopSize>) -> ShapedTypeId {
        let request = self.request(SizeOrigin::Loop);
        let own = self.table.own_sizes(id).into_iter().map(|first| {
            let size = self.variables.add(self.table, request);
            if let SizeForm::Variable(variable) = *self.table.size(size) {
                sizes.push(LoopSize { variable, first });
            }
            size
        });
        let own: Vec<_> = own.collect();
        let parts = self.table.parts_of(id);
        let parts: Vec<_> = parts
            .into_iter()
            .map(|part| self.open_state(part, sizes))
            .collect();
        let (mut own, mut parts) = (own.into_iter(), parts.into_iter());
        self.table.map_shape(
            id,
            &mut |_, size| own.next().unwrap_or(size),
            &mut |_, part| parts.next().unwrap_or(part),
        )
    }

    /// The sizes that change. The others become the first size.
    fn find_changing(
        &mut self,
        state: ShapedTypeId,
        body: ShapedTypeId,
        sizes: &[LoopSize],
    ) -> Vec<SizeVariableId> {
        self.fix_sizes(sizes);
        self.represent_sizes(sizes);
        let mut pairs = Vec::new();
        self.pair_sizes(state, body, &mut pairs);
        let firsts: FxHashMap<SizeVariableId, SizeId> = sizes
            .iter()
            .map(|size| (size.variable, size.first))
            .collect();
        let mut changes = FxHashMap::default();
        for (before, after) in pairs {
            let before = self.variables.resolve(self.table, before);
            let after = self.variables.resolve(self.table, after);
            let SizeForm::Variable(variable) = *self.table.size(before) else {
                continue;
            };
            let Some(&first) = firsts.get(&variable) else {
                continue;
            };
            let first = self.variables.resolve(self.table, first);
            if before == after || after == first {
                continue;
            }
            let change = match *self.table.size(after) {
                SizeForm::Variable(other) => match firsts.get(&other) {
                    Some(&other_first)
                        if self.variables.resolve(self.table, other_first) == first =>
                    {
                        SizeChange::Copy(other)
                    }
                    Some(_) => SizeChange::New,
                    None => {
                        // The body's size is not determined yet: it is that of the state, unless it is that of a parameter.
                        let is_free = self.variables.freedom_of(other) == SizeFreedom::Any;
                        if is_free && self.variables.unify(self.table, after, before).is_ok() {
                            continue;
                        }
                        SizeChange::New
                    }
                },
                _ => SizeChange::New,
            };
            changes.insert(variable, change);
        }
        let changing = close_under_copies(&changes);
        for size in sizes {
            if !changing.contains(&size.variable) && self.variables.is_free(size.variable) {
                let known = self.table.add_size(SizeForm::Variable(size.variable));
                let known = self.variables.resolve(self.table, known);
                if let SizeForm::Variable(variable) = *self.table.size(known)
                    && known != self.variables.resolve(self.table, size.first)
                {
                    self.variables.bind(variable, size.first);
                }
            }
        }
        changing
    }

    /// Makes the first sizes equal to those that the body fixes.
    fn fix_sizes(&mut self, sizes: &[LoopSize]) {
        for size in sizes {
            let known = self.table.add_size(SizeForm::Variable(size.variable));
            let known = self.variables.resolve(self.table, known);
            if !matches!(self.table.size(known), SizeForm::Variable(_)) {
                // A difference is reported where the first value is compared with the type of the loop.
                let _ = self.variables.unify(self.table, known, size.first);
            }
        }
    }

    /// Makes a variable of the loop stand for each size of its value that is not found yet. The condition or the body may have made
    /// it another variable.
    fn represent_sizes(&mut self, sizes: &[LoopSize]) {
        let own: FxHashSet<SizeVariableId> = sizes.iter().map(|size| size.variable).collect();
        for size in sizes {
            let known = self.table.add_size(SizeForm::Variable(size.variable));
            let known = self.variables.resolve(self.table, known);
            if let SizeForm::Variable(other) = *self.table.size(known)
                && !own.contains(&other)
            {
                self.variables.exchange(self.table, size.variable, other);
            }
        }
    }

    /// The sizes of two types at the same positions.
    fn pair_sizes(
        &self,
        left: ShapedTypeId,
        right: ShapedTypeId,
        pairs: &mut Vec<(SizeId, SizeId)>,
    ) {
        let sizes = self.table.own_sizes(left);
        pairs.extend(sizes.into_iter().zip(self.table.own_sizes(right)));
        let parts = self.table.parts_of(left);
        for (left, right) in parts.into_iter().zip(self.table.parts_of(right)) {
            self.pair_sizes(left, right, pairs);
        }
    }

    /// Requires that no type outside of the loop refers to a size that changes.
    fn check_escapes(&self, changing: &[SizeVariableId], level: u32) -> SizeResult<()> {
        let escapes = |&&variable: &&SizeVariableId| self.variables.level_of(variable) < level;
        match changing.iter().find(escapes) {
            None => Ok(()),
            Some(_) => Err(self.fail_at(
                self.place,
                "a size that changes from iteration to iteration is part of a type outside of the loop",
                |diagnostic| {
                    diagnostic.with_hint(
                        "pass the variable whose type depends on the size on as part of the loop's value",
                    )
                },
            )),
        }
    }

    /// Makes the sizes that change variables of the program, which each iteration binds.
    fn bind_carried(
        &mut self,
        changing: &[SizeVariableId],
        sizes: &[LoopSize],
        level: u32,
    ) -> Vec<LocalId> {
        let mut carried = Vec::new();
        for size in sizes {
            if !changing.contains(&size.variable) {
                continue;
            }
            let name = self.program.names.intern("loop");
            let type_id = self.program.types.int64();
            let local = self.program.locals.push(LocalVariable { name, type_id });
            let kind = BinderKind::Bound;
            self.variables
                .binders
                .insert(local, SizeBinder { level, kind });
            let bound = self.table.add_local(local);
            self.variables.bind(size.variable, bound);
            carried.push(local);
        }
        carried
    }

    /// Requires that the first value and the value of the body have the type of the loop's pattern.
    fn check_state(
        &mut self,
        typed_loop: &TypedLoop,
        state: ShapedTypeId,
        initial: ShapedTypeId,
        body: ShapedTypeId,
        first_local: usize,
        carried: &[LocalId],
    ) -> SizeResult<()> {
        let body_place = self.program.expressions[typed_loop.body].place;
        let open = self.free_carried(state, carried);
        if let Err(clash) = self.unify(open, body, body_place) {
            let role = "the value of the body of the loop";
            return Err(self.fail_clash(clash, body_place, role, open, body));
        }
        let place = self.program.expressions[typed_loop.initial].place;
        let open = self.free_carried(state, carried);
        if let Err(clash) = self.unify(open, initial, place) {
            return Err(self.fail_clash(
                clash,
                place,
                "the first value of the loop",
                open,
                initial,
            ));
        }
        let resolved = self.variables.resolve_shape(self.table, state);
        let mut locals = Vec::new();
        SizeVariables::visit_sizes(self.table, resolved, &mut |size| {
            self.table
                .visit_locals(size, &mut |local| locals.push(local));
        });
        let is_inner = |local: &&LocalId| local.index() >= first_local && !carried.contains(local);
        if let Some(local) = locals.iter().find(is_inner) {
            let name = self.program.names[self.program.locals[*local].name].to_owned();
            let printed = self.print_shape(resolved);
            let place = self.program.patterns[typed_loop.pattern].place;
            return Err(self.fail_at(
                place,
                format!("the value of the loop is of type `{printed}`, where `{name}` is a size that its body produces"),
                |diagnostic| diagnostic,
            ));
        }
        Ok(())
    }

    /// The type with variables of inference for the sizes that change.
    fn free_carried(&mut self, state: ShapedTypeId, carried: &[LocalId]) -> ShapedTypeId {
        let mut open = self.variables.resolve_shape(self.table, state);
        for &local in carried {
            let request = self.request(SizeOrigin::Loop);
            let size = self.variables.add(self.table, request);
            open = self.substitute_local(open, local, size);
        }
        open
    }

    /// The type of the value of a loop, where the sizes that change are produced by the loop.
    fn loop_result(
        &mut self,
        id: TypedExpressionId,
        state: ShapedTypeId,
        carried: &[LocalId],
    ) -> ShapedTypeId {
        let mut shape = self.variables.resolve_shape(self.table, state);
        let mut produced = Vec::new();
        for &local in carried {
            if !self.mentions(shape, local) {
                continue;
            }
            let new = self.add_produced("loop", self.place, "by a loop".to_owned());
            let size = self.table.add_local(new);
            shape = self.substitute_local(shape, local, size);
            produced.push(new);
        }
        self.record.results.push((id, produced, shape));
        shape
    }
}

/// The least set of sizes that are new or copies of sizes in the set.
fn close_under_copies(changes: &FxHashMap<SizeVariableId, SizeChange>) -> Vec<SizeVariableId> {
    let mut changing: FxHashSet<SizeVariableId> = FxHashSet::default();
    loop {
        let before = changing.len();
        for (variable, change) in changes {
            let changes = match change {
                SizeChange::New => true,
                SizeChange::Copy(other) => changing.contains(other),
            };
            if changes {
                changing.insert(*variable);
            }
        }
        if changing.len() == before {
            let mut changing: Vec<_> = changing.into_iter().collect();
            changing.sort_unstable();
            return changing;
        }
    }
}
