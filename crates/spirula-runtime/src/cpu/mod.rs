//! The CPU device: kernels compiled to machine code by `spirula-cpu`, buffers in the memory of this
//! process.

mod memory;

use crate::driver::{DeviceInfo, DeviceKind, DeviceOptions, Driver, Limits};
use crate::{Buffer, Error, Kernel, Launch};
use memory::Memory;
use spirula_source::{Diagnostic, Place};
use spirula_spirv::ir::Module;
use spirula_spirv::reflect::Interface;

/// Share of the memory that is free which one buffer may take, in percent.
const BUFFER_SHARE: u64 = 90;

/// The driver of the CPU device.
pub struct CpuDriver {
    info: DeviceInfo,
    buffers: Vec<Option<Memory>>,
}

impl CpuDriver {
    /// The device with so many threads.
    pub fn new(options: &DeviceOptions) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = options.threads.unwrap_or(processors).max(1);
        let version = env!("CARGO_PKG_VERSION");
        let info = DeviceInfo {
            id: "cpu".to_owned(),
            name: format!("{} processor, {threads} threads", std::env::consts::ARCH),
            kind: DeviceKind::Cpu,
            driver: format!("spirula-cpu {version}"),
            subgroup_size: 8,
            limits: Limits {
                buffer_size: memory::available() / 100 * BUFFER_SHARE,
                workgroup_size: [1024; 3],
                workgroup_invocations: 1024,
                workgroup_memory: 1 << 20,
                groups: [u32::MAX; 3],
                push_constants: 1 << 16,
                partial_groups: true,
            },
        };
        CpuDriver {
            info,
            buffers: Vec::new(),
        }
    }

    fn buffer(&mut self, buffer: Buffer) -> Result<&mut Memory, Error> {
        let found = self
            .buffers
            .get_mut(buffer.index())
            .and_then(Option::as_mut);
        found.ok_or(Error::Handle("a buffer"))
    }
}

impl Driver for CpuDriver {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn create_buffer(&mut self, _: Buffer, size: u64) -> Result<(), Error> {
        // The system may promise memory that it does not have: all buffers have to fit together.
        let used: u64 = self.buffers.iter().flatten().map(Memory::size).sum();
        let limit = self.info.limits.buffer_size.saturating_sub(used);
        let memory = (size <= limit).then(|| Memory::zeroed(size)).flatten();
        let memory = memory.ok_or(Error::Memory { size, limit })?;
        self.buffers.push(Some(memory));
        Ok(())
    }

    fn destroy_buffer(&mut self, buffer: Buffer) {
        self.buffers[buffer.index()] = None;
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
        _: &Module,
        _: &Interface,
        _: &[(u32, u64)],
    ) -> Result<(), Error> {
        let text = "the CPU device does not run kernels yet";
        Err(Error::Unsupported(Box::new(Diagnostic::error(
            Place::Unknown,
            text,
        ))))
    }

    fn launch(&mut self, _: &Launch) -> Result<(), Error> {
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        Ok(())
    }
}
