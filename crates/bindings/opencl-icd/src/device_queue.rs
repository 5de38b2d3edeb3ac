//! Queues on devices: kernels name them to enqueue blocks. They order nothing, as launches that a kernel enqueues run after it.

use crate::context::ClContext;
use crate::device::ClDevice;
use crate::error::CallResult;
use crate::handle::{ObjectHandle, create_object, declare_object, retain_object};
use opencl_sys::{
    CL_QUEUE_ON_DEVICE_DEFAULT, cl_command_queue_properties, cl_queue_properties, cl_uint,
};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// A queue on a device.
pub struct ClDeviceQueue {
    pub(crate) handle: ObjectHandle<ClDeviceQueue>,
    /// Its context.
    pub context: Arc<ClContext>,
    /// Its device.
    pub device: Arc<ClDevice>,
    /// Its properties.
    pub properties: cl_command_queue_properties,
    /// The properties that it was created with, as words.
    pub property_words: Vec<cl_queue_properties>,
    /// Bytes, as the caller asked for them.
    pub size: cl_uint,
}

declare_object!(ClDeviceQueue, "device queue", CL_INVALID_COMMAND_QUEUE);

/// The default queues of the devices of a context.
#[derive(Default)]
pub struct DefaultQueues(Mutex<Vec<Weak<ClDeviceQueue>>>);

impl DefaultQueues {
    /// The default queue of a device.
    pub fn find(&self, device: &Arc<ClDevice>) -> Option<Arc<ClDeviceQueue>> {
        let queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut alive = queues.iter().filter_map(Weak::upgrade);
        alive.find(|queue| Arc::ptr_eq(&queue.device, device))
    }

    /// Makes a queue the default of its device.
    pub fn set(&self, queue: &Arc<ClDeviceQueue>) {
        let mut queues = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let of_other = |known: Arc<ClDeviceQueue>| !Arc::ptr_eq(&known.device, &queue.device);
        queues.retain(|known| known.upgrade().is_some_and(of_other));
        queues.push(Arc::downgrade(queue));
    }
}

impl ClDeviceQueue {
    /// Creates a queue. The default queue of a device is created once, and has one more reference then.
    ///
    /// # Errors
    /// When the default queue is gone at this moment.
    pub fn create(
        context: &Arc<ClContext>,
        device: &Arc<ClDevice>,
        properties: cl_command_queue_properties,
        property_words: Vec<cl_queue_properties>,
        size: cl_uint,
    ) -> CallResult<Arc<ClDeviceQueue>> {
        let is_default = properties & CL_QUEUE_ON_DEVICE_DEFAULT != 0;
        let known = context.default_queues.find(device);
        if let Some(known) = known.filter(|_| is_default) {
            retain_object::<ClDeviceQueue>(known.handle.as_raw())?;
            return Ok(known);
        }
        let queue = create_object(|handle| ClDeviceQueue {
            handle,
            context: context.clone(),
            device: device.clone(),
            properties,
            property_words,
            size,
        });
        if is_default {
            context.default_queues.set(&queue);
        }
        Ok(queue)
    }
}
