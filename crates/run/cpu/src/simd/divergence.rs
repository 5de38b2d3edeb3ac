//! Divergence analysis: which values are uniform, affine in the lane, or varying.
//!
//! A forward analysis from the local id, optimistic, to a fixed point. The variance of a value only ever rises, from
//! unknown over affine to varying. Therefore the depth of loops bounds the number of sweeps. Where a branch diverges,
//! the values that its paths pass to the block in which they join vary. Values that a loop defines vary after it if
//! invocations leave it at different times.

use super::GangRefusal;
use super::flow_graph::{ClifFlowGraph, find_use_blocks};
use crate::codegen::gang_loop::GangEntry;
use cranelift_codegen::ir::{
    BlockCall, Function, Inst, InstructionData, Opcode, StackSlot, Type, Value, ValueDef, types,
};

/// Most sweeps over a function.
const MAX_SWEEPS: u32 = 100;

/// How a value differs between the lanes of a gang.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LaneVariance {
    /// Not reached yet.
    Unknown,
    /// The first invocation's value and a multiple of the lane's number, modulo the type's width;
    /// the same for all where the stride is zero. `whole` says that the first value is a multiple of
    /// the number of lanes: then, where the stride is one, adding the lane carries nothing.
    Affine { stride: i64, whole: bool },
    /// Anything.
    Varying,
}

impl LaneVariance {
    pub(super) const UNIFORM: LaneVariance = LaneVariance::with_stride(0, false);

    pub(super) const fn with_stride(stride: i64, whole: bool) -> LaneVariance {
        LaneVariance::Affine { stride, whole }
    }

    /// Whether it is the same for all invocations.
    pub fn is_uniform(self) -> bool {
        matches!(self, LaneVariance::Affine { stride: 0, .. })
    }

    pub(super) fn join_with(self, other: LaneVariance) -> LaneVariance {
        match (self, other) {
            (LaneVariance::Unknown, shape) | (shape, LaneVariance::Unknown) => shape,
            (
                LaneVariance::Affine { stride, whole },
                LaneVariance::Affine {
                    stride: s,
                    whole: w,
                },
            ) if stride == s => LaneVariance::with_stride(stride, whole && w),
            _ => LaneVariance::Varying,
        }
    }
}

/// A slot for a value that is kept over barriers, at an offset from the frame.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameSlot {
    pub offset: i32,
    pub shape: LaneVariance,
    /// Whether only booleans are kept there.
    pub is_bool: bool,
}

/// The variance of a function's values.
pub(super) struct VarianceAnalysis<'a> {
    pub func: &'a Function,
    pub roots: &'a GangEntry,
    /// The variance of each value.
    pub(super) variance: Vec<LaneVariance>,
    /// Whether each value is a byte that is zero or one.
    pub(super) bools: Vec<bool>,
    /// Whether each value is a number that is only used to compute addresses.
    pub(super) addresses: Vec<bool>,
    /// Whether each value is a varying integer of 8 or 64 bits that vectors hold.
    pub(super) vectors: Vec<bool>,
    pub(super) slots: Vec<FrameSlot>,
}

impl<'a> VarianceAnalysis<'a> {
    /// Analyses a function.
    ///
    /// # Errors
    /// When gangs cannot run it.
    pub fn from_function(
        func: &'a Function,
        graph: &ClifFlowGraph,
        roots: &'a GangEntry,
    ) -> Result<VarianceAnalysis<'a>, GangRefusal> {
        let count = func.dfg.num_values();
        let mut variance = VarianceAnalysis {
            func,
            roots,
            variance: vec![LaneVariance::Unknown; count],
            bools: Vec::new(),
            addresses: vec![true; count],
            vectors: vec![false; count],
            slots: Vec::new(),
        };
        variance.find_slots(graph);
        variance.find_bools(graph);
        variance.find_addresses(graph);
        let entry = func.dfg.block_params(graph.blocks[0]);
        for param in entry {
            variance.raise_variance(*param, LaneVariance::UNIFORM);
        }
        for param in func.dfg.block_params(roots.lanes) {
            variance.raise_variance(*param, LaneVariance::with_stride(1, true));
        }
        let uses = find_use_blocks(func, graph);
        for _ in 0..MAX_SWEEPS {
            let mut changed = variance.sweep_instructions(graph);
            changed |= variance.propagate_divergence(graph, &uses)?;
            if !changed {
                variance.find_vector_integers(graph);
                return Ok(variance);
            }
        }
        Err(GangRefusal)
    }

    /// The shape of a value.
    pub fn lane_variance(&self, value: Value) -> LaneVariance {
        self.variance[self.func.dfg.resolve_aliases(value).as_u32() as usize]
    }

    /// Whether a value is a byte that is zero or one.
    pub fn is_bool(&self, value: Value) -> bool {
        self.bools[self.func.dfg.resolve_aliases(value).as_u32() as usize]
    }

    /// The slot that an access to the frame names.
    pub fn frame_slot(&self, inst: Inst) -> Option<FrameSlot> {
        let offset = slot_offset(self.func, self.roots, inst)?;
        let at = self.slots.binary_search_by_key(&offset, |s| s.offset);
        at.ok().map(|n| self.slots[n])
    }

    /// The branches of a block that invocations take differently.
    pub fn divergent_branch(&self, graph: &ClifFlowGraph, at: u32) -> Option<Inst> {
        let last = self.func.layout.last_inst(graph.blocks[at as usize])?;
        let opcode = self.func.dfg.insts[last].opcode();
        let branches = matches!(opcode, Opcode::Brif | Opcode::BrTable);
        let shape = branches.then(|| self.lane_variance(self.func.dfg.inst_args(last)[0]))?;
        (shape != LaneVariance::Unknown && !shape.is_uniform()).then_some(last)
    }

    pub(super) fn raise_variance(&mut self, value: Value, shape: LaneVariance) -> bool {
        let at = self.func.dfg.resolve_aliases(value).as_u32() as usize;
        let joined = self.variance[at].join_with(shape);
        std::mem::replace(&mut self.variance[at], joined) != joined
    }

    fn find_slots(&mut self, graph: &ClifFlowGraph) {
        for at in 0..graph.blocks.len() as u32 {
            for inst in graph.block_insts(self.func, at) {
                self.slots
                    .extend(
                        slot_offset(self.func, self.roots, inst).map(|offset| FrameSlot {
                            offset,
                            shape: LaneVariance::Unknown,
                            is_bool: true,
                        }),
                    );
            }
        }
        self.slots.sort_unstable_by_key(|s| s.offset);
        self.slots.dedup_by_key(|s| s.offset);
    }

    /// Finds Booleans. Bytes count as Boolean until an instruction contradicts it.
    fn find_bools(&mut self, graph: &ClifFlowGraph) {
        let dfg = &self.func.dfg;
        let is_byte = |n| dfg.value_type(Value::from_u32(n as u32)) == types::I8;
        self.bools = (0..dfg.num_values()).map(is_byte).collect();
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for at in 0..graph.blocks.len() as u32 {
                for inst in graph.block_insts(self.func, at) {
                    changed |= self.bools_of(inst);
                }
            }
        }
    }

    fn bools_of(&mut self, inst: Inst) -> bool {
        let dfg = &self.func.dfg;
        let args = dfg.inst_args(inst);
        let mut demoted = Vec::new();
        for call in branch_block_calls(self.func, inst) {
            let params = dfg.block_params(call.block(&dfg.value_lists));
            for (arg, param) in block_call_arguments(self.func, *call).zip(params) {
                if self.is_bool(*param) && !self.is_bool(arg) {
                    demoted.push(*param);
                }
            }
        }
        let opcode = dfg.insts[inst].opcode();
        if let (Some(slot), Opcode::Store) = (self.frame_slot(inst), opcode)
            && slot.is_bool
            && !self.is_bool(args[0])
        {
            self.change_slot(slot.offset, |slot| slot.is_bool = false);
            return true;
        }
        if let Some(result) = dfg.inst_results(inst).first().copied()
            && self.is_bool(result)
        {
            let good = match opcode {
                Opcode::Icmp | Opcode::Fcmp => true,
                Opcode::Iconst => matches!(self.integer_constant(result), Some(0 | 1)),
                Opcode::Band | Opcode::Bor | Opcode::Bxor => {
                    args.iter().all(|arg| self.is_bool(*arg))
                }
                Opcode::Select => args[1..].iter().all(|arg| self.is_bool(*arg)),
                Opcode::Load => self.frame_slot(inst).is_some_and(|slot| slot.is_bool),
                _ => false,
            };
            if !good {
                demoted.push(result);
            }
        }
        for value in &demoted {
            let at = self.func.dfg.resolve_aliases(*value).as_u32() as usize;
            self.bools[at] = false;
        }
        !demoted.is_empty()
    }

    pub(super) fn change_slot(&mut self, offset: i32, change: impl FnOnce(&mut FrameSlot)) {
        if let Ok(n) = self.slots.binary_search_by_key(&offset, |s| s.offset) {
            change(&mut self.slots[n]);
        }
    }

    /// Finds numbers that are only used for addresses. Uses follow definitions in the order of blocks, so that one
    /// backward walk suffices.
    fn find_addresses(&mut self, graph: &ClifFlowGraph) {
        for at in (0..graph.blocks.len() as u32).rev() {
            let insts: Vec<Inst> = graph.block_insts(self.func, at).collect();
            for inst in insts.into_iter().rev() {
                let dfg = &self.func.dfg;
                let args = dfg.inst_args(inst);
                let result = dfg.inst_results(inst).first();
                let passed = result
                    .is_some_and(|r| self.addresses[dfg.resolve_aliases(*r).as_u32() as usize]);
                for (n, arg) in args.iter().enumerate() {
                    let is_address = match dfg.insts[inst].opcode() {
                        Opcode::Load
                        | Opcode::AtomicLoad
                        | Opcode::AtomicRmw
                        | Opcode::AtomicCas => n == 0,
                        Opcode::Store | Opcode::AtomicStore => n == 1,
                        Opcode::Iadd
                        | Opcode::Isub
                        | Opcode::Imul
                        | Opcode::Ireduce
                        | Opcode::Sextend
                        | Opcode::Uextend => passed,
                        Opcode::Ishl => passed && n == 0,
                        _ => false,
                    };
                    self.addresses[dfg.resolve_aliases(*arg).as_u32() as usize] &= is_address;
                }
                for call in branch_block_calls(self.func, inst) {
                    for arg in block_call_arguments(self.func, *call) {
                        self.addresses[dfg.resolve_aliases(arg).as_u32() as usize] = false;
                    }
                }
            }
        }
    }

    /// One walk over the instructions. Returns whether anything changed.
    fn sweep_instructions(&mut self, graph: &ClifFlowGraph) -> bool {
        let mut changed = false;
        for at in 0..graph.blocks.len() as u32 {
            for inst in graph.block_insts(self.func, at) {
                let dfg = &self.func.dfg;
                for call in branch_block_calls(self.func, inst) {
                    let target = call.block(&dfg.value_lists);
                    if target == self.roots.lanes {
                        continue;
                    }
                    let args = block_call_arguments(self.func, *call);
                    for (arg, param) in args.zip(dfg.block_params(target)) {
                        changed |= self.raise_variance(*param, self.lane_variance(arg));
                    }
                }
                if let (Some(slot), Opcode::Store) =
                    (self.frame_slot(inst), dfg.insts[inst].opcode())
                {
                    let joined = slot
                        .shape
                        .join_with(self.lane_variance(dfg.inst_args(inst)[0]));
                    changed |= joined != slot.shape;
                    self.change_slot(slot.offset, |slot| slot.shape = joined);
                }
                let shape = self.infer_result(inst);
                for result in dfg.inst_results(inst) {
                    changed |= self.raise_variance(*result, shape);
                }
            }
        }
        changed
    }

    /// The value of an integer constant.
    pub fn integer_constant(&self, value: Value) -> Option<i64> {
        let dfg = &self.func.dfg;
        let ValueDef::Result(inst, _) = dfg.value_def(dfg.resolve_aliases(value)) else {
            return None;
        };
        match dfg.insts[inst] {
            InstructionData::UnaryImm {
                opcode: Opcode::Iconst,
                imm,
            } => Some(imm.bits()),
            _ => None,
        }
    }

    fn infer_result(&self, inst: Inst) -> LaneVariance {
        let dfg = &self.func.dfg;
        let opcode = dfg.insts[inst].opcode();
        let args = dfg.inst_args(inst);
        let variance: Vec<LaneVariance> = args.iter().map(|arg| self.lane_variance(*arg)).collect();
        if variance.contains(&LaneVariance::Unknown) {
            return LaneVariance::Unknown;
        }
        let Some(result) = dfg.inst_results(inst).first() else {
            return LaneVariance::Unknown;
        };
        match opcode {
            Opcode::AtomicLoad | Opcode::AtomicRmw | Opcode::AtomicCas | Opcode::Call => {
                return LaneVariance::Varying;
            }
            Opcode::StackAddr => {
                let stride = dfg.insts[inst].stack_slot().map(|s| self.slot_stride(s));
                return LaneVariance::with_stride(stride.unwrap_or(0), false);
            }
            Opcode::Load => {
                if let Some(slot) = self.frame_slot(inst) {
                    return slot.shape;
                }
                if !variance[0].is_uniform() {
                    return LaneVariance::Varying;
                }
                let first = dfg.insts[inst].load_store_offset() == Some(self.roots.base_offset);
                let base = dfg.resolve_aliases(args[0]) == self.roots.context && first;
                return LaneVariance::with_stride(0, base);
            }
            _ => {}
        }
        if variance.iter().all(|s| s.is_uniform()) {
            return LaneVariance::with_stride(0, self.is_whole(inst, opcode, args, *result));
        }
        let ty = dfg.value_type(*result);
        if ty != types::I32 && ty != types::I64 {
            return LaneVariance::Varying;
        }
        self.infer_affine(opcode, args, &variance, *result, ty)
    }

    /// Bytes from the variable of an invocation to that of the next.
    pub fn slot_stride(&self, slot: StackSlot) -> i64 {
        i64::from(self.func.sized_stack_slots[slot].size.next_multiple_of(16))
    }

    /// Whether a uniform result is a multiple of the number of lanes.
    fn is_whole(&self, inst: Inst, opcode: Opcode, args: &[Value], result: Value) -> bool {
        let lanes = self.roots.width as i64;
        let whole = |n: usize| {
            matches!(
                self.lane_variance(args[n]),
                LaneVariance::Affine { whole: true, .. }
            )
        };
        match opcode {
            Opcode::Iconst => self
                .integer_constant(result)
                .is_some_and(|c| c % lanes == 0),
            Opcode::Iadd | Opcode::Isub | Opcode::Bor | Opcode::Bxor => whole(0) && whole(1),
            Opcode::Imul | Opcode::Band => whole(0) || whole(1),
            Opcode::Select => whole(1) && whole(2),
            Opcode::Uextend | Opcode::Sextend | Opcode::Ireduce | Opcode::Ineg => whole(0),
            Opcode::Ishl => {
                let ty = self.func.dfg.ctrl_typevar(inst);
                whole(0)
                    || self
                        .shift_amount(args[1], ty)
                        .is_some_and(|n| 1 << n >= lanes)
            }
            _ => false,
        }
    }

    /// A constant amount of a shift.
    fn shift_amount(&self, amount: Value, ty: Type) -> Option<u32> {
        let amount = self.integer_constant(amount)? as u32 & (ty.bits() - 1);
        Some(amount)
    }

    /// The shape of an integer of which some operands are not uniform.
    fn infer_affine(
        &self,
        opcode: Opcode,
        args: &[Value],
        variance: &[LaneVariance],
        result: Value,
        ty: Type,
    ) -> LaneVariance {
        let mut operands = [(0i64, false); 3];
        for (to, shape) in operands.iter_mut().zip(variance) {
            match *shape {
                LaneVariance::Affine { stride, whole } => *to = (stride, whole),
                _ => return LaneVariance::Varying,
            }
        }
        let [(a, a_whole), (b, b_whole), (c, c_whole)] = operands;
        let unused = 64 - ty.bits();
        let fit = |stride: i64| stride << unused >> unused;
        let carries = !(a == 1 && a_whole);
        let known = args.get(1).and_then(|arg| self.integer_constant(*arg));
        let lanes = self.roots.width as i64;
        match (opcode, known) {
            (Opcode::Iadd, _) => {
                LaneVariance::with_stride(fit(a.wrapping_add(b)), a_whole && b_whole)
            }
            (Opcode::Isub, _) => {
                LaneVariance::with_stride(fit(a.wrapping_sub(b)), a_whole && b_whole)
            }
            (Opcode::Ineg, _) => LaneVariance::with_stride(fit(a.wrapping_neg()), a_whole),
            (Opcode::Imul, Some(k)) => LaneVariance::with_stride(fit(a.wrapping_mul(k)), a_whole),
            (Opcode::Imul, None) => match self.integer_constant(args[0]) {
                Some(k) => LaneVariance::with_stride(fit(b.wrapping_mul(k)), b_whole),
                None => LaneVariance::Varying,
            },
            (Opcode::Ishl, Some(_)) => match self.shift_amount(args[1], ty) {
                Some(n) => LaneVariance::with_stride(fit(a.wrapping_shl(n)), a_whole),
                None => LaneVariance::Varying,
            },
            (Opcode::Select, _) if a == 0 && b == c => {
                LaneVariance::with_stride(b, b_whole && c_whole)
            }
            (Opcode::Ireduce, _) => LaneVariance::with_stride(fit(a), a_whole),
            (Opcode::Uextend | Opcode::Sextend, _) => {
                // An index that wraps between two neighbours would be out of any object's bounds.
                let address = self.func.dfg.resolve_aliases(result).as_u32() as usize;
                let from = self.func.dfg.value_type(args[0]);
                let is_number = from == types::I32;
                if is_number && (!carries || self.addresses[address]) {
                    LaneVariance::with_stride(a, a_whole)
                } else {
                    LaneVariance::Varying
                }
            }
            _ if carries => LaneVariance::Varying,
            (Opcode::Bor | Opcode::Bxor, _) if b == 0 && b_whole => {
                LaneVariance::with_stride(1, true)
            }
            (Opcode::Band, Some(k)) if k & (lanes - 1) == lanes - 1 => {
                LaneVariance::with_stride(1, true)
            }
            (Opcode::Band, Some(k)) if k & (lanes - 1) == 0 => LaneVariance::with_stride(0, true),
            (Opcode::Urem, Some(k)) if k > 0 && k % lanes == 0 => {
                LaneVariance::with_stride(1, true)
            }
            (Opcode::Udiv, Some(k)) if k > 0 && k % lanes == 0 => LaneVariance::UNIFORM,
            (Opcode::Ushr | Opcode::Sshr, Some(_))
                if self
                    .shift_amount(args[1], ty)
                    .is_some_and(|n| 1 << n >= lanes) =>
            {
                LaneVariance::UNIFORM
            }
            _ => LaneVariance::Varying,
        }
    }
}

/// The calls of blocks in a branch.
pub(super) fn branch_block_calls(func: &Function, inst: Inst) -> &[BlockCall] {
    let dfg = &func.dfg;
    dfg.insts[inst].branch_destination(&dfg.jump_tables, &dfg.exception_tables)
}

/// The arguments of a call of a block.
pub(super) fn block_call_arguments(
    func: &Function,
    call: BlockCall,
) -> impl Iterator<Item = Value> {
    call.args(&func.dfg.value_lists)
        .filter_map(|arg| arg.as_value())
}

/// The offset of an access to a slot of the frame; none for other accesses.
fn slot_offset(func: &Function, roots: &GangEntry, inst: Inst) -> Option<i32> {
    let data = &func.dfg.insts[inst];
    let args = func.dfg.inst_args(inst);
    let address = match data.opcode() {
        Opcode::Load => args[0],
        Opcode::Store => args[1],
        _ => return None,
    };
    let offset = data.load_store_offset()?;
    let framed = Some(func.dfg.resolve_aliases(address)) == roots.frame;
    (framed && offset < 0).then_some(offset)
}
