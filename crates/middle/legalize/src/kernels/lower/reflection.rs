//! `NonSemantic.ClspvReflection`: how a launch of a kernel becomes a launch of its shader.
//!
//! The contents of variables at program scope are digits in base 16, as `clspv` has them. The length of a string is limited, so that large
//! contents are several instructions with one offset for the address, in order.

use super::ShaderLowering;
use super::descriptors::{ImageArgumentBinding, KernelImageUsage, SET};
use super::interface::ArgumentPassing;
use super::type_names::type_name;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::clspv_reflection as reflection;
use spirula_spirv::grammar::enumerants::Dim;
use spirula_spirv::ir::ModuleSection;

/// Bytes of contents in one string.
const CHUNK: usize = 1 << 16;

impl ShaderLowering<'_> {
    /// Writes the reflection of a kernel whose function is complete.
    pub fn reflect_kernel(&mut self, number: usize, function: Id) -> Result<(), SourceDiagnostic> {
        let set = self.b.import_set("NonSemantic.ClspvReflection.5");
        let kernel = &self.plan.kernels[number];
        let (name, size) = (kernel.name.clone(), kernel.size);
        let arguments = kernel.arguments.clone();
        let name = self.make_string(name.as_bytes());
        let count = self.b.constant_u32(arguments.len() as u32);
        let kernel = self.emit_reflection(set, reflection::KERNEL, &[function, name, count]);
        for (ordinal, argument) in arguments.iter().enumerate() {
            let named = self.info.names.get(self.info.module, argument.id);
            let named = named.unwrap_or_default();
            let called = type_name(self.info, argument.id);
            let texts = [named, called].map(|text| self.make_string(text.as_bytes()));
            let argument_info = self.emit_reflection(set, reflection::ARGUMENT_INFO, &texts);
            let ordinal = ordinal as u32;
            let (instruction, a, b) = match argument.way {
                ArgumentPassing::Value { ty, at } | ArgumentPassing::Copy { ty, at } => {
                    let size = self.info.layouts.get(ty).size as u32;
                    (reflection::ARGUMENT_POD_PUSH_CONSTANT, at, size)
                }
                ArgumentPassing::Address { at } => {
                    (reflection::ARGUMENT_POINTER_PUSH_CONSTANT, at, 8)
                }
                ArgumentPassing::Workgroup { spec_id } => {
                    let pointees = self.points_to.find_set(argument.id);
                    let element =
                        pointees.map_or(1, |c| self.points_to.memory(c).element_scalar().size());
                    (reflection::ARGUMENT_WORKGROUP, spec_id, element)
                }
                ArgumentPassing::Image(picture) => {
                    (descriptor_kind(&picture), SET, picture.binding)
                }
                ArgumentPassing::Sampler { binding, .. } => {
                    (reflection::ARGUMENT_SAMPLER, SET, binding)
                }
            };
            let numbers = [ordinal, a, b].map(|n| self.b.constant_u32(n));
            self.emit_reflection(
                set,
                instruction,
                &[kernel, numbers[0], numbers[1], numbers[2], argument_info],
            );
            for (instruction, at) in reflect_pushed_words(argument.way) {
                let numbers = [ordinal, at, 4].map(|n| self.b.constant_u32(n));
                self.emit_reflection(
                    set,
                    instruction,
                    &[kernel, numbers[0], numbers[1], numbers[2]],
                );
            }
        }
        if let Some(size) = size {
            let size = size.map(|n| self.b.constant_u32(n));
            let instruction = reflection::PROPERTY_REQUIRED_WORKGROUP_SIZE;
            self.emit_reflection(set, instruction, &[kernel, size[0], size[1], size[2]]);
        }
        Ok(())
    }

    /// Writes the reflection that all kernels share.
    pub fn reflect_shared(&mut self) {
        let set = self.b.import_set("NonSemantic.ClspvReflection.5");
        if self.plan.fixed_size.is_none() {
            let first = self.plan.first_spec;
            let ids = [0, 1, 2].map(|n| self.b.constant_u32(first + n));
            self.emit_reflection(set, reflection::SPEC_CONSTANT_WORKGROUP_SIZE, &ids);
        }
        if self.shared.has_dimensions {
            let id = self.b.constant_u32(self.plan.first_spec + 3);
            self.emit_reflection(set, reflection::SPEC_CONSTANT_WORK_DIM, &[id]);
        }
        if self.shared.push.is_some() {
            let numbers = [0, 12].map(|n| self.b.constant_u32(n));
            self.emit_reflection(set, reflection::PUSH_CONSTANT_GLOBAL_OFFSET, &numbers);
        }
        for (mask, binding) in self.descriptors.literal.clone() {
            let numbers = [SET, binding, mask].map(|n| self.b.constant_u32(n));
            self.emit_reflection(set, reflection::LITERAL_SAMPLER, &numbers);
        }
        self.reflect_program(set);
        self.reflect_texts(set);
    }

    /// Writes the reflection of variables at program scope.
    fn reflect_program(&mut self, set: Id) {
        let Some(at) = self.plan.program else { return };
        let program = self.program;
        let [at, size] = [at, 8].map(|n| self.b.constant_u32(n));
        let mut zeros = None;
        for chunk in program.bytes.chunks(CHUNK) {
            let data = match (chunk.iter().all(|b| *b == 0), zeros) {
                (true, Some((length, known))) if length == chunk.len() => known,
                (is_zero, _) => {
                    let made = self.make_hex_string(chunk);
                    zeros = is_zero.then_some((chunk.len(), made)).or(zeros);
                    made
                }
            };
            let instruction = reflection::PROGRAM_SCOPE_VARIABLE_POINTER_PUSH_CONSTANT;
            self.emit_reflection(set, instruction, &[at, size, data]);
        }
        for (to, at) in &program.pointers {
            let [to, at] = [*to, *at].map(|n| self.b.constant_u32(n as u32));
            let instruction = reflection::PROGRAM_SCOPE_VARIABLE_POINTER_RELOCATION;
            self.emit_reflection(set, instruction, &[to, at, size]);
        }
    }

    /// Writes the reflection of `printf`.
    fn reflect_texts(&mut self, set: Id) {
        let Some(at) = self.plan.printf else { return };
        for (number, text) in std::mem::take(&mut self.shared.texts)
            .into_iter()
            .enumerate()
        {
            let number = self.b.constant_u32(number as u32);
            let words = self.make_string(&text.bytes);
            let mut operands = vec![number, words];
            operands.extend(text.sizes.iter().map(|n| self.b.constant_u32(*n)));
            self.emit_reflection(set, reflection::PRINTF_INFO, &operands);
        }
        let numbers = [at, 8, super::printf::BUFFER].map(|n| self.b.constant_u32(n));
        self.emit_reflection(
            set,
            reflection::PRINTF_BUFFER_POINTER_PUSH_CONSTANT,
            &numbers,
        );
    }

    fn make_hex_string(&mut self, bytes: &[u8]) -> Id {
        let digits = bytes.iter().flat_map(|b| [b >> 4, b & 15]);
        let digits: Vec<u8> = digits
            .map(|d| b"0123456789abcdef"[usize::from(d)])
            .collect();
        self.make_string(&digits)
    }

    /// A string, up to its first zero.
    fn make_string(&mut self, text: &[u8]) -> Id {
        let bytes = text.split(|b| *b == 0).next().unwrap_or(&[]);
        let mut words = Vec::new();
        for chunk in bytes
            .chunks(4)
            .chain((bytes.len() % 4 == 0).then_some(&[][..]))
        {
            let mut word = [0; 4];
            word[..chunk.len()].copy_from_slice(chunk);
            words.push(u32::from_le_bytes(word));
        }
        let id = self.b.fresh_id();
        words.insert(0, id.word());
        self.b.push_inst(ModuleSection::Sources, Op::String, &words);
        id
    }

    fn emit_reflection(&mut self, set: Id, instruction: u32, operands: &[Id]) -> Id {
        let (ty, id) = (self.b.void_type(), self.b.fresh_id());
        let mut words = vec![ty.word(), id.word(), set.word(), instruction];
        words.extend(operands.iter().map(|o| o.word()));
        self.b
            .push_inst(ModuleSection::Trailer, Op::ExtInst, &words);
        id
    }
}

/// The kind of an image's descriptor.
fn descriptor_kind(picture: &ImageArgumentBinding) -> u32 {
    match (
        picture.usage == KernelImageUsage::Reads,
        picture.dim == Dim::Buffer,
    ) {
        (true, false) => reflection::ARGUMENT_SAMPLED_IMAGE,
        (true, true) => reflection::ARGUMENT_UNIFORM_TEXEL_BUFFER,
        (false, false) => reflection::ARGUMENT_STORAGE_IMAGE,
        (false, true) => reflection::ARGUMENT_STORAGE_TEXEL_BUFFER,
    }
}

/// Writes the facts of images and samplers that are pushed, and their offsets.
fn reflect_pushed_words(way: ArgumentPassing) -> Vec<(u32, u32)> {
    match way {
        ArgumentPassing::Image(picture) => {
            let order = reflection::IMAGE_ARGUMENT_INFO_CHANNEL_ORDER_PUSH_CONSTANT;
            let data_type = reflection::IMAGE_ARGUMENT_INFO_CHANNEL_DATA_TYPE_PUSH_CONSTANT;
            let both = [(order, picture.order), (data_type, picture.data_type)];
            let both = both.into_iter();
            both.filter_map(|(instruction, at)| Some((instruction, at?)))
                .collect()
        }
        ArgumentPassing::Sampler { mask, .. } => {
            vec![(reflection::NORMALIZED_SAMPLER_MASK_PUSH_CONSTANT, mask)]
        }
        _ => Vec::new(),
    }
}
