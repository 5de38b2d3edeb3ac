//! Launches: workgroups, their invocations, and what these wait for.

use crate::decode::{DecodedKernel, decode_kernel};
use crate::exchange::{LaneRegisters, exchange_values};
use crate::invocation::{Invocation, InvocationState};
use crate::launch_grid::{GridGroup, KernelGrid};
use crate::memory::{MemoryRegion, SharedMemory};
use crate::placed_arguments::PlacedArguments;
use crate::step::{KernelCode, Slot};
use crate::waiting::{WaitingInvocation, choose_resumed};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::ir::SpirvModule;

/// An entry point that was decoded.
#[derive(Debug)]
pub struct KernelInterpreter {
    kernel: DecodedKernel,
}

/// An argument of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterpretedArgument {
    /// The buffer with this number.
    Buffer(usize),
    /// A scalar, vector or structure as its bytes.
    Value(Vec<u8>),
    /// Workgroup memory of this many bytes.
    Workgroup(u64),
}

/// A buffer that is bound to a resource of a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ResourceSlot {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// Element of an array of descriptors; 0 for a single descriptor.
    pub index: u32,
    /// The number of the buffer.
    pub buffer: usize,
}

/// A launch.
#[derive(Clone, Copy, Debug)]
pub struct InterpretedLaunch<'a> {
    /// Number of workgroups.
    pub groups: [u32; 3],
    /// Size of workgroups, for kernels whose module does not fix it.
    pub workgroup: [u32; 3],
    /// Invocations of the whole launch, where the last workgroups of a kernel are smaller; by default all are whole.
    pub global: Option<[u64; 3]>,
    /// Numbers that are added to global ids.
    pub offset: [u64; 3],
    /// Arguments of a kernel.
    pub arguments: &'a [InterpretedArgument],
    /// Resources of a shader.
    pub resources: &'a [ResourceSlot],
    /// Push constants of a shader.
    pub push: &'a [u8],
    /// Most steps of all invocations.
    pub most_steps: u64,
}

impl Default for InterpretedLaunch<'_> {
    /// A launch of one invocation without arguments, and without a limit of its steps.
    fn default() -> Self {
        InterpretedLaunch {
            groups: [1; 3],
            workgroup: [1; 3],
            global: None,
            offset: [0; 3],
            arguments: &[],
            resources: &[],
            push: &[],
            most_steps: u64::MAX,
        }
    }
}

/// The address of the first byte of a buffer, by its number in a launch. Shaders with buffer references read it from push constants
/// or memory.
pub fn find_buffer_address(buffer: usize) -> u64 {
    MemoryRegion::from_buffer(buffer).address(0)
}

/// A workgroup of a launch that runs.
struct RunningGroup<'k, 'b> {
    kernel: &'k DecodedKernel,
    shared: SharedMemory<'b>,
    invocations: Vec<Invocation>,
    /// Parameters of the entry point.
    parameters: Vec<u64>,
    grid: KernelGrid,
    budget: u64,
}

impl KernelInterpreter {
    /// Decodes an entry point. Values of specialisation constants are given by their numbers.
    ///
    /// # Errors
    /// When there is no such entry point, or it has an instruction that the interpreter lacks.
    pub fn from_module(
        module: &SpirvModule,
        entry: &str,
        specialised: &[(u32, u64)],
    ) -> Result<KernelInterpreter, SourceDiagnostic> {
        let kernel = decode_kernel(module, entry, specialised)?;
        Ok(KernelInterpreter { kernel })
    }

    /// The size of workgroups, where the module fixes it.
    pub fn fixed_workgroup(&self) -> Option<[u32; 3]> {
        self.kernel.workgroup
    }

    /// Runs a launch over buffers.
    ///
    /// # Errors
    /// Arguments that do not fit. With the place of an instruction: an access outside of memory, a wait that never
    /// ends, or more steps than allowed. Buffers keep what was written before.
    pub fn run_launch(
        &self,
        launch: &InterpretedLaunch<'_>,
        buffers: &mut [Vec<u8>],
    ) -> Result<(), SourceDiagnostic> {
        let grid = KernelGrid::from_launch(&self.kernel, launch)?;
        let placed = PlacedArguments::from_launch(&self.kernel, launch)?;
        let mut running = RunningGroup {
            kernel: &self.kernel,
            shared: SharedMemory {
                buffers,
                bound: placed.bound,
                workgroup: vec![0; placed.workgroup_bytes as usize],
                module: self.kernel.module_memory.clone(),
                arguments: placed.memory,
            },
            invocations: Vec::new(),
            parameters: placed.parameters,
            grid,
            budget: launch.most_steps,
        };
        let mut groups = grid.list_groups();
        groups.try_for_each(|group| running.run_group(&group))
    }
}

impl RunningGroup<'_, '_> {
    fn run_group(&mut self, group: &GridGroup) -> Result<(), SourceDiagnostic> {
        let count = group.count_invocations();
        while self.invocations.len() < count {
            self.invocations.push(Invocation::new());
        }
        self.shared.workgroup.fill(0);
        for number in 0..count {
            let private = self.kernel.private_memory.clone();
            let invocation = &mut self.invocations[number];
            invocation.begin_function(&self.kernel.code, 0, &private, &self.parameters);
            self.write_builtins(number, group);
        }
        loop {
            for number in 0..count {
                let invocation = &mut self.invocations[number];
                let ran =
                    invocation.run_steps(&self.kernel.code, &mut self.shared, &mut self.budget);
                ran.map_err(|fault| fault.describe(self.find_place(number), number))?;
            }
            if !self.resume_waiting(count)? {
                return Ok(());
            }
        }
    }

    /// Lets invocations that wait go on where their group is complete. Returns whether any does.
    fn resume_waiting(&mut self, count: usize) -> Result<bool, SourceDiagnostic> {
        let waiting = (0..count).filter_map(|number| match self.invocations[number].state {
            InvocationState::Waiting(point) => Some(WaitingInvocation { number, point }),
            _ => None,
        });
        let waiting: Vec<WaitingInvocation> = waiting.collect();
        let code = &self.kernel.code;
        let resumed = choose_resumed(&code.points, &waiting, count);
        let resumed = resumed.map_err(|number| describe_endless_wait(self.find_place(number)))?;
        for lanes in &resumed {
            let point = &code.points[lanes.point as usize];
            let mut registers = InvocationRegisters {
                code,
                invocations: &mut self.invocations,
            };
            exchange_values(point, lanes, &mut registers);
            for number in &lanes.numbers {
                self.invocations[*number].state = InvocationState::Running;
            }
        }
        Ok(!resumed.is_empty())
    }

    /// The place of the step that an invocation stopped at. One that waits has passed it.
    fn find_place(&self, number: usize) -> SourceLocation {
        let invocation = &self.invocations[number];
        let is_past = matches!(invocation.state, InvocationState::Waiting(_));
        let at = invocation.next as usize - usize::from(is_past);
        self.kernel.code.places.get(at).copied().unwrap_or_default()
    }

    /// Writes the built-in variables of an invocation.
    fn write_builtins(&mut self, number: usize, group: &GridGroup) {
        for place in &self.kernel.builtins {
            let values = self.grid.find_builtin(place, group, number);
            let invocation = &mut self.invocations[number];
            for (component, value) in values.iter().take(place.count).enumerate() {
                let start = place.offset as usize + component * place.bytes;
                let bytes = &value.to_le_bytes()[..place.bytes];
                if let Some(to) = invocation.private.get_mut(start..start + place.bytes) {
                    to.copy_from_slice(bytes);
                }
            }
        }
    }
}

/// The error of invocations that wait for each other at different barriers.
pub(crate) fn describe_endless_wait(place: SourceLocation) -> SourceDiagnostic {
    let message = "the invocations of a workgroup wait at different barriers";
    SourceDiagnostic::error(place, message)
}

/// Registers of the invocations of a workgroup.
struct InvocationRegisters<'a> {
    code: &'a KernelCode,
    invocations: &'a mut [Invocation],
}

impl LaneRegisters for InvocationRegisters<'_> {
    fn read_lane(&self, lane: usize, slot: Slot) -> u64 {
        self.invocations[lane].read(self.code, slot)
    }

    fn write_lane(&mut self, lane: usize, slot: Slot, bits: u64) {
        self.invocations[lane].write(slot, bits);
    }
}
