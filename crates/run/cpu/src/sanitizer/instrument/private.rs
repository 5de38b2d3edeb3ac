//! Private memory: which of its bytes are defined.

use super::accessed_object::describe_root;
use super::{ClifLowering, MemoryAccessKind, UNINITIALISED, VariableShadow, info};
use crate::codegen::ClifScalars;
use crate::codegen::lowering::{IdLocation, int_of, plain_flags};
use crate::module::types::ScalarLeaf;
use crate::sanitizer::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use spirula_spirv::Id;

/// Bytes of definedness that are cleared in place.
const INLINE_CLEAR: u64 = 64;

impl ClifLowering<'_, '_, '_> {
    /// Notes a variable's room; clears what says which of its bytes are defined.
    pub fn note_room(&mut self, id: Id, held: IdLocation, bytes: u64, defined: u64) {
        let room = VariableShadow {
            held,
            bytes,
            defined,
        };
        self.rooms.insert(id, room);
        let base = self.room_address(held);
        let shadow = self.builder.ins().iadd_imm_s(base, defined as i64);
        self.set_defined(shadow, bytes, false);
        self.register_private_memory(base, bytes, shadow);
    }

    pub(super) fn register_private_memory(&mut self, base: Value, bytes: u64, shadow: Value) {
        if self.shared.checking.as_ref().is_some_and(|c| c.registers) {
            let length = self.emit_iconst(types::I64, bytes as i64);
            let args = [self.item.context, base, length, shadow];
            self.call_host(
                runtime::register_private_memory as *const () as usize,
                &[types::I64; 4],
                &[],
                &args,
            );
        }
    }

    /// Begins an invocation: nothing of its private memory is defined.
    pub fn begin_private(&mut self) {
        let bytes = u64::from(self.shared.globals.private_bytes);
        if !self.is_checking() || bytes == 0 {
            return;
        }
        let bytes = bytes.next_multiple_of(16);
        let base = self.item.rooms;
        let shadow = self.builder.ins().iadd_imm_s(base, bytes as i64);
        self.set_defined(shadow, bytes, false);
        self.register_private_memory(base, bytes, shadow);
    }

    /// Marks bytes as defined or not, at their definedness.
    pub(super) fn set_defined(&mut self, at: Value, bytes: u64, defined: bool) {
        let byte = if defined { -1 } else { 0 };
        if bytes.next_multiple_of(8) <= INLINE_CLEAR && bytes.is_multiple_of(8) {
            let word = self.emit_iconst(types::I64, byte);
            for n in 0..bytes.div_ceil(8) {
                self.builder
                    .ins()
                    .store(plain_flags(), word, at, n as i32 * 8);
            }
            return;
        }
        let config = self.shared.code.frontend_config();
        let size = self.emit_iconst(types::I64, bytes as i64);
        let byte = self.emit_iconst(types::I8, byte);
        self.builder.call_memset(config, at, byte, size);
    }

    /// Marks a variable with an initialiser as defined.
    pub fn define_room(&mut self, id: Id) {
        if let Some(room) = self.rooms.get(&id).copied() {
            let base = self.room_address(room.held);
            let at = self.builder.ins().iadd_imm_s(base, room.defined as i64);
            self.set_defined(at, room.bytes, true);
        }
    }

    /// Marks bytes of the module's private variables as defined.
    pub fn define_private(&mut self, offset: u32, bytes: u64) {
        if self.is_checking() {
            let all = u64::from(self.shared.globals.private_bytes).next_multiple_of(16);
            let at = all as i64 + i64::from(offset);
            let at = self.builder.ins().iadd_imm_s(self.item.rooms, at);
            self.set_defined(at, bytes, true);
        }
    }

    /// Private memory: whether anything that is read was written, or that it is now.
    pub(super) fn check_defined(
        &mut self,
        address: Value,
        delta: u64,
        leaves: &[ScalarLeaf],
        how: MemoryAccessKind,
        site: u64,
    ) {
        let used = self.used_components();
        let mut defined = ClifScalars::new();
        let undefined = self.stored_flags();
        for (n, leaf) in leaves.iter().enumerate() {
            let ty = int_of(leaf.scalar.bytes());
            let at = (delta + leaf.offset) as i64;
            let at = self.builder.ins().iadd_imm_s(address, at);
            if how.info_bits() & info::READ != 0 {
                let bytes = self.builder.ins().load(ty, plain_flags(), at, 0);
                defined.push(self.extend_to(bytes, types::I64, false));
            }
            if how.is_write() {
                let mut known = self.emit_iconst(ty, -1);
                if let Some(flag) = undefined.as_ref().and_then(|flags| flags.get(n)) {
                    let none = self.emit_iconst(ty, 0);
                    known = self.builder.ins().select(*flag, none, known);
                }
                self.builder.ins().store(plain_flags(), known, at, 0);
            }
        }
        self.load_flags(&defined);
        let Some(fine) = self.enough_defined(&defined, used) else {
            return;
        };
        let next = self.builder.create_block();
        let empty = self.cold_block();
        self.builder.ins().brif(fine, next, &[], empty, &[]);
        self.builder.switch_to_block(empty);
        self.call_fault(UNINITIALISED, site);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Components of the result that is being computed which are used by themselves.
    pub(crate) fn used_components(&self) -> u64 {
        let result = self.current.and_then(|i| i.result());
        let checking = self.shared.checking.as_ref();
        checking.zip(result).map_or(0, |(c, id)| c.used[id])
    }

    /// Whether what is being loaded is only moved.
    fn is_only_moved(&self) -> bool {
        let result = self.current.and_then(|i| i.result());
        result.is_some_and(|id| self.is_moved(id))
    }

    /// Whether a value only becomes part of vectors, goes from one private variable to another, or is chosen from.
    pub(super) fn is_moved(&self, id: Id) -> bool {
        let checking = self.shared.checking.as_ref();
        checking.is_some_and(|c| c.moved[id])
    }

    /// Of what says of each component whether it is defined: not zero where one is, and all that are used. Of what is
    /// only moved none need be.
    fn enough_defined(&mut self, components: &[Value], used: u64) -> Option<Value> {
        let (first, rest) = components.split_first()?;
        if rest.is_empty() {
            return (!self.is_only_moved()).then_some(*first);
        }
        let parts = components.iter().enumerate();
        let parts = parts.filter(|(n, _)| used >> n.min(&63) & 1 != 0);
        let parts: ClifScalars = parts.map(|(_, part)| *part).collect();
        let any = match (self.is_only_moved(), parts.is_empty()) {
            (true, true) => return None,
            (true, false) => parts[0],
            (false, _) => rest
                .iter()
                .fold(*first, |any, next| self.builder.ins().bor(any, *next)),
        };
        Some(parts.into_iter().fold(any, |all, part| {
            let zero = self.builder.ins().icmp_imm_u(IntCC::Equal, part, 0);
            let ty = self.value_type(all);
            let none = self.emit_iconst(ty, 0);
            self.builder.ins().select(zero, none, all)
        }))
    }

    /// Notes that nothing was assigned yet to Cranelift variables in a row.
    pub fn note_unassigned(&mut self, first: Variable, count: u32) {
        if !self.is_checking() {
            return;
        }
        for n in first.as_u32()..first.as_u32() + count {
            let variable = Variable::from_u32(n);
            if self.flag_of(variable).is_none() {
                let flag = self.builder.declare_var(types::I8);
                if self.variable_slot(variable).is_some() {
                    self.keep_in_frame(flag, &[types::I8]);
                }
                let at = n as usize;
                if self.assigned.len() <= at {
                    self.assigned.resize(at + 1, None);
                }
                self.assigned[at] = Some(flag);
            }
            self.mark_assigned(variable, false);
        }
    }

    /// The variable that says whether another was assigned.
    pub fn flag_of(&self, variable: Variable) -> Option<Variable> {
        let at = variable.as_u32() as usize;
        self.assigned.get(at).copied().flatten()
    }

    /// Notes whether something was assigned to a variable, where that is of interest.
    pub fn mark_assigned(&mut self, variable: Variable, is: bool) {
        if let Some(flag) = self.flag_of(variable) {
            let value = self.emit_iconst(types::I8, is.into());
            self.builder.def_var(flag, value);
            self.save_to_slot(flag, value);
        }
    }

    /// Notes which of the variables in a row were assigned what is undefined, as parts of a structure or array.
    pub fn assign_flags(&mut self, first: Variable) {
        let flags = self.stored_flags().unwrap_or_default();
        for (n, flag) in (first.as_u32()..).zip(flags) {
            if let Some(assigned) = self.flag_of(Variable::from_u32(n)) {
                let known = self.builder.ins().icmp_imm_u(IntCC::Equal, flag, 0);
                self.builder.def_var(assigned, known);
                self.save_to_slot(assigned, known);
            }
        }
    }

    /// Checks that something was assigned to one of the variables in a row.
    pub fn check_assigned(&mut self, pointer: Id, first: Variable, count: u32) {
        let all = first.as_u32()..first.as_u32() + count;
        let flags = all.map(|n| self.flag_of(Variable::from_u32(n)));
        let Some(flags) = flags.collect::<Option<Vec<Variable>>>() else {
            return;
        };
        let flags = flags.into_iter().map(|flag| self.builder.use_var(flag));
        let flags: ClifScalars = flags.collect();
        self.load_flags(&flags);
        let used = self.used_components();
        let Some(fine) = self.enough_defined(&flags, used) else {
            return;
        };
        let (site, program) = (self.current_site(), self.program);
        if let Some(checking) = &mut self.shared.checking
            && let Some(root) = checking.provenance.find_root(pointer)
        {
            checking
                .sites
                .name_object(site, || describe_root(program, root));
        }
        let none = self.builder.ins().icmp_imm_u(IntCC::Equal, fine, 0);
        self.fault_if(none, UNINITIALISED);
    }
}
