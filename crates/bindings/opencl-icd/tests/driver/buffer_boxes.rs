//! Boxes of buffers: random ones against a model that copies bytes.

use crate::caller::check;
use crate::session::{TestSession, create_part, use_many_handles};
use opencl_sys::*;
use spirula_testing::ChoiceSequence;
use std::ptr::{null, null_mut};

/// A box as callers describe it.
#[derive(Clone, Copy, Debug)]
struct TestBox {
    origin: [usize; 3],
    row_pitch: usize,
    slice_pitch: usize,
}

impl TestBox {
    fn draw(choices: &mut ChoiceSequence<'_>, region: [usize; 3]) -> TestBox {
        let row = [0, region[0], region[0] + 3][choices.choose_below(3)];
        let used = if row == 0 { region[0] } else { row };
        let slice = [0, used * region[1], used * (region[1] + 2)][choices.choose_below(3)];
        TestBox {
            origin: [4, 3, 2].map(|most| choices.choose_below(most)),
            row_pitch: row,
            slice_pitch: slice,
        }
    }

    /// The positions of the bytes of the region.
    fn positions(&self, region: [usize; 3]) -> Vec<usize> {
        let row = if self.row_pitch == 0 {
            region[0]
        } else {
            self.row_pitch
        };
        let dense = row * region[1];
        let slice = if self.slice_pitch == 0 {
            dense
        } else {
            self.slice_pitch
        };
        let [x, y, z] = self.origin;
        let mut all = Vec::new();
        for (k, j) in (0..region[2]).flat_map(|k| (0..region[1]).map(move |j| (k, j))) {
            all.extend((0..region[0]).map(|i| (z + k) * slice + (y + j) * row + x + i));
        }
        all
    }
}

/// A stream of bytes that is the same in each run.
pub fn random_bytes(seed: u64, count: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..count).map(|_| next()).collect()
}

const SIZE: usize = 512;

fn transfer(
    session: &TestSession,
    buffer: cl_mem,
    boxes: [&TestBox; 2],
    region: [usize; 3],
    host: &mut [u8],
    writes: bool,
) -> Result<(), cl_int> {
    let [device, own] = boxes;
    let (queue, event) = (session.queue.raw, null_mut());
    let (to, from) = (device.origin.as_ptr(), own.origin.as_ptr());
    let (row, slice) = (device.row_pitch, device.slice_pitch);
    let (host_row, host_slice) = (own.row_pitch, own.slice_pitch);
    let (size, pointer) = (region.as_ptr(), host.as_mut_ptr().cast());
    check(if writes {
        cl!(clEnqueueWriteBufferRect(
            queue,
            buffer,
            1,
            to,
            from,
            size,
            row,
            slice,
            host_row,
            host_slice,
            pointer,
            0,
            null(),
            event
        ))
    } else {
        cl!(clEnqueueReadBufferRect(
            queue,
            buffer,
            1,
            to,
            from,
            size,
            row,
            slice,
            host_row,
            host_slice,
            pointer,
            0,
            null(),
            event
        ))
    })
}

#[test]
fn random_transfers_move_the_bytes_of_a_model() {
    let _guard = use_many_handles();
    let session = TestSession::new();
    for seed in 0..400 {
        let bytes = random_bytes(seed, 64);
        let mut choices = ChoiceSequence::new(&bytes);
        let region = [9, 5, 4].map(|most| 1 + choices.choose_below(most));
        let boxes = [0, 1].map(|_| TestBox::draw(&mut choices, region));
        let writes = choices.choose_below(2) == 1;
        let [places, host_places] = boxes.map(|each| each.positions(region));
        let mut host = random_bytes(seed + 1000, 4096);
        let mut model = random_bytes(seed + 2000, SIZE);
        let buffer = session.filled(&model);
        let mut expected_host = host.clone();
        let fits = places.iter().all(|at| *at < SIZE);
        let [device, own] = &boxes;
        let done = transfer(
            &session,
            buffer.raw,
            [device, own],
            region,
            &mut host,
            writes,
        );
        assert_eq!(done.is_ok(), fits, "{seed}: {boxes:?} {region:?}");
        for (at, host_at) in places.iter().zip(&host_places).filter(|_| fits) {
            if writes {
                model[*at] = expected_host[*host_at];
            } else {
                expected_host[*host_at] = model[*at];
            }
        }
        assert_eq!(host, expected_host, "{seed}: {boxes:?} {region:?}");
        let found = session.read::<u8>(&buffer, SIZE);
        assert_eq!(found, model, "{seed}: {boxes:?} {region:?}");
    }
}

fn copy_box(
    session: &TestSession,
    memories: [cl_mem; 2],
    boxes: [&TestBox; 2],
    region: [usize; 3],
) -> Result<(), cl_int> {
    let [from, to] = boxes;
    let queue = session.queue.raw;
    check(cl!(clEnqueueCopyBufferRect(
        queue,
        memories[0],
        memories[1],
        from.origin.as_ptr(),
        to.origin.as_ptr(),
        region.as_ptr(),
        from.row_pitch,
        from.slice_pitch,
        to.row_pitch,
        to.slice_pitch,
        0,
        null(),
        null_mut()
    )))
}

#[test]
fn random_copies_move_the_bytes_of_a_model() {
    let _guard = use_many_handles();
    let session = TestSession::new();
    for seed in 0..400 {
        let bytes = random_bytes(seed, 64);
        let mut choices = ChoiceSequence::new(&bytes);
        let region = [7, 4, 3].map(|most| 1 + choices.choose_below(most));
        let from = TestBox::draw(&mut choices, region);
        let is_same = choices.choose_below(2) == 0;
        let mut to = TestBox::draw(&mut choices, region);
        if is_same {
            (to.row_pitch, to.slice_pitch) = (from.row_pitch, from.slice_pitch);
        }
        let (places, targets) = (from.positions(region), to.positions(region));
        let source = random_bytes(seed + 1000, SIZE);
        let mut model = if is_same {
            source.clone()
        } else {
            vec![0; SIZE]
        };
        let first = session.filled(&source);
        let second = session.filled(&model);
        let target = if is_same { &first } else { &second };
        let done = copy_box(&session, [first.raw, target.raw], [&from, &to], region);
        let fits = places.iter().chain(&targets).all(|at| *at < SIZE);
        let overlaps = is_same && places.iter().any(|at| targets.contains(at));
        let expected = match (fits, overlaps) {
            (false, _) => Err(CL_INVALID_VALUE),
            (true, true) => Err(CL_MEM_COPY_OVERLAP),
            (true, false) => Ok(()),
        };
        assert_eq!(done, expected, "{seed}: {from:?} {to:?} {region:?}");
        if done.is_ok() {
            for (at, target) in places.iter().zip(&targets) {
                model[*target] = source[*at];
            }
        }
        let found = session.read::<u8>(target, SIZE);
        assert_eq!(found, model, "{seed}: {from:?} {to:?} {region:?}");
    }
}

#[test]
fn boxes_refuse_wrong_pitches_and_regions() {
    let session = TestSession::new();
    let buffer = session.buffer(SIZE);
    let part = create_part(&buffer, 0, 128, 128).expect("it is aligned");
    let mut host = [0; 4096];
    let plain = TestBox {
        origin: [0; 3],
        row_pitch: 0,
        slice_pitch: 0,
    };
    let wrong = [
        (
            TestBox {
                row_pitch: 3,
                ..plain
            },
            [4, 2, 1],
        ),
        (
            TestBox {
                slice_pitch: 7,
                ..plain
            },
            [4, 2, 1],
        ),
        (
            TestBox {
                row_pitch: 4,
                slice_pitch: 9,
                ..plain
            },
            [4, 2, 2],
        ),
        (
            TestBox {
                row_pitch: usize::MAX,
                ..plain
            },
            [4, 2, 2],
        ),
        (
            TestBox {
                slice_pitch: usize::MAX / 4 * 4,
                row_pitch: 4,
                ..plain
            },
            [4, 2, 2],
        ),
        (
            TestBox {
                origin: [usize::MAX, 0, 0],
                ..plain
            },
            [4, 2, 2],
        ),
        (
            TestBox {
                origin: [0, usize::MAX, 2],
                ..plain
            },
            [4, 2, 2],
        ),
        (plain, [0, 1, 1]),
        (plain, [1, 0, 1]),
        (plain, [1, 1, 0]),
        (plain, [usize::MAX, 2, 2]),
        (plain, [1, usize::MAX, 2]),
        (plain, [SIZE + 1, 1, 1]),
    ];
    for (wrong, region) in wrong {
        for writes in [false, true] {
            for boxes in [[&wrong, &plain], [&wrong, &wrong]] {
                let done = transfer(&session, buffer.raw, boxes, region, &mut host, writes);
                assert_eq!(done, Err(CL_INVALID_VALUE), "{boxes:?} {region:?}");
            }
        }
        let copied = copy_box(&session, [buffer.raw, part.raw], [&wrong, &plain], region);
        assert_eq!(copied, Err(CL_INVALID_VALUE), "{wrong:?} {region:?}");
    }
    let large = transfer(
        &session,
        part.raw,
        [&plain, &plain],
        [129, 1, 1],
        &mut host,
        true,
    );
    assert_eq!(large, Err(CL_INVALID_VALUE));
    let shifted = TestBox {
        origin: [120, 0, 0],
        ..plain
    };
    let overlap = copy_box(
        &session,
        [buffer.raw, part.raw],
        [&shifted, &plain],
        [16, 1, 1],
    );
    assert_eq!(overlap, Err(CL_MEM_COPY_OVERLAP));
    let other = TestBox {
        row_pitch: 32,
        ..plain
    };
    let pitches = copy_box(&session, [buffer.raw; 2], [&plain, &other], [4, 1, 1]);
    assert_eq!(
        pitches,
        Err(CL_INVALID_VALUE),
        "pitches in one buffer are the same"
    );
}
