//! Executors of the tests: the interpreter, and WebAssembly on an engine.
//!
//! `ENGINE=node` runs modules in Node instead of the interpreter `wasmi`. `EVERY=1` runs all translated tests, and `EVERY=8`,
//! the default, every eighth.

use crate::engines::node_engine::NodeEngine;
use crate::engines::wasmi_engine::WasmiEngine;
use spirula_interpreter::{KernelExecutor, WasmEngine};

/// The executor that a test is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestedExecutor {
    Interpreter,
    WebAssembly,
}

impl TestedExecutor {
    /// An executor for one test.
    pub fn make(self) -> KernelExecutor {
        match self {
            TestedExecutor::Interpreter => KernelExecutor::default(),
            TestedExecutor::WebAssembly => KernelExecutor::with_engine(Some(make_engine())),
        }
    }

    /// Whether the test with a number runs.
    pub fn is_chosen(self, number: usize) -> bool {
        self == TestedExecutor::Interpreter || number.is_multiple_of(read_step())
    }

    /// Whether all tests run.
    pub fn is_whole(self) -> bool {
        self == TestedExecutor::Interpreter || read_step() == 1
    }
}

/// Every how manieth translated test runs.
fn read_step() -> usize {
    let named = std::env::var("EVERY").ok();
    let step = named.map(|text| text.parse().expect("EVERY is a number"));
    step.unwrap_or(8)
}

fn make_engine() -> Box<dyn WasmEngine> {
    match std::env::var("ENGINE").as_deref() {
        Ok("node") => Box::new(NodeEngine::start()),
        Ok(other) if other != "wasmi" => panic!("ENGINE is node or wasmi, not {other}"),
        _ => Box::<WasmiEngine>::default(),
    }
}
