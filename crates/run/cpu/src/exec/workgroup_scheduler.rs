//! Workgroup scheduler: runs one workgroup, and decides which invocations resume at which suspension point.
//!
//! A barrier of the workgroup releases all invocations when all that have not ended have arrived. Within a subgroup,
//! the lanes at the earliest point go first. As the bodies of loops are lowered before the code after them, lanes
//! that diverged meet again where their paths join.

use super::cooperative_product::SubgroupLanes;
use super::guard::call_guarded;
use super::jit_kernel::JitKernel;
use super::launch::LaunchError;
use super::{async_copy, exchange};
use crate::analysis::suspension::{GroupExchange, SuspensionPoint, SyncGroup};
use crate::layout::async_copy::AsyncCopyRequest;
use crate::layout::frames::WorkgroupFrames;
use crate::layout::launch_context::{DONE, LaunchContext, START};
use crate::pipe::{self, PipeOperands};
use crate::sanitizer::workgroup_state::WorkgroupState;

/// Runs a workgroup of `count` invocations, one by one or in gangs.
///
/// # Safety
/// As [`JitKernel::run_launch`].
#[allow(unsafe_code)]
pub(crate) unsafe fn run_group(
    kernel: &JitKernel,
    context: &LaunchContext,
    frames: &mut [u64],
    count: u32,
    gangs: bool,
) -> Result<(), LaunchError> {
    let mut group = WorkgroupScheduler {
        kernel,
        context,
        frames,
        count,
        gangs,
        active: Vec::new(),
        live: context.sanitizer.cast(),
    };
    // SAFETY: the caller's promise.
    unsafe { group.run_invocations() }
}

struct WorkgroupScheduler<'a> {
    kernel: &'a JitKernel,
    context: &'a LaunchContext,
    frames: &'a mut [u64],
    count: u32,
    /// Whether the code for gangs runs; each has one state.
    gangs: bool,
    active: Vec<usize>,
    /// The sanitizer's state of the workgroup; null where nothing is checked.
    live: *mut WorkgroupState,
}

#[allow(unsafe_code)]
impl WorkgroupScheduler<'_> {
    unsafe fn run_invocations(&mut self) -> Result<(), LaunchError> {
        if self.kernel.points.is_empty() {
            // SAFETY: the caller's promise.
            unsafe { self.call_range(0, self.count, START)? };
            return self.check_end();
        }
        let subgroups = self
            .kernel
            .points
            .iter()
            .any(|p| p.group == SyncGroup::Subgroup);
        let mut resume = START;
        loop {
            // SAFETY: the caller's promise.
            let (least, greatest) = unsafe { self.call_range(0, self.count, resume)? };
            self.check_end()?;
            let at = if subgroups {
                // SAFETY: the caller's promise.
                unsafe { self.run_subgroups()? };
                self.common_state()?
            } else if least == greatest {
                least
            } else {
                self.common_state()?
            };
            if at == DONE {
                return Ok(());
            }
            let point = self.suspension_point(at);
            if point.exchange != GroupExchange::Barrier {
                let lanes = 0..self.count as usize;
                self.gather_active_lanes(lanes.clone(), at);
                self.check_sources(at, lanes);
                // SAFETY: the caller's promise.
                unsafe { self.run_exchange(at, 0, self.count as usize)? };
            }
            // A copy of the workgroup's orders nothing until it is waited for.
            if self.suspension_point(at).exchange != GroupExchange::AsyncCopy {
                self.begin_phase(at, true);
            }
            resume = at;
        }
    }

    /// Fails if the launch has to end, as an invocation does not.
    fn check_end(&mut self) -> Result<(), LaunchError> {
        match self.sanitizer_state() {
            Some(live) if live.is_stopped() => Err(LaunchError::EndlessLoop {
                kernel: self.kernel.name.clone(),
            }),
            _ => Ok(()),
        }
    }

    fn sanitizer_state(&mut self) -> Option<&mut WorkgroupState> {
        // SAFETY: null, or the worker's, which no generated code uses at the moment.
        unsafe { self.live.as_mut() }
    }

    /// Begins a phase, as invocations have waited at a point.
    fn begin_phase(&mut self, state: u32, all: bool) {
        let (site, context) = (self.suspension_point(state).site, self.context);
        let lane = if all {
            0
        } else {
            self.active.first().map_or(0, |lane| *lane as u32)
        };
        if let Some(live) = self.sanitizer_state() {
            if all {
                live.begin_phase()
            } else {
                live.begin_subgroup_phase()
            }
            live.count_wait(context, lane, site);
        }
    }

    /// Runs the invocations that are at a point; the least and greatest states that they reached.
    unsafe fn call_range(
        &mut self,
        lo: u32,
        hi: u32,
        resume: u32,
    ) -> Result<(u32, u32), LaunchError> {
        let Some(order) = self
            .sanitizer_state()
            .and_then(|live| live.shuffle_order(hi - lo))
        else {
            // SAFETY: the caller's promise.
            return unsafe { self.call_in_order(lo, hi, resume) };
        };
        let (mut least, mut greatest) = (DONE, START);
        for n in order {
            // SAFETY: the caller's promise.
            let (l, g) = unsafe { self.call_in_order(lo + n, lo + n + 1, resume)? };
            (least, greatest) = (least.min(l), greatest.max(g));
        }
        Ok((least, greatest))
    }

    unsafe fn call_in_order(
        &mut self,
        lo: u32,
        hi: u32,
        resume: u32,
    ) -> Result<(u32, u32), LaunchError> {
        let Some(compiled) = self.kernel.code.entry(self.gangs) else {
            return Ok((START, START));
        };
        // SAFETY: the entry function lives as long as the kernel; its use of memory is the caller's promise.
        let summary = unsafe {
            let range = [lo, hi, resume];
            call_guarded(compiled.entry, self.context, range, &compiled.pieces)
        };
        let summary = summary.map_err(|trap| {
            LaunchError::from_trap_in_context(self.context, trap, &self.kernel.name)
        })?;
        Ok((summary as u32, (summary >> 32) as u32))
    }

    fn suspension_point(&self, state: u32) -> &SuspensionPoint {
        &self.kernel.points[state as usize - 1]
    }

    fn frames(&mut self) -> WorkgroupFrames<'_> {
        WorkgroupFrames {
            words: self.frames,
            layout: self.kernel.frame_layout(self.gangs),
        }
    }

    fn gather_active_lanes(&mut self, lanes: std::ops::Range<usize>, state: u32) {
        let mut active = std::mem::take(&mut self.active);
        let frames = self.frames();
        active.clear();
        active.extend(lanes.filter(|lane| frames.lane_state(*lane) == state));
        self.active = active;
    }

    /// Runs every subgroup until its lanes wait for the workgroup or have ended.
    unsafe fn run_subgroups(&mut self) -> Result<(), LaunchError> {
        let size = self.kernel.subgroup_size;
        for lo in (0..self.count).step_by(size as usize) {
            let hi = self.count.min(lo + size);
            loop {
                let kernel = self.kernel;
                let frames = self.frames();
                let waiting = (lo..hi)
                    .map(|lane| frames.lane_state(lane as usize))
                    .filter(|s| *s != DONE)
                    .filter(|s| kernel.points[*s as usize - 1].group == SyncGroup::Subgroup);
                let Some(earliest) = waiting.min() else { break };
                self.gather_active_lanes(lo as usize..hi as usize, earliest);
                self.check_subgroup(earliest, hi - lo);
                self.check_sources(earliest, lo as usize..hi as usize);
                self.begin_phase(earliest, false);
                // SAFETY: the caller's promise.
                unsafe {
                    self.run_exchange(earliest, lo as usize, size as usize)?;
                    self.call_range(lo, hi, earliest)?;
                }
                self.check_end()?;
            }
        }
        Ok(())
    }

    unsafe fn run_exchange(
        &mut self,
        state: u32,
        first: usize,
        size: usize,
    ) -> Result<(), LaunchError> {
        let point = self.suspension_point(state).clone();
        let active = std::mem::take(&mut self.active);
        let (context, live, kernel) = (self.context, self.live, self.kernel);
        let mut frames = self.frames();
        if let (GroupExchange::AsyncCopy, Some(lane)) = (point.exchange, active.first()) {
            let [to, from, count, stride] = [0, 1, 2, 3].map(|n| frames.read_slot(*lane, n));
            let size = u64::from(point.components);
            let strided_source = point.operation == 1;
            let stride = stride.max(1);
            let elements = AsyncCopyRequest {
                to,
                from,
                count,
                size,
                stride,
                strided_source,
            };
            // SAFETY: as in `live`.
            match unsafe { live.as_mut() } {
                Some(live) => {
                    live.copy_elements(context, point.site, elements);
                }
                None => {
                    // SAFETY: the caller's promise.
                    let copied = unsafe { async_copy::copy_elements(&elements) };
                    copied.map_err(|trap| {
                        LaunchError::from_trap_in_context(context, trap, &kernel.name)
                    })?;
                }
            }
        }
        if let (GroupExchange::Pipe(operation), Some(lane)) = (point.exchange, active.first()) {
            let [pipe, id, size] = [0, 1, 2].map(|n| frames.read_slot(*lane, n));
            let operands = PipeOperands {
                pipe,
                id,
                index: 0,
                packet: 0,
                size,
            };
            let result = pipe::run_pipe_operation(operation as u64, &operands);
            for lane in &active {
                frames.set_slot(*lane, 0, result);
            }
        }
        exchange::exchange_values(&mut frames, &point, &active, first, size);
        self.active = active;
        Ok(())
    }

    /// Reports a subgroup of which only some invocations arrive where all have to.
    fn check_subgroup(&mut self, state: u32, size: u32) {
        let point = self.suspension_point(state).clone();
        let name = point.op.to_string();
        let all = !name.contains("NonUniform") && point.group == SyncGroup::Subgroup;
        let (first, arrived) = (self.active.first().copied(), self.active.len());
        if let (true, Some(lane)) = (all && arrived < size as usize, first) {
            let message = format!("{arrived} of the {size} invocations of a subgroup arrive");
            let context = self.context;
            if let Some(live) = self.sanitizer_state() {
                live.report_divergence(context, lane as u32, point.site, message);
            }
        }
    }

    /// Reports an exchange that takes a value from an invocation which is not at the point. Where all invocations
    /// take the value of the same one, it also reports different sources.
    fn check_sources(&mut self, state: u32, lanes: std::ops::Range<usize>) {
        let point = self.suspension_point(state).clone();
        // In scans, invocations without a neighbour often ignore the value that they take.
        let is_scan = matches!(
            point.exchange,
            GroupExchange::ShuffleUp | GroupExchange::ShuffleDown | GroupExchange::Rotate
        );
        if self
            .sanitizer_state()
            .is_none_or(|live| is_scan && !live.is_strict())
        {
            return;
        }
        let active = std::mem::take(&mut self.active);
        let frames = self.frames();
        let group = SubgroupLanes {
            active: &active,
            first: lanes.start,
            size: lanes.len(),
        };
        let source = |lane: usize| {
            let from = exchange::find_source_lane(&frames, &point, group, lane);
            from.filter(|from| lanes.contains(from))
        };
        let absent =
            |lane: &&usize| source(**lane).is_some_and(|s| active.binary_search(&s).is_err());
        let absent = active.iter().find(absent).copied();
        let first = active.first().and_then(|lane| source(*lane));
        let differs = |lane: &&usize| source(**lane) != first;
        let shared = exchange::is_broadcast(point.op);
        let differs = active.iter().find(differs).copied().filter(|_| shared);
        self.active = active;
        let found = absent.map(|lane| (lane, "takes a value from an invocation that is not there"));
        let found =
            found.or(differs.map(|lane| (lane, "takes another invocation's value than others")));
        let context = self.context;
        if let (Some((lane, reason)), Some(live)) = (found, self.sanitizer_state()) {
            live.report_divergence(context, lane as u32, point.site, reason.to_owned());
        }
    }

    /// Reports invocations that wait at different points.
    fn report_different_points(&mut self, first: u32, second: u32, lane: usize) {
        let (first, second) = (
            self.suspension_point(first).clone(),
            self.suspension_point(second).clone(),
        );
        let message = format!(
            "invocations of a workgroup wait here, others at another {}",
            first.op
        );
        let context = self.context;
        if let Some(live) = self.sanitizer_state() {
            live.report_divergence(context, lane as u32, second.site, message);
        }
    }

    /// Reports a barrier at which some invocations wait while others have ended.
    fn check_ended(&mut self, common: u32) {
        let count = self.count as usize;
        if self.live.is_null() || common == DONE {
            return;
        }
        let frames = self.frames();
        let waiting = (0..count).filter(|lane| frames.lane_state(*lane) == common);
        let (mut waiting, ended) = (waiting, frames.count_ended(count));
        let (first, ended) = (waiting.next(), ended);
        let site = self.suspension_point(common).site;
        let context = self.context;
        if let (Some(lane), true, Some(live)) = (first, ended > 0, self.sanitizer_state()) {
            let message = format!(
                "invocations wait while {ended} of the {count} of the workgroup have ended"
            );
            live.report_divergence(context, lane as u32, site, message);
        }
    }

    /// The point at which all invocations are that have not ended.
    fn common_state(&mut self) -> Result<u32, LaunchError> {
        let each = if self.gangs {
            self.kernel.gang_width
        } else {
            1
        };
        let count = self.count as usize / each;
        let frames = self.frames();
        let mut common = DONE;
        for lane in 0..count {
            let state = frames.lane_state(lane);
            if state == DONE || state == common {
                continue;
            }
            if common != DONE {
                self.report_different_points(common, state, lane);
                let describe = |state: u32| {
                    let point = &self.kernel.points[state as usize - 1];
                    format!("{} at {}", point.op, point.place)
                };
                return Err(LaunchError::BarrierDivergence {
                    kernel: self.kernel.name.clone(),
                    first: describe(common),
                    second: describe(state),
                });
            }
            common = state;
        }
        self.check_ended(common);
        Ok(common)
    }
}
