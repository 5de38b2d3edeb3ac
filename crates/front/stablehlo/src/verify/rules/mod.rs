//! Rules of the specification for operations; operations that share a rule share a function.
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

use super::checked_operation::{CheckedOperation, ElementClasses, RuleResult};

/// A rule of operations.
#[derive(Clone, Copy, Debug)]
pub(crate) enum VerifierRule {
    /// No rule beyond numbers of operands and attributes.
    None,
    /// Operands and results have one shape, and one type of elements of these classes.
    Elementwise(ElementClasses),
    /// A function checks the operation.
    Function(fn(&CheckedOperation<'_>) -> RuleResult),
}

impl VerifierRule {
    pub fn verify_operation(self, check: &CheckedOperation<'_>) -> RuleResult {
        match self {
            VerifierRule::None => Ok(()),
            VerifierRule::Elementwise(classes) => elementwise::verify_elementwise(check, classes),
            VerifierRule::Function(rule) => rule(check),
        }
    }
}

/// Classes that several operations take.
pub(crate) mod classes {
    use super::ElementClasses;

    pub const INTEGER: ElementClasses = ElementClasses::INTEGER;
    pub const LOGICAL: ElementClasses = INTEGER.or(ElementClasses::BOOL);
    pub const FLOAT: ElementClasses = ElementClasses::FLOAT;
    /// Floats, complex numbers, and quantised numbers, which represent floats.
    pub const CONTINUOUS: ElementClasses = FLOAT
        .or(ElementClasses::COMPLEX)
        .or(ElementClasses::QUANTIZED);
    pub const ROUNDED: ElementClasses = FLOAT.or(ElementClasses::QUANTIZED);
    pub const SIGNED: ElementClasses = CONTINUOUS.or(ElementClasses::SIGNED);
    pub const NUMBER: ElementClasses = CONTINUOUS.or(INTEGER);
    pub const ANY: ElementClasses = ElementClasses::ANY;
}
