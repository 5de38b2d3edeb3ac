//! Variables of the module, parameters of kernels, sizes of workgroups.

use super::{CodeDecoder, DecodeResult};
use crate::facts::{MatrixOrder, MemoryCell, ScalarKind, refuse};
use crate::memory::MemoryRegion;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    BuiltIn, Decoration, ExecutionMode, FunctionParameterAttribute, StorageClass,
};
use spirula_spirv::ir::{InstRef, ModuleSection};

/// Most bytes of the variables of the module or of an invocation.
const MOST_BYTES: u64 = 64 << 20;

/// Most descriptors of an array.
const MOST_DESCRIPTORS: u64 = 4096;

/// A resource of a shader: one descriptor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelResource {
    pub set: u32,
    pub binding: u32,
    /// Its number in an array of descriptors.
    pub index: u32,
}

/// A built-in variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BuiltinPlace {
    pub builtin: BuiltIn,
    /// Its first byte in the memory of an invocation.
    pub offset: u64,
    /// Bytes of a component, and number of components.
    pub bytes: usize,
    pub count: usize,
    /// Whether the entry point is a kernel.
    pub is_kernel: bool,
}

/// A parameter of a kernel.
#[derive(Clone, Debug)]
pub(crate) struct CodeParameter {
    pub is_pointer: bool,
    /// Whether the pointer is to a copy of the argument.
    pub is_by_value: bool,
    /// The scalars of the argument.
    pub cells: Vec<MemoryCell>,
}

/// The variables of a module.
#[derive(Default)]
pub(crate) struct PlacedGlobals {
    pub workgroup_bytes: u64,
    pub module_memory: Vec<u8>,
    pub private_memory: Vec<u8>,
    pub resources: Vec<KernelResource>,
    pub builtins: Vec<BuiltinPlace>,
}

/// Gives each variable of the module an address.
///
/// # Errors
/// When the type or the storage class of one is not supported.
pub(crate) fn place_globals(
    decoder: &mut CodeDecoder<'_>,
    is_kernel: bool,
) -> Result<PlacedGlobals, SourceDiagnostic> {
    let mut placed = PlacedGlobals::default();
    let module = decoder.facts.module;
    let globals = module.section_insts(ModuleSection::Globals);
    for inst in globals.filter(|inst| inst.op() == Op::Variable) {
        let (Some(id), Some(pointer)) = (inst.result(), inst.result_type()) else {
            continue;
        };
        let pointer = decoder.facts.define(pointer)?;
        let ty = pointer.get_id(1);
        let ty = ty.ok_or_else(|| refuse(inst, "the variable has no type"))?;
        let address = placed.place_variable(decoder, inst, ty, is_kernel)?;
        if let Some(address) = address {
            decoder.globals.insert(id, address);
        }
    }
    Ok(placed)
}

impl PlacedGlobals {
    /// The address of a variable; none where its storage class is not supported, which matters only if it is used.
    fn place_variable(
        &mut self,
        decoder: &CodeDecoder<'_>,
        inst: InstRef<'_>,
        ty: Id,
        is_kernel: bool,
    ) -> Result<Option<u64>, SourceDiagnostic> {
        let facts = &decoder.facts;
        let layout = facts.layout(ty);
        let id = inst.result().unwrap_or(ty);
        let class = StorageClass(inst.operand_word(0));
        let binding = facts.decoration(id, Decoration::Binding);
        Ok(match class {
            StorageClass::Input => match facts.decoration(id, Decoration::BuiltIn) {
                Some(builtin) => {
                    Some(self.place_builtin(decoder, BuiltIn(builtin), ty, is_kernel)?)
                }
                None => None,
            },
            StorageClass::PushConstant => Some(MemoryRegion::ARGUMENTS.address(0)),
            StorageClass::Workgroup => {
                let offset = self.workgroup_bytes.next_multiple_of(128);
                self.workgroup_bytes = check_size(inst, offset.saturating_add(layout.size))?;
                Some(MemoryRegion::WORKGROUP.address(offset))
            }
            StorageClass::StorageBuffer | StorageClass::Uniform if binding.is_some() => {
                self.place_resource(decoder, id, ty)?
            }
            StorageClass::Private | StorageClass::Function => {
                let offset = append_variable(decoder, inst, ty, &mut self.private_memory)?;
                Some(MemoryRegion::PRIVATE.address(offset))
            }
            StorageClass::UniformConstant | StorageClass::CrossWorkgroup if binding.is_none() => {
                let offset = append_variable(decoder, inst, ty, &mut self.module_memory)?;
                Some(MemoryRegion::MODULE.address(offset))
            }
            _ => None,
        })
    }

    /// The address of a resource. Each descriptor of an array is a region of its own, one after the other.
    fn place_resource(
        &mut self,
        decoder: &CodeDecoder<'_>,
        id: Id,
        ty: Id,
    ) -> Result<Option<u64>, SourceDiagnostic> {
        let facts = &decoder.facts;
        let inst = facts.define(ty)?;
        let count = match inst.op() {
            Op::TypeStruct => Some(1),
            Op::TypeArray if facts.is_descriptor_array(ty) => {
                facts.scalar_constant(inst.id_operand(1))
            }
            _ => None,
        };
        let Some(count) = count else {
            return Ok(None);
        };
        if count > MOST_DESCRIPTORS {
            let message = format!("{count} descriptors are too many");
            return Err(refuse(inst, message));
        }
        let number = self.resources.len();
        let [set, binding] = [Decoration::DescriptorSet, Decoration::Binding]
            .map(|what| facts.decoration(id, what).unwrap_or(0));
        self.resources
            .extend((0..count as u32).map(|index| KernelResource {
                set,
                binding,
                index,
            }));
        Ok(Some(MemoryRegion::from_resource(number).address(0)))
    }

    fn place_builtin(
        &mut self,
        decoder: &CodeDecoder<'_>,
        builtin: BuiltIn,
        ty: Id,
        is_kernel: bool,
    ) -> Result<u64, SourceDiagnostic> {
        let kind = decoder.facts.component_kind(ty)?;
        let count = decoder.facts.count_scalars(ty)? as usize;
        let offset = self.private_memory.len().next_multiple_of(16);
        let bytes = (kind.bits() as usize).div_ceil(8);
        self.private_memory.resize(offset + 32, 0);
        self.builtins.push(BuiltinPlace {
            builtin,
            offset: offset as u64,
            bytes,
            count,
            is_kernel,
        });
        Ok(MemoryRegion::PRIVATE.address(offset as u64))
    }
}

fn check_size(inst: InstRef<'_>, bytes: u64) -> Result<u64, SourceDiagnostic> {
    if bytes > MOST_BYTES {
        return Err(refuse(
            inst,
            format!("variables of {bytes} bytes are too large"),
        ));
    }
    Ok(bytes)
}

/// Appends a variable with its initial value to memory, and returns its offset.
fn append_variable(
    decoder: &CodeDecoder<'_>,
    inst: InstRef<'_>,
    ty: Id,
    memory: &mut Vec<u8>,
) -> Result<u64, SourceDiagnostic> {
    let facts = &decoder.facts;
    let offset = (memory.len() as u64).next_multiple_of(128);
    let end = check_size(inst, offset.saturating_add(facts.layout(ty).size))?;
    memory.resize(end as usize, 0);
    let Some(initial) = inst.get_id(1) else {
        return Ok(offset);
    };
    let value = decoder
        .constant_bits(initial)
        .ok_or_else(|| refuse(inst, "the initial value of the variable is not known"))?;
    for (cell, bits) in facts
        .list_cells(ty, MatrixOrder::default())?
        .iter()
        .zip(value)
    {
        let start = (offset + cell.offset) as usize;
        let size = usize::from(cell.bytes);
        if let Some(bytes) = memory.get_mut(start..start + size) {
            bytes.copy_from_slice(&bits.to_le_bytes()[..size]);
        }
    }
    Ok(offset)
}

/// The parameters of an entry point.
///
/// # Errors
/// When the type of one is not supported.
pub(crate) fn list_parameters(
    decoder: &CodeDecoder<'_>,
    function: Id,
) -> Result<Vec<CodeParameter>, SourceDiagnostic> {
    let (facts, module) = (&decoder.facts, decoder.facts.module);
    let mut functions = module.functions().iter();
    let Some(func) = functions.find(|func| module.function_id(**func) == function) else {
        return Ok(Vec::new());
    };
    let parameters = module.list_insts(module.function(*func).params);
    parameters
        .filter(|inst| inst.op() == Op::FunctionParameter)
        .map(|inst| {
            let ty = decoder.result_type(inst)?;
            let attribute = inst
                .result()
                .and_then(|id| facts.decoration(id, Decoration::FuncParamAttr));
            let kinds = facts.flatten_type(ty)?;
            Ok(CodeParameter {
                is_pointer: kinds == [ScalarKind::Pointer],
                is_by_value: attribute == Some(FunctionParameterAttribute::ByVal.0),
                cells: facts.list_cells(ty, MatrixOrder::default())?,
            })
        })
        .collect()
}

/// The workgroup size that a module fixes. The constant decorated `WorkgroupSize` overrides the execution modes.
pub(crate) fn find_workgroup_size(decoder: &CodeDecoder<'_>, function: Id) -> Option<[u32; 3]> {
    let (facts, module) = (&decoder.facts, decoder.facts.module);
    for inst in module.section_insts(ModuleSection::Annotations) {
        if let (Op::Decorate, [target, decoration, builtin]) = (inst.op(), inst.operands())
            && *decoration == Decoration::BuiltIn.0
            && *builtin == BuiltIn::WorkgroupSize.0
            && let Some([x, y, z]) = Id::new(*target).and_then(|id| facts.constant(id))
        {
            return Some([*x as u32, *y as u32, *z as u32]);
        }
    }
    let modes = module.section_insts(ModuleSection::ExecutionModes);
    for mode in modes.filter(|mode| mode.get_id(0) == Some(function)) {
        let [_, kind, x, y, z] = *mode.operands() else {
            continue;
        };
        if kind == ExecutionMode::LocalSize.0 {
            return Some([x, y, z]);
        }
        if kind == ExecutionMode::LocalSizeId.0 {
            let value = |word| {
                facts
                    .scalar_constant(Id::new(word)?)
                    .map(|bits| bits as u32)
            };
            return Some([value(x)?, value(y)?, value(z)?]);
        }
    }
    None
}

impl CodeDecoder<'_> {
    /// The scalars of a constant, addresses of variables included; none where they are not known.
    pub(crate) fn constant_bits(&self, id: Id) -> Option<Vec<u64>> {
        if let Some(address) = self.globals.get(&id) {
            return Some(vec![*address]);
        }
        if let Some(bits) = self.facts.constant(id) {
            return Some(bits.to_vec());
        }
        let inst = self.facts.define(id).ok()?;
        match inst.op() {
            Op::ConstantComposite | Op::SpecConstantComposite => {
                let mut bits = Vec::new();
                for part in inst.id_operands(0) {
                    bits.extend(self.constant_bits(part)?);
                }
                Some(bits)
            }
            Op::SpecConstantOp => self.constant_address(inst).map(|address| vec![address]),
            _ => None,
        }
    }

    /// The address that a constant expression computes.
    fn constant_address(&self, inst: InstRef<'_>) -> Option<u64> {
        let op = Op(u16::try_from(inst.operand_word(0)).ok()?);
        let base_id = inst.get_id(1)?;
        let [base] = self.constant_bits(base_id)?[..] else {
            return None;
        };
        let has_element = match op {
            Op::Bitcast
            | Op::CopyObject
            | Op::PtrCastToGeneric
            | Op::GenericCastToPtr
            | Op::ConvertPtrToU
            | Op::ConvertUToPtr => return Some(base),
            op if op.is_access_chain() => op.selects_element(),
            _ => return None,
        };
        let indices: Vec<Id> = inst.id_operands(2).collect();
        let chain = self.walk_chain(inst, base_id, &indices, has_element).ok()?;
        chain
            .terms
            .is_empty()
            .then(|| base.wrapping_add(chain.offset))
    }

    /// Decodes a variable of a function: its address, and the store of its initial value.
    pub(crate) fn decode_variable(&mut self, inst: InstRef<'_>) -> DecodeResult {
        let pointer = self.facts.define(self.result_type(inst)?)?;
        let ty = pointer.get_id(1);
        let ty = ty.ok_or_else(|| refuse(inst, "the variable has no type"))?;
        let layout = self.facts.layout(ty);
        check_size(inst, self.frame_bytes.saturating_add(layout.size))?;
        let offset = self.reserve_frame(layout.size, layout.align);
        let to = self.result_slot(inst)?;
        self.push_step(crate::step::CodeStep::LocalAddress { to, offset });
        match inst.get_id(1) {
            Some(initial) => {
                let from = self.value_slot(initial)?;
                self.push_store(to, from, ty, MatrixOrder::default())
            }
            None => Ok(()),
        }
    }
}
