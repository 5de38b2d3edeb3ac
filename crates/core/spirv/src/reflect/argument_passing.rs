//! Argument passing of shaders that were made from kernels, as `NonSemantic.ClspvReflection` records it.

use super::{BindingKind, EntryInterface, InterfaceBinding, InterfaceParam, ParamKind};
use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::Op;
use crate::grammar::clspv_reflection as reflection;
use crate::grammar::enumerants::StorageClass;
use crate::ir::{InstRef, ModuleSection, SpirvModule};

/// How a launch of a kernel becomes one of its shader.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClspvInterface {
    /// How each argument is passed, in order.
    pub arguments: Vec<ClspvArgument>,
    /// `SpecId`s of the size of a workgroup.
    pub workgroup_size: Option<[u32; 3]>,
    /// The size that the kernel demands.
    pub required_size: Option<[u32; 3]>,
    /// `SpecId` of the number of dimensions.
    pub dimensions: Option<u32>,
    /// Byte of the push constants where three words with the global offset begin.
    pub global_offset: Option<u32>,
    /// Variables at program scope.
    pub program: Option<ProgramMemory>,
    /// The format string.
    pub printf: Option<PrintfBuffer>,
    /// Samplers that the kernel itself declares.
    pub samplers: Vec<LiteralSampler>,
    /// Image queries of the kernel that shaders lack.
    pub queries: Vec<ImageQuery>,
    /// Properties of sampler arguments that the kernel needs.
    pub masks: Vec<SamplerMask>,
}

/// A sampler that a kernel declares, as a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LiteralSampler {
    /// Descriptor set.
    pub set: u32,
    /// Binding.
    pub binding: u32,
    /// OpenCL C's bits of it. Normalised coordinates are 1, and the address mode counts twice, as `OpConstantSampler`
    /// numbers it. The nearest texel is 0x10, and linear filtering 0x20.
    pub mask: u32,
}

/// The push constant in which the launch gives an argument's sampler, in the encoding of [`LiteralSampler`]. The
/// sampler at its descriptor then takes normalised coordinates, whatever the argument's does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SamplerMask {
    /// Which argument.
    pub ordinal: u32,
    /// First of four bytes of the push constants.
    pub offset: u32,
}

/// A property of an image argument, which the launch gives in the push constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageQuery {
    /// Which argument.
    pub ordinal: u32,
    /// First of four bytes of the push constants.
    pub offset: u32,
    /// The property.
    pub what: ImageFact,
}

/// Properties of an image that kernels may query, in OpenCL's numbers (`CL_R` and so on).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageFact {
    /// The order of its components.
    ChannelOrder,
    /// The type of its components.
    ChannelType,
}

/// A buffer with the variables at program scope of a module, which all its kernels share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProgramMemory {
    /// First of eight bytes of the push constants that are its address.
    pub offset: u32,
    /// Its initial contents.
    pub bytes: Vec<u8>,
    /// Addresses in it of places in it: the byte that is meant, and the first of the address' eight.
    pub pointers: Vec<(u32, u32)>,
}

/// A buffer that kernels print to. It has the number of words that follow, or would if it were larger, and records of a
/// text's number and its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintfBuffer {
    /// First of eight bytes of the push constants that are its address.
    pub offset: u32,
    /// Bytes that it has.
    pub size: u32,
    /// Texts, each with its number and the bytes of each argument in a record. Strings among the
    /// arguments are texts by number.
    pub texts: Vec<(u32, Vec<u8>, Vec<u32>)>,
}

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClspvArgument {
    /// So many bytes at an offset of the push constants.
    Pushed {
        /// First byte.
        offset: u32,
        /// Bytes.
        size: u32,
    },
    /// The address of a buffer at an offset of the push constants.
    Address {
        /// First of eight bytes.
        offset: u32,
    },
    /// Workgroup memory whose number of elements is a specialisation constant.
    Workgroup {
        /// `SpecId`.
        spec_id: u32,
        /// Bytes of an element.
        element: u32,
    },
    /// A buffer, an image or a sampler at a descriptor.
    Bound {
        /// Descriptor set.
        set: u32,
        /// Binding.
        binding: u32,
    },
}

impl ClspvInterface {
    /// Reflection records of an entry point's function, and its parameters.
    pub(super) fn from_module(
        module: &SpirvModule,
        definitions: &IdDefinitions,
        interface: &EntryInterface,
    ) -> Option<(ClspvInterface, Vec<InterfaceParam>)> {
        let imports = module.section_insts(ModuleSection::Imports);
        let set = imports
            .filter(|i| {
                i.string_operand(0)
                    .starts_with("NonSemantic.ClspvReflection.")
            })
            .find_map(InstRef::result)?;
        let records = |s: ModuleSection| {
            let records = module.section_insts(s).filter(|i| i.op() == Op::ExtInst);
            records.filter(move |i| i.id_operand(0) == set)
        };
        let reader = ClspvReader {
            module,
            definitions,
        };
        let mut passing = ClspvInterface::default();
        let mut params: Vec<(u32, InterfaceParam)> = Vec::new();
        let mut kernel = None;
        for inst in records(ModuleSection::Globals).chain(records(ModuleSection::Trailer)) {
            let is_own = kernel.is_some() && inst.get_id(2) == kernel;
            match inst.operand_word(1) {
                reflection::KERNEL if inst.get_id(2) == Some(interface.function) => {
                    kernel = inst.result();
                }
                reflection::SPEC_CONSTANT_WORKGROUP_SIZE => {
                    passing.workgroup_size = reader.read_triple(inst, 2);
                }
                reflection::SPEC_CONSTANT_WORK_DIM => {
                    passing.dimensions = reader.read_number(inst, 2)
                }
                reflection::PROPERTY_REQUIRED_WORKGROUP_SIZE if is_own => {
                    passing.required_size = reader.read_triple(inst, 3);
                }
                reflection::PUSH_CONSTANT_GLOBAL_OFFSET => {
                    passing.global_offset = reader.read_number(inst, 2);
                }
                reflection::PROGRAM_SCOPE_VARIABLE_POINTER_PUSH_CONSTANT
                | reflection::PROGRAM_SCOPE_VARIABLE_POINTER_RELOCATION => {
                    reader.read_program_memory(inst, passing.program.get_or_insert_default());
                }
                reflection::PRINTF_INFO | reflection::PRINTF_BUFFER_POINTER_PUSH_CONSTANT => {
                    reader.read_printf(inst, passing.printf.get_or_insert_default());
                }
                reflection::LITERAL_SAMPLER => {
                    let sampler = reader.read_triple(inst, 2);
                    passing.samplers.extend(sampler.map(LiteralSampler::from));
                }
                reflection::IMAGE_ARGUMENT_INFO_CHANNEL_ORDER_PUSH_CONSTANT if is_own => {
                    let query = reader.read_image_query(inst, ImageFact::ChannelOrder);
                    passing.queries.extend(query);
                }
                reflection::IMAGE_ARGUMENT_INFO_CHANNEL_DATA_TYPE_PUSH_CONSTANT if is_own => {
                    let query = reader.read_image_query(inst, ImageFact::ChannelType);
                    passing.queries.extend(query);
                }
                reflection::NORMALIZED_SAMPLER_MASK_PUSH_CONSTANT if is_own => {
                    passing.masks.extend(reader.read_sampler_mask(inst));
                }
                _ if is_own => {
                    if let Some((ordinal, passed, param)) = reader.read_argument(inst) {
                        passing.arguments.push(passed);
                        params.push((ordinal, param));
                    }
                }
                _ => {}
            }
        }
        kernel?;
        // Arguments come in order, each once.
        let is_whole = params.iter().zip(0..).all(|((n, _), at)| *n == at);
        is_whole.then(|| (passing, params.into_iter().map(|(_, p)| p).collect()))
    }

    /// Gives bound parameters the types of their bindings.
    pub(super) fn type_params(&self, params: &mut [InterfaceParam], bindings: &[InterfaceBinding]) {
        for (passed, param) in self.arguments.iter().zip(params) {
            let ClspvArgument::Bound { set, binding } = *passed else {
                continue;
            };
            let mut bindings = bindings.iter();
            let found = bindings.find(|b| (b.set, b.binding) == (set, binding));
            match (&mut param.kind, found.map(|b| b.kind)) {
                (ParamKind::Opaque { ty }, Some(BindingKind::Opaque(of)))
                | (
                    ParamKind::Buffer { pointee: ty, .. },
                    Some(BindingKind::Storage(of) | BindingKind::Uniform(of)),
                ) => *ty = of,
                _ => {}
            }
        }
    }
}

impl From<[u32; 3]> for LiteralSampler {
    fn from([set, binding, mask]: [u32; 3]) -> Self {
        LiteralSampler { set, binding, mask }
    }
}

struct ClspvReader<'a> {
    module: &'a SpirvModule,
    definitions: &'a IdDefinitions,
}

impl ClspvReader<'_> {
    fn read_number(&self, inst: InstRef<'_>, n: usize) -> Option<u32> {
        let value = self
            .definitions
            .constant_value(self.module, inst.get_id(n)?)?;
        u32::try_from(value).ok()
    }

    fn read_triple(&self, inst: InstRef<'_>, n: usize) -> Option<[u32; 3]> {
        let at = |k| self.read_number(inst, n + k);
        Some([at(0)?, at(1)?, at(2)?])
    }

    /// A string's bytes.
    fn read_string(&self, id: Option<Id>) -> Option<String> {
        let text = self.definitions.get(self.module, id?)?;
        (text.op() == Op::String).then(|| text.string_operand(0))
    }

    fn read_image_query(&self, inst: InstRef<'_>, what: ImageFact) -> Option<ImageQuery> {
        let [ordinal, offset] = [self.read_number(inst, 3)?, self.read_number(inst, 4)?];
        Some(ImageQuery {
            ordinal,
            offset,
            what,
        })
    }

    fn read_sampler_mask(&self, inst: InstRef<'_>) -> Option<SamplerMask> {
        let [ordinal, offset] = [self.read_number(inst, 3)?, self.read_number(inst, 4)?];
        Some(SamplerMask { ordinal, offset })
    }

    fn read_program_memory(&self, inst: InstRef<'_>, program: &mut ProgramMemory) {
        let (a, b) = (self.read_number(inst, 2), self.read_number(inst, 3));
        if inst.operand_word(1) == reflection::PROGRAM_SCOPE_VARIABLE_POINTER_RELOCATION {
            program.pointers.extend(a.zip(b));
            return;
        }
        let (Some(offset), Some(data)) = (a, self.read_string(inst.get_id(4))) else {
            return;
        };
        program.offset = offset;
        let digit = |byte: u8| (byte as char).to_digit(16).unwrap_or(0) as u8;
        let pairs = data.as_bytes().chunks_exact(2);
        let bytes = pairs.map(|pair| digit(pair[0]) << 4 | digit(pair[1]));
        program.bytes.extend(bytes);
    }

    fn read_printf(&self, inst: InstRef<'_>, printf: &mut PrintfBuffer) {
        let Some(first) = self.read_number(inst, 2) else {
            return;
        };
        if inst.operand_word(1) == reflection::PRINTF_BUFFER_POINTER_PUSH_CONSTANT {
            printf.offset = first;
            printf.size = self.read_number(inst, 4).unwrap_or(0);
            return;
        }
        let text = self.read_string(inst.get_id(3)).unwrap_or_default();
        let sizes = (4..inst.operands().len()).filter_map(|n| self.read_number(inst, n));
        let text = (first, text.into_bytes(), sizes.collect());
        printf.texts.push(text);
    }

    /// A string of the `ArgumentInfo` that is the last operand: the name or the type name.
    fn read_argument_info(&self, info: Option<Id>, operand: usize) -> Option<String> {
        let info = self.definitions.get(self.module, info?)?;
        self.read_string(info.get_id(operand))
            .filter(|t| !t.is_empty())
    }

    fn read_argument(&self, inst: InstRef<'_>) -> Option<(u32, ClspvArgument, InterfaceParam)> {
        // Types are recorded by name; bound parameters have the type of their binding.
        let ty = inst.result_type()?;
        let ordinal = self.read_number(inst, 3)?;
        let (a, b) = (self.read_number(inst, 4)?, self.read_number(inst, 5)?);
        let (passed, kind) = match inst.operand_word(1) {
            reflection::ARGUMENT_POD_PUSH_CONSTANT => {
                let kind = ParamKind::Value {
                    ty,
                    size: b.into(),
                    align: 1,
                    by_pointer: false,
                };
                (ClspvArgument::Pushed { offset: a, size: b }, kind)
            }
            reflection::ARGUMENT_POINTER_PUSH_CONSTANT => {
                let class = StorageClass::CrossWorkgroup;
                let kind = ParamKind::Buffer { class, pointee: ty };
                (ClspvArgument::Address { offset: a }, kind)
            }
            reflection::ARGUMENT_WORKGROUP => {
                let passed = ClspvArgument::Workgroup {
                    spec_id: a,
                    element: b,
                };
                (passed, ParamKind::Workgroup { pointee: ty })
            }
            reflection::ARGUMENT_STORAGE_BUFFER | reflection::ARGUMENT_UNIFORM => {
                let class = match inst.operand_word(1) {
                    reflection::ARGUMENT_UNIFORM => StorageClass::Uniform,
                    _ => StorageClass::StorageBuffer,
                };
                let kind = ParamKind::Buffer { class, pointee: ty };
                (ClspvArgument::Bound { set: a, binding: b }, kind)
            }
            reflection::ARGUMENT_SAMPLED_IMAGE
            | reflection::ARGUMENT_STORAGE_IMAGE
            | reflection::ARGUMENT_UNIFORM_TEXEL_BUFFER
            | reflection::ARGUMENT_STORAGE_TEXEL_BUFFER
            | reflection::ARGUMENT_SAMPLER => {
                let passed = ClspvArgument::Bound { set: a, binding: b };
                (passed, ParamKind::Opaque { ty })
            }
            _ => return None,
        };
        let param = InterfaceParam {
            name: self.read_argument_info(inst.get_id(6), 2),
            type_name: self.read_argument_info(inst.get_id(6), 3),
            kind,
        };
        Some((ordinal, passed, param))
    }
}
