//! Reflection: the interface of an entry point. This comprises parameters, bindings, push constants, specialisation
//! constants, and further declarations in [`EntryDetails`].

mod argument_passing;
mod declared_needs;
mod entry_details;

pub use argument_passing::{
    ClspvArgument, ClspvInterface, ImageFact, ImageQuery, LiteralSampler, PrintfBuffer,
    ProgramMemory, SamplerMask,
};
pub use declared_needs::{SubgroupDemand, program_variable_bytes, subgroup_demands};
pub use entry_details::{EntryDetails, EntryExecutionMode, InterfaceVariable, PushConstantMember};

use crate::Id;
use crate::analysis::{EntryReach, IdDecorations, IdDefinitions, IdNames, TypeLayouts};
use crate::grammar::Op;
use crate::grammar::enumerants::{
    BuiltIn, Decoration, ExecutionMode, ExecutionModel, FunctionParameterAttribute, StorageClass,
};
use crate::ir::{InstRef, ModuleSection, SpirvModule};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

/// The interface of an entry point.
#[derive(Clone, Debug)]
pub struct EntryInterface {
    /// Name.
    pub name: String,
    /// Execution model.
    pub model: ExecutionModel,
    /// The `OpFunction`.
    pub function: Id,
    /// Workgroup size that the module requires, before specialisation.
    pub workgroup_size: Option<[u32; 3]>,
    /// Parameters of a `Kernel`, or of a shader that was made from one.
    pub params: Vec<InterfaceParam>,
    /// Argument passing of a shader that was made from a kernel.
    pub passing: Option<ClspvInterface>,
    /// Resources of a shader that the entry point reaches through calls, by set and binding.
    pub bindings: Vec<InterfaceBinding>,
    /// Resources of the module that it does not reach, by set and binding.
    pub unused: Vec<InterfaceBinding>,
    /// Size of the push constants in bytes up to the end of the last one, without padding; 0 if there are none.
    /// If the entry point reaches no block of push constants, the size of the module's largest one.
    pub push_constant_bytes: u32,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub struct InterfaceParam {
    /// `OpName`, where there is one.
    pub name: Option<String>,
    /// The kind of the parameter.
    pub kind: ParamKind,
    /// Type name in OpenCL C, if a shader that was made from a kernel states it. The types of the shader are
    /// those of its push constants.
    pub type_name: Option<String>,
}

/// The kind of a kernel parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A scalar, vector or structure by value.
    Value {
        /// Its type.
        ty: Id,
        /// Bytes.
        size: u64,
        /// Alignment in bytes.
        align: u32,
        /// Whether the module expects a pointer to a copy (`ByVal`).
        by_pointer: bool,
    },
    /// A pointer to a buffer.
    Buffer {
        /// `CrossWorkgroup` or `UniformConstant`.
        class: StorageClass,
        /// Pointee type in the module; for an untyped pointer the pointer type.
        pointee: Id,
    },
    /// A pointer to workgroup memory whose size is given at launch.
    Workgroup {
        /// Pointee type in the module.
        pointee: Id,
    },
    /// An image, sampler, pipe or another opaque object.
    Opaque {
        /// Its type.
        ty: Id,
    },
}

/// A resource variable of a shader.
#[derive(Clone, Debug)]
pub struct InterfaceBinding {
    /// Descriptor set.
    pub set: u32,
    /// Binding number.
    pub binding: u32,
    /// The `OpVariable`.
    pub variable: Id,
    /// `OpName` of the variable or its type.
    pub name: Option<String>,
    /// The kind of the resource.
    pub kind: BindingKind,
    /// Number of descriptors; 0 for a runtime-sized array of them.
    pub count: u32,
    /// Whether the shader declares that it does not write it.
    pub read_only: bool,
}

/// The kind of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindingKind {
    /// A storage buffer with this block type.
    Storage(Id),
    /// A uniform buffer with this block type.
    Uniform(Id),
    /// An image, sampler or another object of this type.
    Opaque(Id),
}

/// A specialisation constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpecConstant {
    /// `SpecId`.
    pub spec_id: u32,
    /// Result id.
    pub id: Id,
    /// Type.
    pub ty: Id,
    /// Bits of its default value.
    pub default: u64,
}

/// Names and execution models of a module's entry points, in order.
pub fn entry_points(module: &SpirvModule) -> Vec<(String, ExecutionModel)> {
    let points = module.section_insts(ModuleSection::EntryPoints);
    points
        .map(|p| (p.string_operand(2), ExecutionModel(p.operand_word(0))))
        .collect()
}

/// The name that a module gives its first entry point's function for debugging.
pub fn first_entry_label(module: &SpirvModule) -> Option<String> {
    let mut points = module.section_insts(ModuleSection::EntryPoints);
    let function = points.next()?.id_operand(1);
    let mut names = module.section_insts(ModuleSection::Names);
    let name = names.find(|name| name.op() == Op::Name && name.id_operand(0) == function)?;
    Some(name.string_operand(1))
}

/// The specialisation constants of a module, in order.
pub fn spec_constants(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    decorations: &IdDecorations,
) -> Vec<SpecConstant> {
    let mut out = Vec::new();
    for inst in module.section_insts(ModuleSection::Globals) {
        let is_scalar = matches!(
            inst.op(),
            Op::SpecConstant | Op::SpecConstantTrue | Op::SpecConstantFalse
        );
        let (true, Some(id), Some(ty)) = (is_scalar, inst.result(), inst.result_type()) else {
            continue;
        };
        let Some([spec_id, ..]) = decorations.get(module, id, Decoration::SpecId) else {
            continue;
        };
        let default = definitions.default_value(module, id).unwrap_or(0);
        out.push(SpecConstant {
            spec_id: *spec_id,
            id,
            ty,
            default,
        });
    }
    out
}

impl EntryInterface {
    /// Whether a launch passes arguments in order instead of resources, as for kernels and shaders that were
    /// made from them.
    pub fn takes_arguments(&self) -> bool {
        self.model == ExecutionModel::Kernel || self.passing.is_some()
    }

    /// The interface of the entry point with the given name.
    ///
    /// # Errors
    /// If there is no such entry point, or its declarations cannot be interpreted.
    pub fn from_module(
        module: &SpirvModule,
        name: &str,
    ) -> Result<EntryInterface, SourceDiagnostic> {
        let (number, point) = entry_point(module, name)?;
        let reflector = InterfaceReflector::new(module)?;
        let mut interface = EntryInterface {
            name: name.to_owned(),
            model: ExecutionModel(point.operand_word(0)),
            function: point.id_operand(1),
            workgroup_size: reflector.workgroup_size(point.id_operand(1)),
            params: reflector.reflect_params(point)?,
            bindings: Vec::new(),
            unused: Vec::new(),
            push_constant_bytes: 0,
            passing: None,
        };
        if let Some((passing, params)) =
            ClspvInterface::from_module(module, &reflector.definitions, &interface)
        {
            if passing.workgroup_size.is_some() {
                interface.workgroup_size = passing.required_size;
            }
            interface.params = params;
            interface.passing = Some(passing);
        }
        let reach = EntryReach::from_module(module);
        reflector.gather_resources(&mut interface, reach.used_variables(number));
        if let Some(passing) = &interface.passing {
            passing.type_params(&mut interface.params, &interface.bindings);
        }
        Ok(interface)
    }
}

/// The entry point of a name, with its index.
fn entry_point<'m>(
    module: &'m SpirvModule,
    name: &str,
) -> Result<(usize, InstRef<'m>), SourceDiagnostic> {
    let points = module.section_insts(ModuleSection::EntryPoints);
    let mut points = points.filter(|p| p.op() == Op::EntryPoint).enumerate();
    let point = points.find(|(_, p)| p.string_operand(2) == name);
    point.ok_or_else(|| no_entry_point(module, name))
}

fn no_entry_point(module: &SpirvModule, name: &str) -> SourceDiagnostic {
    let all: Vec<String> = entry_points(module).into_iter().map(|(n, _)| n).collect();
    let hint = if all.is_empty() {
        "the module has none: was it compiled as a library?".to_owned()
    } else {
        format!("it has: {}", all.join(", "))
    };
    SourceDiagnostic::error(
        SourceLocation::Unknown,
        format!("the module has no entry point {name}"),
    )
    .with_hint(hint)
}

struct InterfaceReflector<'a> {
    module: &'a SpirvModule,
    definitions: IdDefinitions,
    decorations: IdDecorations,
    layouts: TypeLayouts,
    names: IdNames,
}

impl<'a> InterfaceReflector<'a> {
    fn new(module: &'a SpirvModule) -> Result<Self, SourceDiagnostic> {
        let definitions = IdDefinitions::from_module(module);
        let decorations = IdDecorations::from_module(module);
        // Array lengths that are operations on specialisation constants occur in no interface.
        let layouts = TypeLayouts::from_module(module, &definitions, &decorations, |id| {
            Some(definitions.default_value(module, id).unwrap_or(0))
        })?;
        Ok(InterfaceReflector {
            module,
            definitions,
            decorations,
            layouts,
            names: IdNames::from_module(module),
        })
    }

    fn find_definition(&self, id: Id) -> Option<InstRef<'a>> {
        self.definitions.get(self.module, id)
    }

    /// The workgroup size, from the execution mode or from the constant decorated `WorkgroupSize`, which takes
    /// precedence.
    fn workgroup_size(&self, function: Id) -> Option<[u32; 3]> {
        let value = |id| {
            self.definitions
                .default_value(self.module, id)
                .map(|v| v as u32)
        };
        for inst in self
            .module
            .section_insts(ModuleSection::Annotations)
            .filter(|i| i.op() == Op::Decorate)
        {
            let [target, decoration, builtin] = *inst.operands() else {
                continue;
            };
            if decoration == Decoration::BuiltIn.0 && builtin == BuiltIn::WorkgroupSize.0 {
                let constant = self.find_definition(Id::new(target)?)?;
                // In kernels it is a variable, which requires no size.
                if constant.op() == Op::Variable {
                    continue;
                }
                let mut parts = constant.id_operands(0).map(value);
                return Some([parts.next()??, parts.next()??, parts.next()??]);
            }
        }
        let modes = self.module.section_insts(ModuleSection::ExecutionModes);
        for mode in modes.filter(|m| m.id_operand(0) == function) {
            let [_, kind, x, y, z] = *mode.operands() else {
                continue;
            };
            if kind == ExecutionMode::LocalSize.0 {
                return Some([x, y, z]);
            }
            if kind == ExecutionMode::LocalSizeId.0 {
                let id = |word| Id::new(word).and_then(value);
                return Some([id(x)?, id(y)?, id(z)?]);
            }
        }
        None
    }

    fn reflect_params(&self, point: InstRef<'a>) -> Result<Vec<InterfaceParam>, SourceDiagnostic> {
        let func = self.module.functions().iter().copied();
        let func = func
            .into_iter()
            .find(|f| self.module.function_id(*f) == point.id_operand(1));
        let func = func.ok_or_else(|| {
            let message = format!(
                "the entry point {} names no function",
                point.string_operand(2)
            );
            SourceDiagnostic::error(point.place(), message)
        })?;
        let params = self.module.list_insts(self.module.function(func).params);
        let params = params.filter(|p| p.op() == Op::FunctionParameter);
        Ok(params
            .filter_map(|p| self.reflect_param(p.result()?, p.result_type()?))
            .collect())
    }

    fn reflect_param(&self, id: Id, ty: Id) -> Option<InterfaceParam> {
        let name = self.names.get(self.module, id);
        let inst = self.find_definition(ty)?;
        let value = |ty, by_pointer| {
            let layout = self.layouts.get(ty);
            ParamKind::Value {
                ty,
                size: layout.size,
                align: layout.align,
                by_pointer,
            }
        };
        let kind = match inst.op() {
            Op::TypePointer => {
                let (class, pointee) = (StorageClass(inst.operand_word(0)), inst.id_operand(1));
                match class {
                    StorageClass::Workgroup => ParamKind::Workgroup { pointee },
                    StorageClass::Function => value(pointee, true),
                    _ if self.is_by_value(id) => value(pointee, true),
                    _ => ParamKind::Buffer { class, pointee },
                }
            }
            // The pointee is unknown; the pointer type stands for it.
            Op::TypeUntypedPointerKHR => match StorageClass(inst.operand_word(0)) {
                StorageClass::Workgroup => ParamKind::Workgroup { pointee: ty },
                StorageClass::Function => ParamKind::Opaque { ty },
                class => ParamKind::Buffer { class, pointee: ty },
            },
            Op::TypeBool
            | Op::TypeInt
            | Op::TypeFloat
            | Op::TypeVector
            | Op::TypeStruct
            | Op::TypeArray
            | Op::TypeMatrix => value(ty, false),
            _ => ParamKind::Opaque { ty },
        };
        Some(InterfaceParam {
            name,
            kind,
            type_name: None,
        })
    }

    fn is_by_value(&self, id: Id) -> bool {
        self.decorations
            .decorations_of(self.module, id, u32::MAX)
            .any(|(d, operands)| {
                d == Decoration::FuncParamAttr
                    && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
            })
    }

    /// Gathers the variables with bindings or push constants, and whether the entry point uses them.
    fn gather_resources(&self, interface: &mut EntryInterface, used: &[Id]) {
        // Sizes of unused and of used blocks.
        let mut pushed = [0; 2];
        for inst in self.module.section_insts(ModuleSection::Globals) {
            let (Some(variable), Some(pointee)) = (inst.result(), self.find_data_type(inst)) else {
                continue;
            };
            let is_used = used.binary_search(&variable).is_ok();
            match StorageClass(inst.operand_word(0)) {
                StorageClass::PushConstant => {
                    let size = u32::try_from(self.block_size(pointee)).unwrap_or(u32::MAX);
                    let bytes = &mut pushed[usize::from(is_used)];
                    *bytes = (*bytes).max(size);
                }
                class => {
                    let list = if is_used {
                        &mut interface.bindings
                    } else {
                        &mut interface.unused
                    };
                    list.extend(self.reflect_binding(variable, class, pointee));
                }
            }
        }
        interface.push_constant_bytes = match pushed {
            [largest, 0] => largest,
            [_, used] => used,
        };
        for list in [&mut interface.bindings, &mut interface.unused] {
            list.sort_by_key(|b| (b.set, b.binding, b.variable));
        }
    }

    /// The pointee type of a variable; `None` for other instructions.
    fn find_data_type(&self, variable: InstRef<'a>) -> Option<Id> {
        match variable.op() {
            Op::Variable => self.find_definition(variable.result_type()?)?.get_id(1),
            Op::UntypedVariableKHR => variable.get_id(1),
            _ => None,
        }
    }

    /// Size of a block up to the end of its last member. Padding after it need not be provided.
    fn block_size(&self, block: Id) -> u64 {
        let Some(members) = self
            .find_definition(block)
            .filter(|b| b.op() == Op::TypeStruct)
        else {
            return self.layouts.get(block).size;
        };
        let ends = members.id_operands(0).enumerate().map(|(n, member)| {
            let offset = self.layouts.member_layout(block, n as u32).offset;
            offset.saturating_add(self.layouts.get(member).size)
        });
        ends.max().unwrap_or(0)
    }

    fn reflect_binding(
        &self,
        variable: Id,
        class: StorageClass,
        pointee: Id,
    ) -> Option<InterfaceBinding> {
        let word = |what| {
            let operands = self.decorations.get(self.module, variable, what);
            operands.and_then(|o| o.first().copied())
        };
        let binding = word(Decoration::Binding)?;
        let mut ty = self.find_definition(pointee)?;
        let mut count = 1;
        match ty.op() {
            Op::TypeArray => {
                count = self
                    .definitions
                    .default_value(self.module, ty.id_operand(1))? as u32;
                ty = self.find_definition(ty.id_operand(0))?;
            }
            Op::TypeRuntimeArray => {
                count = 0;
                ty = self.find_definition(ty.id_operand(0))?;
            }
            _ => {}
        }
        let block = ty.result()?;
        let is = |what| self.decorations.get(self.module, block, what).is_some();
        let kind = match class {
            StorageClass::StorageBuffer => BindingKind::Storage(block),
            StorageClass::Uniform if is(Decoration::BufferBlock) => BindingKind::Storage(block),
            StorageClass::Uniform => BindingKind::Uniform(block),
            _ => BindingKind::Opaque(block),
        };
        let name = self.names.get(self.module, variable);
        Some(InterfaceBinding {
            set: word(Decoration::DescriptorSet).unwrap_or(0),
            binding,
            variable,
            name: name.or_else(|| self.names.get(self.module, block)),
            kind,
            count,
            read_only: self.is_read_only(variable, ty),
        })
    }

    /// Whether the variable or all members of its block are decorated `NonWritable`.
    fn is_read_only(&self, variable: Id, block: InstRef<'_>) -> bool {
        let decorations = &self.decorations;
        let Some(id) = block.result() else {
            return false;
        };
        let members = block.operands().len() as u32;
        decorations
            .get(self.module, variable, Decoration::NonWritable)
            .is_some()
            || (block.op() == Op::TypeStruct
                && members > 0
                && (0..members).all(|n| {
                    decorations
                        .get_member(self.module, id, n, Decoration::NonWritable)
                        .is_some()
                }))
    }
}
