//! Derivatives of programs.

pub mod scalar_rule;
