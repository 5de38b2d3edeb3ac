//! Running one workgroup: which invocations go on from which suspension point.
//!
//! Barriers of the workgroup release all invocations when all that have not ended are there.
//! Within a subgroup the lanes at the earliest point go first, as code is lowered with the bodies of
//! loops before what follows them: lanes that went different ways meet again where the ways meet.

use crate::bundle::LANES;
use crate::compile::Kernel;
use crate::context::{Context, DONE, START};
use crate::groups::{self, Frames};
use crate::memory;
use crate::run::RunError;
use crate::suspend::{Exchange, Group, Point};

/// Runs a workgroup of `count` invocations, one by one or in bundles.
///
/// # Safety
/// As [`Kernel::run`].
#[allow(unsafe_code)]
pub(crate) unsafe fn run_group(
    kernel: &Kernel,
    context: &Context,
    frames: &mut [u64],
    count: u32,
    bundles: bool,
) -> Result<(), RunError> {
    let mut group = Workgroup {
        kernel,
        context,
        frames,
        count,
        bundles,
        active: Vec::new(),
    };
    // SAFETY: the caller's promise.
    unsafe { group.run() }
}

struct Workgroup<'a> {
    kernel: &'a Kernel,
    context: &'a Context,
    frames: &'a mut [u64],
    count: u32,
    /// Whether the code for bundles runs; each has one state.
    bundles: bool,
    active: Vec<usize>,
}

#[allow(unsafe_code)]
impl Workgroup<'_> {
    unsafe fn run(&mut self) -> Result<(), RunError> {
        if self.kernel.points.is_empty() {
            // SAFETY: the caller's promise.
            unsafe { self.call(0, self.count, START) };
            return Ok(());
        }
        let subgroups = self
            .kernel
            .points
            .iter()
            .any(|p| p.group == Group::Subgroup);
        let mut resume = START;
        loop {
            // SAFETY: the caller's promise.
            let (least, greatest) = unsafe { self.call(0, self.count, resume) };
            let at = if subgroups {
                // SAFETY: the caller's promise.
                unsafe { self.run_subgroups() };
                self.common_state()?
            } else if least == greatest {
                least
            } else {
                self.common_state()?
            };
            if at == DONE {
                return Ok(());
            }
            let point = self.point(at);
            if point.exchange != Exchange::Barrier {
                let lanes = 0..self.count as usize;
                self.gather(lanes, at);
                // SAFETY: the caller's promise.
                unsafe { self.exchange(at, 0, self.count as usize) };
            }
            resume = at;
        }
    }

    /// Runs the invocations that are at a point; the least and greatest states that they reached.
    unsafe fn call(&mut self, lo: u32, hi: u32, resume: u32) -> (u32, u32) {
        // SAFETY: the caller's promise.
        let summary = unsafe {
            self.kernel
                .code
                .call(self.context, [lo, hi], resume, self.bundles)
        };
        (summary as u32, (summary >> 32) as u32)
    }

    fn point(&self, state: u32) -> &Point {
        &self.kernel.points[state as usize - 1]
    }

    fn frames(&mut self) -> Frames<'_> {
        Frames {
            words: self.frames,
            layout: self.kernel.layout(self.bundles),
        }
    }

    fn gather(&mut self, lanes: std::ops::Range<usize>, state: u32) {
        let mut active = std::mem::take(&mut self.active);
        let frames = self.frames();
        active.clear();
        active.extend(lanes.filter(|lane| frames.state(*lane) == state));
        self.active = active;
    }

    /// Runs every subgroup until its lanes wait for the workgroup or have ended.
    unsafe fn run_subgroups(&mut self) {
        let size = self.kernel.subgroup_size;
        for lo in (0..self.count).step_by(size as usize) {
            let hi = self.count.min(lo + size);
            loop {
                let kernel = self.kernel;
                let frames = self.frames();
                let waiting = (lo..hi)
                    .map(|lane| frames.state(lane as usize))
                    .filter(|s| *s != DONE)
                    .filter(|s| kernel.points[*s as usize - 1].group == Group::Subgroup);
                let Some(earliest) = waiting.min() else { break };
                self.gather(lo as usize..hi as usize, earliest);
                // SAFETY: the caller's promise.
                unsafe {
                    self.exchange(earliest, lo as usize, size as usize);
                    self.call(lo, hi, earliest);
                }
            }
        }
    }

    unsafe fn exchange(&mut self, state: u32, first: usize, size: usize) {
        let point = self.point(state).clone();
        let active = std::mem::take(&mut self.active);
        let mut frames = self.frames();
        if let (Exchange::AsyncCopy, Some(lane)) = (point.exchange, active.first()) {
            let [to, from, count, stride] = [0, 1, 2, 3].map(|n| frames.slot(*lane, n));
            let size = u64::from(point.components);
            let strided_source = point.operation == 1;
            let stride = stride.max(1);
            // SAFETY: the caller's promise.
            unsafe { memory::copy_elements(to, from, count, size, stride, strided_source) };
        }
        groups::exchange(&mut frames, &point, &active, first, size);
        self.active = active;
    }

    /// The point at which all invocations are that have not ended.
    fn common_state(&mut self) -> Result<u32, RunError> {
        let each = if self.bundles { LANES } else { 1 };
        let count = self.count as usize / each;
        let frames = self.frames();
        let mut common = DONE;
        for lane in 0..count {
            let state = frames.state(lane);
            if state == DONE || state == common {
                continue;
            }
            if common != DONE {
                let describe = |state: u32| {
                    let point = &self.kernel.points[state as usize - 1];
                    format!("{} at {}", point.op, point.place)
                };
                return Err(RunError::BarrierDivergence {
                    kernel: self.kernel.name.clone(),
                    first: describe(common),
                    second: describe(state),
                });
            }
            common = state;
        }
        Ok(common)
    }
}
