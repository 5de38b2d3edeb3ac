//! Predication: all lanes run both paths of a divergent branch, where the region has no side effects.
//!
//! A loop runs as long as any lane has not left it. Lanes that have left are carried along, and the values with which
//! they left are kept. Of two paths, all lanes run the one and then the other, and the condition selects the results.
//! This is the method of J. Allen and others, "Conversion of Control Dependence to Data Dependence", in the form of
//! M. Pharr and W. Mark, "ispc: A SPMD Compiler for High-Performance CPU Programming".

use super::GangRefusal;
use super::divergence::{block_call_arguments, branch_block_calls};
use super::flow_graph::BranchRegion;
use super::lane_layout::{LaneLayout, LaneValues};
use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::immediates::Ieee16;
use cranelift_codegen::ir::{Block, BlockCall, Inst, InstBuilder, Opcode, Type, Value, types};
use cranelift_frontend::Variable;

/// A region that is being copied.
struct PredicatedRegion<'r> {
    region: &'r BranchRegion,
    /// The copies of the region's blocks, in its order.
    copies: Vec<Block>,
    /// The invocations that are in it, as a mask.
    active: Vec<Variable>,
    /// The results of the region, with the variables that keep those of lanes which have left.
    outs: Vec<(Value, Vec<Variable>)>,
    /// The block that follows when no lane is left in the region.
    after: Block,
}

/// The plan by which a region is predicated.
enum PredicationPlan {
    /// A loop, one iteration for all lanes after the other.
    Loop,
    /// One path of the branch after the other; the blocks of each.
    Both([Vec<u32>; 2]),
}

impl GangVectoriser<'_> {
    /// Goes through the region of a branch with all invocations at once; false where that cannot be.
    pub fn predicate_region(
        &mut self,
        at: u32,
        inst: Inst,
        region: &BranchRegion,
    ) -> Result<bool, GangRefusal> {
        let Some(way) = self.plan_predication(inst, region) else {
            return Ok(false);
        };
        let insts = |block: &u32| self.graph.block_insts(self.old, *block).count();
        let count: usize = region.blocks.iter().map(insts).sum();
        self.budget = self.budget.checked_sub(count).ok_or(GangRefusal)?;
        let end = self.builder.create_block();
        let mut masked = self.begin_predicated_region(at, region, end);
        let condition = self.old.dfg.inst_args(inst)[0];
        let taken = self.emit_mask(condition);
        match way {
            PredicationPlan::Loop => {
                let all = self.builder.ins().iconst(types::I32, -1);
                let all = self.builder.ins().splat(types::I32X4, all);
                self.set_active_mask(&masked, &vec![all; taken.len()]);
                self.rewrite_loop_exit(&masked, inst);
                self.copy_blocks(&masked, &region.blocks);
            }
            PredicationPlan::Both([first, second]) => {
                let calls = [0, 1].map(|n| branch_block_calls(self.old, inst)[n]);
                let then = self.builder.create_block();
                masked.after = then;
                self.set_active_mask(&masked, &taken);
                self.follow_edge(&masked, calls[0]);
                self.copy_blocks(&masked, &first);
                self.builder.switch_to_block(then);
                masked.after = end;
                let other: LaneValues = taken.iter().map(|m| self.builder.ins().bnot(*m)).collect();
                self.set_active_mask(&masked, &other);
                self.follow_edge(&masked, calls[1]);
                self.copy_blocks(&masked, &second);
            }
        }
        self.builder.switch_to_block(end);
        for (value, kept) in &masked.outs {
            let held: LaneValues = kept.iter().map(|v| self.builder.use_var(*v)).collect();
            self.set_lane_values(*value, &held);
        }
        self.rejoin_region(at, region);
        Ok(true)
    }

    /// The plan by which a region can be predicated; none where it cannot be.
    fn plan_predication(&self, inst: Inst, region: &BranchRegion) -> Option<PredicationPlan> {
        let harmless = |block: &u32| {
            let mut insts = self.graph.block_insts(self.old, *block);
            insts.all(|inst| self.is_harmless(inst))
        };
        if self.opcode(inst) != Opcode::Brif || !region.blocks.iter().all(harmless) {
            return None;
        }
        let mut parting = region
            .blocks
            .iter()
            .filter_map(|block| self.variance.divergent_branch(self.graph, *block));
        if region.is_loop {
            let leaves = |inst| {
                self.opcode(inst) == Opcode::Brif && self.find_region_exit(region, inst).is_some()
            };
            return (leaves(inst) && parting.all(leaves)).then_some(PredicationPlan::Loop);
        }
        let [first, second] = [0, 1].map(|n| {
            let target = self.target_position(branch_block_calls(self.old, inst)[n]);
            self.graph.find_reachable_blocks(target, region.join)
        });
        let apart = first
            .iter()
            .all(|block| second.binary_search(block).is_err());
        (apart && parting.next().is_none()).then_some(PredicationPlan::Both([first, second]))
    }

    /// Whether an instruction only computes a value, whatever its operands are. Divisions do, as the code for an
    /// invocation guards their divisors.
    fn is_harmless(&self, inst: Inst) -> bool {
        let opcode = self.opcode(inst);
        let uniform = |n: usize| {
            self.variance
                .lane_variance(self.old.dfg.inst_args(inst)[n])
                .is_uniform()
        };
        match opcode {
            Opcode::Jump | Opcode::Brif | Opcode::BrTable => true,
            Opcode::Sdiv | Opcode::Udiv | Opcode::Srem | Opcode::Urem => true,
            // Some invocation is there that would load it.
            Opcode::Load => self.variance.frame_slot(inst).is_some() || uniform(0),
            _ => {
                !(opcode.is_terminator()
                    || opcode.is_call()
                    || opcode.can_load()
                    || opcode.can_store()
                    || opcode.can_trap()
                    || opcode.other_side_effects())
            }
        }
    }

    /// Which way out of a conditional branch leaves a region, if one does.
    pub(super) fn find_region_exit(&self, region: &BranchRegion, inst: Inst) -> Option<usize> {
        let [taken, other] =
            [0, 1].map(|n| self.target_position(branch_block_calls(self.old, inst)[n]));
        match (taken == region.join, other == region.join) {
            (true, false) => Some(0),
            (false, true) => Some(1),
            _ => None,
        }
    }

    fn begin_predicated_region<'r>(
        &mut self,
        at: u32,
        region: &'r BranchRegion,
        after: Block,
    ) -> PredicatedRegion<'r> {
        let copies = region.blocks.iter().map(|_| self.builder.create_block());
        let copies = copies.collect();
        let masks = self.layout_values(LaneLayout::Mask).0;
        let active = (0..masks).map(|_| self.builder.declare_var(types::I32X4));
        let active = active.collect();
        let outs = self
            .find_region_outputs(at, region)
            .into_iter()
            .map(|value| {
                let (count, ty) = self.layout_values(self.lane_layout(value));
                let kept: Vec<Variable> =
                    (0..count).map(|_| self.builder.declare_var(ty)).collect();
                for variable in &kept {
                    let zero = self.emit_zero(ty);
                    self.builder.def_var(*variable, zero);
                }
                (value, kept)
            });
        PredicatedRegion {
            region,
            copies,
            active,
            outs: outs.collect(),
            after,
        }
    }

    fn emit_zero(&mut self, ty: Type) -> Value {
        match ty {
            types::F16 => self.builder.ins().f16const(Ieee16::with_bits(0)),
            types::F32 => self.builder.ins().f32const(0.0),
            types::F64 => self.builder.ins().f64const(0.0),
            _ if ty.is_vector() => {
                let bytes = vec![0; ty.bytes() as usize];
                let constant = self.builder.func.dfg.constants.insert(bytes.into());
                self.builder.ins().vconst(ty, constant)
            }
            _ => self.builder.ins().iconst(ty, 0),
        }
    }

    fn set_active_mask(&mut self, masked: &PredicatedRegion<'_>, mask: &[Value]) {
        for (variable, part) in masked.active.iter().zip(mask) {
            self.builder.def_var(*variable, *part);
        }
    }

    fn read_active_mask(&mut self, masked: &PredicatedRegion<'_>) -> LaneValues {
        let active = masked.active.iter();
        active.map(|v| self.builder.use_var(*v)).collect()
    }

    fn copy_blocks(&mut self, masked: &PredicatedRegion<'_>, blocks: &[u32]) {
        for at in blocks {
            let Ok(n) = masked.region.blocks.binary_search(at) else {
                continue;
            };
            self.builder.switch_to_block(masked.copies[n]);
            for inst in self.graph.block_insts(self.old, *at) {
                if !self.opcode(inst).is_terminator() {
                    self.rewrite_instruction(inst);
                } else if self.variance.divergent_branch(self.graph, *at).is_some() {
                    self.rewrite_loop_exit(masked, inst);
                } else {
                    self.go_on(masked, inst);
                }
            }
        }
    }

    /// A branch that all take alike.
    fn go_on(&mut self, masked: &PredicatedRegion<'_>, inst: Inst) {
        let calls = branch_block_calls(self.old, inst).to_vec();
        if self.opcode(inst) == Opcode::Jump {
            return self.follow_edge(masked, calls[0]);
        }
        let selector = self.get_lane_values(self.old.dfg.inst_args(inst)[0])[0];
        let edges: Vec<Block> = calls.iter().map(|_| self.builder.create_block()).collect();
        self.branch_to(inst, selector, &edges);
        for (block, call) in edges.into_iter().zip(calls) {
            self.builder.switch_to_block(block);
            self.follow_edge(masked, call);
        }
    }

    /// All that are in the region go along an edge.
    fn follow_edge(&mut self, masked: &PredicatedRegion<'_>, call: BlockCall) {
        let to = self.target_position(call);
        match masked.region.blocks.binary_search(&to) {
            Ok(n) => {
                self.pass_arguments(call);
                self.builder.ins().jump(masked.copies[n], &[]);
            }
            Err(_) => {
                let active = self.read_active_mask(masked);
                self.keep_region_outputs(masked, call, &active);
                self.builder.ins().jump(masked.after, &[]);
            }
        }
    }

    /// A branch by which some may leave a loop.
    fn rewrite_loop_exit(&mut self, masked: &PredicatedRegion<'_>, inst: Inst) {
        let calls = [0, 1].map(|n| branch_block_calls(self.old, inst)[n]);
        let exit = self.find_region_exit(masked.region, inst).unwrap_or(0);
        let taken = self.emit_mask(self.old.dfg.inst_args(inst)[0]);
        let active = self.read_active_mask(masked);
        let pairs = active.iter().zip(&taken);
        let leaving: LaneValues = pairs
            .map(|(active, taken)| match exit {
                0 => self.builder.ins().band(*active, *taken),
                _ => self.builder.ins().band_not(*active, *taken),
            })
            .collect();
        let [out, on] = [(); 2].map(|()| self.builder.create_block());
        let some = self.emit_any_active(&leaving);
        self.builder.ins().brif(some, out, &[], on, &[]);
        // In most iterations no lane leaves, and the number of lanes stays the same.
        self.builder.switch_to_block(out);
        let pairs = active.iter().zip(&leaving);
        let staying: LaneValues = pairs
            .map(|(active, leaving)| self.builder.ins().band_not(*active, *leaving))
            .collect();
        self.set_active_mask(masked, &staying);
        self.keep_region_outputs(masked, calls[exit], &leaving);
        let more = self.emit_any_active(&staying);
        self.builder.ins().brif(more, on, &[], masked.after, &[]);
        self.builder.switch_to_block(on);
        self.follow_edge(masked, calls[1 - exit]);
    }

    /// Not zero where a lane of a mask is set.
    fn emit_any_active(&mut self, mask: &[Value]) -> Value {
        let mut all = mask[0];
        for part in &mask[1..] {
            all = self.builder.ins().bor(all, *part);
        }
        self.builder.ins().vhigh_bits(types::I32, all)
    }

    /// Keeps the values with which the lanes of a mask leave a region, along an edge to its join.
    fn keep_region_outputs(
        &mut self,
        masked: &PredicatedRegion<'_>,
        call: BlockCall,
        lanes: &[Value],
    ) {
        let join = call.block(&self.old.dfg.value_lists);
        let params = self.old.dfg.block_params(join);
        for (value, kept) in &masked.outs {
            let param = params.iter().position(|param| param == value);
            let given = param.and_then(|n| block_call_arguments(self.old, call).nth(n));
            let form = self.lane_layout(*value);
            let new = self.convert_layout(given.unwrap_or(*value), form);
            let old: LaneValues = kept.iter().map(|v| self.builder.use_var(*v)).collect();
            let held = self.blend_lanes(form, lanes, &new, &old);
            for (variable, part) in kept.iter().zip(held) {
                self.builder.def_var(*variable, part);
            }
        }
    }

    /// The new value in the lanes of a mask, the old value in the others.
    fn blend_lanes(
        &mut self,
        form: LaneLayout,
        lanes: &[Value],
        new: &[Value],
        old: &[Value],
    ) -> LaneValues {
        let choices: LaneValues = match form {
            LaneLayout::Parts(ty) => self.make_lane_mask(lanes, ty),
            LaneLayout::Mask => lanes.into(),
            LaneLayout::Base(_) | LaneLayout::Lanes(_) => {
                let bits = (0..new.len()).map(|n| {
                    let bits = self.builder.ins().extractlane(lanes[n / 4], (n % 4) as u8);
                    self.bool_of(bits)
                });
                let bits: LaneValues = bits.collect();
                let pairs = bits.iter().zip(new.iter().zip(old));
                return pairs
                    .map(|(bit, (new, old))| self.builder.ins().select(*bit, *new, *old))
                    .collect();
            }
        };
        let pairs = choices.iter().zip(new.iter().zip(old));
        pairs
            .map(|(choice, (new, old))| self.builder.ins().bitselect(*choice, *new, *old))
            .collect()
    }
}
