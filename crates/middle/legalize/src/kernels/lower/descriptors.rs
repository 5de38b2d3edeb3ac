//! Descriptors: images and samplers.
//!
//! All descriptors are in one set and numbered through the module: arguments in order, then samplers that the source declares as
//! constants. The accesses of a kernel to an image decide the kind of its descriptor. The class of its texels is known at each
//! access only. An image is therefore one variable for each class of texels that is accessed, all at one binding.

use super::ShaderLowering;
use crate::kernels::module_info::KernelModuleInfo;
use rustc_hash::{FxHashMap, FxHashSet};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    AccessQualifier, Decoration, Dim, ImageFormat, StorageClass,
};
use spirula_spirv::ir::InstRef;

/// The set of all descriptors.
pub const SET: u32 = 0;

/// Most copies of an object that are traced.
const DEEPEST: u32 = 32;

/// Uses of an image by a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelImageUsage {
    /// Reads, with a sampler or without.
    Reads,
    /// Writes.
    Writes,
    /// Both, without samplers.
    Both,
}

/// An image that is an argument.
#[derive(Clone, Copy, Debug)]
pub struct ImageArgumentBinding {
    /// Its binding.
    pub binding: u32,
    /// Its use.
    pub usage: KernelImageUsage,
    /// Its dimensions.
    pub dim: Dim,
    /// Whether it has layers.
    pub is_arrayed: bool,
    /// Offset of its channel order in the push constants, if the kernel queries it.
    pub order: Option<u32>,
    /// Offset of its channel data type in the push constants, if the kernel queries it.
    pub data_type: Option<u32>,
}

impl ImageArgumentBinding {
    /// Number of coordinates of a texel within a layer.
    pub fn count_axes(&self) -> u32 {
        match self.dim {
            Dim::Dim2D => 2,
            Dim::Dim3D => 3,
            _ => 1,
        }
    }
}

/// Classes of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TexelClass {
    /// Floats.
    Floats,
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
}

/// Uses of images by the kernels of a module, besides those that the types say.
#[derive(Default)]
pub struct ImageRequirements {
    orders: FxHashSet<Id>,
    data_types: FxHashSet<Id>,
    written: FxHashSet<Id>,
}

impl ImageRequirements {
    /// One pass over all instructions.
    pub fn new(info: &KernelModuleInfo<'_>) -> ImageRequirements {
        let mut asked = ImageRequirements::default();
        for inst in info.module.all_insts() {
            let set = match inst.op() {
                Op::ImageQueryOrder => &mut asked.orders,
                Op::ImageQueryFormat => &mut asked.data_types,
                Op::ImageWrite => &mut asked.written,
                _ => continue,
            };
            set.insert(find_copied_object(info, inst.id_operand(0)));
        }
        asked
    }

    /// An argument that is an image of type `ty`, at a binding. `push_constants` gives words of the push constants.
    ///
    /// # Errors
    /// When Vulkan has no such images for compute shaders.
    pub fn bind_image(
        &self,
        info: &KernelModuleInfo<'_>,
        id: Id,
        ty: InstRef<'_>,
        binding: u32,
        push: &mut dyn FnMut() -> u32,
    ) -> Result<ImageArgumentBinding, SourceDiagnostic> {
        let &[_, dim, _, arrayed, samples, _, _, ref access @ ..] = ty.operands() else {
            return Err(info.diagnose_id(id, "this type of images"));
        };
        let dim = Dim(dim);
        if !matches!(dim, Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::Buffer) {
            return Err(info.diagnose_id(id, "an image of such dimensions"));
        }
        if samples != 0 {
            return Err(info.diagnose_id(id, "an image of several samples"));
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

/// The object that another one is a copy of.
pub fn find_copied_object(info: &KernelModuleInfo<'_>, mut id: Id) -> Id {
    for _ in 0..DEEPEST {
        match info.find_definition(id) {
            Ok(def) if def.op() == Op::CopyObject => id = def.id_operand(0),
            _ => break,
        }
    }
    id
}

/// A sampler of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SourceSampler {
    /// A sampler that the module declares.
    Constant {
        /// Addressing mode: a number of `OpConstantSampler`.
        addressing: u32,
        /// Whether coordinates are normalised.
        is_normalized: bool,
        /// Whether it interpolates.
        is_linear: bool,
    },
    /// A sampler argument: its binding, and the offset of its state in the push constants.
    Argument {
        /// Binding.
        binding: u32,
        /// Offset in the push constants.
        mask: u32,
    },
}

/// Bits of a sampler's state as in `clspv`, which are those of its constants in OpenCL C.
pub mod mask {
    /// Normalised coordinates.
    pub const NORMALIZED: u32 = 0x01;
    /// First bit of the addressing mode.
    pub const ADDRESSING: u32 = 1;
    /// The nearest texel.
    pub const NEAREST: u32 = 0x10;
    /// Interpolation.
    pub const LINEAR: u32 = 0x20;
}

/// The variables of descriptors.
#[derive(Default)]
pub struct DescriptorVariables {
    /// Type and variable of images by argument and texels.
    images: FxHashMap<(Id, TexelClass), (Id, Id)>,
    /// Variables of samplers by binding.
    samplers: FxHashMap<u32, Id>,
    /// States of samplers that the source declares, each with its binding.
    pub literal: Vec<(u32, u32)>,
}

impl ShaderLowering<'_> {
    /// The sampler of a value of the source.
    ///
    /// # Errors
    /// When it is selected at run time.
    pub fn resolve_sampler(&self, source: Id) -> Result<SourceSampler, SourceDiagnostic> {
        let info = self.info;
        let mut id = find_copied_object(info, source);
        let mut def = info.find_definition(id)?;
        // Some producers use a constant of the module.
        if def.op() == Op::Load
            && let Ok(variable) = info.find_definition(def.id_operand(0))
            && variable.op() == Op::Variable
            && StorageClass(variable.operand_word(0)) == StorageClass::UniformConstant
            && let Some(initializer) = variable.get_id(1)
        {
            id = initializer;
            def = info.find_definition(id)?;
        }
        if def.op() == Op::ConstantSampler {
            return Ok(SourceSampler::Constant {
                addressing: def.operand_word(0),
                is_normalized: def.operand_word(1) != 0,
                is_linear: def.operand_word(2) != 0,
            });
        }
        let found = self.plan.find_sampler(id);
        found.ok_or_else(|| info.diagnose_id(source, "a sampler that is chosen when run"))
    }

    /// Loads a sampler. It takes normalised coordinates, regardless of the source's sampler.
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

    /// The image of a value of the source.
    ///
    /// # Errors
    /// When it is selected at run time.
    pub fn resolve_image(
        &self,
        source: Id,
    ) -> Result<(Id, ImageArgumentBinding), SourceDiagnostic> {
        let id = find_copied_object(self.info, source);
        let found = self.plan.find_image(id).map(|picture| (id, picture));
        found.ok_or_else(|| {
            self.info
                .diagnose_id(source, "an image that is chosen when run")
        })
    }

    /// Loads an image with a class of texels; returns its type and the image.
    pub fn load_image(
        &mut self,
        id: Id,
        picture: ImageArgumentBinding,
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
