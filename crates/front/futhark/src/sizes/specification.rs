//! Sizes of values of modules: a value is at least as general as its module type says.

use super::shape::{ShapeSubstitution, ShapedScheme};
use super::variable::{SizeOrigin, VariableRequest};
use super::{SizeInference, SizeResult};
use crate::check::types::TypeId;
use crate::syntax::tree::TypeLiftedness;

impl SizeInference<'_> {
    /// Requires that a value with the type `found` may be used with the type of a module type. `types` stand for its type
    /// parameters.
    ///
    /// # Errors
    ///
    /// Sizes that differ.
    pub(crate) fn match_specification(
        mut self,
        name: &str,
        wanted: &ShapedScheme,
        found: &ShapedScheme,
        types: &[TypeId],
    ) -> SizeResult<()> {
        self.variables.level = 1;
        let request = self.absorbing(SizeOrigin::Instance);
        let mut open = ShapeSubstitution::default();
        for &size in &wanted.sizes {
            if self.table.unwritten.contains(&size) {
                open.sizes
                    .insert(size, self.variables.add(self.table, request));
            }
        }
        let expected = self.table.substitute(wanted.shape, &open);
        let mut own = ShapeSubstitution::default();
        for &size in &found.sizes {
            own.sizes
                .insert(size, self.variables.add(self.table, request));
        }
        for ((parameter, liftedness), &type_id) in found.types.iter().zip(types) {
            let request = VariableRequest {
                is_absorbing: *liftedness != TypeLiftedness::Unlifted,
                ..request
            };
            own.types
                .insert(*parameter, self.shape_type(type_id, request));
        }
        let actual = self.table.substitute(found.shape, &own);
        let place = self.place;
        match self.unify(expected, actual, place) {
            Ok(()) => Ok(()),
            Err(clash) => {
                let role = format!("the value `{name}` of the module");
                Err(self.fail_clash(clash, place, &role, expected, actual))
            }
        }
    }
}
