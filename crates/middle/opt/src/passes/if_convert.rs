//! If-conversion: a branch over few instructions becomes a selection. Both sides run, and each phi of the merge block
//! becomes an `OpSelect`. See Allen, Kennedy, Porterfield and Warren, "Conversion of Control Dependence to Data
//! Dependence", 1983.
//!
//! A side may hold a few cheap instructions without effects that may run anywhere; loads are not moved. Before
//! version 1.4 vectors are selected by a vector of conditions. Types that cannot be selected in that version stay,
//! and so do addresses in logical addressing. Branches with the `DontFlatten` hint stay.
//!
//! Before:
//! ```text
//!      OpSelectionMerge %m None
//!      OpBranchConditional %c %a %m
//! %a = OpLabel
//! %y = OpFNegate %float %x
//!      OpBranch %m
//! %m = OpLabel
//! %p = OpPhi %float %x %b %y %a
//! ```
//! After:
//! ```text
//! %y = OpFNegate %float %x
//! %p = OpSelect %float %c %y %x
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::pass::PassOutcome;
use crate::pool::InternPool;
use crate::replacements::ValueReplacements;
use crate::structure;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::enumerants::SelectionControl;
use spirula_spirv::grammar::{InstructionClass, Op, SpirvVersion};
use spirula_spirv::ir::{Block, ErasedIds, IdWords, Inst, InstRef, SpirvModule};
use std::rc::Rc;

/// Highest cost of the instructions of both sides.
const MOST_COST: usize = 4;
/// Most phis that become selections.
const MOST_PHIS: usize = 4;
/// Most iterations. Each examines the branches around those that were converted before.
const MOST_PASSES: usize = 4;

pub fn run_if_convert(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut converted = 0;
    let mut pass = IfConversion {
        ids: cache.id_words(module),
        pool: None,
        structured: module.is_structured(),
        physical: structure::is_physical(module),
    };
    let mut erased = ErasedIds::new();
    let mut replaced = ValueReplacements::new(module);
    for func in module.functions().to_vec() {
        if module.function(func).blocks.len() < 3 {
            continue;
        }
        for _ in 0..MOST_PASSES {
            let definitions = cache.definitions(module);
            let flow = cache.function_flow(module, func)?;
            let before = converted;
            for at in 0..flow.cfg.len() as u32 {
                if let Some(branch) = pass.find_convertible_branch(module, &definitions, &flow, at)
                {
                    pass.convert_branch(module, &definitions, &branch);
                    converted += 1;
                }
            }
            if converted == before {
                break;
            }
            module.remove_unreachable(&pass.ids, func, &mut erased);
            if replaced.join_blocks(module, &pass.ids, func, &mut erased) > 0 {
                replaced.rewrite_uses(module, &pass.ids, func);
            }
            cache.drop_flow(func);
        }
    }
    module.sweep_annotations(&erased);
    Ok(PassOutcome {
        statistics: vec![("branches converted", converted)],
    })
}

/// A branch that can be converted.
struct ConvertibleBranch {
    head: Block,
    /// The block where the sides meet.
    join: Block,
    condition: Id,
    /// The blocks of the sides that are not empty.
    sides: Vec<Block>,
    /// The predecessors of the join, by label: if the condition holds, and if not.
    from: [Id; 2],
}

struct IfConversion {
    ids: Rc<IdWords>,
    pool: Option<InternPool>,
    structured: bool,
    physical: bool,
}

impl IfConversion {
    /// The convertible branch whose sides meet in a block.
    fn find_convertible_branch(
        &self,
        module: &SpirvModule,
        definitions: &IdDefinitions,
        flow: &FlowAnalysis,
        at: u32,
    ) -> Option<ConvertibleBranch> {
        let cfg = &flow.cfg;
        let [one, other] = *cfg.predecessors(at) else {
            return None;
        };
        let head = flow.dominators.immediate_dominator(at)?;
        let block = cfg.block(head);
        let terminator = module.terminator(block);
        // Blocks that changed in this iteration are examined in the next.
        if terminator.op() != Op::BranchConditional || cfg.successors(head).len() != 2 {
            return None;
        }
        let join = cfg.block(at);
        let label = module.label(join);
        match module.merge_inst(block) {
            Some(merge) => {
                let kept = SelectionControl::DontFlatten.0;
                let own = merge.op() == Op::SelectionMerge && merge.id_operand(0) == label;
                if !own || merge.operand_word(1) & kept != 0 {
                    return None;
                }
            }
            None if self.structured => return None,
            None => {}
        }
        if one == other
            || module
                .merge_inst(join)
                .is_some_and(|m| m.op() == Op::LoopMerge)
        {
            return None;
        }
        let mut branch = ConvertibleBranch {
            head: block,
            join,
            condition: terminator.id_operand(0),
            sides: Vec::new(),
            from: [module.label(block); 2],
        };
        let mut cost = 0;
        for (n, &side) in cfg.successors(head).iter().enumerate() {
            if side == at {
                continue;
            }
            let ends = module.terminator(cfg.block(side));
            let straight = ends.op() == Op::Branch && ends.id_operand(0) == label;
            if !straight || cfg.predecessors(side) != [head] || (side != one && side != other) {
                return None;
            }
            for inst in module.body(cfg.block(side)) {
                cost += self.speculation_cost(inst)?;
            }
            branch.from[n] = module.label(cfg.block(side));
            branch.sides.push(cfg.block(side));
        }
        let phis: Vec<InstRef<'_>> = module.phis(join).collect();
        let fits = phis
            .iter()
            .all(|p| self.can_be_chosen(module, definitions, *p));
        (cost <= MOST_COST && !phis.is_empty() && phis.len() <= MOST_PHIS && fits).then_some(branch)
    }

    /// The cost of running an instruction unconditionally; `None` if that is not allowed.
    fn speculation_cost(&self, inst: InstRef<'_>) -> Option<usize> {
        let op = inst.op();
        if op.is_line() || op == Op::Branch {
            return Some(0);
        }
        if op == Op::ExtInst {
            let set = self.ids.ext_inst_set(inst)?;
            if set.is_debug_info() {
                return Some(0);
            }
            return set
                .instruction_effects(inst.operand_word(1))
                .is_pure()
                .then_some(3);
        }
        inst.result_type()?;
        if op == Op::Undef || !op.effects().is_pure() {
            return None;
        }
        match op.info()?.class {
            InstructionClass::Composite | InstructionClass::Memory => Some(1),
            _ if matches!(op, Op::FDiv | Op::FRem | Op::FMod | Op::MatrixTimesMatrix) => Some(4),
            _ => Some(1),
        }
    }

    fn can_be_chosen(
        &self,
        module: &SpirvModule,
        definitions: &IdDefinitions,
        phi: InstRef<'_>,
    ) -> bool {
        let ty = phi.result_type().and_then(|ty| definitions.get(module, ty));
        match ty.map(InstRef::op) {
            Some(Op::TypeBool | Op::TypeInt | Op::TypeFloat | Op::TypeVector) => true,
            Some(Op::TypePointer) => self.physical,
            Some(Op::TypeStruct | Op::TypeArray | Op::TypeMatrix) => {
                module.version >= SpirvVersion::new(1, 4)
            }
            _ => false,
        }
    }

    fn convert_branch(
        &mut self,
        module: &mut SpirvModule,
        definitions: &IdDefinitions,
        branch: &ConvertibleBranch,
    ) {
        let end = module.before_end(branch.head);
        for side in &branch.sides {
            let body: Vec<Inst> = module.body(*side).map(InstRef::handle).collect();
            for inst in body {
                let i = module.inst(inst);
                let debug = i.op() == Op::ExtInst
                    && self.ids.ext_inst_set(i).is_some_and(|s| s.is_debug_info());
                // Debug information of one side does not apply to both.
                if !i.op().is_terminator() && !i.op().is_line() && !debug {
                    module.move_before(end, inst);
                }
            }
        }
        let phis: Vec<Inst> = module.phis(branch.join).map(InstRef::handle).collect();
        for phi in phis {
            self.replace_phi_with_select(module, definitions, branch, phi);
        }
        let label = module.label(branch.join);
        module.branch_to(branch.head, Some(label));
    }

    fn replace_phi_with_select(
        &mut self,
        module: &mut SpirvModule,
        definitions: &IdDefinitions,
        branch: &ConvertibleBranch,
        phi: Inst,
    ) {
        let inst = module.inst(phi);
        let (Some(ty), Some(id)) = (inst.result_type(), inst.result()) else {
            return;
        };
        let [a, b] = branch.from.map(|label| module.phi_value(phi, label));
        let (Some(a), Some(b)) = (a, b) else { return };
        let vector = definitions
            .get(module, ty)
            .filter(|t| t.op() == Op::TypeVector && module.version < SpirvVersion::new(1, 4))
            .map(|t| t.operand_word(1));
        let mut condition = branch.condition;
        if let Some(count) = vector {
            let mut pool = self.pool.take().unwrap_or_else(|| InternPool::new(module));
            let truth = pool.intern_bool_type(module);
            let many = pool.intern_type(module, Op::TypeVector, &[truth.word(), count]);
            self.pool = Some(pool);
            let spread = module.fresh_id();
            let mut words = vec![many.word(), spread.word()];
            words.extend(std::iter::repeat_n(condition.word(), count as usize));
            let inst = module.create_inst(Op::CompositeConstruct, &words);
            let end = module.before_end(branch.head);
            module.insert_before(end, inst);
            condition = spread;
        }
        let words = [ty, id, condition, a, b].map(Id::word);
        module.replace_inst(phi, Op::Select, &words);
    }
}
