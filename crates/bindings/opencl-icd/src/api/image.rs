//! Functions that create images, and tell about them.

use crate::api::buffer::make_store;
use crate::api::memory::{ACCESS_FLAGS, HOST_POINTER_FLAGS, check_flags};
use crate::boundary::{
    QueryOutput, answer_code, answer_handle, get_slice, read_properties, refuse_query,
    write_optional,
};
use crate::context::ClContext;
use crate::error::{CallError, CallResult, require};
use crate::handle::{create_object, find_object};
use crate::memory::{ClMemory, ImageFacts, MemoryBase};
use crate::memory_store::{MemoryStore, StoreContent};
use crate::region::{ByteBox, copy_box};
use opencl_sys::*;
use spirula_runtime::{ImageDimensions, ImageShape, TexelFormat};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Formats of the runtime that OpenCL has no name for, or names as another one.
const UNNAMED_FORMATS: &[&str] = &["r64i", "r64ui", "r11f_g11f_b10f", "rgb10_a2", "rgb10_a2ui"];

/// The formats of images.
fn list_formats() -> impl Iterator<Item = TexelFormat> {
    TexelFormat::all_formats().filter(|format| !UNNAMED_FORMATS.contains(&format.name()))
}

fn to_opencl_format(format: TexelFormat) -> cl_image_format {
    cl_image_format {
        image_channel_order: format.opencl_order(),
        image_channel_data_type: format.opencl_type(),
    }
}

/// The runtime's format of one of OpenCL's.
fn find_format(format: cl_image_format) -> CallResult<TexelFormat> {
    let (order, channels) = (format.image_channel_order, format.image_channel_data_type);
    let is_known = (CL_R..=CL_ABGR).contains(&order)
        && (CL_SNORM_INT8..=CL_UNORM_INT_101010_2).contains(&channels);
    let message = "there is no such order or type of channels";
    require(is_known, CL_INVALID_IMAGE_FORMAT_DESCRIPTOR, message)?;
    let found = list_formats().find(|known| {
        let known = to_opencl_format(*known);
        known.image_channel_order == order && known.image_channel_data_type == channels
    });
    found.ok_or_else(|| {
        let message = format!("images of order {order:#x} and type {channels:#x} do not exist");
        CallError::new(CL_IMAGE_FORMAT_NOT_SUPPORTED, message)
    })
}

/// Whether a kind of image of a context may have a format. Depths are those of planes on the processor.
fn allows_format(context: &ClContext, format: cl_image_format, kind: cl_mem_object_type) -> bool {
    let planes = [CL_MEM_OBJECT_IMAGE2D, CL_MEM_OBJECT_IMAGE2D_ARRAY];
    format.image_channel_order != CL_DEPTH || (context.is_host() && planes.contains(&kind))
}

/// Refuses depths in images that have none.
fn check_depth_format(
    context: &ClContext,
    format: cl_image_format,
    kind: cl_mem_object_type,
) -> CallResult<()> {
    let is_allowed = allows_format(context, format, kind);
    let message = "images of this kind have no depths";
    require(is_allowed, CL_IMAGE_FORMAT_NOT_SUPPORTED, message)
}

/// The extent and the shape of an image.
fn plan_image(
    description: &cl_image_desc,
    texels: TexelFormat,
) -> CallResult<([usize; 3], ImageShape)> {
    let (width, height) = (description.image_width, description.image_height);
    let (depth, layers) = (description.image_depth, description.image_array_size);
    let (dimensions, extent, layers) = match description.image_type {
        CL_MEM_OBJECT_IMAGE1D => (ImageDimensions::D1, [width, 1, 1], None),
        CL_MEM_OBJECT_IMAGE1D_BUFFER => (ImageDimensions::Buffer, [width, 1, 1], None),
        CL_MEM_OBJECT_IMAGE1D_ARRAY => (ImageDimensions::D1, [width, layers, 1], Some(layers)),
        CL_MEM_OBJECT_IMAGE2D => (ImageDimensions::D2, [width, height, 1], None),
        CL_MEM_OBJECT_IMAGE2D_ARRAY => (ImageDimensions::D2, [width, height, layers], Some(layers)),
        CL_MEM_OBJECT_IMAGE3D => (ImageDimensions::D3, [width, height, depth], None),
        kind => {
            let message = format!("there is no kind of image {kind:#x}");
            return Err(CallError::new(CL_INVALID_IMAGE_DESCRIPTOR, message));
        }
    };
    let flat = description.num_mip_levels == 0 && description.num_samples == 0;
    let message = "images have one level and one sample";
    require(flat, CL_INVALID_IMAGE_DESCRIPTOR, message)?;
    let sizes = match dimensions {
        ImageDimensions::D1 | ImageDimensions::Buffer => [width, 1, 1],
        ImageDimensions::D3 => [width, height, depth],
        _ => [width, height, 1],
    };
    let narrow = |size: usize| {
        let size = u32::try_from(size).ok().filter(|size| *size > 0);
        size.ok_or_else(|| CallError::new(CL_INVALID_IMAGE_SIZE, "a side is empty or too long"))
    };
    let size = [narrow(sizes[0])?, narrow(sizes[1])?, narrow(sizes[2])?];
    let mut shape = ImageShape::new(dimensions, texels, size);
    if let Some(layers) = layers {
        shape.arrayed = true;
        shape.layers = narrow(layers)?;
    }
    let checked = shape.check_dimensions();
    checked.map_err(|message| CallError::new(CL_INVALID_IMAGE_SIZE, message))?;
    Ok((extent, shape))
}

/// The pitches of the caller's memory for an image.
///
/// # Errors
/// `CL_INVALID_IMAGE_DESCRIPTOR`.
fn check_pitches(facts: &ImageFacts, has_memory: bool) -> CallResult<(usize, usize)> {
    let (row, slice) = (
        facts.description.image_row_pitch,
        facts.description.image_slice_pitch,
    );
    let code = CL_INVALID_IMAGE_DESCRIPTOR;
    if !has_memory {
        let message = "an image without memory of the caller has pitches";
        require(row == 0 && slice == 0, code, message)?;
    }
    let is_row = row == 0 || (row >= facts.row_bytes() && row.is_multiple_of(facts.texel_bytes()));
    require(
        is_row,
        code,
        "the pitch of rows is no multiple of texels that holds a row",
    )?;
    let row = if row == 0 { facts.row_bytes() } else { row };
    let least = if facts.is_row_array() {
        row
    } else {
        row * facts.extent[1]
    };
    let is_slice = slice == 0 || (slice >= least && slice.is_multiple_of(row));
    require(
        is_slice,
        code,
        "the pitch of slices is no multiple of rows that holds a slice",
    )?;
    Ok((row, if slice == 0 { least } else { slice }))
}

/// Copies the caller's memory into a new image.
unsafe fn copy_host_image(
    store: &MemoryStore,
    facts: &ImageFacts,
    pitches: (usize, usize),
    pointer: *const c_void,
) -> CallResult<()> {
    let row_pitch = if facts.is_row_array() {
        pitches.1
    } else {
        pitches.0
    };
    let source = ByteBox {
        first: 0,
        row_pitch,
        slice_pitch: pitches.1,
    };
    let target = ByteBox {
        first: 0,
        row_pitch: facts.row_bytes(),
        slice_pitch: facts.row_bytes() * facts.extent[1],
    };
    let size = [facts.row_bytes(), facts.extent[1], facts.extent[2]];
    let span = source.span(size)?;
    let from = get_slice(pointer.cast::<u8>(), span.end as usize)?;
    let mut dense = vec![0; store.size() as usize];
    copy_box(&mut dense, target, from, source, size);
    store.set_content(dense.as_ptr())
}

unsafe fn open_image(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    description: *const cl_image_desc,
    host_pointer: *mut c_void,
    property_words: Vec<cl_mem_properties>,
) -> CallResult<*mut c_void> {
    let context = find_object::<ClContext>(context)?;
    check_flags(flags)?;
    let code = CL_INVALID_IMAGE_FORMAT_DESCRIPTOR;
    require(!format.is_null(), code, "there is no format")?;
    require(
        !description.is_null(),
        CL_INVALID_IMAGE_DESCRIPTOR,
        "there is no description",
    )?;
    let (format, description) = (format.read_unaligned(), description.read_unaligned());
    let texels = find_format(format)?;
    check_depth_format(&context, format, description.image_type)?;
    let (extent, mut shape) = plan_image(&description, texels)?;
    let facts = ImageFacts {
        format,
        texels,
        description,
        extent,
    };
    let is_given = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR) != 0;
    let message = "the memory of the caller does not fit the flags";
    let is_fit = is_given != host_pointer.is_null();
    require(is_fit, CL_INVALID_HOST_PTR, message)?;
    let parent = find_parent(&context, &facts)?;
    let pitches = check_pitches(&facts, is_given || parent.is_some())?;
    if parent.is_some() && facts.row_pitch() != facts.row_bytes() {
        let texels = u32::try_from(facts.row_pitch() / facts.texel_bytes());
        let message = "the pitch of rows is too large";
        shape.row_texels =
            texels.map_err(|_| CallError::new(CL_INVALID_IMAGE_DESCRIPTOR, message))?;
    }
    let size = shape.total_bytes().unwrap_or(u64::MAX) as usize;
    let content = StoreContent::Image(shape);
    let is_row = extent[1] == 1 && extent[2] == 1;
    let is_dense = is_row || pitches == (facts.row_bytes(), facts.slice_bytes());
    let store = match &parent {
        Some(buffer) => share_buffer(&context, buffer, size, content)?,
        None if is_given && !(is_dense && flags & CL_MEM_USE_HOST_PTR != 0) => {
            let store = MemoryStore::new(size as u64, content, None, None);
            copy_host_image(&store, &facts, pitches, host_pointer)?;
            store
        }
        None => make_store(&context, flags, size, content, host_pointer)?,
    };
    let base = MemoryBase {
        context,
        kind: description.image_type,
        flags: complete_flags(flags, parent.as_deref()),
        host_pointer,
        property_words,
    };
    let image = create_object(|handle| {
        let mut image = ClMemory::new(handle, base, size, store);
        image.image = Some(facts);
        image.parent = parent;
        image
    });
    Ok(image.handle.as_raw())
}

/// The flags of an image, with those that its buffer has and those that are usual.
fn complete_flags(mut flags: cl_mem_flags, parent: Option<&ClMemory>) -> cl_mem_flags {
    if let Some(buffer) = parent {
        let inherited = match flags & ACCESS_FLAGS {
            0 => HOST_POINTER_FLAGS | ACCESS_FLAGS,
            _ => HOST_POINTER_FLAGS,
        };
        flags |= buffer.flags & inherited;
    }
    match flags & (ACCESS_FLAGS | CL_MEM_KERNEL_READ_AND_WRITE) {
        0 => flags | CL_MEM_READ_WRITE,
        _ => flags,
    }
}

/// The buffer that an image is over.
fn find_parent(context: &ClContext, facts: &ImageFacts) -> CallResult<Option<Arc<ClMemory>>> {
    let (kind, handle) = (facts.description.image_type, facts.description.buffer);
    let code = CL_INVALID_IMAGE_DESCRIPTOR;
    if handle.is_null() {
        let is_missing = kind == CL_MEM_OBJECT_IMAGE1D_BUFFER;
        require(!is_missing, code, "the image has no buffer")?;
        return Ok(None);
    }
    let takes = kind == CL_MEM_OBJECT_IMAGE1D_BUFFER || kind == CL_MEM_OBJECT_IMAGE2D;
    require(takes, code, "an image of this kind is over no buffer")?;
    let parent = find_object::<ClMemory>(handle);
    let parent = parent.map_err(|error| CallError::new(code, error.message))?;
    context.require_same(&parent.context, CL_INVALID_CONTEXT)?;
    let message = "the device makes no images over images";
    let is_buffer = parent.kind == CL_MEM_OBJECT_BUFFER;
    require(is_buffer, CL_INVALID_OPERATION, message)?;
    let message = "an image over a buffer has one slice";
    let is_flat = facts.description.image_slice_pitch == 0 || kind != CL_MEM_OBJECT_IMAGE2D;
    require(is_flat, code, message)?;
    Ok(Some(parent))
}

/// A store in the memory of a buffer.
fn share_buffer(
    context: &ClContext,
    buffer: &ClMemory,
    size: usize,
    content: StoreContent,
) -> CallResult<MemoryStore> {
    let is_within = size <= buffer.size;
    require(
        is_within,
        CL_INVALID_IMAGE_SIZE,
        "the image is larger than its buffer",
    )?;
    let message = "images over buffers are of the processor only";
    require(context.is_host(), CL_INVALID_OPERATION, message)?;
    let store = MemoryStore::over_buffer(size as u64, content, &buffer.store, buffer.offset);
    Ok(store)
}

/// `clCreateImage`
pub unsafe extern "C" fn create_image(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    description: *const cl_image_desc,
    host_pointer: *mut c_void,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreateImage", code, || {
        open_image(
            context,
            flags,
            format,
            description,
            host_pointer,
            Vec::new(),
        )
    })
}

/// `clCreateImageWithProperties`
pub unsafe extern "C" fn create_image_with_properties(
    context: cl_context,
    properties: *const cl_mem_properties,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    description: *const cl_image_desc,
    host_pointer: *mut c_void,
    code: *mut cl_int,
) -> cl_mem {
    answer_handle("clCreateImageWithProperties", code, || {
        let (pairs, words) = read_properties(properties);
        let message = "there are no properties of images";
        require(pairs.is_empty(), CL_INVALID_PROPERTY, message)?;
        open_image(context, flags, format, description, host_pointer, words)
    })
}

/// A description without buffer, levels and samples.
fn describe_image(
    kind: cl_mem_object_type,
    size: [usize; 3],
    pitches: [usize; 2],
) -> cl_image_desc {
    cl_image_desc {
        image_type: kind,
        image_width: size[0],
        image_height: size[1],
        image_depth: size[2],
        image_array_size: 0,
        image_row_pitch: pitches[0],
        image_slice_pitch: pitches[1],
        num_mip_levels: 0,
        num_samples: 0,
        buffer: ptr::null_mut(),
    }
}

/// `clCreateImage2D`
pub unsafe extern "C" fn create_image_2d(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    row_pitch: usize,
    host_pointer: *mut c_void,
    code: *mut cl_int,
) -> cl_mem {
    let size = [width, height, 1];
    let description = describe_image(CL_MEM_OBJECT_IMAGE2D, size, [row_pitch, 0]);
    create_image(
        context,
        flags,
        format,
        &raw const description,
        host_pointer,
        code,
    )
}

/// `clCreateImage3D`
pub unsafe extern "C" fn create_image_3d(
    context: cl_context,
    flags: cl_mem_flags,
    format: *const cl_image_format,
    width: usize,
    height: usize,
    depth: usize,
    row_pitch: usize,
    slice_pitch: usize,
    host_pointer: *mut c_void,
    code: *mut cl_int,
) -> cl_mem {
    let size = [width, height, depth];
    let description = describe_image(CL_MEM_OBJECT_IMAGE3D, size, [row_pitch, slice_pitch]);
    create_image(
        context,
        flags,
        format,
        &raw const description,
        host_pointer,
        code,
    )
}

/// `clGetSupportedImageFormats`
pub unsafe extern "C" fn get_supported_image_formats(
    context: cl_context,
    flags: cl_mem_flags,
    kind: cl_mem_object_type,
    count: cl_uint,
    formats: *mut cl_image_format,
    count_out: *mut cl_uint,
) -> cl_int {
    answer_code("clGetSupportedImageFormats", || {
        let context = find_object::<ClContext>(context)?;
        check_flags(flags)?;
        let is_image = (CL_MEM_OBJECT_IMAGE2D..=CL_MEM_OBJECT_IMAGE1D_BUFFER).contains(&kind);
        require(is_image, CL_INVALID_VALUE, "this is no kind of image")?;
        let has_room = formats.is_null() || count > 0;
        require(has_room, CL_INVALID_VALUE, "there is room for no format")?;
        let known = list_formats().map(to_opencl_format);
        let known = known.filter(|format| allows_format(&context, *format, kind));
        let known: Vec<_> = known.collect();
        if !formats.is_null() {
            let written = known.iter().take(count as usize).enumerate();
            written.for_each(|(number, format)| formats.add(number).write(*format));
        }
        write_optional(count_out, known.len() as cl_uint);
        Ok(())
    })
}

/// `clGetImageInfo`
pub unsafe extern "C" fn get_image_info(
    image: cl_mem,
    name: cl_image_info,
    size: usize,
    value: *mut c_void,
    size_out: *mut usize,
) -> cl_int {
    answer_code("clGetImageInfo", || {
        let image = find_object::<ClMemory>(image)?;
        let missing = || CallError::new(CL_INVALID_MEM_OBJECT, "this is no image");
        let facts = image.image.ok_or_else(missing)?;
        let output = QueryOutput::new(size, value, size_out);
        let description = &facts.description;
        let kind = description.image_type;
        let has_height = [
            CL_MEM_OBJECT_IMAGE2D,
            CL_MEM_OBJECT_IMAGE2D_ARRAY,
            CL_MEM_OBJECT_IMAGE3D,
        ];
        let if_any = |has: bool, size: usize| if has { size } else { 0 };
        let is_array = facts.has_slices() && kind != CL_MEM_OBJECT_IMAGE3D;
        match name {
            CL_IMAGE_FORMAT => output.write_value(facts.format),
            CL_IMAGE_ELEMENT_SIZE => output.write_value(facts.texel_bytes()),
            CL_IMAGE_ROW_PITCH => output.write_value(match description.image_row_pitch {
                0 => facts.row_bytes(),
                pitch => pitch,
            }),
            CL_IMAGE_SLICE_PITCH => output.write_value(match description.image_slice_pitch {
                0 => if_any(facts.has_slices(), facts.slice_bytes()),
                pitch => pitch,
            }),
            CL_IMAGE_WIDTH => output.write_value(description.image_width),
            CL_IMAGE_HEIGHT => {
                output.write_value(if_any(has_height.contains(&kind), description.image_height))
            }
            CL_IMAGE_DEPTH => output.write_value(if_any(
                kind == CL_MEM_OBJECT_IMAGE3D,
                description.image_depth,
            )),
            CL_IMAGE_ARRAY_SIZE => {
                output.write_value(if_any(is_array, description.image_array_size))
            }
            CL_IMAGE_BUFFER => output.write_value(description.buffer),
            CL_IMAGE_NUM_MIP_LEVELS => output.write_value(description.num_mip_levels),
            CL_IMAGE_NUM_SAMPLES => output.write_value(description.num_samples),
            _ => Err(refuse_query(name)),
        }
    })
}
