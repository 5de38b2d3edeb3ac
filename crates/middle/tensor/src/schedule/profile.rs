//! What schedules are made for.

use super::MatrixProfile;

/// Sizes that a kind of device does well with.
///
/// They were found by measurement. Schedules stay within 16 KiB of the workgroup's memory, Vulkan's
/// minimum, but for folds over many accumulators; a GPU's have up to 1024 invocations a workgroup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleProfile {
    /// Invocations of a workgroup that runs a flat space.
    pub flat: u64,
    /// Most invocations of a workgroup that runs a flat space which is large.
    pub wide: u64,
    /// Invocations of a workgroup that folds together; a power of two.
    pub fold: u64,
    /// Fewest points of a fold that is worth a workgroup; a quarter is, where subgroups read next to each other and
    /// fold by shuffles.
    pub long: u64,
    /// Most results of long folds that get a workgroup each.
    pub folds: u64,
    /// Workgroups that the long folds of an operation are split for.
    pub chunks: u64,
    /// Invocations along the columns of a tile, and of a whole tile; powers of two.
    pub tile: [u64; 2],
    /// Most points of an invocation along each side of a tile.
    pub points: u64,
    /// Most points of an invocation along each side of a tile whose factors are read where they are,
    /// so that nobody waits; 1 to put them into the workgroup's memory always.
    pub direct: u64,
    /// Points that lie next to each other, where an invocation has so many; a power of two.
    pub adjacent: u64,
    /// Operators that are rather done again than stored by a dispatch of their own.
    pub again: u64,
    /// Operators that are rather done again than a byte is written to memory, or read from it.
    pub byte: u64,
    /// Workgroups that keep the device busy: larger tiles are not taken where there would be fewer.
    pub busy: u64,
    /// Rows of tiles of a contraction that are computed together, column by column, so that what they read
    /// stays in caches.
    pub group: u64,
    /// Sides of the tiles of transpositions, a power of two from 32 on; 1 for no tiles.
    pub turn: u64,
    /// Most points of a row that an invocation keeps in its registers.
    pub kept: u64,
    /// Bytes of the workgroup's memory that tiles may take.
    pub memory: u64,
    /// Rounds along the fold of a tile, the best first.
    pub steps: &'static [u64],
    /// Most rounds along the fold of a tile that are written out.
    pub unroll: u64,
    /// Whether a tile is read into registers while the one before is computed with.
    pub prefetch: bool,
    /// Whether products are added to sums with one rounding; drivers of graphics cards see to that themselves.
    pub fma: bool,
    /// Bytes of the vectors that adjacent elements are accessed as; 1 for none.
    pub vector: u64,
    /// Most invocations of a workgroup that has a row, for folds of rows that are joined with what is
    /// computed of the same rows; a power of two, 1 where they are not joined.
    pub rows: u64,
    /// Most rows, columns and points of the fold of fragments, where a device multiplies such of `f32` of any size
    /// that lie in memory.
    pub dense: Option<[u64; 3]>,
    /// Invocations of a subgroup, where they hand values to each other; else 1.
    pub subgroup: u64,
    /// Whether a workgroup that has begun goes on whatever others do, so that later ones can wait for it.
    pub look_back: bool,
    /// What subgroups multiply matrices with, where they can.
    pub matrices: Option<MatrixProfile>,
}

impl ScheduleProfile {
    /// Sizes of large fragments that do well: two of them fit a processor's nearest cache, or almost.
    pub const DENSE: [u64; 3] = [64, 64, 128];

    /// Invocations that keep the device busy.
    pub(crate) fn busy_invocations(&self) -> u64 {
        self.chunks * self.flat / 2
    }

    /// The sizes for a device whose workgroups have at most so many invocations.
    pub fn with_workgroup_limit(mut self, invocations: u64) -> ScheduleProfile {
        let most = 1 << invocations.max(2).ilog2();
        self.flat = self.flat.min(most);
        self.wide = self.wide.min(most);
        self.fold = self.fold.min(most / 2);
        self.rows = self.rows.min(most);
        self
    }

    /// A few processors with vectors and caches.
    pub const CPU: ScheduleProfile = ScheduleProfile {
        flat: 64,
        wide: 128,
        fold: 64,
        long: 512,
        folds: 4096,
        chunks: 16,
        tile: [8, 64],
        points: 4,
        direct: 8,
        adjacent: 1,
        again: 1 << 16,
        byte: 1,
        busy: 1,
        group: 1,
        turn: 1,
        kept: 16,
        memory: 16 << 10,
        steps: &[16, 8, 12, 10, 7, 9, 5, 6, 4],
        unroll: 4,
        prefetch: false,
        fma: true,
        vector: 1,
        rows: 8,
        dense: None,
        subgroup: 1,
        look_back: false,
        matrices: None,
    };

    /// Many processors that hide latencies by switching between subgroups.
    pub const GPU: ScheduleProfile = ScheduleProfile {
        flat: 256,
        wide: 256,
        fold: 512,
        long: 512,
        folds: u64::MAX,
        chunks: 2048,
        tile: [16, 256],
        points: 8,
        direct: 1,
        adjacent: 4,
        again: 1 << 26,
        byte: 4,
        busy: 128,
        group: 8,
        turn: 32,
        kept: 32,
        memory: 16 << 10,
        steps: &[8, 16, 12, 10, 7, 9, 5, 6, 4],
        unroll: 4,
        prefetch: true,
        fma: false,
        vector: 16,
        rows: 1024,
        dense: None,
        subgroup: 1,
        look_back: true,
        matrices: None,
    };
}

impl Default for ScheduleProfile {
    fn default() -> Self {
        ScheduleProfile::CPU
    }
}
