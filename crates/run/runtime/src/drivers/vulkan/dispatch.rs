//! Dispatches: a launch as a command with its bindings, push constants and workgroups.

use super::descriptors::{DescriptorAssignment, DescriptorObject};
use super::device::VulkanDevice;
use super::memory::{self, VulkanMemory};
use super::pipeline_variants::PipelineVariant;
use super::queue::CommandBatch;
use super::queue::{BatchCommand, DispatchCommand};
use super::queue::{BufferAccess, CommandAccesses, CommandKind};
use super::resources::DispatchResource;
use crate::{BufferHandle, DeviceError, KernelHandle, LaunchBinding};
use smallvec::SmallVec;
use spirula_legalize::device::{AddressSource, DescriptorLocation};
use std::borrow::Cow;
use std::sync::Arc;

/// A launch with the resources that it needs.
pub struct DispatchPlan<'a> {
    /// The kernel.
    pub kernel: KernelHandle,
    /// Its pipeline, and how that differs from the original shader's.
    pub variant: &'a PipelineVariant,
    /// The bound resources.
    pub bound: &'a [(&'a LaunchBinding, DispatchResource)],
    /// Push constants.
    pub push: Cow<'a, [u8]>,
    /// Workgroups.
    pub groups: [u32; 3],
    /// Unit of the sizes of bound buffers, in bytes.
    pub unit: u64,
    /// The memory for small data.
    pub memory: &'a Arc<VulkanMemory>,
}

impl DispatchPlan<'_> {
    /// Builds the command; the batch keeps alive the resources that it uses.
    pub fn build_command(
        &self,
        device: &VulkanDevice,
        batch: &mut CommandBatch,
    ) -> Result<BatchCommand, DeviceError> {
        let pipeline = &self.variant.pipeline;
        let extra = self.write_extra_bindings(device, batch)?;
        let own = self.bound.iter().filter(|(b, _)| !self.is_addressed(b));
        let own = own.map(|(bound, given)| DescriptorAssignment {
            bound: LaunchBinding {
                region: None,
                ..**bound
            },
            what: match given {
                // Sizes of buffers are whole words.
                DispatchResource::Buffer(buffer) => {
                    DescriptorObject::Buffer(buffer, (0, buffer.size.next_multiple_of(self.unit)))
                }
                DispatchResource::Image(image) => DescriptorObject::Image(image),
                DispatchResource::Sampler(sampler) => DescriptorObject::Sampler(***sampler),
            },
        });
        let extra = extra
            .iter()
            .map(|(bound, buffer, range)| DescriptorAssignment {
                bound: *bound,
                what: DescriptorObject::Buffer(buffer, *range),
            });
        let sets = batch
            .pools
            .bind_resources(&pipeline.sets, own.chain(extra))?;
        batch.keep_pipeline(pipeline);
        for (bound, given) in self.bound {
            self.note_resource(batch, bound, given);
        }
        let push = if pipeline.push > 0 {
            self.build_push_constants()
        } else {
            Cow::Borrowed(&[][..])
        };
        Ok(BatchCommand::Dispatch(DispatchCommand {
            kernel: self.kernel,
            pipeline: pipeline.raw(),
            layout: pipeline.layout(),
            sets,
            push: SmallVec::from_slice(&push),
            groups: self.variant.grid.unwrap_or(self.groups),
        }))
    }

    /// Whether a bound resource is written.
    fn is_written(&self, bound: &LaunchBinding) -> bool {
        let (set, binding) = (bound.set, bound.binding);
        let place = DescriptorLocation { set, binding };
        !self.variant.read_only.contains(&place)
    }

    fn is_addressed(&self, bound: &LaunchBinding) -> bool {
        let (set, binding) = (bound.set, bound.binding);
        let addressed = self.variant.addressed.as_ref();
        addressed.is_some_and(|(_, all)| all.contains(&DescriptorLocation { set, binding }))
    }

    /// The addresses of the buffers at descriptors.
    fn gather_addresses(&self, descriptors: &[DescriptorLocation]) -> Vec<u8> {
        let address = |wanted: &DescriptorLocation| {
            let mut bound = self.bound.iter();
            let found = bound.find(|(b, _)| (b.set, b.binding) == (wanted.set, wanted.binding));
            let address = found.and_then(|(_, given)| match given {
                DispatchResource::Buffer(buffer) => buffer.address,
                _ => None,
            });
            address.unwrap_or(0)
        };
        let rows = descriptors.iter();
        rows.flat_map(|d| address(d).to_le_bytes()).collect()
    }

    /// The push constants, followed by addresses.
    fn build_push_constants(&self) -> Cow<'_, [u8]> {
        let Some((AddressSource::Pushed(at), buffers)) = &self.variant.addressed else {
            return Cow::Borrowed(&self.push);
        };
        let mut push = self.push.to_vec();
        push.truncate(*at as usize);
        push.resize(*at as usize, 0);
        push.extend(self.gather_addresses(buffers));
        Cow::Owned(push)
    }

    /// The accesses of the launch, if it accesses nothing but buffers.
    pub fn gather_accesses(&self) -> Option<CommandAccesses> {
        let rows = self.bound.iter().map(|(bound, given)| match given {
            DispatchResource::Buffer(buffer) => Some(BufferAccess {
                buffer: buffer.raw(),
                is_written: self.is_written(bound),
                region: bound.region,
            }),
            DispatchResource::Image(_) | DispatchResource::Sampler(_) => None,
        });
        let buffers = rows.collect::<Option<_>>()?;
        Some(CommandAccesses {
            kind: CommandKind::Launch,
            buffers,
        })
    }

    /// Notes the bound resources in the batch, which keeps them alive.
    fn note_resource(
        &self,
        batch: &mut CommandBatch,
        bound: &LaunchBinding,
        given: &DispatchResource,
    ) {
        let row = match given {
            DispatchResource::Buffer(buffer) => Some(buffer),
            DispatchResource::Image(image) => {
                batch.keep_image(image);
                image.row_buffer()
            }
            DispatchResource::Sampler(sampler) => {
                batch.keep_sampler(sampler);
                None
            }
        };
        match row {
            Some(buffer) if self.is_written(bound) => batch.note_buffer_write(buffer),
            Some(buffer) => batch.note_buffer_read(buffer),
            None => {}
        }
    }

    /// Additional bindings: push constants and addresses that come from a buffer.
    fn write_extra_bindings(
        &self,
        device: &VulkanDevice,
        batch: &mut CommandBatch,
    ) -> Result<Vec<BatchBufferBinding>, DeviceError> {
        let mut extra = Vec::new();
        let mut add = |place: DescriptorLocation, data: &[u8]| {
            let (buffer, at) = batch.write_scratch(device, self.memory, data)?;
            let bound = LaunchBinding {
                set: place.set,
                binding: place.binding,
                index: 0,
                resource: BufferHandle(u32::MAX).into(),
                region: None,
            };
            extra.push((bound, buffer, (at, data.len() as u64)));
            Ok::<(), DeviceError>(())
        };
        if let Some(place) = self.variant.push_buffer {
            add(place, &self.push)?;
        }
        if let Some((AddressSource::Bound(place), buffers)) = &self.variant.addressed {
            add(*place, &self.gather_addresses(buffers))?;
        }
        Ok(extra)
    }
}

/// A binding with a range of a buffer of the batch.
type BatchBufferBinding = (LaunchBinding, Arc<memory::VulkanBuffer>, (u64, u64));
