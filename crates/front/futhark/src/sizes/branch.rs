//! Branches: sizes that differ between them are produced by the choice.

use super::shape::{ShapedForm, ShapedTypeId, SizeForm, SizeId};
use super::variable::SizeFreedom;
use super::{SizeInference, SizeResult};
use crate::typed::{LocalId, TypedExpressionId, TypedPatternId};
use rustc_hash::FxHashMap;

/// Sizes of two branches that differ, with the size in their place.
#[derive(Default)]
struct MergedSizes {
    known: FxHashMap<(SizeId, SizeId), SizeId>,
    produced: Vec<LocalId>,
}

impl SizeInference<'_> {
    /// The type of a choice between two values.
    pub(super) fn merge_branches(
        &mut self,
        id: TypedExpressionId,
        accept: ShapedTypeId,
        reject: ShapedTypeId,
    ) -> ShapedTypeId {
        let (shape, produced) = self.merge_shapes(accept, reject);
        self.record.results.push((id, produced, shape));
        shape
    }

    /// A type that two types have in common. Returns the sizes that differ.
    fn merge_shapes(
        &mut self,
        left: ShapedTypeId,
        right: ShapedTypeId,
    ) -> (ShapedTypeId, Vec<LocalId>) {
        self.join_sizes(left, right);
        let left = self.variables.resolve_shape(self.table, left);
        let right = self.variables.resolve_shape(self.table, right);
        let mut merged = MergedSizes::default();
        let shape = self.merge_parts(left, right, &mut merged);
        (shape, merged.produced)
    }

    /// Makes sizes of two types equal where they can be.
    fn join_sizes(&mut self, left: ShapedTypeId, right: ShapedTypeId) {
        if left == right {
            return;
        }
        let sizes = self.table.own_sizes(left);
        let others = self.table.own_sizes(right);
        for (size, other) in sizes.into_iter().zip(others) {
            self.join_size(size, other);
        }
        let parts = self.table.parts_of(left);
        let others = self.table.parts_of(right);
        for (part, other) in parts.into_iter().zip(others) {
            self.join_sizes(part, other);
        }
    }

    /// Makes two sizes equal if they can be. A size from further outside does not become one that a branch produces, and a
    /// parameter keeps its size.
    fn join_size(&mut self, left: SizeId, right: SizeId) -> bool {
        let left = self.variables.resolve(self.table, left);
        let right = self.variables.resolve(self.table, right);
        let is_inner = |variable: SizeId, size: SizeId| match *self.table.size(variable) {
            SizeForm::Variable(id) => self.variables.is_deeper(self.table, size, id),
            _ => false,
        };
        if is_inner(left, right) || is_inner(right, left) {
            return false;
        }
        if left != right && !(self.may_become(left, right) && self.may_become(right, left)) {
            return false;
        }
        self.variables.unify(self.table, left, right).is_ok()
    }

    /// Whether a choice may make a size another one.
    fn may_become(&self, size: SizeId, other: SizeId) -> bool {
        let SizeForm::Variable(variable) = *self.table.size(size) else {
            return true;
        };
        match self.variables.freedom_of(variable) {
            SizeFreedom::Any => true,
            SizeFreedom::Unknown => matches!(self.table.size(other), SizeForm::Variable(_)),
            SizeFreedom::None => false,
        }
    }

    fn merge_parts(
        &mut self,
        left: ShapedTypeId,
        right: ShapedTypeId,
        merged: &mut MergedSizes,
    ) -> ShapedTypeId {
        if left == right || matches!(self.table.shape(left), ShapedForm::Any) {
            return left;
        }
        let others = self.table.own_sizes(right);
        let sizes = self.table.own_sizes(left);
        let sizes: Vec<_> = sizes
            .into_iter()
            .zip(others)
            .map(|(size, other)| self.merge_sizes(size, other, merged))
            .collect();
        let others = self.table.parts_of(right);
        let parts = self.table.parts_of(left);
        let parts: Vec<_> = parts
            .into_iter()
            .zip(others)
            .map(|(part, other)| self.merge_parts(part, other, merged))
            .collect();
        let (mut sizes, mut parts) = (sizes.into_iter(), parts.into_iter());
        self.table.map_shape(
            left,
            &mut |_, size| sizes.next().unwrap_or(size),
            &mut |_, part| parts.next().unwrap_or(part),
        )
    }

    fn merge_sizes(&mut self, left: SizeId, right: SizeId, merged: &mut MergedSizes) -> SizeId {
        if left == right || self.join_size(left, right) {
            return left;
        }
        if let Some(&known) = merged.known.get(&(left, right)) {
            return known;
        }
        let (first, second) = (self.print_size(left), self.print_size(right));
        let description = format!("by a choice between `[{first}]` and `[{second}]`");
        let local = self.add_produced("differ", self.place, description);
        merged.produced.push(local);
        let size = self.table.add_local(local);
        merged.known.insert((left, right), size);
        size
    }

    /// The type of a match.
    pub(super) fn infer_match(
        &mut self,
        id: TypedExpressionId,
        subject: TypedExpressionId,
        cases: &[(TypedPatternId, TypedExpressionId)],
    ) -> SizeResult<ShapedTypeId> {
        let place = self.place;
        let subject = self.infer(subject)?;
        let mut result: Option<ShapedTypeId> = None;
        let mut all = Vec::new();
        for &(pattern, body) in cases {
            let mut bound = Vec::new();
            self.variables.level += 1;
            self.bind_pattern(pattern, subject, &[], &mut bound)?;
            let shape = self.infer(body)?;
            self.variables.level -= 1;
            self.place = place;
            let (shape, produced) = match bound.first() {
                Some(&first) => {
                    let name = self.program.names[self.program.locals[first].name].to_owned();
                    self.close_scope(shape, &bound, &name)
                }
                None => (shape, Vec::new()),
            };
            all.extend(produced);
            result = Some(match result {
                None => shape,
                Some(before) => {
                    let (shape, produced) = self.merge_shapes(before, shape);
                    all.extend(produced);
                    shape
                }
            });
        }
        let Some(shape) = result else {
            return Ok(self.table.add_any());
        };
        all.retain(|&local| self.mentions(shape, local));
        self.record.results.push((id, all, shape));
        Ok(shape)
    }
}
