//! Group operations: reductions, scans, broadcasts and votes.
//!
//! Vulkan has those of subgroups. Those of workgroups go through an array with one value for each invocation: all invocations write
//! theirs, and after a barrier each reads the values that it needs.

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    BuiltIn, GroupOperation, MemoryAccess, MemorySemantics, Scope, StorageClass,
};
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

/// Combinations of two values.
#[derive(Clone, Copy)]
enum GroupCombiner {
    Op(Op),
    Glsl(u32),
}

/// A group operation, the equivalent subgroup operation of Vulkan, the combination of two values, and its neutral element.
struct GroupReduction {
    of: Op,
    subgroup: Op,
    combine: GroupCombiner,
    neutral: fn(&mut ShaderLowering<'_>, MemoryScalar) -> Id,
}

#[rustfmt::skip]
const REDUCTIONS: &[GroupReduction] = &[
    make_reduction(Op::GroupIAdd, Op::GroupNonUniformIAdd, GroupCombiner::Op(Op::IAdd), |l, s| l.make_uint_constant(s.size() * 8, 0)),
    make_reduction(Op::GroupFAdd, Op::GroupNonUniformFAdd, GroupCombiner::Op(Op::FAdd), |l, s| l.make_float_constant(s.size() * 8, -0.0)),
    make_reduction(Op::GroupFMin, Op::GroupNonUniformFMin, GroupCombiner::Glsl(glsl::NMIN), |l, s| l.make_float_constant(s.size() * 8, f64::INFINITY)),
    make_reduction(Op::GroupUMin, Op::GroupNonUniformUMin, GroupCombiner::Glsl(glsl::UMIN), |l, s| l.make_uint_constant(s.size() * 8, u64::MAX)),
    make_reduction(Op::GroupSMin, Op::GroupNonUniformSMin, GroupCombiner::Glsl(glsl::SMIN), |l, s| l.make_uint_constant(s.size() * 8, u64::MAX >> (65 - s.size() * 8))),
    make_reduction(Op::GroupFMax, Op::GroupNonUniformFMax, GroupCombiner::Glsl(glsl::NMAX), |l, s| l.make_float_constant(s.size() * 8, f64::NEG_INFINITY)),
    make_reduction(Op::GroupUMax, Op::GroupNonUniformUMax, GroupCombiner::Glsl(glsl::UMAX), |l, s| l.make_uint_constant(s.size() * 8, 0)),
    make_reduction(Op::GroupSMax, Op::GroupNonUniformSMax, GroupCombiner::Glsl(glsl::SMAX), |l, s| l.make_uint_constant(s.size() * 8, 1 << (s.size() * 8 - 1))),
    make_reduction(Op::GroupIMulKHR, Op::GroupNonUniformIMul, GroupCombiner::Op(Op::IMul), |l, s| l.make_uint_constant(s.size() * 8, 1)),
    make_reduction(Op::GroupFMulKHR, Op::GroupNonUniformFMul, GroupCombiner::Op(Op::FMul), |l, s| l.make_float_constant(s.size() * 8, 1.0)),
    make_reduction(Op::GroupBitwiseAndKHR, Op::GroupNonUniformBitwiseAnd, GroupCombiner::Op(Op::BitwiseAnd), |l, s| l.make_uint_constant(s.size() * 8, u64::MAX)),
    make_reduction(Op::GroupBitwiseOrKHR, Op::GroupNonUniformBitwiseOr, GroupCombiner::Op(Op::BitwiseOr), |l, s| l.make_uint_constant(s.size() * 8, 0)),
    make_reduction(Op::GroupBitwiseXorKHR, Op::GroupNonUniformBitwiseXor, GroupCombiner::Op(Op::BitwiseXor), |l, s| l.make_uint_constant(s.size() * 8, 0)),
];

const fn make_reduction(
    of: Op,
    subgroup: Op,
    combine: GroupCombiner,
    neutral: fn(&mut ShaderLowering<'_>, MemoryScalar) -> Id,
) -> GroupReduction {
    GroupReduction {
        of,
        subgroup,
        combine,
        neutral,
    }
}

impl ShaderLowering<'_> {
    fn combine_values(&mut self, how: GroupCombiner, ty: Id, a: Id, b: Id) -> Id {
        match how {
            GroupCombiner::Op(op) => self.emit_value(op, ty, &[a, b]),
            GroupCombiner::Glsl(number) => self.emit_glsl(number, ty, &[a, b]),
        }
    }

    fn is_subgroup(&self, scope: Id) -> bool {
        self.info.read_constant(scope) == Some(Scope::Subgroup.0.into())
    }

    /// The number of invocations of a workgroup.
    fn count_invocations(&mut self) -> Id {
        let word = self.make_int_type(32);
        let size = self.workgroup_size();
        let parts = [0, 1, 2].map(|n| self.extract_component(word, size, n));
        let plane = self.emit_value(Op::IMul, word, &[parts[0], parts[1]]);
        self.emit_value(Op::IMul, word, &[plane, parts[2]])
    }

    /// An array with a value of each invocation.
    fn declare_scratch_array(&mut self, ty: Id) -> Id {
        if let Some(known) = self.scratch.get(&ty) {
            let known = *known;
            self.note_interface_use(known);
            return known;
        }
        let count = match self.plan.fixed_size {
            Some(size) => self.b.constant_u32(size.iter().product()),
            None => {
                self.workgroup_size();
                let word = self.make_int_type(32);
                let first = self.plan.first_spec;
                let parts = [0, 1, 2].map(|n| self.spec_number(first + n, 1));
                let mut product = parts[0];
                for part in &parts[1..] {
                    let words = [u32::from(Op::IMul.0), product.word(), part.word()];
                    product = self.b.declare_constant(Op::SpecConstantOp, word, &words);
                }
                product
            }
        };
        let array = self.b.array_type(ty, count);
        let pointer = self.b.pointer_type(StorageClass::Workgroup, array);
        let made = self
            .b
            .global_variable(pointer, StorageClass::Workgroup, None);
        self.note_interface_use(made);
        self.scratch.insert(ty, made);
        made
    }

    fn scratch_element_pointer(&mut self, array: Id, ty: Id, index: Id) -> Id {
        let pointer = self.b.pointer_type(StorageClass::Workgroup, ty);
        self.emit_value(Op::AccessChain, pointer, &[array, index])
    }

    fn load_scratch_element(&mut self, array: Id, ty: Id, index: Id) -> Id {
        let pointer = self.scratch_element_pointer(array, ty, index);
        let flags = MemoryAccess::NonPrivatePointer.0;
        self.b.append_value(Op::Load, ty, &[pointer.word(), flags])
    }

    /// Emits the store of every invocation's value, and a barrier.
    fn share_value(&mut self, ty: Id, value: Id) -> (Id, Id) {
        let array = self.declare_scratch_array(ty);
        let own = self.load_input(BuiltIn::LocalInvocationIndex, 1);
        let pointer = self.scratch_element_pointer(array, ty, own);
        let flags = MemoryAccess::NonPrivatePointer.0;
        self.b
            .append_effect(Op::Store, &[pointer.word(), value.word(), flags]);
        self.emit_workgroup_barrier();
        (array, own)
    }

    /// Emits a barrier of the workgroup over all memory.
    fn emit_workgroup_barrier(&mut self) {
        let semantics = MemorySemantics::AcquireRelease
            | MemorySemantics::WorkgroupMemory
            | MemorySemantics::UniformMemory
            | MemorySemantics::MakeAvailable
            | MemorySemantics::MakeVisible;
        let scope = self.b.constant_u32(Scope::Workgroup.0);
        let semantics = self.b.constant_u32(semantics.0);
        self.emit_effect(Op::ControlBarrier, &[scope, scope, semantics]);
    }

    /// A reduction or scan over a workgroup.
    fn reduce_over_workgroup(
        &mut self,
        ty: Id,
        value: Id,
        operation: GroupOperation,
        neutral: Id,
        combine: GroupCombiner,
    ) -> Result<Id, SourceDiagnostic> {
        let (array, own) = self.share_value(ty, value);
        let word = self.make_int_type(32);
        let (zero, one) = (
            self.make_uint_constant(32, 0),
            self.make_uint_constant(32, 1),
        );
        let count = match operation {
            GroupOperation::Reduce => self.count_invocations(),
            GroupOperation::InclusiveScan => self.emit_value(Op::IAdd, word, &[own, one]),
            GroupOperation::ExclusiveScan => own,
            other => {
                let text = format!("the group operation {other} of a workgroup");
                return Err(self.info.diagnose_id(value, &text));
            }
        };
        let folded =
            self.emit_reduction_loop([zero, one, count], Some(neutral), |l, n, so_far| {
                let more = l.load_scratch_element(array, ty, n);
                Ok(so_far.map(|so_far| l.combine_values(combine, ty, so_far, more)))
            })?;
        self.emit_workgroup_barrier();
        Ok(folded.unwrap_or(neutral))
    }
}

/// Reductions and scans.
pub fn lower_group_reduction(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (scalar, count) = l.find_component_scalar(expect_result(inst))?;
    if count > 1 {
        return Err(crate::error::diagnose_instruction(
            inst,
            &format!("{} of a vector", inst.op()),
        ));
    }
    let found = REDUCTIONS.iter().find(|r| r.of == inst.op());
    let reduction =
        found.ok_or_else(|| crate::error::diagnose_instruction(inst, &inst.op().to_string()))?;
    let ty = l.make_scalar_type(scalar);
    let operation = GroupOperation(inst.operand_word(1));
    let value = l.lower_operand(inst.id_operand(2))?;
    if l.is_subgroup(inst.id_operand(0)) {
        let scope = l.lower_scope(inst.id_operand(0))?;
        let words = [scope.word(), operation.0, value.word()];
        return Ok(l.b.append_value(reduction.subgroup, ty, &words));
    }
    let neutral = (reduction.neutral)(l, scalar);
    l.reduce_over_workgroup(ty, value, operation, neutral, reduction.combine)
}

/// `OpGroupAll` and `OpGroupAny`.
pub fn lower_group_vote(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let truth = l.b.bool_type();
    let value = l.lower_operand(inst.id_operand(1))?;
    let is_all = inst.op() == Op::GroupAll;
    if l.is_subgroup(inst.id_operand(0)) {
        let scope = l.lower_scope(inst.id_operand(0))?;
        let op = if is_all {
            Op::GroupNonUniformAll
        } else {
            Op::GroupNonUniformAny
        };
        return Ok(l.emit_value(op, truth, &[scope, value]));
    }
    let word = l.make_int_type(32);
    let (one, zero) = (l.make_uint_constant(32, 1), l.make_uint_constant(32, 0));
    let number = l.emit_value(Op::Select, word, &[value, one, zero]);
    let (neutral, op) = if is_all {
        (one, Op::BitwiseAnd)
    } else {
        (zero, Op::BitwiseOr)
    };
    let all = l.reduce_over_workgroup(
        word,
        number,
        GroupOperation::Reduce,
        neutral,
        GroupCombiner::Op(op),
    )?;
    Ok(l.emit_value(Op::INotEqual, truth, &[all, zero]))
}

/// `OpGroupBroadcast`.
pub fn lower_group_broadcast(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let ty = l.result_type(expect_result(inst))?;
    let value = l.lower_operand(inst.id_operand(1))?;
    let from = l.lanes_of(inst.id_operand(2))?;
    let (scalar, _) = l.find_component_scalar(inst.id_operand(2))?;
    let from: Vec<Id> = from
        .iter()
        .map(|v| l.resize_int(*v, scalar.size() * 8, 32))
        .collect();
    if l.is_subgroup(inst.id_operand(0)) {
        let scope = l.lower_scope(inst.id_operand(0))?;
        return Ok(l.emit_value(Op::GroupNonUniformShuffle, ty, &[scope, value, from[0]]));
    }
    let (array, _) = l.share_value(ty, value);
    let word = l.make_int_type(32);
    let size = l.workgroup_size();
    let size: Vec<Id> = (0..3).map(|n| l.extract_component(word, size, n)).collect();
    // The linear id is computed from the last dimension to the first.
    let mut index = from[from.len() - 1];
    for n in (0..from.len() - 1).rev() {
        let rows = l.emit_value(Op::IMul, word, &[index, size[n]]);
        index = l.emit_value(Op::IAdd, word, &[rows, from[n]]);
    }
    let found = l.load_scratch_element(array, ty, index);
    l.emit_workgroup_barrier();
    Ok(found)
}

/// `OpGroupAsyncCopy`: every invocation copies its part; the event has no meaning.
pub fn lower_async_copy(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (to, from) = (inst.id_operand(1), inst.id_operand(2));
    if l.is_nowhere(to) || l.is_nowhere(from) {
        return Ok(l.make_uint_constant(64, 0));
    }
    let ty = l.info.find_pointee(to)?;
    let layout = l.info.layouts.get(ty);
    let size = layout.size.next_multiple_of(layout.align.into());
    let word = l.make_int_type(32);
    let number = |l: &mut ShaderLowering<'_>, id: Id| -> Result<Id, SourceDiagnostic> {
        let (scalar, _) = l.find_component_scalar(id)?;
        let value = l.lower_operand(id)?;
        Ok(l.resize_int(value, scalar.size() * 8, 32))
    };
    let (count, stride) = (
        number(l, inst.id_operand(3))?,
        number(l, inst.id_operand(4))?,
    );
    let to_place = l.locate_access(inst, to, usize::MAX, layout.align)?;
    let from_place = l.locate_access(inst, from, usize::MAX, layout.align)?;
    // The stride belongs to the pointer to global memory.
    let reads_global = l.points_to.memory(from_place.set).is_physical;
    let own = l.load_input(BuiltIn::LocalInvocationIndex, 1);
    let step = l.count_invocations();
    let bytes = l.make_uint_constant(32, size);
    l.emit_counted_loop([own, step, count], |l, n| {
        let strided = l.emit_value(Op::IMul, word, &[n, stride]);
        let strided = l.emit_value(Op::IMul, word, &[strided, bytes]);
        let dense = l.emit_value(Op::IMul, word, &[n, bytes]);
        let (at_from, at_to) = if reads_global {
            (strided, dense)
        } else {
            (dense, strided)
        };
        let step = size as u32;
        let from = l.advance_location(from_place, at_from, step);
        let to = l.advance_location(to_place, at_to, step);
        let value = l.load_value(from, ty)?;
        l.store_value(to, ty, value)
    })?;
    Ok(l.make_uint_constant(64, 0))
}

/// `OpGroupWaitEvents`.
pub fn lower_wait_events(
    l: &mut ShaderLowering<'_>,
    _: InstRef<'_>,
) -> Result<(), SourceDiagnostic> {
    l.emit_workgroup_barrier();
    Ok(())
}

/// Subgroup operations that differ from Vulkan's in their scope only.
pub fn lower_subgroup_operation(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let ty = l.result_type(expect_result(inst))?;
    let scope = l.lower_scope(inst.id_operand(0))?;
    let mut words = vec![scope.word()];
    for operand in inst.parse_operands().flatten().skip(3) {
        let word = operand.words[0];
        words.push(match operand.name {
            "Operation" => word,
            _ => {
                let id = Id::new(word).unwrap_or(Id::MAX);
                l.lower_operand(id)?.word()
            }
        });
    }
    Ok(l.b.append_value(inst.op(), ty, &words))
}

/// Intel's shuffles, which differ from Vulkan's in their scope only.
pub fn lower_subgroup_shuffle(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let op = match inst.op() {
        Op::SubgroupShuffleXorINTEL => Op::GroupNonUniformShuffleXor,
        _ => Op::GroupNonUniformShuffle,
    };
    let ty = l.result_type(expect_result(inst))?;
    let scope = l.make_uint_constant(32, Scope::Subgroup.0.into());
    let (data, lane) = (
        l.lower_operand(inst.id_operand(0))?,
        l.lower_operand(inst.id_operand(1))?,
    );
    Ok(l.emit_value(op, ty, &[scope, data, lane]))
}

/// Intel's shuffles up and down over two adjacent values. The result is that of the lane at a distance below or above;
/// beyond the subgroup it is taken from the other value.
pub fn lower_subgroup_shift(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (word, truth) = (l.make_int_type(32), l.b.bool_type());
    let size = l.load_input(BuiltIn::SubgroupSize, 1);
    let lane = l.load_input(BuiltIn::SubgroupLocalInvocationId, 1);
    let (first, second) = (
        l.lower_operand(inst.id_operand(0))?,
        l.lower_operand(inst.id_operand(1))?,
    );
    let delta = l.lower_operand(inst.id_operand(2))?;
    let (from, is_first) = match inst.op() {
        Op::SubgroupShuffleDownINTEL => {
            let from = l.emit_value(Op::IAdd, word, &[lane, delta]);
            (from, l.emit_value(Op::ULessThan, truth, &[from, size]))
        }
        _ => {
            let from = l.emit_value(Op::ISub, word, &[lane, delta]);
            (from, l.emit_value(Op::ULessThan, truth, &[lane, delta]))
        }
    };
    // The size is a power of two, so the lane of the other value is the same modulo the size.
    let one = l.make_uint_constant(32, 1);
    let mask = l.emit_value(Op::ISub, word, &[size, one]);
    let from = l.emit_value(Op::BitwiseAnd, word, &[from, mask]);
    let scope = l.make_uint_constant(32, Scope::Subgroup.0.into());
    let ty = l.result_type(expect_result(inst))?;
    let [a, b] =
        [first, second].map(|v| l.emit_value(Op::GroupNonUniformShuffle, ty, &[scope, v, from]));
    Ok(l.emit_value(Op::Select, ty, &[is_first, a, b]))
}
