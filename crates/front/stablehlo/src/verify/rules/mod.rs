//! What the specification says of each operation, one function for those that share a rule.
//!
//! The sections are those of StableHLO's specification ("Spec", chapter "Ops"), which go by the
//! names of the operations.

pub(crate) mod chlo;
pub(crate) mod contraction;
pub(crate) mod control;
pub(crate) mod elementwise;
pub(crate) mod indexing;
pub(crate) mod linear;
pub(crate) mod movement;
pub(crate) mod window;

use super::check::{Check, Classes, Outcome};

/// A rule of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Rule {
    /// Nothing beyond numbers and attributes.
    None,
    /// Operands and results have one shape, and one type of elements of these classes.
    Elementwise(Classes),
    /// What a function says.
    Function(fn(&Check<'_>) -> Outcome),
}

impl Rule {
    pub fn check(self, check: &Check<'_>) -> Outcome {
        match self {
            Rule::None => Ok(()),
            Rule::Elementwise(classes) => elementwise::same(check, classes),
            Rule::Function(rule) => rule(check),
        }
    }
}

/// Classes that several operations take.
pub(crate) mod classes {
    use super::Classes;

    pub const INTEGER: Classes = Classes::INTEGER;
    pub const LOGICAL: Classes = INTEGER.or(Classes::BOOL);
    pub const FLOAT: Classes = Classes::FLOAT;
    /// Floats and complex numbers, and quantised ones, which stand for floats.
    pub const CONTINUOUS: Classes = FLOAT.or(Classes::COMPLEX).or(Classes::QUANTIZED);
    pub const ROUNDED: Classes = FLOAT.or(Classes::QUANTIZED);
    pub const SIGNED: Classes = CONTINUOUS.or(Classes::SIGNED);
    pub const NUMBER: Classes = CONTINUOUS.or(INTEGER);
    pub const ANY: Classes = Classes::ANY;
}
