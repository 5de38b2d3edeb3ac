//! Kernels by the fastest way that runs them: WebAssembly, or else the interpreter.

use crate::launch::{InterpretedLaunch, KernelInterpreter};
use crate::wasm::{WasmEngine, WasmKernel};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::ir::SpirvModule;
use std::cell::RefCell;
use std::rc::Rc;

/// How kernels ran.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExecutorReport {
    /// Kernels that were translated to WebAssembly.
    pub translated: usize,
    /// Kernels that are interpreted.
    pub interpreted: usize,
    /// The reason why the first of these was not translated, where there is an engine.
    pub reason: Option<String>,
}

/// Most steps of a launch, by how its kernel runs. Translated code runs more steps in a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepLimits {
    /// Those of a kernel that was translated.
    pub translated: u64,
    /// Those of a kernel that is interpreted.
    pub interpreted: u64,
}

impl Default for StepLimits {
    /// No limits.
    fn default() -> StepLimits {
        StepLimits {
            translated: u64::MAX,
            interpreted: u64::MAX,
        }
    }
}

/// Runs kernels on an engine for WebAssembly, if there is one. Kernels that are not translated are interpreted.
#[derive(Default)]
pub struct KernelExecutor {
    engine: Option<Box<dyn WasmEngine>>,
    instances: Vec<u32>,
    limits: StepLimits,
    report: Rc<RefCell<ExecutorReport>>,
}

/// A kernel that an executor runs.
#[derive(Debug)]
pub struct PreparedKernel {
    way: ExecutionWay,
}

#[derive(Debug)]
enum ExecutionWay {
    /// The instance of a module.
    Translated(Box<WasmKernel>, u32),
    Interpreted(Box<KernelInterpreter>),
}

impl KernelExecutor {
    /// An executor with an engine.
    pub fn with_engine(engine: Option<Box<dyn WasmEngine>>) -> KernelExecutor {
        let mut executor = KernelExecutor::default();
        executor.engine = engine;
        executor
    }

    /// Limits the steps of each launch.
    pub fn limit_steps(&mut self, limits: StepLimits) {
        self.limits = limits;
    }

    /// How the kernels ran, which is counted as they are prepared.
    pub fn report(&self) -> Rc<RefCell<ExecutorReport>> {
        self.report.clone()
    }

    /// Prepares an entry point. Values of specialisation constants are given by their numbers.
    ///
    /// # Errors
    /// When there is no such entry point, or it has an instruction that the interpreter lacks.
    pub fn prepare_kernel(
        &mut self,
        module: &SpirvModule,
        entry: &str,
        specialised: &[(u32, u64)],
    ) -> Result<PreparedKernel, SourceDiagnostic> {
        if let Some(engine) = &mut self.engine {
            let translated = WasmKernel::from_module(module, entry, specialised);
            let loaded = translated.and_then(|kernel| {
                let instance = kernel.load(engine.as_mut())?;
                Ok((kernel, instance))
            });
            match loaded {
                Ok((kernel, instance)) => {
                    self.instances.push(instance);
                    self.report.borrow_mut().translated += 1;
                    return Ok(PreparedKernel {
                        way: ExecutionWay::Translated(Box::new(kernel), instance),
                    });
                }
                Err(fault) => {
                    let reason = &mut self.report.borrow_mut().reason;
                    reason.get_or_insert(fault.message);
                }
            }
        }
        let kernel = KernelInterpreter::from_module(module, entry, specialised)?;
        self.report.borrow_mut().interpreted += 1;
        Ok(PreparedKernel {
            way: ExecutionWay::Interpreted(Box::new(kernel)),
        })
    }

    /// Runs a launch over buffers. Its limit of steps and that of the executor hold.
    ///
    /// # Errors
    /// Those of [`KernelInterpreter::run_launch`] and [`WasmKernel::run_launch`].
    pub fn run_launch(
        &mut self,
        kernel: &PreparedKernel,
        launch: &InterpretedLaunch<'_>,
        buffers: &mut [Vec<u8>],
    ) -> Result<(), SourceDiagnostic> {
        let limit = match kernel.way {
            ExecutionWay::Translated(..) => self.limits.translated,
            ExecutionWay::Interpreted(_) => self.limits.interpreted,
        };
        let launch = InterpretedLaunch {
            most_steps: launch.most_steps.min(limit),
            ..*launch
        };
        match (&kernel.way, &mut self.engine) {
            (ExecutionWay::Translated(kernel, instance), Some(engine)) => {
                kernel.run_launch(&launch, buffers, engine.as_mut(), *instance)
            }
            (ExecutionWay::Interpreted(kernel), _) => kernel.run_launch(&launch, buffers),
            (ExecutionWay::Translated(..), None) => {
                let message = "the kernel was prepared by an executor with an engine";
                Err(SourceDiagnostic::error(SourceLocation::Unknown, message))
            }
        }
    }
}

impl PreparedKernel {
    /// The size of workgroups, where the module fixes it.
    pub fn fixed_workgroup(&self) -> Option<[u32; 3]> {
        match &self.way {
            ExecutionWay::Translated(kernel, _) => kernel.fixed_workgroup(),
            ExecutionWay::Interpreted(kernel) => kernel.fixed_workgroup(),
        }
    }
}

impl Drop for KernelExecutor {
    fn drop(&mut self) {
        if let Some(engine) = &mut self.engine {
            for instance in &self.instances {
                engine.drop_instance(*instance);
            }
        }
    }
}

impl std::fmt::Debug for KernelExecutor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KernelExecutor")
            .field("instances", &self.instances)
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
