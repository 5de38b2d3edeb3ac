//! Liveness: the values that an invocation keeps while it is suspended.
//!
//! Blocks are cut into segments at suspension points and at calls of functions that suspend. For each id that is used
//! outside of its own segment, one backward walk from its uses finds the segments in which it is live. The segments
//! that begin at a cut give the result. Promoted variables take part: loads use them, and stores of the whole
//! variable define them. The cost is the sum of the live ranges.

use super::function_info::SuspendLiveness;
use super::reached_functions::ReachedFunctions;
use super::suspension;
use crate::module::operand_ids::operand_ids;
use crate::module::typed_module::TypedModule;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{Func, Inst, InstRef};

/// Liveness at the cuts of a function.
pub(crate) fn compute_liveness(
    program: &TypedModule<'_>,
    functions: &ReachedFunctions,
    func: Func,
) -> SuspendLiveness {
    let mut pass = SegmentLiveness::new(program, functions, func);
    pass.scan_segments();
    pass.solve_dataflow()
}

struct SegmentLiveness<'a, 'm> {
    program: &'a TypedModule<'m>,
    functions: &'a ReachedFunctions,
    func: Func,
    /// First segment of each block, and one past the last.
    first: Vec<u32>,
    /// The cut before each segment.
    cut: Vec<Option<Inst>>,
    /// Block of each segment.
    block: Vec<u32>,
    /// Each id by local number, and the segments that define it.
    ids: Vec<Option<Id>>,
    defs: Vec<(u32, u32)>,
    /// Local number and segment of uses that the segment's own definitions do not reach.
    uses: Vec<(u32, u32)>,
    /// The last segment that defines each id, by local number, in one forward walk.
    defined_in: Vec<u32>,
    /// The promoted variable that each pointer points into, by local number.
    variable: Vec<Option<Id>>,
    /// Block of the walk.
    current: u32,
}

impl<'a, 'm> SegmentLiveness<'a, 'm> {
    fn new(program: &'a TypedModule<'m>, functions: &'a ReachedFunctions, func: Func) -> Self {
        let info = functions.get(func);
        let locals = info.locals as usize;
        SegmentLiveness {
            program,
            functions,
            func,
            first: Vec::new(),
            cut: Vec::new(),
            block: Vec::new(),
            ids: vec![None; locals],
            defs: Vec::new(),
            uses: Vec::new(),
            defined_in: vec![u32::MAX; locals],
            variable: vec![None; locals],
            current: 0,
        }
    }

    fn is_cut(&self, inst: InstRef<'_>) -> bool {
        suspension::is_point(self.program, inst)
            || (inst.op() == Op::FunctionCall && self.functions.call_suspends(inst.id_operand(0)))
    }

    /// Numbers the segments, then collects definitions and uses.
    fn scan_segments(&mut self) {
        let info = self.functions.get(self.func);
        let module = self.program.module;
        for at in 0..info.cfg.len() as u32 {
            self.first.push(self.cut.len() as u32);
            self.cut.push(None);
            self.block.push(at);
            for inst in module.body(info.cfg.block(at)) {
                if self.is_cut(inst) {
                    self.cut.push(Some(inst.handle()));
                    self.block.push(at);
                }
            }
        }
        self.first.push(self.cut.len() as u32);
        for param in &info.params {
            self.record_definition(*param, 0);
        }
        for &at in &info.order {
            let mut segment = self.first[at as usize];
            self.current = at;
            for inst in module.body(info.cfg.block(at)) {
                self.scan_instruction(inst, &mut segment);
            }
        }
    }

    fn scan_instruction(&mut self, inst: InstRef<'_>, segment: &mut u32) {
        match inst.op() {
            Op::Phi => self.scan_phi(inst),
            Op::Store if self.find_whole_variable(inst.id_operand(0)).is_some() => {
                self.record_use(inst.id_operand(1), *segment);
                self.record_definition(inst.id_operand(0), *segment);
                return;
            }
            Op::LifetimeStart | Op::LifetimeStop => return,
            _ => operand_ids(inst).for_each(|id| self.record_use(id, *segment)),
        }
        if self.is_cut(inst) {
            *segment += 1;
            // An inlined callee uses the variables of its arguments between its own cuts. Therefore they are live
            // across all of these.
            if inst.op() == Op::FunctionCall {
                for id in inst.id_operands(1) {
                    if self.promoted_variable(id).is_some() {
                        self.record_use(id, *segment);
                    }
                }
            }
        }
        let Some(id) = inst.result() else { return };
        match inst.op() {
            Op::Variable if self.functions.is_promoted(id) => {
                self.set_promoted_variable(id, id);
                self.record_definition(id, *segment);
            }
            Op::Variable => {}
            op if (op.is_plain_access_chain() || matches!(op, Op::CopyObject | Op::Bitcast))
                && self.promoted_variable(inst.id_operand(0)).is_some() =>
            {
                if let Some(variable) = self.promoted_variable(inst.id_operand(0)) {
                    self.set_promoted_variable(id, variable);
                }
            }
            _ => self.record_definition(id, *segment),
        }
    }

    /// Operands of a phi are used at the end of the block that they come from.
    fn scan_phi(&mut self, inst: InstRef<'_>) {
        let info = self.functions.get(self.func);
        let module = self.program.module;
        let mut pairs = inst.id_operands(0);
        while let (Some(value), Some(label)) = (pairs.next(), pairs.next()) {
            let from = info.cfg.predecessors(self.current).iter().copied();
            let from = from
                .into_iter()
                .find(|p| module.label(info.cfg.block(*p)) == label);
            if let Some(from) = from {
                let last = self.first[from as usize + 1] - 1;
                if let Some(local) = self.functions.local_index(value) {
                    // The walk may meet the phi before the definition of its operand. Then the segment that defines
                    // the operand is not known yet.
                    self.ids[local] = Some(value);
                    self.uses.push((local as u32, last));
                }
            }
        }
    }

    fn promoted_variable(&self, id: Id) -> Option<Id> {
        match self.functions.local_index(id) {
            Some(local) => self.variable.get(local).copied().flatten(),
            None => None,
        }
    }

    fn set_promoted_variable(&mut self, id: Id, variable: Id) {
        if let Some(local) = self.functions.local_index(id) {
            self.variable[local] = Some(variable);
        }
    }

    /// The promoted variable that a pointer is the whole address of; none for pointers to its members.
    fn find_whole_variable(&self, id: Id) -> Option<Id> {
        self.promoted_variable(id)
            .filter(|variable| *variable == id)
    }

    fn record_definition(&mut self, id: Id, segment: u32) {
        if let Some(local) = self.functions.local_index(id) {
            self.ids[local] = Some(id);
            self.defined_in[local] = segment;
            self.defs.push((local as u32, segment));
        }
    }

    fn record_use(&mut self, id: Id, segment: u32) {
        let id = self.promoted_variable(id).unwrap_or(id);
        if let Some(local) = self.functions.local_index(id)
            && self.defined_in[local] != segment
        {
            self.ids[local] = Some(id);
            self.uses.push((local as u32, segment));
        }
    }

    fn solve_dataflow(mut self) -> SuspendLiveness {
        self.defs.sort_unstable();
        self.defs.dedup();
        self.uses.sort_unstable();
        self.uses.dedup();
        let info = self.functions.get(self.func);
        let segments = self.cut.len();
        let mut alive: Vec<Vec<Id>> = vec![Vec::new(); segments];
        let mut seen = vec![u32::MAX; segments];
        let mut kills = vec![u32::MAX; segments];
        let mut kept = vec![false; self.ids.len()];
        let mut next_def = 0;
        for uses in self.uses.chunk_by(|a, b| a.0 == b.0) {
            let local = uses[0].0;
            let Some(id) = self.ids[local as usize] else {
                continue;
            };
            while next_def < self.defs.len() && self.defs[next_def].0 < local {
                next_def += 1;
            }
            let defs = self.defs[next_def..].iter();
            for def in defs.take_while(|d| d.0 == local) {
                kills[def.1 as usize] = local;
            }
            let variable = self.variable[local as usize].is_some();
            let mut work: Vec<u32> = uses
                .iter()
                .map(|u| u.1)
                // A phi's operand that its own segment defines.
                .filter(|s| variable || kills[*s as usize] != local)
                .collect();
            while let Some(segment) = work.pop() {
                let at = segment as usize;
                if std::mem::replace(&mut seen[at], local) == local {
                    continue;
                }
                let before: Vec<u32> = if self.cut[at].is_some() {
                    alive[at].push(id);
                    kept[local as usize] = true;
                    vec![segment - 1]
                } else {
                    let from = info.cfg.predecessors(self.block[at]).iter();
                    from.map(|p| self.first[*p as usize + 1] - 1).collect()
                };
                work.extend(before.into_iter().filter(|s| kills[*s as usize] != local));
            }
        }
        let mut cuts: Vec<(Inst, Vec<Id>)> = (self.cut.iter().zip(alive))
            .filter_map(|(cut, live)| Some(((*cut)?, live)))
            .collect();
        cuts.sort_unstable_by_key(|row| row.0);
        SuspendLiveness { cuts, kept }
    }
}
