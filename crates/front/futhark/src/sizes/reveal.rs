//! The values behind sizes that are only known by a module type, as `n` in `val xs: [n]i32` beside `val n: i64`.

use super::SizeInference;
use super::shape::{FunctionShape, ShapedForm, ShapedTypeId, SizeForm, SizeHead, SizeId};

impl SizeInference<'_> {
    /// A type that a module type gives, with the values behind its sizes. `own` is the type of the definition.
    pub(super) fn reveal_sizes(&mut self, seen: ShapedTypeId, own: ShapedTypeId) -> ShapedTypeId {
        match (
            self.table.shape(seen).clone(),
            self.table.shape(own).clone(),
        ) {
            (ShapedForm::Array(size, element), ShapedForm::Array(own_size, own_element)) => {
                let size = self.reveal_size(size, own_size);
                let element = self.reveal_sizes(element, own_element);
                self.table.add_array(size, element)
            }
            (ShapedForm::Record(fields), ShapedForm::Record(own_fields)) => {
                let fields = fields.into_iter().zip(own_fields);
                let fields =
                    fields.map(|((name, seen), (_, own))| (name, self.reveal_sizes(seen, own)));
                let fields = fields.collect();
                self.table.add_shape(ShapedForm::Record(fields))
            }
            (ShapedForm::Function(function), ShapedForm::Function(own)) => {
                let revealed = FunctionShape {
                    parameter: self.reveal_sizes(function.parameter, own.parameter),
                    result: self.reveal_sizes(function.result, own.result),
                    ..function
                };
                self.table.add_shape(ShapedForm::Function(revealed))
            }
            _ => seen,
        }
    }

    fn reveal_size(&mut self, seen: SizeId, own: SizeId) -> SizeId {
        let SizeForm::Compound(head, parts, type_id) = self.table.size(seen).clone() else {
            return seen;
        };
        let own = self.variables.resolve(self.table, own);
        match self.table.size(own).clone() {
            SizeForm::Compound(own_head, own_parts, _)
                if head == own_head && parts.len() == own_parts.len() =>
            {
                let parts = parts.into_iter().zip(own_parts);
                let parts = parts.map(|(part, own)| self.reveal_size(part, own));
                let parts = parts.collect();
                self.table
                    .add_size(SizeForm::Compound(head, parts, type_id))
            }
            _ if self.is_specified(seen) => {
                let parts = vec![own, seen];
                let revealed = SizeForm::Compound(SizeHead::Specified, parts, type_id);
                self.table.add_size(revealed)
            }
            _ => seen,
        }
    }

    /// Whether a size depends on a value that is only known by its module type.
    fn is_specified(&self, size: SizeId) -> bool {
        match self.table.size(size) {
            SizeForm::Compound(SizeHead::Specified, parts, _) => parts.is_empty(),
            SizeForm::Compound(_, parts, _) => parts.iter().any(|&part| self.is_specified(part)),
            _ => false,
        }
    }
}
