//! Maps by workgroups: each point is the work of a workgroup.
//!
//! All invocations run the statements of the body, with the same scalars. They share the elements of its combinators and of copies of
//! arrays. Arrays that the body makes are in the memory of the workgroup. Barriers stand between accesses to memory that
//! depend on each other: [`GroupScope`] knows which there were since the last one.

use super::group_fold::GroupMemory;
use super::statement::BodyRef;
use super::view::{ArrayView, ScalarRef};
use super::workgroup::{GroupPosition, GroupSize};
use super::{FunctionLowering, LoweredValue};
use crate::grouped::MOST_TURNS;
use crate::ir::{ParallelOperation, SegmentBody};
use crate::scope::{contains_operation, find_width};
use spirula_kernel::ir::{ExprId, MemorySpace, StmtKind, SyncKind, VariableType};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType, SizeClass};
use spirula_soac::ir::{SoacBody, SoacLambda, SoacOperand, SoacOperation, SoacVariableId};

/// Binary logarithm of the smallest workgroup: fewer invocations do not run faster.
const LEAST_LOGARITHM: i64 = 5;

/// Bytes of workgroup memory for the flag of failures.
const FLAG_BYTES: i64 = 16;

/// Writes to memory since the last barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GroupWrites {
    /// There were none.
    None,
    /// The first invocation made them.
    First,
    /// Any invocation may have made some.
    Any,
}

/// An array in the memory of a workgroup.
#[derive(Debug)]
struct GroupArray {
    element: ScalarType,
    shape: Vec<ScalarRef>,
}

/// Code that all invocations of a workgroup run alike.
#[derive(Debug)]
pub(super) struct GroupScope {
    at: GroupPosition,
    /// Whether there were reads since the last barrier.
    has_reads: bool,
    writes: GroupWrites,
    /// The arrays in the memory of the workgroup.
    arrays: Vec<GroupArray>,
}

/// The fold of a combinator that a workgroup shares.
pub(super) struct SharedFold<'o> {
    pub(super) function: &'o SoacLambda,
    pub(super) neutral: &'o [SoacOperand],
    pub(super) width: ScalarRef,
    /// The arrays of a scan. A reduction has none.
    pub(super) targets: &'o [ArrayView],
    /// Whether the computation of an element may fail.
    pub(super) can_fail: bool,
}

/// Whether a body has checks.
pub(super) fn can_fail(body: &SoacBody) -> bool {
    contains_operation(&body.statements, &|operation| {
        matches!(operation, SoacOperation::Check(..))
    })
}

impl FunctionLowering<'_> {
    /// Lowers a map by workgroups, and what is done where a workgroup has no room for it.
    pub(super) fn lower_grouped(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        otherwise: &SegmentBody,
    ) -> Result<(), String> {
        let slots = self.declare_slots(results, &vec![None; results.len()])?;
        let widest = self.find_widest(&operation.body);
        let size = self.choose_group_size(widest);
        self.builder.begin_block();
        let (values, arrays) = self.lower_group_map(results, operation, size)?;
        self.move_results(&slots, &values, false)?;
        let then = self.builder.end_block();
        self.builder.begin_block();
        let values = self.lower_body_ref(BodyRef::Host(otherwise))?;
        self.move_results(&slots, &values, false)?;
        let otherwise = self.builder.end_block();
        let has_room = self.has_room(widest, &arrays);
        let least = self.read_threshold("group_width", 0);
        let is_wide = self.compare(ScalarOp::SLe, least, widest);
        let condition = self
            .builder
            .apply_op(ScalarOp::LogAnd, &[has_room, is_wide]);
        self.builder.push_statement(StmtKind::If {
            condition,
            then,
            otherwise,
        });
        self.bind_slots(&slots)
    }

    /// The width of the widest combinator that the code of a workgroup has, of those that the host knows.
    fn find_widest(&mut self, body: &SoacBody) -> ScalarRef {
        let mut widths = Vec::new();
        self.collect_widths(body, &mut widths);
        let zero = ScalarRef::from_int64(0);
        widths.into_iter().fold(zero, |widest, width| {
            self.int64(ScalarOp::SMax, widest, width)
        })
    }

    fn collect_widths(&self, body: &SoacBody, widths: &mut Vec<ScalarRef>) {
        for statement in &body.statements {
            match find_width(self.function, &statement.operation) {
                Some(width) => {
                    let width = self.scalar(width).ok();
                    widths.extend(width.filter(|width| !widths.contains(width)));
                }
                None => {
                    for inner in statement.operation.bodies() {
                        self.collect_widths(inner, widths);
                    }
                }
            }
        }
    }

    /// A number of invocations that suits a width.
    fn choose_group_size(&mut self, widest: ScalarRef) -> GroupSize {
        let most = i64::from(self.profile.chunk_group_size.ilog2());
        let least = LEAST_LOGARITHM.min(most);
        let mut logarithm = ScalarRef::from_int64(least);
        for step in least..most {
            // One if the width is beyond, otherwise zero.
            let beyond = self.int64(ScalarOp::Sub, widest, ScalarRef::from_int64(1 << step));
            let beyond = self.int64(ScalarOp::SMax, beyond, ScalarRef::from_int64(0));
            let one_more = self.int64(ScalarOp::SMin, beyond, ScalarRef::from_int64(1));
            logarithm = self.int64(ScalarOp::Add, logarithm, one_more);
        }
        GroupSize {
            count: self.int64(ScalarOp::Shl, ScalarRef::from_int64(1), logarithm),
            logarithm,
        }
    }

    /// Whether the memory of a workgroup has room for arrays, and the widest combinator takes few turns.
    fn has_room(&mut self, widest: ScalarRef, arrays: &[GroupArray]) -> ExprId {
        let mut sum = ScalarRef::from_int64(FLAG_BYTES);
        for array in arrays {
            let bytes = self.product(&array.shape);
            let size = ScalarRef::from_int64(array.element.size().max(1) as i64);
            let bytes = self.int64(ScalarOp::Mul, bytes, size);
            // Each array begins at a multiple of 16 bytes.
            let bytes = self.int64(ScalarOp::Add, bytes, ScalarRef::from_int64(15));
            sum = self.int64(ScalarOp::Add, sum, bytes);
        }
        let limit = self.builder.read_device_limit(SizeClass::SharedMemory);
        let limit = self.assign("limit", ScalarType::I64, limit);
        let most = ScalarRef::from_int64(self.profile.chunk_group_size * MOST_TURNS);
        let excess_bytes = self.int64(ScalarOp::Sub, sum, limit);
        let excess_width = self.int64(ScalarOp::Sub, widest, most);
        let excess = self.int64(ScalarOp::SMax, excess_bytes, excess_width);
        self.compare(ScalarOp::SLe, excess, ScalarRef::from_int64(0))
    }

    /// The results of a map by workgroups, and the arrays in the memory of a workgroup.
    fn lower_group_map(
        &mut self,
        results: &[SoacVariableId],
        operation: &ParallelOperation,
        size: GroupSize,
    ) -> Result<(Vec<LoweredValue>, Vec<GroupArray>), String> {
        let sizes = self.space_sizes(operation)?;
        let targets = self.make_result_arrays(results)?;
        let groups = self.product(&sizes);
        let mut arrays = Vec::new();
        self.offload_sized_groups(groups, size, |lowering, at| {
            let point = lowering.unflatten(at.group, &sizes);
            lowering.bind_point(&operation.space, &point);
            lowering.set_group(Some(GroupScope {
                at,
                has_reads: false,
                writes: GroupWrites::None,
                arrays: Vec::new(),
            }));
            let values = lowering.lower_body(&operation.body)?;
            lowering.write_point(&targets, &point, &values)?;
            if let Some(scope) = lowering.take_group() {
                arrays = scope.arrays;
            }
            Ok(())
        })?;
        let values = targets.into_iter().map(LoweredValue::Array).collect();
        Ok((values, arrays))
    }

    /// Whether all invocations of a workgroup run the code that is made.
    pub(super) fn is_in_group(&self) -> bool {
        self.kernel
            .as_ref()
            .is_some_and(|kernel| kernel.group.is_some())
    }

    fn set_group(&mut self, group: Option<GroupScope>) {
        if let Some(kernel) = &mut self.kernel {
            kernel.group = group;
        }
    }

    fn take_group(&mut self) -> Option<GroupScope> {
        self.kernel.as_mut()?.group.take()
    }

    /// An array in the memory of the workgroup. The host knows its sizes.
    pub(super) fn new_group_array(
        &mut self,
        element: ScalarType,
        shape: Vec<ScalarRef>,
    ) -> ArrayView {
        let shared = VariableType::Memory(MemorySpace::Shared);
        let memory = self.builder.declare_var("shared", shared, false);
        let multiply = ScalarOperator::with_type(ScalarOp::Mul, ScalarType::I64);
        let mut bytes = self.builder.make_i64(element.size().max(1) as i64);
        for &size in &shape {
            let size = self.read(size);
            bytes = self.builder.apply_operator(multiply, &[bytes, size]);
        }
        let to = memory;
        self.builder.push_statement(StmtKind::Alloc { to, bytes });
        self.note_group_array(element, shape.clone());
        self.dense_view(memory, element, shape)
    }

    fn note_group_array(&mut self, element: ScalarType, shape: Vec<ScalarRef>) {
        if let Some(scope) = self
            .kernel
            .as_mut()
            .and_then(|kernel| kernel.group.as_mut())
        {
            scope.arrays.push(GroupArray { element, shape });
        }
    }

    /// Notes that a failure of this invocation is one of all: they leave together.
    pub(super) fn leave_after_check(&mut self) {
        if let Some(mut scope) = self.take_group() {
            self.wait_for_accesses(&mut scope, SyncKind::Error);
            self.set_group(Some(scope));
        }
    }

    fn wait_for_accesses(&mut self, scope: &mut GroupScope, kind: SyncKind) {
        self.wait_for_memory(kind);
        scope.has_reads = false;
        scope.writes = GroupWrites::None;
    }

    /// Notes that code which runs before this may have done anything to memory.
    pub(super) fn forget_accesses(&mut self) {
        if let Some(scope) = self
            .kernel
            .as_mut()
            .and_then(|kernel| kernel.group.as_mut())
        {
            scope.has_reads = true;
            scope.writes = GroupWrites::Any;
        }
    }

    /// Waits for writes to memory that this code is about to read.
    pub(super) fn begin_group_read(&mut self) {
        let Some(mut scope) = self.take_group() else {
            return;
        };
        if scope.writes != GroupWrites::None {
            self.wait_for_accesses(&mut scope, SyncKind::Barrier);
        }
        scope.has_reads = true;
        self.set_group(Some(scope));
    }

    /// Has the first invocation alone write to memory.
    pub(super) fn write_alone(
        &mut self,
        body: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(mut scope) = self.take_group() else {
            return body(self);
        };
        if scope.has_reads || scope.writes == GroupWrites::Any {
            self.wait_for_accesses(&mut scope, SyncKind::Barrier);
        }
        self.if_first(scope.at, body)?;
        scope.writes = GroupWrites::First;
        self.set_group(Some(scope));
        Ok(())
    }

    /// Begins code of single invocations, after what all did before.
    fn begin_single_code(&mut self, scope: &mut GroupScope) {
        if scope.has_reads || scope.writes != GroupWrites::None {
            self.wait_for_accesses(scope, SyncKind::Barrier);
        }
    }

    /// Goes on with code of all invocations.
    fn end_single_code(&mut self, mut scope: GroupScope, can_fail: bool) {
        scope.has_reads = true;
        scope.writes = GroupWrites::Any;
        if can_fail {
            self.wait_for_accesses(&mut scope, SyncKind::Error);
        }
        self.set_group(Some(scope));
    }

    /// Does something for each number below a bound: in a loop, or in turns if a workgroup runs the code.
    pub(super) fn visit_elements(
        &mut self,
        count: ScalarRef,
        can_fail: bool,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let Some(mut scope) = self.take_group() else {
            return self.count_to(count, body);
        };
        self.begin_single_code(&mut scope);
        self.visit_turns(scope.at, count, body)?;
        self.end_single_code(scope, can_fail);
        Ok(())
    }

    /// Copies the elements of an array in turns.
    pub(super) fn copy_in_turns(&mut self, to: &ArrayView, from: &ArrayView) -> Result<(), String> {
        let count = self.product(&to.shape);
        self.visit_elements(count, false, |lowering, number| {
            let point = lowering.unflatten(number, &to.shape);
            let (to, from) = (
                lowering.point_view(to, &point),
                lowering.point_view(from, &point),
            );
            let value = lowering.load(&from);
            lowering.store(&to, value);
            Ok(())
        })
    }

    /// Folds values, of which each invocation takes some that follow each other. `element` computes those at a position. The
    /// results are the total.
    pub(super) fn share_fold(
        &mut self,
        fold: &SharedFold<'_>,
        element: impl FnOnce(&mut Self, ScalarRef) -> Result<Vec<LoweredValue>, String>,
    ) -> Result<Vec<LoweredValue>, String> {
        let mut scope = self.take_group().ok_or("no workgroup shares a fold")?;
        let at = scope.at;
        let memory = self.make_totals(fold, &mut scope);
        self.begin_single_code(&mut scope);
        let length = self.int64(ScalarOp::SDivUp, fold.width, at.size.count);
        let start = self.int64(ScalarOp::Mul, at.local, length);
        let rest = self.int64(ScalarOp::Sub, fold.width, start);
        let count = self.int64(ScalarOp::SMin, length, rest);
        let initial = self.operand_values(fold.neutral)?;
        let states = self.make_states(&initial)?;
        self.count_to(count, |lowering, step| {
            let position = lowering.int64(ScalarOp::Add, start, step);
            let values = element(lowering, position)?;
            lowering.combine_states(fold.function, &states, &values)?;
            lowering.write_point(fold.targets, &[position], &states)
        })?;
        if fold.can_fail {
            self.wait_for_memory(SyncKind::Error);
        }
        if fold.targets.is_empty() {
            self.reduce_totals(fold.function, at, &memory, &states)?;
            self.end_single_code(scope, false);
            return Ok(self.row_values(&memory.totals, ScalarRef::from_int64(0)));
        }
        self.scan_totals(fold.function, at, &memory, &states)?;
        let prefix = self.make_states(&initial)?;
        self.add_totals_before(fold.function, at, &memory, &prefix)?;
        self.count_to(count, |lowering, step| {
            let position = lowering.int64(ScalarOp::Add, start, step);
            let rows = lowering.row_values(fold.targets, position);
            let joined = lowering.make_states(&prefix)?;
            lowering.combine_states(fold.function, &joined, &rows)?;
            lowering.write_point(fold.targets, &[position], &joined)
        })?;
        self.end_single_code(scope, false);
        Ok(Vec::new())
    }

    /// Memory for the totals of the invocations of a workgroup.
    fn make_totals(&mut self, fold: &SharedFold<'_>, scope: &mut GroupScope) -> GroupMemory {
        let most = self.profile.chunk_group_size;
        let neutral = fold.neutral.iter();
        let elements: Vec<_> = neutral
            .map(|&neutral| self.function.type_of(neutral).element())
            .collect();
        let mut totals = Vec::with_capacity(elements.len());
        for element in elements {
            let shape = vec![ScalarRef::from_int64(most)];
            scope.arrays.push(GroupArray { element, shape });
            totals.push(self.new_shared_array(element, most));
        }
        GroupMemory {
            values: Vec::new(),
            totals,
        }
    }
}
