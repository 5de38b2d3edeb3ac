//! Entry points of the program.

use super::Host;
use crate::ir::{Dimension, Entry, EntryKind, EntryValue, PlainValue};
use spirula_program::program as out;
use spirula_program::program::Slot;

impl Host<'_> {
    /// An entry point of the function that was compiled last.
    pub(super) fn entry(&mut self, entry: &Entry) -> out::Entry {
        let mut parameters = Vec::new();
        for parameter in &entry.parameters {
            let (value, opaque) = self.entry_value(&parameter.value);
            parameters.push(out::EntryParameter {
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
        out::Entry {
            name: entry.name.clone(),
            function: entry.function.index(),
            results,
            parameters,
        }
    }

    fn entry_value(
        &mut self,
        value: &EntryValue,
    ) -> (Option<out::EntryValue>, Option<out::EntryOpaque>) {
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

    fn plain_value(&mut self, value: &PlainValue) -> out::EntryValue {
        let shape = value.shape.as_ref().map(|shape| {
            let sizes = shape.iter().map(|size| match *size {
                Dimension::Literal(size) => out::EntrySize::Known(size as u64),
                Dimension::Var(var) => match self.slot(var) {
                    Slot::Scalar(reg) => out::EntrySize::Scalar(reg),
                    Slot::Memory(_) => out::EntrySize::Known(0),
                },
            });
            sizes.collect()
        });
        out::EntryValue {
            element: value.element,
            unsigned: value.unsigned,
            slot: self.slot(value.var),
            shape,
        }
    }
}
