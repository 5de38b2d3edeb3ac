//! Kernel interfaces: parameters, how each is passed, and their description as `NonSemantic.ClspvReflection`.
//!
//! Push constants begin with the global offset: three words and an unused one. The addresses of buffers that the source does not name
//! follow ([`ImplicitBuffers`]), then the arguments in order, each at its alignment: values, and addresses of buffers. Specialisation
//! constants give the sizes of workgroup memory, and the size of the workgroup where a kernel does not demand one. Images and samplers
//! are descriptors ([`super::descriptors`]).

use super::ShaderLowering;
use super::descriptors::{ImageArgumentBinding, ImageRequirements, SourceSampler};
use crate::kernels::module_info::KernelModuleInfo;
use crate::kernels::points_to::is_by_value;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, ExecutionMode, ExecutionModel, StorageClass};
use spirula_spirv::ir::{Func, ModuleSection};

/// Bytes of push constants before the arguments.
pub const HEADER: u32 = 16;

/// Most bytes of arguments of a kernel. Arguments that exceed the device's push constants, mostly 256 bytes, are passed in a
/// buffer by the runtime.
const MOST_PUSHED: u32 = 4096;

/// A kernel of the source.
pub struct SourceKernel {
    /// Name of the entry point.
    pub name: String,
    /// Its function.
    pub func: Func,
    /// Size of a workgroup that it demands.
    pub size: Option<[u32; 3]>,
    /// Whether floating-point contraction is off.
    pub is_exact: bool,
    /// Its arguments in order.
    pub arguments: Vec<ShaderArgument>,
}

/// An argument and how it is passed.
#[derive(Clone, Copy, Debug)]
pub struct ShaderArgument {
    /// The parameter.
    pub id: Id,
    /// How it is passed.
    pub way: ArgumentPassing,
}

/// Ways to pass an argument.
#[derive(Clone, Copy, Debug)]
pub enum ArgumentPassing {
    /// A value of a type at an offset of the push constants.
    Value { ty: Id, at: u32 },
    /// A copy of a value of a type, which the kernel takes by pointer.
    Copy { ty: Id, at: u32 },
    /// An address at an offset of the push constants.
    Address { at: u32 },
    /// Workgroup memory whose number of elements is a specialisation constant.
    Workgroup { spec_id: u32 },
    /// A descriptor of an image.
    Image(ImageArgumentBinding),
    /// A descriptor of a sampler, with its state at an offset of the push constants.
    Sampler { binding: u32, mask: u32 },
}

/// Buffers whose addresses are passed besides the arguments.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImplicitBuffers {
    /// The buffer of variables at program scope.
    pub program: bool,
    /// The buffer of printf records.
    pub printf: bool,
}

/// The interface of all kernels of a module.
pub struct ShaderInterface {
    /// Offset of the address of the program's variables.
    pub program: Option<u32>,
    /// Offset of the address of the buffer of printf records.
    pub printf: Option<u32>,
    /// Offset of the first argument.
    first: u32,
    /// The kernels in order.
    pub kernels: Vec<SourceKernel>,
    /// Words of push constants.
    pub push_words: u32,
    /// Size of a workgroup where all kernels demand the same.
    pub fixed_size: Option<[u32; 3]>,
    /// The first unused `SpecId` of the source: that of the size of a workgroup, followed by that of the number of dimensions.
    pub first_spec: u32,
    /// The first `SpecId` that is still free.
    next_spec: u32,
    /// Number of bindings of arguments.
    pub bindings: u32,
    /// How images and samplers are passed, by parameter.
    opaque: FxHashMap<Id, ArgumentPassing>,
}

impl ShaderInterface {
    /// Reads the entry points of a module.
    ///
    /// # Errors
    /// When one is no kernel, or has a parameter that cannot be passed.
    pub fn new(
        info: &KernelModuleInfo<'_>,
        hidden: ImplicitBuffers,
    ) -> Result<ShaderInterface, SourceDiagnostic> {
        let mut first = HEADER;
        let mut place = |is_there: bool| {
            let at = first;
            first += if is_there { 8 } else { 0 };
            is_there.then_some(at)
        };
        let mut plan = ShaderInterface {
            program: place(hidden.program),
            printf: place(hidden.printf),
            first,
            kernels: Vec::new(),
            push_words: first / 4,
            fixed_size: None,
            first_spec: 0,
            next_spec: 0,
            bindings: 0,
            opaque: FxHashMap::default(),
        };
        let annotations = info.module.section_insts(ModuleSection::Annotations);
        for inst in annotations.filter(|i| i.op() == Op::Decorate) {
            if let [_, decoration, number] = *inst.operands()
                && decoration == Decoration::SpecId.0
            {
                plan.first_spec = plan.first_spec.max(number.saturating_add(1));
            }
        }
        plan.next_spec = plan.first_spec + 4;
        let asked = ImageRequirements::new(info);
        for point in info.module.section_insts(ModuleSection::EntryPoints) {
            let name = point.string_operand(2);
            if ExecutionModel(point.operand_word(0)) != ExecutionModel::Kernel {
                let text = format!("the entry point {name}, which is no kernel,");
                return Err(crate::error::diagnose_instruction(point, &text));
            }
            plan.add_kernel(info, &asked, name, point.id_operand(1))?;
        }
        let mut sizes = plan.kernels.iter().map(|k| k.size);
        let first = sizes.next().flatten();
        plan.fixed_size = first.filter(|_| sizes.all(|s| s == first));
        Ok(plan)
    }

    fn add_kernel(
        &mut self,
        info: &KernelModuleInfo<'_>,
        asked: &ImageRequirements,
        name: String,
        id: Id,
    ) -> Result<(), SourceDiagnostic> {
        let module = info.module;
        let mut functions = module.functions().iter().copied();
        let func = functions.find(|f| module.function_id(*f) == id);
        let func = func.ok_or_else(|| info.diagnose_id(id, "an entry point without a function"))?;
        let mut arguments = Vec::new();
        let mut at = self.first;
        let params = module.list_insts(module.function(func).params);
        for param in params.filter(|p| p.op() == Op::FunctionParameter) {
            let (Some(id), Some(ty)) = (param.result(), param.result_type()) else {
                continue;
            };
            let way = match self.pass_opaque(info, asked, id, ty, &mut at)? {
                Some(way) => way,
                None => self.pass_argument(info, id, ty, &mut at)?,
            };
            arguments.push(ShaderArgument { id, way });
        }
        if at > MOST_PUSHED {
            let text = format!("a kernel with {} bytes of arguments", at - self.first);
            return Err(info.diagnose_id(id, &text));
        }
        self.push_words = self.push_words.max(at.div_ceil(4));
        let modes = module.section_insts(ModuleSection::ExecutionModes);
        let mut modes = modes.filter(|m| m.id_operand(0) == id);
        let is = |wanted: ExecutionMode| {
            modes
                .clone()
                .any(|m| ExecutionMode(m.operand_word(1)) == wanted)
        };
        let is_exact = is(ExecutionMode::ContractionOff);
        let size = modes.find_map(|m| match *m.operands() {
            [_, mode, x, y, z] if mode == ExecutionMode::LocalSize.0 => Some([x, y, z]),
            _ => None,
        });
        self.kernels.push(SourceKernel {
            name,
            func,
            size,
            is_exact,
            arguments,
        });
        Ok(())
    }

    /// Assigns a binding to an image or a sampler.
    fn pass_opaque(
        &mut self,
        info: &KernelModuleInfo<'_>,
        asked: &ImageRequirements,
        id: Id,
        ty: Id,
        at: &mut u32,
    ) -> Result<Option<ArgumentPassing>, SourceDiagnostic> {
        let mut push = || {
            let begin = at.next_multiple_of(4);
            *at = begin + 4;
            begin
        };
        let (def, binding) = (info.find_definition(ty)?, self.bindings);
        let way = match def.op() {
            Op::TypeImage => {
                ArgumentPassing::Image(asked.bind_image(info, id, def, binding, &mut push)?)
            }
            Op::TypeSampler => ArgumentPassing::Sampler {
                binding,
                mask: push(),
            },
            _ => return Ok(None),
        };
        self.bindings += 1;
        self.opaque.insert(id, way);
        Ok(Some(way))
    }

    /// The image of a parameter.
    pub fn find_image(&self, param: Id) -> Option<ImageArgumentBinding> {
        match self.opaque.get(&param)? {
            ArgumentPassing::Image(picture) => Some(*picture),
            _ => None,
        }
    }

    /// The sampler of a parameter.
    pub fn find_sampler(&self, param: Id) -> Option<SourceSampler> {
        match *self.opaque.get(&param)? {
            ArgumentPassing::Sampler { binding, mask } => {
                Some(SourceSampler::Argument { binding, mask })
            }
            _ => None,
        }
    }

    fn pass_argument(
        &mut self,
        info: &KernelModuleInfo<'_>,
        id: Id,
        ty: Id,
        at: &mut u32,
    ) -> Result<ArgumentPassing, SourceDiagnostic> {
        let mut room = |size: u64, align: u32| {
            let begin = at.next_multiple_of(align.clamp(4, 16));
            *at = begin.saturating_add(u32::try_from(size).unwrap_or(u32::MAX));
            begin
        };
        let Some((class, pointee)) = info.parse_pointer_type(ty) else {
            let layout = info.layouts.get(ty);
            let at = room(layout.size, layout.align);
            return Ok(ArgumentPassing::Value { ty, at });
        };
        match class {
            StorageClass::Workgroup => {
                let spec_id = self.next_spec;
                self.next_spec += 1;
                Ok(ArgumentPassing::Workgroup { spec_id })
            }
            _ if class == StorageClass::Function || is_by_value(info, id) => {
                let ty = pointee.ok_or_else(|| info.diagnose_id(id, "an untyped copy"))?;
                let layout = info.layouts.get(ty);
                let at = room(layout.size, layout.align);
                Ok(ArgumentPassing::Copy { ty, at })
            }
            _ => Ok(ArgumentPassing::Address { at: room(8, 8) }),
        }
    }

    /// The `SpecId` of the size of a parameter's workgroup memory.
    pub fn spec_id(&self, param: Id) -> Option<u32> {
        let mut all = self.kernels.iter().flat_map(|k| &k.arguments);
        let way = all.find(|a| a.id == param)?.way;
        match way {
            ArgumentPassing::Workgroup { spec_id } => Some(spec_id),
            _ => None,
        }
    }
}

impl ShaderLowering<'_> {
    /// Declares the entry point of a kernel whose function is complete.
    pub fn declare_entry_point(&mut self, number: usize, function: Id) {
        let name = self.plan.kernels[number].name.clone();
        let size = self.plan.kernels[number].size;
        let mut interface = std::mem::take(&mut self.kernel.interface);
        interface.sort_unstable();
        let model = ExecutionModel::GLCompute;
        self.b.entry_point(model, function, &name, &interface);
        let size = self.plan.fixed_size.or(size).unwrap_or([1; 3]);
        self.b
            .execution_mode(function, ExecutionMode::LocalSize, &size);
        if self.plan.fixed_size.is_none() {
            self.workgroup_size();
        }
        self.b.set_name(function, &name);
    }
}
