//! Descriptor sets: their layouts from a shader's interface, pools, and what is bound.

use super::device::{Device, Owned};
use super::error::{Call, failed, unsupported};
use super::memory::Buffer;
use crate::{Bound, Error};
use ash::vk;
use spirula_spirv::reflect::{Binding, BindingKind, Interface};
use std::collections::VecDeque;
use std::sync::Arc;

/// Descriptors for an array that says not how long it is.
const UNSIZED: u32 = 256;
/// Launches whose sets are known.
const RECENT: usize = 8;
/// Sets of a pool.
const POOL_SETS: u32 = 64;
/// Descriptors of each kind in a pool.
const POOL_DESCRIPTORS: u32 = 256;

/// A binding as Vulkan sees it.
struct Slot {
    set: u32,
    binding: u32,
    kind: vk::DescriptorType,
    count: u32,
    is_unsized: bool,
}

/// The layouts of all sets of a shader.
pub struct Layouts {
    sets: Vec<Owned<vk::DescriptorSetLayout>>,
    slots: Vec<Slot>,
}

impl Layouts {
    /// Layouts for the bindings of a shader. Variables that share a binding share a descriptor.
    pub fn new(device: &Arc<Device>, interface: &Interface) -> Result<Layouts, Error> {
        let mut slots: Vec<Slot> = Vec::new();
        for binding in &interface.bindings {
            let slot = slot(binding)?;
            match slots.last_mut() {
                Some(last) if (last.set, last.binding) == (slot.set, slot.binding) => {
                    if last.kind != slot.kind {
                        let text = "it is declared as a storage buffer and as a uniform buffer";
                        return Err(refused(binding, text));
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
            return Err(unsupported(text));
        }
        let sets = (0..count).map(|set| layout(device, &slots, set));
        Ok(Layouts {
            sets: sets.collect::<Result<_, _>>()?,
            slots,
        })
    }

    /// The layouts, by number of the set.
    pub fn raw(&self) -> Vec<vk::DescriptorSetLayout> {
        self.sets.iter().map(|set| **set).collect()
    }

    fn kind(&self, bound: &Bound) -> Option<vk::DescriptorType> {
        let mut slots = self.slots.iter();
        let slot = slots.find(|s| (s.set, s.binding) == (bound.set, bound.binding))?;
        (bound.index < slot.count).then_some(slot.kind)
    }

    /// Whether the entry point uses what is bound; else it has no descriptor.
    pub fn has(&self, bound: &Bound) -> bool {
        let mut slots = self.slots.iter();
        slots.any(|s| (s.set, s.binding) == (bound.set, bound.binding))
    }

    fn needed(&self, kind: vk::DescriptorType) -> u32 {
        let slots = self.slots.iter().filter(|s| s.kind == kind);
        slots.fold(0, |sum, slot| sum.saturating_add(slot.count))
    }
}

fn refused(binding: &Binding, problem: &str) -> Error {
    Error::Binding {
        set: binding.set,
        binding: binding.binding,
        name: binding.name.clone(),
        problem: problem.to_owned(),
    }
}

fn slot(binding: &Binding) -> Result<Slot, Error> {
    let kind = match binding.kind {
        BindingKind::Storage(_) => vk::DescriptorType::STORAGE_BUFFER,
        BindingKind::Uniform(_) => vk::DescriptorType::UNIFORM_BUFFER,
        BindingKind::Opaque(_) => {
            let text = "it is an image or a sampler, which is not supported";
            return Err(refused(binding, text));
        }
    };
    let is_unsized = binding.count == 0;
    Ok(Slot {
        set: binding.set,
        binding: binding.binding,
        kind,
        count: if is_unsized { UNSIZED } else { binding.count },
        is_unsized,
    })
}

fn layout(
    device: &Arc<Device>,
    slots: &[Slot],
    set: u32,
) -> Result<Owned<vk::DescriptorSetLayout>, Error> {
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
        flags.push(match slot.is_unsized {
            true => vk::DescriptorBindingFlags::PARTIALLY_BOUND,
            false => vk::DescriptorBindingFlags::empty(),
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
    Owned::new(device, "vkCreateDescriptorSetLayout", made)
}

/// A part of a buffer at a descriptor.
pub struct Part<'a> {
    /// Which descriptor; its buffer is the caller's.
    pub bound: Bound,
    /// The buffer.
    pub buffer: &'a Buffer,
    /// First byte and number of bytes.
    pub range: (u64, u64),
}

/// Pools that grow by need and are emptied together.
pub struct Pools {
    device: Arc<Device>,
    pools: Vec<Owned<vk::DescriptorPool>>,
    /// The pool that sets are taken from.
    current: usize,
    /// The sets that were made last, which launches of the same in a loop share.
    recent: VecDeque<(Key, Vec<vk::DescriptorSet>)>,
}

/// The address of a pipeline's layouts, which the batch keeps, and what is bound.
type Key = (usize, Vec<(Bound, vk::Buffer, (u64, u64))>);

impl Pools {
    /// No pools yet.
    pub fn new(device: &Arc<Device>) -> Pools {
        Pools {
            device: Arc::clone(device),
            pools: Vec::new(),
            current: 0,
            recent: VecDeque::new(),
        }
    }

    /// Takes all sets back. None of them may be in use by the device.
    pub fn reset(&mut self) -> Result<(), Error> {
        self.current = 0;
        self.recent.clear();
        for pool in &self.pools {
            let flags = vk::DescriptorPoolResetFlags::empty();
            // SAFETY: the batch that used the sets is done.
            let reset = unsafe { self.device.raw().reset_descriptor_pool(**pool, flags) };
            reset.of("vkResetDescriptorPool")?;
        }
        Ok(())
    }

    /// The sets of a shader with buffers bound.
    pub fn bind<'a>(
        &mut self,
        layouts: &Layouts,
        bound: impl Iterator<Item = Part<'a>>,
    ) -> Result<Vec<vk::DescriptorSet>, Error> {
        let raw = layouts.raw();
        if raw.is_empty() {
            return Ok(Vec::new());
        }
        let parts: Vec<_> = bound.filter(|part| layouts.has(&part.bound)).collect();
        let what = parts.iter().map(|p| (p.bound, p.buffer.raw(), p.range));
        let key: Key = (std::ptr::from_ref(layouts) as usize, what.collect());
        if let Some((_, sets)) = self.recent.iter().find(|(known, _)| *known == key) {
            return Ok(sets.clone());
        }
        let sets = self.take(layouts, &raw)?;
        let mut rows = Vec::new();
        for Part {
            bound,
            buffer,
            range,
        } in parts
        {
            let kind = layouts.kind(&bound).ok_or_else(|| Error::Binding {
                set: bound.set,
                binding: bound.binding,
                name: None,
                problem: format!("there is no descriptor for element {}", bound.index),
            })?;
            self.check_range(&bound, range.1, kind)?;
            let info = vk::DescriptorBufferInfo::default()
                .buffer(buffer.raw())
                .offset(range.0)
                .range(range.1.max(1));
            rows.push((bound, kind, info));
        }
        let writes: Vec<_> = rows
            .iter()
            .map(|(bound, kind, info)| {
                vk::WriteDescriptorSet::default()
                    .dst_set(sets[bound.set as usize])
                    .dst_binding(bound.binding)
                    .dst_array_element(bound.index)
                    .descriptor_type(*kind)
                    .buffer_info(std::slice::from_ref(info))
            })
            .collect();
        // SAFETY: the sets are new, so not in use; binding, element and kind are of their layout;
        // the buffers are alive and kept by the batch.
        unsafe { self.device.raw().update_descriptor_sets(&writes, &[]) };
        if self.recent.len() == RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((key, sets.clone()));
        Ok(sets)
    }

    fn check_range(&self, bound: &Bound, size: u64, kind: vk::DescriptorType) -> Result<(), Error> {
        let limits = &self.device.physical.limits;
        let (most, name) = match kind {
            vk::DescriptorType::UNIFORM_BUFFER => (limits.max_uniform_buffer_range, "uniform"),
            _ => (limits.max_storage_buffer_range, "storage"),
        };
        if size <= most.into() {
            return Ok(());
        }
        Err(Error::Binding {
            set: bound.set,
            binding: bound.binding,
            name: None,
            problem: format!(
                "a buffer of {} bytes: {} binds {most} bytes of a {name} buffer at most",
                size, self.device.physical.info.id
            ),
        })
    }

    fn take(
        &mut self,
        layouts: &Layouts,
        raw: &[vk::DescriptorSetLayout],
    ) -> Result<Vec<vk::DescriptorSet>, Error> {
        loop {
            let is_new = self.current == self.pools.len();
            if is_new {
                self.pools.push(self.pool(layouts)?);
            }
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(*self.pools[self.current])
                .set_layouts(raw);
            // SAFETY: the pool and the layouts are alive.
            match unsafe { self.device.raw().allocate_descriptor_sets(&info) } {
                Ok(sets) => return Ok(sets),
                Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY | vk::Result::ERROR_FRAGMENTED_POOL)
                    if !is_new =>
                {
                    self.current += 1
                }
                Err(e) => return Err(failed("vkAllocateDescriptorSets", e)),
            }
        }
    }

    /// A pool that has room for one set of each layout at least.
    fn pool(&self, layouts: &Layouts) -> Result<Owned<vk::DescriptorPool>, Error> {
        let size = |kind| {
            vk::DescriptorPoolSize::default()
                .ty(kind)
                .descriptor_count(layouts.needed(kind).max(POOL_DESCRIPTORS))
        };
        let sizes = [
            size(vk::DescriptorType::STORAGE_BUFFER),
            size(vk::DescriptorType::UNIFORM_BUFFER),
        ];
        let info = vk::DescriptorPoolCreateInfo::default()
            .max_sets(POOL_SETS.max(layouts.sets.len() as u32))
            .pool_sizes(&sizes);
        // SAFETY: the device is alive.
        let made = unsafe { self.device.raw().create_descriptor_pool(&info, None) };
        Owned::new(&self.device, "vkCreateDescriptorPool", made)
    }
}
