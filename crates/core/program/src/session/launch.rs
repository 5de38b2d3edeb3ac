//! Launches of kernels: their data and bindings.

use super::{HostFrame, ProgramSession};
use crate::heap::MachineResult;
use crate::program::LaunchStep;
use crate::{BlockBinding, ByteRegion, KernelMachine, LaunchRequest, ProgramError};
use spirula_spirv::ir::SpirvModule;

/// The data of a launch.
pub(super) struct LaunchData<B> {
    /// Values of specialisation constants.
    constants: Vec<u64>,
    /// Scalars.
    push: Vec<u8>,
    /// Blocks.
    blocks: Vec<BlockBinding<B>>,
}

impl<B> Default for LaunchData<B> {
    fn default() -> Self {
        LaunchData {
            constants: Vec::new(),
            push: Vec::new(),
            blocks: Vec::new(),
        }
    }
}

impl<M: KernelMachine> ProgramSession<'_, M> {
    /// Runs a launch; one without workgroups does nothing.
    pub(super) fn run_launch(
        &mut self,
        frame: &HostFrame,
        launch: &LaunchStep,
    ) -> MachineResult<(), M> {
        let kernel = &self.program.kernels[launch.kernel];
        let mut groups = [1; 3];
        for (to, reg) in groups.iter_mut().zip(&launch.groups) {
            *to = (self.get_scalar(frame, *reg) as i64).max(0) as u64;
        }
        if groups.contains(&0) {
            return Ok(());
        }
        let module = kernel.module.as_ref();
        let module = module.map_err(|reason| ProgramError::Unsupported(reason.clone()))?;
        let mut data = std::mem::take(&mut self.data);
        let launched = self.launch_with(frame, launch, module, groups, &mut data);
        self.data = data;
        launched
    }

    /// Launches a kernel. Its data replaces that of the launch before.
    fn launch_with(
        &mut self,
        frame: &HostFrame,
        launch: &LaunchStep,
        module: &SpirvModule,
        groups: [u64; 3],
        data: &mut LaunchData<M::Block>,
    ) -> MachineResult<(), M> {
        let kernel = &self.program.kernels[launch.kernel];
        let LaunchData {
            constants,
            push,
            blocks,
        } = data;
        constants.clear();
        constants.extend(launch.constants.iter().map(|c| self.get_scalar(frame, *c)));
        push.clear();
        push.resize(kernel.scalar_bytes as usize, 0);
        push[..4].copy_from_slice(&(groups[0] as u32).to_le_bytes());
        for ((at, ty), reg) in kernel.scalars.iter().zip(&launch.scalars) {
            let bytes = self.get_scalar(frame, *reg).to_le_bytes();
            let (at, size) = (*at as usize, (ty.size() as usize).max(4));
            push[at..at + size].copy_from_slice(&bytes[..size]);
        }
        blocks.clear();
        for (binding, mem) in launch.memories.iter().enumerate() {
            let reach = kernel.reach.get(binding).copied().unwrap_or(0);
            if reach > 0 {
                let block = match self.find_block(frame, *mem) {
                    Some(block) => block,
                    None => self.failure_block()?,
                };
                let region = frame.accessed_region(*mem);
                self.check_reach(block, region, reach)?;
                blocks.push(BlockBinding {
                    binding: binding as u32,
                    block: self.blocks.device_block(block)?,
                    region,
                });
            }
        }
        let mut next = launch.memories.len() as u32;
        if kernel.uses_failures {
            let block = self.failure_block()?;
            blocks.push(self.bind_whole_block(next, block)?);
        }
        next += 1;
        let mut scalars = None;
        if kernel.scalars_in_buffer {
            let block = self.blocks.allocate_device(push.len() as u64)?;
            self.blocks.write_bytes(block, 0, push)?;
            blocks.push(self.bind_whole_block(next, block)?);
            scalars = Some(block);
        }
        let request = LaunchRequest {
            program: self.number,
            kernel: launch.kernel,
            module,
            laid_out: kernel.laid_out.as_ref(),
            groups,
            constants,
            push: if kernel.scalars_in_buffer { &[] } else { push },
            blocks,
        };
        let launched = self.blocks.machine.launch_kernel(&request);
        if let Some(block) = scalars {
            self.blocks.release_block(block);
        }
        launched.map_err(ProgramError::Machine)?;
        self.may_have_failed |= kernel.can_fail;
        Ok(())
    }

    /// Checks that a launch accesses no more of a block than indices of 32 bits reach.
    fn check_reach(
        &self,
        block: usize,
        touched: Option<ByteRegion>,
        reach: u64,
    ) -> MachineResult<(), M> {
        let size = self.blocks.block_size(block);
        let end = touched.and_then(|region| region.end()).unwrap_or(size);
        if size.min(end) <= reach {
            return Ok(());
        }
        Err(ProgramError::Unsupported(format!(
            "an array of {size} bytes has more than 2^32 elements, which is more than indices of kernels reach"
        )))
    }

    /// A binding of a whole block.
    fn bind_whole_block(
        &mut self,
        binding: u32,
        block: usize,
    ) -> MachineResult<BlockBinding<M::Block>, M> {
        Ok(BlockBinding {
            binding,
            block: self.blocks.device_block(block)?,
            region: None,
        })
    }
}
