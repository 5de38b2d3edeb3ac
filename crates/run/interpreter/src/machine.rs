//! Whole programs: the machine that runs their kernels.

use crate::executor::{KernelExecutor, PreparedKernel, StepLimits};
use crate::launch::{InterpretedLaunch, ResourceSlot};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::{KernelMachine, LaunchRequest, ProgramParameter, SizeClass};
use std::collections::HashMap;

/// Most bytes of all blocks.
const MOST_BYTES: u64 = 1 << 30;

/// Most invocations of a workgroup, as programs read the limit.
const MOST_INVOCATIONS: u64 = 1024;

/// Bytes of workgroup memory, as programs read the limit.
const WORKGROUP_BYTES: u64 = 48 << 10;

/// A machine that runs the kernels of programs by WebAssembly or the interpreter, with the kernels that it has prepared.
#[derive(Debug, Default)]
pub struct InterpreterMachine {
    blocks: Vec<Vec<u8>>,
    /// Numbers of blocks that were freed.
    free: Vec<usize>,
    bytes: u64,
    kernels: HashMap<KernelKey, PreparedKernel>,
    executor: KernelExecutor,
}

/// A kernel with values of its specialisation constants.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct KernelKey {
    program: usize,
    kernel: usize,
    constants: Vec<u64>,
}

impl InterpreterMachine {
    /// A machine without blocks that interprets. Each launch runs at most this many steps.
    pub fn with_step_limit(steps: u64) -> InterpreterMachine {
        let mut executor = KernelExecutor::default();
        executor.limit_steps(StepLimits {
            translated: steps,
            interpreted: steps,
        });
        InterpreterMachine::with_executor(executor)
    }

    /// A machine without blocks that runs kernels by an executor.
    pub fn with_executor(executor: KernelExecutor) -> InterpreterMachine {
        InterpreterMachine {
            executor,
            ..InterpreterMachine::default()
        }
    }
}

fn refuse(message: impl Into<String>) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Unknown, message)
}

impl KernelMachine for InterpreterMachine {
    type Block = usize;
    type Error = SourceDiagnostic;

    fn allocate_block(&mut self, bytes: u64) -> Result<usize, SourceDiagnostic> {
        let total = self.bytes.saturating_add(bytes);
        if total > MOST_BYTES {
            return Err(refuse(format!(
                "a program needs more than {MOST_BYTES} bytes of memory"
            )));
        }
        self.bytes = total;
        // Accesses of whole words may reach past the last element.
        let memory = vec![0; bytes.next_multiple_of(8) as usize];
        Ok(match self.free.pop() {
            Some(number) => {
                self.blocks[number] = memory;
                number
            }
            None => {
                self.blocks.push(memory);
                self.blocks.len() - 1
            }
        })
    }

    fn free_block(&mut self, block: usize) {
        let memory = std::mem::take(&mut self.blocks[block]);
        self.bytes = self.bytes.saturating_sub(memory.len() as u64);
        self.free.push(block);
    }

    fn write_block(&mut self, block: usize, at: u64, bytes: &[u8]) -> Result<(), SourceDiagnostic> {
        let at = at as usize;
        let target = self.blocks[block].get_mut(at..at + bytes.len());
        let target = target.ok_or_else(|| refuse("a copy to a block ends outside of it"))?;
        target.copy_from_slice(bytes);
        Ok(())
    }

    fn read_block(
        &mut self,
        block: usize,
        at: u64,
        out: &mut [u8],
    ) -> Result<(), SourceDiagnostic> {
        let at = at as usize;
        let source = self.blocks[block].get(at..at + out.len());
        let source = source.ok_or_else(|| refuse("a copy from a block ends outside of it"))?;
        out.copy_from_slice(source);
        Ok(())
    }

    fn launch_kernel(
        &mut self,
        request: &LaunchRequest<'_, usize>,
    ) -> Result<(), SourceDiagnostic> {
        let key = KernelKey {
            program: request.program,
            kernel: request.kernel,
            constants: request.constants.to_vec(),
        };
        if !self.kernels.contains_key(&key) {
            let numbered = request.constants.iter().enumerate();
            let specialised: Vec<(u32, u64)> =
                numbered.map(|(n, bits)| (n as u32, *bits)).collect();
            let kernel = self
                .executor
                .prepare_kernel(request.module, "main", &specialised)?;
            self.kernels.insert(key.clone(), kernel);
        }
        let mut groups = [0; 3];
        for (to, count) in groups.iter_mut().zip(request.groups) {
            *to = u32::try_from(count)
                .map_err(|_| refuse(format!("{count} workgroups are too many")))?;
        }
        // A launch moves the buffers that it is given to the memory of its executor, so others are left out.
        let mut bound: Vec<usize> = request.blocks.iter().map(|bound| bound.block).collect();
        bound.sort_unstable();
        bound.dedup();
        let resources: Vec<ResourceSlot> = request
            .blocks
            .iter()
            .map(|slot| ResourceSlot {
                set: 0,
                binding: slot.binding,
                index: 0,
                buffer: bound.partition_point(|block| *block < slot.block),
            })
            .collect();
        let launch = InterpretedLaunch {
            groups,
            resources: &resources,
            push: request.push,
            ..InterpretedLaunch::default()
        };
        let Some(kernel) = self.kernels.get(&key) else {
            return Ok(());
        };
        let blocks = bound.iter();
        let mut buffers: Vec<Vec<u8>> = blocks
            .map(|block| std::mem::take(&mut self.blocks[*block]))
            .collect();
        let ran = self.executor.run_launch(kernel, &launch, &mut buffers);
        for (block, buffer) in bound.into_iter().zip(buffers) {
            self.blocks[block] = buffer;
        }
        ran
    }

    fn forget_program(&mut self, program: usize) {
        self.kernels.retain(|key, _| key.program != program);
    }

    fn wait_idle(&mut self) -> Result<(), SourceDiagnostic> {
        Ok(())
    }

    fn is_host(&self) -> bool {
        true
    }

    /// The values are those of the CPU device, so that results are equal.
    fn parameter_value(&self, parameter: &ProgramParameter) -> u64 {
        match &parameter.class {
            SizeClass::ThreadBlockSize => 64,
            SizeClass::GridSize | SizeClass::TileSize => 16,
            SizeClass::RegTileSize => 4,
            SizeClass::Threshold(default, _) => default.map_or(32_768, |d| d.max(0) as u64),
            SizeClass::Bespoke(_, default) => (*default).max(0) as u64,
            class => self.limit_value(class),
        }
    }

    fn limit_value(&self, class: &SizeClass) -> u64 {
        match class {
            SizeClass::ThreadBlockSize | SizeClass::GridSize => MOST_INVOCATIONS,
            SizeClass::TileSize => MOST_INVOCATIONS.isqrt(),
            SizeClass::SharedMemory => WORKGROUP_BYTES,
            SizeClass::Cache => 1 << 20,
            SizeClass::Registers => 1 << 16,
            _ => i64::MAX as u64,
        }
    }
}
