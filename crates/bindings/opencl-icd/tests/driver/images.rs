//! Images: their creation, transfers, copies and fills against a model.

use crate::buffer_boxes::random_bytes;
use crate::caller::{ObjectKind, OwnedHandle, ask_list, ask_value, check};
use crate::session::TestSession;
use opencl_sys::*;
use spirula_testing::ChoiceSequence;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

pub const RGBA8: cl_image_format = cl_image_format {
    image_channel_order: CL_RGBA,
    image_channel_data_type: CL_UNSIGNED_INT8,
};

/// A description of an image without memory of the caller.
pub fn describe(kind: cl_mem_object_type, size: [usize; 3]) -> cl_image_desc {
    let is_array = [CL_MEM_OBJECT_IMAGE1D_ARRAY, CL_MEM_OBJECT_IMAGE2D_ARRAY].contains(&kind);
    let layers = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY {
        size[1]
    } else {
        size[2]
    };
    cl_image_desc {
        image_type: kind,
        image_width: size[0],
        image_height: size[1],
        image_depth: size[2],
        image_array_size: if is_array { layers } else { 0 },
        image_row_pitch: 0,
        image_slice_pitch: 0,
        num_mip_levels: 0,
        num_samples: 0,
        buffer: null_mut(),
    }
}

pub fn create_image(
    session: &TestSession,
    flags: cl_mem_flags,
    format: &cl_image_format,
    description: &cl_image_desc,
    pointer: *const c_void,
) -> Result<OwnedHandle, cl_int> {
    let (mut code, context, to) = (1, session.context.raw, pointer.cast_mut());
    let (texels, shape) = (&raw const *format, &raw const *description);
    let raw = cl!(clCreateImage(
        context,
        flags,
        texels,
        shape,
        to,
        &raw mut code
    ));
    OwnedHandle::new(ObjectKind::Memory, raw, code)
}

/// The kinds of images with a size of each.
const KINDS: [(cl_mem_object_type, [usize; 3]); 5] = [
    (CL_MEM_OBJECT_IMAGE1D, [19, 1, 1]),
    (CL_MEM_OBJECT_IMAGE2D, [7, 6, 1]),
    (CL_MEM_OBJECT_IMAGE3D, [5, 4, 3]),
    (CL_MEM_OBJECT_IMAGE1D_ARRAY, [6, 5, 1]),
    (CL_MEM_OBJECT_IMAGE2D_ARRAY, [4, 3, 5]),
];

/// Reads or writes a region of an image; `pitches` are those of the caller's memory.
pub fn transfer(
    session: &TestSession,
    image: &OwnedHandle,
    origin: [usize; 3],
    region: [usize; 3],
    pitches: [usize; 2],
    bytes: &mut [u8],
    writes: bool,
) -> Result<(), cl_int> {
    let (queue, event, image) = (session.queue.raw, null_mut(), image.raw);
    let (first, size) = (origin.as_ptr(), region.as_ptr());
    let ([row, slice], pointer) = (pitches, bytes.as_mut_ptr().cast());
    check(if writes {
        cl!(clEnqueueWriteImage(
            queue,
            image,
            1,
            first,
            size,
            row,
            slice,
            pointer,
            0,
            null(),
            event
        ))
    } else {
        cl!(clEnqueueReadImage(
            queue,
            image,
            1,
            first,
            size,
            row,
            slice,
            pointer,
            0,
            null(),
            event
        ))
    })
}

/// A region of an image.
#[derive(Clone, Copy, Debug)]
struct TexelRegion {
    origin: [usize; 3],
    size: [usize; 3],
}

impl TexelRegion {
    fn draw(choices: &mut ChoiceSequence<'_>, extent: [usize; 3]) -> TexelRegion {
        let origin = extent.map(|most| choices.choose_below(most));
        let mut size = [1; 3];
        for axis in 0..3 {
            size[axis] = 1 + choices.choose_below(extent[axis] - origin[axis]);
        }
        TexelRegion { origin, size }
    }

    /// The first bytes of its texels in an image.
    fn texels(&self, extent: [usize; 3]) -> Vec<usize> {
        let ([x, y, z], [w, h, d]) = (self.origin, self.size);
        let mut all = Vec::new();
        for (k, j) in (0..d).flat_map(|k| (0..h).map(move |j| (k, j))) {
            let row = ((z + k) * extent[1] + y + j) * extent[0] + x;
            all.extend((row..row + w).map(|texel| texel * 4));
        }
        all
    }
}

fn open(
    session: &TestSession,
    kind: cl_mem_object_type,
    size: [usize; 3],
    texels: &[u8],
) -> OwnedHandle {
    let flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let description = describe(kind, size);
    let made = create_image(session, flags, &RGBA8, &description, texels.as_ptr().cast());
    made.expect("there is such an image")
}

fn read_all(session: &TestSession, image: &OwnedHandle, extent: [usize; 3]) -> Vec<u8> {
    let mut found = vec![0; extent.iter().product::<usize>() * 4];
    let read = transfer(session, image, [0; 3], extent, [0; 2], &mut found, false);
    assert_eq!(read, Ok(()));
    found
}

#[test]
fn random_transfers_move_the_texels_of_a_model() {
    let session = TestSession::new();
    for (kind, extent) in KINDS {
        for seed in 0..40 {
            let mut model = random_bytes(seed, extent.iter().product::<usize>() * 4);
            let image = open(&session, kind, extent, &model);
            let bytes = random_bytes(seed + 500, 32);
            let mut choices = ChoiceSequence::new(&bytes);
            let region = TexelRegion::draw(&mut choices, extent);
            let writes = choices.choose_below(2) == 1;
            let row = region.size[0] * 4 + [0, 8][choices.choose_below(2)];
            let rows = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY {
                1
            } else {
                region.size[1]
            };
            let has_slices = ![CL_MEM_OBJECT_IMAGE1D, CL_MEM_OBJECT_IMAGE2D].contains(&kind);
            let more = if has_slices {
                [0, row][choices.choose_below(2)]
            } else {
                0
            };
            let slice = row * rows + more;
            let pitches = [row, if has_slices { slice } else { 0 }];
            let mut host = random_bytes(seed + 900, 8192);
            let mut expected = host.clone();
            let done = transfer(
                &session,
                &image,
                region.origin,
                region.size,
                pitches,
                &mut host,
                writes,
            );
            assert_eq!(done, Ok(()), "{kind:#x} {seed} {region:?}");
            for (number, texel) in region.texels(extent).into_iter().enumerate() {
                let [w, h] = [region.size[0], region.size[1]];
                let (x, y, z) = (number % w, number / w % h, number / w / h);
                let place = if kind == CL_MEM_OBJECT_IMAGE1D_ARRAY {
                    y * slice + x * 4
                } else {
                    z * slice + y * row + x * 4
                };
                if writes {
                    model[texel..texel + 4].copy_from_slice(&expected[place..place + 4]);
                } else {
                    expected[place..place + 4].copy_from_slice(&model[texel..texel + 4]);
                }
            }
            assert_eq!(host, expected, "{kind:#x} {seed} {region:?} {pitches:?}");
            let found = read_all(&session, &image, extent);
            assert_eq!(found, model, "{kind:#x} {seed} {region:?} {pitches:?}");
        }
    }
}

fn copy_image(
    session: &TestSession,
    from: &OwnedHandle,
    to: &OwnedHandle,
    origins: [[usize; 3]; 2],
    region: [usize; 3],
) -> Result<(), cl_int> {
    let (queue, event) = (session.queue.raw, null_mut());
    let (first, second, size) = (origins[0].as_ptr(), origins[1].as_ptr(), region.as_ptr());
    check(cl!(clEnqueueCopyImage(
        queue,
        from.raw,
        to.raw,
        first,
        second,
        size,
        0,
        null(),
        event
    )))
}

#[test]
fn random_copies_move_the_texels_of_a_model() {
    let session = TestSession::new();
    for (kind, extent) in KINDS {
        for seed in 0..40 {
            let count = extent.iter().product::<usize>() * 4;
            let (source, mut model) = (random_bytes(seed, count), random_bytes(seed + 1, count));
            let first = open(&session, kind, extent, &source);
            let second = open(&session, kind, extent, &model);
            let bytes = random_bytes(seed + 500, 32);
            let mut choices = ChoiceSequence::new(&bytes);
            let from = TexelRegion::draw(&mut choices, extent);
            let mut to = from;
            let room = extent.iter().zip(from.size);
            for (first, (most, size)) in to.origin.iter_mut().zip(room) {
                *first = choices.choose_below(most - size + 1);
            }
            let origins = [from.origin, to.origin];
            assert_eq!(
                copy_image(&session, &first, &second, origins, from.size),
                Ok(())
            );
            let places = from.texels(extent).into_iter().zip(to.texels(extent));
            let places: Vec<(usize, usize)> = places.collect();
            for (at, target) in &places {
                model[*target..target + 4].copy_from_slice(&source[*at..at + 4]);
            }
            assert_eq!(
                read_all(&session, &second, extent),
                model,
                "{kind:#x} {seed}"
            );
            let targets: Vec<usize> = places.iter().map(|(_, target)| *target).collect();
            let overlaps = places.iter().any(|(at, _)| targets.contains(at));
            let expected = if overlaps {
                Err(CL_MEM_COPY_OVERLAP)
            } else {
                Ok(())
            };
            let done = copy_image(&session, &first, &first, origins, from.size);
            assert_eq!(done, expected, "{kind:#x} {seed} {from:?} {to:?}");
        }
    }
}

#[test]
fn random_copies_go_to_buffers_and_back() {
    let session = TestSession::new();
    let (queue, event) = (session.queue.raw, null_mut());
    for (kind, extent) in KINDS {
        for seed in 0..40 {
            let count = extent.iter().product::<usize>() * 4;
            let mut model = random_bytes(seed, count);
            let image = open(&session, kind, extent, &model);
            let mut dense = random_bytes(seed + 1, count + 16);
            let buffer = session.filled(&dense);
            let bytes = random_bytes(seed + 500, 32);
            let mut choices = ChoiceSequence::new(&bytes);
            let region = TexelRegion::draw(&mut choices, extent);
            let offset = choices.choose_below(16);
            let (first, size) = (region.origin.as_ptr(), region.size.as_ptr());
            let to_image = choices.choose_below(2) == 1;
            let (image_raw, raw) = (image.raw, buffer.raw);
            let code = if to_image {
                cl!(clEnqueueCopyBufferToImage(
                    queue,
                    raw,
                    image_raw,
                    offset,
                    first,
                    size,
                    0,
                    null(),
                    event
                ))
            } else {
                cl!(clEnqueueCopyImageToBuffer(
                    queue,
                    image_raw,
                    raw,
                    first,
                    size,
                    offset,
                    0,
                    null(),
                    event
                ))
            };
            assert_eq!(code, CL_SUCCESS);
            for (number, texel) in region.texels(extent).into_iter().enumerate() {
                let place = offset + number * 4;
                if to_image {
                    model[texel..texel + 4].copy_from_slice(&dense[place..place + 4]);
                } else {
                    dense[place..place + 4].copy_from_slice(&model[texel..texel + 4]);
                }
            }
            assert_eq!(
                read_all(&session, &image, extent),
                model,
                "{kind:#x} {seed}"
            );
            assert_eq!(
                session.read::<u8>(&buffer, dense.len()),
                dense,
                "{kind:#x} {seed}"
            );
        }
    }
}

#[test]
fn fills_write_the_colour() {
    let session = TestSession::new();
    let (queue, event) = (session.queue.raw, null_mut());
    let colour = [1_u32, 2, 300, 4];
    for (kind, extent) in KINDS {
        let mut model = random_bytes(3, extent.iter().product::<usize>() * 4);
        let image = open(&session, kind, extent, &model);
        let bytes = random_bytes(77, 32);
        let region = TexelRegion::draw(&mut ChoiceSequence::new(&bytes), extent);
        let (first, size) = (region.origin.as_ptr(), region.size.as_ptr());
        let from = colour.as_ptr().cast();
        let code = cl!(clEnqueueFillImage(
            queue,
            image.raw,
            from,
            first,
            size,
            0,
            null(),
            event
        ));
        assert_eq!(code, CL_SUCCESS);
        for texel in region.texels(extent) {
            model[texel..texel + 4].copy_from_slice(&[1, 2, 255, 4]);
        }
        assert_eq!(read_all(&session, &image, extent), model, "{kind:#x}");
        let code = cl!(clEnqueueFillImage(
            queue,
            image.raw,
            null(),
            first,
            size,
            0,
            null(),
            event
        ));
        assert_eq!(code, CL_INVALID_VALUE);
    }
}

#[test]
fn transfers_refuse_wrong_regions() {
    let session = TestSession::new();
    let mut bytes = vec![0; 4096];
    for (kind, extent) in KINDS {
        let image = open(&session, kind, extent, &vec![0; 1024]);
        let [w, h, d] = extent;
        let wrong = [
            ([0; 3], [w + 1, h, d]),
            ([0; 3], [w, h + 1, d]),
            ([0; 3], [w, h, d + 1]),
            ([1, 0, 0], extent),
            ([usize::MAX, 0, 0], [2, 1, 1]),
            ([0; 3], [0, 1, 1]),
            ([0; 3], [1, 0, 1]),
            ([0; 3], [1, 1, 0]),
        ];
        for (origin, region) in wrong {
            for writes in [false, true] {
                let done = transfer(&session, &image, origin, region, [0; 2], &mut bytes, writes);
                assert_eq!(
                    done,
                    Err(CL_INVALID_VALUE),
                    "{kind:#x} {origin:?} {region:?}"
                );
            }
        }
        let narrow = [w * 4 - 1, 0];
        let done = transfer(&session, &image, [0; 3], extent, narrow, &mut bytes, false);
        assert_eq!(done, Err(CL_INVALID_VALUE), "{kind:#x}");
    }
}

#[test]
fn creation_refuses_wrong_formats() {
    let session = TestSession::new();
    let plane = describe(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
    let make = |format: &_, shape: &_| create_image(&session, 0, format, shape, null()).err();
    let format = |order, channels| cl_image_format {
        image_channel_order: order,
        image_channel_data_type: channels,
    };
    let unknown = Some(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR);
    assert_eq!(make(&format(0, CL_UNSIGNED_INT8), &plane), unknown);
    assert_eq!(make(&format(CL_RGBA, 0), &plane), unknown);
    let unsupported = Some(CL_IMAGE_FORMAT_NOT_SUPPORTED);
    assert_eq!(
        make(&format(CL_RGBA, CL_UNORM_SHORT_565), &plane),
        unsupported
    );
}

#[test]
fn creation_refuses_wrong_descriptions() {
    let session = TestSession::new();
    let plane = describe(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
    let make = |format: &_, shape: &_| create_image(&session, 0, format, shape, null()).err();
    let wrong = Some(CL_INVALID_IMAGE_DESCRIPTOR);
    let kind = cl_image_desc {
        image_type: CL_MEM_OBJECT_BUFFER,
        ..plane
    };
    assert_eq!(make(&RGBA8, &kind), wrong);
    assert_eq!(
        make(
            &RGBA8,
            &cl_image_desc {
                num_samples: 2,
                ..plane
            }
        ),
        wrong
    );
    assert_eq!(
        make(
            &RGBA8,
            &cl_image_desc {
                num_mip_levels: 1,
                ..plane
            }
        ),
        wrong
    );
    assert_eq!(
        make(
            &RGBA8,
            &cl_image_desc {
                image_row_pitch: 16,
                ..plane
            }
        ),
        wrong
    );
    let over = cl_image_desc {
        buffer: session.queue.raw,
        ..describe(CL_MEM_OBJECT_IMAGE3D, [4, 4, 4])
    };
    assert_eq!(make(&RGBA8, &over), wrong);
}

#[test]
fn creation_refuses_wrong_sizes() {
    let session = TestSession::new();
    let plane = describe(CL_MEM_OBJECT_IMAGE2D, [4, 4, 1]);
    let make = |format: &_, shape: &_| create_image(&session, 0, format, shape, null()).err();
    let size = Some(CL_INVALID_IMAGE_SIZE);
    assert_eq!(
        make(
            &RGBA8,
            &cl_image_desc {
                image_width: 0,
                ..plane
            }
        ),
        size
    );
    assert_eq!(
        make(
            &RGBA8,
            &cl_image_desc {
                image_height: 0,
                ..plane
            }
        ),
        size
    );
    assert_eq!(
        make(
            &RGBA8,
            &cl_image_desc {
                image_width: 1 << 40,
                ..plane
            }
        ),
        size
    );
    let huge = describe(CL_MEM_OBJECT_IMAGE3D, [1 << 31, 1 << 31, 1 << 31]);
    assert!(make(&RGBA8, &huge).is_some());
    let copies = CL_MEM_COPY_HOST_PTR;
    let made = create_image(&session, copies, &RGBA8, &plane, null());
    assert_eq!(made.err(), Some(CL_INVALID_HOST_PTR));
}

#[test]
fn all_formats_that_are_listed_make_images() {
    let session = TestSession::new();
    for (kind, size) in KINDS {
        let mut count = 0;
        let (context, none) = (session.context.raw, null_mut());
        let code = cl!(clGetSupportedImageFormats(
            context,
            0,
            kind,
            0,
            none,
            &raw mut count
        ));
        assert_eq!(code, CL_SUCCESS);
        let mut formats = vec![RGBA8; count as usize];
        let list = formats.as_mut_ptr();
        let code = cl!(clGetSupportedImageFormats(
            context,
            0,
            kind,
            count,
            list,
            null_mut()
        ));
        assert_eq!(code, CL_SUCCESS);
        assert!(formats.len() > 20);
        for format in &formats {
            let made = create_image(&session, 0, format, &describe(kind, size), null());
            let order = format.image_channel_order;
            assert!(made.is_ok(), "{kind:#x} {order:#x}");
        }
    }
}

#[test]
fn images_tell_their_sizes() {
    let session = TestSession::new();
    for (kind, size) in KINDS {
        let image = create_image(&session, 0, &RGBA8, &describe(kind, size), null());
        let image = image.expect("there is such an image");
        let ask = |name: u32| {
            ask_value::<usize>(|size, value, out| {
                cl!(clGetImageInfo(image.raw, name, size, value, out))
            })
        };
        assert_eq!(ask(CL_IMAGE_WIDTH), Ok(size[0]));
        assert_eq!(ask(CL_IMAGE_ELEMENT_SIZE), Ok(4));
        assert_eq!(ask(CL_IMAGE_ROW_PITCH), Ok(size[0] * 4));
        let [height, depth, layers, slice] = match kind {
            CL_MEM_OBJECT_IMAGE1D => [0; 4],
            CL_MEM_OBJECT_IMAGE2D => [size[1], 0, 0, 0],
            CL_MEM_OBJECT_IMAGE3D => [size[1], size[2], 0, size[0] * size[1] * 4],
            CL_MEM_OBJECT_IMAGE1D_ARRAY => [0, 0, size[1], size[0] * 4],
            _ => [size[1], 0, size[2], size[0] * size[1] * 4],
        };
        assert_eq!(ask(CL_IMAGE_HEIGHT), Ok(height), "{kind:#x}");
        assert_eq!(ask(CL_IMAGE_DEPTH), Ok(depth), "{kind:#x}");
        assert_eq!(ask(CL_IMAGE_ARRAY_SIZE), Ok(layers), "{kind:#x}");
        assert_eq!(ask(CL_IMAGE_SLICE_PITCH), Ok(slice), "{kind:#x}");
        let format: Result<Vec<u32>, _> = ask_list(|size, value, out| {
            cl!(clGetImageInfo(image.raw, CL_IMAGE_FORMAT, size, value, out))
        });
        assert_eq!(format, Ok(vec![CL_RGBA, CL_UNSIGNED_INT8]));
        assert_eq!(ask(0x7777), Err(CL_INVALID_VALUE));
    }
}
