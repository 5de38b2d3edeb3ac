//! Patterns: the types of the variables that they bind.

use super::read::UnwrittenSizes;
use super::shape::{ShapedForm, ShapedTypeId, SizeId};
use super::variable::SizeOrigin;
use super::{LocalShape, SizeInference, SizeResult};
use crate::typed::{LocalId, TypedPatternId, TypedPatternKind};
use rustc_hash::FxHashMap;

impl SizeInference<'_> {
    /// Binds the variables of a pattern that matches values of a type. They are added to `bound`. `sizes` has the size
    /// parameters of the pattern, each with the variable of inference for its value.
    pub(super) fn bind_pattern(
        &mut self,
        id: TypedPatternId,
        shape: ShapedTypeId,
        sizes: &[(LocalId, SizeId)],
        bound: &mut Vec<LocalId>,
    ) -> SizeResult<()> {
        let pattern = self.program.patterns[id].clone();
        let outer = std::mem::replace(&mut self.place, pattern.place);
        let mut shape = shape;
        if let Some(ascribed) = pattern.ascribed {
            shape = self.ascribe_pattern(id, ascribed, shape, sizes)?;
        }
        match pattern.kind {
            TypedPatternKind::Local(local) => {
                self.locals.insert(local, LocalShape::Value(shape));
                self.bind_size_name(local);
                bound.push(local);
            }
            TypedPatternKind::Wildcard | TypedPatternKind::Scalar(_) => {}
            TypedPatternKind::Record(fields) => {
                for (name, field) in fields {
                    let part = self.field_shape(shape, name);
                    let part = self.known_shape(part, field);
                    self.bind_pattern(field, part, sizes, bound)?;
                }
            }
            TypedPatternKind::Constructor(name, payload) => {
                let parts = match self.expand(shape) {
                    ShapedForm::Sum(clauses) => clauses
                        .into_iter()
                        .find(|(other, _)| *other == name)
                        .map(|(_, parts)| parts),
                    _ => None,
                };
                let parts = parts.unwrap_or_default();
                for (index, part) in payload.into_iter().enumerate() {
                    let part_shape = match parts.get(index) {
                        Some(part_shape) => *part_shape,
                        None => self.table.add_any(),
                    };
                    let part_shape = self.known_shape(part_shape, part);
                    self.bind_pattern(part, part_shape, sizes, bound)?;
                }
            }
            TypedPatternKind::Ascribed(inner) => {
                self.bind_pattern(inner, shape, sizes, bound)?;
            }
        }
        self.place = outer;
        Ok(())
    }

    /// The type of a part of a pattern, with sizes to be found if nothing is known of them.
    fn known_shape(&mut self, shape: ShapedTypeId, pattern: TypedPatternId) -> ShapedTypeId {
        if *self.table.shape(shape) != ShapedForm::Any {
            return shape;
        }
        let request = self.absorbing(SizeOrigin::Anonymous);
        self.shape_type(self.program.patterns[pattern].type_id, request)
    }

    /// The type of a pattern with a type of its own: that type, where sizes that it does not write are those of the value.
    fn ascribe_pattern(
        &mut self,
        id: TypedPatternId,
        ascribed: crate::typed::SizedTypeId,
        shape: ShapedTypeId,
        sizes: &[(LocalId, SizeId)],
    ) -> SizeResult<ShapedTypeId> {
        let request = self.request(SizeOrigin::Written);
        let mut unwritten = UnwrittenSizes::Found(request);
        let written = self.read_sized(ascribed, &mut unwritten, &FxHashMap::default());
        let mut open = written;
        for &(size, variable) in sizes {
            open = self.substitute_local(open, size, variable);
        }
        let place = self.program.patterns[id].place;
        match self.unify(open, shape, place) {
            Ok(()) => {
                self.record.patterns.push((id, Vec::new(), written));
                Ok(written)
            }
            Err(clash) => Err(self.fail_clash(clash, place, "the value", open, shape)),
        }
    }
}
