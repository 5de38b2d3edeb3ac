//! Descriptor sets: layouts from a shader's interface, pools, and bound resources.

use super::device::{OwnedHandle, VulkanDevice};
use super::error::{VulkanCallResult, call_error, unsupported_error};
use super::image::VulkanImage;
use super::memory::VulkanBuffer;
use super::queue::FEW_BUFFERS;
use super::queue::RecycledResources;
use crate::{DeviceError, LaunchBinding};
use ash::vk::{self, Handle as _};
use smallvec::SmallVec;
use spirula_resource::{ImageType, SamplerFilter};
use spirula_spirv::analysis::IdDefinitions;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Dim;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::reflect::{BindingKind, EntryInterface, InterfaceBinding};
use std::collections::VecDeque;
use std::sync::Arc;

/// Descriptors for an array without a length.
const UNSIZED: u32 = 256;
/// Most recent launches whose sets are kept.
const RECENT: usize = 8;
/// Sets of a pool.
const POOL_SETS: u32 = 64;
/// Descriptors of each kind in a pool.
const POOL_SIZES: &[(vk::DescriptorType, u32)] = &[
    (vk::DescriptorType::STORAGE_BUFFER, 256),
    (vk::DescriptorType::UNIFORM_BUFFER, 256),
    (vk::DescriptorType::STORAGE_IMAGE, 32),
    (vk::DescriptorType::SAMPLED_IMAGE, 32),
    (vk::DescriptorType::SAMPLER, 32),
    (vk::DescriptorType::COMBINED_IMAGE_SAMPLER, 32),
    (vk::DescriptorType::UNIFORM_TEXEL_BUFFER, 32),
    (vk::DescriptorType::STORAGE_TEXEL_BUFFER, 32),
];

/// A binding of a descriptor set.
struct DescriptorSlot {
    set: u32,
    binding: u32,
    kind: vk::DescriptorType,
    count: u32,
    is_unsized: bool,
    /// The type of image that it accepts.
    image: Option<ImageType>,
}

/// The layouts of all sets of a shader.
pub struct DescriptorLayouts {
    sets: Vec<OwnedHandle<vk::DescriptorSetLayout>>,
    raw: Vec<vk::DescriptorSetLayout>,
    slots: Vec<DescriptorSlot>,
}

impl DescriptorLayouts {
    /// Layouts for the bindings of a shader. Variables that share a binding share a descriptor.
    pub fn new(
        device: &Arc<VulkanDevice>,
        module: &SpirvModule,
        interface: &EntryInterface,
    ) -> Result<DescriptorLayouts, DeviceError> {
        let mut slots: Vec<DescriptorSlot> = Vec::new();
        let mut bindings = interface.bindings.iter();
        let has_images = bindings.any(|b| matches!(b.kind, BindingKind::Opaque(_)));
        let definitions = has_images.then(|| IdDefinitions::from_module(module));
        for binding in &interface.bindings {
            let slot = build_slot(binding, module, definitions.as_ref())?;
            match slots.last_mut() {
                Some(last) if (last.set, last.binding) == (slot.set, slot.binding) => {
                    if last.kind != slot.kind {
                        let text = "it is declared as two kinds of descriptors";
                        return Err(binding_error(binding, text));
                    }
                    last.count = last.count.max(slot.count);
                    last.is_unsized |= slot.is_unsized;
                }
                _ => slots.push(slot),
            }
        }
        let most = device.physical.limits.max_bound_descriptor_sets;
        let count = slots.last().map_or(0, |slot| slot.set.saturating_add(1));
        if count > most {
            let text = format!(
                "descriptor set {}: {} has {most} sets",
                count - 1,
                device.physical.info.id
            );
            return Err(unsupported_error(text));
        }
        let sets = (0..count).map(|set| create_set_layout(device, &slots, set));
        let sets = sets.collect::<Result<Vec<_>, _>>()?;
        Ok(DescriptorLayouts {
            raw: sets.iter().map(|set| **set).collect(),
            sets,
            slots,
        })
    }

    /// The layouts, by number of the set.
    pub fn raw(&self) -> &[vk::DescriptorSetLayout] {
        &self.raw
    }

    fn find_slot(&self, bound: &LaunchBinding) -> Option<&DescriptorSlot> {
        let mut slots = self.slots.iter();
        slots.find(|s| (s.set, s.binding) == (bound.set, bound.binding))
    }

    /// Whether the entry point uses a binding; otherwise it has no descriptor.
    pub fn has_slot(&self, bound: &LaunchBinding) -> bool {
        self.find_slot(bound).is_some()
    }

    /// Whether the shader stores to the image of a binding.
    pub fn has_stored_image(&self, bound: &LaunchBinding) -> bool {
        self.find_slot(bound).is_some_and(|slot| slot.kind.stored())
    }

    fn count_descriptors(&self, kind: vk::DescriptorType) -> u32 {
        let slots = self.slots.iter().filter(|s| s.kind == kind);
        slots.fold(0, |sum, slot| sum.saturating_add(slot.count))
    }
}

fn binding_error(binding: &InterfaceBinding, problem: &str) -> DeviceError {
    DeviceError::Binding {
        set: binding.set,
        binding: binding.binding,
        name: binding.name.clone(),
        problem: problem.to_owned(),
    }
}

trait DescriptorTypeExt {
    /// Whether it is a storage image.
    fn stored(self) -> bool;
}

impl DescriptorTypeExt for vk::DescriptorType {
    fn stored(self) -> bool {
        self == vk::DescriptorType::STORAGE_IMAGE
            || self == vk::DescriptorType::STORAGE_TEXEL_BUFFER
    }
}

fn build_slot(
    binding: &InterfaceBinding,
    module: &SpirvModule,
    definitions: Option<&IdDefinitions>,
) -> Result<DescriptorSlot, DeviceError> {
    let mut image = None;
    let kind = match binding.kind {
        BindingKind::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Uniform(_) => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Opaque(ty) => {
            let def = |id| definitions.and_then(|d| d.get(module, id));
            let found = def(ty).and_then(|own| match own.op() {
                Op::TypeSampledImage => Some((own, def(own.id_operand(0))?)),
                _ => Some((own, own)),
            });
            let kind = found.and_then(|(own, of)| {
                image = (of.op() == Op::TypeImage).then(|| ImageType::from_definition(of));
                to_descriptor_type(own.op(), image.as_ref(), of.operands().get(5).copied())
            });
            let text = "it is an image of several samples, or something else that is not supported";
            kind.ok_or_else(|| binding_error(binding, text))?
        }
    };
    let is_unsized = binding.count == 0;
    Ok(DescriptorSlot {
        set: binding.set,
        binding: binding.binding,
        kind,
        count: if is_unsized { UNSIZED } else { binding.count },
        is_unsized,
        image,
    })
}

/// The kind of descriptor for an image, a sampler or both. `sampled` is the operand of the image's type: used with a sampler (1)
/// or without (2).
fn to_descriptor_type(
    op: Op,
    image: Option<&ImageType>,
    sampled: Option<u32>,
) -> Option<vk::DescriptorType> {
    if image.is_some_and(|i| i.multisampled) {
        return None;
    }
    let is_row = image.is_some_and(|i| i.dim == Dim::Buffer);
    match (op, is_row, sampled) {
        (Op::TypeSampler, ..) => Some(vk::DescriptorType::SAMPLER),
        (Op::TypeSampledImage, false, _) => Some(vk::DescriptorType::COMBINED_IMAGE_SAMPLER),
        (Op::TypeImage, false, Some(1)) => Some(vk::DescriptorType::SAMPLED_IMAGE),
        (Op::TypeImage, false, Some(2)) => Some(vk::DescriptorType::STORAGE_IMAGE),
        (Op::TypeImage, true, Some(1)) => Some(vk::DescriptorType::UNIFORM_TEXEL_BUFFER),
        (Op::TypeImage, true, Some(2)) => Some(vk::DescriptorType::STORAGE_TEXEL_BUFFER),
        _ => None,
    }
}

fn create_set_layout(
    device: &Arc<VulkanDevice>,
    slots: &[DescriptorSlot],
    set: u32,
) -> Result<OwnedHandle<vk::DescriptorSetLayout>, DeviceError> {
    let mut bindings = Vec::new();
    let mut flags = Vec::new();
    for slot in slots.iter().filter(|s| s.set == set) {
        bindings.push(
            vk::DescriptorSetLayoutBinding::default()
                .binding(slot.binding)
                .descriptor_type(slot.kind)
                .descriptor_count(slot.count)
                .stage_flags(vk::ShaderStageFlags::COMPUTE),
        );
        flags.push(if slot.is_unsized {
            vk::DescriptorBindingFlags::PARTIALLY_BOUND
        } else {
            vk::DescriptorBindingFlags::empty()
        });
    }
    let mut with_flags =
        vk::DescriptorSetLayoutBindingFlagsCreateInfo::default().binding_flags(&flags);
    let mut info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    if slots.iter().any(|s| s.set == set && s.is_unsized) {
        info = info.push_next(&mut with_flags);
    }
    // SAFETY: the device is alive; arrays without a size are of modules whose capability for them
    // was checked, and devices that have it have partially bound sets.
    let made = unsafe { device.raw().create_descriptor_set_layout(&info, None) };
    OwnedHandle::new(device, "vkCreateDescriptorSetLayout", made)
}

/// A resource at a descriptor.
pub struct DescriptorAssignment<'a> {
    /// The descriptor; its resource is the caller's handle.
    pub bound: LaunchBinding,
    /// The resource.
    pub what: DescriptorObject<'a>,
}

/// Kinds of resources at a descriptor.
#[derive(Clone, Copy)]
pub enum DescriptorObject<'a> {
    /// A buffer: offset and number of bytes.
    Buffer(&'a VulkanBuffer, (u64, u64)),
    /// An image.
    Image(&'a VulkanImage),
    /// A sampler.
    Sampler(vk::Sampler),
}

/// The identity of a resource at a descriptor among those that are alive: its handle, and the range of a buffer.
type DescriptorObjectKey = (u64, (u64, u64));

impl DescriptorObject<'_> {
    /// Its identity among resources that are alive.
    fn key(self) -> DescriptorObjectKey {
        match self {
            DescriptorObject::Buffer(buffer, range) => (buffer.raw().as_raw(), range),
            DescriptorObject::Image(image) => (std::ptr::from_ref(image) as u64, (0, 0)),
            DescriptorObject::Sampler(sampler) => (sampler.as_raw(), (0, 0)),
        }
    }
}

/// The Vulkan structure that writes a descriptor.
enum DescriptorWriteInfo {
    Buffer(vk::DescriptorBufferInfo),
    Image(vk::DescriptorImageInfo),
    Texels(vk::BufferView),
}

impl DescriptorSlot {
    /// The write of a resource to a descriptor, or an error where it does not fit.
    fn build_write_info(
        &self,
        device: &VulkanDevice,
        what: DescriptorObject<'_>,
    ) -> Result<DescriptorWriteInfo, String> {
        let image = match (self.kind, what) {
            (
                vk::DescriptorType::STORAGE_BUFFER | vk::DescriptorType::UNIFORM_BUFFER,
                DescriptorObject::Buffer(buffer, (offset, size)),
            ) => {
                self.check_range(device, size)?;
                let info = vk::DescriptorBufferInfo::default()
                    .buffer(buffer.raw())
                    .offset(offset)
                    .range(size.max(1));
                return Ok(DescriptorWriteInfo::Buffer(info));
            }
            (vk::DescriptorType::SAMPLER, DescriptorObject::Sampler(sampler)) => {
                let info = vk::DescriptorImageInfo::default().sampler(sampler);
                return Ok(DescriptorWriteInfo::Image(info));
            }
            (vk::DescriptorType::SAMPLER, _) => return Err("it takes a sampler".to_owned()),
            (_, DescriptorObject::Image(image)) if self.image.is_some() => image,
            (_, _) if self.image.is_some() => return Err("it takes an image".to_owned()),
            _ => return Err("it takes a buffer".to_owned()),
        };
        if let Some(problem) = self.image.and_then(|ty| ty.find_mismatch(&image.shape)) {
            return Err(problem);
        }
        let stores = self.kind.stored();
        let lacks = || {
            let (id, format) = (&device.physical.info.id, image.shape.format);
            let how = if stores { "stored" } else { "sampled" };
            format!("{id} has no {format} that are {how}")
        };
        if image.row_buffer().is_some() {
            return image
                .row_view(stores)
                .map(DescriptorWriteInfo::Texels)
                .ok_or_else(lacks);
        }
        let mut info = vk::DescriptorImageInfo::default()
            .image_view(image.image_view(stores).ok_or_else(lacks)?)
            .image_layout(vk::ImageLayout::GENERAL);
        if self.kind == vk::DescriptorType::COMBINED_IMAGE_SAMPLER {
            let sampler = image.sampler.as_ref().map_err(ToString::to_string)?;
            if image.filters.contains(&SamplerFilter::Linear) && !image.is_filtered {
                let (id, format) = (&device.physical.info.id, image.shape.format);
                return Err(format!("{id} does not filter {format}"));
            }
            info = info.sampler(**sampler);
        }
        Ok(DescriptorWriteInfo::Image(info))
    }

    fn check_range(&self, device: &VulkanDevice, size: u64) -> Result<(), String> {
        let limits = &device.physical.limits;
        let (most, name) = match self.kind {
            vk::DescriptorType::UNIFORM_BUFFER => (limits.max_uniform_buffer_range, "uniform"),
            _ => (limits.max_storage_buffer_range, "storage"),
        };
        if size <= most.into() {
            return Ok(());
        }
        Err(format!(
            "a buffer of {size} bytes: {} binds {most} bytes of a {name} buffer at most",
            device.physical.info.id
        ))
    }
}

/// The descriptor sets of a launch.
pub type DescriptorSets = SmallVec<[vk::DescriptorSet; 2]>;

/// Pools of descriptor sets, which grow on demand and are recycled together.
pub struct DescriptorPools {
    device: Arc<VulkanDevice>,
    /// Sets are taken from the current one.
    pools: RecycledResources<OwnedHandle<vk::DescriptorPool>>,
    /// The most recent sets, which equal launches in a loop share.
    recent: VecDeque<CachedDescriptorSets>,
}

/// Sets that were created, with their layouts and resources.
struct CachedDescriptorSets {
    /// The address of a pipeline's layouts, which the batch keeps alive.
    layouts: usize,
    /// The bound resources.
    bound: SmallVec<[(LaunchBinding, DescriptorObjectKey); FEW_BUFFERS]>,
    sets: DescriptorSets,
}

impl DescriptorPools {
    /// An empty list of pools.
    pub fn new(device: &Arc<VulkanDevice>) -> DescriptorPools {
        DescriptorPools {
            device: Arc::clone(device),
            pools: RecycledResources::default(),
            recent: VecDeque::new(),
        }
    }

    /// Recycles all sets except for those that other batches share. The device must not use them.
    pub fn recycle_sets(&mut self) -> Result<(), DeviceError> {
        self.pools.clear();
        self.recent.clear();
        for pool in self.pools.owned_resources() {
            let flags = vk::DescriptorPoolResetFlags::empty();
            // SAFETY: the batch that used the sets is done.
            let reset = unsafe { self.device.raw().reset_descriptor_pool(***pool, flags) };
            reset.check_call("vkResetDescriptorPool")?;
        }
        Ok(())
    }

    /// Takes the sets of other pools, which are empty then.
    pub fn absorb_sets(&mut self, other: &mut DescriptorPools) {
        self.pools.absorb_all(&mut other.pools);
        other.recent.clear();
    }

    /// Shares the sets of other pools.
    pub fn share_sets(&mut self, other: &DescriptorPools) {
        self.pools.share_all(&other.pools);
    }

    /// Whether the sets of too many other pools are shared.
    pub fn shares_too_many(&self) -> bool {
        self.pools.shares_too_many()
    }

    /// The sets of a shader with bound resources.
    pub fn bind_resources<'a>(
        &mut self,
        layouts: &DescriptorLayouts,
        bound: impl Iterator<Item = DescriptorAssignment<'a>>,
    ) -> Result<DescriptorSets, DeviceError> {
        if layouts.sets.is_empty() {
            return Ok(DescriptorSets::new());
        }
        let parts = bound.filter(|part| layouts.has_slot(&part.bound));
        let parts: SmallVec<[_; FEW_BUFFERS]> = parts.collect();
        let at = std::ptr::from_ref(layouts) as usize;
        let what = || parts.iter().map(|p| (p.bound, p.what.key()));
        let is_known =
            |k: &&CachedDescriptorSets| k.layouts == at && what().eq(k.bound.iter().copied());
        if let Some(known) = self.recent.iter().find(is_known) {
            return Ok(known.sets.clone());
        }
        let sets = self.allocate_sets(layouts)?;
        let known = CachedDescriptorSets {
            layouts: at,
            bound: what().collect(),
            sets: sets.clone(),
        };
        let mut rows: SmallVec<[_; FEW_BUFFERS]> = SmallVec::new();
        for DescriptorAssignment { bound, what } in parts {
            let unfit = |problem: String| DeviceError::Binding {
                set: bound.set,
                binding: bound.binding,
                name: None,
                problem,
            };
            let slot = layouts.find_slot(&bound).filter(|s| bound.index < s.count);
            let slot = slot.ok_or_else(|| {
                unfit(format!(
                    "there is no descriptor for element {}",
                    bound.index
                ))
            })?;
            let row = slot.build_write_info(&self.device, what).map_err(unfit)?;
            rows.push((bound, slot.kind, row));
        }
        let writes: SmallVec<[_; FEW_BUFFERS]> = rows
            .iter()
            .map(|(bound, kind, row)| {
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(sets[bound.set as usize])
                    .dst_binding(bound.binding)
                    .dst_array_element(bound.index)
                    .descriptor_type(*kind);
                match row {
                    DescriptorWriteInfo::Buffer(info) => {
                        write.buffer_info(std::slice::from_ref(info))
                    }
                    DescriptorWriteInfo::Image(info) => {
                        write.image_info(std::slice::from_ref(info))
                    }
                    DescriptorWriteInfo::Texels(view) => {
                        write.texel_buffer_view(std::slice::from_ref(view))
                    }
                }
            })
            .collect();
        // SAFETY: the sets are new, so not in use; binding, element and kind are of their layout;
        // buffers, images and samplers are alive and kept by the batch.
        unsafe { self.device.raw().update_descriptor_sets(&writes, &[]) };
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back(known);
        Ok(sets)
    }

    /// New sets of a shader.
    fn allocate_sets(
        &mut self,
        layouts: &DescriptorLayouts,
    ) -> Result<DescriptorSets, DeviceError> {
        let mut begins_level = false;
        loop {
            let Some(pool) = self.pools.current() else {
                self.pools.push_owned(self.create_pool(layouts)?);
                begins_level = true;
                continue;
            };
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(***pool)
                .set_layouts(layouts.raw());
            // SAFETY: the pool and the layouts are alive.
            match unsafe { self.device.raw().allocate_descriptor_sets(&info) } {
                Ok(sets) => return Ok(DescriptorSets::from_vec(sets)),
                Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL)
                    if !begins_level =>
                {
                    self.pools.advance();
                }
                Err(e) => return Err(call_error("vkAllocateDescriptorSets", e)),
            }
        }
    }

    /// A pool with room for at least one set of each layout.
    fn create_pool(
        &self,
        layouts: &DescriptorLayouts,
    ) -> Result<OwnedHandle<vk::DescriptorPool>, DeviceError> {
        let size = |&(kind, usual): &(_, u32)| {
            vk::DescriptorPoolSize::default()
                .ty(kind)
                .descriptor_count(layouts.count_descriptors(kind).max(usual))
        };
        let sizes: Vec<_> = POOL_SIZES.iter().map(size).collect();
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(POOL_SETS.max(layouts.sets.len() as u32))
            .pool_sizes(&sizes);
        // SAFETY: the device is alive.
        let made = unsafe { self.device.raw().create_descriptor_pool(&info, None) };
        OwnedHandle::new(&self.device, "vkCreateDescriptorPool", made)
    }
}
