//! Private memory: which of its bytes are defined.

use super::accessed_object::describe_root;
use super::{
    ClifLowering, SanitizerHooks, UNINITIALISED, VariableShadow, info, info_bits, is_write,
};
use crate::codegen::ClifScalars;
use crate::codegen::access_hooks::MemoryAccessKind;
use crate::codegen::lowering::{IdLocation, int_of, plain_flags};
use crate::module::types::ScalarLeaf;
use crate::sanitizer::runtime;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use spirula_spirv::Id;

/// Bytes of definedness that are cleared in place.
const INLINE_CLEAR: u64 = 64;

impl SanitizerHooks {
    /// Records a variable's private memory, and clears the flags of its defined bytes.
    pub fn record_private_memory(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        id: Id,
        held: IdLocation,
        bytes: u64,
        defined: u64,
    ) {
        let room = VariableShadow {
            held,
            bytes,
            defined,
        };
        self.state.borrow_mut().rooms.insert(id, room);
        let base = lower.private_memory_address(held);
        let shadow = lower.builder.ins().iadd_imm_s(base, defined as i64);
        self.set_defined(lower, shadow, bytes, false);
        self.register_private_memory(lower, base, bytes, shadow);
    }

    pub(super) fn register_private_memory(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        base: Value,
        bytes: u64,
        shadow: Value,
    ) {
        if self.analysis.registers {
            let length = lower.emit_iconst(types::I64, bytes as i64);
            let args = [lower.item.context, base, length, shadow];
            lower.call_host(
                runtime::register_private_memory as *const () as usize,
                &[types::I64; 4],
                &[],
                &args,
            );
        }
    }

    /// Begins an invocation: nothing of its private memory is defined.
    pub fn begin_private(&self, lower: &mut ClifLowering<'_, '_, '_>) {
        let bytes = u64::from(lower.shared.globals.private_bytes);
        if bytes == 0 {
            return;
        }
        let bytes = bytes.next_multiple_of(16);
        let base = lower.item.rooms;
        let shadow = lower.builder.ins().iadd_imm_s(base, bytes as i64);
        self.set_defined(lower, shadow, bytes, false);
        self.register_private_memory(lower, base, bytes, shadow);
    }

    /// Marks bytes as defined or not, at their definedness.
    pub(super) fn set_defined(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        at: Value,
        bytes: u64,
        defined: bool,
    ) {
        let byte = if defined { -1 } else { 0 };
        if bytes.next_multiple_of(8) <= INLINE_CLEAR && bytes.is_multiple_of(8) {
            let word = lower.emit_iconst(types::I64, byte);
            for n in 0..bytes.div_ceil(8) {
                lower
                    .builder
                    .ins()
                    .store(plain_flags(), word, at, n as i32 * 8);
            }
            return;
        }
        let config = lower.shared.code.frontend_config();
        let size = lower.emit_iconst(types::I64, bytes as i64);
        let byte = lower.emit_iconst(types::I8, byte);
        lower.builder.call_memset(config, at, byte, size);
    }

    /// Marks a variable with an initialiser as defined.
    pub fn define_private_memory(&self, lower: &mut ClifLowering<'_, '_, '_>, id: Id) {
        let room = self.state.borrow().rooms.get(&id).copied();
        if let Some(room) = room {
            let base = lower.private_memory_address(room.held);
            let at = lower.builder.ins().iadd_imm_s(base, room.defined as i64);
            self.set_defined(lower, at, room.bytes, true);
        }
    }

    /// Marks bytes of the module's private variables as defined.
    pub fn define_private(&self, lower: &mut ClifLowering<'_, '_, '_>, offset: u32, bytes: u64) {
        let all = u64::from(lower.shared.globals.private_bytes).next_multiple_of(16);
        let at = all as i64 + i64::from(offset);
        let at = lower.builder.ins().iadd_imm_s(lower.item.rooms, at);
        self.set_defined(lower, at, bytes, true);
    }

    /// Private memory: whether anything that is read was written, or that it is now.
    pub(super) fn check_defined(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        address: Value,
        delta: u64,
        leaves: &[ScalarLeaf],
        how: MemoryAccessKind,
        site: u64,
    ) {
        let used = self.used_components(lower);
        let mut defined = ClifScalars::new();
        let undefined = self.stored_flags(lower);
        for (n, leaf) in leaves.iter().enumerate() {
            let ty = int_of(leaf.scalar.bytes());
            let at = (delta + leaf.offset) as i64;
            let at = lower.builder.ins().iadd_imm_s(address, at);
            if info_bits(how) & info::READ != 0 {
                let bytes = lower.builder.ins().load(ty, plain_flags(), at, 0);
                defined.push(lower.extend_to(bytes, types::I64, false));
            }
            if is_write(how) {
                let mut known = lower.emit_iconst(ty, -1);
                if let Some(flag) = undefined.as_ref().and_then(|flags| flags.get(n)) {
                    let none = lower.emit_iconst(ty, 0);
                    known = lower.builder.ins().select(*flag, none, known);
                }
                lower.builder.ins().store(plain_flags(), known, at, 0);
            }
        }
        self.load_flags(lower, &defined);
        let Some(fine) = self.enough_defined(lower, &defined, used) else {
            return;
        };
        let next = lower.builder.create_block();
        let empty = self.cold_block(lower);
        lower.builder.ins().brif(fine, next, &[], empty, &[]);
        lower.builder.switch_to_block(empty);
        self.call_fault(lower, UNINITIALISED, site);
        lower.builder.ins().jump(next, &[]);
        lower.builder.switch_to_block(next);
    }

    /// Components of the result that is being computed which are used by themselves.
    pub(crate) fn used_components(&self, lower: &ClifLowering<'_, '_, '_>) -> u64 {
        let result = lower.current.and_then(|i| i.result());
        result.map_or(0, |id| self.analysis.used[id])
    }

    /// Whether the value that is being loaded is only moved.
    fn is_only_moved(&self, lower: &ClifLowering<'_, '_, '_>) -> bool {
        let result = lower.current.and_then(|i| i.result());
        result.is_some_and(|id| self.is_moved(id))
    }

    /// Whether a value only becomes part of vectors, moves from one private variable to another, or is selected from.
    pub(super) fn is_moved(&self, id: Id) -> bool {
        self.analysis.moved[id]
    }

    /// A value that is not zero where any component is defined, and all that are used by themselves. `components` has
    /// one value for each, which is not zero where it is defined. None where nothing need be defined, as of values
    /// that are only moved.
    fn enough_defined(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        components: &[Value],
        used: u64,
    ) -> Option<Value> {
        let (first, rest) = components.split_first()?;
        if rest.is_empty() {
            return (!self.is_only_moved(lower)).then_some(*first);
        }
        let parts = components.iter().enumerate();
        let parts = parts.filter(|(n, _)| used >> n.min(&63) & 1 != 0);
        let parts: ClifScalars = parts.map(|(_, part)| *part).collect();
        let any = match (self.is_only_moved(lower), parts.is_empty()) {
            (true, true) => return None,
            (true, false) => parts[0],
            (false, _) => rest
                .iter()
                .fold(*first, |any, next| lower.builder.ins().bor(any, *next)),
        };
        Some(parts.into_iter().fold(any, |all, part| {
            let zero = lower.builder.ins().icmp_imm_u(IntCC::Equal, part, 0);
            let ty = lower.value_type(all);
            let none = lower.emit_iconst(ty, 0);
            lower.builder.ins().select(zero, none, all)
        }))
    }

    /// Notes that nothing was assigned yet to Cranelift variables in a row.
    pub fn note_unassigned(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        first: Variable,
        count: u32,
    ) {
        for n in first.as_u32()..first.as_u32() + count {
            let variable = Variable::from_u32(n);
            if self.flag_of(variable).is_none() {
                let flag = lower.builder.declare_var(types::I8);
                if lower.variable_slot(variable).is_some() {
                    lower.keep_in_frame(flag, &[types::I8]);
                }
                let at = n as usize;
                let assigned = &mut self.state.borrow_mut().assigned;
                if assigned.len() <= at {
                    assigned.resize(at + 1, None);
                }
                assigned[at] = Some(flag);
            }
            self.mark_assigned(lower, variable, false);
        }
    }

    /// The variable that says whether another was assigned.
    pub fn flag_of(&self, variable: Variable) -> Option<Variable> {
        let at = variable.as_u32() as usize;
        self.state.borrow().assigned.get(at).copied().flatten()
    }

    /// Records whether a variable was assigned, where this is tracked.
    pub fn mark_assigned(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        variable: Variable,
        is: bool,
    ) {
        if let Some(flag) = self.flag_of(variable) {
            let value = lower.emit_iconst(types::I8, is.into());
            lower.builder.def_var(flag, value);
            lower.save_to_slot(flag, value);
        }
    }

    /// Records which of the variables in a row were assigned undefined parts of a structure or array.
    pub fn assign_flags(&self, lower: &mut ClifLowering<'_, '_, '_>, first: Variable) {
        let flags = self.stored_flags(lower).unwrap_or_default();
        for (n, flag) in (first.as_u32()..).zip(flags) {
            if let Some(assigned) = self.flag_of(Variable::from_u32(n)) {
                let known = lower.builder.ins().icmp_imm_u(IntCC::Equal, flag, 0);
                lower.builder.def_var(assigned, known);
                lower.save_to_slot(assigned, known);
            }
        }
    }

    /// Checks that something was assigned to one of the variables in a row.
    pub fn check_assigned(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        pointer: Id,
        first: Variable,
        count: u32,
    ) {
        let all = first.as_u32()..first.as_u32() + count;
        let flags = all.map(|n| self.flag_of(Variable::from_u32(n)));
        let Some(flags) = flags.collect::<Option<Vec<Variable>>>() else {
            return;
        };
        let flags = flags.into_iter().map(|flag| lower.builder.use_var(flag));
        let flags: ClifScalars = flags.collect();
        self.load_flags(lower, &flags);
        let used = self.used_components(lower);
        let Some(fine) = self.enough_defined(lower, &flags, used) else {
            return;
        };
        let site = self.current_site(lower);
        if let Some(root) = self.find_pointer_root(pointer) {
            let describe = || describe_root(lower.program, root);
            self.sites.borrow_mut().name_object(site, describe);
        }
        let none = lower.builder.ins().icmp_imm_u(IntCC::Equal, fine, 0);
        self.emit_fault_if(lower, none, UNINITIALISED);
    }
}
