//! The CPU device: kernels compiled to machine code by `spirula-cpu`, buffers in the memory of this
//! process.

mod memory;

use crate::driver::{DeviceInfo, DeviceKind, DeviceOptions, Driver, Limits};
use crate::{Argument, Buffer, Error, Inputs, Kernel, Launch, Size};
use memory::Memory;
use spirula_cpu as cpu;
use spirula_diagnostics::Diagnostic;
use spirula_spirv::grammar::Version;
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::Interface;
use std::time::{Duration, Instant};

/// Share of the memory that is free which one buffer may take, in percent.
const BUFFER_SHARE: u64 = 90;

/// Beginning of the messages with which the compiler tells faults of its own.
const BUG: &str = "bug in";

/// What a handle stands for.
struct Held {
    memory: Memory,
    what: What,
}

enum What {
    Buffer,
    Image(cpu::ImageShape, cpu::Sampler),
    Sampler(cpu::Sampler),
}

impl Held {
    /// It, lent to a launch.
    fn lend(&mut self) -> cpu::Resource {
        let memory = lent(self.memory.bytes_mut());
        match self.what {
            What::Buffer => cpu::Resource::Memory(memory),
            What::Image(shape, sampler) => cpu::Resource::Image(cpu::Image {
                shape,
                memory,
                sampler,
            }),
            What::Sampler(sampler) => cpu::Resource::Sampler(sampler),
        }
    }
}

/// The driver of the CPU device.
pub struct CpuDriver {
    info: DeviceInfo,
    options: cpu::Options,
    threads: usize,
    timeout: Option<Duration>,
    kernels: Vec<cpu::Kernel>,
    buffers: Vec<Option<Held>>,
    /// Bytes of all of them.
    used: u64,
    times: Option<Vec<(Kernel, Duration)>>,
    printed: Vec<u8>,
    /// Where kernels are checked, what is known for that.
    checker: Option<cpu::Checker>,
}

impl CpuDriver {
    /// The device with so many threads.
    pub fn new(options: &DeviceOptions) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.threads.unwrap_or(processors).max(1);
        let compiler = cpu::Options::default();
        let version = env!("CARGO_PKG_VERSION");
        let info = DeviceInfo {
            id: "cpu".to_owned(),
            name: format!("{} processor, {threads} threads", std::env::consts::ARCH),
            kind: DeviceKind::Cpu,
            driver: format!("spirula-cpu {version}"),
            newest_module: Some(Version::NEWEST),
            subgroup_size: compiler.subgroup_size,
            has_shuffles: true,
            has_forward_progress: true,
            special_values: 16 | 32 | 64,
            matrices: Vec::new(),
            has_dense_matrices: compiler.bundles,
            limits: Limits {
                buffer_size: memory::available() / 100 * BUFFER_SHARE,
                workgroup_size: [1024; 3],
                workgroup_invocations: 1024,
                workgroup_memory: 1 << 20,
                groups: [u32::MAX; 3],
                push_constants: 1 << 16,
                folds: false,
                partial_groups: true,
            },
        };
        CpuDriver {
            info,
            options: compiler,
            threads,
            timeout: options.timeout,
            kernels: Vec::new(),
            buffers: Vec::new(),
            used: 0,
            times: options.times.then(Vec::new),
            printed: Vec::new(),
            checker: None,
        }
    }

    /// The same, running every invocation by itself.
    pub fn scalar(options: &DeviceOptions) -> Self {
        let mut driver = CpuDriver::new(options);
        driver.options.bundles = false;
        driver.info.has_dense_matrices = false;
        driver.info.id = "cpu+scalar".to_owned();
        driver
    }

    /// The same, counting the instructions that run.
    pub fn counting(options: &DeviceOptions) -> Self {
        let mut driver = CpuDriver::scalar(options);
        driver.options.count = true;
        driver.info.id = "cpu+count".to_owned();
        driver
    }

    /// The same, checking what kernels do: what is wrong becomes an error when it is waited for.
    pub fn checking(options: &DeviceOptions) -> Self {
        let mut driver = CpuDriver::scalar(options);
        driver.options.check = true;
        driver.info.id = "cpu+san".to_owned();
        driver.checker = Some(cpu::Checker::new(options.check.clone()));
        driver
    }

    /// Runs what has to run once before a kernel.
    fn initialise(&mut self, initialiser: &cpu::Kernel) -> Result<(), Error> {
        let work = cpu::Launch {
            size: cpu::Size::Groups([1; 3]),
            arguments: &[],
            bindings: &[],
            push: &[],
            threads: 1,
            timeout: self.timeout,
        };
        let done = execute(initialiser, &work, self.checker.as_mut());
        self.printed.extend(initialiser.take_printed());
        done
    }

    fn buffer(&mut self, buffer: Buffer) -> Result<&mut Memory, Error> {
        let found = self
            .buffers
            .get_mut(buffer.index())
            .and_then(Option::as_mut);
        found
            .map(|h| &mut h.memory)
            .ok_or(Error::Handle("a buffer"))
    }

    /// Makes memory for something.
    fn create(&mut self, size: u64, what: What) -> Result<(), Error> {
        // The system may promise memory that it does not have: all buffers have to fit together.
        let limit = self.info.limits.buffer_size.saturating_sub(self.used);
        let memory = (size <= limit).then(|| Memory::zeroed(size)).flatten();
        let mut memory = memory.ok_or(Error::Memory { size, limit })?;
        if let Some(checker) = self.checker.as_mut().filter(|_| size > 0) {
            checker.allocate(lent(memory.bytes_mut()));
        }
        self.used += size;
        self.buffers.push(Some(Held { memory, what }));
        Ok(())
    }
}

impl Driver for CpuDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_buffer(&mut self, _: Buffer, size: u64) -> Result<(), Error> {
        self.create(size, What::Buffer)
    }

    fn create_image(
        &mut self,
        _: Buffer,
        shape: &cpu::ImageShape,
        sampler: &cpu::Sampler,
    ) -> Result<(), Error> {
        let size = shape.bytes().unwrap_or(u64::MAX);
        self.create(size, What::Image(*shape, *sampler))
    }

    fn create_sampler(&mut self, _: Buffer, sampler: &cpu::Sampler) -> Result<(), Error> {
        self.create(0, What::Sampler(*sampler))
    }

    fn create_pipe(&mut self, pipe: Buffer, shape: cpu::PipeShape) -> Result<(), Error> {
        let size = shape.bytes().unwrap_or(u64::MAX);
        self.create(size, What::Buffer)?;
        self.write(pipe, 0, &shape.header())
    }

    fn destroy_buffer(&mut self, buffer: Buffer) {
        let Some(mut held) = self.buffers[buffer.index()].take() else {
            return;
        };
        self.used -= held.memory.size();
        if let Some(checker) = &mut self.checker {
            checker.free(held.memory.bytes_mut().as_ptr());
        }
    }

    fn write(&mut self, buffer: Buffer, offset: u64, data: &[u8]) -> Result<(), Error> {
        let at = offset as usize;
        self.buffer(buffer)?.bytes_mut()[at..at + data.len()].copy_from_slice(data);
        Ok(())
    }

    fn read(&mut self, buffer: Buffer, offset: u64, out: &mut [u8]) -> Result<(), Error> {
        let at = offset as usize;
        out.copy_from_slice(&self.buffer(buffer)?.bytes_mut()[at..at + out.len()]);
        Ok(())
    }

    fn address(&mut self, buffer: Buffer) -> Result<u64, Error> {
        Ok(self.buffer(buffer)?.bytes_mut().as_mut_ptr() as u64)
    }

    fn create_kernel(
        &mut self,
        _: Kernel,
        module: &Module,
        interface: &Interface,
        spec: &[(u32, u64)],
    ) -> Result<(), Error> {
        let (name, model) = (&interface.name, interface.model);
        let compiled = cpu::Kernel::compile(module, name, model, spec, &self.options);
        let kernel = compiled.map_err(refused)?;
        for initialiser in kernel.initialisers() {
            self.initialise(initialiser)?;
        }
        self.kernels.push(kernel);
        Ok(())
    }

    fn launch(&mut self, launch: &Launch, _: &[Buffer]) -> Result<(), Error> {
        let lend = |buffer: Buffer, buffers: &mut [Option<Held>]| {
            let found = buffers.get_mut(buffer.index()).and_then(Option::as_mut);
            Ok(found.ok_or(Error::Handle("a buffer"))?.lend())
        };
        let mut arguments = Vec::new();
        let mut bindings = Vec::new();
        let mut constants: &[u8] = &[];
        match &launch.inputs {
            Inputs::Arguments(given) => {
                for argument in given {
                    arguments.push(match argument {
                        Argument::Buffer(buffer) => match lend(*buffer, &mut self.buffers)? {
                            cpu::Resource::Memory(memory) => cpu::Argument::Memory(memory),
                            cpu::Resource::Image(image) => cpu::Argument::Image(image),
                            cpu::Resource::Sampler(sampler) => cpu::Argument::Sampler(sampler),
                        },
                        Argument::Bytes(bytes) => cpu::Argument::Bytes(bytes),
                        Argument::Local(bytes) => cpu::Argument::Local(*bytes),
                    });
                }
            }
            Inputs::Resources {
                bindings: given,
                push,
            } => {
                constants = push;
                for bound in given {
                    bindings.push(cpu::Bound {
                        set: bound.set,
                        binding: bound.binding,
                        index: bound.index,
                        resource: lend(bound.buffer, &mut self.buffers)?,
                    });
                }
            }
        }
        let work = cpu::Launch {
            size: size(launch.size),
            arguments: &arguments,
            bindings: &bindings,
            push: constants,
            threads: self.threads,
            timeout: self.timeout,
        };
        let kernel = self.kernels.get(launch.kernel.index());
        let kernel = kernel.ok_or(Error::Handle("a kernel"))?;
        let start = self.times.is_some().then(Instant::now);
        let done = execute(kernel, &work, self.checker.as_mut());
        if let (Some(times), Some(start)) = (&mut self.times, start) {
            times.push((launch.kernel, start.elapsed()));
        }
        self.printed.extend(kernel.take_printed());
        done
    }

    fn instructions(&self) -> Option<u64> {
        let counted = self.kernels.iter().map(cpu::Kernel::instructions);
        self.options
            .count
            .then(|| counted.fold(0, u64::saturating_add))
    }

    /// Launches have ended when they return.
    fn wait(&mut self) -> Result<(), Error> {
        let reports = self.checker.as_mut().map(cpu::Checker::take_reports);
        match reports {
            Some(reports) if !reports.is_empty() => Err(Error::Faults(reports)),
            _ => Ok(()),
        }
    }

    fn take_printed(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.printed)
    }

    fn take_times(&mut self) -> Vec<(Kernel, Duration)> {
        self.times.as_mut().map(std::mem::take).unwrap_or_default()
    }
}

/// Runs a launch to its end.
#[allow(unsafe_code)]
fn execute(
    kernel: &cpu::Kernel,
    work: &cpu::Launch<'_>,
    mut checker: Option<&mut cpu::Checker>,
) -> Result<(), Error> {
    // SAFETY: the memory is that of buffers of this device, which is borrowed mutably until the
    // launch has ended. That a kernel stays within its buffers is the kernel's own duty, as it
    // is on every device without robust access.
    let done = match &mut checker {
        Some(checker) => unsafe { kernel.run_checked(work, checker) },
        None => unsafe { kernel.run(work) },
    };
    let found = checker.is_some_and(|c| !c.reports().is_empty());
    match done {
        // What was found says more, and is told when the launch is waited for.
        Err(_) if found => Ok(()),
        Err(cpu::RunError::Launch(problem)) => Err(Error::Launch(problem)),
        done => done.map_err(|e| Error::Failed(e.to_string())),
    }
}

fn lent(bytes: &mut [u8]) -> cpu::Memory {
    cpu::Memory {
        address: bytes.as_mut_ptr(),
        length: bytes.len() as u64,
    }
}

fn size(size: Size) -> cpu::Size {
    match size {
        Size::Groups(groups) => cpu::Size::Groups(groups),
        Size::Items {
            dimensions,
            global,
            local,
            offset,
        } => cpu::Size::Items {
            global,
            local,
            offset,
            dimensions,
        },
    }
}

/// What the compiler refuses is unsupported, unless it blames itself.
fn refused(faults: Vec<Diagnostic>) -> Error {
    match faults.iter().find(|d| d.message.starts_with(BUG)) {
        Some(bug) => Error::Failed(bug.to_string()),
        None => Error::Unsupported(faults),
    }
}
