//! Matrix units of a device: the fragments that subgroups multiply, and sizes that do well.

use spirula_kernel::ir::FragmentElement;

/// Sizes and types of fragments that a device multiplies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FragmentShape {
    /// Rows, columns, and points of the reduction.
    pub size: [u32; 3],
    /// Types of the factors.
    pub factors: [FragmentElement; 2],
    /// Type of the sums.
    pub sum: FragmentElement,
}

/// The means of a device for products of matrices, and their use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixProfile {
    /// Number of invocations of a subgroup.
    pub subgroup: u64,
    /// Bytes of the workgroup's memory.
    pub memory: u64,
    /// Rows, columns and points of the reduction of a tile.
    pub tile: [u64; 3],
    /// Number of subgroups down and across a tile.
    pub grid: [u64; 2],
    /// Number of copies of each tile in the workgroup's memory. With two, one is filled while the other is used.
    pub buffers: u64,
    /// The size of fragments that is taken where there are several; by default the largest.
    pub preferred: Option<[u32; 3]>,
    shapes: [Option<FragmentShape>; MatrixProfile::SHAPES],
}

impl MatrixProfile {
    /// Most shapes that are known of a device.
    pub const SHAPES: usize = 24;

    /// The profile of a device by the invocations of its subgroups and the bytes of its workgroups' memory; `None` where
    /// it has no fragments. Shapes beyond [`MatrixProfile::SHAPES`] are left out.
    pub fn new(
        subgroup: u64,
        memory: u64,
        shapes: impl IntoIterator<Item = FragmentShape>,
    ) -> Option<MatrixProfile> {
        let mut matrices = MatrixProfile {
            subgroup,
            memory,
            tile: [128, 128, 64],
            grid: [2, 2],
            buffers: 1,
            preferred: None,
            shapes: [None; MatrixProfile::SHAPES],
        };
        for (to, shape) in matrices.shapes.iter_mut().zip(shapes) {
            *to = Some(shape);
        }
        let is_usable = subgroup.is_power_of_two() && matrices.shapes[0].is_some();
        is_usable.then_some(matrices)
    }

    /// The fragments for factors and sums of some types.
    pub(super) fn choose_shape(
        &self,
        factors: [FragmentElement; 2],
        sum: FragmentElement,
    ) -> Option<FragmentShape> {
        let fits = |shape: &FragmentShape| {
            let points = u64::from(shape.size[0] * shape.size[1]);
            // Rows and columns begin at multiples of 16 bytes, whichever are contiguous.
            let narrowest = factors.iter().map(|n| n.storage_type().size()).min();
            let least = 16 / narrowest.unwrap_or(1);
            shape.factors == factors
                && shape.sum == sum
                && shape.size.iter().all(|n| u64::from(*n) >= least)
                && shape.size.iter().all(|n| n.is_power_of_two())
                && points.is_multiple_of(self.subgroup)
        };
        let all = || self.shapes.iter().flatten().filter(|s| fits(s));
        let preferred = all().find(|s| Some(s.size) == self.preferred);
        let largest = || all().max_by_key(|s| s.size.iter().product::<u32>());
        preferred.or_else(largest).copied()
    }
}
