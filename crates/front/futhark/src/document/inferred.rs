//! Inferred types of values, parameter by parameter, with their sizes.

use crate::compile::CheckedSource;
use crate::sizes::print::ShapePrinter;
use crate::sizes::shape::{ShapedForm, ShapedScheme, ShapedTypeId};
use crate::typed::{DefinitionId, LocalId};
use std::sync::Arc;

/// The inferred type of a value.
pub(super) struct InferredSignature<'c> {
    checked: &'c CheckedSource,
    scheme: Option<Arc<ShapedScheme>>,
    /// The type after the parameters so far.
    rest: Option<ShapedTypeId>,
    /// The sizes that the last parameter's function chooses.
    chosen: Vec<LocalId>,
    /// The types that are shown.
    shown: Vec<ShapedTypeId>,
}

/// An inferred type as text.
pub(super) struct InferredText {
    /// The type.
    pub(super) text: String,
    /// Whether it is that of a function.
    pub(super) is_function: bool,
}

impl<'c> InferredSignature<'c> {
    /// The type of a definition.
    pub(super) fn new(checked: &'c CheckedSource, definition: Option<DefinitionId>) -> Self {
        let scheme = definition.and_then(|id| checked.shapes.definitions.get(&id));
        InferredSignature {
            checked,
            scheme: scheme.cloned(),
            rest: scheme.map(|scheme| scheme.shape),
            chosen: Vec::new(),
            shown: Vec::new(),
        }
    }

    fn printer(&self) -> ShapePrinter<'c> {
        ShapePrinter::new(&self.checked.shapes, &self.checked.program)
    }

    /// The type of the next parameter.
    pub(super) fn take_parameter(&mut self) -> Option<ShapedTypeId> {
        let ShapedForm::Function(function) = self.checked.shapes.shape(self.rest?) else {
            self.rest = None;
            return None;
        };
        self.rest = Some(function.result);
        self.chosen = function.sizes.clone();
        Some(function.parameter)
    }

    /// A type that is shown.
    pub(super) fn print(&mut self, shape: &Option<ShapedTypeId>) -> InferredText {
        let Some(shape) = *shape else {
            return InferredText {
                text: "?".to_owned(),
                is_function: false,
            };
        };
        self.shown.push(shape);
        InferredText {
            text: self.printer().print_shape(shape),
            is_function: matches!(self.checked.shapes.shape(shape), ShapedForm::Function(_)),
        }
    }

    /// The type after the parameters, with the sizes that the function chooses.
    pub(super) fn take_result(&mut self) -> String {
        let result = self.rest.take();
        let text = self.print(&result).text;
        let program = &self.checked.program;
        let sizes = self.chosen.iter();
        let sizes = sizes.map(|&size| format!("[{}]", &program.names[program.locals[size].name]));
        let sizes: String = sizes.collect();
        if sizes.is_empty() {
            text
        } else {
            format!("?{sizes}.{text}")
        }
    }

    /// The size and type parameters that the types which are shown need, after a number of declared sizes.
    pub(super) fn print_parameters(&self, declared_sizes: usize) -> String {
        let Some(scheme) = &self.scheme else {
            return String::new();
        };
        let (shapes, program) = (&self.checked.shapes, &self.checked.program);
        let mut text = String::new();
        for &size in scheme.sizes.iter().skip(declared_sizes) {
            if self.shown.iter().any(|&shape| shapes.mentions(shape, size)) {
                text.push_str(&format!(" [{}]", &program.names[program.locals[size].name]));
            }
        }
        for (parameter, _) in &scheme.types {
            if program.types.is_inferred(*parameter) {
                text.push_str(&format!(" {}", self.printer().print_parameter(*parameter)));
            }
        }
        text
    }
}
