//! Sizes that a kind of device does well with.

/// The kind of a device, and sizes that it does well with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentProfile {
    /// Invocations of a workgroup where each has one element.
    pub group_size: i64,
    /// Invocations of a workgroup where each has a chunk of elements. Those of several reduce together.
    pub chunk_group_size: i64,
    /// Most chunks of an operation: enough to keep the device busy.
    pub chunk_count: i64,
    /// Most workgroups of a fold by workgroups.
    pub group_count: i64,
    /// Fewest elements of a chunk.
    pub chunk_length: i64,
    /// Width of a map from which on parallelism in its body is not needed.
    pub enough_width: i64,
    /// Most private copies of the arrays of a histogram.
    pub histogram_copies: i64,
    /// Whether loops with parallel bodies run on the host where the maps around them are narrow. A processor loses more by
    /// the launches than it gains.
    pub interchanges_loops: bool,
}

impl SegmentProfile {
    /// A device of a few processors with caches.
    pub const PROCESSOR: SegmentProfile = SegmentProfile {
        group_size: 256,
        chunk_group_size: 1,
        chunk_count: 64,
        group_count: 64,
        chunk_length: 4096,
        enough_width: 32,
        histogram_copies: 16,
        interchanges_loops: false,
    };

    /// A device of many processors that hide latencies by switching.
    pub const GRAPHICS: SegmentProfile = SegmentProfile {
        group_size: 256,
        chunk_group_size: 256,
        chunk_count: 1 << 16,
        group_count: 1 << 10,
        chunk_length: 16,
        enough_width: 1 << 14,
        histogram_copies: 1 << 10,
        interchanges_loops: true,
    };

    /// Whether neighbouring invocations run in lockstep, and the host does not share the memory of the device.
    pub(crate) fn runs_in_lockstep(&self) -> bool {
        self.chunk_group_size > 1
    }

    /// Stages that fold runs of partial results before the last, where invocations have chunks.
    pub(crate) fn count_fold_stages(&self) -> usize {
        if self.chunk_count > 1 << 10 { 2 } else { 0 }
    }

    /// The profile for a device whose workgroups have at most a number of invocations.
    pub fn with_workgroup_limit(mut self, invocations: i64) -> SegmentProfile {
        let most = 1 << invocations.max(1).ilog2();
        self.group_size = self.group_size.min(most);
        self.chunk_group_size = self.chunk_group_size.min(most);
        self
    }
}

impl Default for SegmentProfile {
    fn default() -> Self {
        SegmentProfile::PROCESSOR
    }
}
