//! Images of several rows over buffers, whose rows may have gaps.

use crate::buffer_boxes::random_bytes;
use crate::caller::{ObjectKind, OwnedHandle, ask_text, ask_value};
use crate::images::{RGBA8, create_image, describe, transfer};
use crate::session::{IMAGES, TestSession, create_part, set_object, set_value};
use opencl_sys::*;
use std::ptr::{null, null_mut};

/// Texels of a row, rows, and bytes from a row to the next.
const WIDTH: usize = 6;
const HEIGHT: usize = 5;
const PITCH: usize = 36;

fn describe_over(buffer: &OwnedHandle, pitch: usize) -> cl_image_desc {
    let mut description = describe(CL_MEM_OBJECT_IMAGE2D, [WIDTH, HEIGHT, 1]);
    description.image_row_pitch = pitch;
    description.buffer = buffer.raw;
    description
}

fn create_over(
    session: &TestSession,
    buffer: &OwnedHandle,
    pitch: usize,
) -> Result<OwnedHandle, cl_int> {
    create_image(session, 0, &RGBA8, &describe_over(buffer, pitch), null())
}

/// The bytes of the rows, without the gaps.
fn pick_rows(bytes: &[u8]) -> Vec<u8> {
    let rows = bytes.chunks(PITCH).take(HEIGHT);
    rows.flat_map(|row| &row[..WIDTH * 4]).copied().collect()
}

#[test]
fn kernels_use_rows_with_gaps() {
    let session = TestSession::new();
    let content = random_bytes(3, PITCH * HEIGHT);
    let (from, to) = (session.filled(&content), session.filled(&content));
    let source = create_over(&session, &from, PITCH).expect("the rows fit");
    let target = create_over(&session, &to, PITCH).expect("the rows fit");
    let kernel = session.kernel(IMAGES, "invert_plane");
    set_object(&kernel, 0, &source);
    set_object(&kernel, 1, &target);
    // Places outside of the image are not written.
    assert_eq!(session.launch(&kernel, &[PITCH / 4, HEIGHT + 2]), Ok(()));
    let mut expected = content.clone();
    for row in expected.chunks_mut(PITCH) {
        row[..WIDTH * 4]
            .iter_mut()
            .for_each(|byte| *byte = 255 - *byte);
    }
    assert_eq!(session.read::<u8>(&to, content.len()), expected);
}

#[test]
fn samplers_stay_within_rows() {
    let session = TestSession::new();
    let texels: Vec<u8> = (0..PITCH * HEIGHT).map(|n| n as u8).collect();
    let buffer = session.filled(&texels);
    let image = create_image(
        &session,
        CL_MEM_READ_ONLY,
        &cl_image_format {
            image_channel_data_type: CL_UNORM_INT8,
            ..RGBA8
        },
        &describe_over(&buffer, PITCH),
        null(),
    );
    let image = image.expect("the rows fit");
    let mut code = 1;
    let (context, edge) = (session.context.raw, CL_ADDRESS_CLAMP_TO_EDGE);
    let raw = cl!(clCreateSampler(
        context,
        CL_FALSE,
        edge,
        CL_FILTER_NEAREST,
        &raw mut code
    ));
    let sampler = OwnedHandle::new(ObjectKind::Sampler, raw, code);
    let sampler = sampler.expect("there are samplers");
    let places = session.filled(&[[100.5_f32, 2.5], [0.5, 4.5], [-3.0, 100.0]]);
    let found = session.buffer(12);
    let kernel = session.kernel(IMAGES, "sample_plane");
    set_object(&kernel, 0, &image);
    assert_eq!(set_value(&kernel, 1, &sampler.raw), Ok(()));
    set_object(&kernel, 2, &places);
    set_object(&kernel, 3, &found);
    assert_eq!(session.launch(&kernel, &[3]), Ok(()));
    let at = |x: usize, y: usize| (y * PITCH + 4 * x) as f32 / 255.0;
    let expected = [at(WIDTH - 1, 2), at(0, 4), at(0, 4)];
    let found = session.read::<f32>(&found, 3);
    let is_near = |(one, other): (&f32, &f32)| (one - other).abs() < 1e-5;
    assert!(found.iter().zip(&expected).all(is_near), "{found:?}");
}

#[test]
fn commands_skip_the_gaps() {
    let session = TestSession::new();
    let whole = session.filled(&random_bytes(8, 128 + PITCH * HEIGHT));
    let part = create_part(&whole, CL_MEM_READ_WRITE, 128, PITCH * HEIGHT).expect("it is aligned");
    let image = create_over(&session, &part, PITCH).expect("the rows fit");
    let content = session.read::<u8>(&part, PITCH * HEIGHT);
    let mut found = vec![0; WIDTH * HEIGHT * 4];
    let region = [WIDTH, HEIGHT, 1];
    let move_rows = |bytes: &mut [u8], writes| {
        assert_eq!(
            transfer(&session, &image, [0; 3], region, [0; 2], bytes, writes),
            Ok(())
        );
    };
    move_rows(&mut found, false);
    assert_eq!(found, pick_rows(&content));
    let mut changed = random_bytes(9, found.len());
    move_rows(&mut changed, true);
    let after = session.read::<u8>(&part, PITCH * HEIGHT);
    assert_eq!(pick_rows(&after), changed);
    for (row, old) in after.chunks(PITCH).zip(content.chunks(PITCH)) {
        assert_eq!(row[WIDTH * 4..], old[WIDTH * 4..]);
    }
    let (mut pitch, mut code) = (0, 1);
    let (origin, list) = ([1_usize, 2, 0], [2_usize, 2, 1]);
    let (queue, flags, none) = (session.queue.raw, CL_MAP_READ, null_mut());
    let address = cl!(clEnqueueMapImage(
        queue,
        image.raw,
        CL_TRUE,
        flags,
        origin.as_ptr(),
        list.as_ptr(),
        &raw mut pitch,
        none,
        0,
        null(),
        none.cast(),
        &raw mut code
    ));
    assert_eq!((code, pitch), (CL_SUCCESS, PITCH));
    // SAFETY: two rows are mapped.
    let second = unsafe { std::slice::from_raw_parts(address.cast::<u8>().add(PITCH), 8) };
    assert_eq!(second, &after[3 * PITCH + 4..3 * PITCH + 12]);
    let unmapped = cl!(clEnqueueUnmapMemObject(
        queue,
        image.raw,
        address,
        0,
        null(),
        none.cast()
    ));
    assert_eq!(unmapped, CL_SUCCESS);
    session.finish();
}

#[test]
fn queries_and_errors_name_the_pitch() {
    let session = TestSession::new();
    let buffer = session.buffer(PITCH * HEIGHT);
    let image = create_over(&session, &buffer, PITCH).expect("the rows fit");
    let ask = |name| {
        ask_value::<usize>(|size, value, out| {
            cl!(clGetImageInfo(image.raw, name, size, value, out))
        })
    };
    assert_eq!(ask(CL_IMAGE_ROW_PITCH), Ok(PITCH));
    assert_eq!(ask(CL_IMAGE_SLICE_PITCH), Ok(0));
    assert_eq!(ask(CL_IMAGE_HEIGHT), Ok(HEIGHT));
    assert_eq!(ask(CL_IMAGE_BUFFER), Ok(buffer.raw as usize));
    let refused = |pitch| create_over(&session, &buffer, pitch).err();
    let descriptor = Some(CL_INVALID_IMAGE_DESCRIPTOR);
    assert_eq!(refused(WIDTH * 4 - 4), descriptor);
    assert_eq!(refused(PITCH + 1), descriptor);
    assert_eq!(refused(PITCH + 4), Some(CL_INVALID_IMAGE_SIZE));
    assert_eq!(refused(0), None);
    let over_image = create_over(&session, &image, PITCH).err();
    assert_eq!(over_image, Some(CL_INVALID_OPERATION));
    let extensions = ask_text(|size, value, out| {
        let name = CL_DEVICE_EXTENSIONS;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    });
    assert!(extensions.is_ok_and(|names| names.contains("cl_khr_image2d_from_buffer")));
    let alignment = ask_value::<cl_uint>(|size, value, out| {
        let name = CL_DEVICE_IMAGE_PITCH_ALIGNMENT;
        cl!(clGetDeviceInfo(session.device, name, size, value, out))
    });
    assert_eq!(alignment, Ok(1));
}
