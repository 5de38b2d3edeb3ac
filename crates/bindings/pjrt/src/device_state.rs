//! State of a device: its memory with the arrays on it, and the programs that have begun.

use crate::element::ArrayType;
use crate::error::{PluginError, PluginResult};
use crate::exchange_memory::ExchangeMemory;
use crate::host_array::make_zeros;
use crate::host_pool::HostPool;
use crate::memory::MemoryKind;
use crate::module::CompiledModule;
use crate::plugin::is_processor;
use crate::profiler::DeviceTimeline;
use rustc_hash::FxHashMap;
use spirula_program::{ProgramHeap, ProgramSession, ResidentValue, ScalarType, SuspendedSession};
use spirula_runtime::{ComputeDevice, DeviceMachine, DeviceOptions};
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Instant;

/// The heap of a device.
pub type DeviceHeap = ProgramHeap<DeviceMachine<'static>>;

/// The number of an array of a device, with the memory that has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DeviceArrayId {
    number: u64,
    memory: MemoryKind,
}

impl DeviceArrayId {
    /// A number for an array that a later job makes.
    pub fn new(memory: MemoryKind) -> DeviceArrayId {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        DeviceArrayId {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            memory,
        }
    }

    /// The memory that has the array.
    pub fn memory(self) -> MemoryKind {
        self.memory
    }
}

/// An array where it is stored.
enum StoredArray {
    /// In the memory of the device, or as a scalar.
    Resident(ResidentValue),
    /// In the memory of the host.
    Host(OffloadedArray),
}

/// An array in the memory of the host.
struct OffloadedArray {
    element: ScalarType,
    is_unsigned: bool,
    sizes: Vec<u64>,
    bytes: Vec<u8>,
    /// Its copy on the device, while a job uses it.
    visit: Option<ResidentValue>,
}

/// The memory of a device, and its programs.
pub struct DeviceState {
    // Before the memory that its device has imported.
    pub heap: DeviceHeap,
    /// The memory by which elements get to other devices.
    pub exchanges: ExchangeMemory,
    /// The arrays, or the reason why one could not be made.
    arrays: FxHashMap<DeviceArrayId, PluginResult<StoredArray>>,
    /// The arrays of the host that have a copy on the device.
    visiting: Vec<DeviceArrayId>,
    /// Whether the memory of the host is another one than that of the device.
    has_own_memory: bool,
    /// The executions and launches so far, while a profile is taken.
    timeline: Option<DeviceTimeline>,
    /// The options with which the device was opened.
    options: DeviceOptions,
    /// The programs that have begun, by the numbers of their modules.
    programs: FxHashMap<u64, BegunProgram>,
    /// Arrays whose addresses were asked for before jobs have made them.
    reserved: FxHashMap<DeviceArrayId, ResidentValue>,
}

/// A program that has begun. It ends when its module has no owner any more.
struct BegunProgram {
    module: Weak<CompiledModule>,
    suspended: SuspendedSession,
}

impl OffloadedArray {
    /// Moves an array from the device.
    fn take(heap: &mut DeviceHeap, value: ResidentValue) -> PluginResult<OffloadedArray> {
        let mut bytes = make_zeros(value.byte_count())?;
        heap.read_resident(&value, 0, &mut bytes)?;
        let (element, is_unsigned) = (value.element, value.unsigned);
        let sizes = value.shape.clone();
        heap.release_value(value);
        Ok(OffloadedArray {
            element,
            is_unsigned,
            sizes,
            bytes,
            visit: None,
        })
    }

    /// Its copy on the device.
    fn upload(&mut self, heap: &mut DeviceHeap) -> PluginResult<ResidentValue> {
        match self.visit.take() {
            Some(value) => Ok(value),
            None => {
                let sizes = self.sizes.clone();
                Ok(heap.upload_array(self.element, self.is_unsigned, sizes, &self.bytes)?)
            }
        }
    }
}

impl DeviceState {
    /// The state of a device that was opened with options, and exchanges elements through a pool.
    pub fn new(
        device: ComputeDevice,
        options: &DeviceOptions,
        pool: &Arc<HostPool>,
    ) -> DeviceState {
        DeviceState {
            has_own_memory: !is_processor(device.info()),
            options: options.clone(),
            heap: ProgramHeap::new(DeviceMachine::from_device(device)),
            exchanges: ExchangeMemory::new(pool.clone()),
            arrays: FxHashMap::default(),
            timeline: None,
            visiting: Vec::new(),
            programs: FxHashMap::default(),
            reserved: FxHashMap::default(),
        }
    }

    /// Begins a profile. Launches are measured from now on.
    pub fn begin_timeline(&mut self) -> PluginResult<()> {
        let device = self.heap.machine().device();
        device.measure_times(true)?;
        device.take_launches();
        self.timeline = Some(DeviceTimeline::default());
        Ok(())
    }

    /// Adds an execution of a program that began at a time and has ended, and the launches that have.
    pub fn note_execution(&mut self, program: &str, begin: Instant) {
        if let Some(timeline) = &mut self.timeline {
            timeline.add_execution(program, begin);
            timeline.add_launches(self.heap.machine().device().take_launches());
        }
    }

    /// Ends a profile, once all launches have ended.
    pub fn end_timeline(&mut self) -> PluginResult<DeviceTimeline> {
        let Some(mut timeline) = self.timeline.take() else {
            return Ok(DeviceTimeline::default());
        };
        let device = self.heap.machine().device();
        device.wait_idle()?;
        timeline.add_launches(device.take_launches());
        device.measure_times(false)?;
        Ok(timeline)
    }

    /// Opens the device again if it was lost. Arrays on it have the reason from then on; those of the host stay. A device that
    /// cannot be opened again refuses all further jobs.
    pub fn reopen_if_lost(&mut self, reason: &PluginError) {
        let lost = self.heap.machine().device();
        if !lost.is_lost() {
            return;
        }
        let Ok(device) = ComputeDevice::open(&lost.info().id, &self.options) else {
            return;
        };
        self.heap = ProgramHeap::new(DeviceMachine::from_device(device));
        self.exchanges.forget_device();
        self.programs.clear();
        self.reserved.clear();
        self.visiting.clear();
        for array in self.arrays.values_mut() {
            match array {
                Ok(StoredArray::Host(array)) => array.visit = None,
                Ok(StoredArray::Resident(value)) if value.scalar_bits().is_none() => {
                    *array = Err(reason.clone());
                }
                Ok(StoredArray::Resident(_)) | Err(_) => {}
            }
        }
    }

    /// An array that is on the device.
    pub fn find_resident(&self, id: DeviceArrayId) -> Option<&ResidentValue> {
        match self.arrays.get(&id)?.as_ref().ok()? {
            StoredArray::Resident(value) => Some(value),
            StoredArray::Host(array) => array.visit.as_ref(),
        }
    }

    /// The heap, and an array on it. One of the host is copied to the device until the job ends.
    pub fn split_array(
        &mut self,
        id: DeviceArrayId,
    ) -> PluginResult<(&mut DeviceHeap, &ResidentValue)> {
        let DeviceState {
            heap,
            arrays,
            visiting,
            ..
        } = self;
        match find_array(arrays, id)? {
            StoredArray::Resident(value) => Ok((heap, value)),
            StoredArray::Host(array) => {
                let value = array.upload(heap)?;
                visiting.push(id);
                Ok((heap, array.visit.insert(value)))
            }
        }
    }

    /// Ends the copies of arrays of the host.
    pub fn end_visits(&mut self) {
        for id in std::mem::take(&mut self.visiting) {
            if let Some(Ok(StoredArray::Host(array))) = self.arrays.get_mut(&id)
                && let Some(value) = array.visit.take()
            {
                self.heap.release_value(value);
            }
        }
    }

    /// Gives arrays that a job has not made the reason.
    pub fn fail_arrays(&mut self, ids: &[DeviceArrayId], reason: &PluginError) {
        for id in ids {
            let missing = || Err(reason.clone());
            self.arrays.entry(*id).or_insert_with(missing);
        }
    }

    /// Stores an array that was made, or the reason why it could not be.
    pub fn store_array(&mut self, id: DeviceArrayId, value: PluginResult<ResidentValue>) {
        let value = match (value, self.reserved.remove(&id)) {
            (Ok(value), Some(reserved)) => self.fill_reserved(value, reserved),
            (value, _) => value,
        };
        let stored = value.and_then(|value| self.place_value(id.memory, value));
        self.arrays.insert(id, stored);
    }

    /// A value in the memory that is to have it.
    fn place_value(
        &mut self,
        memory: MemoryKind,
        value: ResidentValue,
    ) -> PluginResult<StoredArray> {
        let is_away = memory != MemoryKind::Device && self.has_own_memory;
        if is_away && value.scalar_bits().is_none() {
            return Ok(StoredArray::Host(OffloadedArray::take(
                &mut self.heap,
                value,
            )?));
        }
        Ok(StoredArray::Resident(value))
    }

    /// Moves the elements of an array to the memory that was reserved for it.
    fn fill_reserved(
        &mut self,
        value: ResidentValue,
        reserved: ResidentValue,
    ) -> PluginResult<ResidentValue> {
        let mut bytes = make_zeros(value.byte_count())?;
        self.heap.read_resident(&value, 0, &mut bytes)?;
        self.heap.write_resident(&reserved, 0, &bytes)?;
        self.heap.release_value(value);
        Ok(reserved)
    }

    /// The array of a number. Memory is reserved for one that a job before will make.
    pub fn find_or_reserve(
        &mut self,
        id: DeviceArrayId,
        array: &ArrayType,
    ) -> PluginResult<(&mut DeviceHeap, &ResidentValue)> {
        if id.memory != MemoryKind::Device && self.has_own_memory {
            let message = "arrays in the memory of the host have no address on the device";
            return Err(PluginError::unimplemented(message));
        }
        if self.arrays.contains_key(&id) {
            return self.split_array(id);
        }
        let DeviceState { heap, reserved, .. } = self;
        let value = match reserved.entry(id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(free) => {
                let (scalar, is_unsigned) = (array.format.scalar, array.format.is_unsigned);
                free.insert(heap.create_array(scalar, is_unsigned, array.program_sizes())?)
            }
        };
        Ok((heap, value))
    }

    /// Takes an array whose owner has no use for it any more.
    pub fn take_array(&mut self, id: DeviceArrayId) -> PluginResult<ResidentValue> {
        let missing = || Err(PluginError::internal("an array was used after its end"));
        match self.arrays.remove(&id).unwrap_or_else(missing)? {
            StoredArray::Resident(value) => Ok(value),
            StoredArray::Host(mut array) => array.upload(&mut self.heap),
        }
    }

    /// Ends an array.
    pub fn release_array(&mut self, id: DeviceArrayId) {
        let made = match self.arrays.remove(&id) {
            Some(Ok(StoredArray::Resident(value))) => Some(value),
            Some(Ok(StoredArray::Host(array))) => array.visit,
            Some(Err(_)) | None => None,
        };
        for value in made.into_iter().chain(self.reserved.remove(&id)) {
            self.heap.release_value(value);
        }
    }

    /// Runs a function on the session of a program, which begins if it has not yet.
    pub fn with_session<R>(
        &mut self,
        module: &Arc<CompiledModule>,
        run: impl FnOnce(
            &mut ProgramSession<'_, DeviceMachine<'static>>,
            &mut ExchangeMemory,
        ) -> PluginResult<R>,
    ) -> PluginResult<R> {
        let begun = self.programs.remove(&module.number);
        if begun.is_none() {
            self.end_programs();
        }
        let heap = &mut self.heap;
        let mut session = match begun {
            Some(begun) => ProgramSession::resume(&module.program, heap, begun.suspended),
            None => ProgramSession::begin_on_heap(&module.program, heap)?,
        };
        let result = run(&mut session, &mut self.exchanges);
        let begun = BegunProgram {
            module: Arc::downgrade(module),
            suspended: session.suspend(),
        };
        self.programs.insert(module.number, begun);
        result
    }

    /// Ends the programs of modules without owners.
    fn end_programs(&mut self) {
        let ended = |_: &u64, begun: &mut BegunProgram| begun.module.strong_count() == 0;
        for (_, begun) in self.programs.extract_if(ended) {
            self.heap.release_program(begun.suspended);
        }
    }
}

/// The array of a number, or the reason why there is none.
fn find_array(
    arrays: &mut FxHashMap<DeviceArrayId, PluginResult<StoredArray>>,
    id: DeviceArrayId,
) -> PluginResult<&mut StoredArray> {
    match arrays.get_mut(&id) {
        Some(Ok(array)) => Ok(array),
        Some(Err(error)) => Err(error.clone()),
        None => Err(PluginError::internal(
            "an array was used after its end, or before the function of the host returned that a job before it calls",
        )),
    }
}
