//! Regions: boxes of bytes in memory of rows and slices, and their copies.

use crate::error::{CallError, CallResult};
use std::ops::Range;

/// A box of rows in memory. Rows are counted in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteBox {
    /// First byte.
    pub first: usize,
    /// Bytes from one row to the next.
    pub row_pitch: usize,
    /// Bytes from one slice to the next.
    pub slice_pitch: usize,
}

/// Most bytes at the beginning of a row that are copied to fill it. They stay in the processor's first cache.
const FILL_SOURCE: usize = 16 << 10;

/// The size of a box: bytes of a row, rows, slices.
pub type BoxSize = [usize; 3];

impl ByteBox {
    /// A row of bytes that follow each other.
    pub fn with_row(first: usize, bytes: usize) -> ByteBox {
        ByteBox {
            first,
            row_pitch: bytes,
            slice_pitch: bytes,
        }
    }

    /// The box at an origin of bytes, rows and slices.
    pub fn at_origin(origin: [usize; 3], row_pitch: usize, slice_pitch: usize) -> Option<ByteBox> {
        let slices = origin[2].checked_mul(slice_pitch)?;
        let rows = origin[1].checked_mul(row_pitch)?;
        Some(ByteBox {
            first: slices.checked_add(rows)?.checked_add(origin[0])?,
            row_pitch,
            slice_pitch,
        })
    }

    /// The bytes from the first to the last one.
    ///
    /// # Errors
    /// When there are too many.
    pub fn span(&self, size: BoxSize) -> CallResult<Range<u64>> {
        let last = |n: usize, pitch: usize| n.checked_sub(1)?.checked_mul(pitch);
        let end = last(size[2], self.slice_pitch)
            .zip(last(size[1], self.row_pitch))
            .and_then(|(slices, rows)| slices.checked_add(rows)?.checked_add(size[0]))
            .and_then(|bytes| bytes.checked_add(self.first));
        let end = end.ok_or_else(|| CallError::invalid_value("a region is empty or too large"))?;
        Ok(self.first as u64..end as u64)
    }

    /// The same box in memory that begins at a byte of this one.
    pub fn relative_to(self, start: u64) -> ByteBox {
        ByteBox {
            first: self.first - start as usize,
            ..self
        }
    }

    /// The positions of the rows.
    pub fn row_starts(self, size: BoxSize) -> impl Iterator<Item = usize> {
        (0..size[2]).flat_map(move |slice| {
            (0..size[1])
                .map(move |row| self.first + slice * self.slice_pitch + row * self.row_pitch)
        })
    }

    /// Whether all its bytes follow each other.
    pub fn is_dense(self, size: BoxSize) -> bool {
        let one_slice = size[2] == 1;
        let one_row = size[1] == 1;
        (one_row || self.row_pitch == size[0])
            && (one_slice || self.slice_pitch == size[0] * size[1])
    }
}

/// The size of two boxes in as few rows as possible: one, if the bytes of both follow each other.
pub fn join_rows(boxes: [ByteBox; 2], size: BoxSize) -> BoxSize {
    if boxes.iter().all(|place| place.is_dense(size)) {
        [size.iter().product(), 1, 1]
    } else {
        size
    }
}

/// Copies a box.
pub fn copy_box(to: &mut [u8], to_box: ByteBox, from: &[u8], from_box: ByteBox, size: BoxSize) {
    let size = join_rows([to_box, from_box], size);
    for (target, source) in to_box.row_starts(size).zip(from_box.row_starts(size)) {
        copy_row(
            &mut to[target..target + size[0]],
            &from[source..source + size[0]],
        );
    }
}

/// Copies bytes that may be the same: a program may read a buffer over its own memory to that memory.
pub fn copy_row(to: &mut [u8], from: &[u8]) {
    // SAFETY: both have the length of the shorter one.
    unsafe { std::ptr::copy(from.as_ptr(), to.as_mut_ptr(), to.len().min(from.len())) };
}

/// Fills a box with a pattern, of which each row has a whole number.
pub fn fill_box(to: &mut [u8], to_box: ByteBox, size: BoxSize, pattern: &[u8]) {
    let size = join_rows([to_box; 2], size);
    for start in to_box.row_starts(size) {
        fill_row(&mut to[start..start + size[0]], pattern);
    }
}

/// Fills a row with a pattern. The filled bytes at its beginning are the source of the others.
fn fill_row(row: &mut [u8], pattern: &[u8]) {
    let Some((first, _)) = row.split_at_mut_checked(pattern.len()) else {
        return;
    };
    first.copy_from_slice(pattern);
    let most = FILL_SOURCE - FILL_SOURCE % pattern.len();
    let mut done = pattern.len();
    while done < row.len() {
        let more = done.min(most).min(row.len() - done);
        row.copy_within(..more, done);
        done += more;
    }
}

/// Whether two boxes of one memory have bytes in common.
pub fn boxes_overlap(one: ByteBox, other: ByteBox, size: BoxSize) -> bool {
    let mut ranges: Vec<(usize, bool)> = one.row_starts(size).map(|start| (start, false)).collect();
    ranges.extend(other.row_starts(size).map(|start| (start, true)));
    ranges.sort_unstable();
    let near = ranges.windows(2);
    near.into_iter()
        .any(|pair| pair[0].1 != pair[1].1 && pair[1].0 < pair[0].0 + size[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_are_copied_by_rows() {
        let from: Vec<u8> = (0..60).collect();
        let mut to = vec![0; 40];
        let source = ByteBox::at_origin([1, 1, 0], 5, 20).expect("it is small");
        let target = ByteBox::at_origin([0, 0, 1], 4, 16).expect("it is small");
        copy_box(&mut to, target, &from, source, [2, 2, 2]);
        assert_eq!(to[16..22], [6, 7, 0, 0, 11, 12]);
        assert_eq!(to[32..38], [26, 27, 0, 0, 31, 32]);
        assert_eq!(source.span([2, 2, 2]), Ok(6..33));
    }

    #[test]
    fn rows_are_filled_with_whole_patterns() {
        for length in [1, 2, 3, 4, 8, 12, 16, 128] {
            let pattern: Vec<u8> = (1..=length as u8).collect();
            for count in [1, 2, 3, 7, 1024, 20_001] {
                let place = ByteBox::at_origin([5, 0, 0], length * count + 3, 0);
                let place = place.expect("it is small");
                let mut to = vec![0; 5 + 2 * (length * count + 3)];
                fill_box(&mut to, place, [length * count, 2, 1], &pattern);
                for row in to[5..].chunks(length * count + 3) {
                    let (filled, rest) = row.split_at(length * count);
                    assert!(filled.chunks(length).all(|chunk| chunk == pattern));
                    assert_eq!(rest, [0; 3]);
                }
                assert_eq!(to[..5], [0; 5]);
            }
        }
    }

    #[test]
    fn overlap_is_found_by_rows() {
        let one = ByteBox::at_origin([0, 0, 0], 8, 64).expect("it is small");
        let beside = ByteBox::at_origin([4, 0, 0], 8, 64).expect("it is small");
        let over = ByteBox::at_origin([3, 1, 0], 8, 64).expect("it is small");
        assert!(!boxes_overlap(one, beside, [4, 4, 1]));
        assert!(boxes_overlap(one, over, [4, 4, 1]));
    }
}
