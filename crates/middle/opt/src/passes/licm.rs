//! Loop-invariant code motion: computations that give the same value in every iteration of a natural loop move to its
//! pre-header. It is created if there is none. Inner loops come first, so that an instruction can leave several loops
//! (Aho, Lam, Sethi and Ullman, "Compilers", section 9.5).
//!
//! Instructions without effects move from anywhere. An instruction that is undefined for some operands, such as a
//! division, moves only from the loop header, which runs whenever the loop is entered. Loads move from the header
//! if the loop writes nothing, and from anywhere if they read a variable that nothing can write. Instructions that
//! depend on the set of active invocations do not move.
//!
//! Before:
//! ```text
//! %head = OpLabel
//! %i    = OpPhi %int %zero %entry %next %head
//! %k    = OpIMul %int %a %b
//! %next = OpIAdd %int %i %k
//! ```
//! After:
//! ```text
//! %pre  = OpLabel
//! %k    = OpIMul %int %a %b
//!         OpBranch %head
//! %head = OpLabel
//! %i    = OpPhi %int %zero %pre %next %head
//! %next = OpIAdd %int %i %k
//! ```

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::pass::PassOutcome;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::analysis::{IdDefinitions, LoopNest};
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};
use spirula_spirv::grammar::{InstructionEffects, Op};
use spirula_spirv::ir::{Block, IdWords, Inst, InstRef, SpirvModule};

pub fn run_licm(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let ids = cache.id_words(module);
    let definitions = cache.definitions(module);
    let (mut moved, mut made) = (0, 0);
    // The block of each instruction of the functions visited so far.
    let mut home: Vec<Option<Block>> = vec![None; module.inst_count()];
    let mut innermost: Vec<Option<u32>> = vec![None; module.block_count()];
    for func in module.functions().to_vec() {
        let flow = cache.function_flow(module, func)?;
        let loops = LoopNest::from_cfg(&flow.cfg, &flow.dominators);
        if loops.loops().is_empty() {
            continue;
        }
        for block in &module.function(func).blocks {
            for inst in module.body(*block) {
                home[inst.handle().index()] = Some(*block);
            }
        }
        let mut motion =
            InvariantMotion::new(&ids, &definitions, &flow, &loops, &mut home, &mut innermost);
        motion.hoist_invariants(module);
        moved += motion.moved;
        made += motion.made;
        if motion.made > 0 {
            cache.drop_flow(func);
        }
    }
    Ok(PassOutcome {
        statistics: vec![("instructions moved", moved), ("pre-headers made", made)],
    })
}

struct InvariantMotion<'a> {
    ids: &'a IdWords,
    definitions: &'a IdDefinitions,
    flow: &'a FlowAnalysis,
    loops: &'a LoopNest,
    home: &'a mut Vec<Option<Block>>,
    /// The innermost loop of each block. New blocks are added.
    innermost: &'a mut Vec<Option<u32>>,
    /// The blocks of each loop, in reverse post-order.
    members: Vec<Vec<Block>>,
    moved: usize,
    made: usize,
}

impl<'a> InvariantMotion<'a> {
    fn new(
        ids: &'a IdWords,
        definitions: &'a IdDefinitions,
        flow: &'a FlowAnalysis,
        loops: &'a LoopNest,
        home: &'a mut Vec<Option<Block>>,
        innermost: &'a mut Vec<Option<u32>>,
    ) -> Self {
        let order = flow.cfg.reverse_postorder();
        let members = loops.collect_members(order).into_iter();
        for block in order {
            innermost[flow.cfg.block(*block).index()] = loops.innermost_loop(*block);
        }
        InvariantMotion {
            ids,
            definitions,
            flow,
            loops,
            home,
            innermost,
            members: members
                .map(|m| m.into_iter().map(|b| flow.cfg.block(b)).collect())
                .collect(),
            moved: 0,
            made: 0,
        }
    }

    fn hoist_invariants(&mut self, module: &mut SpirvModule) {
        for at in 0..self.loops.loops().len() as u32 {
            self.hoist_from_loop(module, at);
        }
    }

    fn hoist_from_loop(&mut self, module: &mut SpirvModule, at: u32) {
        let header = self.flow.cfg.block(self.loops.loops()[at as usize].header);
        let writes = self.members[at as usize].iter().any(|b| {
            module
                .body(*b)
                .any(|i| !self.classify_effects(i).is_removable())
        });
        let mut target = None;
        for block in self.members[at as usize].clone() {
            let mut undisturbed = block == header;
            let mut next = module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                let i = module.inst(inst);
                let allowed =
                    self.may_move(module, i, undisturbed, writes) && self.is_invariant(i, at);
                if !allowed {
                    undisturbed &= self.classify_effects(i).is_removable();
                    continue;
                }
                if target.is_none() {
                    target = self.pre_header(module, at);
                }
                let Some(pre_header) = target else { return };
                let end = module.before_end(pre_header);
                module.move_before(end, inst);
                self.home[inst.index()] = Some(pre_header);
                self.moved += 1;
            }
        }
    }

    fn classify_effects(&self, inst: InstRef<'_>) -> InstructionEffects {
        match inst.op() {
            Op::ExtInst => match self.ids.ext_inst_set(inst) {
                Some(set) if set.is_debug_info() => InstructionEffects::CONVERGENT,
                Some(set) => set.instruction_effects(inst.operand_word(1)),
                None => InstructionEffects::ANY,
            },
            Op::Line | Op::NoLine | Op::LoopMerge | Op::SelectionMerge => {
                InstructionEffects::CONVERGENT
            }
            Op::Branch | Op::BranchConditional | Op::Switch => InstructionEffects::CONVERGENT,
            op => op.effects(),
        }
    }

    /// Whether an instruction may move before the loop if its operands are available there.
    fn may_move(
        &self,
        module: &SpirvModule,
        inst: InstRef<'_>,
        undisturbed: bool,
        writes: bool,
    ) -> bool {
        if inst.result_type().is_none() || inst.op() == Op::Undef {
            return false;
        }
        let effects = self.classify_effects(inst);
        if inst.op() == Op::Load {
            let volatile = inst.operands().get(1).is_some_and(|m| {
                let plain = MemoryAccess::Aligned | MemoryAccess::Nontemporal;
                m & !plain.0 != 0
            });
            return !volatile
                && (self.is_unwritable(module, inst.id_operand(0)) || undisturbed && !writes);
        }
        effects.is_pure() || undisturbed && effects == InstructionEffects::TRAPS
    }

    /// Whether a pointer is a variable that nothing writes while the module runs.
    fn is_unwritable(&self, module: &SpirvModule, pointer: Id) -> bool {
        let Some(variable) = self.definitions.get(module, pointer) else {
            return false;
        };
        let class = [StorageClass::UniformConstant, StorageClass::Input];
        variable.op() == Op::Variable && class.iter().any(|c| c.0 == variable.operand_word(0))
    }

    fn is_in(&self, at: u32, block: Block) -> bool {
        let mut inner = self.innermost.get(block.index()).copied().flatten();
        while let Some(l) = inner {
            if l == at {
                return true;
            }
            inner = self.loops.loops()[l as usize].parent;
        }
        false
    }

    fn is_invariant(&self, inst: InstRef<'_>, at: u32) -> bool {
        let mut invariant = true;
        self.ids.visit_uses(inst, |_, id| {
            let home = self
                .definitions
                .defining_inst(id)
                .and_then(|d| self.home[d.index()]);
            invariant &= home.is_none_or(|block| !self.is_in(at, block));
        });
        invariant
    }

    /// The pre-header of a loop, created if there is none.
    fn pre_header(&mut self, module: &mut SpirvModule, at: u32) -> Option<Block> {
        let header = self.flow.cfg.block(self.loops.loops()[at as usize].header);
        let parent = self.loops.loops()[at as usize].parent;
        let label = module.label(header);
        let latches = &self.loops.loops()[at as usize].latches;
        // Pre-headers of other loops may lead here, so that the predecessors are determined again.
        let mut outside: Vec<Block> = Vec::new();
        for source in self.find_predecessors(module, header) {
            let known = latches.iter().any(|l| self.flow.cfg.block(*l) == source);
            if !known && !self.is_in(at, source) && !outside.contains(&source) {
                outside.push(source);
            }
        }
        if let [only] = outside[..]
            && module.terminator(only).op() == Op::Branch
        {
            return Some(only);
        }
        let block = module.create_pre_header(self.ids, header, &outside).ok()?;
        self.made += 1;
        self.innermost.resize(module.block_count(), None);
        self.innermost[block.index()] = parent;
        let branch: Vec<Inst> = module.body(block).map(InstRef::handle).collect();
        self.home.resize(module.inst_count(), None);
        for inst in branch {
            self.home[inst.index()] = Some(block);
        }
        let mut outer = parent;
        while let Some(l) = outer {
            let members = &mut self.members[l as usize];
            let place = members.iter().position(|b| module.label(*b) == label);
            members.insert(place.unwrap_or(0), block);
            outer = self.loops.loops()[l as usize].parent;
        }
        Some(block)
    }

    /// The current predecessors of a header.
    fn find_predecessors(&self, module: &SpirvModule, header: Block) -> Vec<Block> {
        let label = module.label(header);
        let leads = |b: &Block| {
            module
                .block_targets(self.ids, *b)
                .iter()
                .any(|t| t.1 == label)
        };
        let at = self.flow.cfg.block_position(label);
        let before = at.map_or(&[][..], |at| self.flow.cfg.predecessors(at));
        let before = before.iter().map(|b| self.flow.cfg.block(*b));
        let mut sources: Vec<Block> = before.filter(leads).collect();
        sources.dedup();
        sources
    }
}
