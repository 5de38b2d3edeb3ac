//! Open devices: a heap for each, which one thread uses at a time.
//!
//! No thread waits for Python while it uses a device. So a thread that Python runs may wait for a device.

use crate::failure::PythonFailure;
use spirula_program::{
    CompiledProgram, ProgramHeap, ProgramSession, ResidentValue, SuspendedSession,
};
use spirula_runtime::{ComputeDevice, DeviceInfo, DeviceMachine, DeviceOptions, KernelHandle};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The heap of a device.
pub type OpenDeviceHeap = ProgramHeap<DeviceMachine<'static>>;

/// An object of a device without an owner.
pub enum ReleasedObject {
    Value(ResidentValue),
    Program(u64),
    Kernel(KernelHandle),
}

/// A device that was opened.
pub struct OpenDevice {
    /// Facts of the device.
    pub info: DeviceInfo,
    /// Whether arrays are in the memory of this process.
    pub is_visible: bool,
    state: Mutex<OpenDeviceState>,
    /// Objects to be released by the next user of the device.
    released: Mutex<Vec<ReleasedObject>>,
}

/// The memory of a device, and its programs.
pub struct OpenDeviceState {
    pub heap: OpenDeviceHeap,
    /// The programs that have begun, by their numbers.
    programs: HashMap<u64, SuspendedSession>,
}

impl OpenDevice {
    /// The device of a name. A device is opened once, and stays open.
    ///
    /// # Errors
    /// When there is no such device, or it cannot be opened.
    pub fn find_or_open(id: &str) -> Result<Arc<OpenDevice>, PythonFailure> {
        static OPENED: Mutex<Vec<Arc<OpenDevice>>> = Mutex::new(Vec::new());
        let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = opened.iter().find(|device| device.info.id == id) {
            return Ok(found.clone());
        }
        let device = ComputeDevice::open(id, &DeviceOptions::default())?;
        let device = Arc::new(OpenDevice {
            info: device.info().clone(),
            is_visible: id == "cpu" || id.starts_with("cpu+"),
            state: Mutex::new(OpenDeviceState {
                heap: ProgramHeap::new(DeviceMachine::from_device(device)),
                programs: HashMap::new(),
            }),
            released: Mutex::default(),
        });
        opened.push(device.clone());
        Ok(device)
    }

    /// Waits until no other thread uses the device.
    pub fn lock(&self) -> MutexGuard<'_, OpenDeviceState> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let released = self.released.lock();
        let released = std::mem::take(&mut *released.unwrap_or_else(PoisonError::into_inner));
        state.release_all(released);
        state
    }

    /// Releases an object: now where no thread uses the device, and otherwise before its next use.
    pub fn release(&self, object: ReleasedObject) {
        match self.state.try_lock() {
            Ok(mut state) => state.release_all(vec![object]),
            Err(_) => {
                let released = self.released.lock();
                let mut released = released.unwrap_or_else(PoisonError::into_inner);
                released.push(object);
            }
        }
    }
}

impl OpenDeviceState {
    fn release_all(&mut self, released: Vec<ReleasedObject>) {
        for object in released {
            match object {
                ReleasedObject::Value(value) => self.heap.release_value(value),
                ReleasedObject::Program(number) => {
                    if let Some(suspended) = self.programs.remove(&number) {
                        self.heap.release_program(suspended);
                    }
                }
                ReleasedObject::Kernel(kernel) => {
                    // It was created by this device, and has one owner.
                    let _ = self.heap.machine().device().destroy_kernel(kernel);
                }
            }
        }
    }

    /// Runs a function on the session of a program, which begins if it has not yet.
    pub fn with_session<R>(
        &mut self,
        loaded: &LoadedProgram,
        run: impl FnOnce(&mut ProgramSession<'_, DeviceMachine<'static>>) -> Result<R, PythonFailure>,
    ) -> Result<R, PythonFailure> {
        let heap = &mut self.heap;
        let mut session = match self.programs.remove(&loaded.number) {
            Some(begun) => ProgramSession::resume(&loaded.program, heap, begun),
            None => ProgramSession::begin_on_heap(&loaded.program, heap)?,
        };
        let result = run(&mut session);
        self.programs.insert(loaded.number, session.suspend());
        result
    }
}

/// A program that was compiled for a device.
pub struct LoadedProgram {
    /// A number that no other program of this process has.
    number: u64,
    pub program: CompiledProgram,
    pub device: Arc<OpenDevice>,
}

impl LoadedProgram {
    /// A program on a device.
    pub fn new(program: CompiledProgram, device: Arc<OpenDevice>) -> LoadedProgram {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        LoadedProgram {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            program,
            device,
        }
    }
}

impl Drop for LoadedProgram {
    fn drop(&mut self) {
        self.device.release(ReleasedObject::Program(self.number));
    }
}
