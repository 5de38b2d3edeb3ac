//! Schedule profiles: sizes that a kind of device does well with.

use super::MatrixProfile;

/// Sizes that a kind of device does well with.
///
/// They were measured. Schedules use at most 16 KiB of the workgroup's memory, Vulkan's minimum, except reductions with
/// many accumulators. A GPU's workgroups have up to 1024 invocations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScheduleProfile {
    /// Number of invocations of a workgroup of a flat dispatch.
    pub flat: u64,
    /// Most invocations of a workgroup of a large flat dispatch.
    pub wide: u64,
    /// Fewest points along the last axis of a map such that a workgroup has a part of one line; 0 for never.
    pub lines: u64,
    /// Number of invocations of a workgroup that reduces together; a power of two.
    pub fold: u64,
    /// Fewest points of a reduction that are worth a workgroup. A quarter is enough where subgroups have contiguous reads and
    /// reduce by shuffles.
    pub long: u64,
    /// Most results of long reductions that get a workgroup each.
    pub folds: u64,
    /// Number of workgroups that long reductions are split for.
    pub chunks: u64,
    /// Number of invocations along the columns of a tile, and of a whole tile; powers of two.
    pub tile: [u64; 2],
    /// Most points of an invocation along each side of a tile.
    pub points: u64,
    /// Most points of an invocation along each side of a tile whose factors are read from the device's memory, without
    /// barriers. 1 means that they are always staged in the workgroup's memory.
    pub direct: u64,
    /// Number of adjacent points of an invocation, where it has so many; a power of two.
    pub adjacent: u64,
    /// Cost of a dispatch in operators: fewer are recomputed rather than run by a dispatch of their own.
    pub again: u64,
    /// Most operators of an operation in a loop that runs within one kernel, by one invocation, on the average of its
    /// operations. 0 means that there are no such loops.
    pub sequential: u64,
    /// Number of invocations of the workgroup that runs a loop within one kernel, where most of its operations have as
    /// many points; the most of them on graphics cards. 1 means always one.
    pub team: u64,
    /// Cost of writing a byte to memory, or of reading it, in operators.
    pub byte: u64,
    /// Number of workgroups that keep the device busy. Tiles are not made so large that there are fewer.
    pub busy: u64,
    /// Number of rows of tiles of a contraction that are computed together, column by column, so that their operands stay in
    /// caches.
    pub group: u64,
    /// Side of the tiles of transpositions: a power of two of at least 32, or 1 for no tiles.
    pub turn: u64,
    /// Most points of a row that an invocation keeps in its registers.
    pub kept: u64,
    /// Most bytes of the workgroup's memory that tiles take.
    pub memory: u64,
    /// Sizes of tiles along the reduction, the best first.
    pub steps: &'static [u64],
    /// Most points of the reduction of a tile where workgroups are few; a power of two. 1 for those of `steps`, and for devices
    /// that have no latency to hide.
    pub deep: u64,
    /// Most iterations along the reduction of a tile that are unrolled.
    pub unroll: u64,
    /// Whether the next tile is read into registers while the current one is used.
    pub prefetch: bool,
    /// Whether products are added to sums with one rounding. Drivers of graphics cards do so themselves.
    pub fma: bool,
    /// Size in bytes of vectors of contiguous elements; 1 for none.
    pub vector: u64,
    /// Most invocations of a workgroup that has a row, for reductions of rows that are fused with maps over the same
    /// rows. A power of two, or 1 for no fusion.
    pub rows: u64,
    /// Most rows, columns and points of the reduction of fragments, where a device multiplies fragments of `f32` of any size
    /// that are in memory.
    pub dense: Option<[u64; 3]>,
    /// Number of invocations of a subgroup, where they can exchange values; otherwise 1.
    pub subgroup: u64,
    /// Whether a workgroup that has begun makes progress whatever others do, so that later ones can wait for it.
    pub look_back: bool,
    /// The matrix units, where there are such.
    pub matrices: Option<MatrixProfile>,
}

impl ScheduleProfile {
    /// Sizes of large fragments that do well: two of them almost fit a processor's nearest cache.
    pub const DENSE: [u64; 3] = [64, 64, 128];

    /// Whether the device is a processor: it has caches and few registers, and runs invocations as lanes of vectors.
    pub(crate) fn is_processor(&self) -> bool {
        self.direct > 1
    }

    /// The number of invocations that keep the device busy.
    pub(crate) fn busy_invocations(&self) -> u64 {
        self.chunks * self.flat / 2
    }

    /// The profile for a device whose workgroups have at most `invocations` invocations.
    pub fn with_workgroup_limit(mut self, invocations: u64) -> ScheduleProfile {
        let most = 1 << invocations.max(2).ilog2();
        self.flat = self.flat.min(most);
        self.wide = self.wide.min(most);
        self.fold = self.fold.min(most / 2);
        self.rows = self.rows.min(most);
        self.team = self.team.min(most);
        self
    }

    /// A device of a few processors with vectors and caches.
    pub const CPU: ScheduleProfile = ScheduleProfile {
        flat: 64,
        wide: 128,
        lines: 32,
        fold: 64,
        long: 512,
        folds: 4096,
        chunks: 16,
        tile: [8, 64],
        points: 4,
        direct: 8,
        adjacent: 1,
        again: 1 << 16,
        sequential: 1 << 14,
        team: 8,
        byte: 1,
        busy: 1,
        group: 1,
        turn: 1,
        kept: 16,
        memory: 16 << 10,
        steps: &[16, 8, 12, 10, 7, 9, 5, 6, 4],
        deep: 1,
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

    /// A device of many processors that hide latencies by switching between subgroups.
    pub const GPU: ScheduleProfile = ScheduleProfile {
        flat: 256,
        wide: 256,
        lines: 0,
        fold: 512,
        long: 512,
        folds: u64::MAX,
        chunks: 2048,
        tile: [16, 256],
        points: 8,
        direct: 1,
        adjacent: 4,
        again: 1 << 26,
        sequential: 1 << 8,
        team: 256,
        byte: 4,
        busy: 128,
        group: 8,
        turn: 32,
        kept: 32,
        memory: 16 << 10,
        steps: &[8, 16, 12, 10, 7, 9, 5, 6, 4],
        deep: 16,
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
