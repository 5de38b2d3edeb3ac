//! Marshalled arguments: the arguments and bindings of a launch in the form that generated code reads.

use super::jit_kernel::JitKernel;
use super::launch::{DescriptorResource, JitArgument, JitLaunch, LaunchError, ResourceBinding};
use super::privatised_memory::PrivatisedMemory;
use crate::image::sampler_word::encode_sampler;
use crate::image::texture_view::TextureView;
use crate::image::{HostImage, ImageType};
use crate::layout::globals::ParameterResource;
use crate::layout::parameters::{ParameterSlot, SlotKind};
use crate::pipe;
use smallvec::SmallVec;

/// Most bytes of a workgroup's memory.
const MAX_WORKGROUP: u64 = 1 << 30;

/// Alignment of workgroup memory that a launch passes. It suits a vector of 16 doubles.
const ARGUMENT_ALIGN: usize = 128;

/// The data that all workgroups of a launch share.
///
/// That of most launches is in place, since small launches take little longer than an allocation.
pub(crate) struct MarshalledArguments {
    pub args: SmallVec<[u64; 16]>,
    /// Offsets in `args` of pointers to workgroup memory, and where they point to there.
    pub locals: Vec<(usize, u64)>,
    pub bindings: SmallVec<[[u64; 2]; 8]>,
    /// The tables of arrays of bindings, which are kept alive.
    _tables: Vec<Vec<[u64; 2]>>,
    /// The textures, at addresses that are passed to generated code.
    #[expect(clippy::vec_box, reason = "addresses stay while there come more")]
    textures: Vec<Box<TextureView>>,
    pub push: SmallVec<[u64; 16]>,
    pub workgroup_bytes: u64,
    /// Alignment of the workgroup's memory.
    pub workgroup_align: usize,
    /// Whether memory that is only written takes non-temporal stores.
    pub non_temporal: bool,
    /// The memory of which each thread has a copy, if any.
    pub counted: Option<Vec<PrivatisedMemory>>,
}

impl JitKernel {
    /// Marshals the arguments and bindings of a launch.
    ///
    /// # Errors
    /// When they do not fit the kernel.
    pub(crate) fn marshal_arguments(
        &self,
        launch: &JitLaunch<'_>,
    ) -> Result<MarshalledArguments, LaunchError> {
        let mut shared = MarshalledArguments {
            args: SmallVec::new(),
            locals: Vec::new(),
            bindings: SmallVec::new(),
            _tables: Vec::new(),
            textures: Vec::new(),
            push: pack_words(launch.push, self.push_bytes),
            workgroup_bytes: self.workgroup_bytes.into(),
            workgroup_align: self.workgroup_align as usize,
            non_temporal: false,
            counted: None,
        };
        self.place_arguments(launch, &mut shared)?;
        self.place_bindings(launch, &mut shared)?;
        if shared.workgroup_bytes > MAX_WORKGROUP {
            let bytes = shared.workgroup_bytes;
            let message = format!("{bytes} bytes of workgroup memory are too many");
            return Err(LaunchError::Launch(message));
        }
        Ok(shared)
    }

    fn place_arguments(
        &self,
        launch: &JitLaunch<'_>,
        shared: &mut MarshalledArguments,
    ) -> Result<(), LaunchError> {
        if launch.arguments.len() != self.slots.len() {
            return Err(LaunchError::Launch(format!(
                "{} takes {} arguments, {} are given",
                self.name,
                self.slots.len(),
                launch.arguments.len()
            )));
        }
        let bytes = self
            .slots
            .last()
            .map_or(0, |s| u64::from(s.offset) + s.bytes);
        let size = (bytes as usize).next_multiple_of(16);
        let mut block: SmallVec<[u8; 128]> = SmallVec::from_elem(0, size);
        for (n, (slot, argument)) in self.slots.iter().zip(launch.arguments).enumerate() {
            let at = slot.offset as usize;
            let passed = match (slot.resource, argument) {
                (ParameterResource::Image(ty), JitArgument::Image(image)) => {
                    let texture = shared.add_texture(ty, image);
                    let texture = texture.map_err(|problem| {
                        let name = &self.name;
                        LaunchError::Launch(format!("argument {n} of {name}: {problem}"))
                    })?;
                    Some(ArgumentPayload::Address(texture))
                }
                (ParameterResource::Sampler, JitArgument::Sampler(sampler)) => {
                    Some(ArgumentPayload::Address(encode_sampler(sampler)))
                }
                (ParameterResource::Pipe, JitArgument::Memory(memory)) => {
                    if !pipe::is_pipe(memory) {
                        let name = &self.name;
                        let message = format!("argument {n} of {name} is no pipe");
                        return Err(LaunchError::Launch(message));
                    }
                    Some(ArgumentPayload::Address(memory.address as u64))
                }
                _ => argument_bytes(slot, argument),
            };
            match passed {
                Some(ArgumentPayload::Bytes(bytes)) => {
                    block[at..at + bytes.len()].copy_from_slice(bytes)
                }
                Some(ArgumentPayload::Address(address)) => {
                    block[at..at + 8].copy_from_slice(&address.to_le_bytes());
                }
                Some(ArgumentPayload::Local(bytes)) => {
                    let offset = shared
                        .workgroup_bytes
                        .next_multiple_of(ARGUMENT_ALIGN as u64);
                    shared.workgroup_align = ARGUMENT_ALIGN;
                    shared.locals.push((at / 8, offset));
                    shared.workgroup_bytes = offset.saturating_add(bytes);
                }
                None => {
                    let message = format!("argument {n} of {} is of another kind", self.name);
                    return Err(LaunchError::Launch(message));
                }
            }
        }
        shared.args = pack_words(&block, 0);
        Ok(())
    }

    fn place_bindings(
        &self,
        launch: &JitLaunch<'_>,
        shared: &mut MarshalledArguments,
    ) -> Result<(), LaunchError> {
        for slot in &self.bindings {
            let bound = |index: u32| {
                let mut all = launch.bindings.iter();
                all.find(|b| (b.set, b.binding, b.index) == (slot.set, slot.binding, index))
            };
            let Some(count) = slot.count else {
                let Some(found) = bound(0) else {
                    return Err(unbound_error(slot.set, slot.binding, 0));
                };
                let entry = shared.marshal_binding(slot.resource, found)?;
                shared.bindings.push(entry);
                continue;
            };
            let same = |b: &&ResourceBinding| (b.set, b.binding) == (slot.set, slot.binding);
            let given = launch
                .bindings
                .iter()
                .filter(same)
                .map(|b| b.index + 1)
                .max();
            let count = if count == 0 {
                given.unwrap_or(0)
            } else {
                count.min(given.unwrap_or(0).max(1))
            };
            let mut table = Vec::with_capacity(count as usize);
            for n in 0..count {
                table.push(match bound(n) {
                    Some(found) => shared.marshal_binding(slot.resource, found)?,
                    None => [0; 2],
                });
            }
            shared.bindings.push([table.as_ptr() as u64, count.into()]);
            shared._tables.push(table);
        }
        Ok(())
    }
}

impl MarshalledArguments {
    /// The entry of a binding.
    ///
    /// # Errors
    /// When the bound resource is not of the kind that the binding takes.
    fn marshal_binding(
        &mut self,
        resource: ParameterResource,
        bound: &ResourceBinding,
    ) -> Result<[u64; 2], LaunchError> {
        let bad = |problem: String| {
            let ResourceBinding {
                set,
                binding,
                index,
                ..
            } = bound;
            let place = format!("set {set} binding {binding} element {index}");
            LaunchError::Launch(format!("{place}: {problem}"))
        };
        Ok(match (resource, &bound.resource) {
            (ParameterResource::Memory, DescriptorResource::Memory(memory)) => {
                [memory.address as u64, memory.length]
            }
            (
                ParameterResource::Image(ty) | ParameterResource::Both(ty),
                DescriptorResource::Image(image),
            ) => [self.add_texture(ty, image).map_err(bad)?, 0],
            (ParameterResource::Sampler, DescriptorResource::Sampler(sampler)) => {
                [encode_sampler(sampler), 0]
            }
            (ParameterResource::Memory, _) => return Err(bad("it takes a buffer".to_owned())),
            (ParameterResource::Sampler, _) => return Err(bad("it takes a sampler".to_owned())),
            _ => return Err(bad("it takes an image".to_owned())),
        })
    }

    /// Adds the texture of an image. Returns its address.
    fn add_texture(&mut self, ty: ImageType, image: &HostImage) -> Result<u64, String> {
        if let Some(problem) = ty.find_mismatch(&image.shape) {
            return Err(problem);
        }
        let bytes = image.shape.total_bytes().unwrap_or(u64::MAX);
        if bytes > image.memory.length {
            let length = image.memory.length;
            return Err(format!("its texels take {bytes} bytes, it has {length}"));
        }
        let texture = Box::new(TextureView::new(image));
        let address: *const TextureView = &*texture;
        self.textures.push(texture);
        Ok(address as u64)
    }
}

fn unbound_error(set: u32, binding: u32, index: u32) -> LaunchError {
    LaunchError::Launch(format!(
        "no memory is bound to set {set} binding {binding} element {index}"
    ))
}

enum ArgumentPayload<'a> {
    Bytes(&'a [u8]),
    Address(u64),
    Local(u64),
}

fn argument_bytes<'a>(
    slot: &ParameterSlot,
    argument: &JitArgument<'a>,
) -> Option<ArgumentPayload<'a>> {
    match (slot.kind, argument) {
        (SlotKind::ByValue | SlotKind::Copy, JitArgument::Bytes(bytes))
            if bytes.len() as u64 <= slot.bytes =>
        {
            Some(ArgumentPayload::Bytes(bytes))
        }
        (SlotKind::Buffer, JitArgument::Memory(memory)) => {
            Some(ArgumentPayload::Address(memory.address as u64))
        }
        (SlotKind::Buffer, JitArgument::Bytes(bytes)) if bytes.len() == 8 => {
            Some(ArgumentPayload::Bytes(bytes))
        }
        (SlotKind::Local, JitArgument::Local(bytes)) => Some(ArgumentPayload::Local(*bytes)),
        _ => None,
    }
}

/// Bytes in words, padded with zeros to at least `least` bytes.
fn pack_words(bytes: &[u8], least: u64) -> SmallVec<[u64; 16]> {
    let mut words: SmallVec<[u64; 16]> = bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect();
    let least = (least as usize).div_ceil(8).max(1);
    if words.len() < least {
        words.resize(least, 0);
    }
    words
}
