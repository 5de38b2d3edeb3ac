//! Launches of a kernel that was translated.

use super::emit::waiting_point;
use super::engine::WasmEngine;
use super::function_plan::{KernelPlan, STATE_BYTES, plan_functions};
use super::host::HostFunctions;
use super::memory_layout::{self as layout, FIXED_REGIONS, FixedLayout, PlacedRegion};
use super::module_writer::{FAULT_STEPS, FAULT_UNREACHABLE, write_module};
use crate::decode::{DecodedKernel, decode_kernel};
use crate::exchange::{LaneRegisters, exchange_values};
use crate::invocation::InvocationFault;
use crate::launch::{InterpretedLaunch, describe_endless_wait};
use crate::launch_grid::{GridGroup, KernelGrid};
use crate::memory::{MemoryRegion, OutsideAccess};
use crate::placed_arguments::PlacedArguments;
use crate::step::{CONSTANT, CodeStep, Slot};
use crate::waiting::{ResumedLanes, WaitingInvocation, choose_resumed};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::ir::SpirvModule;
use std::sync::Arc;

/// An entry point that was translated to a WebAssembly module.
#[derive(Debug)]
pub struct WasmKernel {
    kernel: DecodedKernel,
    plan: KernelPlan,
    layout: FixedLayout,
    code: Vec<u8>,
    functions: Arc<HostFunctions>,
    /// The step and the function of each point where invocations wait.
    points: Vec<(usize, usize)>,
}

/// The places of a launch in the memory of an instance.
struct LaunchPlaces {
    table: Vec<u8>,
    /// Bytes of all memory.
    total: u64,
    template: PlacedRegion,
    private: PlacedRegion,
    states: PlacedRegion,
    module: PlacedRegion,
    arguments: PlacedRegion,
    buffers: Vec<PlacedRegion>,
}

/// A launch that runs on an engine.
struct RunningLaunch<'a> {
    kernel: &'a WasmKernel,
    grid: KernelGrid,
    places: LaunchPlaces,
    engine: &'a mut dyn WasmEngine,
    instance: u32,
}

impl WasmKernel {
    /// Translates an entry point. Values of specialisation constants are given by their numbers.
    ///
    /// # Errors
    /// When there is no such entry point, or it has something that is not translated.
    pub fn from_module(
        module: &SpirvModule,
        entry: &str,
        specialised: &[(u32, u64)],
    ) -> Result<WasmKernel, SourceDiagnostic> {
        let kernel = decode_kernel(module, entry, specialised)?;
        let plan = plan_functions(&kernel)?;
        let written = write_module(&kernel, &plan)?;
        let points = list_points(&kernel, &plan);
        Ok(WasmKernel {
            layout: written.layout,
            code: written.code,
            functions: Arc::new(written.functions),
            points,
            plan,
            kernel,
        })
    }

    /// The size of workgroups, where the module fixes it.
    pub fn fixed_workgroup(&self) -> Option<[u32; 3]> {
        self.kernel.workgroup
    }

    /// The WebAssembly module.
    pub fn code(&self) -> &[u8] {
        &self.code
    }

    /// Compiles the module. Returns the number of its instance.
    ///
    /// # Errors
    /// When the engine refuses it.
    pub fn load(&self, engine: &mut dyn WasmEngine) -> Result<u32, SourceDiagnostic> {
        engine
            .load_module(&self.code, &self.functions)
            .map_err(refuse)
    }

    /// Runs a launch over buffers on an instance of the module. Steps of loops are counted where an iteration ends, so its
    /// limit of steps holds approximately.
    ///
    /// # Errors
    /// Arguments that do not fit. With the place of an instruction: an access outside of memory, a wait that never
    /// ends, or more steps than allowed. Buffers keep what was written before.
    pub fn run_launch(
        &self,
        launch: &InterpretedLaunch<'_>,
        buffers: &mut [Vec<u8>],
        engine: &mut dyn WasmEngine,
        instance: u32,
    ) -> Result<(), SourceDiagnostic> {
        let grid = KernelGrid::from_launch(&self.kernel, launch)?;
        let placed = PlacedArguments::from_launch(&self.kernel, launch)?;
        let places = self.place_regions(&grid, &placed, buffers)?;
        engine
            .reserve_memory(instance, places.total)
            .map_err(refuse)?;
        let mut running = RunningLaunch {
            kernel: self,
            grid,
            places,
            engine,
            instance,
        };
        running.write_launch(&placed, launch.most_steps, buffers)?;
        let mut groups = grid.list_groups();
        let ran = groups.try_for_each(|group| running.run_group(&group));
        for (number, buffer) in buffers.iter_mut().enumerate() {
            running.read(running.places.buffers[number].base, buffer)?;
        }
        ran
    }

    /// Places the regions of a launch.
    fn place_regions(
        &self,
        grid: &KernelGrid,
        placed: &PlacedArguments,
        buffers: &[Vec<u8>],
    ) -> Result<LaunchPlaces, SourceDiagnostic> {
        let has_points = !self.kernel.code.points.is_empty();
        let full: u64 = grid.size.iter().map(|n| u64::from(*n)).product();
        let invocations = if has_points { full } else { 1 };
        let mut placer = self.layout.place_after(buffers.len() as u32);
        let template = placer.place(self.kernel.private_memory.len() as u64);
        let private = placer.place(self.layout.private_bytes * invocations);
        let states = placer.place(u64::from(self.layout.state_bytes) * invocations);
        let workgroup = placer.place(placed.workgroup_bytes);
        let module = placer.place(self.kernel.module_memory.len() as u64);
        let arguments = placer.place(placed.memory.len() as u64);
        let buffers: Vec<PlacedRegion> = buffers
            .iter()
            .map(|buffer| placer.place(buffer.len() as u64))
            .collect();
        let total = placer
            .finish()
            .ok_or_else(|| refuse("the launch needs more memory than WebAssembly has".into()))?;
        let mut rows = vec![PlacedRegion::default(); FIXED_REGIONS as usize];
        for (region, place) in [
            (MemoryRegion::WORKGROUP, workgroup),
            (MemoryRegion::MODULE, module),
            (MemoryRegion::ARGUMENTS, arguments),
        ] {
            rows[region.0 as usize] = place;
        }
        rows.extend(placed.bound.iter().map(|bound| {
            let buffer = bound.and_then(|number| buffers.get(number));
            buffer.copied().unwrap_or_default()
        }));
        rows.extend(&buffers);
        let mut table = Vec::new();
        for row in rows {
            table.extend(u64::from(row.base).to_le_bytes());
            table.extend(row.bytes.to_le_bytes());
        }
        Ok(LaunchPlaces {
            table,
            total,
            template,
            private,
            states,
            module,
            arguments,
            buffers,
        })
    }
}

/// An error without a place.
fn refuse(message: String) -> SourceDiagnostic {
    SourceDiagnostic::error(SourceLocation::Unknown, message)
}

/// The step and the function of each point.
fn list_points(kernel: &DecodedKernel, plan: &KernelPlan) -> Vec<(usize, usize)> {
    let mut points = vec![(0, 0); kernel.code.points.len()];
    for function in &plan.functions {
        for at in function.steps.clone() {
            if let CodeStep::Suspend(point) = kernel.code.steps[at] {
                points[point as usize] = (at, function.number as usize);
            }
        }
    }
    points
}

impl RunningLaunch<'_> {
    fn write(&mut self, at: u32, bytes: &[u8]) -> Result<(), SourceDiagnostic> {
        let written = self.engine.write_memory(self.instance, at, bytes);
        written.map_err(refuse)
    }

    fn read(&mut self, at: u32, out: &mut [u8]) -> Result<(), SourceDiagnostic> {
        let read = self.engine.read_memory(self.instance, at, out);
        read.map_err(refuse)
    }

    /// Writes all that does not change between workgroups.
    fn write_launch(
        &mut self,
        placed: &PlacedArguments,
        most_steps: u64,
        buffers: &[Vec<u8>],
    ) -> Result<(), SourceDiagnostic> {
        let steps = i64::try_from(most_steps).unwrap_or(i64::MAX);
        self.write(layout::STEPS_LEFT, &steps.to_le_bytes())?;
        let fixed = self.kernel.layout;
        let parameters: Vec<u8> = placed
            .parameters
            .iter()
            .flat_map(|bits| bits.to_le_bytes())
            .collect();
        self.write(fixed.parameters, &parameters)?;
        let table = std::mem::take(&mut self.places.table);
        self.write(fixed.regions, &table)?;
        let decoded = &self.kernel.kernel;
        self.write(self.places.template.base, &decoded.private_memory)?;
        self.write(self.places.module.base, &decoded.module_memory)?;
        self.write(self.places.arguments.base, &placed.memory)?;
        for (number, buffer) in buffers.iter().enumerate() {
            self.write(self.places.buffers[number].base, buffer)?;
        }
        Ok(())
    }

    /// Writes what a workgroup is.
    fn write_group(&mut self, group: &GridGroup, count: usize) -> Result<(), SourceDiagnostic> {
        let grid = self.grid;
        let mut words = group.size.to_vec();
        words.push(count as u32);
        let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let row = grid.global[0];
        let plane = row.wrapping_mul(grid.global[1]);
        bytes.extend([row, plane].iter().flat_map(|stride| stride.to_le_bytes()));
        let places = &self.places;
        let words = [
            places.template.base,
            places.private.base,
            places.states.base,
            places.buffers.len() as u32,
        ];
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        for place in &self.kernel.kernel.builtins {
            let values = grid.find_builtin(place, group, 0);
            bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        }
        self.write(layout::GROUP_SIZE, &bytes)
    }

    fn run_group(&mut self, group: &GridGroup) -> Result<(), SourceDiagnostic> {
        let count = group.count_invocations();
        if count == 0 {
            return Ok(());
        }
        self.write_group(group, count)?;
        let mut is_new = true;
        loop {
            let status = self.engine.run_group(self.instance, is_new);
            let status = status.map_err(|trap| self.describe_trap(trap))?;
            is_new = false;
            if status == 0 || !self.resume_waiting(count)? {
                return Ok(());
            }
        }
    }

    /// Computes the exchanges of invocations that wait. Returns whether any goes on.
    fn resume_waiting(&mut self, count: usize) -> Result<bool, SourceDiagnostic> {
        let stride = self.kernel.layout.state_bytes as usize;
        let mut states = vec![0; stride * count];
        let base = self.places.states.base;
        self.read(base, &mut states)?;
        let mut registers = SavedRegisters {
            kernel: self.kernel,
            states,
            function: 0,
        };
        let waiting = (0..count).filter_map(|number| {
            let point = waiting_point(registers.read_status(number))?;
            Some(WaitingInvocation { number, point })
        });
        let waiting: Vec<WaitingInvocation> = waiting.collect();
        let points = &self.kernel.kernel.code.points;
        let resumed = choose_resumed(points, &waiting, count);
        let resumed = resumed.map_err(|number| {
            let point = waiting.iter().find(|wait| wait.number == number);
            let step = point.map_or(0, |wait| self.kernel.points[wait.point as usize].0);
            describe_endless_wait(self.find_place(step))
        })?;
        for lanes in &resumed {
            registers.exchange(lanes);
        }
        self.write(base, &registers.states)?;
        Ok(!resumed.is_empty())
    }

    fn find_place(&self, step: usize) -> SourceLocation {
        let places = &self.kernel.kernel.code.places;
        places.get(step).copied().unwrap_or_default()
    }

    /// The error of a trap: the fault that was recorded before it, or the engine's message.
    fn describe_trap(&mut self, trap: String) -> SourceDiagnostic {
        let mut record = [0; layout::FAULT_RECORD as usize];
        if let Err(error) = self.read(0, &mut record) {
            return error;
        }
        let word = |at: u32| {
            let bytes = record[at as usize..].first_chunk::<4>();
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let long = |at: u32| u64::from(word(at)) | u64::from(word(at + 4)) << 32;
        let fault = match word(layout::FAULT_KIND) as i32 {
            0 => return refuse(format!("the WebAssembly code stopped: {trap}")),
            FAULT_UNREACHABLE => InvocationFault::Unreachable,
            FAULT_STEPS => InvocationFault::TooManySteps,
            _ => InvocationFault::Outside(OutsideAccess {
                address: long(layout::FAULT_ADDRESS),
                bytes: long(layout::FAULT_BYTES),
            }),
        };
        let place = self.find_place(word(layout::FAULT_STEP) as usize);
        // The instance may run again.
        match self.write(0, &[0; layout::FAULT_RECORD as usize]) {
            Ok(()) => fault.describe(place, word(layout::INVOCATION) as usize),
            Err(error) => error,
        }
    }
}

/// Registers that invocations have saved where they wait.
struct SavedRegisters<'k> {
    kernel: &'k WasmKernel,
    states: Vec<u8>,
    /// The function that waits.
    function: usize,
}

impl SavedRegisters<'_> {
    /// The first byte of an invocation's state.
    fn state_start(&self, number: usize) -> usize {
        number * self.kernel.layout.state_bytes as usize
    }

    fn read_status(&self, number: usize) -> u32 {
        let start = self.state_start(number);
        let bytes = self.states[start..].first_chunk::<4>();
        bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Computes an exchange, and lets its invocations go on.
    fn exchange(&mut self, lanes: &ResumedLanes) {
        let kernel = self.kernel;
        self.function = kernel.points[lanes.point as usize].1;
        let point = &kernel.kernel.code.points[lanes.point as usize];
        exchange_values(point, lanes, self);
        for number in &lanes.numbers {
            let start = self.state_start(*number);
            self.states[start..start + 4].fill(0);
        }
    }

    /// The first byte of a saved register.
    fn register_start(&self, lane: usize, slot: Slot) -> usize {
        let saved = self.kernel.plan.functions[self.function].saved + STATE_BYTES;
        self.state_start(lane) + saved as usize + 8 * slot as usize
    }
}

impl LaneRegisters for SavedRegisters<'_> {
    fn read_lane(&self, lane: usize, slot: Slot) -> u64 {
        if slot & CONSTANT != 0 {
            return self.kernel.kernel.code.constants[(slot & !CONSTANT) as usize];
        }
        let bytes = self.states[self.register_start(lane, slot)..].first_chunk::<8>();
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn write_lane(&mut self, lane: usize, slot: Slot, bits: u64) {
        let start = self.register_start(lane, slot);
        self.states[start..start + 8].copy_from_slice(&bits.to_le_bytes());
    }
}
