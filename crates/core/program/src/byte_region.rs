//! Byte regions: the parts of blocks that commands access.

/// Rows of bytes in a block, at equal distances. A region about which nothing more is known has one row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ByteRegion {
    /// The first byte.
    pub first: u64,
    /// Number of bytes of a row.
    pub width: u64,
    /// Number of rows.
    pub rows: u64,
    /// Distance in bytes from the start of a row to that of the next.
    pub stride: u64,
}

impl ByteRegion {
    /// The region of elements of `size` bytes. `first` is the first element, and each dimension has a size and a stride in
    /// elements. `None` if it begins before the block or extends beyond all memory.
    pub fn from_dimensions(
        size: u64,
        first: i64,
        dimensions: impl Iterator<Item = (i64, i64)>,
    ) -> Option<ByteRegion> {
        let (mut lowest, mut width) = (first, 1_i64);
        let (mut rows, mut stride) = (1_i64, 0_i64);
        for (count, step) in dimensions {
            let last = count.checked_sub(1)?;
            lowest = lowest.checked_add(last.checked_mul(step.min(0))?)?;
            let step = step.checked_abs()?;
            // The dimension with the largest stride becomes the rows.
            let is_outer = step > stride && last > 0;
            let (steps, inner) = if is_outer {
                (rows - 1, stride)
            } else {
                (last, step)
            };
            width = width.checked_add(steps.checked_mul(inner)?)?;
            if is_outer {
                (rows, stride) = (count, step);
            }
        }
        if stride <= width {
            width = width.checked_add(stride.checked_mul(rows - 1)?)?;
            (rows, stride) = (1, width);
        }
        let bytes = |n: i64| u64::try_from(n).ok()?.checked_mul(size);
        let region = ByteRegion {
            first: bytes(lowest)?,
            width: bytes(width)?,
            rows: rows.try_into().ok()?,
            stride: bytes(stride)?,
        };
        region.end().map(|_| region)
    }

    /// One past the last byte.
    pub fn end(&self) -> Option<u64> {
        let last = self.stride.checked_mul(self.rows - 1)?;
        self.first.checked_add(last)?.checked_add(self.width)
    }

    /// Whether two regions may have a byte in common.
    pub fn can_overlap(&self, other: &ByteRegion) -> bool {
        let ends = self.end().zip(other.end());
        if ends.is_some_and(|(a, b)| a <= other.first || b <= self.first) {
            return false;
        }
        let stride = self.stride.max(other.stride);
        match self.column_range(stride).zip(other.column_range(stride)) {
            Some((a, b)) => a.start < b.end && b.start < a.end,
            None => true,
        }
    }

    /// The columns of its rows in rows of `stride` bytes, if all rows have the same.
    fn column_range(&self, stride: u64) -> Option<std::ops::Range<u64>> {
        let is_aligned = self.rows == 1 || self.stride == stride;
        let start = self.first.checked_rem(stride)?;
        let end = start.checked_add(self.width)?;
        (is_aligned && end <= stride).then_some(start..end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn make_region(first: i64, dimensions: &[(i64, i64)]) -> ByteRegion {
        ByteRegion::from_dimensions(4, first, dimensions.iter().copied()).unwrap()
    }

    #[test]
    fn what_follows_each_other_is_one_row() {
        let wanted = ByteRegion {
            first: 8,
            width: 96,
            rows: 1,
            stride: 96,
        };
        assert_eq!(make_region(2, &[(2, 12), (3, 4), (4, 1)]), wanted);
        assert_eq!(make_region(2, &[(4, 1), (3, 4), (2, 12)]), wanted);
        // From the last to the first.
        assert_eq!(make_region(25, &[(24, -1)]), wanted);
    }

    #[test]
    fn the_blocks_of_a_matrix_are_apart() {
        // A matrix of 4 x 4 blocks of 64 elements: a block, those beside it, those below it, the rest.
        let (row, block) = (256, 64);
        let at = make_region(row + block, &[(64, 1)]);
        let beside = make_region(row + 2 * block, &[(2, block), (64, 1)]);
        let below = make_region(2 * row + block, &[(2, row), (64, 1)]);
        let rest = make_region(2 * row + 2 * block, &[(2, row), (2, block), (64, 1)]);
        let all = [at, beside, below, rest];
        for (n, one) in all.iter().enumerate() {
            for (m, other) in all.iter().enumerate() {
                assert_eq!(one.can_overlap(other), n == m, "{n} {m}");
            }
        }
    }

    #[test]
    fn what_cannot_be_told_is_no_region() {
        assert_eq!(
            ByteRegion::from_dimensions(4, -1, [(3, 1)].into_iter()),
            None
        );
        assert_eq!(
            ByteRegion::from_dimensions(8, 1 << 61, [(3, 1)].into_iter()),
            None
        );
        assert_eq!(
            ByteRegion::from_dimensions(1, 0, [(i64::MAX, i64::MAX)].into_iter()),
            None
        );
    }

    fn enumerate_elements(first: i64, dimensions: &[(i64, i64)]) -> HashSet<i64> {
        let mut all = HashSet::from([first]);
        for (count, stride) in dimensions {
            let steps = all.iter();
            all = steps
                .flat_map(|at| (0..*count).map(move |n| at + n * stride))
                .collect();
        }
        all
    }

    proptest! {
        #[test]
        fn what_is_apart_has_nothing_in_common(
            (a, b) in (0_i64..40, 0_i64..40),
            one in prop::collection::vec((1_i64..4, -6_i64..13), 0..4),
            other in prop::collection::vec((1_i64..4, -6_i64..13), 0..4),
        ) {
            // Far enough from the start for the strides that go back.
            let (a, b) = (a + 100, b + 100);
            let (left, right) = (enumerate_elements(a, &one), enumerate_elements(b, &other));
            let apart = left.is_disjoint(&right);
            let meets = make_region(a, &one).can_overlap(&make_region(b, &other));
            prop_assert!(apart || meets);
        }
    }
}
