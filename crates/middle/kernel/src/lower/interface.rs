//! The interface of a module: built-in variables, scalar arguments, specialisation constants, the entry point.

use super::context::{KernelLowering, VIEW_BYTES, VIEWS};
use super::lowered_kernel::SpecValue;
use crate::ir::{KernelCapture, VarId};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;
use spirula_spirv::Id;
use spirula_spirv::build::SpirvBuilder;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{
    AddressingModel, BuiltIn, Capability, Decoration, ExecutionMode, ExecutionModel,
    FunctionControl, MemoryModel, StorageClass,
};
use spirula_spirv::ir::{Block, ModuleSection, SpirvModule};
use spirula_spirv::recompute::declare_requirements;

/// Bytes of push constants that graphics cards have. The runtime handles devices with fewer; Vulkan guarantees 128.
const PUSH_CONSTANTS: u32 = 256;

/// The layout of scalar arguments.
pub(super) struct ScalarArgumentLayout {
    pub rows: Vec<(VarId, ScalarType, u32)>,
    pub bytes: u32,
    pub in_buffer: bool,
}

/// Begins the module and its only function; returns the function's id and its first block.
pub(super) fn begin_module(b: &mut SpirvBuilder, has_fragments: bool) -> (Id, Block) {
    if has_fragments {
        b.memory_model(AddressingModel::Logical, MemoryModel::Vulkan);
    } else {
        b.memory_model(AddressingModel::Logical, MemoryModel::GLSL450);
    }
    let void = b.void_type();
    let ty = b.function_type(void, &[]);
    let main = b.fresh_id();
    b.begin_function(main, void, FunctionControl(0), ty);
    let label = b.fresh_id();
    let first = b.begin_block(label);
    let label = b.fresh_id();
    b.begin_block(label);
    (main, first)
}

impl KernelLowering<'_> {
    /// A specialisation constant of 32 bits with the default value 1.
    pub(super) fn spec_u32(&mut self, value: SpecValue) -> Id {
        let ty = self.uint_type(32);
        self.spec_constant(ty, &[1], value)
    }

    /// The specialisation constant of a value; equal values share one constant.
    fn spec_constant(&mut self, ty: Id, default: &[u32], value: SpecValue) -> Id {
        let known = self.constants.iter().position(|known| *known == value);
        if let Some(id) = known.and_then(|at| self.spec_ids[at]) {
            return id;
        }
        let id = self.b.fresh_id();
        let op = match default {
            [] => Op::SpecConstantFalse,
            _ => Op::SpecConstant,
        };
        let mut words = vec![ty.word(), id.word()];
        words.extend_from_slice(default);
        self.b.push_inst(ModuleSection::Globals, op, &words);
        self.b.set_type_of(id, ty);
        let number = known.unwrap_or_else(|| {
            self.constants.push(value);
            self.spec_ids.push(None);
            self.constants.len() - 1
        });
        self.b.decorate_id(id, Decoration::SpecId, &[number as u32]);
        self.spec_ids[number] = Some(id);
        id
    }

    /// Emits the values that the body needs before it begins.
    pub(super) fn begin_interface(&mut self) -> Result<ScalarArgumentLayout, SourceDiagnostic> {
        self.declare_workgroup_size();
        self.constant_uses();
        let scalars = self.scalar_layout();
        self.load_scalars_and_position(&scalars);
        Ok(scalars)
    }

    /// Declares the workgroup size.
    fn declare_workgroup_size(&mut self) {
        let u32_ty = self.uint_type(32);
        for dimension in 0..3 {
            let size = if dimension < self.data.block_size.len() {
                self.spec_u32(SpecValue::BlockSize(dimension))
            } else {
                self.const_u32(1)
            };
            self.local_size.push(size);
        }
        let triple = self.b.vector_type(u32_ty, 3);
        let words: Vec<u32> = self.local_size.iter().map(|id| id.word()).collect();
        let size = self
            .b
            .declare_constant(Op::SpecConstantComposite, triple, &words);
        self.b
            .decorate_id(size, Decoration::BuiltIn, &[BuiltIn::WorkgroupSize.0]);
    }

    /// Binds the kernel's constants to specialisation constants.
    fn constant_uses(&mut self) {
        let data = self.data;
        for used in &data.captures {
            let KernelCapture::Constant(var, value) = *used else {
                continue;
            };
            let scalar = self.p.scalar_type(var).unwrap_or(ScalarType::I64);
            let ty = self.scalar_type(scalar);
            let default: &[u32] = match scalar.width() {
                1 => &[],
                64 => &[1, 0],
                _ => &[1],
            };
            let id = self.spec_constant(ty, default, SpecValue::Value(value));
            self.bind_value(var, id);
        }
    }

    fn bind_value(&mut self, var: VarId, value: Id) {
        if self.memory_use.changed[var.index()] {
            self.assign_var(var, value)
        } else {
            self.values[var.index()] = Some(value)
        }
    }

    fn scalar_layout(&self) -> ScalarArgumentLayout {
        let (mut rows, mut bytes) = (Vec::new(), 4u32);
        for used in &self.data.captures {
            if let KernelCapture::Scalar(var) = *used {
                let ty = self.p.scalar_type(var).unwrap_or(ScalarType::I32);
                let size = (ty.size() as u32).max(4);
                bytes = bytes.next_multiple_of(size);
                rows.push((var, ty, bytes));
                bytes += size;
            }
        }
        let in_buffer = bytes > PUSH_CONSTANTS;
        ScalarArgumentLayout {
            rows,
            bytes,
            in_buffer,
        }
    }

    /// Loads the scalar arguments and the invocation's position.
    fn load_scalars_and_position(&mut self, scalars: &ScalarArgumentLayout) {
        let u32_ty = self.uint_type(32);
        let members: Vec<Id> = std::iter::once(u32_ty)
            .chain(
                scalars
                    .rows
                    .iter()
                    .map(|(_, ty, _)| *ty)
                    .map(|ty| self.uint_type((ty.size() as u32 * 8).max(32)))
                    .collect::<Vec<_>>(),
            )
            .collect();
        let words: Vec<u32> = members.iter().map(|id| id.word()).collect();
        let block = self.b.distinct_type(Op::TypeStruct, &words);
        self.b.decorate_id(block, Decoration::Block, &[]);
        let offsets = std::iter::once(0).chain(scalars.rows.iter().map(|(_, _, at)| *at));
        for (member, offset) in offsets.enumerate() {
            self.b
                .decorate_member(block, member as u32, Decoration::Offset, &[offset]);
        }
        let class = if scalars.in_buffer {
            StorageClass::StorageBuffer
        } else {
            StorageClass::PushConstant
        };
        let variable = self.add_global_variable(class, block);
        if scalars.in_buffer {
            let binding = self.failure_binding + 1;
            self.b
                .decorate_id(variable, Decoration::DescriptorSet, &[0]);
            self.b
                .decorate_id(variable, Decoration::Binding, &[binding]);
            self.b
                .decorate_member(block, 0, Decoration::NonWritable, &[]);
        }
        let member = |l: &mut Self, index: usize| {
            let pointer = l.b.pointer_type(class, members[index]);
            let at = l.const_u32(index as u32);
            let pointer = l.emit_value(Op::AccessChain, pointer, &[variable, at]);
            l.emit_load(members[index], pointer)
        };
        let groups = member(self, 0);
        self.load_invocation_ids(groups);
        for (index, (var, ty, _)) in scalars.rows.iter().enumerate() {
            let bits = member(self, index + 1);
            let value = self.scalar_value(*ty, bits);
            self.bind_value(*var, value);
        }
    }

    /// Converts the bits of an argument to its scalar type.
    fn scalar_value(&mut self, scalar: ScalarType, bits: Id) -> Id {
        let ty = self.scalar_type(scalar);
        match scalar {
            ScalarType::Bool => {
                let zero = self.const_u32(0);
                self.emit_bool_value(Op::INotEqual, &[bits, zero])
            }
            ScalarType::I8 | ScalarType::I16 => self.emit_value(Op::UConvert, ty, &[bits]),
            ScalarType::F16 => {
                let half = self.uint_type(16);
                let bits = self.emit_value(Op::UConvert, half, &[bits]);
                self.emit_bitcast(ty, bits)
            }
            _ => self.emit_bitcast(ty, bits),
        }
    }

    /// Loads the ids of invocation and workgroup. In a launch of one dimension, workgroups of the second dimension
    /// continue the numbering of the first.
    fn load_invocation_ids(&mut self, groups: Id) {
        let u32_ty = self.uint_type(32);
        let local = self.load_builtin(BuiltIn::LocalInvocationId);
        let group = self.load_builtin(BuiltIn::WorkgroupId);
        for part in 0..3 {
            let id = self
                .b
                .append_value(Op::CompositeExtract, u32_ty, &[local.word(), part]);
            self.local_id.push(id);
            let id = self
                .b
                .append_value(Op::CompositeExtract, u32_ty, &[group.word(), part]);
            self.group_id.push(id);
        }
        if self.data.blocks.len() == 1 {
            let counts = self.load_builtin(BuiltIn::NumWorkgroups);
            let row = self
                .b
                .append_value(Op::CompositeExtract, u32_ty, &[counts.word(), 0]);
            let before = self.emit_value(Op::IMul, u32_ty, &[self.group_id[1], row]);
            self.group_id[0] = self.emit_value(Op::IAdd, u32_ty, &[before, self.group_id[0]]);
            let excess = self.emit_bool_value(Op::UGreaterThanEqual, &[self.group_id[0], groups]);
            self.return_when(excess);
        }
    }

    fn load_builtin(&mut self, builtin: BuiltIn) -> Id {
        let u32_ty = self.uint_type(32);
        let triple = self.b.vector_type(u32_ty, 3);
        let pointer = self.b.pointer_type(StorageClass::Input, triple);
        let variable = self.b.builtin_variable(pointer, builtin);
        self.interface.push(variable);
        self.emit_load(triple, variable)
    }

    /// Loads the index of the subgroup in its workgroup, or of the invocation in its subgroup.
    pub(super) fn load_subgroup_builtin(&mut self, builtin: BuiltIn) -> Id {
        let at = usize::from(builtin == BuiltIn::SubgroupLocalInvocationId);
        let ty = self.uint_type(32);
        let variable = match self.subgroup[at] {
            Some(variable) => variable,
            None => {
                let pointer = self.b.pointer_type(StorageClass::Input, ty);
                let variable = self.b.builtin_variable(pointer, builtin);
                self.interface.push(variable);
                self.subgroup[at] = Some(variable);
                variable
            }
        };
        self.emit_load(ty, variable)
    }

    /// Initialises each reference variable with the binding of its own block.
    pub(super) fn begin_references(&mut self) {
        let data = self.data;
        let memories = data.captures.iter().filter_map(|used| match used {
            KernelCapture::Memory(var) => Some(*var),
            _ => None,
        });
        for (binding, var) in memories.enumerate() {
            let class = self.memory_use.alias_class.get(&var).copied();
            if class.is_some_and(|class| self.memory_use.classes[class].bindings.len() > 1) {
                let reference = self.reference_variable(var);
                let binding = self.const_u32(binding as u32);
                self.emit_store(reference, binding);
            }
        }
    }

    /// Whether a binding is accessed.
    pub(super) fn is_bound(&self, binding: u32) -> bool {
        let from = binding as usize * VIEWS;
        (from..from + VIEWS).any(|key| self.bindings.get(key).is_some_and(Option::is_some))
    }

    /// The part of a binding in bytes that indices of 32 bits reach: 2^32 of the smallest elements accessed.
    pub(super) fn binding_reach(&self, binding: u32) -> u64 {
        let from = binding as usize * VIEWS;
        let views = VIEW_BYTES.iter().enumerate();
        let smallest = views
            .filter(|(view, _)| self.bindings.get(from + view).is_some_and(Option::is_some))
            .map(|(_, bytes)| u64::from(*bytes))
            .min();
        smallest.unwrap_or(0) << 32
    }

    /// Ends the function, names it, and declares the entry point and the needs of the module.
    pub(super) fn finish_module(
        mut self,
        main: Id,
        label: Option<&str>,
    ) -> Result<(SpirvModule, Vec<SpecValue>), SourceDiagnostic> {
        self.b.set_name(main, label.unwrap_or_default());
        self.b.append_effect(Op::Return, &[]);
        let body = self.b.module().function(self.b.current_function()).blocks[1];
        let body = self.b.module().label(body);
        self.b.continue_block(self.first);
        self.emit_branch(body);
        self.b.end_function();
        self.b
            .entry_point(ExecutionModel::GLCompute, main, "main", &self.interface);
        self.b
            .execution_mode(main, ExecutionMode::LocalSize, &[1, 1, 1]);
        self.keep_special_values(main);
        let mut module = self.b.into_module();
        declare_requirements(&mut module, &[Capability::Shader]).map_err(|error| *error)?;
        Ok((module, self.constants))
    }

    /// Requires signed zeros, infinities and NaNs as in IEEE 754. Drivers may otherwise assume that they do not
    /// occur.
    fn keep_special_values(&mut self, main: Id) {
        for width in [16, 32, 64] {
            if self.floats & width != 0 {
                let mode = ExecutionMode::SignedZeroInfNanPreserve;
                self.b.execution_mode(main, mode, &[width]);
            }
        }
    }
}
