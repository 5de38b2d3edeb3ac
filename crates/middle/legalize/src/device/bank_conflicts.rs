//! Bank conflicts: arrays in workgroup memory are padded so that adjacent invocations use different banks.
//!
//! Graphics processors serve one word of each of 32 banks at a time. Word `i` is in bank `i % 32`. Invocations that read down a
//! column of a matrix with rows of 32, 64 or 96 words, or along its second diagonal with rows of 65, are served one after the other.
//!
//! One word of padding follows each 32 words, so that element `i` is at `i + i / 32` (Harris, Sengupta and Owens, "Parallel prefix
//! sum (scan) with CUDA", GPU Gems 3, 2007, section 39.2.3). An access then takes two more instructions, and neighbours cannot be
//! read at once any more. Arrays are therefore padded only where at least half of the indices that invocations do not share grow by
//! a multiple of 16 from one invocation to the next, or by a uniform amount that is unknown before the launch. Multiples of 32, by
//! which all invocations conflict, count twice.

use super::shader_editor::ShaderEditor;
use rustc_hash::FxHashMap;
use spirula_spirv::analysis::{IdDecorations, IdDefinitions};
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Decoration, StorageClass};
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};
use spirula_spirv::{Id, IdMap};

/// Number of banks, as a power of two.
const BANKS: u32 = 5;
/// Strides between adjacent invocations that conflict often, and by which all invocations conflict.
const OFTEN: i64 = 16;
const ALWAYS: i64 = 32;
/// Longest chain of values that an index is traced through.
const DEEPEST: usize = 256;
/// Bytes of an element.
const WORD: u64 = 4;

/// The specialised module with padded arrays, which take up to `room` bytes more; `None` where padding gains nothing.
pub fn spread_banks(module: &SpirvModule, room: u64) -> Option<SpirvModule> {
    let definitions = IdDefinitions::from_module(module);
    let arrays = find_arrays(module, &definitions);
    if arrays.is_empty() {
        return None;
    }
    let added: u64 = arrays
        .iter()
        .map(|a| (a.padded_length() - u64::from(a.length)) * WORD)
        .sum();
    if added > room {
        return None;
    }
    let mut changed = module.clone();
    let mut numbers = IndexConstants::default();
    for array in &arrays {
        grow_array(&mut changed, array);
        for access in &array.accesses {
            let row = match_row(module, &definitions, access.index);
            spread_access(&mut changed, access, row, &mut numbers);
        }
    }
    Some(changed)
}

/// A workgroup variable that is an array of words, and the accesses to it.
struct BankedArray {
    variable: Inst,
    element: Id,
    length: u32,
    accesses: Vec<BankedAccess>,
}

/// An access to an element.
struct BankedAccess {
    chain: Inst,
    index: Id,
    /// Type of the index, and its bits.
    ty: Id,
    width: u32,
}

impl BankedArray {
    /// Its length with padding.
    fn padded_length(&self) -> u64 {
        let length = u64::from(self.length);
        length + (length >> BANKS) + 1
    }
}

/// The arrays that are worth padding.
fn find_arrays(module: &SpirvModule, definitions: &IdDefinitions) -> Vec<BankedArray> {
    let globals = module.section_insts(ModuleSection::Globals);
    let found = globals.filter_map(|inst| match_array(module, definitions, inst));
    let mut arrays: Vec<BankedArray> = found.collect();
    if arrays.is_empty() {
        return arrays;
    }
    let mut number = IdMap::new(module.bound(), None);
    for (at, array) in arrays.iter().enumerate() {
        if let Some(id) = module.inst(array.variable).result() {
            number.set(id, Some(at));
        }
    }
    let ids = IdWords::new(module);
    let mut is_fit = vec![true; arrays.len()];
    let functions = module.functions().iter().map(|f| module.function(*f));
    let blocks = functions.flat_map(|f| f.blocks.iter());
    for inst in blocks.flat_map(|b| module.body(*b)) {
        let chains = inst.op().is_plain_access_chain();
        let is_access = chains && inst.operands().len() == 2;
        ids.visit_uses(inst, |_, id| {
            let Some(used) = number[id] else { return };
            let access = is_access.then(|| match_access(module, definitions, inst));
            match access.flatten() {
                Some(access) => arrays[used].accesses.push(access),
                None => is_fit[used] = false,
            }
        });
        if inst.op().is_element_access_chain() || inst.op() == Op::PtrDiff {
            is_fit.fill(false);
        }
    }
    let mut steps = InvocationStrideAnalysis::new(module, definitions);
    let mut fit = is_fit.into_iter();
    arrays.retain(|array| {
        let accesses = array.accesses.iter();
        let met = accesses.filter_map(|access| steps.rate_conflicts(access.index));
        let (met, count) = met.fold((0, 0), |(met, count), by| (met + by, count + 1));
        fit.next() == Some(true) && met > 0 && 2 * met >= count
    });
    arrays
}

/// The array of a variable, if it is an array of words.
fn match_array(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    inst: InstRef<'_>,
) -> Option<BankedArray> {
    if inst.op() != Op::Variable || inst.operands() != [StorageClass::Workgroup.0] {
        return None;
    }
    let def = |id| definitions.get(module, id);
    let pointee =
        def(def(inst.result_type()?)?.id_operand(1)).filter(|ty| ty.op() == Op::TypeArray)?;
    let element = def(pointee.id_operand(0))?;
    let is_word =
        matches!(element.op(), Op::TypeInt | Op::TypeFloat) && element.operand_word(0) == 32;
    let length = def(pointee.id_operand(1))?;
    let is_known =
        matches!(length.op(), Op::Constant | Op::SpecConstant) && length.operands().len() == 1;
    (is_word && is_known).then(|| BankedArray {
        variable: inst.handle(),
        element: pointee.id_operand(0),
        length: length.operand_word(0),
        accesses: Vec::new(),
    })
}

/// Makes room for padding in an array.
fn grow_array(module: &mut SpirvModule, array: &BankedArray) {
    let mut editor = ShaderEditor { module };
    let length = editor.declare_constant(array.padded_length() as u32);
    let ty = editor.new_type(Op::TypeArray, &[array.element.word(), length.word()]);
    let pointer = editor.declare_pointer(StorageClass::Workgroup, ty);
    let mut words = editor.module.inst(array.variable).words().to_vec();
    words[0] = pointer.word();
    editor.module.remove_inst(array.variable);
    editor.append_instruction(ModuleSection::Globals, Op::Variable, &words);
}

/// An access chain with one index.
fn match_access(
    module: &SpirvModule,
    definitions: &IdDefinitions,
    chain: InstRef<'_>,
) -> Option<BankedAccess> {
    let index = chain.id_operand(1);
    let ty = definitions.get(module, index)?.result_type()?;
    let width = definitions.get(module, ty)?.operand_word(0);
    Some(BankedAccess {
        chain: chain.handle(),
        index,
        ty,
        width,
    })
}

/// An index that is split into a row and a position: `number * size + rest`, where rows are whole multiples of all banks.
struct BankRowIndex {
    number: Id,
    size: i64,
    rest: Id,
}

/// Splits an index into a row and a position, if it has that form.
fn match_row(module: &SpirvModule, definitions: &IdDefinitions, index: Id) -> Option<BankRowIndex> {
    let def = |id| definitions.get(module, id);
    let sum = def(index).filter(|inst| inst.op() == Op::IAdd)?;
    let terms = [
        (sum.id_operand(0), sum.id_operand(1)),
        (sum.id_operand(1), sum.id_operand(0)),
    ];
    terms.into_iter().find_map(|(first, rest)| {
        let product = def(first).filter(|inst| inst.op() == Op::IMul)?;
        let factors = [
            (product.id_operand(0), product.id_operand(1)),
            (product.id_operand(1), product.id_operand(0)),
        ];
        factors.into_iter().find_map(|(number, size)| {
            let size = find_known_value(module, definitions, size)?;
            let is_whole = size > 0 && size % ALWAYS == 0;
            is_whole.then_some(BankRowIndex { number, size, rest })
        })
    })
}

/// Moves an access to the padded position of its element. The padding before a row is part of the row's size, so that only the
/// position in the row needs to be computed.
fn spread_access(
    module: &mut SpirvModule,
    access: &BankedAccess,
    row: Option<BankRowIndex>,
    numbers: &mut IndexConstants,
) {
    let rest = row.as_ref().map_or(access.index, |row| row.rest);
    let shift = numbers.get_or_declare(module, access, i64::from(BANKS));
    let insert = |module: &mut SpirvModule, op, operands: [Id; 2]| {
        let id = module.fresh_id();
        let words = [access.ty, id, operands[0], operands[1]].map(Id::word);
        let inst = module.create_inst(op, &words);
        module.insert_before(access.chain, inst);
        id
    };
    let before = insert(module, Op::ShiftRightArithmetic, [rest, shift]);
    let mut place = insert(module, Op::IAdd, [rest, before]);
    if let Some(row) = row {
        let size = numbers.get_or_declare(module, access, row.size + (row.size >> BANKS));
        let start = insert(module, Op::IMul, [row.number, size]);
        place = insert(module, Op::IAdd, [start, place]);
    }
    if let Some(index) = module.words_mut(access.chain).last_mut() {
        *index = place.word();
    }
}

/// Constants of the types of indices.
#[derive(Default)]
struct IndexConstants(FxHashMap<(Id, i64), Id>);

impl IndexConstants {
    fn get_or_declare(
        &mut self,
        module: &mut SpirvModule,
        access: &BankedAccess,
        value: i64,
    ) -> Id {
        let of = self.0.entry((access.ty, value));
        *of.or_insert_with(|| declare_constant(module, access.ty, access.width, value))
    }
}

/// Declares a constant of a type.
fn declare_constant(module: &mut SpirvModule, ty: Id, width: u32, value: i64) -> Id {
    let words = [value as u32, (value >> 32) as u32];
    let value = if width > 32 { &words[..] } else { &words[..1] };
    let mut globals = module.section_insts(ModuleSection::Globals);
    let known = globals
        .find(|i| i.op() == Op::Constant && i.result_type() == Some(ty) && i.operands() == value);
    if let Some(id) = known.and_then(|inst| inst.result()) {
        return id;
    }
    let id = module.fresh_id();
    let words = [&[ty.word(), id.word()], value].concat();
    let mut editor = ShaderEditor { module };
    editor.append_instruction(ModuleSection::Globals, Op::Constant, &words);
    id
}

/// The value of a constant.
fn find_known_value(module: &SpirvModule, definitions: &IdDefinitions, id: Id) -> Option<i64> {
    let value = definitions.default_value(module, id)?;
    let def = definitions.get(module, id)?;
    Some(if def.operands().len() == 1 {
        i64::from(value as u32 as i32)
    } else {
        value as i64
    })
}

/// Stride of a value: how it differs between adjacent invocations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum InvocationStride {
    /// A constant.
    Fixed(i64),
    /// Uniform, and unknown before the launch.
    Unknown,
    /// Anything else.
    Other,
}

/// Strides of values, computed once for each.
struct InvocationStrideAnalysis<'m> {
    module: &'m SpirvModule,
    definitions: &'m IdDefinitions,
    decorations: IdDecorations,
    /// Results.
    known: IdMap<Option<InvocationStride>>,
    /// Depth of the current trace.
    depth: usize,
}

impl<'m> InvocationStrideAnalysis<'m> {
    fn new(module: &'m SpirvModule, definitions: &'m IdDefinitions) -> Self {
        InvocationStrideAnalysis {
            module,
            definitions,
            decorations: IdDecorations::from_module(module),
            known: IdMap::new(module.bound(), None),
            depth: 0,
        }
    }

    /// Weight of the conflicts of an index; `None` where it is uniform.
    fn rate_conflicts(&mut self, index: Id) -> Option<u32> {
        match self.find_stride(index) {
            InvocationStride::Fixed(0) => None,
            InvocationStride::Fixed(by) if by % ALWAYS == 0 => Some(2),
            InvocationStride::Fixed(by) if by % OFTEN == 0 => Some(1),
            InvocationStride::Unknown => Some(1),
            InvocationStride::Fixed(_) | InvocationStride::Other => Some(0),
        }
    }

    /// The stride of a value.
    fn find_stride(&mut self, id: Id) -> InvocationStride {
        if let Some(known) = self.known[id] {
            return known;
        }
        self.known.set(id, Some(InvocationStride::Other));
        self.depth += 1;
        let found = match self.definitions.get(self.module, id) {
            Some(inst) if self.depth < DEEPEST => self.derive_stride(inst),
            _ => InvocationStride::Other,
        };
        self.depth -= 1;
        self.known.set(id, Some(found));
        found
    }

    fn derive_stride(&mut self, inst: InstRef<'m>) -> InvocationStride {
        let first = |steps: &mut Self, n| steps.find_stride(inst.id_operand(n));
        match inst.op() {
            Op::Constant | Op::ConstantNull | Op::SpecConstant | Op::Undef => {
                InvocationStride::Fixed(0)
            }
            Op::CopyObject | Op::UConvert | Op::SConvert | Op::Bitcast => first(self, 0),
            Op::Load | Op::CompositeExtract => self.derive_load_stride(inst),
            Op::IAdd | Op::ISub => {
                let [a, b] = [first(self, 0), first(self, 1)];
                add_strides(a, b, if inst.op() == Op::IAdd { 1 } else { -1 })
            }
            Op::IMul => {
                let [a, b] = [first(self, 0), first(self, 1)];
                match (a, b) {
                    (_, InvocationStride::Fixed(0)) => self.scale_stride(a, inst.id_operand(1)),
                    (InvocationStride::Fixed(0), _) => self.scale_stride(b, inst.id_operand(0)),
                    _ => InvocationStride::Other,
                }
            }
            Op::ShiftLeftLogical => {
                let by = self
                    .known_value(inst.id_operand(1))
                    .filter(|by| (0..32).contains(by));
                match (first(self, 0), by) {
                    (InvocationStride::Fixed(step), Some(by)) => {
                        InvocationStride::Fixed(step.wrapping_shl(by as u32))
                    }
                    (InvocationStride::Unknown, _) => InvocationStride::Unknown,
                    _ => self.derive_uniform_stride(inst),
                }
            }
            Op::Phi => self.merge_strides(inst.result(), inst.id_operands(0).step_by(2)),
            Op::Select => self.merge_strides(None, inst.id_operands(1)),
            op if op.effects().is_removable() => self.derive_uniform_stride(inst),
            _ => InvocationStride::Other,
        }
    }

    /// The stride of a value that is uniform if all its operands are.
    fn derive_uniform_stride(&mut self, inst: InstRef<'m>) -> InvocationStride {
        let is_same = matches!(
            inst.op(),
            Op::SDiv
                | Op::UDiv
                | Op::SRem
                | Op::UMod
                | Op::SMod
                | Op::ShiftLeftLogical
                | Op::ShiftRightLogical
                | Op::ShiftRightArithmetic
                | Op::BitwiseAnd
                | Op::BitwiseOr
                | Op::BitwiseXor
                | Op::Not
                | Op::SNegate
        ) && inst
            .id_operands(0)
            .all(|id| self.find_stride(id) == InvocationStride::Fixed(0));
        if is_same {
            InvocationStride::Fixed(0)
        } else {
            InvocationStride::Other
        }
    }

    /// A stride multiplied by a uniform factor.
    fn scale_stride(&self, step: InvocationStride, factor: Id) -> InvocationStride {
        match (step, self.known_value(factor)) {
            (InvocationStride::Fixed(0), _) => step,
            (InvocationStride::Fixed(step), Some(factor)) => {
                InvocationStride::Fixed(step.wrapping_mul(factor))
            }
            (InvocationStride::Fixed(_) | InvocationStride::Unknown, _) => {
                InvocationStride::Unknown
            }
            (InvocationStride::Other, _) => step,
        }
    }

    /// The common stride of some values. Values that depend on the result itself, as in loops, are assumed to have the stride of
    /// the first.
    fn merge_strides(
        &mut self,
        result: Option<Id>,
        mut values: impl Iterator<Item = Id>,
    ) -> InvocationStride {
        let first = values
            .next()
            .map_or(InvocationStride::Other, |id| self.find_stride(id));
        if let Some(id) = result {
            self.known.set(id, Some(first));
        }
        if values.all(|id| self.find_stride(id) == first) {
            first
        } else {
            InvocationStride::Other
        }
    }

    /// The stride of a load of a built-in variable, or of push constants.
    fn derive_load_stride(&self, inst: InstRef<'m>) -> InvocationStride {
        let def = |id| self.definitions.get(self.module, id);
        let (load, part) = match inst.op() {
            Op::Load => (Some(inst), None),
            _ => (
                def(inst.id_operand(0)).filter(|i| i.op() == Op::Load),
                inst.operands().get(1).copied(),
            ),
        };
        let Some(mut pointer) = load.and_then(|load| def(load.id_operand(0))) else {
            return InvocationStride::Other;
        };
        let mut part = part;
        if pointer.op().is_plain_access_chain() {
            part = pointer
                .get_id(1)
                .and_then(|id| self.known_value(id))
                .map(|n| n as u32);
            match def(pointer.id_operand(0)) {
                Some(base) => pointer = base,
                None => return InvocationStride::Other,
            }
        }
        if pointer.op() != Op::Variable {
            return InvocationStride::Other;
        }
        let builtin = pointer
            .result()
            .and_then(|id| self.decorations.get(self.module, id, Decoration::BuiltIn));
        let builtin = builtin
            .and_then(|words| words.first())
            .map(|word| BuiltIn(*word));
        let is_first = part.is_none_or(|part| part == 0);
        match (StorageClass(pointer.operand_word(0)), builtin) {
            (StorageClass::PushConstant, _) => InvocationStride::Fixed(0),
            (
                StorageClass::Input,
                Some(BuiltIn::LocalInvocationId | BuiltIn::GlobalInvocationId),
            ) => InvocationStride::Fixed(i64::from(is_first)),
            (StorageClass::Input, Some(BuiltIn::LocalInvocationIndex)) => {
                InvocationStride::Fixed(1)
            }
            (StorageClass::Input, Some(BuiltIn::WorkgroupId | BuiltIn::NumWorkgroups)) => {
                InvocationStride::Fixed(0)
            }
            _ => InvocationStride::Other,
        }
    }

    /// The value of a constant.
    fn known_value(&self, id: Id) -> Option<i64> {
        find_known_value(self.module, self.definitions, id)
    }
}

/// The stride of a sum or a difference.
fn add_strides(a: InvocationStride, b: InvocationStride, sign: i64) -> InvocationStride {
    match (a, b) {
        (InvocationStride::Other, _) | (_, InvocationStride::Other) => InvocationStride::Other,
        (InvocationStride::Fixed(a), InvocationStride::Fixed(b)) => {
            InvocationStride::Fixed(a.wrapping_add(b.wrapping_mul(sign)))
        }
        _ => InvocationStride::Unknown,
    }
}
