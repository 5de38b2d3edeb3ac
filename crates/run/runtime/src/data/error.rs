//! Errors of data.

use super::ElementType;

/// Data that cannot be created or read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DataError {
    /// No element type has this name.
    #[error("no element type {0}; there are: {names}", names = list_element_names())]
    Element(String),
    /// A text is no number of the type.
    #[error("{text:?} is no value of {element}")]
    Number {
        /// The text.
        text: String,
        /// The type.
        element: ElementType,
    },
    /// Shape and bytes do not fit together.
    #[error("{shape} does not have {bytes} bytes")]
    Size {
        /// The shape.
        shape: String,
        /// The number of bytes.
        bytes: usize,
    },
    /// More values are given than the shape has elements.
    #[error("{given} values are too many for {shape}")]
    Surplus {
        /// The shape.
        shape: String,
        /// Number of values.
        given: usize,
    },
    /// The memory does not suffice.
    #[error("no memory for {0}")]
    Memory(String),
    /// A file is not in NumPy's format, or uses a part of it that is not supported.
    #[error("not a readable .npy file: {0}")]
    Npy(String),
}

fn list_element_names() -> String {
    let names: Vec<_> = ElementType::iter_all().map(ElementType::name).collect();
    names.join(", ")
}
