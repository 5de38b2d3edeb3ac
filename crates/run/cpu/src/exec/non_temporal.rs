//! Non-temporal stores of a launch: whether it writes enough memory, and the fence after its stores.

use super::jit_kernel::JitKernel;
use super::launch::{JitArgument, JitLaunch};
use super::launch_grid::LaunchGrid;
use crate::analysis::pointer_roots::ParameterPositions;

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
        let ParameterPositions {
            arguments: written,
            bindings: rows,
        } = &self.non_temporal.positions;
        let arguments = written
            .iter()
            .filter_map(|at| match launch.arguments.get(*at) {
                Some(JitArgument::Memory(memory)) => Some(memory.length),
                _ => None,
            });
        let bound = rows.iter().filter_map(|row| Some(bindings.get(*row)?[1]));
        let bytes = arguments.chain(bound).fold(0, u64::saturating_add);
        bytes >= LEAST_BYTES && grid.local[0] >= LEAST_ROW
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::JitOptions;
    use spirula_spirv::grammar::enumerants::ExecutionModel;
    use spirula_spirv::ir::SpirvModule;
    use spirula_spirv::text::{ParseOptions, parse_assembly};

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
        let words =
            parse_assembly(&text, &ParseOptions::default()).unwrap_or_else(|f| panic!("{}", f[0]));
        let module = SpirvModule::from_words(words).expect("what the assembler writes is a module");
        let options = JitOptions::default();
        let kernel =
            JitKernel::compile_entry_point(&module, "main", ExecutionModel::Kernel, &[], &options);
        let kernel = kernel.unwrap_or_else(|error| panic!("{error}"));
        kernel.non_temporal.positions.arguments.clone()
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
