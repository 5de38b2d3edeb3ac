//! Transfers: buffers whose elements arrive in parts.

use crate::boundary::{PluginCall, read_struct};
use crate::buffer::{DeviceBuffer, apply_layout, upload_value};
use crate::device::{Device, find_place};
use crate::element::{ArrayType, ElementFormat};
use crate::error::{PluginError, PluginResult};
use crate::event::{EventHandle, WorkEvent};
use crate::generated::*;
use crate::handle::{
    ApiObject, allocate, as_pointer, free, get_ref, get_sizes, get_slice, get_text,
};
use crate::host_array::make_zeros;
use crate::queue::{JobPromise, JobWeight};
use smallvec::smallvec;
use std::ffi::c_int;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers whose elements arrive in parts.
pub struct HostTransfer {
    device: Arc<Device>,
    parts: Mutex<Vec<ArrivingArray>>,
}

/// An array whose elements arrive.
struct ArrivingArray {
    array: ArrayType,
    /// The elements so far. They are taken when the last part has arrived.
    bytes: Vec<u8>,
    /// The event of the buffer.
    event: Arc<WorkEvent>,
    /// The buffer, until the caller retrieves it.
    buffer: Option<DeviceBuffer>,
    id: crate::device_state::DeviceArrayId,
    is_complete: bool,
}

impl ApiObject for HostTransfer {
    type Opaque = PjrtAsyncHostToDeviceTransferManager;
    const NAME: &'static str = "transfer";
}

impl HostTransfer {
    /// Runs a function on the array of an index.
    fn with_array<R>(
        &self,
        index: c_int,
        run: impl FnOnce(&mut ArrivingArray) -> PluginResult<R>,
    ) -> PluginResult<R> {
        let mut parts = self.parts.lock().unwrap_or_else(PoisonError::into_inner);
        let index = usize::try_from(index).ok();
        let found = index.and_then(|index| parts.get_mut(index));
        run(found.ok_or_else(|| PluginError::invalid("the transfer has no such buffer"))?)
    }

    /// Ends an array: with its elements, or with an error.
    fn finish_array(&self, arriving: &mut ArrivingArray, failure: Option<PluginError>) {
        arriving.is_complete = true;
        let (array, id) = (arriving.array.clone(), arriving.id);
        let bytes = std::mem::take(&mut arriving.bytes);
        let promise = JobPromise {
            event: Some(arriving.event.clone()),
            arrays: smallvec![id],
        };
        self.device
            .queue
            .submit(JobWeight::Heavy, promise, move |state| {
                if let Some(failure) = failure {
                    return Err(failure);
                }
                let value = upload_value(state, &array, &bytes)?;
                state.store_array(id, Ok(value));
                Ok(())
            });
    }
}

impl PluginCall for PjrtClientCreateBuffersForAsyncHostToDeviceArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let (device, memory) = find_place(null_mut(), self.memory)?;
        let layouts = get_slice(self.device_layouts, self.num_device_layouts)?;
        let mut parts = Vec::new();
        for at in 0..self.num_shape_specs {
            let spec = read_struct(self.shape_specs.wrapping_add(at))?;
            let format = ElementFormat::from_code(spec.element_type)?;
            let array = ArrayType::new(format, get_sizes(spec.dims, spec.num_dims)?)?;
            let array = match layouts.get(at) {
                Some(layout) => apply_layout(array, *layout)?,
                None => array,
            };
            let event = WorkEvent::new();
            let buffer = DeviceBuffer::new(Arc::new(array.clone()), &device, memory, &event);
            parts.push(ArrivingArray {
                bytes: make_zeros(array.byte_count())?,
                array,
                event,
                id: buffer.id,
                buffer: Some(buffer),
                is_complete: false,
            });
        }
        self.transfer_manager = allocate(HostTransfer {
            device,
            parts: Mutex::new(parts),
        });
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<HostTransfer>(self.transfer_manager);
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerTransferDataArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let transfer = get_ref::<HostTransfer>(self.transfer_manager)?;
        let (Ok(at), Ok(length)) = (
            usize::try_from(self.offset),
            usize::try_from(self.transfer_size),
        ) else {
            return Err(PluginError::invalid("a range has a negative number"));
        };
        let data = get_slice(self.data.cast::<u8>(), length)?;
        let is_last = self.is_last_transfer != 0;
        transfer.with_array(self.buffer_index, |arriving| {
            let end = at
                .checked_add(length)
                .filter(|end| *end <= arriving.bytes.len());
            let end = end.filter(|_| !arriving.is_complete);
            let end = end.ok_or_else(|| {
                PluginError::invalid("a part is not within a buffer that waits for it")
            })?;
            arriving.bytes[at..end].copy_from_slice(data);
            if is_last {
                transfer.finish_array(arriving, None);
            }
            Ok(())
        })?;
        self.done_with_h2d_transfer = EventHandle::allocate(&WorkEvent::with_result(Ok(())));
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerRetrieveBufferArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let transfer = get_ref::<HostTransfer>(self.transfer_manager)?;
        let buffer = transfer.with_array(self.buffer_index, |arriving| {
            let taken = arriving.buffer.take();
            taken.ok_or_else(|| PluginError::invalid("the buffer was retrieved before"))
        })?;
        self.buffer_out = allocate(buffer);
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerDeviceArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let transfer = get_ref::<HostTransfer>(self.transfer_manager)?;
        self.device_out = as_pointer(&*transfer.device);
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerBufferCountArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let transfer = get_ref::<HostTransfer>(self.transfer_manager)?;
        let parts = transfer
            .parts
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        self.buffer_count = parts.len();
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerBufferSizeArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let transfer = get_ref::<HostTransfer>(self.transfer_manager)?;
        let size = |arriving: &mut ArrivingArray| Ok(arriving.array.byte_count() as usize);
        self.buffer_size = transfer.with_array(self.buffer_index, size)?;
        Ok(())
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerSetBufferErrorArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let transfer = get_ref::<HostTransfer>(self.transfer_manager)?;
        let message = get_text(self.error_message, self.error_message_size)?;
        let failure = PluginError::new(self.error_code, message);
        transfer.with_array(self.buffer_index, |arriving| {
            if arriving.is_complete {
                return Err(PluginError::invalid("the buffer is complete"));
            }
            transfer.finish_array(arriving, Some(failure));
            Ok(())
        })
    }
}

impl PluginCall for PjrtAsyncHostToDeviceTransferManagerAddMetadataArgs {
    /// Metadata describe transfers for profilers.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<HostTransfer>(self.transfer_manager)?;
        Ok(())
    }
}
