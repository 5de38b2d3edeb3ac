//! Types of definitions at the top level of the main file, for tools that show what a user enters.

use super::{CompletionKind, SourceAnalysis};
use crate::check::types::TypeForm;

/// The type of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueType {
    /// The type with its sizes.
    pub text: String,
    /// Its size and type parameters as they are written in front of a type: `[n]`, `'t`.
    pub parameters: Vec<String>,
    /// Whether the value is a function.
    pub is_function: bool,
}

impl SourceAnalysis {
    /// The type of the last definition of a name in the main file.
    pub fn find_value_type(&self, name: &str) -> Option<ValueType> {
        let program = &self.checked.program;
        let definitions = program.definitions.iter().rev();
        let mut own = definitions.filter(|(_, definition)| {
            definition.place.file == self.files.main && program.names[definition.name] == *name
        });
        let (id, definition) = own.next()?;
        let is_function = matches!(
            program.types.form(definition.type_id),
            TypeForm::Function(..)
        );
        let Some(scheme) = self.checked.shapes.definitions.get(&id) else {
            return Some(ValueType {
                text: self.print_type(definition.type_id),
                parameters: Vec::new(),
                is_function,
            });
        };
        let names = &program.names;
        let sizes = scheme.sizes.iter();
        let sizes = sizes.map(|size| format!("[{}]", &names[program.locals[*size].name]));
        let types = scheme.types.iter();
        let types = types.map(|(id, _)| self.printer().print_parameter(*id));
        Some(ValueType {
            text: self.printer().print_shape(scheme.shape),
            parameters: sizes.chain(types).collect(),
            is_function,
        })
    }

    /// The members of a module at the top level of the main file, as a module type specifies them.
    pub fn list_module_members(&self, name: &str) -> Vec<String> {
        let end = self.files.files[self.files.main].text.len() as u32;
        let members = self.complete_name(self.files.main, end, &[name.to_owned()]);
        let members = members.into_iter().map(|member| {
            let name = &member.name;
            match member.kind {
                CompletionKind::Type => format!("type {name}"),
                CompletionKind::Module => format!("module {name}"),
                CompletionKind::ModuleType => format!("module type {name}"),
                _ => format!("val {name} {}", member.detail),
            }
        });
        members.collect()
    }
}
