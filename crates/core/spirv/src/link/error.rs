//! Errors of linking.

use super::ImportError;
use crate::convert::ConvertError;
use crate::grammar::SpirvVersion;
use crate::grammar::enumerants::{AddressingModel, ExecutionModel, MemoryModel};
use std::fmt;

/// The reason why modules cannot be linked. Modules are identified by their positions in the list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum LinkError {
    /// There is no module.
    Nothing,
    /// A module is of a later version than the result may be.
    Version {
        /// The module.
        module: usize,
        /// Its version.
        version: SpirvVersion,
        /// The latest allowed.
        ceiling: SpirvVersion,
    },
    /// A module cannot be brought to the result's version.
    Convert {
        /// The module.
        module: usize,
        /// The conflict.
        error: Box<ConvertError>,
    },
    /// A module has an instruction whose ids are unknown.
    Import {
        /// The module.
        module: usize,
        /// Which, and where.
        error: ImportError,
    },
    /// A module has no memory model.
    NoMemoryModel {
        /// The module.
        module: usize,
    },
    /// Two modules address memory in different ways.
    Addressing {
        /// The modules.
        modules: [usize; 2],
        /// The values of both.
        models: [AddressingModel; 2],
    },
    /// Two modules have different memory models.
    Memory {
        /// The modules.
        modules: [usize; 2],
        /// The values of both.
        models: [MemoryModel; 2],
    },
    /// Two modules have an entry point of the same name and execution model.
    EntryPoint {
        /// The modules.
        modules: [usize; 2],
        /// The name.
        name: String,
        /// The execution model.
        model: ExecutionModel,
    },
    /// Nothing exports a symbol that a module imports.
    Unresolved {
        /// The module.
        module: usize,
        /// The symbol.
        symbol: String,
    },
    /// Two modules export a symbol.
    Duplicate {
        /// The modules.
        modules: [usize; 2],
        /// The symbol.
        symbol: String,
    },
    /// A symbol is of different types in two modules, or a function in one and a variable in the
    /// other.
    Type {
        /// The modules: the one that was seen first, and the other.
        modules: [usize; 2],
        /// The symbol.
        symbol: String,
    },
    /// The result has more ids than a module may have.
    TooLarge,
}

impl LinkError {
    /// The module that the error is about, where it is about one, or the second of two.
    pub fn module_index(&self) -> Option<usize> {
        match self {
            LinkError::Nothing | LinkError::TooLarge => None,
            LinkError::Version { module, .. }
            | LinkError::Convert { module, .. }
            | LinkError::Import { module, .. }
            | LinkError::NoMemoryModel { module }
            | LinkError::Unresolved { module, .. } => Some(*module),
            LinkError::Addressing { modules, .. }
            | LinkError::Memory { modules, .. }
            | LinkError::EntryPoint { modules, .. }
            | LinkError::Duplicate { modules, .. }
            | LinkError::Type { modules, .. } => Some(modules[1]),
        }
    }

    /// The error as a sentence with the given module names.
    pub fn describe_with(&self, name: impl Fn(usize) -> String) -> String {
        match self {
            LinkError::Nothing => "there is no module to link".to_owned(),
            LinkError::Version {
                module,
                version,
                ceiling,
            } => format!(
                "{} is of SPIR-V {version}, and the result may be of {ceiling} at most",
                name(*module)
            ),
            LinkError::Convert { module, error } => format!("{}: {error}", name(*module)),
            LinkError::Import { module, error } => format!("{}: {error}", name(*module)),
            LinkError::NoMemoryModel { module } => {
                format!("{} declares no memory model", name(*module))
            }
            LinkError::Addressing {
                modules: [a, b],
                models: [first, second],
            } => format!(
                "the addressing model of {} is {first}, that of {} is {second}",
                name(*a),
                name(*b)
            ),
            LinkError::Memory {
                modules: [a, b],
                models: [first, second],
            } => format!(
                "the memory model of {} is {first}, that of {} is {second}",
                name(*a),
                name(*b)
            ),
            LinkError::EntryPoint {
                modules: [a, b],
                name: entry,
                model,
            } => format!(
                "both {} and {} have an entry point {entry} of the execution model {model}",
                name(*a),
                name(*b)
            ),
            LinkError::Unresolved { module, symbol } => format!(
                "{} imports {symbol}, which no module exports",
                name(*module)
            ),
            LinkError::Duplicate {
                modules: [a, b],
                symbol,
            } => format!("both {} and {} export {symbol}", name(*a), name(*b)),
            LinkError::Type {
                modules: [a, b],
                symbol,
            } => format!(
                "the type of {symbol} in {} differs from that in {}",
                name(*b),
                name(*a)
            ),
            LinkError::TooLarge => "the linked module has too many ids".to_owned(),
        }
    }

    /// A hint, if there is one.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            LinkError::Unresolved { .. } => Some("--allow-partial leaves it to a later linking"),
            LinkError::EntryPoint { .. } => {
                Some("--number-entry-points gives the second the name NAME.1")
            }
            LinkError::Duplicate { .. } => {
                Some("functions of which any definition will do have the linkage LinkOnceODR")
            }
            _ => None,
        }
    }
}

impl fmt::Display for LinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe_with(|module| format!("module {module}")))
    }
}

impl std::error::Error for LinkError {}
