//! Images of depths: their formats, kernels that read, sample and write them, and fills.

use crate::caller::{ObjectKind, OwnedHandle, check};
use crate::images::{create_image, describe, transfer};
use crate::program_sources::{load, open};
use crate::session::{TestSession, both_devices, build, create_context, create_kernel};
use crate::session::{set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};

const DEPTH: cl_image_format = cl_image_format {
    image_channel_order: CL_DEPTH,
    image_channel_data_type: CL_FLOAT,
};

const DEPTH16: cl_image_format = cl_image_format {
    image_channel_order: CL_DEPTH,
    image_channel_data_type: CL_UNORM_INT16,
};

const SOURCE: &str = "
constant sampler_t linear =
    CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_LINEAR;
kernel void twice(read_only image2d_depth_t from, write_only image2d_depth_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(to, at, 2.0f * read_imagef(from, at));
}
kernel void sample(read_only image2d_depth_t from, global float *out) {
    out[get_global_id(0)] = read_imagef(from, linear, (float2)(get_global_id(0) + 1.0f, 0.5f));
    if (get_global_id(0) == 0) {
        out[8] = get_image_channel_order(from);
        out[9] = get_image_channel_data_type(from);
        out[10] = get_image_width(from);
    }
}
kernel void layers(read_only image2d_array_depth_t from, global float *out) {
    int4 at = (int4)(get_global_id(0), get_global_id(1), get_global_id(2), 0);
    out[(at.z * get_global_size(1) + at.y) * get_global_size(0) + at.x] = read_imagef(from, at);
}
kernel void colours(read_only image2d_t from, global float4 *out) {
    out[0] = read_imagef(from, (int2)(0, 0));
}
";

fn open_plane(
    session: &TestSession,
    format: &cl_image_format,
    size: [usize; 3],
    texels: &[u8],
) -> OwnedHandle {
    let kind = match size[2] {
        1 => CL_MEM_OBJECT_IMAGE2D,
        _ => CL_MEM_OBJECT_IMAGE2D_ARRAY,
    };
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let pointer = texels.as_ptr().cast();
    let made = create_image(session, flags, format, &describe(kind, size), pointer);
    made.expect("there are depths")
}

fn to_bytes(depths: &[f32]) -> Vec<u8> {
    depths
        .iter()
        .flat_map(|depth| depth.to_le_bytes())
        .collect()
}

#[test]
fn kernels_read_and_write_depths() {
    let Some(session) = open() else { return };
    let program = load(&session, &[SOURCE]);
    assert_eq!(build(&program, "-cl-std=CL3.0"), Ok(()));
    let depths: Vec<f32> = (0..24).map(|n| n as f32 / 64.0).collect();
    let from = open_plane(&session, &DEPTH, [4, 6, 1], &to_bytes(&depths));
    let halves: Vec<u8> = [0_u16; 24].iter().flat_map(|n| n.to_le_bytes()).collect();
    let to = open_plane(&session, &DEPTH16, [4, 6, 1], &halves);
    let kernel = create_kernel(&program, "twice").expect("it is there");
    set_object(&kernel, 0, &from);
    set_object(&kernel, 1, &to);
    assert_eq!(session.launch(&kernel, &[4, 6]), Ok(()));
    let mut found = vec![0; 48];
    let read = transfer(&session, &to, [0; 3], [4, 6, 1], [0; 2], &mut found, false);
    assert_eq!(read, Ok(()));
    let (words, _) = found.as_chunks::<2>();
    for (word, depth) in words.iter().zip(&depths) {
        let expected = (2.0 * depth * 65535.0).round_ties_even() as u16;
        assert_eq!(u16::from_le_bytes(*word), expected, "{depth}");
    }
    let result = session.filled(&[0_f32; 11]);
    let kernel = create_kernel(&program, "sample").expect("it is there");
    set_object(&kernel, 0, &from);
    set_object(&kernel, 1, &result);
    assert_eq!(session.launch(&kernel, &[4]), Ok(()));
    let sampled = session.read::<f32>(&result, 11);
    let expected = [0.5 / 64.0, 1.5 / 64.0, 2.5 / 64.0, 3.0 / 64.0];
    assert_eq!(sampled[..4], expected);
    assert_eq!(sampled[8..], [CL_DEPTH as f32, CL_FLOAT as f32, 4.0]);
    let layered = open_plane(&session, &DEPTH, [2, 3, 4], &to_bytes(&depths));
    let result = session.filled(&[0_f32; 24]);
    let kernel = create_kernel(&program, "layers").expect("it is there");
    set_object(&kernel, 0, &layered);
    set_object(&kernel, 1, &result);
    assert_eq!(session.launch(&kernel, &[2, 3, 4]), Ok(()));
    assert_eq!(session.read::<f32>(&result, 24), depths);
}

#[test]
fn depths_are_filled_with_one_number() {
    let session = TestSession::new();
    let image = open_plane(&session, &DEPTH, [3, 2, 1], &to_bytes(&[0.0; 6]));
    let depth = 0.75_f32;
    let (origin, region) = ([1_usize, 0, 0], [2_usize, 2, 1]);
    let (queue, colour) = (session.queue.raw, (&raw const depth).cast());
    let (first, size, none) = (origin.as_ptr(), region.as_ptr(), null_mut());
    let filled = check(cl!(clEnqueueFillImage(
        queue,
        image.raw,
        colour,
        first,
        size,
        0,
        null(),
        none
    )));
    assert_eq!(filled, Ok(()));
    let mut found = vec![0; 24];
    let read = transfer(
        &session,
        &image,
        [0; 3],
        [3, 2, 1],
        [0; 2],
        &mut found,
        false,
    );
    assert_eq!(read, Ok(()));
    assert_eq!(found, to_bytes(&[0.0, 0.75, 0.75, 0.0, 0.75, 0.75]));
}

fn list_formats(context: cl_context, kind: cl_mem_object_type) -> Vec<cl_image_format> {
    let (mut count, flags, none) = (0, CL_MEM_READ_WRITE, null_mut());
    let out = &raw mut count;
    let code = cl!(clGetSupportedImageFormats(
        context, flags, kind, 0, none, out
    ));
    assert_eq!(code, CL_SUCCESS);
    let mut found = vec![DEPTH; count as usize];
    let (room, none) = (found.as_mut_ptr(), null_mut());
    let code = cl!(clGetSupportedImageFormats(
        context, flags, kind, count, room, none
    ));
    assert_eq!(code, CL_SUCCESS);
    found
}

#[test]
fn depths_are_those_of_planes() {
    let session = TestSession::new();
    let count = |context, kind| {
        let formats = list_formats(context, kind);
        let depths = formats.iter().filter(|f| f.image_channel_order == CL_DEPTH);
        depths.count()
    };
    let context = session.context.raw;
    assert_eq!(count(context, CL_MEM_OBJECT_IMAGE2D), 2);
    assert_eq!(count(context, CL_MEM_OBJECT_IMAGE2D_ARRAY), 2);
    assert_eq!(count(context, CL_MEM_OBJECT_IMAGE3D), 0);
    let volume = describe(CL_MEM_OBJECT_IMAGE3D, [2, 2, 2]);
    let refused = create_image(&session, 0, &DEPTH, &volume, null()).err();
    assert_eq!(refused, Some(CL_IMAGE_FORMAT_NOT_SUPPORTED));
    if let Some(both) = both_devices() {
        let other = create_context(&both[1..]).expect("it is a device");
        assert_eq!(count(other.raw, CL_MEM_OBJECT_IMAGE2D), 0);
        assert_eq!(ObjectKind::Context.count(other.raw), Ok(1));
    }
    let Some(session) = open() else { return };
    let program = load(&session, &[SOURCE]);
    assert_eq!(build(&program, ""), Ok(()));
    let depths = open_plane(&session, &DEPTH, [2, 2, 1], &[0; 16]);
    let colours = create_kernel(&program, "colours").expect("it is there");
    assert_eq!(
        set_value(&colours, 0, &depths.raw),
        Err(CL_INVALID_ARG_VALUE)
    );
}
