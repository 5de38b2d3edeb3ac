//! Options of compilations.

use spirula_segment::profile::SegmentProfile;
use spirula_spirv::target::SpirvTarget;
use spirula_stablehlo::memory_layout::EntryLayouts;
use spirula_stablehlo::sharding::EntryShardings;
use spirula_stablehlo::translate::{ForeignTargets, KnownArguments, ScatterWindows};
use spirula_tensor::ir::ProductPrecision;
use spirula_tensor::schedule::{DispatchTuning, ScheduleProfile};

/// The devices whose parts a partitioned program takes and gives, with the shardings of these parts.
#[derive(Clone, Debug)]
pub enum ShardProgram {
    /// All devices: an array that is split is one argument or result for each device.
    AllDevices(EntryShardings),
    /// One device, whose number is a further first argument. The program calls a foreign function to move elements between devices.
    EachDevice(EntryShardings),
}

impl ShardProgram {
    /// The shardings.
    pub fn shardings(&self) -> &EntryShardings {
        match self {
            ShardProgram::AllDevices(shardings) | ShardProgram::EachDevice(shardings) => shardings,
        }
    }
}

/// Options of a compilation.
#[derive(Clone, Debug, Default)]
pub struct CompileOptions {
    /// Environment of the output. By default it is the one that suits the input.
    pub target: Option<SpirvTarget>,
    /// Options of the translation of LLVM IR. The target in them is ignored in favour of the one above.
    pub llvm: spirula_llvm::TranslationOptions,
    /// Function of a tensor program that becomes the entry point; by default `main`.
    pub function: Option<String>,
    /// Facts about the arguments of that function. They settle dimensions that the source leaves open.
    pub known: KnownArguments,
    /// Treatment of windows of scatters that are partly out of bounds.
    pub windows: ScatterWindows,
    /// The custom calls of StableHLO that become foreign calls; by default all that are unknown.
    pub foreign: ForeignTargets,
    /// Layouts in memory of the arguments and results of StableHLO; by default rows.
    pub layouts: EntryLayouts,
    /// Number of devices over which a StableHLO program with shardings is partitioned; by default it is not.
    pub partitions: Option<u64>,
    /// Shardings by which a StableHLO program is partitioned so that its entry point takes and gives parts. By default it is not.
    pub shards: Option<ShardProgram>,
    /// Precision of products of `f32` in StableHLO; by default that of each operation.
    pub precision: Option<ProductPrecision>,
    /// The kind of device that tensor programs are scheduled for.
    pub profile: ScheduleProfile,
    /// Schedules of single dispatches.
    pub tuning: DispatchTuning,
}

impl CompileOptions {
    /// The kind of device that segmented operations are lowered for.
    pub(crate) fn segment_profile(&self) -> SegmentProfile {
        let profile = if self.profile.busy > 1 {
            SegmentProfile::GRAPHICS
        } else {
            SegmentProfile::PROCESSOR
        };
        let most = i64::try_from(self.profile.wide).unwrap_or(i64::MAX);
        profile.with_workgroup_limit(most)
    }
}
