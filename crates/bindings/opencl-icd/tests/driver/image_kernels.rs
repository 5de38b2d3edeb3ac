//! Kernels that read, write and sample images.

use crate::buffer_boxes::random_bytes;
use crate::caller::{ObjectKind, OwnedHandle};
use crate::images::{RGBA8, create_image, describe, transfer};
use crate::program_sources;
use crate::session::{IMAGES, TestSession, build, create_kernel, set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};

fn open(
    session: &TestSession,
    flags: cl_mem_flags,
    kind: cl_mem_object_type,
    size: [usize; 3],
    texels: &[u8],
) -> OwnedHandle {
    let (flags, pointer) = if texels.is_empty() {
        (flags, null())
    } else {
        (flags | CL_MEM_COPY_HOST_PTR, texels.as_ptr().cast())
    };
    let made = create_image(session, flags, &RGBA8, &describe(kind, size), pointer);
    made.expect("there is such an image")
}

#[test]
fn kernels_read_and_write_planes() {
    let session = TestSession::new();
    let kernel = session.kernel(IMAGES, "invert_plane");
    let texels = random_bytes(5, 8 * 6 * 4);
    let plane = CL_MEM_OBJECT_IMAGE2D;
    let from = open(&session, CL_MEM_READ_ONLY, plane, [8, 6, 1], &texels);
    let to = open(&session, CL_MEM_WRITE_ONLY, plane, [8, 6, 1], &[]);
    set_object(&kernel, 0, &from);
    set_object(&kernel, 1, &to);
    assert_eq!(set_value(&kernel, 0, &to.raw), Err(CL_INVALID_ARG_VALUE));
    assert_eq!(set_value(&kernel, 1, &from.raw), Err(CL_INVALID_ARG_VALUE));
    assert_eq!(session.launch(&kernel, &[8, 6]), Ok(()));
    let mut found = vec![0; texels.len()];
    let read = transfer(&session, &to, [0; 3], [8, 6, 1], [0; 2], &mut found, false);
    assert_eq!(read, Ok(()));
    let expected: Vec<u8> = texels.iter().map(|byte| 255 - byte).collect();
    assert_eq!(found, expected);
}

#[test]
fn kernels_read_all_kinds_of_images() {
    let session = TestSession::new();
    let cases: [(&str, cl_mem_object_type, [usize; 3], usize); 4] = [
        ("read_line", CL_MEM_OBJECT_IMAGE1D, [19, 1, 1], 1),
        ("read_line_array", CL_MEM_OBJECT_IMAGE1D_ARRAY, [6, 5, 1], 2),
        (
            "read_plane_array",
            CL_MEM_OBJECT_IMAGE2D_ARRAY,
            [4, 3, 5],
            3,
        ),
        ("read_volume", CL_MEM_OBJECT_IMAGE3D, [5, 4, 3], 3),
    ];
    for (name, kind, size, dimensions) in cases {
        let kernel = session.kernel(IMAGES, name);
        let count = size.iter().product::<usize>() * 4;
        let texels = random_bytes(9, count);
        let image = open(&session, CL_MEM_READ_ONLY, kind, size, &texels);
        let output = session.buffer(count * 4);
        set_object(&kernel, 0, &image);
        set_object(&kernel, 1, &output);
        assert_eq!(session.launch(&kernel, &size[..dimensions]), Ok(()));
        let expected: Vec<u32> = texels.iter().map(|byte| u32::from(*byte)).collect();
        assert_eq!(session.read::<u32>(&output, count), expected, "{name}");
    }
}

#[test]
fn images_over_buffers_share_their_bytes() {
    let session = TestSession::new();
    let buffer = session.filled(&[0_u8; 64]);
    let mut description = describe(CL_MEM_OBJECT_IMAGE1D_BUFFER, [16, 1, 1]);
    let missing = create_image(&session, 0, &RGBA8, &description, null());
    assert_eq!(missing.err(), Some(CL_INVALID_IMAGE_DESCRIPTOR));
    description.buffer = buffer.raw;
    let image = create_image(&session, 0, &RGBA8, &description, null());
    let image = image.expect("there is such an image");
    let kernel = session.kernel(IMAGES, "write_line");
    set_object(&kernel, 0, &image);
    assert_eq!(session.launch(&kernel, &[16]), Ok(()));
    let expected: Vec<u8> = (0..16_u8).flat_map(|n| [n * 3, 1, 2, 3]).collect();
    assert_eq!(session.read::<u8>(&buffer, 64), expected);
    description.image_width = 17;
    let large = create_image(&session, 0, &RGBA8, &description, null());
    assert_eq!(large.err(), Some(CL_INVALID_IMAGE_SIZE));
    let raw = buffer.raw;
    drop(buffer);
    assert_eq!(
        ObjectKind::Memory.count(raw),
        Ok(0),
        "the image holds its buffer"
    );
    assert_eq!(session.launch(&kernel, &[16]), Ok(()));
    session.finish();
}

#[test]
fn images_copy_memory_with_pitches() {
    let session = TestSession::new();
    let mut description = describe(CL_MEM_OBJECT_IMAGE3D, [3, 2, 2]);
    (description.image_row_pitch, description.image_slice_pitch) = (16, 48);
    let own = random_bytes(1, 96);
    let pointer = own.as_ptr().cast();
    for flags in [CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR] {
        let image = create_image(&session, flags, &RGBA8, &description, pointer);
        let image = image.expect("there is such an image");
        let mut found = vec![0; 48];
        let read = transfer(
            &session,
            &image,
            [0; 3],
            [3, 2, 2],
            [0; 2],
            &mut found,
            false,
        );
        assert_eq!(read, Ok(()));
        let rows = [0, 16, 48, 64].map(|first| &own[first..first + 12]);
        assert_eq!(found, rows.concat());
    }
    for (row, slice) in [(11, 0), (13, 0), (16, 31), (16, 40)] {
        (description.image_row_pitch, description.image_slice_pitch) = (row, slice);
        let made = create_image(
            &session,
            CL_MEM_COPY_HOST_PTR,
            &RGBA8,
            &description,
            pointer,
        );
        assert_eq!(
            made.err(),
            Some(CL_INVALID_IMAGE_DESCRIPTOR),
            "{row} {slice}"
        );
    }
}

const PACKED: &str = "
constant sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST;
kernel void unpack(read_only image2d_t from, write_only image2d_t to, global int2 *out) {
    int at = get_global_id(0);
    out[at] = read_imagei(from, nearest, (int2)(at, 0)).xy;
    write_imagei(to, (int2)(at, 0), read_imagei(from, (int2)(at, 0)));
}
";

#[test]
fn texels_of_floats_give_their_bits_as_integers() {
    let Some(session) = program_sources::open() else {
        return;
    };
    let program = program_sources::load(&session, &[PACKED]);
    assert_eq!(build(&program, ""), Ok(()));
    let kernel = create_kernel(&program, "unpack").expect("it is a kernel");
    let format = cl_image_format {
        image_channel_order: CL_RG,
        image_channel_data_type: CL_FLOAT,
    };
    // Doubles in two floats each, whose bits are no number, too.
    let doubles = [1.5_f64, -2.25e300, f64::NAN, 1e-310];
    let texels: Vec<u8> = doubles.iter().flat_map(|d| d.to_le_bytes()).collect();
    let description = describe(CL_MEM_OBJECT_IMAGE2D, [4, 1, 1]);
    let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    let data = texels.as_ptr().cast();
    let from = create_image(&session, flags, &format, &description, data);
    let from = from.expect("there is such an image");
    let to = create_image(&session, CL_MEM_WRITE_ONLY, &format, &description, null());
    let to = to.expect("there is such an image");
    let output = session.filled(&[0_u8; 32]);
    set_object(&kernel, 0, &from);
    set_object(&kernel, 1, &to);
    set_object(&kernel, 2, &output);
    assert_eq!(session.launch(&kernel, &[4]), Ok(()));
    assert_eq!(session.read::<u8>(&output, 32), texels);
    let mut found = vec![0; texels.len()];
    let read = transfer(&session, &to, [0; 3], [4, 1, 1], [0; 2], &mut found, false);
    assert_eq!(read, Ok(()));
    assert_eq!(found, texels);
}

fn create_sampler(
    session: &TestSession,
    is_normalized: cl_bool,
    addressing: cl_addressing_mode,
    filter: cl_filter_mode,
) -> Result<OwnedHandle, cl_int> {
    let mut code = 1;
    let (context, out) = (session.context.raw, &raw mut code);
    let raw = cl!(clCreateSampler(
        context,
        is_normalized,
        addressing,
        filter,
        out
    ));
    OwnedHandle::new(ObjectKind::Sampler, raw, code)
}

#[test]
fn samplers_choose_texels() {
    let session = TestSession::new();
    let kernel = session.kernel(IMAGES, "sample_plane");
    let format = cl_image_format {
        image_channel_order: CL_R,
        image_channel_data_type: CL_FLOAT,
    };
    let texels = [1_f32, 2.0, 3.0, 4.0];
    let description = describe(CL_MEM_OBJECT_IMAGE2D, [4, 1, 1]);
    let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    let image = create_image(
        &session,
        flags,
        &format,
        &description,
        texels.as_ptr().cast(),
    );
    let image = image.expect("there is such an image");
    let places = [
        [0.5_f32, 0.5],
        [3.9, 0.5],
        [-1.5, 0.5],
        [5.5, 0.5],
        [1.0, 0.5],
    ];
    let points = session.filled(&places);
    let output = session.filled(&[0_f32; 5]);
    let cases = [
        (
            CL_ADDRESS_CLAMP_TO_EDGE,
            CL_FILTER_NEAREST,
            [1.0, 4.0, 1.0, 4.0, 2.0],
        ),
        (
            CL_ADDRESS_CLAMP,
            CL_FILTER_NEAREST,
            [1.0, 4.0, 0.0, 0.0, 2.0],
        ),
        (
            CL_ADDRESS_CLAMP_TO_EDGE,
            CL_FILTER_LINEAR,
            [1.0, 4.0, 1.0, 4.0, 1.5],
        ),
    ];
    set_object(&kernel, 0, &image);
    set_object(&kernel, 2, &points);
    set_object(&kernel, 3, &output);
    for (addressing, filter, expected) in cases {
        let sampler = create_sampler(&session, CL_FALSE, addressing, filter);
        let sampler = sampler.expect("there is such a sampler");
        set_object(&kernel, 1, &sampler);
        assert_eq!(session.launch(&kernel, &[5]), Ok(()));
        assert_eq!(
            session.read::<f32>(&output, 5),
            expected,
            "{addressing:#x} {filter:#x}"
        );
    }
    let repeats = create_sampler(&session, CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST);
    set_object(
        &kernel,
        1,
        repeats.as_ref().expect("there is such a sampler"),
    );
    drop(repeats);
    assert_eq!(session.launch(&kernel, &[5]), Ok(()), "it was released");
    assert_eq!(session.read::<f32>(&output, 2), [3.0, 4.0]);
}

#[test]
fn wrong_samplers_are_refused() {
    let session = TestSession::new();
    let made = create_sampler(&session, CL_TRUE, 0, CL_FILTER_LINEAR);
    assert_eq!(made.err(), Some(CL_INVALID_VALUE));
    let made = create_sampler(&session, CL_TRUE, CL_ADDRESS_CLAMP, 0);
    assert_eq!(made.err(), Some(CL_INVALID_VALUE));
    let (coordinates, filter) = (CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_FILTER_MODE);
    let lists: [&[u64]; 3] = [
        &[0x7777, 1, 0],
        &[coordinates as u64, 1, coordinates as u64, 0, 0],
        &[filter as u64, 77, 0],
    ];
    for list in lists {
        let mut code = 1;
        let (context, first) = (session.context.raw, list.as_ptr());
        let made = cl!(clCreateSamplerWithProperties(context, first, &raw mut code));
        assert_eq!((made.is_null(), code), (true, CL_INVALID_VALUE));
    }
}

#[test]
fn mapped_images_have_pitches() {
    let session = TestSession::new();
    let texels = random_bytes(5, 4 * 3 * 2 * 4);
    let image = open(&session, 0, CL_MEM_OBJECT_IMAGE3D, [4, 3, 2], &texels);
    let (mut row, mut slice, mut code) = (0, 0, 1);
    let (origin, region) = ([1_usize, 1, 1], [2_usize, 2, 1]);
    let (queue, event) = (session.queue.raw, null_mut());
    let flags = CL_MAP_READ | CL_MAP_WRITE;
    let (first, size) = (origin.as_ptr(), region.as_ptr());
    let (row_out, slice_out, out) = (&raw mut row, &raw mut slice, &raw mut code);
    let mapped = cl!(clEnqueueMapImage(
        queue,
        image.raw,
        1,
        flags,
        first,
        size,
        row_out,
        slice_out,
        0,
        null(),
        event,
        out
    ));
    assert_eq!((code, row, slice), (CL_SUCCESS, 16, 48));
    // SAFETY: the first texel is mapped.
    let texel = unsafe { std::slice::from_raw_parts_mut(mapped.cast::<u8>(), 4) };
    assert_eq!(texel, &texels[48 + 16 + 4..48 + 16 + 8]);
    texel.fill(9);
    let code = cl!(clEnqueueUnmapMemObject(
        queue,
        image.raw,
        mapped,
        0,
        null(),
        event
    ));
    assert_eq!(code, CL_SUCCESS);
    let mut found = vec![0; 4];
    let read = transfer(&session, &image, origin, [1; 3], [0; 2], &mut found, false);
    assert_eq!((read, found), (Ok(()), vec![9; 4]));
    let mut code = 1;
    let missing = cl!(clEnqueueMapImage(
        queue,
        image.raw,
        1,
        flags,
        first,
        size,
        null_mut(),
        slice_out,
        0,
        null(),
        event,
        &raw mut code
    ));
    assert_eq!((missing.is_null(), code), (true, CL_INVALID_VALUE));
}
