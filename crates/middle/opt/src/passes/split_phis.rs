//! Phi splitting: a phi of a structure or array that is constructed on every path becomes a phi for each member. A
//! loop-carried structure is then no longer constructed and taken apart in each iteration.
//!
//! A phi is split if each incoming value is constructed from members, is a constant, or is another phi that is
//! split. In addition a member of it, or of a phi that it is connected to, must be extracted. The whole is
//! constructed after the phis; if nothing uses it, it is dead code.
//!
//! Before:
//! ```text
//! %p = OpPhi %pair %first %entry %next %loop
//! %x = OpCompositeExtract %int %p 0
//! %y = OpCompositeExtract %int %p 1
//! %next = OpCompositeConstruct %pair %u %v
//! ```
//! After:
//! ```text
//! %x = OpPhi %int %a %entry %u %loop
//! %y = OpPhi %int %b %entry %v %loop
//! ```

use crate::analyses::AnalysisCache;
use crate::pass::PassOutcome;
use crate::values::ModuleValues;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Block, Func, Inst, InstRef, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Most members of a phi.
const MOST_PARTS: u32 = 16;
/// Most insertions that are followed to their composite.
const MOST_INSERTIONS: usize = 16;
/// The depth to which nested structures are split.
const MOST_PASSES: usize = 4;

pub fn run_split_phis(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    let mut facts = cache.take_facts(module);
    let mut split = 0;
    for func in module.functions().to_vec() {
        for _ in 0..MOST_PASSES {
            let here =
                PhiSplitter::new(module, &facts, func).split_candidates(module, &mut facts, func);
            split += here;
            if here == 0 {
                break;
            }
        }
    }
    cache.put_facts(facts);
    Ok(PassOutcome {
        statistics: vec![("phis split", split)],
    })
}

/// A phi that may be split.
struct PhiCandidate {
    inst: Inst,
    block: Block,
    /// Number of members.
    count: u32,
    /// Other candidates that are connected to this one by an incoming value, in either direction.
    joined: Vec<u32>,
    /// Other candidates that have this one as an incoming value.
    users: Vec<u32>,
    /// The phis of its members.
    parts: Vec<(Id, Inst)>,
}

struct PhiSplitter {
    candidates: Vec<PhiCandidate>,
    by_id: IdMap<Option<u32>>,
}

/// The kind of an incoming value.
enum PhiInput {
    /// Its members are known.
    Known,
    /// Its members are those of a candidate, except for inserted ones.
    Candidate(u32),
    Other,
}

impl PhiSplitter {
    fn new(module: &SpirvModule, facts: &ModuleValues, func: Func) -> Self {
        let mut found = PhiSplitter {
            candidates: Vec::new(),
            by_id: IdMap::new(0, None),
        };
        for block in &module.function(func).blocks {
            for phi in module.phis(*block) {
                found.add_candidate(module, facts, *block, phi);
            }
        }
        found
    }

    fn add_candidate(
        &mut self,
        module: &SpirvModule,
        facts: &ModuleValues,
        block: Block,
        phi: InstRef<'_>,
    ) {
        let (Some(id), Some(ty)) = (phi.result(), phi.result_type()) else {
            return;
        };
        if !matches!(
            facts.defining_op(module, ty),
            Op::TypeStruct | Op::TypeArray
        ) {
            return;
        }
        let count = facts
            .part_count(module, ty)
            .filter(|c| (1..=MOST_PARTS).contains(c));
        if let Some(count) = count.filter(|_| facts.decoration_marks(id) == Some(0)) {
            self.by_id.set(id, Some(self.candidates.len() as u32));
            self.candidates.push(PhiCandidate {
                inst: phi.handle(),
                block,
                count,
                joined: Vec::new(),
                users: Vec::new(),
                parts: Vec::new(),
            });
        }
    }

    /// Splits the candidates that are worth it. Returns their number.
    fn split_candidates(
        mut self,
        module: &mut SpirvModule,
        facts: &mut ModuleValues,
        func: Func,
    ) -> usize {
        if self.candidates.is_empty() {
            return 0;
        }
        let possible = self.find_splittable(module, facts);
        let wanted = self.find_extracted(module, func, &possible);
        let chosen: Vec<u32> = (0..self.candidates.len() as u32)
            .filter(|at| wanted[*at as usize])
            .collect();
        for at in &chosen {
            self.create_component_phis(module, facts, *at);
        }
        for at in &chosen {
            self.fill_component_phis(module, facts, *at);
        }
        for at in &chosen {
            self.assemble_composite(module, facts, *at);
        }
        self.forward_extracts(module, facts, func);
        chosen.len()
    }

    /// The candidates whose incoming values all have known members, or are such candidates.
    fn find_splittable(&mut self, module: &SpirvModule, facts: &ModuleValues) -> Vec<bool> {
        let mut possible = vec![true; self.candidates.len()];
        let mut work = Vec::new();
        for at in 0..self.candidates.len() as u32 {
            let phi = module.inst(self.candidates[at as usize].inst);
            for value in phi.id_operands(0).step_by(2) {
                match self.classify_input(module, facts, value) {
                    PhiInput::Known => {}
                    PhiInput::Candidate(other) => {
                        self.candidates[other as usize].users.push(at);
                        self.candidates[other as usize].joined.push(at);
                        self.candidates[at as usize].joined.push(other);
                    }
                    PhiInput::Other => work.push(at),
                }
            }
        }
        while let Some(at) = work.pop() {
            if std::mem::replace(&mut possible[at as usize], false) {
                work.extend(&self.candidates[at as usize].users);
            }
        }
        possible
    }

    /// The candidates of which a member is extracted, directly or from one that they are connected to.
    fn find_extracted(&self, module: &SpirvModule, func: Func, possible: &[bool]) -> Vec<bool> {
        let mut wanted = vec![false; possible.len()];
        let extracts = module
            .function_insts(func)
            .filter(|i| i.op() == Op::CompositeExtract && i.operands().len() > 1);
        let mut work: Vec<u32> = extracts
            .filter_map(|i| self.by_id[i.id_operand(0)])
            .collect();
        while let Some(at) = work.pop() {
            if possible[at as usize] && !std::mem::replace(&mut wanted[at as usize], true) {
                work.extend(&self.candidates[at as usize].joined);
            }
        }
        wanted
    }

    fn classify_input(
        &self,
        module: &SpirvModule,
        facts: &ModuleValues,
        mut value: Id,
    ) -> PhiInput {
        for _ in 0..MOST_INSERTIONS {
            if let Some(at) = self.by_id[value] {
                return PhiInput::Candidate(at);
            }
            match facts.definition(module, value) {
                Some(i) if i.op() == Op::CompositeInsert && i.operands().len() == 3 => {
                    value = i.id_operand(1);
                }
                Some(i) if i.op() == Op::CompositeConstruct || i.op() == Op::Undef => {
                    return PhiInput::Known;
                }
                _ if facts.is_constant(module, value) => return PhiInput::Known,
                _ => break,
            }
        }
        PhiInput::Other
    }

    /// Member `at` of a value.
    fn extract_component(
        &self,
        module: &mut SpirvModule,
        facts: &mut ModuleValues,
        mut value: Id,
        at: u32,
    ) -> Option<Id> {
        loop {
            if let Some(other) = self.by_id[value]
                && let Some(part) = self.candidates[other as usize].parts.get(at as usize)
            {
                return Some(part.0);
            }
            let inst = facts.definition(module, value)?;
            match inst.op() {
                Op::CompositeInsert if inst.operands().get(2) == Some(&at) => {
                    return inst.get_id(0);
                }
                Op::CompositeInsert => value = inst.id_operand(1),
                Op::CompositeConstruct => return inst.get_id(at as usize),
                Op::Undef => {
                    let ty = facts.part_type(module, inst.result_type()?, at)?;
                    return Some(facts.intern_constant(module, Op::Undef, ty, &[]));
                }
                _ => return facts.extract_constant_component(module, value, at),
            }
        }
    }

    /// Creates the phis of a candidate's members, without incoming values.
    fn create_component_phis(
        &mut self,
        module: &mut SpirvModule,
        facts: &mut ModuleValues,
        at: u32,
    ) {
        let candidate = &mut self.candidates[at as usize];
        let Some(ty) = module.inst(candidate.inst).result_type() else {
            return;
        };
        for part in 0..candidate.count {
            if let Some(ty) = facts.part_type(module, ty, part) {
                let id = facts.insert_inst(module, candidate.inst, Op::Phi, ty, &[]);
                let inst = module.previous(candidate.inst);
                candidate.parts.extend(inst.map(|inst| (id, inst)));
            }
        }
    }

    /// Sets the incoming values of the phis of a candidate's members.
    fn fill_component_phis(&self, module: &mut SpirvModule, facts: &mut ModuleValues, at: u32) {
        let candidate = &self.candidates[at as usize];
        let pairs: Vec<Id> = module.inst(candidate.inst).id_operands(0).collect();
        for (part, (_, phi)) in candidate.parts.iter().enumerate() {
            let mut operands = Vec::with_capacity(pairs.len());
            for pair in pairs.chunks_exact(2) {
                if let Some(value) = self.extract_component(module, facts, pair[0], part as u32) {
                    operands.extend([value.word(), pair[1].word()]);
                }
            }
            facts.rewrite_inst(module, *phi, Op::Phi, &operands);
        }
    }

    /// Constructs a candidate from its members after the phis.
    fn assemble_composite(&self, module: &mut SpirvModule, facts: &mut ModuleValues, at: u32) {
        let candidate = &self.candidates[at as usize];
        let parts: Vec<u32> = candidate.parts.iter().map(|p| p.0.word()).collect();
        facts.rewrite_inst(module, candidate.inst, Op::CompositeConstruct, &parts);
        module.remove_inst(candidate.inst);
        let after_phis = module.first_after_phis(candidate.block);
        module.insert_before(after_phis, candidate.inst);
    }

    /// Redirects extractions of nested members to the phi of the member, which may be split in turn.
    fn forward_extracts(&self, module: &mut SpirvModule, facts: &mut ModuleValues, func: Func) {
        let extracts: Vec<Inst> = module
            .function_insts(func)
            .filter(|i| i.op() == Op::CompositeExtract && i.operands().len() > 2)
            .map(InstRef::handle)
            .collect();
        for extract in extracts {
            let operands = module.inst(extract).operands();
            let candidate = self.by_id[module.inst(extract).id_operand(0)];
            let parts = candidate.map(|at| &self.candidates[at as usize].parts);
            if let Some((part, _)) = parts.and_then(|p| p.get(operands[1] as usize)) {
                let words = [&[part.word()], &operands[2..]].concat();
                facts.rewrite_inst(module, extract, Op::CompositeExtract, &words);
            }
        }
    }
}
