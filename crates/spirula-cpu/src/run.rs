//! Launching kernels.

use crate::bundle::LANES;
use crate::compile::Kernel;
use crate::context::Context;
use crate::groups::FrameLayout;
use crate::lower::{Slot, SlotKind};
use crate::schedule;
use std::fmt;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Largest automatic workgroup.
const AUTOMATIC: u64 = 256;
/// Most invocations of a workgroup.
const MAX_INVOCATIONS: u64 = 1 << 16;
/// Most words of the frames of a workgroup's invocations.
const MAX_FRAME_WORDS: usize = 1 << 29;
/// Most bytes of a workgroup's memory.
const MAX_WORKGROUP: u64 = 1 << 30;

/// Memory that a kernel is given.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Its first byte.
    pub address: *mut u8,
    /// Its size in bytes.
    pub length: u64,
}

/// An argument of a `Kernel`.
#[derive(Clone, Copy, Debug)]
pub enum Argument<'a> {
    /// A pointer to memory.
    Memory(Memory),
    /// A value: its bytes.
    Bytes(&'a [u8]),
    /// Workgroup memory of so many bytes.
    Local(u64),
}

/// Memory bound to a descriptor of a `GLCompute` shader.
#[derive(Clone, Copy, Debug)]
pub struct Bound {
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// Element, where the binding is an array of descriptors.
    pub index: u32,
    /// The memory.
    pub memory: Memory,
}

/// How many invocations run.
#[derive(Clone, Copy, Debug)]
pub enum Size {
    /// So many workgroups of the size that the module fixes.
    Groups([u32; 3]),
    /// So many invocations.
    Items {
        /// Invocations in each dimension.
        global: [u64; 3],
        /// Invocations of a workgroup; chosen where there is none. Need not divide `global`.
        local: Option<[u32; 3]>,
        /// Global id of the first invocation.
        offset: [u64; 3],
        /// Number of dimensions, 1 to 3.
        dimensions: u32,
    },
}

/// One launch of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Launch<'a> {
    /// How many invocations run.
    pub size: Size,
    /// Arguments of a `Kernel`, in order.
    pub arguments: &'a [Argument<'a>],
    /// Buffers of a shader.
    pub bindings: &'a [Bound],
    /// Push constants of a shader.
    pub push: &'a [u8],
    /// Threads that run workgroups; 0 for as many as the thread pool has.
    pub threads: usize,
}

/// Why a launch failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// Invocations of one workgroup wait at different barriers.
    BarrierDivergence {
        /// The kernel.
        kernel: String,
        /// Instruction and place of one barrier.
        first: String,
        /// Those of another.
        second: String,
    },
    /// The launch does not fit the kernel; a sentence without a full stop.
    Launch(String),
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            RunError::BarrierDivergence {
                kernel,
                first,
                second,
            } => write!(
                f,
                "barrier divergence in {kernel}: some invocations of a workgroup wait at {first}, others at {second}"
            ),
            RunError::Launch(message) => f.write_str(message),
        }
    }
}

impl std::error::Error for RunError {}

/// The shape of a launch.
struct Grid {
    groups: [u64; 3],
    local: [u64; 3],
    global: [u64; 3],
    offset: [u64; 3],
    dimensions: u32,
}

/// What all workgroups of a launch share.
struct Shared {
    args: Vec<u64>,
    /// Offsets in `args` of pointers to workgroup memory, and where they point to there.
    locals: Vec<(usize, u64)>,
    bindings: Vec<[u64; 2]>,
    /// Keeps the tables of arrays of bindings alive.
    _tables: Vec<Vec<[u64; 2]>>,
    push: Vec<u64>,
    workgroup_bytes: u64,
}

impl Kernel {
    /// Runs a launch to its end. Workgroups start in order, so that one may wait for those before
    /// it.
    ///
    /// # Errors
    /// When the launch does not fit the kernel, or invocations of a workgroup wait at different
    /// barriers.
    ///
    /// # Safety
    /// The memory of the arguments and bindings is valid for reads and writes during the call, and
    /// nothing else uses it meanwhile; the kernel stays within the memory that it is given.
    #[allow(unsafe_code)]
    pub unsafe fn run(&self, launch: &Launch<'_>) -> Result<(), RunError> {
        let grid = self.grid(&launch.size)?;
        let shared = self.shared(launch)?;
        let total = checked_product(grid.groups)
            .ok_or_else(|| RunError::Launch("the launch has too many workgroups".to_owned()))?;
        let threads = match launch.threads {
            0 => rayon::current_num_threads(),
            n => n,
        };
        let threads = threads.min(usize::try_from(total).unwrap_or(usize::MAX));
        let tickets = AtomicU64::new(0);
        let stop = AtomicBool::new(false);
        let failure = Mutex::new(None);
        let work = || {
            let mut worker = Worker::new(self, &shared, &grid);
            while !stop.load(Ordering::Relaxed) {
                let ticket = tickets.fetch_add(1, Ordering::Relaxed);
                if ticket >= total {
                    break;
                }
                // SAFETY: the caller's promise.
                if let Err(error) = unsafe { worker.run(ticket) } {
                    stop.store(true, Ordering::Relaxed);
                    if let Ok(mut slot) = failure.lock() {
                        slot.get_or_insert(error);
                    }
                }
            }
            self.counters.add(&worker.counters);
        };
        if threads <= 1 {
            work();
        } else {
            rayon::scope(|scope| {
                for _ in 0..threads {
                    scope.spawn(|_| work());
                }
            });
        }
        match failure.into_inner() {
            Ok(Some(error)) => Err(error),
            _ => Ok(()),
        }
    }

    fn grid(&self, size: &Size) -> Result<Grid, RunError> {
        let grid = match *size {
            Size::Groups(groups) => {
                let local = self.local_size.unwrap_or([1; 3]).map(u64::from);
                let groups = groups.map(u64::from);
                let global = [0, 1, 2].map(|n| groups[n].saturating_mul(local[n]));
                Grid {
                    groups,
                    local,
                    global,
                    offset: [0; 3],
                    dimensions: 3,
                }
            }
            Size::Items {
                global,
                local,
                offset,
                dimensions,
            } => {
                let chosen = local.or(self.local_size);
                let local = chosen.map_or_else(|| automatic(global), |l| l.map(u64::from));
                if local.contains(&0) {
                    return Err(RunError::Launch("a workgroup is empty".to_owned()));
                }
                Grid {
                    groups: [0, 1, 2].map(|n| global[n].div_ceil(local[n])),
                    local,
                    global,
                    offset,
                    dimensions,
                }
            }
        };
        self.check_grid(&grid)?;
        Ok(grid)
    }

    /// Words of the frames of a workgroup. Invocations that are never suspended share one.
    fn frame_words(&self, local: [u64; 3]) -> usize {
        if self.points.is_empty() {
            return self.frame.stride.max(self.bundle_frame.stride);
        }
        let count = local.iter().product::<u64>() as usize;
        let bundles = self.bundle_frame.stride * count.div_ceil(LANES);
        (self.frame.stride * count).max(bundles)
    }

    /// The layout of frames.
    pub(crate) fn layout(&self, bundles: bool) -> FrameLayout {
        if bundles {
            self.bundle_frame
        } else {
            self.frame
        }
    }

    fn check_grid(&self, grid: &Grid) -> Result<(), RunError> {
        let bad = |message: String| Err(RunError::Launch(message));
        if checked_product(grid.local).is_none_or(|n| n > MAX_INVOCATIONS) {
            return bad(format!(
                "a workgroup has more than {MAX_INVOCATIONS} invocations"
            ));
        }
        if !self.code.has(false) && !grid.offset[0].is_multiple_of(LANES as u64) {
            return bad(format!(
                "an offset of {} is no multiple of {LANES}",
                grid.offset[0]
            ));
        }
        let words = self.frame_words(grid.local);
        if words > MAX_FRAME_WORDS {
            return bad(format!(
                "the invocations of a workgroup of {} need {} bytes of memory",
                self.name,
                words * 8
            ));
        }
        let Some(fixed) = self.local_size else {
            return Ok(());
        };
        let fixed = fixed.map(u64::from);
        if grid.local != fixed {
            return bad(format!(
                "{} demands workgroups of {fixed:?}, not {:?}",
                self.name, grid.local
            ));
        }
        if (0..3).any(|n| !grid.global[n].is_multiple_of(fixed[n].max(1))) {
            return bad(format!(
                "the global size {:?} is no multiple of the workgroup size {fixed:?} that {} demands",
                grid.global, self.name
            ));
        }
        Ok(())
    }

    fn shared(&self, launch: &Launch<'_>) -> Result<Shared, RunError> {
        let mut shared = Shared {
            args: Vec::new(),
            locals: Vec::new(),
            bindings: Vec::new(),
            _tables: Vec::new(),
            push: words_of(launch.push, self.push_bytes),
            workgroup_bytes: self.workgroup_bytes.into(),
        };
        self.place_arguments(launch, &mut shared)?;
        self.place_bindings(launch, &mut shared)?;
        if shared.workgroup_bytes > MAX_WORKGROUP {
            let bytes = shared.workgroup_bytes;
            let message = format!("{bytes} bytes of workgroup memory are too many");
            return Err(RunError::Launch(message));
        }
        Ok(shared)
    }

    fn place_arguments(&self, launch: &Launch<'_>, shared: &mut Shared) -> Result<(), RunError> {
        if launch.arguments.len() != self.slots.len() {
            return Err(RunError::Launch(format!(
                "{} takes {} arguments, {} are given",
                self.name,
                self.slots.len(),
                launch.arguments.len()
            )));
        }
        let bytes = self
            .slots
            .last()
            .map_or(0, |s| u64::from(s.offset) + s.bytes);
        let mut block = vec![0u8; (bytes as usize).next_multiple_of(16)];
        for (n, (slot, argument)) in self.slots.iter().zip(launch.arguments).enumerate() {
            let at = slot.offset as usize;
            match argument_bytes(slot, argument) {
                Some(Passed::Bytes(bytes)) => block[at..at + bytes.len()].copy_from_slice(bytes),
                Some(Passed::Address(address)) => {
                    block[at..at + 8].copy_from_slice(&address.to_le_bytes());
                }
                Some(Passed::Local(bytes)) => {
                    let offset = shared.workgroup_bytes.next_multiple_of(128);
                    shared.locals.push((at / 8, offset));
                    shared.workgroup_bytes = offset.saturating_add(bytes);
                }
                None => {
                    let message = format!("argument {n} of {} is of another kind", self.name);
                    return Err(RunError::Launch(message));
                }
            }
        }
        shared.args = words_of(&block, 0);
        Ok(())
    }

    fn place_bindings(&self, launch: &Launch<'_>, shared: &mut Shared) -> Result<(), RunError> {
        for slot in &self.bindings {
            let bound = |index: u32| {
                let mut all = launch.bindings.iter();
                all.find(|b| (b.set, b.binding, b.index) == (slot.set, slot.binding, index))
            };
            let entry = |b: &Bound| [b.memory.address as u64, b.memory.length];
            let Some(count) = slot.count else {
                let Some(found) = bound(0) else {
                    return Err(unbound(slot.set, slot.binding, 0));
                };
                shared.bindings.push(entry(found));
                continue;
            };
            let same = |b: &&Bound| (b.set, b.binding) == (slot.set, slot.binding);
            let given = launch
                .bindings
                .iter()
                .filter(same)
                .map(|b| b.index + 1)
                .max();
            let count = if count == 0 {
                given.unwrap_or(0)
            } else {
                count.min(given.unwrap_or(0).max(1))
            };
            let table: Vec<[u64; 2]> = (0..count).map(|n| bound(n).map_or([0; 2], entry)).collect();
            shared.bindings.push([table.as_ptr() as u64, count.into()]);
            shared._tables.push(table);
        }
        Ok(())
    }
}

fn unbound(set: u32, binding: u32, index: u32) -> RunError {
    RunError::Launch(format!(
        "no memory is bound to set {set} binding {binding} element {index}"
    ))
}

enum Passed<'a> {
    Bytes(&'a [u8]),
    Address(u64),
    Local(u64),
}

fn argument_bytes<'a>(slot: &Slot, argument: &Argument<'a>) -> Option<Passed<'a>> {
    match (slot.kind, argument) {
        (SlotKind::ByValue | SlotKind::Copy, Argument::Bytes(bytes))
            if bytes.len() as u64 <= slot.bytes =>
        {
            Some(Passed::Bytes(bytes))
        }
        (SlotKind::Buffer, Argument::Memory(memory)) => {
            Some(Passed::Address(memory.address as u64))
        }
        (SlotKind::Buffer, Argument::Bytes(bytes)) if bytes.len() == 8 => {
            Some(Passed::Bytes(bytes))
        }
        (SlotKind::Local, Argument::Local(bytes)) => Some(Passed::Local(*bytes)),
        _ => None,
    }
}

/// Bytes in words, with zeros up to a size.
fn words_of(bytes: &[u8], least: u64) -> Vec<u64> {
    let mut words: Vec<u64> = bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect();
    let least = (least as usize).div_ceil(8).max(1);
    if words.len() < least {
        words.resize(least, 0);
    }
    words
}

fn checked_product(size: [u64; 3]) -> Option<u64> {
    size[0].checked_mul(size[1])?.checked_mul(size[2])
}

/// A workgroup size that divides the global size.
fn automatic(global: [u64; 3]) -> [u64; 3] {
    let mut room = AUTOMATIC;
    global.map(|n| {
        let divisor = (1..=room.min(n.max(1))).rev().find(|d| n % d == 0);
        let divisor = divisor.unwrap_or(1);
        room /= divisor;
        divisor
    })
}

/// What one thread needs to run workgroups.
struct Worker<'a> {
    kernel: &'a Kernel,
    grid: &'a Grid,
    context: Context,
    /// Arguments with pointers to this thread's workgroup memory.
    _args: Vec<u64>,
    workgroup: Vec<u128>,
    frames: Vec<u64>,
    /// Runs of blocks, where they are counted.
    counters: Vec<u64>,
}

impl<'a> Worker<'a> {
    fn new(kernel: &'a Kernel, shared: &Shared, grid: &'a Grid) -> Self {
        let bytes = shared.workgroup_bytes as usize;
        let mut workgroup = vec![0u128; bytes.div_ceil(16) + 8];
        let base = workgroup.as_mut_ptr();
        // Aligned for vectors of 16 doubles.
        let skip = base.align_offset(128);
        let base = base.wrapping_add(skip).cast::<u8>();
        let mut args = shared.args.clone();
        for (at, offset) in &shared.locals {
            args[*at] = base as u64 + offset;
        }
        let mut frames = vec![0u64; kernel.frame_words(grid.local)];
        let mut counters = vec![0; kernel.counters.len()];
        let context = Context {
            args: args.as_ptr().cast(),
            bindings: shared.bindings.as_ptr(),
            push: shared.push.as_ptr().cast(),
            workgroup: base,
            frames: frames.as_mut_ptr().cast(),
            frame_stride: 0,
            group: [0; 3],
            groups: grid.groups,
            base: [0; 3],
            local: grid.local,
            enqueued: grid.local,
            global: grid.global,
            offset: grid.offset,
            dimensions: grid.dimensions.into(),
            counters: counters.as_mut_ptr(),
        };
        Worker {
            kernel,
            grid,
            context,
            _args: args,
            workgroup,
            frames,
            counters,
        }
    }

    /// Runs the workgroup with a number.
    ///
    /// # Safety
    /// As [`Kernel::run`].
    #[allow(unsafe_code)]
    unsafe fn run(&mut self, ticket: u64) -> Result<(), RunError> {
        let grid = self.grid;
        let [x, y, _] = grid.groups;
        let group = [ticket % x, ticket / x % y, ticket / x / y];
        let context = &mut self.context;
        let mut count = 1u64;
        context.group = group;
        for (n, number) in group.into_iter().enumerate() {
            let first = number * grid.local[n];
            context.base[n] = first + grid.offset[n];
            context.local[n] = grid.local[n].min(grid.global[n] - first);
            count *= context.local[n];
        }
        let whole = |n: u64| n.is_multiple_of(LANES as u64);
        let bundles =
            self.kernel.code.has(true) && whole(context.local[0]) && whole(context.base[0]);
        let layout = self.kernel.layout(bundles);
        context.frames = self.frames.as_mut_ptr().wrapping_add(layout.bias).cast();
        context.frame_stride = layout.stride as u64 * 8;
        if self.kernel.zero_workgroup {
            self.workgroup.fill(0);
        }
        // SAFETY: the caller's promise; the context describes memory of this worker and the launch.
        unsafe {
            schedule::run_group(
                self.kernel,
                &self.context,
                &mut self.frames,
                count as u32,
                bundles,
            )
        }
    }
}
