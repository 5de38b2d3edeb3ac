//! Launches: workgroups, their invocations, and what these wait for.

use crate::decode::{DecodedKernel, KernelResource, decode_kernel};
use crate::exchange::{ActiveLanes, SUBGROUP_SIZE, exchange_values};
use crate::invocation::{Invocation, InvocationFault, InvocationState};
use crate::memory::{MemoryRegion, SharedMemory};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::enumerants::BuiltIn;
use spirula_spirv::ir::SpirvModule;

/// Most invocations of a workgroup.
const MOST_INVOCATIONS: u64 = 4096;

/// Most bytes of the variables of a workgroup.
const MOST_WORKGROUP: u64 = 64 << 20;

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
    /// The number of the buffer.
    pub buffer: usize,
}

/// A launch.
#[derive(Debug)]
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

/// A workgroup of a launch.
struct RunningGroup<'k, 'b> {
    kernel: &'k DecodedKernel,
    shared: SharedMemory<'b>,
    invocations: Vec<Invocation>,
    /// Parameters of the entry point.
    parameters: Vec<u64>,
    /// Size of full workgroups.
    size: [u32; 3],
    groups: [u32; 3],
    global: [u64; 3],
    offset: [u64; 3],
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
    /// When arguments do not fit, or with the place of an instruction: an access outside of memory, a wait that never ends,
    /// or more steps than allowed. Buffers keep what was written before.
    pub fn run_launch(
        &self,
        launch: &InterpretedLaunch<'_>,
        buffers: &mut [Vec<u8>],
    ) -> Result<(), SourceDiagnostic> {
        let size = self.kernel.workgroup.unwrap_or(launch.workgroup);
        let total = size.iter().map(|n| u64::from(*n)).product::<u64>();
        if total == 0 || total > MOST_INVOCATIONS {
            let message = format!("workgroups of {size:?} invocations are not possible");
            return Err(SourceDiagnostic::error(SourceLocation::Unknown, message));
        }
        let mut group = RunningGroup::new(&self.kernel, launch, size, buffers)?;
        group.budget = launch.most_steps;
        for z in 0..launch.groups[2] {
            for y in 0..launch.groups[1] {
                for x in 0..launch.groups[0] {
                    group.run_group([x, y, z])?;
                }
            }
        }
        Ok(())
    }
}

impl<'k, 'b> RunningGroup<'k, 'b> {
    fn new(
        kernel: &'k DecodedKernel,
        launch: &InterpretedLaunch<'_>,
        size: [u32; 3],
        buffers: &'b mut [Vec<u8>],
    ) -> Result<RunningGroup<'k, 'b>, SourceDiagnostic> {
        let whole = [0, 1, 2].map(|n| u64::from(launch.groups[n]) * u64::from(size[n]));
        let find_bound = |resource: &KernelResource| {
            let mut bound = launch.resources.iter();
            let bound = bound.find(|b| (b.set, b.binding) == (resource.set, resource.binding))?;
            Some(bound.buffer)
        };
        let mut group = RunningGroup {
            kernel,
            shared: SharedMemory {
                buffers,
                bound: kernel.resources.iter().map(find_bound).collect(),
                workgroup: vec![0; kernel.workgroup_bytes as usize],
                module: kernel.module_memory.clone(),
                arguments: launch.push.to_vec(),
            },
            invocations: Vec::new(),
            parameters: Vec::new(),
            size,
            groups: launch.groups,
            global: launch.global.unwrap_or(whole),
            offset: launch.offset,
            budget: u64::MAX,
        };
        group
            .shared
            .arguments
            .resize(launch.push.len().next_multiple_of(16), 0);
        group.place_arguments(launch.arguments)?;
        Ok(group)
    }

    fn place_arguments(
        &mut self,
        arguments: &[InterpretedArgument],
    ) -> Result<(), SourceDiagnostic> {
        let refuse = |message: String| SourceDiagnostic::error(SourceLocation::Unknown, message);
        if arguments.len() != self.kernel.parameters.len() {
            let (wanted, given) = (self.kernel.parameters.len(), arguments.len());
            return Err(refuse(format!(
                "the kernel takes {wanted} arguments, not {given}"
            )));
        }
        let kernel = self.kernel;
        for (number, (argument, parameter)) in arguments.iter().zip(&kernel.parameters).enumerate()
        {
            match argument {
                InterpretedArgument::Buffer(buffer) if parameter.is_pointer => {
                    let address = MemoryRegion::from_buffer(*buffer).address(0);
                    self.parameters.push(address);
                }
                InterpretedArgument::Workgroup(bytes) if parameter.is_pointer => {
                    let start = (self.shared.workgroup.len() as u64).next_multiple_of(128);
                    let end = start.saturating_add(*bytes);
                    if end > MOST_WORKGROUP {
                        return Err(refuse(format!(
                            "{bytes} bytes of workgroup memory are too many"
                        )));
                    }
                    self.shared.workgroup.resize(end as usize, 0);
                    self.parameters.push(MemoryRegion::WORKGROUP.address(start));
                }
                InterpretedArgument::Value(bytes)
                    if parameter.is_pointer && parameter.is_by_value =>
                {
                    let start = self.shared.arguments.len();
                    self.shared.arguments.extend_from_slice(bytes);
                    let end = self.shared.arguments.len().next_multiple_of(128);
                    self.shared.arguments.resize(end, 0);
                    self.parameters
                        .push(MemoryRegion::ARGUMENTS.address(start as u64));
                }
                InterpretedArgument::Value(bytes) if !parameter.is_pointer => {
                    for cell in &parameter.cells {
                        let start = cell.offset as usize;
                        let part = bytes.get(start..start + usize::from(cell.bytes));
                        let part = part.ok_or_else(|| {
                            refuse(format!("argument {number} has only {} bytes", bytes.len()))
                        })?;
                        let mut word = [0; 8];
                        word[..part.len()].copy_from_slice(part);
                        self.parameters.push(u64::from_le_bytes(word));
                    }
                }
                _ => {
                    let message = format!("argument {number} does not fit its parameter");
                    return Err(refuse(message));
                }
            }
        }
        Ok(())
    }

    fn run_group(&mut self, group: [u32; 3]) -> Result<(), SourceDiagnostic> {
        let own = [0, 1, 2].map(|n| {
            let begin = u64::from(group[n]) * u64::from(self.size[n]);
            let rest = self.global[n].saturating_sub(begin);
            rest.min(u64::from(self.size[n])) as u32
        });
        let count = own.iter().map(|n| *n as usize).product();
        while self.invocations.len() < count {
            self.invocations.push(Invocation::new());
        }
        self.shared.workgroup.fill(0);
        for number in 0..count {
            let private = self.kernel.private_memory.clone();
            let invocation = &mut self.invocations[number];
            invocation.begin_function(&self.kernel.code, 0, &private, &self.parameters);
            self.write_builtins(number, own, group);
        }
        loop {
            for number in 0..count {
                let invocation = &mut self.invocations[number];
                let ran =
                    invocation.run_steps(&self.kernel.code, &mut self.shared, &mut self.budget);
                ran.map_err(|fault| self.describe_fault(number, fault))?;
            }
            if !self.resume_waiting(count)? {
                return Ok(());
            }
        }
    }

    /// Lets invocations that wait go on where their group is complete. Returns whether any does.
    fn resume_waiting(&mut self, count: usize) -> Result<bool, SourceDiagnostic> {
        let waiting: Vec<(usize, u32)> = (0..count)
            .filter_map(|number| match self.invocations[number].state {
                InvocationState::Waiting(point) => Some((number, point)),
                _ => None,
            })
            .collect();
        if waiting.is_empty() {
            return Ok(false);
        }
        let mut has_resumed = false;
        for group in waiting.chunk_by(|a, b| a.0 / SUBGROUP_SIZE == b.0 / SUBGROUP_SIZE) {
            let points = &self.kernel.code.points;
            let in_subgroups = group
                .iter()
                .filter(|(_, p)| points[*p as usize].is_subgroup);
            // Of a subgroup that has diverged, the invocations at the first point go on.
            if let Some(first) = in_subgroups.map(|(_, point)| *point).min() {
                self.resume_at(
                    first,
                    group,
                    group[0].0 / SUBGROUP_SIZE * SUBGROUP_SIZE,
                    SUBGROUP_SIZE,
                );
                has_resumed = true;
            }
        }
        if has_resumed {
            return Ok(true);
        }
        let point = waiting[0].1;
        if let Some((number, _)) = waiting.iter().find(|(_, other)| *other != point) {
            let message = "the invocations of a workgroup wait at different barriers";
            return Err(SourceDiagnostic::error(self.find_place(*number), message));
        }
        self.resume_at(point, &waiting, 0, count);
        Ok(true)
    }

    fn resume_at(&mut self, point: u32, waiting: &[(usize, u32)], first: usize, size: usize) {
        let there = waiting.iter().filter(|(_, at)| *at == point);
        let numbers: Vec<usize> = there.map(|(number, _)| *number).collect();
        let lanes = ActiveLanes {
            numbers: &numbers,
            first,
            size,
        };
        let code = &self.kernel.code;
        exchange_values(
            code,
            &code.points[point as usize],
            &lanes,
            &mut self.invocations,
        );
        for number in numbers {
            self.invocations[number].state = InvocationState::Running;
        }
    }

    /// The place of the step that an invocation stopped at. One that waits has passed it.
    fn find_place(&self, number: usize) -> SourceLocation {
        let invocation = &self.invocations[number];
        let is_past = matches!(invocation.state, InvocationState::Waiting(_));
        let at = invocation.next as usize - usize::from(is_past);
        self.kernel.code.places.get(at).copied().unwrap_or_default()
    }

    fn describe_fault(&self, number: usize, fault: InvocationFault) -> SourceDiagnostic {
        let message = match fault {
            InvocationFault::Outside(access) if access.address >> 32 == 0 => {
                "an access through a null pointer".to_owned()
            }
            InvocationFault::Outside(access) => format!(
                "an access to {} bytes outside of memory, at the offset {}",
                access.bytes,
                access.address & ((1 << 40) - 1)
            ),
            InvocationFault::StackOverflow => "calls are nested too deeply".to_owned(),
            InvocationFault::TooManySteps => "the launch ran more steps than it may".to_owned(),
            InvocationFault::Unreachable => "unreachable code was reached".to_owned(),
        };
        let error = SourceDiagnostic::error(self.find_place(number), message);
        error.with_note(format!("invocation {number} of its workgroup"))
    }

    /// Writes the built-in variables of an invocation.
    fn write_builtins(&mut self, number: usize, own: [u32; 3], group: [u32; 3]) {
        let n = number as u32;
        let local = [n % own[0], n / own[0] % own[1], n / own[0] / own[1]];
        let count = own.iter().product::<u32>() as usize;
        let global =
            [0, 1, 2].map(|a| u64::from(group[a]) * u64::from(self.size[a]) + u64::from(local[a]));
        let lane = (number % SUBGROUP_SIZE) as u64;
        let wide = |of: [u32; 3]| of.map(u64::from);
        for place in &self.kernel.builtins {
            let single = |value: u64| [value, 0, 0];
            let values = match place.builtin {
                BuiltIn::NumWorkgroups => wide(self.groups),
                BuiltIn::WorkgroupId => wide(group),
                BuiltIn::WorkgroupSize => wide(own),
                BuiltIn::EnqueuedWorkgroupSize => wide(self.size),
                BuiltIn::GlobalSize => self.global,
                BuiltIn::LocalInvocationId => wide(local),
                BuiltIn::LocalInvocationIndex => single(number as u64),
                BuiltIn::GlobalInvocationId => [0, 1, 2].map(|a| global[a] + self.offset[a]),
                BuiltIn::GlobalOffset => self.offset,
                BuiltIn::GlobalLinearId => {
                    single((global[2] * self.global[1] + global[1]) * self.global[0] + global[0])
                }
                BuiltIn::WorkDim => single(match self.global {
                    [_, 1, 1] => 1,
                    [_, _, 1] => 2,
                    _ => 3,
                }),
                BuiltIn::SubgroupMaxSize => single(SUBGROUP_SIZE as u64),
                BuiltIn::SubgroupSize if place.is_kernel => {
                    let before = number / SUBGROUP_SIZE * SUBGROUP_SIZE;
                    single((count - before).min(SUBGROUP_SIZE) as u64)
                }
                BuiltIn::SubgroupSize => single(SUBGROUP_SIZE as u64),
                BuiltIn::NumSubgroups => single(count.div_ceil(SUBGROUP_SIZE) as u64),
                BuiltIn::NumEnqueuedSubgroups => {
                    let full = self.size.iter().product::<u32>() as usize;
                    single(full.div_ceil(SUBGROUP_SIZE) as u64)
                }
                BuiltIn::SubgroupId => single((number / SUBGROUP_SIZE) as u64),
                BuiltIn::SubgroupLocalInvocationId => single(lane),
                BuiltIn::SubgroupEqMask => single(1 << lane),
                BuiltIn::SubgroupLtMask => single((1 << lane) - 1),
                BuiltIn::SubgroupLeMask => single((2 << lane) - 1),
                BuiltIn::SubgroupGtMask => single(0xff & !((2 << lane) - 1)),
                BuiltIn::SubgroupGeMask => single(0xff & !((1 << lane) - 1)),
                _ => [0; 3],
            };
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
