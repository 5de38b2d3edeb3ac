//! JIT kernel: an entry point that is compiled for the host.

use super::launch_work::MeasuredWork;
use crate::analysis::block_counters::{BlockCount, BlockCounters};
use crate::analysis::non_temporal_stores::NonTemporalStores;
use crate::analysis::privatised_atomics::PrivatisedAtomics;
use crate::analysis::suspension::SuspensionPoint;
use crate::codegen::jit::JitCode;
use crate::host::printf::PrintfSites;
use crate::layout::frames::FrameLayout;
use crate::layout::globals::BindingSlot;
use crate::layout::module_variables::ModuleVariables;
use crate::layout::parameters::ParameterSlot;
use crate::sanitizer::SanitizerInfo;

/// An entry point that is compiled for the host.
pub struct JitKernel {
    pub(crate) code: JitCode,
    pub(crate) name: String,
    pub(crate) local_size: Option<[u32; 3]>,
    /// Whether the last workgroups of a launch may be smaller than the others.
    pub(crate) has_partial_groups: bool,
    pub(crate) subgroup_size: u32,
    pub(crate) points: Vec<SuspensionPoint>,
    /// Frames of single invocations.
    pub(crate) frame: FrameLayout,
    /// Invocations of a gang.
    pub(crate) gang_width: usize,
    /// Frames of gangs.
    pub(crate) gang_frame: FrameLayout,
    /// Bytes of an invocation's private memory, in the code for single invocations and in that for gangs.
    pub(crate) room_bytes: [u32; 2],
    /// Alignment of private memory.
    pub(crate) room_align: u32,
    pub(crate) slots: Vec<ParameterSlot>,
    pub(crate) bindings: Vec<BindingSlot>,
    pub(crate) workgroup_bytes: u32,
    pub(crate) workgroup_align: u32,
    /// Whether workgroup memory has to be zero at the start of each workgroup.
    pub(crate) zero_workgroup: bool,
    pub(crate) push_bytes: u64,
    pub(crate) counters: BlockCounters,
    pub(crate) prints: PrintfSites,
    /// The memory that it only writes.
    pub(crate) non_temporal: NonTemporalStores,
    /// The memory that it only updates by atomics of one kind.
    pub(crate) privatised: PrivatisedAtomics,
    /// Whether workgroups may wait for each other.
    pub(crate) may_wait: bool,
    /// Number of instructions of an invocation, if it has no loop.
    pub(crate) invocation_work: Option<u64>,
    /// The time of an invocation, as launches measured it.
    pub(crate) measured_work: MeasuredWork,
    /// The functions that it enqueues, directly or through these functions, by number.
    pub(crate) blocks: Vec<(u64, JitKernel)>,
    /// The entry points that run once before it, in order. They use the same module-level variables.
    pub(crate) initialisers: Vec<JitKernel>,
    /// Its module-level variables, whose memory it keeps.
    pub(crate) _variables: ModuleVariables,
    /// Facts for the sanitizer, if it is compiled in.
    pub(crate) sanitizer: Option<SanitizerInfo>,
}

impl JitKernel {
    /// The entry points with the mode `Initializer`. One invocation has to run each of them once before the first
    /// launch of this kernel.
    pub fn initialisers(&self) -> &[JitKernel] {
        &self.initialisers
    }

    /// Whether SIMD gangs run neighbouring invocations, where the size of workgroups allows it.
    pub fn runs_gangs(&self) -> bool {
        self.code.has_entry(true)
    }

    /// The size of workgroups, where the module fixes it.
    pub fn workgroup_size(&self) -> Option<[u32; 3]> {
        self.local_size
    }

    /// Bytes of workgroup memory. That of arguments is not included.
    pub fn workgroup_memory(&self) -> u32 {
        self.workgroup_bytes
    }

    /// Invocations of a subgroup.
    pub fn subgroup_size(&self) -> u32 {
        self.subgroup_size
    }

    /// Number of runs of each block in all launches so far. The list is empty unless the kernel counts blocks.
    pub fn block_counts(&self) -> Vec<BlockCount> {
        self.counters.totals()
    }

    /// Number of instructions that all invocations together ran in all launches so far. It is 0 unless the kernel
    /// counts blocks.
    pub fn instruction_count(&self) -> u64 {
        let of = |b: BlockCount| b.runs.saturating_mul(b.instructions.into());
        self.block_counts()
            .into_iter()
            .map(of)
            .fold(0, u64::saturating_add)
    }

    /// The text that the launches since the last call printed, in the order of workgroups. The text of enqueued
    /// kernels comes last.
    pub fn take_printed(&self) -> Vec<u8> {
        let mut all = self.prints.take_output();
        for (_, block) in &self.blocks {
            all.extend(block.take_printed());
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JitOptions;
    use spirula_spirv::grammar::enumerants::ExecutionModel;
    use spirula_spirv::ir::SpirvModule;
    use spirula_spirv::text::{ParseOptions, parse_assembly};

    impl JitKernel {
        /// Compiles the kernel `main` of a module in assembly.
        pub(crate) fn from_assembly(text: &str) -> JitKernel {
            let words = parse_assembly(text, &ParseOptions::default());
            let words = words.unwrap_or_else(|faults| panic!("{}", faults[0]));
            let module = SpirvModule::from_words(words).expect("the assembler writes modules");
            let (model, options) = (ExecutionModel::Kernel, JitOptions::default());
            let kernel = JitKernel::compile_entry_point(&module, "main", model, &[], &options);
            kernel.unwrap_or_else(|error| panic!("{error}"))
        }
    }
}
