//! Histograms in workgroup memory, on devices of many processors.
//!
//! Where an array has few elements, many invocations change the same ones. Each workgroup then changes a copy in its own
//! memory, and adds the copy to the array at the end. Both are atomic. An operation that is a loop of compare and exchange
//! suffers from each rival, so that its copies are combined by a kernel before they are added.

use super::FunctionLowering;
use super::atomic::AtomicChange;
use super::histogram::HistogramPlan;
use super::space::SharedItems;
use super::view::{ArrayView, ScalarRef};
use super::workgroup::GroupPosition;
use spirula_kernel::ir::SyncKind;
use spirula_program::ScalarOp;

/// Bytes of workgroup memory for a copy.
const COPY_BYTES: i64 = 12 << 10;

/// Fewest values of an invocation: a copy costs as much as some of them.
const LEAST_VALUES: i64 = 16;

/// Copies that an invocation combines before it adds them.
const COPIES_AT_ONCE: i64 = 64;

/// How workgroups share the values of a histogram.
struct GroupShare {
    /// The number of workgroups.
    groups: ScalarRef,
    /// The number of values.
    width: ScalarRef,
    /// Values of a workgroup, apart from the last.
    length: ScalarRef,
    /// Most elements of a copy.
    bins: i64,
}

impl FunctionLowering<'_> {
    /// Whether workgroups may have copies of the array of a histogram.
    pub(super) fn has_group_copies(&self, plan: &HistogramPlan<'_>) -> bool {
        self.profile.chunk_group_size > 1
            && plan.sizes.len() == 1
            && plan.targets[0].shape.len() == 1
            && !self.needs_memory(&plan.operation.body)
    }

    /// Lowers an atomic histogram to two forms. The host chooses one by the size of the array.
    pub(super) fn choose_by_bins(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
        in_device_memory: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let bins = COPY_BYTES / plan.targets[0].element.size().max(1) as i64;
        let most = ScalarRef::from_int64(bins);
        let is_small = self.compare(ScalarOp::SLe, plan.targets[0].shape[0], most);
        self.choose(
            is_small,
            |lowering| lowering.lower_group_histogram(plan, change, bins),
            in_device_memory,
        )
    }

    fn lower_group_histogram(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
        bins: i64,
    ) -> Result<(), String> {
        let share = self.share_values(plan.sizes[0], bins);
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let target = plan.targets[0].clone();
        let sums = change.is_loop().then(|| {
            let shape = vec![share.groups, target.shape[0]];
            self.new_array(target.element, shape)
        });
        self.offload_groups(share.groups, |lowering, at| {
            let copy = lowering.new_shared_array(target.element, share.bins);
            let neutral = lowering.pack_element(change, &neutral)?;
            lowering.visit_turns(at, target.shape[0], |lowering, bin| {
                let place = lowering.row_view(&copy, bin);
                lowering.store(&place, neutral);
                Ok(())
            })?;
            lowering.wait_for_group(SyncKind::Barrier);
            lowering.add_share(plan, &share, at, change, &copy)?;
            lowering.wait_for_group(SyncKind::Error);
            lowering.visit_turns(at, target.shape[0], |lowering, bin| {
                let from = lowering.row_view(&copy, bin);
                let value = lowering.load(&from);
                if let Some(sums) = &sums {
                    let place = lowering.point_view(sums, &[at.group, bin]);
                    lowering.store(&place, value);
                    return Ok(());
                }
                let place = lowering.row_view(&target, bin);
                let values = lowering.unpack_element(change, value);
                lowering.push_change(change, &place, &values)
            })
        })?;
        match sums {
            Some(sums) => self.add_copies(plan, change, &sums, &target),
            None => Ok(()),
        }
    }

    /// Makes a kernel that combines copies, some at a time, and adds them to the array.
    fn add_copies(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
        copies: &ArrayView,
        target: &ArrayView,
    ) -> Result<(), String> {
        let (groups, bins) = (copies.shape[0], copies.shape[1]);
        let at_once = ScalarRef::from_int64(COPIES_AT_ONCE);
        let parts = self.int64(ScalarOp::SDivUp, groups, at_once);
        let sizes = [parts, bins];
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: false,
            is_single: false,
        };
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_items(items, |lowering, item| {
            let point = lowering.unflatten(item, &sizes);
            let first = lowering.int64(ScalarOp::Mul, point[0], at_once);
            let rest = lowering.int64(ScalarOp::Sub, groups, first);
            let count = lowering.int64(ScalarOp::SMin, at_once, rest);
            let states = lowering.make_states(&neutral)?;
            lowering.count_to(count, |lowering, number| {
                let copy = lowering.int64(ScalarOp::Add, first, number);
                let place = lowering.point_view(copies, &[copy, point[1]]);
                let stored = lowering.load(&place);
                let values = lowering.unpack_element(change, stored);
                lowering.combine_states(&plan.fold.function, &states, &values)
            })?;
            let place = lowering.row_view(target, point[1]);
            lowering.push_change(change, &place, &states)
        })
    }

    fn share_values(&mut self, width: ScalarRef, bins: i64) -> GroupShare {
        let least = ScalarRef::from_int64(self.profile.chunk_group_size * LEAST_VALUES);
        let most = ScalarRef::from_int64(self.profile.group_count);
        let one = ScalarRef::from_int64(1);
        let groups = self.int64(ScalarOp::SDivUp, width, least);
        let groups = self.int64(ScalarOp::SMin, groups, most);
        let divisor = self.int64(ScalarOp::SMax, groups, one);
        GroupShare {
            groups,
            width,
            length: self.int64(ScalarOp::SDivUp, width, divisor),
            bins,
        }
    }

    /// Adds the values of a workgroup to its copy.
    fn add_share(
        &mut self,
        plan: &HistogramPlan<'_>,
        share: &GroupShare,
        at: GroupPosition,
        change: &AtomicChange<'_>,
        copy: &ArrayView,
    ) -> Result<(), String> {
        let start = self.int64(ScalarOp::Mul, at.group, share.length);
        let rest = self.int64(ScalarOp::Sub, share.width, start);
        // The last workgroups may have no values.
        let count = self.int64(ScalarOp::SMin, share.length, rest);
        self.visit_turns(at, count, |lowering, offset| {
            let position = lowering.int64(ScalarOp::Add, start, offset);
            lowering.add_value(plan, position, change, copy)
        })
    }

    fn add_value(
        &mut self,
        plan: &HistogramPlan<'_>,
        position: ScalarRef,
        change: &AtomicChange<'_>,
        copy: &ArrayView,
    ) -> Result<(), String> {
        let (bin, values) = self.lower_contribution(plan, &[position])?;
        self.if_inside(bin, plan.targets[0].shape[0], |lowering| {
            let place = lowering.row_view(copy, bin);
            lowering.push_change(change, &place, &values)
        })
    }
}
