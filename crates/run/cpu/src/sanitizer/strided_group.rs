//! Strided load groups: loads of workgroup memory at constant distances, which are checked together.
//!
//! Unrolled loops read a row or a column of a tile: addresses in one variable at constant distances, in one block. A
//! common check at the first load covers all of them. Each further load only tests its result.

use super::covered_loads::is_ordering_op;
use crate::analysis::analysed_module::AnalysedModule;
use crate::module::types::{LoweredTypeKind, MatrixStrides};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{MemoryAccess, StorageClass};
use spirula_spirv::ir::InstRef;

/// Fewest loads for which a common check pays.
const FEWEST: usize = 4;
/// Most loads of a series.
const MOST: usize = 64;

/// A load of a series.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StridedLoad {
    /// The load's result.
    pub load: Id,
    /// Bytes from the address of the first load to its own.
    pub distance: i64,
    /// Number of its scalars.
    pub count: u32,
}

impl StridedLoad {
    /// Bytes from the address of the first load to each of its scalars, which have `bytes` bytes each.
    pub fn scalar_offsets(self, bytes: u64) -> impl Iterator<Item = i64> {
        let scalars = 0..i64::from(self.count);
        scalars.map(move |n| self.distance + n * bytes as i64)
    }
}

/// All series of a kernel.
#[derive(Debug, Default)]
pub(crate) struct StridedGroups {
    /// The members of each, in the order of the block.
    pub groups: Vec<Vec<StridedLoad>>,
    /// The group of each load, by the load's result.
    of: FxHashMap<Id, usize>,
}

/// An address in a variable up to a constant distance.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct LoadOrigin {
    root: Id,
    /// Values that are multiplied, by how many bytes, and how many elements the array has that they are indices of.
    terms: SmallVec<[(Id, u64, Option<u64>); 3]>,
    /// The type of the scalars that are loaded.
    ty: Id,
}

impl StridedGroups {
    /// Finds the groups of all functions that the entry point reaches. The cost is linear in the instructions.
    pub fn from_program(program: &AnalysedModule<'_>) -> StridedGroups {
        let mut all = StridedGroups::default();
        for func in &program.functions.bottom_up {
            let info = program.functions.get(*func);
            for at in &info.order {
                all.add_block(program, info.cfg.block(*at));
            }
        }
        all
    }

    /// The group of a load, by the load's result.
    pub fn group_of_load(&self, load: Id) -> Option<usize> {
        self.of.get(&load).copied()
    }

    fn add_block(&mut self, program: &AnalysedModule<'_>, block: spirula_spirv::ir::Block) {
        let mut open: FxHashMap<LoadOrigin, Vec<StridedLoad>> = FxHashMap::default();
        for inst in program.module.body(block) {
            if let Some((origin, member)) = match_strided_load(program, inst) {
                let members = open.entry(origin.clone()).or_default();
                members.push(member);
                if members.len() == MOST {
                    let full = open.remove(&origin);
                    full.into_iter().for_each(|members| self.add_group(members));
                }
            } else if can_end_group(program, inst) {
                open.drain()
                    .for_each(|(_, members)| self.add_group(members));
            }
        }
        open.drain()
            .for_each(|(_, members)| self.add_group(members));
    }

    /// Adds a group of loads, whose distances are from the beginning of the variable.
    fn add_group(&mut self, mut members: Vec<StridedLoad>) {
        if members.len() < FEWEST {
            return;
        }
        let (first, number) = (members[0].distance, self.groups.len());
        for member in &mut members {
            member.distance -= first;
            self.of.insert(member.load, number);
        }
        self.groups.push(members);
    }
}

/// Whether an instruction may change the state of workgroup memory.
fn can_end_group(program: &AnalysedModule<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::Store => !is_own(program, inst.id_operand(0)),
        Op::Load => inst
            .operands()
            .get(1)
            .is_some_and(|mask| mask & MemoryAccess::Volatile.0 != 0),
        Op::CopyMemory | Op::CopyMemorySized => true,
        op => is_ordering_op(op),
    }
}

fn class_of(program: &AnalysedModule<'_>, pointer: Id) -> Option<StorageClass> {
    match program.types.kind(program.type_of(pointer)?) {
        LoweredTypeKind::Pointer { class, .. } => Some(class),
        _ => None,
    }
}

/// Whether a pointer is to memory of the invocation.
fn is_own(program: &AnalysedModule<'_>, pointer: Id) -> bool {
    let class = class_of(program, pointer);
    matches!(class, Some(StorageClass::Function | StorageClass::Private))
}

/// A load of scalars of a workgroup's variable, with how far it is from the variable's beginning.
fn match_strided_load(
    program: &AnalysedModule<'_>,
    inst: InstRef<'_>,
) -> Option<(LoadOrigin, StridedLoad)> {
    let pointer = (inst.op() == Op::Load).then(|| inst.id_operand(0))?;
    let (load, whole) = (inst.result()?, inst.result_type()?);
    let (ty, count) = match program.types.kind(whole) {
        LoweredTypeKind::Vector { component, count } => (component, count),
        _ => (whole, 1),
    };
    let LoweredTypeKind::Scalar(scalar) = program.types.kind(ty) else {
        return None;
    };
    let bytes = u64::from(scalar.bytes());
    let is_aligned = match inst.operands().get(1..) {
        Some(&[mask, align, ..]) => mask == MemoryAccess::Aligned.0 && u64::from(align) >= bytes,
        Some([]) => true,
        _ => false,
    };
    if !is_aligned || class_of(program, pointer) != Some(StorageClass::Workgroup) {
        return None;
    }
    let mut origin = LoadOrigin {
        root: pointer,
        terms: SmallVec::new(),
        ty,
    };
    let (distance, _) = walk_pointer_chain(program, &mut origin, pointer)?;
    let is_whole = (distance as u64).is_multiple_of(bytes);
    let member = StridedLoad {
        load,
        distance,
        count,
    };
    is_whole.then_some((origin, member))
}

/// Bytes from the beginning of a variable to the address of a pointer without the terms of the origin, and the
/// strides of its matrices.
fn walk_pointer_chain(
    program: &AnalysedModule<'_>,
    origin: &mut LoadOrigin,
    pointer: Id,
) -> Option<(i64, Option<MatrixStrides>)> {
    let inst = program.definitions.get(program.module, pointer)?;
    let base = match inst.op() {
        Op::Variable => {
            origin.root = pointer;
            return Some((0, None));
        }
        Op::Bitcast => return walk_pointer_chain(program, origin, inst.id_operand(0)),
        op if op.is_access_chain() => inst.id_operand(0),
        _ => return None,
    };
    let (mut offset, mut strides) = walk_pointer_chain(program, origin, base)?;
    let mut ty = program.pointee_of(base)?;
    let types = &program.types;
    let mut indices = inst.id_operands(1);
    if inst.op().is_element_access_chain() {
        let element = indices.next()?;
        let stride = program.element_stride(base, ty);
        match program.constant_index(element, true) {
            Some(n) => offset = offset.checked_add(n.checked_mul(stride as i64)?)?,
            None => origin.terms.push((element, stride, None)),
        }
    }
    for index in indices {
        let known = program.constant_index(index, true);
        let count = match types.kind(ty) {
            LoweredTypeKind::Struct { count, .. } => {
                let n = known.and_then(|n| u32::try_from(n).ok())?;
                let (bytes, next) =
                    (n < count).then(|| types.part_offset(ty, n.into(), strides))?;
                offset = offset.checked_add(bytes as i64)?;
                strides = next;
                ty = types.find_part(ty, n)?.0;
                continue;
            }
            LoweredTypeKind::Array { count, .. } => Some(count),
            LoweredTypeKind::Vector { count, .. } => Some(count.into()),
            LoweredTypeKind::RuntimeArray { .. } | LoweredTypeKind::Matrix { .. } => None,
            _ => return None,
        };
        let stride = types.part_stride(ty, strides);
        match known {
            // An index that there is not has an address of its own.
            Some(n) if n < 0 || count.is_some_and(|count| n as u64 >= count) => return None,
            Some(n) => offset = offset.checked_add(n.checked_mul(stride as i64)?)?,
            None => origin.terms.push((index, stride, count)),
        }
        ty = match types.kind(ty) {
            LoweredTypeKind::Array { element, .. } | LoweredTypeKind::RuntimeArray { element } => {
                element
            }
            LoweredTypeKind::Vector { component, .. } => component,
            LoweredTypeKind::Matrix { column, .. } => column,
            _ => return None,
        };
    }
    Some((offset, strides))
}
