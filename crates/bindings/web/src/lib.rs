//! The compiler as a WebAssembly module, for the page of the playground.
//!
//! [`answer_request`] takes a request as JSON with the bytes of an input, and returns a reply as JSON. The functions in
//! `abi` export it to JavaScript. `cargo xtask web` builds the module and copies the page beside it.
//!
//! | Request | Reply |
//! | --- | --- |
//! | `{"command": "describe"}` | input languages, passes, presets and target environments |
//! | `{"command": "compile", …}` | stages, modules, passes and diagnostics of a compilation |
//! | `{"command": "run", "script": …}` | arrays that a kernel or program has written |
//! | `{"command": "launch", "script": …}` | a shader in WGSL with its buffers, which JavaScript runs on WebGPU |
//!
//! A reply without success is `{"error": …}`, with the diagnostics of the input where there are some. The crate keeps no
//! state, and uses no clocks, files or threads. The page runs it in a worker, which it ends after a time limit.

mod abi;
mod compile;
mod describe;
mod found_problem;
#[cfg(target_arch = "wasm32")]
mod host_engine;
mod module_report;
mod pass_record;
mod request;
mod run;

pub use request::answer_request;
