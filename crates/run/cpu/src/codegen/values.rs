//! Values: reads the scalars of an id, and sets those of a result.

use super::lowering::{
    ClifLowering, IdLocation, PointeeInfo, SymbolicPointer, clif_type, invariant_flags,
};
use super::{ClifResult, ClifScalars};
use crate::analysis::promoted_variables::MAX_SCALARS;
use crate::layout::globals::GlobalLocation;
use crate::module::constants::ConstantScalar;
use crate::module::types::{ScalarLeaf, ScalarRepr};
use cranelift_codegen::ir::{InstBuilder, Type, Value, types};
use cranelift_frontend::Variable;
use smallvec::smallvec;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;

/// A pointer operand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PointerOperand {
    /// An address, with the strides of the matrix that it points to.
    Address(Value, Option<crate::module::types::MatrixStrides>),
    /// The address of a binding's entry.
    Entry(Value),
    /// Another way.
    Symbol(SymbolicPointer),
}

impl ClifLowering<'_, '_, '_> {
    /// Whether values of a type are kept in memory.
    pub fn is_large(&self, ty: Id) -> bool {
        self.program.types.scalar_count(ty) > MAX_SCALARS
    }

    /// The scalars of a type in order.
    pub fn type_leaves(&self, ty: Id) -> Vec<ScalarLeaf> {
        let mut leaves = Vec::new();
        self.program.types.append_leaves(ty, 0, None, &mut leaves);
        leaves
    }

    /// The location of an id of the function that is being lowered.
    pub fn id_location(&mut self, id: Id) -> IdLocation {
        match self.program.functions.local_index(id) {
            Some(local) => self
                .current_scope()
                .held
                .get(local)
                .copied()
                .unwrap_or(IdLocation::Unset),
            None => IdLocation::Unset,
        }
    }

    /// Says where an id of the function being lowered is.
    pub fn set_id_location(&mut self, id: Id, held: IdLocation) {
        if let Some(local) = self.program.functions.local_index(id)
            && let Some(row) = self.current_scope().held.get_mut(local)
        {
            *row = held;
        }
    }

    /// The properties of a pointer.
    pub fn pointee_info(&mut self, id: Id) -> PointeeInfo {
        match self.program.functions.local_index(id) {
            Some(local) => self.current_scope().pointed[local],
            None => PointeeInfo::default(),
        }
    }

    /// Sets the properties of a pointer.
    pub fn set_pointee_info(&mut self, id: Id, pointed: PointeeInfo) {
        if let Some(local) = self.program.functions.local_index(id) {
            self.current_scope().pointed[local] = pointed;
        }
    }

    /// The scalars of a value.
    pub fn read_values(&mut self, id: Id) -> Result<ClifScalars, SourceDiagnostic> {
        if self.program.functions.local_index(id).is_none() {
            return self.global_values(id);
        }
        Ok(match self.id_location(id) {
            IdLocation::Unset => {
                return Err(self.instruction_fault(format!("{id} is used before it is defined")));
            }
            IdLocation::Values { start, count } => {
                let range = start as usize..(start + count) as usize;
                let values: ClifScalars = self.pool[range].into();
                self.load_entry_address(id, values)
            }
            IdLocation::Kept { start, count } => {
                let values: ClifScalars = (start..start + count)
                    .map(|n| self.load_frame_variable(Variable::from_u32(n)))
                    .collect();
                self.load_entry_address(id, values)
            }
            held @ IdLocation::RoomAddress(_) => smallvec![self.private_memory_address(held)],
            IdLocation::Memory(_)
            | IdLocation::RoomMemory(_)
            | IdLocation::Constant(_)
            | IdLocation::InMemoryMatrix(_) => {
                return self.fail_unsupported("an aggregate of more than 64 scalars");
            }
            IdLocation::Symbol(symbol) => smallvec![self.materialise_pointer(symbol)?],
        })
    }

    /// The address that a binding's entry holds, where the value is the address of an entry.
    fn load_entry_address(&mut self, id: Id, values: ClifScalars) -> ClifScalars {
        if self.pointee_info(id).is_entry {
            smallvec![self.entry_address(values[0])]
        } else {
            values
        }
    }

    /// The one scalar of a value.
    pub fn read_value(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        let values = self.read_values(id)?;
        match values.first() {
            Some(value) => Ok(*value),
            None => Err(self.instruction_fault(format!("{id} has no value"))),
        }
    }

    /// A pointer operand.
    pub fn read_pointer(&mut self, id: Id) -> Result<PointerOperand, SourceDiagnostic> {
        if self.program.functions.local_index(id).is_none() {
            return self.global_pointer(id);
        }
        match self.id_location(id) {
            IdLocation::Symbol(symbol) => Ok(PointerOperand::Symbol(symbol)),
            _ => {
                let pointed = self.pointee_info(id);
                if pointed.is_entry {
                    self.set_pointee_info(id, PointeeInfo::default());
                    let entry = self.read_value(id);
                    self.set_pointee_info(id, pointed);
                    return Ok(PointerOperand::Entry(entry?));
                }
                Ok(PointerOperand::Address(
                    self.read_value(id)?,
                    pointed.strides,
                ))
            }
        }
    }

    fn global_pointer(&mut self, id: Id) -> Result<PointerOperand, SourceDiagnostic> {
        let Some(global) = self.shared.globals.get(id) else {
            return Ok(PointerOperand::Address(self.read_value(id)?, None));
        };
        Ok(match global {
            GlobalLocation::BuiltIn => PointerOperand::Symbol(SymbolicPointer::BuiltIn {
                variable: id,
                component: None,
            }),
            GlobalLocation::Promoted => match self.private.iter().find(|row| row.0 == id) {
                Some(row) => PointerOperand::Symbol(SymbolicPointer::Promoted { first: row.1 }),
                None => {
                    return Err(
                        self.instruction_fault(format!("the variable {id} is out of reach"))
                    );
                }
            },
            GlobalLocation::Binding { index } => PointerOperand::Entry(self.binding_entry(index)),
            GlobalLocation::Bindings { index } => {
                PointerOperand::Symbol(SymbolicPointer::Bindings { binding: index })
            }
            _ => PointerOperand::Address(self.global_address(id)?, None),
        })
    }

    fn binding_entry(&mut self, index: u32) -> Value {
        let table =
            self.load_context_field(types::I64, crate::layout::launch_context::at::BINDINGS);
        self.builder.ins().iadd_imm_s(table, i64::from(index) * 16)
    }

    /// The address of the resource that is bound to a descriptor.
    pub fn binding_address(&mut self, index: u32) -> Value {
        let entry = self.binding_entry(index);
        self.entry_address(entry)
    }

    /// The address that an entry of the table of bindings holds.
    pub fn entry_address(&mut self, entry: Value) -> Value {
        self.builder
            .ins()
            .load(types::I64, invariant_flags(), entry, 0)
    }

    /// The address of a module-level variable.
    fn global_address(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        use crate::layout::launch_context::at;
        let Some(global) = self.shared.globals.get(id) else {
            return Err(
                self.instruction_fault(format!("{id} is no variable that can be used here"))
            );
        };
        Ok(match global {
            GlobalLocation::Data { address } => self.emit_iconst(types::I64, address as i64),
            GlobalLocation::Workgroup { offset } => {
                let base = self.load_context_field(types::I64, at::WORKGROUP);
                self.builder.ins().iadd_imm_s(base, i64::from(offset))
            }
            GlobalLocation::Private { offset } => {
                let base = self.item.rooms;
                self.builder.ins().iadd_imm_s(base, i64::from(offset))
            }
            GlobalLocation::Push => self.load_context_field(types::I64, at::PUSH),
            GlobalLocation::Binding { .. } => {
                let PointerOperand::Entry(entry) = self.global_pointer(id)? else {
                    return self.fail_unsupported("this use of a binding");
                };
                self.entry_address(entry)
            }
            GlobalLocation::BuiltIn => self.materialise_pointer(SymbolicPointer::BuiltIn {
                variable: id,
                component: None,
            })?,
            GlobalLocation::Promoted | GlobalLocation::Bindings { .. } => {
                return self.fail_unsupported("this use of a variable's address");
            }
            GlobalLocation::Unsupported => {
                return self.fail_unsupported(format!("a variable of the type of {id}"));
            }
        })
    }

    /// The scalars of a constant, or the address of a module-level variable.
    fn global_values(&mut self, id: Id) -> Result<ClifScalars, SourceDiagnostic> {
        if self.shared.globals.get(id).is_some() {
            return Ok(smallvec![self.global_address(id)?]);
        }
        let program = self.program;
        if !program.constants.contains(id) {
            return Err(self.instruction_fault(format!("{id} is no constant that can be computed")));
        }
        let ty = self.type_of(id)?;
        if self.is_large(ty) {
            return self.fail_unsupported("a constant of more than 64 scalars");
        }
        let leaves = self.type_leaves(ty);
        let bits = program.constants.scalars(id);
        let mut values = ClifScalars::new();
        for (n, leaf) in leaves.iter().enumerate() {
            let bits = bits.get(n).copied().unwrap_or(ConstantScalar::Plain(0));
            values.push(match bits {
                ConstantScalar::Plain(bits) => self.scalar_constant(leaf.scalar, bits),
                ConstantScalar::Address { variable, offset } => {
                    let base = self.global_address(variable)?;
                    let address = self.builder.ins().iadd_imm_s(base, offset);
                    match clif_type(leaf.scalar) {
                        types::I64 => address,
                        narrow => self.builder.ins().ireduce(narrow, address),
                    }
                }
                ConstantScalar::Computed { .. } => match self.shared.globals.resolve_scalar(bits) {
                    Some(value) => self.scalar_constant(leaf.scalar, value),
                    None => {
                        let text = format!("{id} depends on an address that is no constant");
                        return Err(self.instruction_fault(text));
                    }
                },
            });
        }
        Ok(values)
    }

    /// A scalar constant from its bits.
    pub fn scalar_constant(&mut self, scalar: ScalarRepr, bits: u64) -> Value {
        match scalar {
            ScalarRepr::F32 => self.emit_f32const(f32::from_bits(bits as u32)),
            ScalarRepr::F64 => self.emit_f64const(f64::from_bits(bits)),
            other => self.emit_iconst(clif_type(other), bits as i64),
        }
    }

    /// An `f32` constant.
    pub fn emit_f32const(&mut self, value: f32) -> Value {
        self.builder.ins().f32const(value)
    }

    /// An `f64` constant.
    pub fn emit_f64const(&mut self, value: f64) -> Value {
        self.builder.ins().f64const(value)
    }

    /// Zeros of a type.
    pub fn emit_zeros(&mut self, ty: Id) -> ClifScalars {
        let leaves = self.type_leaves(ty);
        leaves
            .iter()
            .map(|leaf| self.scalar_constant(leaf.scalar, 0))
            .collect()
    }

    /// Sets the scalars of a result.
    pub fn set_values(&mut self, id: Id, values: &[Value]) {
        let func = self.current_scope().func;
        let info = self.program.functions.get(func);
        let kept = self.program.functions.local_index(id);
        if kept.is_some_and(|local| info.live.is_kept(local)) {
            let first = match self.id_location(id) {
                IdLocation::Kept { start, .. } => Variable::from_u32(start),
                _ => self.declare_frame_variables(values),
            };
            let (start, count) = (first.as_u32(), values.len() as u32);
            self.set_id_location(id, IdLocation::Kept { start, count });
            for (n, value) in (start..).zip(values) {
                self.save_to_slot(Variable::from_u32(n), *value);
            }
            return;
        }
        let start = self.pool.len() as u32;
        self.pool.extend_from_slice(values);
        let count = values.len() as u32;
        self.set_id_location(id, IdLocation::Values { start, count });
    }

    /// Declares variables with slots in the frame for values that are live at suspension points. The variables only
    /// name the slots. The values are loaded where they are used, as most uses are few and far from most points.
    fn declare_frame_variables(&mut self, values: &[Value]) -> Variable {
        let types: Vec<Type> = values.iter().map(|v| self.value_type(*v)).collect();
        let variables: Vec<_> = types
            .iter()
            .map(|ty| self.builder.declare_var(*ty))
            .collect();
        let first = variables.first().copied().unwrap_or(Variable::from_u32(0));
        self.keep_in_frame(first, &types);
        first
    }

    pub fn load_frame_variable(&mut self, variable: Variable) -> Value {
        let slot = self.variable_slot(variable).zip(self.item.frame);
        let Some(((offset, ty), frame)) = slot else {
            return self.builder.use_var(variable);
        };
        let flags = self.slot_flags();
        self.builder.ins().load(ty, flags, frame, offset)
    }

    /// Cranelift variables for the scalars of a type, in a row; the first.
    pub fn declare_variables(&mut self, ty: Id) -> (Variable, u32) {
        let leaves = self.type_leaves(ty);
        let mut first = Variable::from_u32(0);
        for (n, leaf) in leaves.iter().enumerate() {
            let variable = self.builder.declare_var(clif_type(leaf.scalar));
            if n == 0 {
                first = variable;
            }
        }
        (first, leaves.len() as u32)
    }

    /// Keeps a promoted variable of a type over suspensions.
    pub fn keep_variable(&mut self, first: Variable, ty: Id) {
        let leaves = self.type_leaves(ty);
        let types: Vec<Type> = leaves.iter().map(|leaf| clif_type(leaf.scalar)).collect();
        self.keep_in_frame(first, &types);
    }

    /// Assigns to Cranelift variables in a row. Values of other types are a fault of the module, which is reported
    /// after the instruction is lowered.
    pub fn assign_variables(&mut self, first: Variable, values: &[Value]) {
        for (n, value) in values.iter().enumerate() {
            let variable = Variable::from_u32(first.as_u32() + n as u32);
            if self.builder.try_def_var(variable, *value).is_err() {
                self.is_ill_typed = true;
            } else {
                self.save_to_slot(variable, *value);
                self.hooks().after_assignment(self, variable);
            }
        }
    }

    /// Gives Cranelift variables in a row slots in the frame. Each assignment stores values that are live at
    /// suspension points, so that suspending stores nothing.
    pub fn keep_in_frame(&mut self, first: Variable, types: &[Type]) {
        for (n, ty) in (first.as_u32()..).zip(types) {
            // Masks take four bytes a lane.
            let bytes = match self.shared.gang {
                Some(_) => ty.bytes().max(4),
                None => ty.bytes(),
            };
            self.frame.below = (self.frame.below + bytes).next_multiple_of(bytes);
            let at = n as usize;
            if self.slots.len() <= at {
                self.slots.resize(at + 1, None);
            }
            self.slots[at] = Some((-(self.frame.below as i32), *ty));
        }
    }

    /// Offset and type of a variable's slot, where it has one.
    pub fn variable_slot(&self, variable: Variable) -> Option<(i32, Type)> {
        let at = variable.as_u32() as usize;
        self.slots.get(at).copied().flatten()
    }

    /// Stores a variable's value into its slot, if it has one.
    pub fn save_to_slot(&mut self, variable: Variable, value: Value) {
        if let (Some(frame), Some((offset, _))) = (self.item.frame, self.variable_slot(variable)) {
            let flags = self.slot_flags();
            self.builder.ins().store(flags, value, frame, offset);
        }
    }

    /// The values of Cranelift variables in a row.
    pub fn read_variables(&mut self, first: Variable, count: usize) -> ClifScalars {
        let mut values = ClifScalars::new();
        for n in 0..count as u32 {
            let variable = Variable::from_u32(first.as_u32() + n);
            match self.builder.try_use_var(variable) {
                Ok(value) => values.push(value),
                Err(_) => self.is_ill_typed = true,
            }
        }
        values
    }

    /// Sets a result that is a list of scalars or, where the type is large, fails.
    pub fn set_result(&mut self, id: Option<Id>, values: &[Value]) -> ClifResult {
        match id {
            Some(id) => {
                self.set_values(id, values);
                Ok(())
            }
            None => Err(self.instruction_fault("it has no result")),
        }
    }

    /// The address of a value that is kept in memory.
    pub fn large_value_address(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        match self.id_location(id) {
            IdLocation::Memory(address) => return Ok(address),
            held @ IdLocation::RoomMemory(_) => return Ok(self.private_memory_address(held)),
            IdLocation::Constant(constant) => return self.large_constant(constant),
            _ => {}
        }
        if self.program.constants.contains(id) {
            return self.large_constant(id);
        }
        Err(self.instruction_fault(format!("{id} is used before it is defined")))
    }

    fn large_constant(&mut self, id: Id) -> Result<Value, SourceDiagnostic> {
        if let Some(address) = self.shared.large_constants.get(&id) {
            let address = *address as i64;
            return Ok(self.emit_iconst(types::I64, address));
        }
        let address = self.constant_block(id)?;
        self.shared.large_constants.insert(id, address);
        Ok(self.emit_iconst(types::I64, address as i64))
    }

    fn constant_block(&mut self, id: Id) -> Result<usize, SourceDiagnostic> {
        let ty = self.type_of(id)?;
        let bytes = self.program.types.layouts.get(ty).size;
        if bytes > 1 << 28 {
            return self.fail_unsupported(format!("a constant of {bytes} bytes"));
        }
        let block =
            crate::layout::globals::constant_bytes(self.program, self.shared.globals, id, ty);
        let block = block.map_err(|message| self.instruction_fault(message))?;
        Ok(self.shared.code.memory.keep_bytes(&block))
    }
}
