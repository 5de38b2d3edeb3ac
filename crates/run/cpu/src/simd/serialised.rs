//! Serialised regions: the lanes of a gang run a region one after the other, where a branch diverges.
//!
//! The values that the region uses are written to memory on the stack, for each lane. A loop over the lanes loads
//! them, runs a copy of the region's original code, and writes the results to memory. The gang loads the results from
//! there. Where one path of the branch is empty, the loop visits the lanes of the other path alone.

use super::GangRefusal;
use super::access::slot_form;
use super::divergence::{block_call_arguments, branch_block_calls};
use super::flow_graph::BranchRegion;
use super::lane_layout::{LaneLayout, LaneValues};
use super::lane_loop::LaneOrder;
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    Block, BlockCall, Inst, InstBuilder, MemFlagsData, Opcode, Type, Value, types,
};
use cranelift_frontend::Variable;

/// A region being copied.
struct SerialisedRegion<'r> {
    region: &'r BranchRegion,
    /// Number of the lane, 64 bits.
    lane: Value,
    /// The copies of the region's blocks, in its order.
    blocks: Vec<Block>,
    /// The block in which the paths join.
    exit: Block,
}

impl GangVectoriser<'_> {
    /// Rewrites a branch that diverges. If the lanes agree at run time, all take the branch. Otherwise the region is
    /// predicated or serialised up to the join.
    pub fn rewrite_divergent_branch(&mut self, at: u32, inst: Inst) -> Result<(), GangRefusal> {
        let region = self.graph.find_branch_region(at).ok_or(GangRefusal)?;
        let selector = self.old.dfg.inst_args(inst)[0];
        let apart = self.builder.create_block();
        let mut bits = None;
        if self.opcode(inst) == Opcode::Brif {
            bits = Some(self.branch_on_agreement(inst, selector, apart));
        } else {
            self.branch_on_uniform_case(inst, selector, apart);
        }
        self.builder.switch_to_block(apart);
        if self.predicate_region(at, inst, &region)? {
            return Ok(());
        }
        self.builder.set_cold_block(apart);
        self.serialise_region(at, inst, &region, bits)
    }

    /// Takes a conditional branch where all lanes agree; the lanes' conditions in bits.
    fn branch_on_agreement(&mut self, inst: Inst, condition: Value, apart: Block) -> Value {
        let mut edges = Vec::new();
        let calls = branch_block_calls(self.old, inst);
        let taken = self.split_edge(calls[0], &mut edges);
        let other = self.split_edge(calls[1], &mut edges);
        self.branch_on_bounds(condition, taken, other);
        let mask = self.emit_mask(condition);
        let mut bits = self.builder.ins().vhigh_bits(types::I32, mask[0]);
        for (n, part) in mask.iter().enumerate().skip(1) {
            let more = self.builder.ins().vhigh_bits(types::I32, *part);
            let more = self.builder.ins().ishl_imm_u(more, 4 * n as i64);
            bits = self.builder.ins().bor(bits, more);
        }
        let some = self.builder.create_block();
        let all = (1i64 << self.width()) - 1;
        let is_all = self.builder.ins().icmp_imm_u(IntCC::Equal, bits, all);
        self.builder.ins().brif(is_all, taken, &[], some, &[]);
        self.builder.switch_to_block(some);
        self.builder.ins().brif(bits, apart, &[], other, &[]);
        for (block, call) in edges {
            self.builder.switch_to_block(block);
            self.jump_to_block(call);
        }
        bits
    }

    /// Takes one of many ways where all lanes choose the same.
    fn branch_on_uniform_case(&mut self, inst: Inst, selector: Value, apart: Block) {
        let lanes = self.extract_lanes(selector);
        let mut differ = self.builder.ins().bxor(lanes[0], lanes[1]);
        for lane in &lanes[2..] {
            let other = self.builder.ins().bxor(lanes[0], *lane);
            differ = self.builder.ins().bor(differ, other);
        }
        let together = self.builder.create_block();
        self.builder.ins().brif(differ, apart, &[], together, &[]);
        self.builder.switch_to_block(together);
        self.rewrite_uniform_branch(inst, lanes[0]);
    }

    fn serialise_region(
        &mut self,
        at: u32,
        inst: Inst,
        region: &BranchRegion,
        bits: Option<Value>,
    ) -> Result<(), GangRefusal> {
        self.regions += 1;
        let outs = self.find_region_outputs(at, region);
        let ins = self.find_region_inputs(at, inst, region, &outs)?;
        for (n, value) in ins.iter().enumerate() {
            self.write_lanes(n, *value);
        }
        let first = ins.len();
        let order = bits.and_then(|bits| self.select_lanes(inst, region, bits));
        let order = order.unwrap_or(LaneOrder::All);
        let calls = branch_block_calls(self.old, inst);
        if let LaneOrder::Selected { path, .. } = order {
            self.write_edge_lanes(first, &outs, calls[1 - path]);
        }
        let lanes = self.begin_lanes(order);
        let exit = self.builder.create_block();
        let blocks = region.blocks.iter().map(|_| self.builder.create_block());
        let copied = SerialisedRegion {
            region,
            lane: lanes.lane,
            blocks: blocks.collect(),
            exit,
        };
        for (n, value) in ins.iter().enumerate() {
            let scalar = self.read_lane(n, *value, lanes.lane);
            self.set_lane_scalar(*value, scalar);
        }
        if let LaneOrder::Selected { path, .. } = order {
            self.jump_in_region(&copied, calls[path]);
        } else {
            let selector = self.select_way(inst, bits, lanes.lane);
            self.branch_in_region(&copied, inst, selector);
        }
        for (n, block) in region.blocks.iter().enumerate() {
            self.builder.switch_to_block(copied.blocks[n]);
            for inst in self.graph.block_insts(self.old, *block) {
                self.copy_into_region(&copied, inst);
            }
        }
        self.builder.switch_to_block(exit);
        for (n, value) in outs.iter().enumerate() {
            self.write_lane(first + n, *value, lanes.lane);
        }
        self.end_lanes(&lanes);
        for (n, value) in outs.iter().enumerate() {
            let held = self.read_lanes(first + n, *value);
            self.set_lane_values(*value, &held);
        }
        self.rejoin_region(at, region);
        Ok(())
    }

    /// The lanes that take a path of a branch whose other path is empty: they alone have something to run. `bits` has the
    /// conditions of all lanes.
    fn select_lanes(
        &mut self,
        inst: Inst,
        region: &BranchRegion,
        bits: Value,
    ) -> Option<LaneOrder> {
        if region.is_loop {
            return None;
        }
        let path = 1 - self.find_region_exit(region, inst)?;
        let all = (1i64 << self.width()) - 1;
        let bits = if path == 0 {
            bits
        } else {
            self.builder.ins().bxor_imm_u(bits, all)
        };
        Some(LaneOrder::Selected { bits, path })
    }

    /// The way that a lane takes at a branch: its condition among those of all lanes, or its selector.
    fn select_way(&mut self, inst: Inst, bits: Option<Value>, lane: Value) -> Value {
        let Some(bits) = bits else {
            return self.get_lane_scalar(self.old.dfg.inst_args(inst)[0]);
        };
        let bit = self.builder.ins().ushr(bits, lane);
        self.builder.ins().band_imm_u(bit, 1)
    }

    /// Writes the results of a region for lanes that go along an edge to its join, for all lanes.
    fn write_edge_lanes(&mut self, first: usize, outs: &[Value], call: BlockCall) {
        let join = call.block(&self.old.dfg.value_lists);
        let params = self.old.dfg.block_params(join);
        for (n, value) in outs.iter().enumerate() {
            let param = params.iter().position(|param| param == value);
            let given = param.and_then(|n| block_call_arguments(self.old, call).nth(n));
            let form = self.lane_layout(*value);
            let held = self.convert_layout(given.unwrap_or(*value), form);
            self.write_held(first + n, form, &held);
        }
    }

    /// Continues at the join. Parameters that all paths pass the same value are set here.
    pub fn rejoin_region(&mut self, at: u32, region: &BranchRegion) {
        let join = self.graph.blocks[region.join as usize];
        for (n, param) in self.old.dfg.block_params(join).iter().enumerate() {
            if !matches!(self.lane_layout(*param), LaneLayout::Base(_)) {
                continue;
            }
            let same = self.variance.same_argument(self.graph, at, region, n);
            let Some(same) = same else { continue };
            let value = match self.variance.integer_constant(same) {
                Some(constant) => {
                    let ty = self.old.dfg.value_type(*param);
                    self.builder.ins().iconst(ty, constant)
                }
                None => self.get_lane_values(same)[0],
            };
            self.set_lane_values(*param, &[value]);
        }
        let block = self.blocks[region.join as usize];
        self.builder.ins().jump(block, &[]);
    }

    /// The results of a region: the parameters of its join block, and values that are defined within and used after
    /// it.
    pub fn find_region_outputs(&self, at: u32, region: &BranchRegion) -> Vec<Value> {
        let join = self.graph.blocks[region.join as usize];
        let varies = |v: &&Value| !matches!(self.lane_layout(**v), LaneLayout::Base(_));
        let params = self.old.dfg.block_params(join).iter().filter(varies);
        let mut outs: Vec<Value> = params.copied().collect();
        if !region.is_loop {
            return outs;
        }
        debug_assert!(region.contains(at));
        for block in &region.blocks {
            let params = self
                .old
                .dfg
                .block_params(self.graph.blocks[*block as usize]);
            outs.extend(params.iter().filter(|v| self.is_used_outside(**v, region)));
            for inst in self.graph.block_insts(self.old, *block) {
                let results = self.old.dfg.inst_results(inst).iter();
                outs.extend(results.filter(|v| self.is_used_outside(**v, region)));
            }
        }
        outs
    }

    fn is_used_outside(&self, value: Value, region: &BranchRegion) -> bool {
        let mut uses = self.uses[value.as_u32() as usize].iter();
        uses.any(|at| !region.contains(*at))
    }

    /// The values from before the branch that a region uses.
    fn find_region_inputs(
        &mut self,
        at: u32,
        branch: Inst,
        region: &BranchRegion,
        outs: &[Value],
    ) -> Result<Vec<Value>, GangRefusal> {
        let mut used: Vec<Value> = self.old.dfg.inst_values(branch).collect();
        let mut count = 0;
        for block in &region.blocks {
            for inst in self.graph.block_insts(self.old, *block) {
                used.extend(self.old.dfg.inst_values(inst));
                count += 1;
            }
        }
        let left = self.budget.checked_sub(count);
        self.budget = left.ok_or(GangRefusal)?;
        used.extend(outs);
        for value in &mut used {
            *value = self.old.dfg.resolve_aliases(*value);
        }
        used.sort_unstable();
        used.dedup();
        used.retain(|value| {
            let block = self.variance.block_of(self.graph, *value);
            block.is_some_and(|b| self.graph.is_dominator(b, at))
        });
        Ok(used)
    }

    fn lane_variable(&mut self, value: Value) -> Variable {
        let at = value.as_u32() as usize;
        if self.lane_scalars[at].0 != self.regions {
            let ty = self.old.dfg.value_type(value);
            self.lane_scalars[at] = (self.regions, self.builder.declare_var(ty).as_u32());
        }
        Variable::from_u32(self.lane_scalars[at].1)
    }

    fn set_lane_scalar(&mut self, value: Value, scalar: Value) {
        let value = self.old.dfg.resolve_aliases(value);
        if self.locals[value.as_u32() as usize] {
            self.lane_scalars[value.as_u32() as usize] = (self.regions, scalar.as_u32());
            return;
        }
        let variable = self.lane_variable(value);
        self.builder.def_var(variable, scalar);
    }

    pub(super) fn get_lane_scalar(&mut self, value: Value) -> Value {
        let value = self.old.dfg.resolve_aliases(value);
        if self.locals[value.as_u32() as usize] {
            return Value::from_u32(self.lane_scalars[value.as_u32() as usize].1);
        }
        let variable = self.lane_variable(value);
        self.builder.use_var(variable)
    }

    fn copy_into_region(&mut self, copied: &SerialisedRegion<'_>, inst: Inst) {
        let args = self.old.dfg.inst_args(inst);
        match self.opcode(inst) {
            Opcode::Jump => {
                let call = branch_block_calls(self.old, inst)[0];
                self.jump_in_region(copied, call);
            }
            Opcode::Brif | Opcode::BrTable => {
                let selector = self.get_lane_scalar(args[0]);
                self.branch_in_region(copied, inst, selector);
            }
            Opcode::StackAddr => {
                let result = self.old.dfg.first_result(inst);
                let stride = self.old.dfg.insts[inst].stack_slot();
                let stride = stride.map_or(0, |slot| self.variance.slot_stride(slot));
                let first = self.copy_instruction(inst, &[])[0];
                let offset = self.builder.ins().imul_imm_s(copied.lane, stride);
                let address = self.builder.ins().iadd(first, offset);
                self.set_lane_scalar(result, address);
            }
            _ if self.variance.frame_slot(inst).is_some() => self.access_lane_slot(copied, inst),
            _ => {
                let args: LaneValues = args.iter().map(|arg| self.get_lane_scalar(*arg)).collect();
                let made = self.copy_instruction(inst, &args);
                for (result, value) in self.old.dfg.inst_results(inst).iter().zip(made) {
                    self.set_lane_scalar(*result, value);
                }
            }
        }
    }

    /// Copies an access of one lane to a value that is kept over barriers.
    fn access_lane_slot(&mut self, copied: &SerialisedRegion<'_>, inst: Inst) {
        let Some(slot) = self.variance.frame_slot(inst) else {
            return;
        };
        let args = self.old.dfg.inst_args(inst);
        let is_load = self.opcode(inst) == Opcode::Load;
        let value = if is_load {
            self.old.dfg.first_result(inst)
        } else {
            args[0]
        };
        let ty = self.old.dfg.value_type(value);
        let form = slot_form(slot, ty);
        let bytes = match form {
            LaneLayout::Base(_) => 0,
            LaneLayout::Mask => 4,
            _ => i64::from(ty.bytes()),
        };
        let frame = self.get_lane_scalar(*args.last().unwrap_or(&value));
        let offset = self.builder.ins().imul_imm_s(copied.lane, bytes);
        let address = self.builder.ins().iadd(frame, offset);
        let flags = MemFlagsData::new().with_notrap();
        let at = slot.offset * self.width() as i32;
        if is_load {
            let stored = if form == LaneLayout::Mask {
                types::I32
            } else {
                ty
            };
            let mut scalar = self.builder.ins().load(stored, flags, address, at);
            if form == LaneLayout::Mask {
                scalar = self.bool_of(scalar);
            } else if let super::divergence::LaneVariance::Affine { stride, .. } = slot.shape {
                scalar = self.lane_of(scalar, ty, stride, copied.lane);
            }
            self.set_lane_scalar(value, scalar);
        } else {
            let mut scalar = self.get_lane_scalar(value);
            if form == LaneLayout::Mask {
                scalar = self.all_bits(scalar);
            }
            self.builder.ins().store(flags, scalar, address, at);
        }
    }

    /// A lane's value from the first one's.
    pub(super) fn lane_of(&mut self, first: Value, ty: Type, stride: i64, lane: Value) -> Value {
        if stride == 0 || !ty.is_int() {
            return first;
        }
        let mut steps = self.builder.ins().imul_imm_s(lane, stride);
        if ty.bits() < 64 {
            steps = self.builder.ins().ireduce(ty, steps);
        }
        self.builder.ins().iadd(first, steps)
    }

    fn branch_in_region(&mut self, copied: &SerialisedRegion<'_>, inst: Inst, selector: Value) {
        let mut edges = Vec::new();
        let targets: Vec<Block> = branch_block_calls(self.old, inst)
            .iter()
            .map(|call| {
                if call.len(&self.old.dfg.value_lists) == 0 {
                    return self.copy_of(copied, *call);
                }
                let block = self.builder.create_block();
                edges.push((block, *call));
                block
            })
            .collect();
        self.branch_to(inst, selector, &targets);
        for (block, call) in edges {
            self.builder.switch_to_block(block);
            self.jump_in_region(copied, call);
        }
    }

    fn copy_of(&self, copied: &SerialisedRegion<'_>, call: BlockCall) -> Block {
        match copied
            .region
            .blocks
            .binary_search(&self.target_position(call))
        {
            Ok(n) => copied.blocks[n],
            Err(_) => copied.exit,
        }
    }

    fn jump_in_region(&mut self, copied: &SerialisedRegion<'_>, call: BlockCall) {
        let target = call.block(&self.old.dfg.value_lists);
        let params = self.old.dfg.block_params(target);
        let args: LaneValues = block_call_arguments(self.old, call)
            .map(|arg| self.get_lane_scalar(arg))
            .collect();
        for (param, value) in params.iter().zip(args) {
            self.set_lane_scalar(*param, value);
        }
        let block = self.copy_of(copied, call);
        self.builder.ins().jump(block, &[]);
    }
}
