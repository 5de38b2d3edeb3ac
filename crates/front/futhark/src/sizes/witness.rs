//! Witnesses of sizes: a size that an expression produces is taken from a value that has it. The parameters of a function
//! are no such values.

use super::shape::{ShapedForm, ShapedTypeId, SizeForm};
use super::{SizeInference, SizeResult};
use crate::typed::LocalId;
use rustc_hash::FxHashSet;

impl SizeInference<'_> {
    /// The sizes that are sizes of parameters of functions within a type, without those that the functions choose.
    fn list_parameter_sizes(&self, id: ShapedTypeId) -> Vec<LocalId> {
        let mut found = Vec::new();
        self.visit_parameter_sizes(
            id,
            false,
            &mut Vec::new(),
            &mut FxHashSet::default(),
            &mut found,
        );
        found
    }

    fn visit_parameter_sizes(
        &self,
        id: ShapedTypeId,
        is_parameter: bool,
        bound: &mut Vec<LocalId>,
        seen: &mut FxHashSet<(ShapedTypeId, bool)>,
        found: &mut Vec<LocalId>,
    ) {
        if bound.is_empty() && !seen.insert((id, is_parameter)) {
            return;
        }
        if let ShapedForm::Function(function) = self.table.shape(id) {
            self.visit_parameter_sizes(function.parameter, true, bound, seen, found);
            let mark = bound.len();
            bound.extend(function.name);
            bound.extend(&function.sizes);
            self.visit_parameter_sizes(function.result, false, bound, seen, found);
            bound.truncate(mark);
            return;
        }
        if is_parameter {
            for size in self.table.own_sizes(id) {
                self.table.visit_locals(size, &mut |local| {
                    if !bound.contains(&local) {
                        found.push(local);
                    }
                });
            }
        }
        for part in self.table.parts_of(id) {
            self.visit_parameter_sizes(part, is_parameter, bound, seen, found);
        }
    }

    /// The sizes that values of a type have.
    fn list_witnessed(&self, id: ShapedTypeId) -> Vec<LocalId> {
        let mut found = Vec::new();
        self.visit_immediate(id, &mut |size| {
            self.table
                .visit_locals(size, &mut |local| found.push(local));
        });
        found
    }

    /// Requires that the functions which a definition gives have no parameters of sizes that its body produces.
    pub(super) fn check_parameter_sizes(
        &mut self,
        shape: ShapedTypeId,
        parameters: usize,
        name: &str,
    ) -> SizeResult<()> {
        let mut result = shape;
        for _ in 0..parameters {
            if let ShapedForm::Function(function) = self.table.shape(result) {
                result = function.result;
            }
        }
        let level = self.variables.level;
        let is_own = |local: &LocalId| {
            let binder = self.variables.binders.get(local);
            self.is_produced(*local) && binder.is_some_and(|binder| binder.level >= level)
        };
        let mut unknown = self.list_parameter_sizes(result);
        unknown.retain(is_own);
        if parameters == 0 {
            let witnessed = self.list_witnessed(result);
            unknown.retain(|local| !witnessed.contains(local));
        }
        let Some(&local) = unknown.first() else {
            return Ok(());
        };
        let [size, printed] = self.print_size_and_shape(local, shape);
        let origin = self.describe_produced(local, &size);
        let message = format!(
            "the parameter of a function that `{name}` gives has the unknown size `{size}`: `{name}` is of type `{printed}`"
        );
        Err(
            self.fail_at(self.place, message, |diagnostic| match origin {
                Some(origin) => diagnostic.with_note(origin),
                None => diagnostic,
            }),
        )
    }

    /// Requires that a function which an application gives has no parameters of sizes that the application produces, unless a
    /// value beside it has them.
    pub(super) fn check_applied_result(
        &mut self,
        result: ShapedTypeId,
        produced: &[LocalId],
        function: &str,
    ) -> SizeResult<()> {
        if produced.is_empty() {
            return Ok(());
        }
        let mut unknown = self.list_parameter_sizes(result);
        unknown.retain(|local| produced.contains(local));
        let witnessed = self.list_witnessed(result);
        unknown.retain(|local| !witnessed.contains(local));
        let Some(&local) = unknown.first() else {
            return Ok(());
        };
        let size = self.program.names[self.program.locals[local].name].to_owned();
        let printed = self.print_shape(result);
        let message = format!(
            "the size `{size}` that {function} chooses would be a size of a parameter of its result `{printed}`"
        );
        Err(self.fail_at(self.place, message, |diagnostic| {
            diagnostic
                .with_note("a function that is passed on has no sizes that only a call of it gives")
        }))
    }

    /// Whether values of a type have sizes of which nothing is known: the types that it hides have them.
    pub(crate) fn has_unknown_size(&mut self, id: ShapedTypeId) -> bool {
        let mut open = vec![id];
        let mut seen = FxHashSet::default();
        while let Some(part) = open.pop() {
            if !seen.insert(part) {
                continue;
            }
            match self.table.shape(part).clone() {
                ShapedForm::Function(_) => continue,
                ShapedForm::Abstract(name, sizes, types)
                    if self.table.abstracts.contains_key(&name) =>
                {
                    open.push(self.expand_hidden(name, &sizes, &types));
                    continue;
                }
                _ => {}
            }
            let sizes = self.table.own_sizes(part).into_iter();
            let mut sizes = sizes.map(|size| self.table.size(size));
            if sizes.any(|size| *size == SizeForm::Unknown) {
                return true;
            }
            open.extend(self.table.parts_of(part));
        }
        false
    }
}
