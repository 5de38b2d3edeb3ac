//! The driver of OpenCL devices: the implementation of [`DeviceDriver`].

use super::error::{OpenClCallResult, call_error};
use super::owned_objects::OpenClObject;
use super::platform::OpenClDevice;
use super::program;
use crate::driver::{
    BufferCopy, DeviceDriver, DeviceInfo, DeviceOptions, KernelSource, ReachedMemory,
    refuse_unsupported,
};
use crate::profile::LaunchTime;
use crate::{
    BufferHandle, DeviceError, IndexSpace, KernelArgument, KernelHandle, KernelLaunch,
    LaunchInputs, ResourceHandle,
};
use cl3::types::{CL_BLOCKING, cl_int, cl_uint};
use cl3::{command_queue as queue, context, event, kernel, memory};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_spirv::grammar::enumerants::ExecutionModel;
use std::ffi::{CString, c_void};
use std::sync::Arc;
use std::time::Duration;

/// Bytes of the pattern that fills buffers; their sizes are rounded up to it.
const PATTERN: u64 = 16;

/// Most launches whose outcome is not yet known.
const MOST_PENDING: usize = 256;

/// The driver of an OpenCL device.
pub struct OpenClDriver {
    buffers: Vec<Option<OpenClObject>>,
    kernels: Vec<OpenClKernel>,
    /// The program that was built last, with its words, since modules often have several kernels.
    last: Option<(Vec<u32>, Arc<OpenClObject>)>,
    pending: Vec<(KernelHandle, OpenClObject)>,
    times: Option<Vec<LaunchTime>>,
    queue: OpenClObject,
    context: OpenClObject,
    device: OpenClDevice,
}

// SAFETY: the handles of device and platform are alive as long as the process and may be used by any
// thread; the other objects can be sent.
unsafe impl Send for OpenClDriver {}

struct OpenClKernel {
    name: String,
    raw: OpenClObject,
    workgroup_size: Option<[u32; 3]>,
    _program: Arc<OpenClObject>,
}

/// All OpenCL devices; none where OpenCL is not installed.
pub fn list_devices() -> Vec<DeviceInfo> {
    let all = OpenClDevice::enumerate_devices().unwrap_or_default();
    all.into_iter().map(|device| device.info).collect()
}

/// Finds a device by name without opening it.
pub fn find_device_info(name: &str) -> Result<DeviceInfo, DeviceError> {
    Ok(OpenClDevice::find_named(name)?.info)
}

impl OpenClDriver {
    /// Opens a device by name: `opencl`, `opencl:` with a number or a part of its name.
    ///
    /// # Errors
    /// When OpenCL or the device is missing, the device takes no SPIR-V, or it cannot be opened.
    pub fn open(name: &str, options: &DeviceOptions) -> Result<Self, DeviceError> {
        let device = OpenClDevice::find_named(name)?;
        device.takes_modules()?;
        let made =
            context::create_context(&[device.raw], std::ptr::null(), None, std::ptr::null_mut());
        let context = OpenClObject::new(
            made.check_call("clCreateContext")?,
            context::release_context,
        );
        let flags = if options.times {
            queue::CL_QUEUE_PROFILING_ENABLE
        } else {
            0
        };
        #[expect(deprecated, reason = "devices of OpenCL 1.2 lack the newer call")]
        // SAFETY: the device is that of the context. OpenCL 1.2 has this call, and so have all after.
        let made = unsafe { queue::create_command_queue(context.raw(), device.raw, flags) };
        let queue = OpenClObject::new(
            made.check_call("clCreateCommandQueue")?,
            queue::release_command_queue,
        );
        Ok(OpenClDriver {
            buffers: Vec::new(),
            kernels: Vec::new(),
            last: None,
            pending: Vec::new(),
            times: options.times.then(Vec::new),
            queue,
            context,
            device,
        })
    }

    fn find_buffer(&self, resource: ResourceHandle) -> Result<&OpenClObject, DeviceError> {
        let found = self.buffers.get(resource.index()).and_then(Option::as_ref);
        found.ok_or(DeviceError::Handle("a buffer"))
    }

    fn find_or_build_program(&mut self, words: Vec<u32>) -> Result<Arc<OpenClObject>, DeviceError> {
        if let Some((_, program)) = self.last.as_ref().filter(|(known, _)| *known == words) {
            return Ok(Arc::clone(program));
        }
        let program = Arc::new(program::build_program(&self.device, &self.context, &words)?);
        self.last = Some((words, Arc::clone(&program)));
        Ok(program)
    }

    fn set_arguments(
        &self,
        compiled: &OpenClKernel,
        arguments: &[KernelArgument],
    ) -> Result<(), DeviceError> {
        for (number, argument) in arguments.iter().enumerate() {
            let number = number as cl_uint;
            let object;
            let (size, value): (usize, *const c_void) = match argument {
                KernelArgument::Resource(resource) => {
                    object = self.find_buffer(*resource)?.raw();
                    (size_of_val(&object), (&raw const object).cast())
                }
                KernelArgument::Bytes(bytes) => (bytes.len(), bytes.as_ptr().cast()),
                KernelArgument::Local(bytes) => (*bytes as usize, std::ptr::null()),
                KernelArgument::Part { buffer, offset: 0 } => {
                    object = self.find_buffer((*buffer).into())?.raw();
                    (size_of_val(&object), (&raw const object).cast())
                }
                KernelArgument::Null => {
                    object = std::ptr::null_mut();
                    (size_of_val(&object), (&raw const object).cast())
                }
                KernelArgument::Part { .. } | KernelArgument::Address(_) => {
                    let what = "pointers other than to buffers".to_owned();
                    return refuse_unsupported(&self.device.info.id, what);
                }
            };
            // SAFETY: the value is as long as is said, and was checked against the parameter.
            let set = unsafe { kernel::set_kernel_arg(compiled.raw.raw(), number, size, value) };
            set.map_err(|code| name_kernel(&compiled.name, call_error("clSetKernelArg", code)))?;
        }
        Ok(())
    }

    fn enqueue_kernel(
        &self,
        compiled: &OpenClKernel,
        size: &IndexSpace,
    ) -> Result<OpenClObject, DeviceError> {
        let wide = |sizes: [u64; 3]| sizes.map(|n| n as usize);
        let (dimensions, global, local, offset) = match *size {
            IndexSpace::Groups(groups) => {
                let local = compiled.workgroup_size.unwrap_or([1; 3]);
                let global = [0, 1, 2].map(|axis| u64::from(groups[axis]) * u64::from(local[axis]));
                (3, global, Some(local), [0; 3])
            }
            IndexSpace::Items {
                dimensions,
                global,
                local,
                offset,
            } => (
                dimensions,
                global,
                local.or(compiled.workgroup_size),
                offset,
            ),
        };
        let (global, offset) = (wide(global), wide(offset));
        let local = local.map(|l| l.map(|n| n as usize));
        let local = local.as_ref().map_or(std::ptr::null(), |l| l.as_ptr());
        let (queue, kernel) = (self.queue.raw(), compiled.raw.raw());
        // SAFETY: the sizes have three dimensions, of which as many are used as is said; arguments
        // were set; there are no events to wait for.
        let event = unsafe {
            queue::enqueue_nd_range_kernel(
                queue,
                kernel,
                dimensions,
                offset.as_ptr(),
                global.as_ptr(),
                local,
                0,
                std::ptr::null(),
            )
        };
        let event = event.map_err(|code| {
            name_kernel(&compiled.name, call_error("clEnqueueNDRangeKernel", code))
        })?;
        Ok(OpenClObject::new(event, event::release_event))
    }

    /// Releases an event that nobody waits for.
    fn drop_event(call: &str, event: Result<*mut c_void, cl_int>) -> Result<(), DeviceError> {
        drop(OpenClObject::new(
            event.check_call(call)?,
            event::release_event,
        ));
        Ok(())
    }

    /// Collects the outcomes and times of launches that are done.
    fn collect_launches(&mut self) -> Result<(), DeviceError> {
        let mut first = Ok(());
        let mut timed = Vec::new();
        for (kernel, event) in std::mem::take(&mut self.pending) {
            let status =
                event::get_event_info(event.raw(), event::CL_EVENT_COMMAND_EXECUTION_STATUS);
            let status = status.map_or_else(|code| code, cl_int::from);
            if status < 0 {
                let name = &self.kernels[kernel.index()].name;
                first = first.and(Err(name_kernel(name, call_error("the launch", status))));
            }
            if self.times.is_some() {
                let at = |what| {
                    let time = event::get_event_profiling_info(event.raw(), what);
                    time.map_or(0, u64::from)
                };
                let start = at(event::CL_PROFILING_COMMAND_START);
                let end = at(event::CL_PROFILING_COMMAND_END);
                let run = end.saturating_sub(start);
                timed.push((kernel, [start, run].map(Duration::from_nanos)));
            }
        }
        if let Some(times) = &mut self.times {
            times.extend(LaunchTime::align_all(&timed));
        }
        first
    }
}

/// An error with the kernel that it came from.
fn name_kernel(kernel: &str, error: DeviceError) -> DeviceError {
    match error {
        DeviceError::Failed(text) => DeviceError::Failed(format!("{text}, while running {kernel}")),
        other => other,
    }
}

impl DeviceDriver for OpenClDriver {
    fn info(&self) -> &DeviceInfo {
        &self.device.info
    }

    fn create_buffer(&mut self, _: BufferHandle, size: u64) -> Result<(), DeviceError> {
        let padded = size.max(1).next_multiple_of(PATTERN);
        let flags = memory::CL_MEM_READ_WRITE;
        let context = self.context.raw();
        // SAFETY: the flags take no pointer to the host's memory.
        let made =
            unsafe { memory::create_buffer(context, flags, padded as usize, std::ptr::null_mut()) };
        let full = |_| DeviceError::Memory {
            size,
            limit: self.device.info.limits.buffer_size,
        };
        let buffer = OpenClObject::new(made.map_err(full)?, memory::release_mem_object);
        let zeros = [0_u8; PATTERN as usize];
        // SAFETY: the pattern is read before the call returns; the size is a multiple of its length
        // and that of the buffer.
        let filled = unsafe {
            queue::enqueue_fill_buffer(
                self.queue.raw(),
                buffer.raw(),
                zeros.as_ptr().cast(),
                zeros.len(),
                0,
                padded as usize,
                0,
                std::ptr::null(),
            )
        };
        // Drivers take the memory when it is first used.
        Self::drop_event("clEnqueueFillBuffer", filled).map_err(|e| match e {
            DeviceError::Failed(text) if text.contains("no memory left") => full(0),
            other => other,
        })?;
        self.buffers.push(Some(buffer));
        Ok(())
    }

    /// Commands that were enqueued keep the buffer.
    fn destroy_resource(&mut self, resource: ResourceHandle) {
        if let Some(slot) = self.buffers.get_mut(resource.index()) {
            *slot = None;
        }
    }

    fn write_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        data: &[u8],
    ) -> Result<(), DeviceError> {
        if data.is_empty() {
            return Ok(());
        }
        let buffer = self.find_buffer(resource)?.raw();
        // SAFETY: the call returns when the data was read; the range is within the buffer.
        let written = unsafe {
            queue::enqueue_write_buffer(
                self.queue.raw(),
                buffer,
                CL_BLOCKING,
                offset as usize,
                data.len(),
                data.as_ptr().cast_mut().cast(),
                0,
                std::ptr::null(),
            )
        };
        Self::drop_event("clEnqueueWriteBuffer", written)
    }

    fn read_resource(
        &mut self,
        resource: ResourceHandle,
        offset: u64,
        out: &mut [u8],
    ) -> Result<(), DeviceError> {
        if out.is_empty() {
            return Ok(());
        }
        let buffer = self.find_buffer(resource)?.raw();
        // SAFETY: the call returns when all was written; the range is within the buffer.
        let read = unsafe {
            queue::enqueue_read_buffer(
                self.queue.raw(),
                buffer,
                CL_BLOCKING,
                offset as usize,
                out.len(),
                out.as_mut_ptr().cast(),
                0,
                std::ptr::null(),
            )
        };
        // The queue is in order: what was enqueued before has ended.
        let ended = self.collect_launches();
        Self::drop_event("clEnqueueReadBuffer", read).and(ended)
    }

    fn copy_buffer(&mut self, copy: &BufferCopy) -> Result<(), DeviceError> {
        let [from, to] = [copy.from, copy.to].map(|buffer| self.find_buffer(buffer.into()));
        // SAFETY: the ranges are within the buffers and do not overlap.
        let copied = unsafe {
            queue::enqueue_copy_buffer(
                self.queue.raw(),
                from?.raw(),
                to?.raw(),
                copy.from_offset as usize,
                copy.to_offset as usize,
                copy.size as usize,
                0,
                std::ptr::null(),
            )
        };
        Self::drop_event("clEnqueueCopyBuffer", copied)
    }

    fn buffer_address(&mut self, _: BufferHandle) -> Result<u64, DeviceError> {
        let text = format!("{} has no buffer addresses", self.device.info.id);
        Err(DeviceError::Unsupported(vec![SourceDiagnostic::error(
            SourceLocation::Unknown,
            text,
        )]))
    }

    fn create_kernel(
        &mut self,
        _: KernelHandle,
        source: KernelSource<'_>,
    ) -> Result<(), DeviceError> {
        let KernelSource {
            module,
            interface,
            spec,
            ..
        } = source;
        if interface.model != ExecutionModel::Kernel {
            let (name, model, id) = (&interface.name, interface.model, &self.device.info.id);
            let text = format!("{name} is a {model} shader: {id} runs kernels only");
            return Err(DeviceError::Unsupported(vec![SourceDiagnostic::error(
                SourceLocation::Unknown,
                text,
            )]));
        }
        let program =
            self.find_or_build_program(program::prepare_words(&self.device, module, spec)?)?;
        let name = CString::new(interface.name.as_str()).map_err(|_| {
            DeviceError::Failed("the entry point's name has a zero in it".to_owned())
        })?;
        let made = kernel::create_kernel(program.raw(), &name).check_call("clCreateKernel")?;
        self.kernels.push(OpenClKernel {
            name: interface.name.clone(),
            raw: OpenClObject::new(made, kernel::release_kernel),
            workgroup_size: interface.workgroup_size,
            _program: program,
        });
        Ok(())
    }

    fn launch_kernel(
        &mut self,
        launch: &KernelLaunch,
        _: ReachedMemory<'_>,
    ) -> Result<(), DeviceError> {
        let compiled = self.kernels.get(launch.kernel.index());
        let compiled = compiled.ok_or(DeviceError::Handle("a kernel"))?;
        let arguments: &[KernelArgument] = match &launch.inputs {
            LaunchInputs::Arguments(arguments) => arguments,
            LaunchInputs::Resources { .. } => &[],
        };
        self.set_arguments(compiled, arguments)?;
        let event = self.enqueue_kernel(compiled, &launch.size)?;
        self.pending.push((launch.kernel, event));
        if self.pending.len() >= MOST_PENDING {
            self.wait_idle()
        } else {
            queue::flush(self.queue.raw()).check_call("clFlush")
        }
    }

    fn wait_idle(&mut self) -> Result<(), DeviceError> {
        let finished = queue::finish(self.queue.raw()).check_call("clFinish");
        self.collect_launches().and(finished)
    }

    fn take_times(&mut self) -> Vec<LaunchTime> {
        self.times.as_mut().map(std::mem::take).unwrap_or_default()
    }
}
