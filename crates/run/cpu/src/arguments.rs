//! Where a launch's arguments and bindings stand for generated code.

use crate::compile::Kernel;
use crate::image::{Image, ImageType, Texture};
use crate::launch::{Argument, Bound, Launch, Resource, RunError};
use crate::lower::{Slot, SlotKind, What};
use crate::pipe;
use crate::tally::Counted;

/// Most bytes of a workgroup's memory.
const MAX_WORKGROUP: u64 = 1 << 30;

/// What the address of workgroup memory that a launch gives is a multiple of: room for a vector of 16 doubles.
const ARGUMENT_ALIGN: usize = 128;

/// What all workgroups of a launch share.
pub(crate) struct Shared {
    pub args: Vec<u64>,
    /// Offsets in `args` of pointers to workgroup memory, and where they point to there.
    pub locals: Vec<(usize, u64)>,
    pub bindings: Vec<[u64; 2]>,
    /// Keeps the tables of arrays of bindings alive.
    _tables: Vec<Vec<[u64; 2]>>,
    /// What images are, at addresses that generated code is given.
    #[expect(clippy::vec_box, reason = "addresses stay while there come more")]
    textures: Vec<Box<Texture>>,
    pub push: Vec<u64>,
    pub workgroup_bytes: u64,
    /// What the address of the workgroup's memory is a multiple of.
    pub workgroup_align: usize,
    /// Whether what is only written is stored past the caches.
    pub streams: bool,
    /// What threads count in by themselves, if they do.
    pub counted: Option<Vec<Counted>>,
}

impl Kernel {
    /// Places what a launch is given.
    ///
    /// # Errors
    /// When it does not fit the kernel.
    pub(crate) fn shared(&self, launch: &Launch<'_>) -> Result<Shared, RunError> {
        let mut shared = Shared {
            args: Vec::new(),
            locals: Vec::new(),
            bindings: Vec::new(),
            _tables: Vec::new(),
            textures: Vec::new(),
            push: words_of(launch.push, self.push_bytes),
            workgroup_bytes: self.workgroup_bytes.into(),
            workgroup_align: self.workgroup_align as usize,
            streams: false,
            counted: None,
        };
        self.place_arguments(launch, &mut shared)?;
        self.place_bindings(launch, &mut shared)?;
        if shared.workgroup_bytes > MAX_WORKGROUP {
            let bytes = shared.workgroup_bytes;
            let message = format!("{bytes} bytes of workgroup memory are too many");
            return Err(RunError::Launch(message));
        }
        Ok(shared)
    }

    fn place_arguments(&self, launch: &Launch<'_>, shared: &mut Shared) -> Result<(), RunError> {
        if launch.arguments.len() != self.slots.len() {
            return Err(RunError::Launch(format!(
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
        let mut block = vec![0u8; (bytes as usize).next_multiple_of(16)];
        for (n, (slot, argument)) in self.slots.iter().zip(launch.arguments).enumerate() {
            let at = slot.offset as usize;
            let passed = match (slot.what, argument) {
                (What::Image(ty), Argument::Image(image)) => {
                    let texture = shared.texture(ty, image);
                    let texture = texture.map_err(|problem| {
                        let name = &self.name;
                        RunError::Launch(format!("argument {n} of {name}: {problem}"))
                    })?;
                    Some(Passed::Address(texture))
                }
                (What::Sampler, Argument::Sampler(sampler)) => {
                    Some(Passed::Address(sampler.word()))
                }
                (What::Pipe, Argument::Memory(memory)) => {
                    if !pipe::is_pipe(memory) {
                        let name = &self.name;
                        let message = format!("argument {n} of {name} is no pipe");
                        return Err(RunError::Launch(message));
                    }
                    Some(Passed::Address(memory.address as u64))
                }
                _ => argument_bytes(slot, argument),
            };
            match passed {
                Some(Passed::Bytes(bytes)) => block[at..at + bytes.len()].copy_from_slice(bytes),
                Some(Passed::Address(address)) => {
                    block[at..at + 8].copy_from_slice(&address.to_le_bytes());
                }
                Some(Passed::Local(bytes)) => {
                    let offset = shared
                        .workgroup_bytes
                        .next_multiple_of(ARGUMENT_ALIGN as u64);
                    shared.workgroup_align = ARGUMENT_ALIGN;
                    shared.locals.push((at / 8, offset));
                    shared.workgroup_bytes = offset.saturating_add(bytes);
                }
                None => {
                    let message = format!("argument {n} of {} is of another kind", self.name);
                    return Err(RunError::Launch(message));
                }
            }
        }
        shared.args = words_of(&block, 0);
        Ok(())
    }

    fn place_bindings(&self, launch: &Launch<'_>, shared: &mut Shared) -> Result<(), RunError> {
        for slot in &self.bindings {
            let bound = |index: u32| {
                let mut all = launch.bindings.iter();
                all.find(|b| (b.set, b.binding, b.index) == (slot.set, slot.binding, index))
            };
            let Some(count) = slot.count else {
                let Some(found) = bound(0) else {
                    return Err(unbound(slot.set, slot.binding, 0));
                };
                let entry = shared.entry(slot.what, found)?;
                shared.bindings.push(entry);
                continue;
            };
            let same = |b: &&Bound| (b.set, b.binding) == (slot.set, slot.binding);
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
                    Some(found) => shared.entry(slot.what, found)?,
                    None => [0; 2],
                });
            }
            shared.bindings.push([table.as_ptr() as u64, count.into()]);
            shared._tables.push(table);
        }
        Ok(())
    }
}

impl Shared {
    /// The entry of a binding: what is bound must be what it takes.
    fn entry(&mut self, what: What, bound: &Bound) -> Result<[u64; 2], RunError> {
        let bad = |problem: String| {
            let Bound {
                set,
                binding,
                index,
                ..
            } = bound;
            let place = format!("set {set} binding {binding} element {index}");
            RunError::Launch(format!("{place}: {problem}"))
        };
        Ok(match (what, &bound.resource) {
            (What::Memory, Resource::Memory(memory)) => [memory.address as u64, memory.length],
            (What::Image(ty) | What::Both(ty), Resource::Image(image)) => {
                [self.texture(ty, image).map_err(bad)?, 0]
            }
            (What::Sampler, Resource::Sampler(sampler)) => [sampler.word(), 0],
            (What::Memory, _) => return Err(bad("it takes a buffer".to_owned())),
            (What::Sampler, _) => return Err(bad("it takes a sampler".to_owned())),
            _ => return Err(bad("it takes an image".to_owned())),
        })
    }

    /// The address of what an image is.
    fn texture(&mut self, ty: ImageType, image: &Image) -> Result<u64, String> {
        if let Some(problem) = ty.problem(&image.shape) {
            return Err(problem);
        }
        let bytes = image.shape.bytes().unwrap_or(u64::MAX);
        if bytes > image.memory.length {
            let length = image.memory.length;
            return Err(format!("its texels take {bytes} bytes, it has {length}"));
        }
        let texture = Box::new(Texture::new(image));
        let address: *const Texture = &*texture;
        self.textures.push(texture);
        Ok(address as u64)
    }
}

fn unbound(set: u32, binding: u32, index: u32) -> RunError {
    RunError::Launch(format!(
        "no memory is bound to set {set} binding {binding} element {index}"
    ))
}

enum Passed<'a> {
    Bytes(&'a [u8]),
    Address(u64),
    Local(u64),
}

fn argument_bytes<'a>(slot: &Slot, argument: &Argument<'a>) -> Option<Passed<'a>> {
    match (slot.kind, argument) {
        (SlotKind::ByValue | SlotKind::Copy, Argument::Bytes(bytes))
            if bytes.len() as u64 <= slot.bytes =>
        {
            Some(Passed::Bytes(bytes))
        }
        (SlotKind::Buffer, Argument::Memory(memory)) => {
            Some(Passed::Address(memory.address as u64))
        }
        (SlotKind::Buffer, Argument::Bytes(bytes)) if bytes.len() == 8 => {
            Some(Passed::Bytes(bytes))
        }
        (SlotKind::Local, Argument::Local(bytes)) => Some(Passed::Local(*bytes)),
        _ => None,
    }
}

/// Bytes in words, with zeros up to a size.
fn words_of(bytes: &[u8], least: u64) -> Vec<u64> {
    let mut words: Vec<u64> = bytes
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
