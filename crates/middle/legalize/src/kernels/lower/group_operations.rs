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
    pub fn count_invocations(&mut self) -> Id {
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

    fn store_scratch_element(&mut self, array: Id, ty: Id, index: Id, value: Id) {
        let pointer = self.scratch_element_pointer(array, ty, index);
        let flags = MemoryAccess::NonPrivatePointer.0;
        self.b
            .append_effect(Op::Store, &[pointer.word(), value.word(), flags]);
    }

    /// Emits the store of every invocation's value, and a barrier.
    fn share_value(&mut self, ty: Id, value: Id) -> (Id, Id) {
        let array = self.declare_scratch_array(ty);
        let own = self.load_input(BuiltIn::LocalInvocationIndex, 1);
        self.store_scratch_element(array, ty, own, value);
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
        let count = self.count_invocations();
        let one = self.make_uint_constant(32, 1);
        let last = self.emit_value(Op::ISub, word, &[count, one]);
        let sum = self.scan_shared_values(array, [own, last], [value, neutral], combine)?;
        let result = match operation {
            GroupOperation::InclusiveScan => sum,
            GroupOperation::Reduce => self.load_scratch_element(array, ty, last),
            GroupOperation::ExclusiveScan => self.load_element_before(array, own, one, neutral),
            other => {
                let text = format!("the group operation {other} of a workgroup");
                return Err(self.info.diagnose_id(value, &text));
            }
        };
        self.emit_workgroup_barrier();
        Ok(result)
    }

    /// Emits an inclusive scan of the shared values in place, and returns the own result. In each step an invocation adds the value at a
    /// distance before it, which doubles (Hillis and Steele, Data Parallel Algorithms, 1986).
    fn scan_shared_values(
        &mut self,
        array: Id,
        [own, last]: [Id; 2],
        [value, neutral]: [Id; 2],
        combine: GroupCombiner,
    ) -> Result<Id, SourceDiagnostic> {
        let word = self.make_int_type(32);
        let ty = self.b.type_of(value).unwrap_or(Id::MAX);
        let (zero, one) = (
            self.make_uint_constant(32, 0),
            self.make_uint_constant(32, 1),
        );
        // One more than the highest bit of the last number; no step for one invocation, as the highest bit of 0 is -1.
        let highest = self.emit_glsl(glsl::FIND_UMSB, word, &[last]);
        let steps = self.emit_value(Op::IAdd, word, &[highest, one]);
        let sum = self.emit_reduction_loop([zero, one, steps], Some(value), |l, step, sum| {
            let distance = l.emit_value(Op::ShiftLeftLogical, word, &[one, step]);
            let before = l.load_element_before(array, own, distance, neutral);
            l.emit_workgroup_barrier();
            let sum = sum.map(|sum| l.combine_values(combine, ty, before, sum));
            if let Some(sum) = sum {
                l.store_scratch_element(array, ty, own, sum);
            }
            l.emit_workgroup_barrier();
            Ok(sum)
        })?;
        Ok(sum.unwrap_or(value))
    }

    /// The shared value at a distance before the own one; the neutral element where there is none.
    fn load_element_before(&mut self, array: Id, own: Id, distance: Id, neutral: Id) -> Id {
        let (word, truth) = (self.make_int_type(32), self.b.bool_type());
        let ty = self.b.type_of(neutral).unwrap_or(Id::MAX);
        let is_there = self.emit_value(Op::UGreaterThanEqual, truth, &[own, distance]);
        let before = self.emit_value(Op::ISub, word, &[own, distance]);
        let index = self.emit_value(Op::Select, word, &[is_there, before, own]);
        let value = self.load_scratch_element(array, ty, index);
        self.emit_value(Op::Select, ty, &[is_there, value, neutral])
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
        return l.map_components(inst, &[inst.id_operand(1)], |l, ty, v| {
            l.emit_value(Op::GroupNonUniformShuffle, ty, &[scope, v[0], from[0]])
        });
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
