//! Commands: launches and copies, as they are kept until they are recorded.

use super::super::descriptors::DescriptorSets;
use super::super::device::VulkanDevice;
use super::timestamps::LaunchTimestamps;
use crate::KernelHandle;
use ash::vk;
use smallvec::SmallVec;

/// Bytes of push constants that need no allocation.
const PUSHED: usize = 128;

/// A command. Its batch keeps alive all resources that it uses.
#[derive(Clone)]
pub enum BatchCommand {
    /// A launch of a kernel.
    Dispatch(DispatchCommand),
    /// A copy within a buffer, or from one to another.
    Copy {
        /// The source.
        from: vk::Buffer,
        /// The target.
        to: vk::Buffer,
        /// The ranges that are copied, within both, from elsewhere than to.
        region: vk::BufferCopy,
    },
    /// Repetitions of a word.
    Fill {
        /// The buffer.
        buffer: vk::Buffer,
        /// The first byte of it, at a word.
        offset: u64,
        /// Bytes of it, whole words.
        size: u64,
        /// The word.
        word: u32,
    },
}

/// A launch of a kernel.
#[derive(Clone)]
pub struct DispatchCommand {
    /// The kernel that is launched.
    pub kernel: KernelHandle,
    /// Its pipeline.
    pub pipeline: vk::Pipeline,
    /// The layout of that.
    pub layout: vk::PipelineLayout,
    /// Descriptor sets of the layout.
    pub sets: DescriptorSets,
    /// Push constants of the layout.
    pub push: SmallVec<[u8; PUSHED]>,
    /// Workgroups, within the device's limits.
    pub groups: [u32; 3],
}

impl BatchCommand {
    /// Records it.
    pub fn record_command(
        &self,
        device: &VulkanDevice,
        commands: vk::CommandBuffer,
        timestamps: &mut LaunchTimestamps,
    ) {
        match self {
            BatchCommand::Dispatch(dispatch) => {
                timestamps.record_timestamp(device, commands, dispatch.kernel, false);
                dispatch.record_dispatch(device, commands);
                timestamps.record_timestamp(device, commands, dispatch.kernel, true);
            }
            // SAFETY: the commands are being recorded; the region is within both buffers, which are kept; its parts do not
            // overlap.
            BatchCommand::Copy { from, to, region } => unsafe {
                device
                    .raw()
                    .cmd_copy_buffer(commands, *from, *to, &[*region]);
            },
            // SAFETY: the commands are being recorded; the buffer has the bytes and is kept.
            BatchCommand::Fill {
                buffer,
                offset,
                size,
                word,
            } => unsafe {
                device
                    .raw()
                    .cmd_fill_buffer(commands, *buffer, *offset, *size, *word);
            },
        }
    }
}

impl DispatchCommand {
    fn record_dispatch(&self, device: &VulkanDevice, commands: vk::CommandBuffer) {
        let functions = device.raw();
        let point = vk::PipelineBindPoint::COMPUTE;
        let (layout, [x, y, z]) = (self.layout, self.groups);
        // SAFETY: the commands are being recorded; pipeline, sets and buffers are kept by the batch;
        // sets and push constants are of the pipeline's layout; the number of workgroups is within the
        // device's limits.
        unsafe {
            functions.cmd_bind_pipeline(commands, point, self.pipeline);
            if !self.sets.is_empty() {
                functions.cmd_bind_descriptor_sets(commands, point, layout, 0, &self.sets, &[]);
            }
            if !self.push.is_empty() {
                let stage = vk::ShaderStageFlags::COMPUTE;
                functions.cmd_push_constants(commands, layout, stage, 0, &self.push);
            }
            functions.cmd_dispatch(commands, x, y, z);
        }
    }
}
