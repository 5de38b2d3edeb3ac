//! Translation of decoded code to WebAssembly.
//!
//! [`WasmKernel`] is an entry point as a WebAssembly module, which a [`WasmEngine`] runs: a browser, Node, or an interpreter in
//! tests. Steps are those of the interpreter, so that both run the same code, and what the translation does not have is
//! computed by the same functions.
//!
//! # How it works
//!
//! Each function is a WebAssembly function, and each register a local (`value_class`). Control flow becomes structured by the
//! dominator tree (`block_graph`, `emit/structure`). Operations are instructions of WebAssembly where these have the same
//! results, and otherwise calls of the host (`host`).
//!
//! An invocation that waits saves its registers in memory and leaves its functions. Where it goes on, the functions are called
//! again, restore them and jump to the block after the wait (`emit/control`). Only functions that may wait have code for it.
//!
//! Memory of a launch lies in the linear memory of the instance (`memory_layout`). Addresses are those of the interpreter: a
//! region's number, and an offset in it. Each access is compared with the bounds of its region before (`emit/access`), so a
//! wrong address is an error with a place.
//!
//! | Module | Contents |
//! | --- | --- |
//! | `engine` | the interface of engines, and imports of modules |
//! | `host` | operations that the host computes |
//! | `function_plan` | signatures, variables and waits of functions |
//! | `block_graph` | control-flow graphs, made reducible |
//! | `address_facts` | regions that addresses name |
//! | `value_class` | types of locals |
//! | `step_registers` | registers that steps read and write |
//! | `memory_layout` | addresses in linear memory |
//! | `emit` | functions |
//! | `workgroup_loop` | the loop over a workgroup |
//! | `module_writer` | the module |
//! | `kernel` | launches |

mod address_facts;
mod block_graph;
mod emit;
mod engine;
mod function_plan;
mod host;
mod kernel;
mod memory_layout;
mod module_writer;
mod step_registers;
mod value_class;
mod workgroup_loop;

pub use engine::{EngineImport, HOST_MODULE, WasmEngine};
pub use host::{HostFunctions, HostRow};
pub use kernel::WasmKernel;
