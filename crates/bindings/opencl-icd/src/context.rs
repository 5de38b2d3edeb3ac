//! Contexts: the devices that share objects.

use crate::boundary::log_message;
use crate::callback::UserCallback;
use crate::destructors::DestructorList;
use crate::device::ClDevice;
use crate::device_queue::DefaultQueues;
use crate::error::{CallError, CallResult, require};
use crate::handle::{ObjectHandle, declare_object};
use crate::scheduler::DeviceScheduler;
use crate::svm::SvmTable;
use opencl_sys::{CL_INVALID_DEVICE, cl_context_properties, cl_int};
use std::ffi::{CString, c_char, c_void};
use std::sync::Arc;

/// A function of the caller that is called with errors.
pub type NotifyFunction = unsafe extern "C" fn(*const c_char, *const c_void, usize, *mut c_void);

/// A context.
pub struct ClContext {
    pub(crate) handle: ObjectHandle<ClContext>,
    /// Its devices, at least one.
    pub devices: Vec<Arc<ClDevice>>,
    /// The properties that it was created with, as words.
    pub properties: Vec<cl_context_properties>,
    /// Allocations of shared virtual memory.
    pub svm: SvmTable,
    schedulers: Vec<Arc<DeviceScheduler>>,
    notify: Option<UserCallback<NotifyFunction>>,
    /// Functions that are called when it ends.
    pub destructors: DestructorList,
    /// The default queues of its devices.
    pub default_queues: DefaultQueues,
}

declare_object!(ClContext, "context", CL_INVALID_CONTEXT);

impl ClContext {
    /// A context of devices that are open.
    pub fn new(
        handle: ObjectHandle<ClContext>,
        devices: Vec<Arc<ClDevice>>,
        schedulers: Vec<Arc<DeviceScheduler>>,
        properties: Vec<cl_context_properties>,
        notify: Option<UserCallback<NotifyFunction>>,
    ) -> ClContext {
        ClContext {
            handle,
            devices,
            properties,
            svm: SvmTable::new(&schedulers),
            schedulers,
            notify,
            destructors: DestructorList::default(),
            default_queues: DefaultQueues::default(),
        }
    }

    /// The scheduler of a device of the context.
    ///
    /// # Errors
    /// When the device is of another context.
    pub fn find_scheduler(&self, device: &ClDevice) -> CallResult<&Arc<DeviceScheduler>> {
        let mut devices = self.devices.iter();
        let position = devices.position(|own| std::ptr::eq(&raw const **own, device));
        let found = position.and_then(|at| self.schedulers.get(at));
        found.ok_or_else(|| {
            CallError::new(CL_INVALID_DEVICE, "the device is not one of the context")
        })
    }

    /// The schedulers of its devices.
    pub fn schedulers(&self) -> &[Arc<DeviceScheduler>] {
        &self.schedulers
    }

    /// The scheduler of its device, if it has one device only.
    pub fn only_scheduler(&self) -> Option<&Arc<DeviceScheduler>> {
        match self.schedulers.as_slice() {
            [only] => Some(only),
            _ => None,
        }
    }

    /// Whether all devices use the memory of the host.
    pub fn is_host(&self) -> bool {
        self.devices.iter().all(|device| device.is_processor())
    }

    /// Most bytes of a buffer on any of its devices.
    pub fn max_buffer_size(&self) -> u64 {
        let sizes = self.devices.iter().map(|device| device.max_buffer_size());
        sizes.max().unwrap_or(0)
    }

    /// Tells the caller's function of an error that no call returns.
    pub fn report_error(&self, error: &CallError) {
        log_message(|| error.to_string());
        let Some(notify) = self.notify else { return };
        let message = CString::new(error.to_string()).unwrap_or_default();
        // SAFETY: the caller of `clCreateContext` gave the function for such calls.
        unsafe { (notify.function)(message.as_ptr(), std::ptr::null(), 0, notify.data) };
    }

    /// Refuses an object of another context.
    ///
    /// # Errors
    /// The given code.
    pub fn require_same(&self, other: &ClContext, code: cl_int) -> CallResult<()> {
        let is_same = std::ptr::eq(self, other);
        require(is_same, code, "the objects are of different contexts")
    }
}

impl Drop for ClContext {
    fn drop(&mut self) {
        let handle = self.handle.as_raw();
        self.destructors.call_all(handle);
    }
}
