//! Front ends: how inputs are recognised.

pub mod detect;
