//! Stores that pass the caches by.
//!
//! A store to a line that is in no cache reads the line first. Where a launch writes much that it does not read,
//! that is a third of what a copy moves, and it drives other data out of the caches. Such memory is found here, and
//! stored to by instructions for data that is not used again soon (`movntps`; Intel's optimization manual, "Non-temporal
//! stores"), in bundles, whose stores have whole vectors. Others see such stores in any order: a fence stands behind all of a
//! thread's, and kernels with atomics have none.

use super::pointer_roots::{PointerRoots, find_parameter_positions};
use super::promoted_variables::operand_ids;
use crate::exec::compile::JitKernel;
use crate::exec::launch::{JitArgument, JitLaunch};
use crate::exec::run::LaunchGrid;
use crate::layout::globals::ReachedGlobals;
use crate::module::program::AnalysedModule;
use rustc_hash::FxHashSet;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// Fewest bytes that are worth it: what the caches cannot keep for the next launch.
const BYTES: u64 = 16 << 20;
/// Fewest invocations in a row: fewer fill no line, whose parts are then written one by one.
const ROW: u64 = 16;

/// What the host runs for two vectors of 16 bytes in the first registers, to the address in the first one: past the
/// caches where that is a multiple of 16. No register changes.
#[cfg(target_arch = "x86_64")]
#[rustfmt::skip]
pub(crate) const CODE: Option<&[u8]> = Some(&[
    0x40, 0xf6, 0xc7, 0x0f, // test dil, 15
    0x75, 0x08,             // jne 1f
    0x0f, 0x2b, 0x07,       // movntps [rdi], xmm0
    0x0f, 0x2b, 0x4f, 0x10, // movntps [rdi + 16], xmm1
    0xc3,                   // ret
    0x0f, 0x11, 0x07,       // 1: movups [rdi], xmm0
    0x0f, 0x11, 0x4f, 0x10, // movups [rdi + 16], xmm1
    0xc3,                   // ret
]);
#[cfg(not(target_arch = "x86_64"))]
pub(crate) const CODE: Option<&[u8]> = None;

/// Has others see what this thread stored before what it does from here on.
pub(crate) fn fence_stores() {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, unused_unsafe)]
    // SAFETY: every processor of the kind has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}

/// Memory that a kernel stores to and uses in no other way.
#[derive(Default)]
pub(crate) struct NonTemporalStores {
    /// The pointers that are stored to.
    pub pointers: FxHashSet<Id>,
    /// Which of its arguments, and which rows of the table of bindings.
    arguments: Vec<usize>,
    bindings: Vec<usize>,
}

impl NonTemporalStores {
    /// Finds it.
    pub fn from_program(
        program: &AnalysedModule<'_>,
        globals: &ReachedGlobals,
    ) -> NonTemporalStores {
        let mut uses = StoredMemoryUses {
            roots: PointerRoots::new(program, globals),
            ..StoredMemoryUses::default()
        };
        for func in &program.functions.bottom_up {
            for inst in program.module.function_insts(*func) {
                if is_ordering(inst.op()) {
                    return NonTemporalStores::default();
                }
                uses.add_instruction(inst);
            }
        }
        let is_written = |id: Id| uses.stored.contains(&id) && !uses.others.contains(&id);
        let [arguments, bindings] = find_parameter_positions(program, globals, is_written);
        let pointers = uses.pointers.iter();
        NonTemporalStores {
            pointers: pointers
                .filter(|(_, root)| is_written(*root))
                .map(|(pointer, _)| *pointer)
                .collect(),
            arguments,
            bindings,
        }
    }
}

impl JitKernel {
    /// Whether a launch has enough of what is only written, given the table of bindings.
    pub(crate) fn needs_non_temporal(
        &self,
        launch: &JitLaunch<'_>,
        grid: &LaunchGrid,
        bindings: &[[u64; 2]],
    ) -> bool {
        let NonTemporalStores {
            arguments: written,
            bindings: rows,
            ..
        } = &self.streams;
        let arguments = written
            .iter()
            .filter_map(|at| match launch.arguments.get(*at) {
                Some(JitArgument::Memory(memory)) => Some(memory.length),
                _ => None,
            });
        let bound = rows.iter().filter_map(|row| Some(bindings.get(*row)?[1]));
        let bytes = arguments.chain(bound).fold(0, u64::saturating_add);
        bytes >= BYTES && grid.local[0] >= ROW
    }
}

/// Whether invocations may see what others do by an instruction.
fn is_ordering(op: Op) -> bool {
    op == Op::MemoryBarrier || op.is_atomic() || op.is_pipe()
}

/// How memory is used.
#[derive(Default)]
struct StoredMemoryUses {
    roots: PointerRoots,
    /// Pointers that are stored to, with what they point into.
    pointers: Vec<(Id, Id)>,
    /// What is stored to, and what is used otherwise.
    stored: FxHashSet<Id>,
    others: FxHashSet<Id>,
}

impl StoredMemoryUses {
    fn add_instruction(&mut self, inst: InstRef<'_>) {
        if self.roots.follow_pointer(inst) {
            return;
        }
        let root = |id: Id| self.roots.get(id);
        match inst.op() {
            Op::Store => {
                if let Some(root) = root(inst.id_operand(0)) {
                    self.pointers.push((inst.id_operand(0), root));
                    self.stored.insert(root);
                }
                self.others.extend(root(inst.id_operand(1)));
            }
            Op::FunctionParameter | Op::ArrayLength => {}
            _ => self.others.extend(operand_ids(inst).filter_map(root)),
        }
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
        let kernel = kernel.unwrap_or_else(|faults| panic!("{}", faults[0]));
        kernel.streams.arguments.clone()
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
