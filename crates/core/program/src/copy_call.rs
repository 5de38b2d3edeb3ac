//! Strided copies as calls of a program's copy functions.
//!
//! A copy is reduced to as few dimensions as possible; the last is the one in which the target's elements are contiguous.
//! A transposition goes through workgroup memory, so that accesses of both sides are contiguous.
//! Source: Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA" (2009).

use crate::program::CopyKernels;
use smallvec::{SmallVec, smallvec};

/// A side of a copy: the first element, and a stride for each dimension, in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StridedView {
    pub first: i64,
    pub strides: SmallVec<[i64; RANK]>,
}

/// A call of a copy function: its number, and its scalars.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CopyKernelCall {
    pub function: usize,
    pub scalars: SmallVec<[i64; CopyKernels::STRIDED]>,
}

/// Number of elements that a workgroup of the strided kernel copies.
const GROUP: i64 = 256;
/// Side of a tile of the tiled kernel.
const TILE: i64 = 32;

/// Fewest rows and columns that are worth tiles.
const LEAST: i64 = 8;

/// Most dimensions of the strided kernel.
const RANK: usize = 4;

/// Size in bytes of the elements as which contiguous bytes are copied.
const WORD: i64 = 4;

/// A dimension: its size, and the strides of the target and the source.
#[derive(Clone, Copy, Debug)]
struct CopyDimension {
    size: i64,
    to: i64,
    from: i64,
}

/// The call for a copy of elements of `size` bytes that lies within its blocks; `None` where the program has no function
/// for it.
pub(crate) fn select_copier_call(
    copiers: &[CopyKernels],
    size: u64,
    shape: &[i64],
    to: &StridedView,
    from: &StridedView,
) -> Option<CopyKernelCall> {
    let mut dimensions = merge_dimensions(shape, to, from)?;
    let (mut to, mut from, mut bytes) = (to.first, from.first, size as i64);
    if let [only] = &mut dimensions[..]
        && (only.to, only.from) == (1, 1)
        && [to, from, only.size].iter().all(|n| n * bytes % WORD == 0)
    {
        for number in [&mut to, &mut from, &mut only.size] {
            *number = *number * bytes / WORD;
        }
        bytes = WORD;
    }
    let fits = |n: i64| i32::try_from(n).is_ok();
    let ends = |first: i64, stride: fn(&CopyDimension) -> i64| {
        let spans = dimensions.iter().map(|d| (d.size - 1) * stride(d));
        spans.fold(first, |end, span| end + span.max(0))
    };
    let all_fit = fits(ends(to, |d| d.to)) && fits(ends(from, |d| d.from));
    let copier = copiers.iter().find(|c| c.size == bytes as u64);
    let copier = copier.filter(|_| all_fit && fits(to) && fits(from))?;
    let count = dimensions.iter().map(|d| d.size).product::<i64>();
    match build_tiled_call(copier, &dimensions, to, from) {
        Some(call) => Some(call),
        None => fits(count).then(|| build_strided_call(copier, &dimensions, count, to, from))?,
    }
}

/// The dimensions with more than one element, ordered by the target's strides and merged where possible; `None` when
/// elements of the target are written twice, because the order matters then.
fn merge_dimensions(
    shape: &[i64],
    to: &StridedView,
    from: &StridedView,
) -> Option<SmallVec<[CopyDimension; RANK]>> {
    let strides = to.strides.iter().zip(&from.strides);
    let all = shape.iter().zip(strides);
    let mut all: SmallVec<[CopyDimension; RANK]> = all
        .map(|(size, (to, from))| CopyDimension {
            size: *size,
            to: *to,
            from: *from,
        })
        .filter(|d| d.size != 1)
        .collect();
    all.sort_by_key(|d| std::cmp::Reverse(d.to.unsigned_abs()));
    let mut merged: SmallVec<[CopyDimension; RANK]> = SmallVec::new();
    for inner in all {
        if inner.to == 0 {
            return None;
        }
        match merged.last_mut() {
            Some(outer)
                if (outer.to, outer.from) == (inner.to * inner.size, inner.from * inner.size) =>
            {
                *outer = CopyDimension {
                    size: outer.size * inner.size,
                    ..inner
                };
            }
            _ => merged.push(inner),
        }
    }
    Some(merged)
}

/// The call of the strided kernel; missing dimensions are added at the front.
fn build_strided_call(
    copier: &CopyKernels,
    dimensions: &[CopyDimension],
    count: i64,
    to: i64,
    from: i64,
) -> Option<CopyKernelCall> {
    let mut all = [CopyDimension {
        size: 1,
        to: 0,
        from: 0,
    }; RANK];
    let missing = RANK.checked_sub(dimensions.len())?;
    all[missing..].copy_from_slice(dimensions);
    let mut scalars: SmallVec<_> = smallvec![count_groups(count, GROUP), count];
    scalars.extend(all[1..].iter().map(|d| d.size));
    scalars.push(to);
    scalars.extend(all.iter().map(|d| d.to));
    scalars.push(from);
    scalars.extend(all.iter().map(|d| d.from));
    Some(CopyKernelCall {
        function: copier.strided,
        scalars,
    })
}

/// The call of the tiled kernel, where the source is contiguous in another dimension than the target.
fn build_tiled_call(
    copier: &CopyKernels,
    dimensions: &[CopyDimension],
    to: i64,
    from: i64,
) -> Option<CopyKernelCall> {
    let (columns, outer) = dimensions.split_last()?;
    let at = outer.iter().position(|d| d.from == 1)?;
    let rows = outer[at];
    let one = CopyDimension {
        size: 1,
        to: 0,
        from: 0,
    };
    let batch = match outer.len() {
        1 => one,
        2 => outer[1 - at],
        _ => return None,
    };
    let is_worth = columns.to == 1 && columns.from != 1 && rows.size.min(columns.size) >= LEAST;
    let (down, across) = (
        count_groups(rows.size, TILE),
        count_groups(columns.size, TILE),
    );
    let all = batch.size.checked_mul(down)?.checked_mul(across)?;
    let fits = is_worth && i32::try_from(all).is_ok();
    fits.then(|| CopyKernelCall {
        function: copier.tiled,
        scalars: smallvec![
            all,
            rows.size,
            columns.size,
            down,
            across,
            to,
            batch.to,
            rows.to,
            from,
            batch.from,
            columns.from,
        ],
    })
}

/// The quotient of positive numbers, rounded up.
fn count_groups(number: i64, of: i64) -> i64 {
    (number as u64).div_ceil(of as u64) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    const COPIERS: &[CopyKernels] = &[
        CopyKernels {
            size: 4,
            strided: 0,
            tiled: 1,
        },
        CopyKernels {
            size: 1,
            strided: 2,
            tiled: 3,
        },
    ];

    fn make_side(first: i64, strides: &[i64]) -> StridedView {
        StridedView {
            first,
            strides: strides.into(),
        }
    }

    fn find_call(
        size: u64,
        shape: &[i64],
        to: StridedView,
        from: StridedView,
    ) -> Option<(usize, Vec<i64>)> {
        select_copier_call(COPIERS, size, shape, &to, &from)
            .map(|call| (call.function, call.scalars.into_vec()))
    }

    #[test]
    fn what_is_contiguous_is_one_dimension() {
        let (to, from) = (make_side(0, &[12, 4, 1]), make_side(24, &[12, 4, 1]));
        let expected = vec![1, 24, 1, 1, 24, 0, 0, 0, 0, 1, 24, 0, 0, 0, 1];
        assert_eq!(find_call(4, &[2, 3, 4], to, from), Some((0, expected)));
    }

    #[test]
    fn bytes_are_copied_as_words_where_they_are_aligned() {
        let expected = vec![1, 2, 1, 1, 2, 0, 0, 0, 0, 1, 1, 0, 0, 0, 1];
        let aligned = find_call(1, &[8], make_side(0, &[1]), make_side(4, &[1]));
        assert_eq!(aligned, Some((0, expected)));
        let (function, scalars) =
            find_call(1, &[8], make_side(0, &[1]), make_side(3, &[1])).unwrap();
        assert_eq!((function, scalars[1]), (2, 8));
        assert_eq!(
            find_call(2, &[3], make_side(0, &[1]), make_side(0, &[1])),
            None
        );
    }

    #[test]
    fn a_transposition_is_tiled() {
        let (to, from) = (make_side(0, &[6400, 64, 1]), make_side(7, &[6400, 1, 100]));
        let expected = vec![32, 100, 64, 4, 2, 0, 6400, 64, 7, 6400, 100];
        assert_eq!(find_call(4, &[4, 100, 64], to, from), Some((1, expected)));
        // Too thin for tiles.
        let (function, _) =
            find_call(4, &[64, 3], make_side(0, &[3, 1]), make_side(0, &[1, 64])).unwrap();
        assert_eq!(function, 0);
    }

    #[test]
    fn what_the_kernels_cannot_do_is_left() {
        let none = |shape: &[i64], to: &[i64], from: &[i64]| {
            assert_eq!(
                find_call(4, shape, make_side(0, to), make_side(0, from)),
                None
            );
        };
        none(&[2, 2], &[0, 1], &[2, 1]);
        none(&[1 << 40], &[1], &[0]);
        none(&[2, 2, 2, 2, 2], &[16, 8, 4, 2, 1], &[1, 2, 4, 8, 16]);
    }
}
