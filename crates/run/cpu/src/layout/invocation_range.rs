//! Invocation range: how many invocations a launch runs, and in which workgroups.

/// The invocations of a launch.
#[derive(Clone, Copy, Debug)]
pub enum InvocationRange {
    /// Number of workgroups in each dimension. The module fixes their size.
    Groups([u32; 3]),
    /// Number of invocations in each dimension.
    Items {
        /// Invocations in each dimension.
        global: [u64; 3],
        /// Invocations of a workgroup, which need not divide `global`. The device chooses a size where there is none.
        local: Option<[u32; 3]>,
        /// Global id of the first invocation.
        offset: [u64; 3],
        /// Number of dimensions, 1 to 3.
        dimensions: u32,
    },
}
