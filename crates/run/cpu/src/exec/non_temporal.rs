//! Non-temporal stores of a launch: whether it writes enough memory, and the fence after its stores.

use super::jit_kernel::JitKernel;
use super::launch::JitLaunch;
use super::launch_grid::LaunchGrid;

/// Fewest bytes for which it pays: more than the caches keep for the next launch.
const LEAST_BYTES: u64 = 16 << 20;
/// Fewest invocations in a row. Fewer do not fill a line, so that its parts are written one by one.
const LEAST_ROW: u64 = 16;

/// Makes the stores of this thread visible to others before its later accesses.
pub(crate) fn fence_stores() {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, unused_unsafe)]
    // SAFETY: every processor of this architecture has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

impl JitKernel {
    /// Whether a launch has enough memory that is only written. `bindings` is its table of bindings.
    pub(crate) fn needs_non_temporal(
        &self,
        launch: &JitLaunch<'_>,
        grid: &LaunchGrid,
        bindings: &[[u64; 2]],
    ) -> bool {
        let written = self.non_temporal.parameters.iter();
        let memory = written.filter_map(|index| launch.find_memory(*index, bindings));
        let bytes = memory
            .map(|[_, length]| length)
            .fold(0, u64::saturating_add);
        bytes >= LEAST_BYTES && grid.local[0] >= LEAST_ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::pointer_roots::ParameterIndex;

    /// Which arguments of a kernel of two buffers and a number are only written.
    fn find_written_arguments(body: &str) -> Vec<usize> {
        let text = format!(
            "OpCapability Addresses
            OpCapability Kernel
            OpCapability Int64
            OpMemoryModel Physical64 OpenCL
            OpEntryPoint Kernel %main \"main\" %gid
            OpDecorate %gid BuiltIn GlobalInvocationId
            %void = OpTypeVoid
            %uint = OpTypeInt 32 0
            %ulong = OpTypeInt 64 0
            %v3ulong = OpTypeVector %ulong 3
            %in = OpTypePointer Input %v3ulong
            %global = OpTypePointer CrossWorkgroup %uint
            %type = OpTypeFunction %void %global %global %uint
            %one = OpConstant %uint 1
            %none = OpConstant %uint 0
            %gid = OpVariable %in Input
            %main = OpFunction %void None %type
            %x = OpFunctionParameter %global
            %y = OpFunctionParameter %global
            %n = OpFunctionParameter %uint
            %entry = OpLabel
            %ids = OpLoad %v3ulong %gid
            %at = OpCompositeExtract %ulong %ids 0
            %from = OpInBoundsPtrAccessChain %global %x %at
            %to = OpInBoundsPtrAccessChain %global %y %at
            {body}
            OpReturn
            OpFunctionEnd"
        );
        let kernel = JitKernel::from_assembly(&text);
        let written = kernel.non_temporal.parameters.iter();
        let arguments = written.filter_map(|index| match index {
            ParameterIndex::Argument(at) => Some(*at),
            ParameterIndex::Binding(_) => None,
        });
        arguments.collect()
    }

    #[test]
    fn memory_that_is_only_written_is_found() {
        let copy = "%own = OpLoad %uint %from\nOpStore %to %own";
        assert_eq!(find_written_arguments(copy), [1]);
        assert_eq!(
            find_written_arguments("OpStore %to %n\nOpStore %from %n"),
            [0, 1]
        );
        assert_eq!(
            find_written_arguments("%own = OpLoad %uint %to\nOpStore %to %own"),
            [0; 0]
        );
        let counted = format!("{copy}\n%old = OpAtomicIAdd %uint %x %one %none %n");
        assert_eq!(find_written_arguments(&counted), [0; 0]);
    }
}
