//! Buffers: arrays that stay on a device.
//!
//! A buffer refers to an array of its device by a number. The array may be made by a job that has not run yet; jobs run in
//! their order, so that it is there when a later job uses it. A failed job leaves its error in the place of the array.

use crate::boundary::PluginCall;
use crate::device::{Device, find_place};
use crate::device_state::{DeviceArrayId, DeviceState};
use crate::element::{ArrayType, ElementFormat};
use crate::error::{PluginError, PluginResult};
use crate::event::{EventHandle, WorkEvent};
use crate::generated::*;
use crate::handle::{ApiObject, allocate, free, get_ref, get_sizes, get_slice};
use crate::host_array::{gather_dense, is_dense, is_within, make_zeros, scatter_dense};
use crate::memory::MemoryKind;
use crate::plugin::is_processor;
use crate::queue::{JobPromise, JobWeight};
use smallvec::smallvec;
use spirula_program::ResidentValue;
use spirula_stablehlo::memory_layout::DimensionOrder;
use std::cmp::Reverse;
use std::ptr::null_mut;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Bytes that are copied in less time than a thread takes to wake up.
const LIGHT_COPY: u64 = 64 << 10;

/// An array on a device.
pub struct DeviceBuffer {
    /// Its type and sizes.
    pub array: Arc<ArrayType>,
    /// The device that has it.
    pub device: Arc<Device>,
    /// The number of the array.
    pub id: DeviceArrayId,
    /// Its completion.
    pub ready: Arc<WorkEvent>,
    /// The dimensions, from the one whose elements follow each other.
    minor_to_major: OnceLock<Vec<i64>>,
    life: Mutex<BufferLife>,
}

/// The uses of a buffer that decide when its memory is released.
#[derive(Default)]
struct BufferLife {
    /// Whether the caller has no use for it any more.
    is_deleted: bool,
    /// Whether the memory belongs to somebody else, or was released.
    is_released: bool,
    /// Number of uses of its memory outside the plugin.
    external: usize,
}

impl ApiObject for DeviceBuffer {
    type Opaque = PjrtBuffer;
    const NAME: &'static str = "buffer";
}

impl DeviceBuffer {
    /// The buffer of an array that a job with this event makes in a memory of the device.
    pub fn new(
        array: Arc<ArrayType>,
        device: &Arc<Device>,
        memory: MemoryKind,
        ready: &Arc<WorkEvent>,
    ) -> DeviceBuffer {
        DeviceBuffer {
            minor_to_major: OnceLock::new(),
            array,
            device: device.clone(),
            id: DeviceArrayId::new(memory),
            ready: ready.clone(),
            life: Mutex::default(),
        }
    }

    /// The dimensions, from the one whose elements follow each other. They stay as long as the buffer.
    pub fn minor_to_major(&self) -> &[i64] {
        self.minor_to_major
            .get_or_init(|| self.array.minor_to_major())
    }

    fn lock_life(&self) -> MutexGuard<'_, BufferLife> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Refuses a buffer that was deleted.
    ///
    /// # Errors
    /// When it was.
    pub fn check_alive(&self) -> PluginResult<()> {
        if self.lock_life().is_deleted {
            return Err(PluginError::invalid("the buffer was deleted or donated"));
        }
        Ok(())
    }

    /// Deletes the buffer, and hands its array to the caller. A buffer whose memory is used outside the plugin stays as it is;
    /// the result says which.
    ///
    /// # Errors
    /// When it was deleted.
    pub fn donate(&self) -> PluginResult<bool> {
        let mut life = self.lock_life();
        if life.is_deleted {
            return Err(PluginError::invalid("the buffer was deleted or donated"));
        }
        let is_donated = life.external == 0;
        life.is_deleted = is_donated;
        life.is_released = is_donated;
        Ok(is_donated)
    }

    /// Releases the array after all jobs so far, unless it is used elsewhere.
    fn release_if_unused(&self, life: &mut BufferLife) {
        if !life.is_released && life.is_deleted && life.external == 0 {
            life.is_released = true;
            let id = self.id;
            self.device
                .queue
                .submit(JobWeight::Light, JobPromise::default(), move |state| {
                    state.release_array(id);
                    Ok(())
                });
        }
    }

    fn delete(&self) {
        let mut life = self.lock_life();
        life.is_deleted = true;
        self.release_if_unused(&mut life);
    }

    /// The weight of a copy of the whole array.
    fn copy_weight(&self) -> JobWeight {
        if self.array.byte_count() <= LIGHT_COPY {
            JobWeight::Light
        } else {
            JobWeight::Heavy
        }
    }

    /// The address of the elements for the host, or for the device. The array may be made later, so that no caller waits
    /// with a lock that a function of the host needs.
    fn find_address(&self) -> PluginResult<u64> {
        self.check_alive()?;
        let (id, array) = (self.id, self.array.clone());
        self.device.queue.run(move |state| {
            let block = resident_block(state, id, &array)?;
            Ok(state.heap.machine().device().buffer_address(block)?)
        })
    }
}

impl Drop for DeviceBuffer {
    fn drop(&mut self) {
        self.delete();
    }
}

/// The block of an array. A scalar that has none gets one.
fn resident_block(
    state: &mut DeviceState,
    id: DeviceArrayId,
    array: &ArrayType,
) -> PluginResult<spirula_runtime::BufferHandle> {
    let (heap, value) = state.find_or_reserve(id, array)?;
    if let Some(block) = heap.resident_block(value) {
        return Ok(block);
    }
    let mut bytes = make_zeros(array.byte_count())?;
    heap.read_resident(value, 0, &mut bytes)?;
    let uploaded = heap.upload_array(
        array.format.scalar,
        array.format.is_unsigned,
        Vec::new(),
        &bytes,
    )?;
    let block = heap.resident_block(&uploaded);
    state.store_array(id, Ok(uploaded));
    block.ok_or_else(|| PluginError::internal("an array has no memory"))
}

/// The value of an array with these bytes.
pub fn upload_value(
    state: &mut DeviceState,
    array: &ArrayType,
    bytes: &[u8],
) -> PluginResult<ResidentValue> {
    let (scalar, is_unsigned) = (array.format.scalar, array.format.is_unsigned);
    let extended = array.format.extend_narrow(bytes);
    let bytes = extended.as_deref().unwrap_or(bytes);
    if array.is_scalar() {
        let mut word = [0; 8];
        word[..bytes.len()].copy_from_slice(bytes);
        let bits = u64::from_le_bytes(word);
        return Ok(ResidentValue::from_scalar(scalar, is_unsigned, bits));
    }
    Ok(state
        .heap
        .upload_array(scalar, is_unsigned, array.program_sizes(), bytes)?)
}

/// Bytes of the caller that stay where they are until a job has read them.
struct LentBytes(*const u8, usize);

// SAFETY: the caller has promised not to change them before the event of the job.
unsafe impl Send for LentBytes {}

impl LentBytes {
    fn as_slice(&self) -> &[u8] {
        if self.1 == 0 {
            return &[];
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(self.0, self.1) }
    }
}

/// Memory of the caller that a job writes.
struct LentMemory(*mut u8);

// SAFETY: the caller has promised not to use it before the event of the job.
unsafe impl Send for LentMemory {}

/// The type of an array that has a layout on the device: an order of its dimensions.
///
/// # Errors
/// When the layout has tiles, or strides with gaps.
///
/// # Safety
/// The layout is null, or points to one whose lists are readable.
pub unsafe fn apply_layout(
    array: ArrayType,
    layout: *const PjrtBufferMemoryLayout,
) -> PluginResult<ArrayType> {
    if layout.is_null() {
        return Ok(array);
    }
    let strides = read_layout(layout, &array)?;
    let mut dimensions: Vec<usize> = (0..strides.len()).collect();
    // Of dimensions with the same stride, all but one have at most one element.
    dimensions.sort_by_key(|at| (Reverse(strides[*at]), *at));
    let order = DimensionOrder::from_major_to_minor(dimensions);
    let order = order.ok_or_else(|| PluginError::internal("a layout repeats a dimension"))?;
    let array = array.with_order(order)?;
    if !is_dense(&array, &strides) {
        let message = "elements of arrays on the device follow each other without gaps";
        return Err(PluginError::unimplemented(message));
    }
    Ok(array)
}

/// The strides in bytes of a layout.
unsafe fn read_layout(
    layout: *const PjrtBufferMemoryLayout,
    array: &ArrayType,
) -> PluginResult<Vec<i64>> {
    // Callers leave the size of this struct unset; every version of the interface has all of its fields.
    let layout = layout.read_unaligned();
    let rank = array.sizes.len();
    if layout.ty == PjrtBufferMemoryLayoutType::STRIDES {
        let strides = layout.variant.strides;
        let strides = get_slice(strides.byte_strides, strides.num_byte_strides)?;
        if strides.len() != rank {
            return Err(PluginError::invalid(
                "a layout has too few or too many strides",
            ));
        }
        return Ok(strides.to_vec());
    }
    let tiled = layout.variant.tiled;
    if tiled.num_tiles > 0 {
        return Err(PluginError::unimplemented(
            "layouts with tiles are not supported",
        ));
    }
    let order = get_slice(tiled.minor_to_major, tiled.minor_to_major_size)?;
    let mut sorted = order.to_vec();
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..rank as i64) {
        return Err(PluginError::invalid(
            "a layout is no order of the dimensions",
        ));
    }
    Ok(array.byte_strides(order))
}

impl PluginCall for PjrtClientBufferFromHostBufferArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let format = ElementFormat::from_code(self.ty)?;
        let array = ArrayType::new(format, get_sizes(self.dims, self.num_dims)?)?;
        let array = apply_layout(array, self.device_layout)?;
        let (device, memory) = find_place(self.device, self.memory)?;
        let strides = match self.num_byte_strides {
            0 => array.row_strides(),
            count => get_slice(self.byte_strides, count)?.to_vec(),
        };
        if strides.len() != array.sizes.len() {
            return Err(PluginError::invalid(
                "an array has too few or too many strides",
            ));
        }
        let bytes = array.byte_count();
        if self.data.is_null() && bytes > 0 {
            return Err(PluginError::invalid("the elements are missing"));
        }
        let event = WorkEvent::new();
        let buffer = DeviceBuffer::new(Arc::new(array.clone()), &device, memory, &event);
        let (id, weight) = (buffer.id, buffer.copy_weight());
        let promise = JobPromise {
            event: Some(event.clone()),
            arrays: smallvec![id],
        };
        let data = self.data.cast::<u8>();
        let is_during_call =
            self.host_buffer_semantics == PjrtHostBufferSemantics::IMMUTABLE_ONLY_DURING_CALL;
        if is_dense(&array, &strides) && (!is_during_call || weight == JobWeight::Light) {
            let lent = LentBytes(data, bytes as usize);
            device.queue.submit(weight, promise, move |state| {
                let value = upload_value(state, &array, lent.as_slice())?;
                state.store_array(id, Ok(value));
                Ok(())
            });
            if is_during_call {
                event.wait()?;
            }
            self.done_with_host_buffer = EventHandle::allocate(&event);
        } else {
            let rows = gather_dense(data, &array, &strides)?;
            device.queue.submit(weight, promise, move |state| {
                let value = upload_value(state, &array, &rows)?;
                state.store_array(id, Ok(value));
                Ok(())
            });
            self.done_with_host_buffer = EventHandle::allocate(&WorkEvent::with_result(Ok(())));
        }
        self.buffer = allocate(buffer);
        Ok(())
    }
}

impl PluginCall for PjrtClientCreateUninitializedBufferArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let format = ElementFormat::from_code(self.shape_element_type)?;
        let array = ArrayType::new(format, get_sizes(self.shape_dims, self.shape_num_dims)?)?;
        let array = apply_layout(array, self.shape_layout)?;
        let (device, memory) = find_place(self.device, self.memory)?;
        let event = WorkEvent::new();
        let buffer = DeviceBuffer::new(Arc::new(array.clone()), &device, memory, &event);
        let (id, weight) = (buffer.id, buffer.copy_weight());
        let promise = JobPromise {
            event: Some(event),
            arrays: smallvec![id],
        };
        device.queue.submit(weight, promise, move |state| {
            let value = if array.is_scalar() {
                upload_value(state, &array, &[0])?
            } else {
                let (scalar, is_unsigned) = (array.format.scalar, array.format.is_unsigned);
                let sizes = array.program_sizes();
                state.heap.create_array(scalar, is_unsigned, sizes)?
            };
            state.store_array(id, Ok(value));
            Ok(())
        });
        self.buffer = allocate(buffer);
        Ok(())
    }
}

impl PluginCall for PjrtBufferToHostBufferArgs {
    /// Without a destination the size of one is returned.
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.src)?;
        let bytes = buffer.array.byte_count() as usize;
        if self.dst.is_null() {
            self.dst_size = bytes;
            return Ok(());
        }
        buffer.check_alive()?;
        if self.dst_size < bytes {
            let message = format!("{bytes} bytes do not fit into {}", self.dst_size);
            return Err(PluginError::invalid(message));
        }
        let array = buffer.array.clone();
        let strides = if self.host_layout.is_null() {
            array.row_strides()
        } else {
            read_layout(self.host_layout, &array)?
        };
        if !is_within(&array, &strides, self.dst_size) {
            return Err(PluginError::invalid(
                "the layout reaches beyond the destination",
            ));
        }
        let event = WorkEvent::new();
        let (id, memory) = (buffer.id, LentMemory(self.dst.cast()));
        let promise = JobPromise::from_event(&event);
        buffer
            .device
            .queue
            .submit(buffer.copy_weight(), promise, move |state| {
                let memory = memory;
                let (heap, value) = state.split_array(id)?;
                if is_dense(&array, &strides) {
                    // SAFETY: the caller has given as many bytes.
                    let out = unsafe { std::slice::from_raw_parts_mut(memory.0, bytes) };
                    return Ok(heap.read_resident(value, 0, out)?);
                }
                let mut rows = make_zeros(bytes as u64)?;
                heap.read_resident(value, 0, &mut rows)?;
                // SAFETY: the strides are of a layout within these bytes.
                unsafe { scatter_dense(&rows, &array, &strides, memory.0) };
                Ok(())
            });
        self.event = EventHandle::allocate(&event);
        Ok(())
    }
}

impl PluginCall for PjrtBufferCopyRawToHostArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        buffer.check_alive()?;
        let (Ok(at), Ok(length)) = (
            u64::try_from(self.offset),
            usize::try_from(self.transfer_size),
        ) else {
            return Err(PluginError::invalid("a range has a negative number"));
        };
        if self.dst.is_null() && length > 0 {
            return Err(PluginError::invalid("the destination is missing"));
        }
        let event = WorkEvent::new();
        let (id, memory) = (buffer.id, LentMemory(self.dst.cast()));
        let promise = JobPromise::from_event(&event);
        buffer
            .device
            .queue
            .submit(buffer.copy_weight(), promise, move |state| {
                let memory = memory;
                let (heap, value) = state.split_array(id)?;
                if length == 0 {
                    return Ok(());
                }
                // SAFETY: the caller has given as many bytes.
                let out = unsafe { std::slice::from_raw_parts_mut(memory.0, length) };
                Ok(heap.read_resident(value, at, out)?)
            });
        self.event = EventHandle::allocate(&event);
        Ok(())
    }
}

/// Copies a buffer to a memory of a device.
fn copy_buffer(
    buffer: &DeviceBuffer,
    target: &Arc<Device>,
    memory: MemoryKind,
) -> PluginResult<*mut PjrtBuffer> {
    buffer.check_alive()?;
    let event = WorkEvent::new();
    let copy = DeviceBuffer::new(buffer.array.clone(), target, memory, &event);
    let (source, id, array) = (buffer.id, copy.id, buffer.array.clone());
    let promise = JobPromise {
        event: Some(event),
        arrays: smallvec![id],
    };
    if Arc::ptr_eq(&buffer.device.queue, &target.queue) {
        target
            .queue
            .submit(buffer.copy_weight(), promise, move |state| {
                let mut bytes = make_zeros(array.byte_count())?;
                let (heap, value) = state.split_array(source)?;
                heap.read_resident(value, 0, &mut bytes)?;
                let value = upload_value(state, &array, &bytes)?;
                state.store_array(id, Ok(value));
                Ok(())
            });
        return Ok(allocate(copy));
    }
    let bytes = buffer.device.queue.run({
        let array = array.clone();
        move |state| {
            let mut bytes = make_zeros(array.byte_count())?;
            let (heap, value) = state.split_array(source)?;
            heap.read_resident(value, 0, &mut bytes)?;
            Ok(bytes)
        }
    })?;
    target
        .queue
        .submit(buffer.copy_weight(), promise, move |state| {
            let value = upload_value(state, &array, &bytes)?;
            state.store_array(id, Ok(value));
            Ok(())
        });
    Ok(allocate(copy))
}

impl PluginCall for PjrtBufferCopyToDeviceArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let device = crate::handle::get_shared::<Device>(self.dst_device)?;
        device.check_local()?;
        self.dst_buffer = copy_buffer(get_ref(self.buffer)?, &device, MemoryKind::Device)?;
        Ok(())
    }
}

impl PluginCall for PjrtBufferCopyToMemoryArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let (device, memory) = find_place(null_mut(), self.dst_memory)?;
        self.dst_buffer = copy_buffer(get_ref(self.buffer)?, &device, memory)?;
        Ok(())
    }
}

impl PluginCall for PjrtBufferDestroyArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        free::<DeviceBuffer>(self.buffer);
        Ok(())
    }
}

impl PluginCall for PjrtBufferDeleteArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        get_ref::<DeviceBuffer>(self.buffer)?.delete();
        Ok(())
    }
}

impl PluginCall for PjrtBufferIsDeletedArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.is_deleted = buffer.lock_life().is_deleted.into();
        Ok(())
    }
}

impl PluginCall for PjrtBufferIsOnCpuArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        self.is_on_cpu = is_processor(&buffer.device.info).into();
        Ok(())
    }
}

impl PluginCall for PjrtBufferReadyEventArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        buffer.check_alive()?;
        self.event = EventHandle::allocate(&buffer.ready);
        Ok(())
    }
}

impl PluginCall for PjrtBufferUnsafePointerArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        self.buffer_pointer = get_ref::<DeviceBuffer>(self.buffer)?.find_address()? as usize;
        Ok(())
    }
}

impl PluginCall for PjrtBufferOpaqueDeviceMemoryDataPointerArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let address = get_ref::<DeviceBuffer>(self.buffer)?.find_address()?;
        self.device_memory_ptr = std::ptr::with_exposed_provenance_mut(address as usize);
        Ok(())
    }
}

impl PluginCall for PjrtBufferIncreaseExternalReferenceCountArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        buffer.check_alive()?;
        buffer.lock_life().external += 1;
        Ok(())
    }
}

impl PluginCall for PjrtBufferDecreaseExternalReferenceCountArgs {
    unsafe fn answer(&mut self) -> PluginResult<()> {
        let buffer = get_ref::<DeviceBuffer>(self.buffer)?;
        let mut life = buffer.lock_life();
        if life.external == 0 {
            return Err(PluginError::invalid(
                "the buffer has no external references",
            ));
        }
        life.external -= 1;
        buffer.release_if_unused(&mut life);
        Ok(())
    }
}
