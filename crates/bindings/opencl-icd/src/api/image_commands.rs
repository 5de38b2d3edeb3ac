//! Commands that read, write, copy and fill images.

use crate::api::buffer_commands::{find_buffer, read_call, read_region, read_triple};
use crate::api::region_work::{RegionSide, copy_region, fill_region, transfer_region};
use crate::api::user_address::{TransferDirection, UserAddress};
use crate::boundary::answer_code;
use crate::error::{CallError, CallResult, require};
use crate::handle::find_object;
use crate::memory::{ClMemory, ImageFacts};
use crate::queue::ClQueue;
use crate::region::{BoxSize, ByteBox, boxes_overlap};
use crate::scheduler::ScheduledWork;
use opencl_sys::*;
use std::ffi::c_void;
use std::sync::Arc;

/// An image of a queue's context.
///
/// # Errors
/// When it is none, or of another context.
pub fn find_image(queue: &ClQueue, image: cl_mem) -> CallResult<(Arc<ClMemory>, ImageFacts)> {
    let memory = find_object::<ClMemory>(image)?;
    queue
        .context
        .require_same(&memory.context, CL_INVALID_CONTEXT)?;
    let missing = || CallError::new(CL_INVALID_MEM_OBJECT, "this is no image");
    let facts = memory.image.ok_or_else(missing)?;
    Ok((memory, facts))
}

/// The box of bytes of a region of texels.
///
/// # Errors
/// When the region is not within the image.
pub fn texel_box(
    facts: &ImageFacts,
    origin: [usize; 3],
    region: [usize; 3],
) -> CallResult<(ByteBox, BoxSize)> {
    let within = |axis: usize| {
        let end = origin[axis].checked_add(region[axis]);
        end.is_some_and(|end| end <= facts.extent[axis])
    };
    let is_within = within(0) && within(1) && within(2);
    require(
        is_within,
        CL_INVALID_VALUE,
        "the region is not within the image",
    )?;
    let texel = facts.texel_bytes();
    let origin = [origin[0] * texel, origin[1], origin[2]];
    let slice = facts.row_pitch() * facts.extent[1];
    let found = ByteBox::at_origin(origin, facts.row_pitch(), slice);
    let found = found.ok_or_else(|| CallError::invalid_value("the region is too large"))?;
    Ok((found, [region[0] * texel, region[1], region[2]]))
}

/// The box of the caller's memory for a region.
fn host_box(
    facts: &ImageFacts,
    size: BoxSize,
    row_pitch: usize,
    slice_pitch: usize,
) -> CallResult<ByteBox> {
    let is_row = row_pitch == 0 || row_pitch >= size[0];
    require(is_row, CL_INVALID_VALUE, "the pitch is less than a row")?;
    let row = if row_pitch == 0 { size[0] } else { row_pitch };
    if facts.is_row_array() {
        let pitch = if slice_pitch == 0 { row } else { slice_pitch };
        require(
            pitch >= row,
            CL_INVALID_VALUE,
            "the pitch is less than a slice",
        )?;
        return Ok(ByteBox {
            first: 0,
            row_pitch: pitch,
            slice_pitch: pitch,
        });
    }
    let least = row.checked_mul(size[1]);
    let least = least.ok_or_else(|| CallError::invalid_value("a slice is too large"))?;
    let is_slice = slice_pitch == 0 || (facts.has_slices() && slice_pitch >= least);
    require(
        is_slice,
        CL_INVALID_VALUE,
        "the pitch of slices does not fit the image",
    )?;
    Ok(ByteBox {
        first: 0,
        row_pitch: row,
        slice_pitch: if slice_pitch == 0 { least } else { slice_pitch },
    })
}

/// A copy between a region of an image and the caller.
struct ImageTransfer {
    image: cl_mem,
    direction: TransferDirection,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    pointer: *const c_void,
}

unsafe fn enqueue_image_transfer(
    queue: cl_command_queue,
    transfer: &ImageTransfer,
    kind: cl_command_type,
    is_blocking: cl_bool,
    waits: (cl_uint, *const cl_event),
    event: *mut cl_event,
) -> CallResult<()> {
    let queue = find_object::<ClQueue>(queue)?;
    let (memory, facts) = find_image(&queue, transfer.image)?;
    let (origin, region) = (read_triple(transfer.origin)?, read_region(transfer.region)?);
    let (image_box, size) = texel_box(&facts, origin, region)?;
    let host = host_box(&facts, size, transfer.row_pitch, transfer.slice_pitch)?;
    let address = UserAddress::new(transfer.pointer)?;
    let call = read_call(&queue, kind, is_blocking != 0, waits.0, waits.1, event)?;
    let direction = transfer.direction;
    direction.check_flags(&memory)?;
    let side = RegionSide {
        memory,
        place: image_box,
    };
    let work = transfer_region(side, address, host, size, direction)?;
    queue.enqueue(&call, work)
}

/// `clEnqueueReadImage`
pub unsafe extern "C" fn enqueue_read_image(
    queue: cl_command_queue,
    image: cl_mem,
    is_blocking: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    pointer: *mut c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueReadImage", || {
        let transfer = ImageTransfer {
            image,
            direction: TransferDirection::Read,
            origin,
            region,
            row_pitch,
            slice_pitch,
            pointer,
        };
        let waits = (wait_count, wait_list);
        let kind = CL_COMMAND_READ_IMAGE;
        enqueue_image_transfer(queue, &transfer, kind, is_blocking, waits, event)
    })
}

/// `clEnqueueWriteImage`
pub unsafe extern "C" fn enqueue_write_image(
    queue: cl_command_queue,
    image: cl_mem,
    is_blocking: cl_bool,
    origin: *const usize,
    region: *const usize,
    row_pitch: usize,
    slice_pitch: usize,
    pointer: *const c_void,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueWriteImage", || {
        let transfer = ImageTransfer {
            image,
            direction: TransferDirection::Write,
            origin,
            region,
            row_pitch,
            slice_pitch,
            pointer,
        };
        let waits = (wait_count, wait_list);
        let kind = CL_COMMAND_WRITE_IMAGE;
        enqueue_image_transfer(queue, &transfer, kind, is_blocking, waits, event)
    })
}

/// The work of a copy from one image to another.
///
/// # Errors
/// When the regions do not fit the images, or overlap.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_image_copy(
    queue: &ClQueue,
    images: [cl_mem; 2],
    origins: [*const usize; 2],
    region: *const usize,
) -> CallResult<ScheduledWork> {
    let (from, from_facts) = find_image(queue, images[0])?;
    let (to, to_facts) = find_image(queue, images[1])?;
    let is_same = from_facts.texels == to_facts.texels;
    let message = "the images have different formats";
    require(is_same, CL_IMAGE_FORMAT_MISMATCH, message)?;
    let region = read_region(region)?;
    let (source, size) = texel_box(&from_facts, read_triple(origins[0])?, region)?;
    let (target, _) = texel_box(&to_facts, read_triple(origins[1])?, region)?;
    let overlaps = Arc::ptr_eq(&from, &to) && boxes_overlap(source, target, size);
    require(!overlaps, CL_MEM_COPY_OVERLAP, "the regions overlap")?;
    let from = RegionSide {
        memory: from,
        place: source,
    };
    let to = RegionSide {
        memory: to,
        place: target,
    };
    copy_region(from, to, size)
}

/// `clEnqueueCopyImage`
pub unsafe extern "C" fn enqueue_copy_image(
    queue: cl_command_queue,
    from: cl_mem,
    to: cl_mem,
    from_origin: *const usize,
    to_origin: *const usize,
    region: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueCopyImage", || {
        let queue = find_object::<ClQueue>(queue)?;
        let work = plan_image_copy(&queue, [from, to], [from_origin, to_origin], region)?;
        let kind = CL_COMMAND_COPY_IMAGE;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}

/// The dense box of a buffer for a region of an image.
fn buffer_side(memory: Arc<ClMemory>, offset: usize, size: BoxSize) -> CallResult<RegionSide> {
    let place = ByteBox {
        first: offset,
        row_pitch: size[0],
        slice_pitch: size[0] * size[1],
    };
    RegionSide::in_buffer(memory, place, size)
}

/// The two sides of a copy between an image and a buffer, with the size of the region.
unsafe fn find_sides(
    queue: &ClQueue,
    image: (cl_mem, *const usize),
    region: *const usize,
    buffer: (cl_mem, usize),
) -> CallResult<(RegionSide, RegionSide, BoxSize)> {
    let (memory, facts) = find_image(queue, image.0)?;
    let of_buffer = find_buffer(queue, buffer.0)?;
    let (place, size) = texel_box(&facts, read_triple(image.1)?, read_region(region)?)?;
    let of_buffer = buffer_side(of_buffer, buffer.1, size)?;
    Ok((RegionSide { memory, place }, of_buffer, size))
}

/// The work of a copy from an image at an origin to a buffer at an offset.
///
/// # Errors
/// When the region does not fit one of them.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_image_to_buffer(
    queue: &ClQueue,
    image: (cl_mem, *const usize),
    region: *const usize,
    buffer: (cl_mem, usize),
) -> CallResult<ScheduledWork> {
    let (of_image, of_buffer, size) = find_sides(queue, image, region, buffer)?;
    copy_region(of_image, of_buffer, size)
}

/// The work of a copy from a buffer at an offset to an image at an origin.
///
/// # Errors
/// When the region does not fit one of them.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_buffer_to_image(
    queue: &ClQueue,
    buffer: (cl_mem, usize),
    image: (cl_mem, *const usize),
    region: *const usize,
) -> CallResult<ScheduledWork> {
    let (of_image, of_buffer, size) = find_sides(queue, image, region, buffer)?;
    copy_region(of_buffer, of_image, size)
}

/// `clEnqueueCopyImageToBuffer`
pub unsafe extern "C" fn enqueue_copy_image_to_buffer(
    queue: cl_command_queue,
    image: cl_mem,
    buffer: cl_mem,
    origin: *const usize,
    region: *const usize,
    offset: usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueCopyImageToBuffer", || {
        let queue = find_object::<ClQueue>(queue)?;
        let work = plan_image_to_buffer(&queue, (image, origin), region, (buffer, offset))?;
        let kind = CL_COMMAND_COPY_IMAGE_TO_BUFFER;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}

/// `clEnqueueCopyBufferToImage`
pub unsafe extern "C" fn enqueue_copy_buffer_to_image(
    queue: cl_command_queue,
    buffer: cl_mem,
    image: cl_mem,
    offset: usize,
    origin: *const usize,
    region: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueCopyBufferToImage", || {
        let queue = find_object::<ClQueue>(queue)?;
        let work = plan_buffer_to_image(&queue, (buffer, offset), (image, origin), region)?;
        let kind = CL_COMMAND_COPY_BUFFER_TO_IMAGE;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}

/// A texel of four components, which are floats, or integers for formats of integers. That of a depth is one float.
unsafe fn encode_texel(facts: &ImageFacts, colour: *const c_void) -> CallResult<Vec<u8>> {
    require(!colour.is_null(), CL_INVALID_VALUE, "there is no colour")?;
    let mut texel = vec![0; facts.texel_bytes()];
    if facts.format.image_channel_order == CL_DEPTH {
        let depth = colour.cast::<f32>().read_unaligned();
        facts.texels.put_floats([depth; 4], &mut texel);
    } else if !facts.texels.is_integer() {
        let components = colour.cast::<[f32; 4]>().read_unaligned();
        facts.texels.put_floats(components, &mut texel);
    } else if facts.texels.is_signed() {
        let components = colour.cast::<[i32; 4]>().read_unaligned();
        facts.texels.put_ints(components.map(i64::from), &mut texel);
    } else {
        let components = colour.cast::<[u32; 4]>().read_unaligned();
        facts.texels.put_ints(components.map(i64::from), &mut texel);
    }
    Ok(texel)
}

/// The work of a fill of a region of an image.
///
/// # Errors
/// When the region does not fit the image, or there is no colour.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_image_fill(
    queue: &ClQueue,
    image: cl_mem,
    colour: *const c_void,
    origin: *const usize,
    region: *const usize,
) -> CallResult<ScheduledWork> {
    let (memory, facts) = find_image(queue, image)?;
    let texel = encode_texel(&facts, colour)?;
    let (place, size) = texel_box(&facts, read_triple(origin)?, read_region(region)?)?;
    fill_region(RegionSide { memory, place }, size, texel)
}

/// `clEnqueueFillImage`
pub unsafe extern "C" fn enqueue_fill_image(
    queue: cl_command_queue,
    image: cl_mem,
    colour: *const c_void,
    origin: *const usize,
    region: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueFillImage", || {
        let queue = find_object::<ClQueue>(queue)?;
        let work = plan_image_fill(&queue, image, colour, origin, region)?;
        let kind = CL_COMMAND_FILL_IMAGE;
        let call = read_call(&queue, kind, false, wait_count, wait_list, event)?;
        queue.enqueue(&call, work)
    })
}
