//! The kernels through Spirula: a device of the runtime.

use cpu_time::ThreadTime;
use spirula_runtime::{
    BufferHandle, ComputeDevice, DeviceOptions, IndexSpace, KernelArgument, KernelHandle,
    KernelLaunch, LaunchBinding, LaunchInputs,
};
use std::time::Duration;

/// Number of times that a kernel is created to measure how long that takes.
const TIMES: usize = 11;

/// A device with the benchmark's buffers on it.
pub struct Session {
    device: ComputeDevice,
    buffers: Vec<BufferHandle>,
}

/// Work that can be launched repeatedly.
pub struct Work {
    launch: KernelLaunch,
}

impl Session {
    /// Opens a device and uploads the buffers; `None` if there is no such device.
    pub fn open(name: &str, threads: Option<usize>, buffers: &[Vec<u8>]) -> Option<Session> {
        let options = DeviceOptions {
            threads,
            ..DeviceOptions::default()
        };
        let mut device = ComputeDevice::open(name, &options).ok()?;
        let buffers = buffers
            .iter()
            .map(|bytes| device.upload_data(bytes).expect("memory suffices"));
        let buffers = buffers.collect();
        Some(Session { device, buffers })
    }

    /// An OpenCL kernel over the session's buffers and scalars, in that order.
    pub fn kernel(
        &mut self,
        bytes: &[u8],
        entry: &str,
        scalars: &[[u8; 4]],
        global: [u64; 3],
        local: [u32; 3],
    ) -> Work {
        let kernel = self.compile(bytes, entry);
        let mut arguments: Vec<_> = self
            .buffers
            .iter()
            .copied()
            .map(KernelArgument::from)
            .collect();
        arguments.extend(scalars.iter().map(|s| KernelArgument::Bytes(s.to_vec())));
        let size = IndexSpace::Items {
            dimensions: 3,
            global,
            local: Some(local),
            offset: [0; 3],
        };
        Work {
            launch: KernelLaunch {
                kernel,
                size,
                inputs: LaunchInputs::Arguments(arguments),
            },
        }
    }

    /// A Vulkan shader over the session's buffers (binding by binding) and push constants.
    pub fn shader(&mut self, bytes: &[u8], scalars: &[[u8; 4]], groups: [u32; 3]) -> Work {
        let kernel = self.compile(bytes, "main");
        let bound = |(n, buffer): (usize, &BufferHandle)| {
            LaunchBinding::with_whole_buffer(n as u32, *buffer)
        };
        let bindings = self.buffers.iter().enumerate().map(bound).collect();
        let inputs = LaunchInputs::Resources {
            bindings,
            push: scalars.concat(),
        };
        Work {
            launch: KernelLaunch {
                kernel,
                size: IndexSpace::Groups(groups),
                inputs,
            },
        }
    }

    /// Processor time to create an OpenCL kernel of a module: the median of several.
    pub fn compile_time(&mut self, bytes: &[u8], entry: &str) -> Duration {
        let compiled =
            spirula::compile_input(bytes, &Default::default()).expect("the kernel compiles");
        let module = compiled.into_module().expect("the kernel is a module");
        let mut times = [(); TIMES].map(|()| {
            let begun = ThreadTime::now();
            let made = self.device.create_kernel(&module, entry, &[]);
            made.unwrap_or_else(|e| panic!("the device takes {entry}: {e:?}"));
            begun.elapsed()
        });
        times.sort_unstable();
        times[TIMES / 2]
    }

    /// Runs work and waits for its end.
    pub fn run(&mut self, work: &Work) {
        self.device
            .launch_kernel(&work.launch)
            .expect("the launch fits");
        self.device.wait_idle().expect("the launch ends");
    }

    /// The contents of buffer `n`.
    pub fn result(&mut self, n: usize) -> Vec<u8> {
        self.device
            .download_buffer(self.buffers[n])
            .expect("the buffer can be read")
    }

    fn compile(&mut self, bytes: &[u8], entry: &str) -> KernelHandle {
        let compiled =
            spirula::compile_input(bytes, &Default::default()).expect("the kernel compiles");
        let module = compiled.into_module().expect("the kernel is a module");
        self.device
            .create_kernel(&module, entry, &[])
            .unwrap_or_else(|e| panic!("the device takes {entry}: {e:?}"))
    }
}
