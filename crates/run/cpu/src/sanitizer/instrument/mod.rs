//! Checks around accesses to memory, for the checking mode ([`crate::sanitizer`]).
//!
//! What an access has to be compared with follows from where its pointer comes from. The usual cases
//! are decided in place: that it is inside, and that the cell of a place that invocations share is
//! fresh or the invocation's own. Everything else calls the functions of [`super::runtime`].

pub(crate) mod accessed_object;
pub(crate) mod cells;
pub(crate) mod copies;
pub(crate) mod faults;
pub(crate) mod private;
pub(crate) mod shadow_state;
pub(crate) mod strided;
pub(crate) mod stubs;
pub(crate) mod undefined;

use super::component_uses::{only_moved, used_components};
use super::covered_loads::covered_loads;
use super::definedness::undefined_components;
use super::instruction_sites::SiteTable;
use super::load_purpose::{LoadPurpose, classify_load_purposes};
use super::runtime::{self, info};
use super::strided_group::AllSeries;
use super::volatile_updates::{can_invocations_wait, is_update};
use crate::analysis::analysed_module::AnalysedModule;
use crate::analysis::provenance::PointerProvenance;
use crate::codegen::ClifScalars;
use crate::codegen::lowering::{ClifLowering, IdLocation, invariant_flags};
use crate::codegen::values::PointerOperand;
use crate::module::types::{LoweredTypeKind, ScalarLeaf};
use accessed_object::{AccessedObject, ObjectLength, ShadowKind};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use shadow_state::cell_flags;
use smallvec::SmallVec;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::StorageClass;
use spirula_spirv::ir::InstRef;
use spirula_spirv::{Id, IdMap};

/// The number of the kind of fault.
const UNINITIALISED: u64 = 2;
/// Most scalars of shared memory whose accesses are decided in place: each takes a dozen blocks, most of which are
/// rarely run.
const MAX_IN_PLACE: usize = 16;
/// Beside a kind: a value is at fault, not the memory that is read.
const DEPENDS: u64 = info::DEPENDS >> info::KIND_SHIFT;

/// What the lowering of a kernel that is checked knows.
pub(crate) struct SanitizerAnalysis {
    pub sites: SiteTable,
    pub provenance: PointerProvenance,
    /// What is done with what loads give.
    pub purposes: IdMap<LoadPurpose>,
    /// Loads whose place is written right after.
    pub covered: IdMap<bool>,
    /// Loads that are checked together.
    pub series: AllSeries,
    /// Components of values that are used by themselves.
    pub used: IdMap<u64>,
    /// Values that are only moved.
    pub moved: IdMap<bool>,
    /// By value: components that may be undefined, where there are any.
    pub undefined: Option<IdMap<u64>>,
    /// Logarithm of the bytes that a cell of workgroup memory stands for.
    pub group_granule: u32,
    /// Whether private memory may be reached by addresses alone.
    pub registers: bool,
    /// Most bytes of an access.
    pub largest: u64,
    /// Whether there is any loop.
    pub loops: bool,
    /// Whether invocations may wait for others.
    pub waits: bool,
    /// Whether accesses to shared memory are decided where they are made.
    pub in_place: bool,
}

/// What a row of the table of arguments and bindings is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RowKind {
    /// Logarithm of the bytes of a cell.
    pub granule: u32,
    /// Whether invocations may race for it.
    pub races: bool,
}

/// Where a variable of a function is.
#[derive(Clone, Copy)]
pub(crate) struct VariableShadow {
    held: IdLocation,
    bytes: u64,
    /// Bytes from a byte to what says whether it is defined.
    defined: u64,
}

/// What is done to memory.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum MemoryAccessKind {
    Read,
    Write,
    /// With the semantics of memory, if they are known.
    Atomic {
        reads: bool,
        writes: bool,
        semantics: Option<u64>,
    },
    Volatile {
        writes: bool,
    },
}

/// An access behind a pointer, at an address computed from it.
#[derive(Clone, Copy)]
pub(crate) struct GuardedAccess {
    pub id: Id,
    pub address: Value,
    pub how: MemoryAccessKind,
}

/// An access to so many bytes.
#[derive(Clone, Copy)]
struct AccessExtent {
    address: Value,
    bytes: u64,
    how: MemoryAccessKind,
    /// What is written, where that is one scalar.
    value: Option<Value>,
}

impl MemoryAccessKind {
    fn info_bits(self) -> u64 {
        let bit = |is: bool, bit: u64| if is { bit } else { 0 };
        match self {
            MemoryAccessKind::Read => info::READ,
            MemoryAccessKind::Write => info::WRITE,
            MemoryAccessKind::Volatile { writes } => {
                info::ATOMIC | if writes { info::WRITE } else { info::READ }
            }
            MemoryAccessKind::Atomic {
                reads,
                writes,
                semantics,
            } => {
                let semantics = semantics.unwrap_or(0x18);
                info::ATOMIC
                    | bit(reads, info::READ)
                    | bit(writes, info::WRITE)
                    | bit(semantics & 0x1a != 0, info::ACQUIRE)
                    | bit(semantics & 0x1c != 0, info::RELEASE)
            }
        }
    }

    fn is_write(self) -> bool {
        self.info_bits() & info::WRITE != 0
    }

    /// Whether it is an atomic change that orders nothing by itself.
    fn is_relaxed_change(self) -> bool {
        const ORDERS: u64 = 0x1e;
        match self {
            MemoryAccessKind::Atomic {
                writes, semantics, ..
            } => writes && semantics.is_some_and(|s| s & ORDERS == 0),
            _ => false,
        }
    }

    fn is_volatile(self) -> bool {
        matches!(self, MemoryAccessKind::Volatile { .. })
    }

    fn is_plain(self) -> bool {
        matches!(self, MemoryAccessKind::Read | MemoryAccessKind::Write)
    }
}

impl SanitizerAnalysis {
    /// What can be known before anything is lowered.
    pub fn new(
        program: &AnalysedModule<'_>,
        globals: &crate::layout::globals::ReachedGlobals,
    ) -> SanitizerAnalysis {
        let provenance = PointerProvenance::from_program(program);
        let entry = program.functions.get(program.entry.func);
        let groups = entry
            .params
            .iter()
            .copied()
            .filter(|p| crate::layout::globals::is_workgroup(program, *p))
            .chain(globals.workgroup.iter().copied());
        let group_granule = groups
            .map(|id| provenance.access_granule(id))
            .min()
            .unwrap_or(2);
        let moved = only_moved(program);
        let purposes = classify_load_purposes(program);
        let series = AllSeries::from_program(program);
        let mut functions = program.functions.bottom_up.iter();
        let called =
            functions.any(|f| *f != program.entry.func && !program.functions.get(*f).inline);
        SanitizerAnalysis {
            registers: provenance.has_unknown() || called,
            sites: SiteTable::new(),
            waits: can_invocations_wait(program, &purposes),
            purposes,
            used: used_components(program, &moved),
            undefined: undefined_components(program, &moved),
            moved,
            covered: covered_loads(program),
            in_place: shared_accesses(program, &series) <= MAX_IN_PLACE,
            series,
            provenance,
            group_granule,
            largest: 0,
            loops: has_loops(program),
        }
    }

    /// The rows of arguments and bindings, in order.
    pub fn collect_row_kinds(
        &self,
        program: &AnalysedModule<'_>,
        globals: &crate::layout::globals::ReachedGlobals,
    ) -> Vec<RowKind> {
        let row = |id: Id| RowKind {
            granule: self.provenance.access_granule(id),
            races: self.provenance.is_written(id),
        };
        let params = &program.functions.get(program.entry.func).params;
        let mut rows: Vec<RowKind> = params.iter().map(|p| row(*p)).collect();
        for index in 0..globals.bindings.len() as u32 {
            let same = globals.bound.iter().filter(|b| b.row == index);
            let kinds = same.map(|b| row(b.id));
            let none = RowKind {
                granule: 2,
                races: false,
            };
            rows.push(kinds.fold(none, |a, b| RowKind {
                granule: a.granule.min(b.granule),
                races: a.races || b.races,
            }));
        }
        rows
    }
}

/// How many scalars are read and written where other invocations may, but for those that are checked together.
fn shared_accesses(program: &AnalysedModule<'_>, series: &AllSeries) -> usize {
    let functions = program.functions.bottom_up.iter();
    let insts = functions.flat_map(|func| program.module.function_insts(*func));
    let accessed = insts.filter_map(|inst| match inst.op() {
        Op::Load => {
            let load = inst.result()?;
            series
                .group_of_load(load)
                .is_none()
                .then_some((inst.id_operand(0), load))
        }
        Op::Store => Some((inst.id_operand(0), inst.id_operand(1))),
        _ => None,
    });
    let shared = accessed.filter(|(pointer, _)| is_shared(program, *pointer));
    let scalars = |value| {
        program
            .type_of(value)
            .map(|ty| program.types.scalar_count(ty))
    };
    shared.filter_map(|(_, value)| scalars(value)).sum()
}

/// Whether a pointer is to memory that invocations may share.
fn is_shared(program: &AnalysedModule<'_>, pointer: Id) -> bool {
    let ty = program.type_of(pointer);
    let class = ty.map(|ty| program.types.kind(ty));
    !matches!(
        class,
        Some(LoweredTypeKind::Pointer {
            class: StorageClass::Function
                | StorageClass::Private
                | StorageClass::Input
                | StorageClass::PushConstant
                | StorageClass::UniformConstant,
            ..
        })
    )
}

/// Whether any block may be run again.
fn has_loops(program: &AnalysedModule<'_>) -> bool {
    program.functions.bottom_up.iter().any(|func| {
        let cfg = &program.functions.get(*func).cfg;
        let mut seen = vec![false; cfg.len()];
        cfg.reverse_postorder().iter().any(|at| {
            seen[*at as usize] = true;
            cfg.successors(*at).iter().any(|to| seen[*to as usize])
        })
    })
}

/// The address itself, for accesses that are made elsewhere.
fn wrap_address(_: &mut ClifLowering, address: Value) -> ClifScalars {
    [address].into_iter().collect()
}

impl ClifLowering<'_, '_, '_> {
    /// Whether accesses are checked.
    pub fn is_checking(&self) -> bool {
        self.shared.checking.is_some()
    }

    /// The number of the instruction that is being lowered, as a site.
    pub fn current_site(&mut self) -> u16 {
        let (program, Some(inst)) = (self.program, self.current) else {
            return 0;
        };
        let scope = self.current_scope();
        let (func, position) = (scope.func, scope.position);
        let block = program.functions.get(func).cfg.block(position);
        let block = program.module.label(block);
        match &mut self.shared.checking {
            Some(checking) => {
                let purpose = inst.result().map(|id| checking.purposes[id]);
                let purpose = purpose.unwrap_or_default();
                checking
                    .sites
                    .assign_number(program, func, block, inst, purpose)
            }
            None => 0,
        }
    }

    /// Whether a store that is volatile counts as one that is not.
    pub fn is_plain_update(&self, store: InstRef<'_>) -> bool {
        let checking = self.shared.checking.as_ref();
        checking.is_some_and(|c| !c.waits) && is_update(self.program, store)
    }

    /// Checks an access to the scalars of a value behind a pointer; the pointer to use.
    pub fn sanitize_pointer_access(
        &mut self,
        id: Id,
        pointer: PointerOperand,
        leaves: &[ScalarLeaf],
        how: MemoryAccessKind,
        values: &[Value],
    ) -> Result<PointerOperand, SourceDiagnostic> {
        if !self.is_checking() || matches!(pointer, PointerOperand::Symbol(_)) || leaves.is_empty()
        {
            return Ok(pointer);
        }
        let strides = match pointer {
            PointerOperand::Address(_, strides) => strides,
            _ => None,
        };
        let address = self.address_of(pointer)?;
        let address = self.guard_address(id, address, leaves, how, values)?;
        Ok(PointerOperand::Address(address, strides))
    }

    /// The same of an address that was computed from a pointer.
    pub fn guard_address(
        &mut self,
        id: Id,
        address: Value,
        leaves: &[ScalarLeaf],
        how: MemoryAccessKind,
        values: &[Value],
    ) -> Result<Value, SourceDiagnostic> {
        let access = GuardedAccess { id, address, how };
        let found = self.guard_leaves(access, leaves, values, wrap_address)?;
        Ok(found[0])
    }

    /// Checks an access to the scalars of a value, and makes it at the address to use: what it gives.
    pub fn guard_leaves(
        &mut self,
        GuardedAccess { id, address, how }: GuardedAccess,
        leaves: &[ScalarLeaf],
        values: &[Value],
        make: impl Fn(&mut Self, Value) -> ClifScalars,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let access = GuardedAccess { id, address, how };
        if let Some(found) = self.guard_series(access, leaves, &make)? {
            return Ok(found);
        }
        let end = |leaf: &ScalarLeaf| leaf.offset + u64::from(leaf.scalar.bytes());
        let bytes = leaves.iter().map(end).max().unwrap_or(1);
        let value = match values {
            [value] => Some(*value),
            _ => None,
        };
        let access = AccessExtent {
            address,
            bytes,
            how,
            value,
        };
        let inside = |lower: &mut Self, place: &AccessedObject, offset: Value, what: u64| {
            match place.space {
                ShadowKind::Nothing => {}
                ShadowKind::Private(delta) => {
                    let site = what & info::SITE;
                    lower.check_defined(address, delta, leaves, how, site);
                }
                ShadowKind::Global { .. } | ShadowKind::Group { .. } if how.is_volatile() => {
                    lower.check_cells(place, [address, offset], leaves, how, values);
                }
                ShadowKind::Global { .. } | ShadowKind::Group { .. } if !how.is_plain() => {
                    let what = what | place.cleared_flag() | lower.granule_bits(place);
                    let bytes = leaves.iter().map(|leaf| leaf.scalar.bytes()).sum();
                    match how.is_relaxed_change() {
                        true => {
                            lower.check_relaxed_change(place, [offset, address], bytes, what, value)
                        }
                        false => _ = lower.call_touch(address, what, value),
                    }
                }
                ShadowKind::Global { .. }
                    if how == MemoryAccessKind::Read && lower.is_covered() => {}
                ShadowKind::Global { .. } | ShadowKind::Group { .. } => {
                    lower.check_cells(place, [address, offset], leaves, how, values);
                }
            }
        };
        self.make_guarded_access(id, access, inside, make)
    }

    /// Checks an access to a value that is kept in memory.
    pub fn guard_range(
        &mut self,
        id: Id,
        address: Value,
        bytes: u64,
        how: MemoryAccessKind,
    ) -> Result<Value, SourceDiagnostic> {
        if bytes == 0 {
            return Ok(address);
        }
        let access = AccessExtent {
            address,
            bytes,
            how,
            value: None,
        };
        let inside = |lower: &mut Self, place: &AccessedObject, _, what| match place.space {
            ShadowKind::Nothing => {}
            ShadowKind::Private(delta) if how.is_write() => {
                let at = lower.builder.ins().iadd_imm_s(address, delta as i64);
                lower.set_defined(at, bytes, true);
            }
            ShadowKind::Private(_) => {}
            ShadowKind::Global { .. } | ShadowKind::Group { .. } => {
                lower.call_touch(address, what | lower.granule_bits(place), None);
            }
        };
        Ok(self.make_guarded_access(id, access, inside, wrap_address)?[0])
    }

    /// What `make` gives at the address to use for an access: its own where it is inside of what the pointer comes
    /// from, after `inside` has checked the rest, by the place, the offset there and what the access is.
    ///
    /// It is made twice, so that what is usual needs no address that may be one of two.
    fn make_guarded_access(
        &mut self,
        id: Id,
        access: AccessExtent,
        inside: impl FnOnce(&mut Self, &AccessedObject, Value, u64),
        make: impl Fn(&mut Self, Value) -> ClifScalars,
    ) -> Result<ClifScalars, SourceDiagnostic> {
        let (address, bytes) = (access.address, access.bytes);
        if !self.is_checking() {
            return Ok(make(self, address));
        }
        let what =
            u64::from(self.current_site()) | access.how.info_bits() | bytes << info::BYTES_SHIFT;
        if let Some(checking) = &mut self.shared.checking {
            checking.largest = checking.largest.max(bytes);
        }
        let Some(place) = self.find_accessed_object(id)? else {
            let address = self.call_touch(address, what, access.value);
            return Ok(make(self, address));
        };
        let done = self.builder.create_block();
        let offset = self.builder.ins().isub(address, place.base);
        let bad = self.is_outside(&place, offset, bytes);
        let fine = self.builder.create_block();
        let outside = self.cold_block();
        self.builder.ins().brif(bad, outside, &[], fine, &[]);
        self.builder.switch_to_block(outside);
        self.make_instead((&place, address), what, &make, done);
        self.builder.switch_to_block(fine);
        inside(self, &place, offset, what);
        let made = make(self, address);
        self.jump_with(done, &made);
        self.builder.switch_to_block(done);
        Ok(self.builder.block_params(done).into())
    }

    /// Makes an access that may be outside of its place at the address to use, and goes on with what it gives.
    fn make_instead(
        &mut self,
        (place, address): (&AccessedObject, Value),
        what: u64,
        make: impl Fn(&mut Self, Value) -> ClifScalars,
        done: Block,
    ) {
        let told = self.emit_iconst(types::I64, what as i64);
        let instead = self.call_outside(place, address, told);
        let made = make(self, instead);
        for value in &made {
            let ty = self.value_type(*value);
            self.builder.append_block_param(done, ty);
        }
        self.jump_with(done, &made);
    }

    fn jump_with(&mut self, to: Block, values: &[Value]) {
        let args: SmallVec<[BlockArg; 4]> = values.iter().map(|v| BlockArg::Value(*v)).collect();
        self.builder.ins().jump(to, &args);
    }

    /// Whether what is being loaded is written right after.
    fn is_covered(&self) -> bool {
        let load = self.current.filter(|i| i.op() == Op::Load);
        let result = load.and_then(|i| i.result());
        let checking = self.shared.checking.as_ref();
        checking.zip(result).is_some_and(|(c, id)| c.covered[id])
    }

    fn granule_bits(&self, place: &AccessedObject) -> u64 {
        match place.space {
            ShadowKind::Global { granule, .. } => {
                info::GRANULE | u64::from(granule) << info::GRANULE_SHIFT
            }
            _ => 0,
        }
    }

    fn call_touch(&mut self, address: Value, what: u64, value: Option<Value>) -> Value {
        let args = self.touch_args(address, what, value);
        self.call_quietly(runtime::sanitize_access as *const () as usize, &args)
    }

    fn touch_args(&mut self, address: Value, what: u64, value: Option<Value>) -> [Value; 5] {
        let what = what | if value.is_some() { info::VALUE } else { 0 };
        let value = match value {
            Some(value) => {
                let bits = self.bits_of(value);
                self.extend_to(bits, types::I64, false)
            }
            None => self.emit_iconst(types::I64, 0),
        };
        let what = self.emit_iconst(types::I64, what as i64);
        [self.item.context, self.item.linear, address, what, value]
    }

    /// Whether an access of so many bytes at an offset is not inside of a place.
    fn is_outside(&mut self, place: &AccessedObject, offset: Value, bytes: u64) -> Value {
        let least = IntCC::UnsignedGreaterThanOrEqual;
        match place.length {
            ObjectLength::Known(length) => {
                let end = (length + 1).saturating_sub(bytes);
                let end = self.emit_iconst(types::I64, end as i64);
                self.builder.ins().icmp(least, offset, end)
            }
            ObjectLength::Row(row) if bytes.is_power_of_two() && bytes <= 16 => {
                let at = runtime::at::ENDS + 8 * bytes.trailing_zeros() as i32;
                let end = self.row_field(row, at);
                self.builder.ins().icmp(least, offset, end)
            }
            ObjectLength::Row(row) => {
                let end = self.row_field(row, runtime::at::ENDS);
                let first = self.builder.ins().icmp(least, offset, end);
                let last = self.builder.ins().iadd_imm_s(offset, bytes as i64 - 1);
                let last = self.builder.ins().icmp(least, last, end);
                self.builder.ins().bor(first, last)
            }
        }
    }

    /// The address to use for an access that is not inside of a place.
    fn call_outside(&mut self, place: &AccessedObject, address: Value, what: Value) -> Value {
        let common = [self.item.context, self.item.linear, address, what];
        match place.length {
            ObjectLength::Known(length) => {
                let length = self.emit_iconst(types::I64, length as i64);
                let args = [&common[..], &[place.base, length]].concat();
                self.call_quietly(runtime::sanitize_out_of_bounds as *const () as usize, &args)
            }
            ObjectLength::Row(row) => {
                let row = self.emit_iconst(types::I64, row as i64);
                let args = [&common[..], &[row]].concat();
                self.call_quietly(runtime::outside_row as *const () as usize, &args)
            }
        }
    }

    /// A field of a row of the table of arguments and bindings.
    fn row_field(&mut self, row: usize, at: i32) -> Value {
        let live =
            self.load_context_field(types::I64, crate::layout::launch_context::at::SANITIZER);
        let ins = self.builder.ins();
        let rows = ins.load(types::I64, invariant_flags(), live, runtime::at::ROWS);
        let flags = cell_flags();
        let at = runtime::at::ROW * row as i32 + at;
        self.builder.ins().load(types::I64, flags, rows, at)
    }

    fn cold_block(&mut self) -> Block {
        let block = self.builder.create_block();
        self.builder.set_cold_block(block);
        block
    }
}
