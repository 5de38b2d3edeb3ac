//! Kernel features: optional operations that kernels of a device may use.

/// An optional operation of kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelFeature {
    /// Subgroups of a known size with votes, ballots, shuffles, reductions and scans of 32-bit and 64-bit numbers.
    Subgroups,
    /// Subgroup operations on integers of 8 and 16 bits.
    SubgroupTypes,
    /// Shuffles by a distance between invocations.
    RelativeShuffles,
    /// Reductions of parts of a subgroup.
    SubgroupClusters,
    /// Atomic operations on integers of 64 bits, in buffers and in workgroup memory.
    LongAtomics,
    /// `fma` of floats with one rounding, by an instruction.
    FusedProducts,
}

impl KernelFeature {
    /// All features.
    pub const ALL: [KernelFeature; 6] = [
        KernelFeature::Subgroups,
        KernelFeature::SubgroupTypes,
        KernelFeature::RelativeShuffles,
        KernelFeature::SubgroupClusters,
        KernelFeature::LongAtomics,
        KernelFeature::FusedProducts,
    ];
}
