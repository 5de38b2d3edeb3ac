//! The order of the passes over a function.

use crate::fuse::{FusionScope, fuse_function};
use crate::ir::SoacFunction;
use crate::simplify::simplify_function;

/// Simplifies a function, fuses its combinators, and simplifies what became of them.
pub fn optimise_function(function: &mut SoacFunction, scope: FusionScope) {
    simplify_function(function);
    fuse_function(function, scope);
    simplify_function(function);
}
