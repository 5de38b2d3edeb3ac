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

/// Fewest values of a segment of several that are worth a workgroup.
const LEAST_WIDTH: i64 = 1 << 10;

/// How workgroups share the values of a histogram.
struct GroupShare {
    /// The sizes of the dimensions around the values.
    outer: Vec<ScalarRef>,
    /// The number of segments, each with an array of its own.
    segments: ScalarRef,
    /// The number of workgroups of a segment.
    groups: ScalarRef,
    /// The number of values of a segment.
    width: ScalarRef,
    /// Values of a workgroup, apart from the last.
    length: ScalarRef,
    /// Most elements of a copy.
    bins: i64,
}

/// The segment of a workgroup, and its number among those of the segment.
struct GroupSegment {
    point: Vec<ScalarRef>,
    number: ScalarRef,
}

impl FunctionLowering<'_> {
    /// Whether workgroups may have copies of the arrays of a histogram.
    pub(super) fn has_group_copies(&self, plan: &HistogramPlan<'_>) -> bool {
        self.profile.runs_in_lockstep()
            && plan.targets[0].shape.len() == plan.sizes.len()
            && !self.needs_memory(&plan.operation.body)
    }

    /// Lowers an atomic histogram to two forms. The host chooses one by the sizes of the arrays and of the segments.
    pub(super) fn choose_by_bins(
        &mut self,
        plan: &HistogramPlan<'_>,
        change: &AtomicChange<'_>,
        in_device_memory: impl FnOnce(&mut Self) -> Result<(), String>,
    ) -> Result<(), String> {
        let bins = COPY_BYTES / plan.targets[0].element.size().max(1) as i64;
        let most = ScalarRef::from_int64(bins);
        let rank = plan.sizes.len();
        let (own_bins, width) = (plan.targets[0].shape[rank - 1], plan.sizes[rank - 1]);
        let is_worth_it = if rank == 1 {
            self.compare(ScalarOp::SLe, own_bins, most)
        } else {
            let most = self.int64(ScalarOp::SMin, most, width);
            let is_small = self.compare(ScalarOp::SLe, own_bins, most);
            let least = ScalarRef::from_int64(LEAST_WIDTH);
            let is_wide = self.compare(ScalarOp::SLe, least, width);
            self.builder
                .apply_op(ScalarOp::LogAnd, &[is_small, is_wide])
        };
        self.choose(
            is_worth_it,
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
        let share = self.share_values(plan, bins)?;
        let neutral = self.operand_values(&plan.fold.neutral)?;
        let target = plan.targets[0].clone();
        let length = target.shape[share.outer.len()];
        let all = self.int64(ScalarOp::Mul, share.segments, share.groups);
        let sums = change
            .is_loop()
            .then(|| self.new_array(target.element, vec![all, length]));
        self.offload_groups(all, |lowering, at| {
            let copy = lowering.new_shared_array(target.element, share.bins);
            let neutral = lowering.pack_element(change, &neutral)?;
            lowering.visit_turns(at, length, |lowering, bin| {
                let place = lowering.row_view(&copy, bin);
                lowering.store(&place, neutral);
                Ok(())
            })?;
            lowering.wait_for_group(SyncKind::Barrier);
            let segment = lowering.locate_segment(&share, at);
            lowering.add_share(plan, &share, at, &segment, change, &copy)?;
            lowering.wait_for_group(SyncKind::Error);
            let array = lowering.point_view(&target, &segment.point);
            lowering.visit_turns(at, length, |lowering, bin| {
                let from = lowering.row_view(&copy, bin);
                let value = lowering.load(&from);
                if let Some(sums) = &sums {
                    let place = lowering.point_view(sums, &[at.group, bin]);
                    lowering.store(&place, value);
                    return Ok(());
                }
                let place = lowering.row_view(&array, bin);
                let values = lowering.unpack_element(change, value);
                lowering.push_change(change, &place, &values)
            })
        })?;
        match sums {
            Some(sums) => self.add_copies(plan, &share, change, &sums),
            None => Ok(()),
        }
    }

    /// Makes a kernel that combines copies, some at a time, and adds them to the arrays.
    fn add_copies(
        &mut self,
        plan: &HistogramPlan<'_>,
        share: &GroupShare,
        change: &AtomicChange<'_>,
        copies: &ArrayView,
    ) -> Result<(), String> {
        let at_once = ScalarRef::from_int64(COPIES_AT_ONCE);
        let parts = self.int64(ScalarOp::SDivUp, share.groups, at_once);
        let mut sizes = share.outer.clone();
        sizes.extend([parts, copies.shape[1]]);
        let items = SharedItems {
            count: self.product(&sizes),
            is_chunked: false,
            is_single: false,
        };
        let neutral = self.operand_values(&plan.fold.neutral)?;
        self.offload_items(items, |lowering, item| {
            let mut point = lowering.unflatten(item, &sizes);
            let [part, bin] = point.split_off(share.outer.len())[..] else {
                return Err("a copy of a histogram has no bin".into());
            };
            lowering.bind_point(&plan.operation.space, &point);
            let segment = lowering.flatten_point(&point, &share.outer);
            let before = lowering.int64(ScalarOp::Mul, segment, share.groups);
            let first = lowering.int64(ScalarOp::Mul, part, at_once);
            let rest = lowering.int64(ScalarOp::Sub, share.groups, first);
            let count = lowering.int64(ScalarOp::SMin, at_once, rest);
            let first = lowering.int64(ScalarOp::Add, before, first);
            let states = lowering.make_states(&neutral)?;
            lowering.count_to(count, |lowering, number| {
                let copy = lowering.int64(ScalarOp::Add, first, number);
                let place = lowering.point_view(copies, &[copy, bin]);
                let stored = lowering.load(&place);
                let values = lowering.unpack_element(change, stored);
                lowering.combine_states(&plan.fold.function, &states, &values)
            })?;
            let array = lowering.point_view(&plan.targets[0], &point);
            let place = lowering.row_view(&array, bin);
            lowering.push_change(change, &place, &states)
        })
    }

    fn share_values(&mut self, plan: &HistogramPlan<'_>, bins: i64) -> Result<GroupShare, String> {
        let (&width, outer) = plan.sizes.split_last().ok_or("a histogram has no space")?;
        let least = ScalarRef::from_int64(self.profile.chunk_group_size * LEAST_VALUES);
        let most = ScalarRef::from_int64(self.profile.group_count);
        let one = ScalarRef::from_int64(1);
        let segments = self.product(outer);
        let divisor = self.int64(ScalarOp::SMax, segments, one);
        let most = self.int64(ScalarOp::SDivUp, most, divisor);
        let groups = self.int64(ScalarOp::SDivUp, width, least);
        let groups = self.int64(ScalarOp::SMin, groups, most);
        let divisor = self.int64(ScalarOp::SMax, groups, one);
        Ok(GroupShare {
            outer: outer.to_vec(),
            segments,
            groups,
            width,
            length: self.int64(ScalarOp::SDivUp, width, divisor),
            bins,
        })
    }

    fn locate_segment(&mut self, share: &GroupShare, at: GroupPosition) -> GroupSegment {
        if share.outer.is_empty() {
            return GroupSegment {
                point: Vec::new(),
                number: at.group,
            };
        }
        let segment = self.int64(ScalarOp::UDiv, at.group, share.groups);
        let before = self.int64(ScalarOp::Mul, segment, share.groups);
        GroupSegment {
            point: self.unflatten(segment, &share.outer),
            number: self.int64(ScalarOp::Sub, at.group, before),
        }
    }

    /// Adds the values of a workgroup to its copy.
    fn add_share(
        &mut self,
        plan: &HistogramPlan<'_>,
        share: &GroupShare,
        at: GroupPosition,
        segment: &GroupSegment,
        change: &AtomicChange<'_>,
        copy: &ArrayView,
    ) -> Result<(), String> {
        let start = self.int64(ScalarOp::Mul, segment.number, share.length);
        let rest = self.int64(ScalarOp::Sub, share.width, start);
        // The last workgroups may have no values.
        let count = self.int64(ScalarOp::SMin, share.length, rest);
        let bins = plan.targets[0].shape[share.outer.len()];
        self.visit_turns(at, count, |lowering, offset| {
            let mut point = segment.point.clone();
            point.push(lowering.int64(ScalarOp::Add, start, offset));
            let (bin, values) = lowering.lower_contribution(plan, &point)?;
            lowering.if_inside(bin, bins, |lowering| {
                let place = lowering.row_view(copy, bin);
                lowering.push_change(change, &place, &values)
            })
        })
    }
}
