//! Entry points: the mapping from parameters and results to slots of the host function.

use super::context::HostStepLowering;
use crate::ir::{ArrayDimension, EntryDecl, EntryDeclValue, EntryKind, PlainValue};
use spirula_program::program as out;
use spirula_program::program::HostSlot;

impl HostStepLowering<'_> {
    /// An entry point of the function that was lowered last.
    pub(super) fn lower_entry(&mut self, entry: &EntryDecl) -> out::ProgramEntry {
        let mut parameters = Vec::new();
        for parameter in &entry.parameters {
            let (value, opaque) = self.entry_value(&parameter.value);
            parameters.push(out::ProgramEntryParameter {
                name: parameter.name.clone(),
                value,
                opaque,
                tensor: None,
            });
        }
        let mut results = Vec::new();
        for result in &entry.results {
            let (value, opaque) = self.entry_value(result);
            results.push(out::EntryResult {
                value,
                opaque,
                tensor: None,
            });
        }
        out::ProgramEntry {
            name: entry.name.clone(),
            function: entry.function.index(),
            results,
            parameters,
        }
    }

    fn entry_value(
        &mut self,
        value: &EntryDeclValue,
    ) -> (Option<out::EntryValueType>, Option<out::EntryOpaque>) {
        match &value.kind {
            EntryKind::Plain(plain) => (Some(self.plain_value(plain)), None),
            EntryKind::Opaque(name, parts) => {
                let parts = parts.iter().map(|part| self.plain_value(part));
                let opaque = out::EntryOpaque {
                    name: name.clone(),
                    parts: parts.collect(),
                };
                (None, Some(opaque))
            }
        }
    }

    fn plain_value(&mut self, value: &PlainValue) -> out::EntryValueType {
        let shape = value.shape.as_ref().map(|shape| {
            let sizes = shape.iter().map(|size| match *size {
                ArrayDimension::Literal(size) => out::EntrySize::Known(size as u64),
                ArrayDimension::Var(var) => match self.slot_of_var(var) {
                    HostSlot::Scalar(reg) => out::EntrySize::Scalar(reg),
                    HostSlot::Memory(_) => out::EntrySize::Known(0),
                },
            });
            sizes.collect()
        });
        out::EntryValueType {
            element: value.element,
            unsigned: value.unsigned,
            slot: self.slot_of_var(value.var),
            shape,
        }
    }
}
