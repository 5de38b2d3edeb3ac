//! Lowering of kernels to compute shaders.
//!
//! All calls of a kernel are inlined first. The builder then writes the kernel again: blocks in reverse post-order, one row of a table for
//! each instruction. Types keep their shape, except that vectors of more than four components become arrays and pointers become numbers
//! (see [`crate::kernels::points_to`]). Control flow stays as it is; the structuriser runs afterwards.

mod arithmetic;
mod atomics;
mod barriers;
mod bfloat16;
mod bit_fields;
mod bits;
mod builtins;
mod composites;
mod constants;
mod control_flow;
mod conversions;
mod descriptors;
mod dot_products;
mod extended;
mod extended_arithmetic;
mod generic_pointers;
mod group_operations;
mod images;
mod initial_arrays;
mod interface;
mod kernel;
mod load_store;
mod memory;
mod pointers;
mod printf;
mod push_constants;
mod reflection;
mod rounding;
mod subgroup_operations;
mod subword_memory;
mod table;
mod type_names;
mod types;

pub use extended::has_instruction;

use crate::VulkanCompileOptions;
use crate::kernels::module_info::KernelModuleInfo;
use crate::kernels::points_to::{PointerRegion, PointsToAnalysis, PointsToSetId};
use crate::kernels::program_scope::ProgramScopeBuffer;
use interface::{ImplicitBuffers, ShaderInterface};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::enumerants::{AddressingModel, Capability, Decoration, MemoryModel};
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::{Inst, SpirvModule};
use spirula_spirv::recompute::declare_requirements;
use spirula_spirv::{Id, IdMap};

/// Lowers every kernel of a module whose calls are inlined.
///
/// # Errors
/// The first construct of each kernel that Vulkan or this lowering does not support.
pub fn lower_kernels(
    info: &KernelModuleInfo<'_>,
    points_to: &PointsToAnalysis,
    program: &ProgramScopeBuffer,
    options: &VulkanCompileOptions,
) -> Result<SpirvModule, Vec<SourceDiagnostic>> {
    let hidden = ImplicitBuffers {
        program: !points_to.program_variables().is_empty(),
        printf: printf::is_used(info),
    };
    let plan = ShaderInterface::new(info, hidden).map_err(|d| vec![d])?;
    let mut lower = ShaderLowering::new(info, points_to, program, plan, options);
    let mut faults = Vec::new();
    for number in 0..lower.plan.kernels.len() {
        faults.extend(lower.lower_kernel(number).err());
    }
    if faults.is_empty() {
        lower.finish_module().map_err(|fault| vec![fault])
    } else {
        Err(faults)
    }
}

struct ShaderLowering<'a> {
    info: &'a KernelModuleInfo<'a>,
    points_to: &'a PointsToAnalysis,
    program: &'a ProgramScopeBuffer,
    plan: ShaderInterface,
    /// The version of SPIR-V of the result.
    version: SpirvVersion,
    b: SpirvBuilder,
    types: IdMap<Option<Id>>,
    values: IdMap<Option<Id>>,
    /// Components of composites that were composed here.
    parts: FxHashMap<Id, Vec<Id>>,
    /// Values of integer constants that were declared here.
    numbers: FxHashMap<Id, u64>,
    /// The array of each points-to set; arrays of a function's variables are dropped at its end.
    arrays: FxHashMap<(PointsToSetId, PointerRegion), Id>,
    /// Variables with built-in values, by number.
    inputs: FxHashMap<u32, Id>,
    /// Workgroup memory of group operations, by element type.
    scratch: FxHashMap<Id, Id>,
    descriptors: descriptors::DescriptorVariables,
    shared: ShaderModuleState,
    kernel: ShaderKernelState,
}

/// State that all kernels of the module share, created when it is first needed.
#[derive(Default)]
struct ShaderModuleState {
    glsl: Option<Id>,
    push: Option<Id>,
    /// The size of a workgroup as a constant of three components.
    workgroup_size: Option<Id>,
    /// Specialisation constants of 32 bits by `SpecId`.
    specialised: FxHashMap<u32, Id>,
    /// Whether a kernel queries the number of dimensions.
    has_dimensions: bool,
    /// Format strings and texts of `printf`.
    texts: Vec<printf::PrintfText>,
}

/// State of the current kernel.
struct ShaderKernelState {
    /// Global variables of the kernel, in the order of their first use.
    interface: Vec<Id>,
    /// Phis without operands, with the source's phis.
    phis: Vec<(Inst, Inst)>,
    /// New label of each block, by its old one.
    labels: FxHashMap<Id, Id>,
    /// Label of the last block that replaces an old one.
    exits: FxHashMap<Id, Id>,
    /// Whether products and sums must not be contracted.
    is_exact: bool,
    /// Widths of the floats in computations.
    floats: u32,
    /// The address of the buffer of printf records.
    printf: Option<Id>,
    /// Label of the open block.
    open: Id,
}

impl ShaderKernelState {
    fn new(is_exact: bool) -> ShaderKernelState {
        ShaderKernelState {
            interface: Vec::new(),
            phis: Vec::new(),
            labels: FxHashMap::default(),
            exits: FxHashMap::default(),
            is_exact,
            floats: 0,
            printf: None,
            open: Id::MAX,
        }
    }
}

impl<'a> ShaderLowering<'a> {
    fn new(
        info: &'a KernelModuleInfo<'a>,
        points_to: &'a PointsToAnalysis,
        program: &'a ProgramScopeBuffer,
        plan: ShaderInterface,
        options: &VulkanCompileOptions,
    ) -> Self {
        let mut b = SpirvBuilder::new(options.target.version);
        b.memory_model(
            AddressingModel::PhysicalStorageBuffer64,
            MemoryModel::Vulkan,
        );
        ShaderLowering {
            info,
            points_to,
            program,
            plan,
            version: options.target.version,
            b,
            types: IdMap::new(info.module.bound(), None),
            values: IdMap::new(info.module.bound(), None),
            parts: FxHashMap::default(),
            numbers: FxHashMap::default(),
            arrays: FxHashMap::default(),
            inputs: FxHashMap::default(),
            scratch: FxHashMap::default(),
            descriptors: descriptors::DescriptorVariables::default(),
            shared: ShaderModuleState::default(),
            kernel: ShaderKernelState::new(false),
        }
    }

    /// Ends the module, and declares its needs.
    fn finish_module(mut self) -> Result<SpirvModule, SourceDiagnostic> {
        self.reflect_shared();
        let mut module = self.b.into_module();
        declare_requirements(&mut module, &[Capability::Shader]).map_err(|error| *error)?;
        Ok(module)
    }

    /// Appends an instruction with a result.
    fn emit_value(&mut self, op: Op, ty: Id, operands: &[Id]) -> Id {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        let id = self.b.append_value(op, ty, &words);
        let contracts = matches!(op, Op::FAdd | Op::FSub | Op::FMul);
        if contracts && self.kernel.is_exact {
            self.b.decorate_id(id, Decoration::NoContraction, &[]);
        }
        id
    }

    /// Appends `a * b + c`, which the device may compute with one rounding or with two, whatever the kernel's mode.
    fn emit_multiply_add(&mut self, ty: Id, [a, b, c]: [Id; 3]) -> Id {
        let product = self.b.append_value(Op::FMul, ty, &[a.word(), b.word()]);
        self.b
            .append_value(Op::FAdd, ty, &[product.word(), c.word()])
    }

    /// Appends an instruction without a result.
    fn emit_effect(&mut self, op: Op, operands: &[Id]) {
        let words: Vec<u32> = operands.iter().map(|id| id.word()).collect();
        self.b.append_effect(op, &words);
    }

    /// Appends an instruction of GLSL.std.450.
    fn emit_glsl(&mut self, number: u32, ty: Id, operands: &[Id]) -> Id {
        let b = &mut self.b;
        let set = *self
            .shared
            .glsl
            .get_or_insert_with(|| b.import_set("GLSL.std.450"));
        let words = [set.word(), number].into_iter();
        let words: Vec<u32> = words.chain(operands.iter().map(|id| id.word())).collect();
        self.b.append_value(Op::ExtInst, ty, &words)
    }

    /// Notes that the kernel uses a global variable.
    fn note_interface_use(&mut self, variable: Id) {
        if !self.kernel.interface.contains(&variable) {
            self.kernel.interface.push(variable);
        }
    }
}
