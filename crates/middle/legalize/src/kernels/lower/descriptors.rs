//! Images and samplers as descriptors.
//!
//! All are in one set, numbered through the module: arguments in order, and behind them samplers that the source
//! has as constants. A kernel says of an image what it does with it, which decides the kind of descriptor; of
//! what its texels are only each access tells, so that an image is a variable for each kind of texels that is
//! accessed, all at one binding.

use super::ShaderLowering;
use crate::kernels::module_info::KernelModuleInfo;
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    AccessQualifier, Capability, Decoration, Dim, ImageFormat, StorageClass,
};
use spirula_spirv::ir::InstRef;

/// The set of all descriptors.
pub const SET: u32 = 0;

/// Most copies of an object that are looked through.
const DEEPEST: u32 = 32;

/// What a kernel does with an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelImageUsage {
    /// It reads, with a sampler or without.
    Reads,
    /// It writes.
    Writes,
    /// It does both, without samplers.
    Both,
}

/// An image that is an argument.
#[derive(Clone, Copy, Debug)]
pub struct ImageArgumentBinding {
    /// Its binding.
    pub binding: u32,
    /// What is done with it.
    pub usage: KernelImageUsage,
    /// Its dimensions.
    pub dim: Dim,
    /// Whether it has layers.
    pub is_arrayed: bool,
    /// Where the order of its channels is pushed, if the kernel asks for it.
    pub order: Option<u32>,
    /// Likewise the type of their data.
    pub data_type: Option<u32>,
}

impl ImageArgumentBinding {
    /// Coordinates that say where a texel is in a layer.
    pub fn count_axes(&self) -> u32 {
        match self.dim {
            Dim::Dim2D => 2,
            Dim::Dim3D => 3,
            _ => 1,
        }
    }
}

/// What texels are read or written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelClass {
    /// Floats.
    Floats,
    /// Integers with a sign.
    Signed,
    /// Integers without.
    Unsigned,
}

/// What the kernels of a module do with each image besides what its type says.
#[derive(Default)]
pub struct ImageRequirements {
    orders: FxHashSet<Id>,
    data_types: FxHashSet<Id>,
    written: FxHashSet<Id>,
}

impl ImageRequirements {
    /// One pass over all instructions.
    pub fn new(facts: &KernelModuleInfo<'_>) -> ImageRequirements {
        let mut asked = ImageRequirements::default();
        for inst in facts.module.all_insts() {
            let set = match inst.op() {
                Op::ImageQueryOrder => &mut asked.orders,
                Op::ImageQueryFormat => &mut asked.data_types,
                Op::ImageWrite => &mut asked.written,
                _ => continue,
            };
            set.insert(find_copied_object(facts, inst.id_operand(0)));
        }
        asked
    }

    /// An argument that is an image of type `ty`, at a binding. `push_constants` gives words of the push constants.
    ///
    /// # Errors
    /// When Vulkan has no such images for compute shaders.
    pub fn bind_image(
        &self,
        facts: &KernelModuleInfo<'_>,
        id: Id,
        ty: InstRef<'_>,
        binding: u32,
        push: &mut dyn FnMut() -> u32,
    ) -> Result<ImageArgumentBinding, SourceDiagnostic> {
        let &[_, dim, _, arrayed, samples, _, _, ref access @ ..] = ty.operands() else {
            return Err(facts.diagnose_id(id, "this type of images"));
        };
        let dim = Dim(dim);
        if !matches!(dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Buffer) {
            return Err(facts.diagnose_id(id, "an image of such dimensions"));
        }
        if samples != 0 {
            return Err(facts.diagnose_id(id, "an image of several samples"));
        }
        let usage = match access.first().map(|a| AccessQualifier(*a)) {
            Some(AccessQualifier::ReadWrite) => KernelImageUsage::Both,
            Some(AccessQualifier::WriteOnly) => KernelImageUsage::Writes,
            None if self.written.contains(&id) => KernelImageUsage::Both,
            _ => KernelImageUsage::Reads,
        };
        let mut place = |set: &FxHashSet<Id>| set.contains(&id).then(&mut *push);
        Ok(ImageArgumentBinding {
            binding,
            usage,
            dim,
            is_arrayed: arrayed != 0,
            order: place(&self.orders),
            data_type: place(&self.data_types),
        })
    }
}

/// What an object is a copy of.
pub fn find_copied_object(facts: &KernelModuleInfo<'_>, mut id: Id) -> Id {
    for _ in 0..DEEPEST {
        match facts.find_definition(id) {
            Ok(def) if def.op() == Op::CopyObject => id = def.id_operand(0),
            _ => break,
        }
    }
    id
}

/// A sampler of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceSampler {
    /// One that the module declares.
    Constant {
        /// How coordinates outside are taken: a number of `OpConstantSampler`.
        addressing: u32,
        /// Whether coordinates go from 0 to 1.
        is_normalized: bool,
        /// Whether texels are interpolated.
        is_linear: bool,
    },
    /// An argument: its binding, and where its properties are pushed.
    Argument {
        /// Binding.
        binding: u32,
        /// Byte of the push constants.
        mask: u32,
    },
}

/// Bits of a sampler's properties as `clspv` has them, which are those of OpenCL C's constants there.
pub mod mask {
    /// Coordinates go from 0 to 1.
    pub const NORMALIZED: u32 = 0x01;
    /// Where the number of the addressing mode begins.
    pub const ADDRESSING: u32 = 1;
    /// The nearest texel.
    pub const NEAREST: u32 = 0x10;
    /// Interpolated.
    pub const LINEAR: u32 = 0x20;
}

/// The variables of descriptors.
#[derive(Default)]
pub struct DescriptorVariables {
    /// Type and variable of images by argument and texels.
    images: FxHashMap<(Id, TexelClass), (Id, Id)>,
    /// Variables of samplers by binding.
    samplers: FxHashMap<u32, Id>,
    /// Properties of samplers that the source declares, each with its binding.
    pub literal: Vec<(u32, u32)>,
}

impl ShaderLowering<'_> {
    /// The sampler that something of the source is.
    ///
    /// # Errors
    /// When it is chosen when run.
    pub fn resolve_sampler(&self, source: Id) -> Result<SourceSampler, SourceDiagnostic> {
        let facts = self.facts;
        let mut id = find_copied_object(facts, source);
        let mut def = facts.find_definition(id)?;
        // A constant of the module, as some producers have it.
        if def.op() == Op::Load
            && let Ok(variable) = facts.find_definition(def.id_operand(0))
            && variable.op() == Op::Variable
            && StorageClass(variable.operand_word(0)) == StorageClass::UniformConstant
            && let Some(initializer) = variable.get_id(1)
        {
            id = initializer;
            def = facts.find_definition(id)?;
        }
        if def.op() == Op::ConstantSampler {
            return Ok(SourceSampler::Constant {
                addressing: def.operand_word(0),
                is_normalized: def.operand_word(1) != 0,
                is_linear: def.operand_word(2) != 0,
            });
        }
        let found = self.plan.find_sampler(id);
        found.ok_or_else(|| facts.diagnose_id(source, "a sampler that is chosen when run"))
    }

    /// Loads a sampler, which takes coordinates from 0 to 1, whatever the source's does.
    pub fn load_sampler(&mut self, sampler: SourceSampler) -> Id {
        let binding = match sampler {
            SourceSampler::Argument { binding, .. } => binding,
            SourceSampler::Constant {
                addressing,
                is_linear,
                ..
            } => {
                let filter = if is_linear {
                    mask::LINEAR
                } else {
                    mask::NEAREST
                };
                let mask = mask::NORMALIZED | addressing << mask::ADDRESSING | filter;
                let literal = &mut self.descriptors.literal;
                match literal.iter().find(|(known, _)| *known == mask) {
                    Some((_, binding)) => *binding,
                    None => {
                        let binding = self.plan.bindings + literal.len() as u32;
                        literal.push((mask, binding));
                        binding
                    }
                }
            }
        };
        let ty = self.b.declare_type(Op::TypeSampler, &[]);
        let variable = match self.descriptors.samplers.get(&binding) {
            Some(known) => *known,
            None => {
                let made = self.declare_descriptor(ty, binding);
                self.descriptors.samplers.insert(binding, made);
                made
            }
        };
        self.note_interface_use(variable);
        self.emit_value(Op::Load, ty, &[variable])
    }

    /// The image that something of the source is.
    ///
    /// # Errors
    /// When it is chosen when run.
    pub fn resolve_image(
        &self,
        source: Id,
    ) -> Result<(Id, ImageArgumentBinding), SourceDiagnostic> {
        let id = find_copied_object(self.facts, source);
        let found = self.plan.find_image(id).map(|picture| (id, picture));
        found.ok_or_else(|| {
            self.facts
                .diagnose_id(source, "an image that is chosen when run")
        })
    }

    /// Loads an image whose texels are meant as such: its type, and the image.
    pub fn load_image(
        &mut self,
        (id, picture): (Id, ImageArgumentBinding),
        texels: TexelClass,
    ) -> (Id, Id) {
        let (ty, variable) = match self.descriptors.images.get(&(id, texels)) {
            Some(known) => *known,
            None => {
                let ty = self.image_type(picture, texels);
                let made = self.declare_descriptor(ty, picture.binding);
                if picture.usage == KernelImageUsage::Writes {
                    self.b.decorate_id(made, Decoration::NonReadable, &[]);
                }
                self.descriptors.images.insert((id, texels), (ty, made));
                (ty, made)
            }
        };
        self.note_interface_use(variable);
        (ty, self.emit_value(Op::Load, ty, &[variable]))
    }

    fn image_type(&mut self, picture: ImageArgumentBinding, texels: TexelClass) -> Id {
        let of = self.make_texel_type(texels);
        let reads = picture.usage == KernelImageUsage::Reads;
        match (picture.dim, reads) {
            (Dim::Dim1D, true) => self.b.declare_capability(Capability::Sampled1D),
            (Dim::Dim1D, false) => self.b.declare_capability(Capability::Image1D),
            (Dim::Buffer, true) => self.b.declare_capability(Capability::SampledBuffer),
            (Dim::Buffer, false) => self.b.declare_capability(Capability::ImageBuffer),
            _ => {}
        }
        let sampled = if reads { 1 } else { 2 };
        let words = [
            of.word(),
            picture.dim.0,
            0,
            picture.is_arrayed.into(),
            0,
            sampled,
            ImageFormat::Unknown.0,
        ];
        self.b.declare_type(Op::TypeImage, &words)
    }

    /// The type of a component of texels.
    pub fn make_texel_type(&mut self, texels: TexelClass) -> Id {
        match texels {
            TexelClass::Floats => self.make_float_type(32),
            TexelClass::Signed => self.b.int_type(32, true),
            TexelClass::Unsigned => self.make_int_type(32),
        }
    }

    fn declare_descriptor(&mut self, ty: Id, binding: u32) -> Id {
        let class = StorageClass::UniformConstant;
        let pointer = self.b.pointer_type(class, ty);
        let made = self.b.global_variable(pointer, class, None);
        self.b.decorate_id(made, Decoration::DescriptorSet, &[SET]);
        self.b.decorate_id(made, Decoration::Binding, &[binding]);
        made
    }
}
