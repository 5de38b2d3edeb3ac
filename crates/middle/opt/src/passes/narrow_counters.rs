//! Loop counter narrowing: loops that count in 64 bits but stay in the range of 32 count in 32 bits. On graphics
//! processors a comparison or sum in 64 bits takes twice the instructions (the inverse of the induction variable
//! widening of LLVM's IndVarSimplify).
//!
//! A loop qualifies if its exit is in its header. Its counter must go up from a constant by a constant while it is
//! below a bound, compared as signed. The bound must be known to fit into 32 bits. It is a constant, an extended number
//! of 32 bits, the counter of an outer loop, or a sum of these. The 64-bit counter becomes an extension of the new one.
//!
//! Before:
//! ```text
//! %i = OpPhi %ulong %ulong_0 %entry %next %continue
//! %c = OpSLessThan %bool %i %ulong_31
//! ...
//! %next = OpIAdd %ulong %i %ulong_1
//! ```
//! After:
//! ```text
//! %n = OpPhi %uint %uint_0 %entry %more %continue
//! %i = OpSConvert %ulong %n
//! %c = OpSLessThan %bool %n %uint_31
//! ...
//! %more = OpIAdd %uint %n %uint_1
//! ```

use crate::analyses::AnalysisCache;
use crate::loops::{LoopShape, find_loop_shapes};
use crate::pass::PassOutcome;
use crate::passes::unroll_runtime::{LoopCounter, find_loop_counter};
use crate::values::{LowHalves, ModuleValues};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Inst, SpirvModule};

/// The depth to which sums in a bound are examined.
const DEEPEST: u32 = 16;

pub fn run_narrow_counters(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let structured = module.is_structured();
    let mut pass = CounterNarrowing {
        facts: cache.take_facts(module),
        ranges: FxHashMap::default(),
        halves: LowHalves::new(module),
    };
    let mut narrowed = 0;
    for func in module.functions().to_vec() {
        let flow = cache.flow_by(module, &pass.facts.ids, func)?;
        // Outer loops come first: bounds of inner loops may depend on their counters.
        for shape in find_loop_shapes(module, &flow, structured).iter().rev() {
            narrowed += usize::from(pass.narrow_loop(module, shape).is_some());
        }
    }
    cache.put_facts(pass.facts);
    Ok(PassOutcome {
        statistics: vec![("counters narrowed", narrowed)],
    })
}

struct CounterNarrowing {
    facts: Box<ModuleValues>,
    /// The range of each 64-bit counter.
    ranges: FxHashMap<Id, (i64, i64)>,
    halves: LowHalves,
}

impl CounterNarrowing {
    /// Narrows the counter of a loop, if possible.
    fn narrow_loop(&mut self, module: &mut SpirvModule, shape: &LoopShape) -> Option<()> {
        if shape.exit != shape.header || !shape.stays_when {
            return None;
        }
        let counter = find_loop_counter(module, &self.facts, shape)?;
        let phi = module.phis(shape.header).nth(counter.at)?;
        let (phi, value) = (phi.handle(), phi.result()?);
        let entry = module.label(shape.entry);
        let begun = module.phi_value(phi, entry)?;
        let first = self.facts.scalar_constant_bits(module, begun)?.bits as i64;
        let is_wide = counter.less == Op::SLessThan && counter.width == 64;
        self.facts.decoration_marks(value).filter(|_| is_wide)?;
        let (least, most) = self.value_range(module, counter.bound, DEEPEST)?;
        let step = counter.step as i64;
        let last = most.checked_add(step - 1)?.max(first);
        let fits = |n: i64| i32::try_from(n).is_ok();
        if ![first, least, last].into_iter().all(fits) {
            return None;
        }
        self.ranges.insert(value, (first, last));
        self.rewrite_counter(module, shape, &counter, phi, first)
    }

    fn rewrite_counter(
        &mut self,
        module: &mut SpirvModule,
        shape: &LoopShape,
        counter: &LoopCounter,
        phi: Inst,
        first: i64,
    ) -> Option<()> {
        let value = module.inst(phi).result()?;
        let [entry, latch] = [shape.entry, shape.latch].map(|b| module.label(b));
        let next = module.phi_value(phi, latch)?;
        let next = self.facts.definition(module, next)?.handle();
        let condition = self
            .facts
            .definition(module, module.terminator(shape.header).id_operand(0))?;
        let condition = condition.handle();
        let uint = self.facts.intern_type(module, Op::TypeInt, &[32, 0]);
        let first = self
            .facts
            .intern_scalar(module, uint, u64::from(first as u32))?;
        let step = self.facts.intern_scalar(module, uint, counter.step)?;
        let before = module.before_end(shape.entry);
        let bound = self
            .halves
            .lower_half(&mut self.facts, module, counter.bound, uint, before);

        let narrow = module.fresh_id();
        let words = [narrow, step].map(Id::word);
        let more = self.facts.insert_inst(module, next, Op::IAdd, uint, &words);
        let words = [uint, narrow, first, entry, more, latch].map(Id::word);
        let counted = module.create_inst(Op::Phi, &words);
        module.insert_before(phi, counted);
        module.remove_inst(phi);
        let words = [counter.ty, value, narrow].map(Id::word);
        let extended = module.create_inst(Op::SConvert, &words);
        module.insert_before(module.first_after_phis(shape.header), extended);
        let words = [narrow, bound].map(Id::word);
        self.facts
            .rewrite_inst(module, condition, Op::SLessThan, &words);
        self.facts.catch_up(module);
        Some(())
    }

    /// The range of a 64-bit value, if it is known.
    fn value_range(&self, module: &SpirvModule, id: Id, depth: u32) -> Option<(i64, i64)> {
        if let Some(range) = self.ranges.get(&id) {
            return Some(*range);
        }
        if let Some(value) = self.facts.scalar_constant_bits(module, id) {
            return Some((value.bits as i64, value.bits as i64));
        }
        let def = self.facts.definition(module, id)?;
        match def.op() {
            Op::SConvert if self.facts.int_width(module, def.id_operand(0)) == Some(32) => {
                Some((i64::from(i32::MIN), i64::from(i32::MAX)))
            }
            Op::IAdd if depth > 0 => {
                let [a, b] = [def.id_operand(0), def.id_operand(1)]
                    .map(|n| self.value_range(module, n, depth - 1));
                let ((a, b), (c, d)) = (a?, b?);
                Some((a.checked_add(c)?, b.checked_add(d)?))
            }
            _ => None,
        }
    }
}
