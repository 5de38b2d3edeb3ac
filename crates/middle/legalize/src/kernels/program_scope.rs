//! Program scope: variables of the program in global memory.
//!
//! They are in one buffer that all kernels of a module share, whose address is among the push constants. The offset of each variable
//! follows from the whole module, whichever kernels are compiled. Kernels that are compiled one by one therefore find the same variables at
//! the same offsets. Constants have an offset, too, since pointers may point to either. The reflection has the initial contents, with which
//! the buffer is filled once, and the places of pointers to its own memory.

use super::{initial_values, pointer_delta};
use crate::kernels::module_info::{KernelModuleInfo, MemoryScalar};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{ModuleSection, SpirvModule};

/// Most bytes of a module's variables.
const MOST: u64 = 1 << 26;

/// Least alignment of a variable.
const ALIGN: u64 = 16;

/// The buffer of variables at program scope.
#[derive(Default)]
pub struct ProgramScopeBuffer {
    /// Variables with their offsets, sorted by id.
    offsets: Vec<(Id, u64)>,
    /// Initial contents.
    pub bytes: Vec<u8>,
    /// Pointers in the buffer to the buffer: the offset that each points to, and its own offset.
    pub pointers: Vec<(u64, u64)>,
}

impl ProgramScopeBuffer {
    /// The buffer for all variables of a module.
    ///
    /// # Errors
    /// When they are too large, or an initial value is not constant.
    pub fn new(module: &SpirvModule) -> Result<ProgramScopeBuffer, SourceDiagnostic> {
        let info = KernelModuleInfo::new(module)?;
        let variables = module.section_insts(ModuleSection::Globals).filter(|i| {
            let class = StorageClass(i.operands().first().copied().unwrap_or(u32::MAX));
            let is_here = [StorageClass::CrossWorkgroup, StorageClass::UniformConstant];
            i.op() == Op::Variable && is_here.contains(&class)
        });
        let mut program = ProgramScopeBuffer::default();
        let (mut end, mut initial) = (0_u64, Vec::new());
        for variable in variables {
            let Some(id) = variable.result() else {
                continue;
            };
            let Ok(ty) = info.find_pointee(id) else {
                continue;
            };
            let layout = info.layouts.get(ty);
            let offset = end.next_multiple_of(u64::from(layout.align).max(ALIGN));
            end = offset.saturating_add(layout.size);
            if end > MOST {
                return Err(info.diagnose_id(id, "so much memory at program scope"));
            }
            program.offsets.push((id, offset));
            initial.extend(variable.get_id(1).map(|value| (value, ty, offset)));
        }
        program.offsets.sort_unstable();
        program.bytes = vec![0; end.next_multiple_of(ALIGN) as usize];
        for (value, ty, offset) in initial {
            initial_values::visit_constant_scalars(
                &info,
                value,
                ty,
                &mut |constant, scalar, at| {
                    program.write_initial_scalar(&info, constant, scalar, offset + at)
                },
            )?;
        }
        Ok(program)
    }

    /// The offset of a variable.
    pub fn find_variable_offset(&self, variable: Id) -> Option<u64> {
        let found = self
            .offsets
            .binary_search_by_key(&variable, |(id, _)| *id)
            .ok()?;
        Some(self.offsets[found].1)
    }

    fn write_initial_scalar(
        &mut self,
        info: &KernelModuleInfo<'_>,
        constant: Id,
        scalar: MemoryScalar,
        at: u64,
    ) -> Result<(), SourceDiagnostic> {
        if info.is_nothing(constant) {
            return Ok(());
        }
        if let Some(bits) = info.read_constant(constant) {
            return initial_values::write_scalar(info, constant, bits, scalar, at, &mut self.bytes);
        }
        let def = info.find_definition(constant)?;
        let pointer = match def.op() {
            Op::SpecConstantOp if Op(def.operand_word(0) as u16) == Op::ConvertPtrToU => {
                def.id_operand(1)
            }
            _ => constant,
        };
        if !info.is_pointer(pointer) || scalar.size() != 8 {
            return Err(info.diagnose_id(constant, "this initial value"));
        }
        let (variable, bytes) = pointer_delta::trace_pointer_origin(info, pointer)?;
        let begin = self.find_variable_offset(variable);
        let begin = begin.ok_or_else(|| info.diagnose_id(constant, "this initial value"))?;
        let to = begin.wrapping_add_signed(bytes);
        if to > self.bytes.len() as u64 {
            return Err(info.diagnose_id(constant, "a pointer to other memory"));
        }
        self.pointers.push((to, at));
        Ok(())
    }
}
