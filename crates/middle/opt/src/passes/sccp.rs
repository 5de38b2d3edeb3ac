//! Sparse conditional constant propagation: values that are constant on all executable paths become constants
//! (Wegman and Zadeck, "Constant Propagation with Conditional Branches", 1991). Values are assumed constant, and
//! branches not taken, until the contrary is found.
//!
//! Branches on constants are left to `simplify-cfg`. Specialisation constants and undefined values count as
//! unknown.
//!
//! Before:
//! ```text
//! %i = OpPhi %int %one %entry %j %latch
//! %c = OpIEqual %bool %i %one
//!      OpBranchConditional %c %then %else
//! %j = OpPhi %int %one %then %x %else
//! ```
//! After: `%one` in the place of `%i` and `%j`, `%true` in that of `%c`.

use crate::analyses::{AnalysisCache, FlowAnalysis};
use crate::pass::PassOutcome;
use crate::use_lists::ValueUsers;
use crate::values::{ModuleValues, first_value};
use spirula_diagnostics::SourceDiagnostic;
use spirula_scalar::fold::FoldConstant;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{ErasedIds, Func, Inst, InstRef, ModuleSection, SpirvModule, switch_cases};
use spirula_spirv::{Id, IdMap};

pub fn run_sccp(
    module: &mut SpirvModule,
    cache: &mut AnalysisCache,
) -> Result<PassOutcome, SourceDiagnostic> {
    // Without phis every constant follows from its operands, which `simplify` handles.
    let joins = |f: &Func| {
        let mut insts = module.function_insts(*f);
        insts.any(|i| i.op() == Op::Phi)
    };
    let joining: Vec<Func> = module.functions().iter().copied().filter(joins).collect();
    if joining.is_empty() {
        return Ok(PassOutcome::default());
    }
    let mut facts = cache.take_facts(module);
    let mut lattice = initial_states(&facts, module);
    let mut users = ValueUsers::new(module.bound());
    let mut home = vec![0; module.inst_count()];
    let mut erased = ErasedIds::new();
    let mut found = 0;
    for func in joining {
        let flow = cache.function_flow(module, func)?;
        let mut solver = SccpSolver {
            facts: &mut facts,
            flow: &flow,
            lattice: &mut lattice,
            users: &mut users,
            home: &mut home,
            taken: vec![Vec::new(); flow.cfg.len()],
            reached: vec![false; flow.cfg.len()],
            edges: Vec::new(),
            values: Vec::new(),
            computed: Vec::new(),
            any: false,
            using: Vec::new(),
        };
        solver.note_uses(module);
        solver.solve_lattice(module);
        found += solver.replace_constants(module, &mut erased);
    }
    module.sweep_annotations(&erased);
    cache.put_facts(facts);
    Ok(PassOutcome {
        statistics: vec![("values found constant", found)],
    })
}

/// The initial states: all values are known except the results of instructions in blocks.
fn initial_states(facts: &ModuleValues, module: &SpirvModule) -> IdMap<LatticeValue> {
    let mut lattice = IdMap::new(module.bound(), LatticeValue::Unseen);
    for inst in module.section_insts(ModuleSection::Globals) {
        if let Some(id) = inst.result() {
            let constant = facts.is_constant(module, id);
            let state = if constant {
                LatticeValue::Constant(id)
            } else {
                LatticeValue::Varying
            };
            lattice.set(id, state);
        }
    }
    for func in module.functions() {
        lattice.set(module.function_id(*func), LatticeValue::Varying);
        for param in module.list_insts(module.function(*func).params) {
            param
                .result()
                .into_iter()
                .for_each(|id| lattice.set(id, LatticeValue::Varying));
        }
        for block in &module.function(*func).blocks {
            lattice.set(module.label(*block), LatticeValue::Varying);
        }
    }
    lattice
}

/// The lattice value of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LatticeValue {
    /// No value so far.
    Unseen,
    /// This constant of the module.
    Constant(Id),
    /// A constant that the module may lack, by its index in [`SccpSolver::computed`].
    Computed(u32),
    /// Not a constant.
    Varying,
}

struct SccpSolver<'a> {
    facts: &'a mut ModuleValues,
    flow: &'a FlowAnalysis,
    lattice: &'a mut IdMap<LatticeValue>,
    users: &'a mut ValueUsers,
    /// The block of each instruction.
    home: &'a mut Vec<u32>,
    /// The executable successors of each block.
    taken: Vec<Vec<u32>>,
    reached: Vec<bool>,
    /// The work list of executable edges.
    edges: Vec<(u32, u32)>,
    /// The work list of values whose state changed.
    values: Vec<Id>,
    /// Types and components of computed constants.
    computed: Vec<(Id, Vec<u64>)>,
    /// Whether any value is a constant.
    any: bool,
    /// The users of the current value.
    using: Vec<Inst>,
}

impl SccpSolver<'_> {
    fn note_uses(&mut self, module: &SpirvModule) {
        self.users.clear();
        for at in 0..self.flow.cfg.len() as u32 {
            for inst in module.body(self.flow.cfg.block(at)) {
                self.home[inst.handle().index()] = at;
                // The results of other instructions vary.
                let op = inst.op();
                if !(matches!(op, Op::Phi | Op::Select)
                    || op.is_terminator()
                    || self.facts.is_foldable(inst))
                {
                    continue;
                }
                let (users, lattice) = (&mut *self.users, &*self.lattice);
                self.facts.ids.visit_uses(inst, |_, id| {
                    if lattice[id] == LatticeValue::Unseen {
                        users.add_user(id, inst.handle());
                    }
                });
            }
        }
    }

    fn solve_lattice(&mut self, module: &mut SpirvModule) {
        if self.flow.cfg.is_empty() {
            return;
        }
        self.visit_block(module, 0);
        loop {
            if let Some((from, to)) = self.edges.pop() {
                self.visit_edge(module, from, to);
            } else if let Some(value) = self.values.pop() {
                let mut users = std::mem::take(&mut self.using);
                users.clear();
                users.extend(self.users.users_of(value));
                for user in &users {
                    let at = self.home[user.index()];
                    if self.reached[at as usize] {
                        self.visit_inst(module, *user, at);
                    }
                }
                self.using = users;
            } else {
                return;
            }
        }
    }

    fn visit_edge(&mut self, module: &mut SpirvModule, from: u32, to: u32) {
        let taken = &mut self.taken[from as usize];
        if taken.contains(&to) {
            return;
        }
        taken.push(to);
        if !self.reached[to as usize] {
            return self.visit_block(module, to);
        }
        let block = self.flow.cfg.block(to);
        let mut next = module.body(block).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = module.next(inst);
            match module.inst(inst).op() {
                Op::Phi => self.visit_inst(module, inst, to),
                op if op.is_line() => {}
                _ => return,
            }
        }
    }

    fn visit_block(&mut self, module: &mut SpirvModule, at: u32) {
        self.reached[at as usize] = true;
        let block = self.flow.cfg.block(at);
        let mut next = module.body(block).next().map(InstRef::handle);
        while let Some(inst) = next {
            next = module.next(inst);
            self.visit_inst(module, inst, at);
        }
    }

    fn visit_inst(&mut self, module: &mut SpirvModule, inst: Inst, at: u32) {
        let i = module.inst(inst);
        if i.op().is_terminator() {
            return self.visit_branch(module, inst, at);
        }
        let Some(id) = i.result() else { return };
        let old = self.lattice[id];
        if old == LatticeValue::Varying {
            return;
        }
        let new = match i.op() {
            Op::Phi => self.evaluate_phi(module, i, at),
            _ => self.evaluate_inst(module, inst),
        };
        let lowered = match (old, new) {
            (_, LatticeValue::Unseen) => return,
            (LatticeValue::Unseen, new) => new,
            (old, new) if self.are_equal(module, old, new) => return,
            _ => LatticeValue::Varying,
        };
        self.any |= lowered != LatticeValue::Varying;
        self.lattice.set(id, lowered);
        self.values.push(id);
    }

    fn value_state(&self, id: Id) -> LatticeValue {
        self.lattice[id]
    }

    /// Whether two states are the same constant.
    fn are_equal(&self, module: &SpirvModule, a: LatticeValue, b: LatticeValue) -> bool {
        let lanes = |state| self.constant_lanes(module, state);
        match (a, b) {
            (LatticeValue::Unseen | LatticeValue::Varying, _)
            | (_, LatticeValue::Unseen | LatticeValue::Varying) => false,
            (a, b) => a == b || lanes(a).is_some() && lanes(a) == lanes(b),
        }
    }

    /// The components of a constant.
    fn constant_lanes(
        &self,
        module: &SpirvModule,
        state: LatticeValue,
    ) -> Option<Vec<FoldConstant>> {
        let mut lanes = Vec::new();
        match state {
            LatticeValue::Constant(id) => self.facts.read_constant_lanes(module, id, &mut lanes)?,
            LatticeValue::Computed(at) => {
                let (ty, bits) = &self.computed[at as usize];
                let (ty, _) = self.facts.scalar_shape(module, *ty)?;
                lanes.extend(bits.iter().map(|bits| FoldConstant { ty, bits: *bits }));
            }
            _ => return None,
        }
        Some(lanes)
    }

    fn evaluate_phi(&self, module: &SpirvModule, phi: InstRef<'_>, at: u32) -> LatticeValue {
        let mut all = LatticeValue::Unseen;
        for pair in phi.operands().chunks_exact(2) {
            let (Some(value), Some(parent)) = (Id::new(pair[0]), Id::new(pair[1])) else {
                return LatticeValue::Varying;
            };
            let from = self.flow.cfg.block_position(parent);
            if !from.is_some_and(|f| self.taken[f as usize].contains(&at)) {
                continue;
            }
            all = match (all, self.value_state(value)) {
                (all, LatticeValue::Unseen) => all,
                (LatticeValue::Unseen, state) => state,
                (all, state) if self.are_equal(module, all, state) => all,
                _ => return LatticeValue::Varying,
            };
        }
        all
    }

    fn evaluate_inst(&mut self, module: &mut SpirvModule, inst: Inst) -> LatticeValue {
        let i = module.inst(inst);
        let Some(ty) = i.result_type() else {
            return LatticeValue::Varying;
        };
        if i.op() == Op::Select {
            return self.evaluate_select(module, i);
        }
        if !self.facts.is_foldable(i) {
            return LatticeValue::Varying;
        }
        let mut operands: Vec<Vec<FoldConstant>> = Vec::with_capacity(3);
        let mut waiting = false;
        for id in i.id_operands(first_value(i.op())) {
            match self.value_state(id) {
                LatticeValue::Unseen => waiting = true,
                LatticeValue::Varying => return LatticeValue::Varying,
                known => match self.constant_lanes(module, known) {
                    Some(lanes) => operands.push(lanes),
                    None => return LatticeValue::Varying,
                },
            }
        }
        if waiting {
            return LatticeValue::Unseen;
        }
        match self.facts.evaluate_components(module, i, &operands) {
            Some(results) => {
                self.computed.push((ty, results));
                LatticeValue::Computed(self.computed.len() as u32 - 1)
            }
            None => LatticeValue::Varying,
        }
    }

    fn evaluate_select(&self, module: &SpirvModule, select: InstRef<'_>) -> LatticeValue {
        let sides = [1, 2].map(|n| self.value_state(select.id_operand(n)));
        match self.value_state(select.id_operand(0)) {
            LatticeValue::Unseen => LatticeValue::Unseen,
            LatticeValue::Varying => match sides {
                [LatticeValue::Unseen, _] | [_, LatticeValue::Unseen] => LatticeValue::Unseen,
                [a, b] if self.are_equal(module, a, b) => a,
                _ => LatticeValue::Varying,
            },
            known => match self.constant_lanes(module, known).as_deref() {
                Some([value]) => sides[usize::from(value.bits == 0)],
                _ => LatticeValue::Varying,
            },
        }
    }

    fn visit_branch(&mut self, module: &SpirvModule, inst: Inst, at: u32) {
        let i = module.inst(inst);
        let decided = match i.op() {
            Op::BranchConditional | Op::Switch => match self.value_state(i.id_operand(0)) {
                LatticeValue::Unseen => return,
                LatticeValue::Varying => None,
                known => self.find_taken_target(module, i, known),
            },
            _ => None,
        };
        match decided.and_then(|label| self.flow.cfg.block_position(label)) {
            Some(to) => self.edges.push((at, to)),
            None => {
                let all = self.flow.cfg.successors(at).iter().rev();
                self.edges.extend(all.map(|to| (at, *to)));
            }
        }
    }

    /// The target of a branch whose condition or selector is a constant.
    fn find_taken_target(
        &self,
        module: &SpirvModule,
        branch: InstRef<'_>,
        constant: LatticeValue,
    ) -> Option<Id> {
        let value = *self.constant_lanes(module, constant)?.first()?;
        let (width, value) = (value.ty.width(), value.bits);
        if branch.op() == Op::BranchConditional {
            return branch.get_id(if value != 0 { 1 } else { 2 });
        }
        let words = self.facts.ids.switch_literal_words(branch);
        // Literals of narrow selectors are sign-extended.
        let mask = u64::MAX >> (64 - width);
        let mut cases = switch_cases(branch, words);
        let case = cases.find(|(literal, _)| *literal & mask == value);
        Some(case.map_or(branch.id_operand(1), |(_, label)| label))
    }

    /// Replaces values by constants. Returns their number.
    fn replace_constants(&mut self, module: &mut SpirvModule, erased: &mut ErasedIds) -> usize {
        if !self.any {
            return 0;
        }
        let found = self.materialise_constants(module);
        if found == 0 {
            return 0;
        }
        for at in 0..self.flow.cfg.len() as u32 {
            let block = self.flow.cfg.block(at);
            let mut next = module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                let known = module.inst(inst).result();
                if known.is_some_and(|id| self.replacement_constant(id).is_some()) {
                    module.erase_inst(inst, erased);
                } else {
                    let new = |id: Id| self.replacement_constant(id).unwrap_or(id);
                    self.facts.ids.rewrite_uses(module, inst, new);
                }
            }
        }
        found
    }

    /// The constant that replaces an id.
    fn replacement_constant(&self, id: Id) -> Option<Id> {
        match self.lattice[id] {
            LatticeValue::Constant(constant) if constant != id => Some(constant),
            _ => None,
        }
    }

    /// Creates the constants that the module lacks. Returns the number of constant values.
    fn materialise_constants(&mut self, module: &mut SpirvModule) -> usize {
        let mut found = 0;
        for at in 0..self.flow.cfg.len() as u32 {
            let block = self.flow.cfg.block(at);
            let mut next = module.body(block).next().map(InstRef::handle);
            while let Some(inst) = next {
                next = module.next(inst);
                let Some(id) = module.inst(inst).result() else {
                    continue;
                };
                let constant = match self.lattice[id] {
                    LatticeValue::Constant(constant) => Some(constant),
                    LatticeValue::Computed(at) => {
                        let (ty, bits) = self.computed[at as usize].clone();
                        self.facts.intern_lanes(module, ty, &bits)
                    }
                    _ => None,
                };
                let constant = constant.filter(|_| self.facts.decoration_marks(id).is_some());
                found += usize::from(constant.is_some());
                let state = constant.map_or(LatticeValue::Varying, LatticeValue::Constant);
                self.lattice.set(id, state);
            }
        }
        found
    }
}
