//! Index narrowing: 64-bit indices into workgroup memory are computed in 32 bits, which is the width of addresses
//! there. The lower bits of sums and products depend on lower bits only. Some driver compilers truncate the 64-bit
//! result. They then miss that a constant could be an offset of the access, or that adjacent loads could be merged.
//! NVIDIA's compiler is one of them.
//!
//! Before:
//! ```text
//! %sum = OpIAdd %ulong %wide %ulong_64
//! %cut = OpUConvert %uint %sum
//! %p   = OpAccessChain %ptr %tile %cut
//! ```
//! After:
//! ```text
//! %low = OpUConvert %uint %wide
//! %cut = OpIAdd %uint %low %uint_64
//! %p   = OpAccessChain %ptr %tile %cut
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::{LowHalves, ModuleValues, count_low_bits_operands};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::{Inst, InstRef, SpirvModule};

pub fn run_narrow_indices(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut pass = IndexNarrowing {
        facts: cache.take_facts(module),
        halves: LowHalves::new(module),
    };
    let mut narrowed = 0;
    for func in module.functions().to_vec() {
        let chains = module
            .function_insts(func)
            .filter(|i| pass.is_shared(module, *i));
        for chain in chains.map(InstRef::handle).collect::<Vec<_>>() {
            narrowed += pass.narrow_chain_indices(module, chain);
        }
    }
    cache.put_facts(pass.facts);
    Ok(PassOutcome {
        statistics: vec![("indices narrowed", narrowed)],
    })
}

struct IndexNarrowing {
    facts: Box<ModuleValues>,
    halves: LowHalves,
}

impl IndexNarrowing {
    /// Whether an instruction is an access chain into workgroup memory.
    fn is_shared(&self, module: &SpirvModule, inst: InstRef<'_>) -> bool {
        let is_chain = inst.op().is_plain_access_chain();
        let ty = inst.result_type().filter(|_| is_chain);
        let pointer = ty.and_then(|ty| self.facts.def_of(module, ty, Op::TypePointer));
        pointer.is_some_and(|p| p.operand_word(0) == StorageClass::Workgroup.0)
    }

    /// Narrows the indices of an access chain. Returns their number.
    fn narrow_chain_indices(&mut self, module: &mut SpirvModule, chain: Inst) -> usize {
        let indices: Vec<Id> = module.inst(chain).id_operands(1).collect();
        let mut words = vec![module.inst(chain).id_operand(0).word()];
        let mut narrowed = 0;
        for index in &indices {
            let low = self.narrow_index(module, *index, chain);
            narrowed += usize::from(low.is_some());
            words.push(low.unwrap_or(*index).word());
        }
        if narrowed > 0 {
            let op = module.inst(chain).op();
            self.facts.rewrite_inst(module, chain, op, &words);
        }
        narrowed
    }

    /// A 32-bit form of an index, if it is a sum or similar operation in 64 bits.
    fn narrow_index(&mut self, module: &mut SpirvModule, index: Id, chain: Inst) -> Option<Id> {
        let def = self.facts.definition(module, index)?;
        let wide = match def.op() {
            Op::UConvert | Op::SConvert if self.facts.int_width(module, index) == Some(32) => {
                def.id_operand(0)
            }
            _ => index,
        };
        let is_computed = count_low_bits_operands(self.facts.defining_op(module, wide)).is_some();
        if !is_computed || self.facts.int_width(module, wide) != Some(64) {
            return None;
        }
        let uint = self.facts.intern_type(module, Op::TypeInt, &[32, 0]);
        let low = self
            .halves
            .lower_half(&mut self.facts, module, wide, uint, chain);
        Some(low)
    }
}
