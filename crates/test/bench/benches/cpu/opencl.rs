//! The same kernels through an OpenCL driver (PoCL, where it is installed).

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_CPU, Device, get_all_devices};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::ptr;

/// A CPU device of an OpenCL driver with the benchmark's program built.
pub struct OpenCl {
    /// Name of the driver and its version.
    pub name: String,
    queue: CommandQueue,
    context: Context,
    program: Program,
}

impl OpenCl {
    /// The first CPU device; `None` if there is no driver.
    pub fn open(source: &str) -> Option<OpenCl> {
        let id = *get_all_devices(CL_DEVICE_TYPE_CPU).ok()?.first()?;
        let device = Device::new(id);
        let context = Context::from_device(&device).ok()?;
        let queue = CommandQueue::create_default_with_properties(&context, 0, 0).ok()?;
        let program = Program::create_and_build_from_source(
            &context,
            source,
            "-cl-fp32-correctly-rounded-divide-sqrt",
        )
        .ok()?;
        let name = format!("PoCL ({})", device.driver_version().unwrap_or_default());
        Some(OpenCl {
            name,
            queue,
            context,
            program,
        })
    }

    /// A buffer with the given contents.
    pub fn buffer(&self, bytes: &[u8]) -> Buffer<u8> {
        // SAFETY: no host pointer is passed; the write below is blocking.
        unsafe {
            let mut buffer = Buffer::create(
                &self.context,
                CL_MEM_READ_WRITE,
                bytes.len(),
                ptr::null_mut(),
            )
            .expect("the driver has memory for the benchmark");
            self.queue
                .enqueue_write_buffer(&mut buffer, CL_BLOCKING, 0, bytes, &[])
                .expect("a buffer can be written");
            buffer
        }
    }

    /// A kernel of the program.
    pub fn kernel(&self, name: &str) -> Kernel {
        Kernel::create(&self.program, name).expect("the program has the kernel")
    }

    /// Runs a kernel with buffers followed by 32-bit scalars, and waits for its end.
    pub fn run(
        &self,
        kernel: &Kernel,
        buffers: &[Buffer<u8>],
        scalars: &[[u8; 4]],
        global: [usize; 2],
        local: [usize; 2],
    ) {
        let mut launch = ExecuteKernel::new(kernel);
        // SAFETY: the arguments have the types that the kernel's source declares.
        unsafe {
            buffers.iter().for_each(|buffer| _ = launch.set_arg(buffer));
            scalars.iter().for_each(|scalar| _ = launch.set_arg(scalar));
        }
        launch
            .set_global_work_sizes(&global)
            .set_local_work_sizes(&local);
        // SAFETY: sizes and arguments are the ones that the kernel is written for.
        unsafe { launch.enqueue_nd_range(&self.queue) }.expect("the kernel can be launched");
        self.queue.finish().expect("the kernel ends");
    }
}
