//! Commands that run kernels.

use crate::api::buffer_commands::read_call;
use crate::boundary::answer_code;
use crate::device::ClDevice;
use crate::error::{CallError, CallResult, require};
use crate::handle::find_object;
use crate::kernel::ClKernel;
use crate::queue::ClQueue;
use crate::scheduler::{CommandEnd, ScheduledWork};
use opencl_sys::*;
use spirula_runtime::{IndexSpace, KernelArgument, KernelLaunch, LaunchInputs};
use std::sync::Arc;

/// Most invocations of a workgroup that is suggested to callers.
const SUGGESTED_INVOCATIONS: u32 = 256;

/// Bytes after an argument in workgroup memory that kernels may read: 8 for each invocation of the largest workgroup.
const WORKGROUP_OVERREAD: u64 = 8192;

/// The sizes of a launch as the caller gives them.
pub struct RangeRequest {
    /// Number of dimensions.
    pub dimensions: cl_uint,
    /// First ids, or null.
    pub offset: *const usize,
    /// Invocations, or null for none.
    pub global: *const usize,
    /// Invocations of a workgroup, or null for a choice of the device.
    pub local: *const usize,
}

/// The numbers of a list, which are 0 where there is none, with a value for the dimensions that do not exist.
unsafe fn read_sizes(list: *const usize, dimensions: cl_uint, missing: u64) -> [u64; 3] {
    let mut sizes = [missing; 3];
    for (axis, size) in sizes.iter_mut().enumerate().take(dimensions as usize) {
        *size = if list.is_null() {
            0
        } else {
            *list.add(axis) as u64
        };
    }
    sizes
}

impl RangeRequest {
    /// The index space of a launch.
    ///
    /// # Errors
    /// When it does not fit the kernel or the device.
    ///
    /// # Safety
    /// The contract of the crate.
    pub unsafe fn resolve(&self, kernel: &ClKernel, device: &ClDevice) -> CallResult<IndexSpace> {
        let is_dimension = (1..=3).contains(&self.dimensions);
        let message = "a launch has one to three dimensions";
        require(is_dimension, CL_INVALID_WORK_DIMENSION, message)?;
        let global = read_sizes(self.global, self.dimensions, 1);
        let offset = read_sizes(self.offset, self.dimensions, 0);
        let overflows = global
            .iter()
            .zip(offset)
            .any(|(n, first)| n.checked_add(first).is_none());
        require(!overflows, CL_INVALID_GLOBAL_OFFSET, "ids are too large")?;
        let count = global.iter().try_fold(1_u64, |all, n| all.checked_mul(*n));
        let is_countable = count.is_some() || global.contains(&0);
        let message = "there are too many invocations";
        require(is_countable, CL_INVALID_GLOBAL_WORK_SIZE, message)?;
        Ok(IndexSpace::Items {
            dimensions: self.dimensions,
            global,
            local: self.resolve_local(kernel, device, global)?,
            offset,
        })
    }

    unsafe fn resolve_local(
        &self,
        kernel: &ClKernel,
        device: &ClDevice,
        global: [u64; 3],
    ) -> CallResult<Option<[u32; 3]>> {
        let demanded = kernel.interface.workgroup_size;
        let local = match (self.local.is_null(), demanded) {
            (true, None) => return Ok(None),
            (true, Some(demanded)) => demanded.map(u64::from),
            (false, _) => read_sizes(self.local, self.dimensions, 1),
        };
        let code = CL_INVALID_WORK_GROUP_SIZE;
        require(!local.contains(&0), code, "a workgroup is empty")?;
        let limits = &device.info.limits;
        let fits = local
            .iter()
            .zip(limits.workgroup_size)
            .all(|(n, most)| *n <= most.into());
        let message = "a workgroup is too large in a dimension";
        require(fits, CL_INVALID_WORK_ITEM_SIZE, message)?;
        let count = local.iter().product::<u64>();
        let most = u64::from(limits.workgroup_invocations);
        require(
            count <= most,
            code,
            format!("a workgroup has {most} invocations at most"),
        )?;
        let local = local.map(|n| n as u32);
        if let Some(wanted) = demanded {
            let message = format!("{} demands workgroups of {wanted:?}", kernel.name);
            require(local == wanted, code, message)?;
        }
        let is_whole = global
            .iter()
            .zip(local)
            .all(|(n, l)| n.is_multiple_of(l.into()));
        let message = "the workgroups do not divide the global size";
        let may_be_partial = limits.partial_groups && !kernel.has_uniform_groups(device);
        let is_fit = is_whole || may_be_partial;
        require(is_fit, code, message)?;
        Ok(Some(local))
    }
}

/// Lets kernels read after the end of their arguments in workgroup memory, as far as memory is left. Programs load an element
/// for each invocation of a workgroup that has more invocations than elements; devices whose workgroup memory is one block
/// allow that.
fn widen_workgroup_memory(arguments: &mut [KernelArgument], left: u64) {
    let is_local = |argument: &&KernelArgument| matches!(argument, KernelArgument::Local(_));
    let count = arguments.iter().filter(is_local).count() as u64;
    let tail = left.checked_div(count).unwrap_or(0);
    let tail = tail.min(WORKGROUP_OVERREAD) / 128 * 128;
    for argument in arguments {
        if let KernelArgument::Local(bytes) = argument {
            *bytes += tail;
        }
    }
}

/// The work of a launch.
///
/// # Errors
/// When arguments are missing, or the device cannot run the kernel.
fn prepare_launch(
    queue: &ClQueue,
    kernel: &Arc<ClKernel>,
    size: IndexSpace,
) -> CallResult<ScheduledWork> {
    let kernel = kernel.clone();
    let image = kernel.image_for(&queue.device)?;
    let values = kernel.take_arguments()?;
    let most = queue.device.info.limits.workgroup_memory;
    let used = kernel.workgroup_bytes();
    let is_fit = used <= most;
    let message = format!(
        "{} takes more than {most} bytes of workgroup memory",
        kernel.name
    );
    require(is_fit, CL_OUT_OF_RESOURCES, message)?;
    let compiled = image.compile_kernel(&queue.scheduler, &kernel.name)?;
    Ok(Arc::new(move |scheduler| {
        let mut arguments = Vec::with_capacity(values.len());
        for (parameter, value) in kernel.parameters.iter().zip(&values) {
            arguments.push(parameter.pass_value(value, scheduler)?);
        }
        if scheduler.allows_overread() {
            widen_workgroup_memory(&mut arguments, most - used);
        }
        let launch = KernelLaunch {
            kernel: compiled,
            size,
            inputs: LaunchInputs::Arguments(arguments),
        };
        let mut device = scheduler.lock_device();
        device.launch_kernel(&launch)?;
        if !scheduler.is_host() {
            return Ok(CommandEnd::Issued);
        }
        // The launch has ended. The sanitizer tells its faults now.
        device.wait_idle()?;
        Ok(CommandEnd::Complete)
    }))
}

/// The work of a launch of a kernel, with the arguments that it has now.
///
/// # Errors
/// When the sizes do not fit the kernel or the device, or an argument is missing.
///
/// # Safety
/// The contract of the crate.
pub unsafe fn plan_launch(
    queue: &ClQueue,
    kernel: cl_kernel,
    request: &RangeRequest,
) -> CallResult<ScheduledWork> {
    let kernel = find_object::<ClKernel>(kernel)?;
    let context = &kernel.program.context;
    queue.context.require_same(context, CL_INVALID_CONTEXT)?;
    let size = request.resolve(&kernel, &queue.device)?;
    prepare_launch(queue, &kernel, size)
}

unsafe fn enqueue_launch(
    queue: cl_command_queue,
    kernel: cl_kernel,
    request: &RangeRequest,
    kind: cl_command_type,
    waits: (cl_uint, *const cl_event),
    event: *mut cl_event,
) -> CallResult<()> {
    let queue = find_object::<ClQueue>(queue)?;
    let work = plan_launch(&queue, kernel, request)?;
    let call = read_call(&queue, kind, false, waits.0, waits.1, event)?;
    queue.enqueue(&call, work)
}

/// `clEnqueueNDRangeKernel`
pub unsafe extern "C" fn enqueue_nd_range_kernel(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueNDRangeKernel", || {
        let request = RangeRequest {
            dimensions,
            offset,
            global,
            local,
        };
        let waits = (wait_count, wait_list);
        enqueue_launch(
            queue,
            kernel,
            &request,
            CL_COMMAND_NDRANGE_KERNEL,
            waits,
            event,
        )
    })
}

/// `clEnqueueTask`
pub unsafe extern "C" fn enqueue_task(
    queue: cl_command_queue,
    kernel: cl_kernel,
    wait_count: cl_uint,
    wait_list: *const cl_event,
    event: *mut cl_event,
) -> cl_int {
    answer_code("clEnqueueTask", || {
        let one = 1_usize;
        let request = RangeRequest {
            dimensions: 1,
            offset: std::ptr::null(),
            global: &raw const one,
            local: &raw const one,
        };
        let waits = (wait_count, wait_list);
        enqueue_launch(queue, kernel, &request, CL_COMMAND_TASK, waits, event)
    })
}

/// `clGetKernelSuggestedLocalWorkSizeKHR`
pub unsafe extern "C" fn get_kernel_suggested_local_work_size(
    queue: cl_command_queue,
    kernel: cl_kernel,
    dimensions: cl_uint,
    offset: *const usize,
    global: *const usize,
    suggested: *mut usize,
) -> cl_int {
    answer_code("clGetKernelSuggestedLocalWorkSizeKHR", || {
        let queue = find_object::<ClQueue>(queue)?;
        let kernel = find_object::<ClKernel>(kernel)?;
        let is_asked = !global.is_null() && !suggested.is_null();
        require(
            is_asked,
            CL_INVALID_VALUE,
            "there is no global size, or no place",
        )?;
        let request = RangeRequest {
            dimensions,
            offset,
            global,
            local: std::ptr::null(),
        };
        let IndexSpace::Items { global, local, .. } = request.resolve(&kernel, &queue.device)?
        else {
            return Err(CallError::invalid_value("the launch has no invocations"));
        };
        let sizes = local.unwrap_or_else(|| {
            let limits = &queue.device.info.limits;
            limits.choose_workgroup_size(global, SUGGESTED_INVOCATIONS)
        });
        for (axis, size) in sizes.iter().enumerate().take(dimensions as usize) {
            suggested.add(axis).write(*size as usize);
        }
        Ok(())
    })
}
