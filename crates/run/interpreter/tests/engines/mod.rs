//! Engines that run generated modules in tests.

pub mod node_engine;
pub mod wasmi_engine;
