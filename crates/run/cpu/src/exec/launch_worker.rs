//! Launch worker: one thread of a launch with its workgroup memory and its invocations' frames.

use super::arguments::MarshalledArguments;
use super::jit_kernel::JitKernel;
use super::launch::LaunchError;
use super::launch_grid::LaunchGrid;
use super::privatised_memory::PrivatisedCopy;
use super::workgroup_scheduler;
use crate::host::launch_queue::LaunchQueue;
use crate::host::printf::PrintfRecorder;
use crate::layout::launch_context::LaunchContext;
use crate::memory::thread_memory::ThreadMemory;
use crate::sanitizer::argument_shadow::ArgumentShadow;
use crate::sanitizer::kernel_sanitizer::KernelSanitizer;
use crate::sanitizer::workgroup_state::WorkgroupState;

/// The state of a thread that runs workgroups.
pub(crate) struct LaunchWorker<'a> {
    kernel: &'a JitKernel,
    grid: &'a LaunchGrid,
    context: LaunchContext,
    /// Its own arguments, where they are not those of all threads.
    _own_arguments: Option<OwnArguments>,
    /// The copies of memory that it counts in.
    own: Vec<PrivatisedCopy>,
    workgroup: ThreadMemory,
    /// The private memory of the invocations.
    _private: ThreadMemory,
    frames: Vec<u64>,
    /// Runs of blocks, where they are counted.
    counters: Vec<u64>,
    /// The recorder, if the kernel prints.
    printer: Option<Box<PrintfRecorder>>,
    /// The sanitizer's state of the workgroup; null where nothing is checked.
    live: *mut WorkgroupState,
}

/// Arguments with pointers to a thread's workgroup memory and private copies; bindings likewise.
struct OwnArguments {
    args: Vec<u64>,
    bindings: Vec<[u64; 2]>,
}

impl<'a> LaunchWorker<'a> {
    /// The worker for one thread of a launch.
    pub fn new(
        kernel: &'a JitKernel,
        shared: &'a MarshalledArguments,
        grid: &'a LaunchGrid,
        queue: &'a LaunchQueue,
    ) -> Self {
        let bytes = shared.workgroup_bytes as usize;
        let workgroup = ThreadMemory::new_zeroed(bytes, shared.workgroup_align);
        let base = workgroup.first_byte();
        let private_bytes = kernel.private_bytes(grid.local);
        let private = ThreadMemory::new_zeroed(private_bytes, kernel.room_align as usize);
        let counted = shared.counted.iter().flatten();
        let own: Option<Vec<PrivatisedCopy>> =
            counted.map(|counted| counted.allocate_copy()).collect();
        // Where there is no memory for copies, the thread updates the shared memory.
        let is_privatised = shared.counted.is_some() && own.is_some();
        let mut own = own.unwrap_or_default();
        let own_arguments = (!shared.locals.is_empty() || !own.is_empty()).then(|| {
            let mut args = shared.args.to_vec();
            for (at, offset) in &shared.locals {
                args[*at] = base as u64 + offset;
            }
            let mut bindings = shared.bindings.to_vec();
            for own in &mut own {
                let word = |at: usize| kernel.slots[at].offset as usize / 8;
                own.redirect_arguments(word, &mut args, &mut bindings);
            }
            OwnArguments { args, bindings }
        });
        let (args, bindings) = match &own_arguments {
            Some(own) => (&own.args[..], &own.bindings[..]),
            None => (&shared.args[..], &shared.bindings[..]),
        };
        let mut frames = vec![0u64; kernel.frame_words(grid.local)];
        let mut counters = vec![0; kernel.counters.len()];
        let prints = (!kernel.prints.sites.is_empty()).then_some(&kernel.prints);
        let mut printer = prints.map(|prints| Box::new(PrintfRecorder::new(prints)));
        let recorder = printer.as_deref_mut();
        let context = LaunchContext {
            args: args.as_ptr().cast(),
            bindings: bindings.as_ptr(),
            push: shared.push.as_ptr().cast(),
            workgroup: base,
            workgroup_bytes: bytes as u64,
            private: [private.first_byte() as u64, private.size() as u64],
            workgroup_span: workgroup.guarded_range(),
            private_span: private.guarded_range(),
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
            non_temporal: shared.non_temporal.into(),
            privatised: is_privatised.into(),
            counters: counters.as_mut_ptr(),
            sanitizer: std::ptr::null_mut(),
            printer: recorder.map_or(std::ptr::null_mut(), |recorder| {
                std::ptr::from_mut(recorder).cast()
            }),
            queue: std::ptr::from_ref(queue).cast(),
        };
        LaunchWorker {
            kernel,
            grid,
            context,
            _own_arguments: own_arguments,
            own,
            workgroup,
            _private: private,
            frames,
            counters,
            printer,
            live: std::ptr::null_mut(),
        }
    }

    /// Address of the workgroup's memory.
    pub fn workgroup_memory(&self) -> u64 {
        self.context.workgroup as u64
    }

    /// The output of each workgroup.
    pub fn take_printed(&mut self) -> Vec<(u64, Vec<u8>)> {
        self.printer
            .as_mut()
            .map_or(Vec::new(), |printer| printer.take_output())
    }

    /// Number of runs of each block.
    pub fn counters(&self) -> &[u64] {
        &self.counters
    }

    /// The thread's copies of memory. No workgroup runs any more.
    pub fn take_copies(&mut self) -> Vec<PrivatisedCopy> {
        std::mem::take(&mut self.own)
    }

    /// Lets the sanitizer check its workgroups. The rows of workgroup memory have offsets instead of the addresses of
    /// cells. The sanitizer outlives the worker.
    pub fn enable_sanitizer(
        &mut self,
        checker: *mut KernelSanitizer,
        rows: Vec<ArgumentShadow>,
        phase: u64,
    ) {
        // An access beside a variable is reported where its pointer's origin is known.
        let Some(info) = &self.kernel.sanitizer else {
            return;
        };
        let bytes = self.workgroup.size().next_multiple_of(16);
        let group = (self.workgroup_memory(), bytes as u64);
        let live = WorkgroupState::new(checker, info, rows, phase, group);
        let live = Box::into_raw(live);
        self.live = live;
        self.context.sanitizer = live.cast();
    }

    /// Runs the workgroup with a number.
    ///
    /// # Safety
    /// As [`JitKernel::run_launch`].
    #[allow(unsafe_code)]
    pub unsafe fn run_workgroup(&mut self, ticket: u64) -> Result<(), LaunchError> {
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
        let whole = |n: u64| n.is_multiple_of(self.kernel.gang_width as u64);
        let gangs =
            self.kernel.code.has_entry(true) && whole(context.local[0]) && whole(context.base[0]);
        let layout = self.kernel.frame_layout(gangs);
        context.frames = self.frames.as_mut_ptr().wrapping_add(layout.bias).cast();
        context.frame_stride = layout.stride as u64 * 8;
        if self.kernel.zero_workgroup {
            self.workgroup.clear();
        }
        if let Some(printer) = &mut self.printer {
            printer.begin_workgroup(ticket);
        }
        // SAFETY: it is null, or was set by `enable_sanitizer` and is used by this thread alone.
        if let Some(live) = unsafe { self.live.as_mut() } {
            live.begin_group(group);
        }
        // SAFETY: the caller's promise; the context describes memory of this worker and the launch.
        unsafe {
            workgroup_scheduler::run_group(
                self.kernel,
                &self.context,
                &mut self.frames,
                count as u32,
                gangs,
            )
        }
    }
}

impl Drop for LaunchWorker<'_> {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        if !self.live.is_null() {
            // SAFETY: it comes from a box, and no generated code runs any more.
            drop(unsafe { Box::from_raw(self.live) });
        }
    }
}
