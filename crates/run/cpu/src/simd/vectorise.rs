//! Vectorisation: rewrites the code of one invocation into that of a gang, instruction by instruction.

use super::divergence::{LaneVariance, VarianceAnalysis};
use super::flow_graph::ClifFlowGraph;
use super::lane_layout::{LaneLayout, LaneValues, vector_of};
use super::record_access::RecordAccesses;
use super::{GangRefusal, GangSupport, WideFunctionMap};
use crate::codegen::gang_loop::GangTarget;
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{
    AbiParam, Block, FuncRef, Function, Inst, InstBuilder, MemFlagsData, Opcode, Signature,
    StackSlot, StackSlotData, StackSlotKind, Type, Value, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use rustc_hash::FxHashSet;
use spirula_scalar::wide::LANES;

/// Most instructions that serialised regions add, as a multiple of those of the code.
const MAX_GROWTH: usize = 6;

/// Most pairs of a block and a variable: the construction of SSA form takes memory for all of them.
const MAX_PAIRS: usize = 1 << 23;

/// The rewriting of a function.
pub(super) struct GangVectoriser<'a> {
    pub old: &'a Function,
    pub graph: &'a ClifFlowGraph,
    pub variance: &'a VarianceAnalysis<'a>,
    pub builder: FunctionBuilder<'a>,
    pub target: GangTarget,
    /// Functions that are called for all lanes at once.
    pub wide_functions: &'a WideFunctionMap,
    /// The function that stores past the caches, and the stores that may use it.
    pub non_temporal_stub: Option<(FuncRef, &'a FxHashSet<Inst>)>,
    /// Accesses to neighbouring elements by each lane.
    pub records: RecordAccesses,
    /// Room for the numbers of functions that are called for all lanes at once.
    pub called: Option<StackSlot>,
    /// The block of the new code at each position.
    pub blocks: Vec<Block>,
    /// Whether each value of the original code is used only within its block. A variable costs memory for each block
    /// before its last definition, which such values do without.
    pub locals: Vec<bool>,
    /// The values that hold each value that is used only within its block.
    pub held: Vec<LaneValues>,
    /// The first variable that holds each other value.
    pub variables: Vec<Option<u32>>,
    /// For each value, the variable that holds it in a serialised region, and the number of that region. It is the
    /// value itself if it is used only within its block.
    pub lane_scalars: Vec<(u32, u32)>,
    /// Regions so far.
    pub regions: u32,
    /// Room for the lanes of values, used by all regions.
    pub rooms: Vec<StackSlot>,
    /// Uses of each value, by block.
    pub uses: Vec<Vec<u32>>,
    /// Instructions that may still be added.
    pub budget: usize,
}

/// Rewrites a function.
pub(super) fn vectorise_function(
    graph: &ClifFlowGraph,
    variance: &VarianceAnalysis<'_>,
    support: &GangSupport<'_>,
    builders: &mut FunctionBuilderContext,
) -> Result<Function, GangRefusal> {
    let old = variance.func;
    let mut new = Function::with_name_signature(old.name.clone(), old.signature.clone());
    // Entities that instructions refer to keep their numbers.
    new.params = old.params.clone();
    new.dfg.signatures = old.dfg.signatures.clone();
    new.dfg.ext_funcs = old.dfg.ext_funcs.clone();
    new.dfg.mem_flags = old.dfg.mem_flags.clone();
    new.dfg.alias_regions = old.dfg.alias_regions.clone();
    new.dfg.constants = old.dfg.constants.clone();
    new.dfg.immediates = old.dfg.immediates.clone();
    new.sized_stack_slots = old.sized_stack_slots.clone();
    for (slot, data) in new.sized_stack_slots.iter_mut() {
        let size = variance.slot_stride(slot) as usize * variance.roots.width;
        data.size = u32::try_from(size).map_err(|_| GangRefusal)?;
        data.align_shift = 4;
    }
    let mut builder = FunctionBuilder::new(&mut new, builders);
    let blocks: Vec<Block> = graph
        .blocks
        .iter()
        .map(|_| builder.create_block())
        .collect();
    let mut widen = GangVectoriser {
        old,
        graph,
        variance,
        builder,
        target: support.target,
        wide_functions: support.wide_functions,
        non_temporal_stub: support
            .non_temporal_stub
            .map(|callee| (callee, support.non_temporal_insts)),
        records: RecordAccesses::default(),
        called: None,
        blocks,
        locals: super::flow_graph::find_block_locals(old, graph),
        held: vec![LaneValues::new(); old.dfg.num_values()],
        variables: vec![None; old.dfg.num_values()],
        lane_scalars: vec![(0, 0); old.dfg.num_values()],
        regions: 0,
        rooms: Vec::new(),
        uses: super::flow_graph::find_use_blocks(old, graph),
        budget: MAX_GROWTH * old.dfg.num_insts() + 1000,
    };
    if widen.variables_of_all() * graph.blocks.len() > MAX_PAIRS {
        return Err(GangRefusal);
    }
    widen.rewrite_function()?;
    let mut builder = widen.builder;
    builder.seal_all_blocks();
    builder.finalize(support.target.config);
    Ok(new)
}

impl GangVectoriser<'_> {
    /// Number of variables without those of serialised regions.
    fn variables_of_all(&self) -> usize {
        let dfg = &self.old.dfg;
        let defined = (0..self.graph.blocks.len() as u32).flat_map(|at| {
            let params = dfg.block_params(self.graph.blocks[at as usize]).iter();
            let insts = self.graph.block_insts(self.old, at);
            params.chain(insts.flat_map(|inst| dfg.inst_results(inst)))
        });
        let crossing = defined.filter(|value| !self.locals[value.as_u32() as usize]);
        crossing
            .map(|value| self.layout_values(self.lane_layout(*value)).0)
            .sum()
    }

    fn rewrite_function(&mut self) -> Result<(), GangRefusal> {
        let entry = self.blocks[0];
        self.builder.append_block_params_for_function_params(entry);
        for at in 0..self.graph.blocks.len() as u32 {
            self.builder.switch_to_block(self.blocks[at as usize]);
            if at == 0 {
                let given: LaneValues = self.builder.block_params(entry).into();
                let params = self.old.dfg.block_params(self.graph.blocks[0]);
                for (param, value) in params.iter().zip(given) {
                    self.set_lane_values(*param, &[value]);
                }
            }
            for inst in self.graph.block_insts(self.old, at) {
                if self.old.dfg.insts[inst].opcode().is_terminator() {
                    self.rewrite_terminator(at, inst)?;
                } else {
                    self.rewrite_instruction(inst);
                }
            }
        }
        Ok(())
    }

    pub fn opcode(&self, inst: Inst) -> Opcode {
        self.old.dfg.insts[inst].opcode()
    }

    /// An instruction that is no branch.
    pub fn rewrite_instruction(&mut self, inst: Inst) {
        let dfg = &self.old.dfg;
        let opcode = self.opcode(inst);
        let is_base =
            |v: &Value| matches!(self.variance.lane_variance(*v), LaneVariance::Affine { .. });
        let is_uniform = |v: &Value| self.variance.lane_variance(*v).is_uniform();
        let (args, results) = (dfg.inst_args(inst), dfg.inst_results(inst));
        let by_lane = matches!(
            opcode,
            Opcode::Call
                | Opcode::AtomicLoad
                | Opcode::AtomicStore
                | Opcode::AtomicRmw
                | Opcode::AtomicCas
        );
        if opcode == Opcode::Nop {
            return;
        }
        if let Some(slot) = self.variance.frame_slot(inst) {
            return self.rewrite_slot_access(inst, slot);
        }
        let same = args.iter().all(is_uniform);
        let is_on_bases = !results.is_empty() && args.iter().chain(results).all(is_base);
        if !by_lane && (same || is_on_bases) {
            return match self.find_carrying_stride(inst) {
                Some(stride) => self.extend_from_last(inst, stride),
                None => self.emit_on_first_lane(inst),
            };
        }
        let done = match opcode {
            Opcode::Load | Opcode::Store if self.rewrite_record_access(inst) => true,
            Opcode::Load => self.rewrite_load(inst),
            Opcode::Store => self.rewrite_store(inst),
            Opcode::CallIndirect => self.rewrite_call(inst),
            _ => self.rewrite_as_vector(inst),
        };
        if !done {
            self.serialise_instruction(inst);
        }
    }

    /// The positive stride of a number that is extended without a sign, where adding a lane may carry.
    fn find_carrying_stride(&self, inst: Inst) -> Option<i64> {
        if self.opcode(inst) != Opcode::Uextend {
            return None;
        }
        match self.variance.lane_variance(self.old.dfg.inst_args(inst)[0]) {
            LaneVariance::Affine { stride: 1, whole } if whole => None,
            LaneVariance::Affine { stride, .. } => (stride > 0).then_some(stride),
            _ => None,
        }
    }

    /// Zero-extends a number. The first lanes may be below zero where they are masked, as the index of the previous
    /// invocation. Therefore the last lane's number is extended, and its distance to the first lane's is subtracted.
    fn extend_from_last(&mut self, inst: Inst, stride: i64) {
        let (number, result) = (
            self.old.dfg.inst_args(inst)[0],
            self.old.dfg.inst_results(inst)[0],
        );
        let distance = stride * (self.width() as i64 - 1);
        let first = self.get_lane_values(number)[0];
        let wide = self.old.dfg.value_type(result);
        let last = self.builder.ins().iadd_imm_s(first, distance);
        let last = self.builder.ins().uextend(wide, last);
        let base = self.builder.ins().iadd_imm_s(last, -distance);
        self.set_from_first(result, base, stride);
    }

    /// The instruction on the first lane's values.
    pub(super) fn emit_on_first_lane(&mut self, inst: Inst) {
        let args = self.old.dfg.inst_args(inst);
        let bases: LaneValues = args
            .iter()
            .map(|arg| self.get_lane_values(*arg)[0])
            .collect();
        let copies = self.copy_instruction(inst, &bases);
        let stride = match self.old.dfg.insts[inst].stack_slot() {
            Some(slot) => self.variance.slot_stride(slot),
            None => 0,
        };
        for (result, value) in self.old.dfg.inst_results(inst).iter().zip(copies) {
            self.set_from_first(*result, value, stride);
        }
    }

    /// Sets a value from that of the first lane and the stride, unless it is held by these.
    pub fn set_from_first(&mut self, result: Value, first: Value, stride: i64) {
        if let LaneLayout::Base(_) = self.lane_layout(result) {
            self.set_lane_values(result, &[first]);
            return;
        }
        let ty = self.old.dfg.value_type(result);
        let lanes: LaneValues = (0..self.width())
            .map(|n| self.add_constant(first, ty, (n as i64).wrapping_mul(stride)))
            .collect();
        let held = self.assemble_lanes(result, &lanes);
        self.set_lane_values(result, &held);
    }

    /// Rewrites a call into one for all lanes, where the function has a vector form. Returns false otherwise.
    fn rewrite_call(&mut self, inst: Inst) -> bool {
        let dfg = &self.old.dfg;
        let ([callee, number], [result]) = (dfg.inst_args(inst), dfg.inst_results(inst)) else {
            return false;
        };
        let (callee, number, result) = (*callee, *number, *result);
        let address = self
            .variance
            .integer_constant(callee)
            .map(|address| address as usize);
        let Some(function) = address.and_then(|address| self.wide_functions.get(&address)) else {
            return false;
        };
        let form = LaneLayout::Parts(types::F32X4);
        if self.lane_layout(result) != form {
            return false;
        }
        let bytes = 4 * LANES as u32;
        let slot = *self.called.get_or_insert_with(|| {
            let data = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 5);
            self.builder.create_sized_stack_slot(data)
        });
        let room = self.builder.ins().stack_addr(types::I64, slot, 0);
        let flags = MemFlagsData::trusted();
        let parts = self.convert_layout(number, form);
        for (part, value) in (0i32..).zip(&parts) {
            self.builder.ins().store(flags, *value, room, 16 * part);
        }
        let mut signature = Signature::new(self.target.config.default_call_conv);
        signature.params.push(AbiParam::new(types::I64));
        let signature = self.builder.import_signature(signature);
        let address = super::wide_functions::function_address(*function) as i64;
        let callee = self.builder.ins().iconst(types::I64, address);
        self.builder.ins().call_indirect(signature, callee, &[room]);
        let held: LaneValues = (0..parts.len() as i32)
            .map(|part| {
                self.builder
                    .ins()
                    .load(types::F32X4, flags, room, 16 * part)
            })
            .collect();
        self.set_lane_values(result, &held);
        true
    }

    fn serialise_instruction(&mut self, inst: Inst) {
        let args = self.old.dfg.inst_args(inst);
        let columns: Vec<LaneValues> = args.iter().map(|arg| self.extract_lanes(*arg)).collect();
        let mut per_lane: Vec<LaneValues> = Vec::with_capacity(self.width());
        for lane in 0..self.width() {
            let operands: LaneValues = columns.iter().map(|column| column[lane]).collect();
            per_lane.push(self.copy_instruction(inst, &operands));
        }
        for (n, result) in self.old.dfg.inst_results(inst).iter().enumerate() {
            let lanes: LaneValues = per_lane.iter().map(|results| results[n]).collect();
            let held = self.assemble_lanes(*result, &lanes);
            self.set_lane_values(*result, &held);
        }
    }

    /// The instruction on vectors, where there is one for it.
    fn rewrite_as_vector(&mut self, inst: Inst) -> bool {
        let dfg = &self.old.dfg;
        let (args, results) = (dfg.inst_args(inst), dfg.inst_results(inst));
        let [result] = results else { return false };
        let opcode = self.opcode(inst);
        match self.lane_layout(*result) {
            LaneLayout::Parts(ty) => match opcode {
                Opcode::Select => self.rewrite_select(*result, args, ty),
                Opcode::Uextend => self.rewrite_extension(*result, args[0], ty, false),
                Opcode::Sextend if self.variance.is_bool(args[0]) => {
                    self.rewrite_extension(*result, args[0], ty, false)
                }
                Opcode::Sextend => self.rewrite_extension(*result, args[0], ty, true),
                Opcode::Ireduce => self.rewrite_reduction(*result, args[0], ty),
                _ => self.rewrite_elementwise(inst, *result, args, ty),
            },
            LaneLayout::Mask => match opcode {
                Opcode::Icmp | Opcode::Fcmp => self.rewrite_compare(inst, *result, args),
                Opcode::Band | Opcode::Bor | Opcode::Bxor => {
                    let (a, b) = (self.emit_mask(args[0]), self.emit_mask(args[1]));
                    let data = self.old.dfg.insts[inst];
                    let held: LaneValues = (a.iter().zip(&b))
                        .map(|(a, b)| self.build_instruction(data, &[*a, *b], types::I32X4)[0])
                        .collect();
                    self.set_lane_values(*result, &held);
                    true
                }
                Opcode::Select => self.rewrite_select(*result, args, types::I32X4),
                _ => false,
            },
            LaneLayout::Lanes(types::I64)
                if self.lane_layout(args[0]) == LaneLayout::Parts(types::I32X4) =>
            {
                match opcode {
                    Opcode::Uextend => self.extend_pairs(*result, args[0], false),
                    Opcode::Sextend => self.extend_pairs(*result, args[0], true),
                    _ => false,
                }
            }
            _ => false,
        }
    }

    fn rewrite_select(&mut self, result: Value, args: &[Value], ty: Type) -> bool {
        let form = self.lane_layout(result);
        let (a, b) = (
            self.convert_layout(args[1], form),
            self.convert_layout(args[2], form),
        );
        let held: LaneValues = if self.variance.lane_variance(args[0]).is_uniform() {
            let condition = self.get_lane_values(args[0])[0];
            (a.iter().zip(&b))
                .map(|(a, b)| self.builder.ins().select(condition, *a, *b))
                .collect()
        } else {
            let mask = self.emit_mask(args[0]);
            let mask = self.make_lane_mask(&mask, ty);
            (mask.iter().zip(a.iter().zip(&b)))
                .map(|(m, (a, b))| self.builder.ins().bitselect(*m, *a, *b))
                .collect()
        };
        self.set_lane_values(result, &held);
        true
    }

    fn rewrite_compare(&mut self, inst: Inst, result: Value, args: &[Value]) -> bool {
        let is_scalar = |arg: &Value| matches!(self.lane_layout(*arg), LaneLayout::Lanes(_));
        let ty = match self.old.dfg.value_type(args[0]) {
            types::I64 if !args.iter().any(is_scalar) => Some(types::I64X2),
            types::I8
                if args
                    .iter()
                    .any(|v| self.variance.find_integer_vector(*v).is_some()) =>
            {
                Some(types::I8X16)
            }
            ty => vector_of(ty),
        };
        let Some(ty) = ty else { return false };
        let data = self.old.dfg.insts[inst];
        let (a, b) = (
            self.extract_vectors(args[0], ty),
            self.extract_vectors(args[1], ty),
        );
        let mut compared = LaneValues::new();
        for (a, b) in a.iter().zip(&b) {
            // These two conditions have no instruction for vectors.
            let pair = match data.fp_cond_code() {
                Some(FloatCC::OrderedNotEqual) => Some((FloatCC::Ordered, FloatCC::NotEqual)),
                Some(FloatCC::UnorderedOrEqual) => Some((FloatCC::Unordered, FloatCC::Equal)),
                _ => None,
            };
            compared.push(match pair {
                Some((first, second)) => {
                    let x = self.builder.ins().fcmp(first, *a, *b);
                    let y = self.builder.ins().fcmp(second, *a, *b);
                    if first == FloatCC::Ordered {
                        self.builder.ins().band(x, y)
                    } else {
                        self.builder.ins().bor(x, y)
                    }
                }
                None => self.build_instruction(data, &[*a, *b], ty)[0],
            });
        }
        let mask = self.narrow_mask(&compared);
        self.set_lane_values(result, &mask);
        true
    }

    /// Arithmetic that vectors have.
    fn rewrite_elementwise(&mut self, inst: Inst, result: Value, args: &[Value], ty: Type) -> bool {
        let opcode = self.opcode(inst);
        let types_of = |n: usize| vector_of(self.old.dfg.value_type(args[n]));
        let is_float = ty.lane_type().is_float();
        let is_narrow = ty == types::I32X4;
        let is_scalar = |arg: &Value| matches!(self.lane_layout(*arg), LaneLayout::Lanes(_));
        let operand = match opcode {
            Opcode::Fadd
            | Opcode::Fsub
            | Opcode::Fmul
            | Opcode::Fdiv
            | Opcode::Fneg
            | Opcode::Fabs
            | Opcode::Sqrt
            | Opcode::Ceil
            | Opcode::Floor
            | Opcode::Trunc
            | Opcode::Nearest => ty,
            Opcode::Fma if self.target.has_fma => ty,
            Opcode::Imul if is_narrow || (ty == types::I64X2 && !args.iter().any(is_scalar)) => ty,
            Opcode::Iadd
            | Opcode::Isub
            | Opcode::Ineg
            | Opcode::Band
            | Opcode::Bor
            | Opcode::Bxor
            | Opcode::Bnot
                if !is_float =>
            {
                ty
            }
            Opcode::Smin | Opcode::Smax | Opcode::Umin | Opcode::Umax if is_narrow => ty,
            Opcode::Ishl | Opcode::Ushr | Opcode::Sshr
                if !is_float
                    && ty != types::I8X16
                    && self.variance.lane_variance(args[1]).is_uniform() =>
            {
                return self.rewrite_shift(inst, result, args, ty);
            }
            Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem if is_narrow => {
                return self.rewrite_division(inst, result, args);
            }
            Opcode::Bitcast
            | Opcode::FcvtFromSint
            | Opcode::FcvtFromUint
            | Opcode::FcvtToSintSat
            | Opcode::FcvtToUintSat => match types_of(0) {
                Some(from @ (types::F32X4 | types::I32X4)) if ty.lane_bits() == 32 => from,
                _ => return false,
            },
            _ => return false,
        };
        let data = self.old.dfg.insts[inst];
        if opcode == Opcode::Bitcast {
            return self.rewrite_bitcast(result, args[0], operand, ty);
        }
        let columns: Vec<LaneValues> = args
            .iter()
            .map(|arg| self.extract_vectors(*arg, operand))
            .collect();
        let held: LaneValues = (0..self.layout_values(self.lane_layout(result)).0)
            .map(|n| {
                let args: LaneValues = columns.iter().map(|column| column[n]).collect();
                self.build_instruction(data, &args, ty)[0]
            })
            .collect();
        self.set_lane_values(result, &held);
        true
    }

    fn rewrite_bitcast(&mut self, result: Value, arg: Value, from: Type, to: Type) -> bool {
        let parts = self.extract_vectors(arg, from);
        let held: LaneValues = parts
            .iter()
            .map(|part| self.bitcast_vector(to, *part))
            .collect();
        self.set_lane_values(result, &held);
        true
    }

    fn rewrite_shift(&mut self, inst: Inst, result: Value, args: &[Value], ty: Type) -> bool {
        let amount = self.get_lane_values(args[1])[0];
        let data = self.old.dfg.insts[inst];
        let parts = self.extract_vectors(args[0], ty);
        let held: LaneValues = parts
            .iter()
            .map(|part| self.build_instruction(data, &[*part, amount], ty)[0])
            .collect();
        self.set_lane_values(result, &held);
        true
    }
}
