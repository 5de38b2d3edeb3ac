//! Memory: bindings seen at every width that is accessed, shared memory, private arrays.
//!
//! Memory holds unsigned integers; other types are converted on the way. A block of the device is
//! one binding with a variable for each width. Shared memory has elements of the narrowest width
//! accessed, or of the width of its atomics; wider accesses take several, narrower ones change a
//! part by atomics.

use super::fragments::NON_PRIVATE;
use super::vectors::WIDEST;
use super::{Lower, SpecValue, VIEWS, refusal};
use crate::ir::{Element, Expr, ExprData, Space, Type, Var};
use spirula_program::{Op as ScalarOp, Scalar};
use spirula_source::Diagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Capability, Decoration, StorageClass};

/// Scope and semantics of relaxed accesses.
const RELAXED: u32 = 0;
/// Operand of loads and stores that others see.
const VOLATILE: u32 = 1;

/// Shared memory that was laid out.
#[derive(Clone, Copy)]
pub(super) struct Shared {
    pub variable: Id,
    /// Bytes of an element.
    pub size: u64,
}

impl Lower<'_> {
    pub(super) fn class_of(&self, var: Var) -> Result<usize, Diagnostic> {
        let class = self.survey.class_of.get(&var).copied();
        class.ok_or_else(|| refusal(self.place, "memory that refers to nothing"))
    }

    /// An index or a size in 32 bits. It is computed as wide as it is written: drivers fold 64-bit sums into
    /// addresses, which they may not with sums that wrap at 32 bits (NVIDIA's are twice as slow then).
    pub(super) fn index(&mut self, expr: Expr) -> Result<Id, Diagnostic> {
        if let ExprData::Literal(literal) = self.p.expr(expr) {
            return Ok(self.u32(literal.bits as u32));
        }
        let value = self.expr(expr)?;
        Ok(self.narrow(value))
    }

    /// The index of an element. Into shared memory it is computed in 32 bits, as addresses there are, unless
    /// elements are put together from smaller ones: that is for devices without explicit layouts, such as
    /// lavapipe, whose compiler unrolls loops over narrow indices and then needs minutes.
    pub(super) fn element_index(&mut self, element: &Element) -> Result<Id, Diagnostic> {
        let is_shared = self.p.var(element.memory).ty == Type::Memory(Space::Shared);
        let splits = self.layout.is_none() && self.survey.mixes_shared();
        match is_shared && !splits {
            true => self.narrow_index(element.index),
            false => self.index(element.index),
        }
    }

    /// An index of which all is computed in 32 bits: the lower bits of sums and products come from lower
    /// bits alone.
    fn narrow_index(&mut self, expr: Expr) -> Result<Id, Diagnostic> {
        let program = self.p;
        let ExprData::Apply(operator, start) = program.expr(expr) else {
            return self.index(expr);
        };
        if operator.to != Scalar::I64 {
            return self.index(expr);
        }
        let operands = program.operands(operator, start);
        let op = match operator.op {
            ScalarOp::Add => Op::IAdd,
            ScalarOp::Sub => Op::ISub,
            ScalarOp::Mul => Op::IMul,
            ScalarOp::SExt | ScalarOp::ZExt if operator.from == Scalar::I32 => {
                return self.expr(operands[0]);
            }
            _ => return self.index(expr),
        };
        let ty = self.uint(32);
        let (a, b) = (operands[0], operands[1]);
        let operands = [self.narrow_index(a)?, self.narrow_index(b)?];
        Ok(self.value(op, ty, &operands))
    }

    /// The lower 32 bits of an `i64`.
    pub(super) fn narrow(&mut self, value: Id) -> Id {
        let ty = self.uint(32);
        self.value(Op::UConvert, ty, &[value])
    }

    /// Bits of a value as memory holds them.
    pub(super) fn as_bits(&mut self, ty: Scalar, value: Id) -> Id {
        let bits = self.uint(ty.size() as u32 * 8);
        match ty {
            Scalar::Bool => {
                let (one, zero) = (self.number(8, 1), self.number(8, 0));
                self.select(bits, value, one, zero)
            }
            _ => self.bitcast(bits, value),
        }
    }

    /// A value of the bits that memory holds.
    pub(super) fn value_of_bits(&mut self, ty: Scalar, bits: Id) -> Id {
        match ty {
            Scalar::Bool => {
                let zero = self.number(8, 0);
                self.test(Op::INotEqual, &[bits, zero])
            }
            _ => {
                let ty = self.ty(ty);
                self.bitcast(ty, bits)
            }
        }
    }

    /// Reads an element.
    pub(super) fn read(&mut self, element: &Element, index: Id) -> Result<Id, Diagnostic> {
        let ty = element.ty;
        let bits = self.uint(ty.size() as u32 * 8);
        match self.p.var(element.memory).ty {
            Type::Array(_) => {
                let pointer = self.private_pointer(element.memory, ty, index)?;
                let value = self.ty(ty);
                Ok(self.load(value, pointer))
            }
            Type::Memory(Space::Shared) => {
                let read = self.read_shared(element.memory, ty.size(), index, element.volatile)?;
                Ok(self.value_of_bits(ty, read))
            }
            _ => {
                let volatile = element.volatile;
                let read = |l: &mut Self, binding| {
                    let pointer = l.device_pointer(binding, ty.size(), index);
                    Ok(Some(l.load_bits(bits, pointer, volatile)))
                };
                let read = self.on_binding(element.memory, Some(bits), read)?;
                let read = read.ok_or_else(|| refusal(self.place, "memory that is nowhere"))?;
                Ok(self.value_of_bits(ty, read))
            }
        }
    }

    /// Writes an element.
    pub(super) fn write(
        &mut self,
        element: &Element,
        index: Id,
        value: Id,
    ) -> Result<(), Diagnostic> {
        let ty = element.ty;
        if let Type::Array(_) = self.p.var(element.memory).ty {
            let pointer = self.private_pointer(element.memory, ty, index)?;
            self.store(pointer, value);
            return Ok(());
        }
        let bits = self.as_bits(ty, value);
        let volatile = element.volatile;
        match self.p.var(element.memory).ty {
            Type::Memory(Space::Shared) => {
                self.write_shared(element.memory, ty.size(), index, bits, volatile)
            }
            _ => {
                self.on_binding(element.memory, None, |l, binding| {
                    let pointer = l.device_pointer(binding, ty.size(), index);
                    l.store_bits(pointer, bits, volatile);
                    Ok(None)
                })?;
                Ok(())
            }
        }
    }

    /// Reads what is shared. In Vulkan's memory model accesses are private unless they say otherwise.
    pub(super) fn load_shared(&mut self, ty: Id, pointer: Id) -> Id {
        match self.survey.has_fragments {
            true => self.b.value(Op::Load, ty, &[pointer.word(), NON_PRIVATE]),
            false => self.load(ty, pointer),
        }
    }

    /// Writes what is shared likewise.
    pub(super) fn store_shared(&mut self, pointer: Id, value: Id) {
        match self.survey.has_fragments {
            true => {
                let words = [pointer.word(), value.word(), NON_PRIVATE];
                self.b.effect(Op::Store, &words);
            }
            false => self.store(pointer, value),
        }
    }

    fn shared_bits(&mut self, ty: Id, pointer: Id, volatile: bool) -> Id {
        match volatile {
            true => self.load_bits(ty, pointer, true),
            false => self.load_shared(ty, pointer),
        }
    }

    fn put_shared_bits(&mut self, pointer: Id, bits: Id, volatile: bool) {
        match volatile {
            true => self.store_bits(pointer, bits, true),
            false => self.store_shared(pointer, bits),
        }
    }

    fn load_bits(&mut self, ty: Id, pointer: Id, volatile: bool) -> Id {
        match volatile {
            true => self.b.value(Op::Load, ty, &[pointer.word(), VOLATILE]),
            false => self.load(ty, pointer),
        }
    }

    fn store_bits(&mut self, pointer: Id, bits: Id, volatile: bool) {
        match volatile {
            true => self
                .b
                .effect(Op::Store, &[pointer.word(), bits.word(), VOLATILE]),
            false => self.store(pointer, bits),
        }
    }

    /// Does something with the binding that a variable refers to; where several are possible, the
    /// variable holds which. Gives what was done gives, of the type `given`.
    pub(super) fn on_binding(
        &mut self,
        var: Var,
        given: Option<Id>,
        mut each: impl FnMut(&mut Self, u32) -> Result<Option<Id>, Diagnostic>,
    ) -> Result<Option<Id>, Diagnostic> {
        let class = self.class_of(var)?;
        let bindings = self.survey.classes[class].bindings.clone();
        let Some((last, others)) = bindings.split_last() else {
            return Err(refusal(self.place, "memory that refers to nothing"));
        };
        if others.is_empty() {
            return each(self, *last);
        }
        let u32_ty = self.uint(32);
        let chosen = self.reference(var);
        let chosen = self.load(u32_ty, chosen);
        let result = given.map(|ty| self.variable(ty));
        let mut merges = Vec::new();
        for binding in others {
            let number = self.u32(*binding);
            let is_it = self.test(Op::IEqual, &[chosen, number]);
            let [yes, no, merge] = [(); 3].map(|()| self.b.fresh_id());
            self.b.effect(Op::SelectionMerge, &[merge.word(), 0]);
            self.effect(Op::BranchConditional, &[is_it, yes, no]);
            self.begin(yes);
            let done = each(self, *binding)?;
            if let (Some(result), Some(done)) = (result, done) {
                self.store(result, done);
            }
            self.branch(merge);
            self.begin(no);
            merges.push(merge);
        }
        let done = each(self, *last)?;
        if let (Some(result), Some(done)) = (result, done) {
            self.store(result, done);
        }
        for merge in merges.into_iter().rev() {
            self.branch(merge);
            self.begin(merge);
        }
        Ok(given
            .zip(result)
            .map(|(ty, variable)| self.load(ty, variable)))
    }

    /// The variable that holds what a memory variable refers to: a binding, or the first element
    /// in shared memory.
    pub(super) fn reference(&mut self, var: Var) -> Id {
        if let Some(variable) = self.slots[var.index()] {
            return variable;
        }
        let ty = self.uint(32);
        let variable = self.variable(ty);
        self.slots[var.index()] = Some(variable);
        variable
    }

    /// Whether variables of a class have to hold what they refer to.
    pub(super) fn varies(&self, class: usize) -> bool {
        let class = &self.survey.classes[class];
        class.bindings.len().max(class.allocations.len()) > 1
    }

    /// A pointer to an element of so many bytes in a binding.
    pub(super) fn device_pointer(&mut self, binding: u32, size: u64, index: Id) -> Id {
        let ty = self.uint(size as u32 * 8);
        let variable = self.binding(binding, size);
        let pointer = self.b.pointer(StorageClass::StorageBuffer, ty);
        let zero = self.u32(0);
        self.value(Op::AccessChain, pointer, &[variable, zero, index])
    }

    /// The variable of a binding with elements of so many bytes.
    fn binding(&mut self, binding: u32, size: u64) -> Id {
        let key = size.trailing_zeros() as usize;
        let element = self.uint(size as u32 * 8);
        self.binding_of(binding, key, element)
    }

    /// A pointer to a word, or a vector of words, of a binding.
    pub(super) fn device_words(&mut self, binding: u32, words: u32, index: Id) -> Id {
        let ty = self.word_type(words);
        let key = match words {
            1 => 2,
            2 => 4,
            _ => 5,
        };
        let variable = self.binding_of(binding, key, ty);
        let pointer = self.b.pointer(StorageClass::StorageBuffer, ty);
        let zero = self.u32(0);
        self.value(Op::AccessChain, pointer, &[variable, zero, index])
    }

    /// The variable of a binding with elements of a type, by the number of that view.
    fn binding_of(&mut self, binding: u32, view: usize, element: Id) -> Id {
        let key = binding as usize * VIEWS + view;
        if self.bindings.len() <= key {
            self.bindings.resize(key + 1, None);
        }
        if let Some(variable) = self.bindings[key] {
            return variable;
        }
        match view {
            0 => self.b.capability(Capability::StorageBuffer8BitAccess),
            1 => self.b.capability(Capability::StorageBuffer16BitAccess),
            _ => {}
        }
        let block = self.block_of(view, element);
        let variable = self.global(StorageClass::StorageBuffer, block);
        self.b.decorate(variable, Decoration::DescriptorSet, &[0]);
        self.b.decorate(variable, Decoration::Binding, &[binding]);
        self.b.decorate(variable, Decoration::Aliased, &[]);
        let mut classes = self.survey.classes.iter();
        let class = classes.find(|class| class.bindings.contains(&binding));
        // What belongs to no class are the failures.
        let fails = self.can_fail();
        let (coherent, written) = class.map_or((fails, fails), |c| (c.coherent, c.written));
        if coherent {
            self.b.decorate(variable, Decoration::Coherent, &[]);
        }
        if !written {
            self.b.decorate(variable, Decoration::NonWritable, &[]);
        }
        self.bindings[key] = Some(variable);
        variable
    }

    /// A block of any number of elements.
    fn block_of(&mut self, view: usize, element: Id) -> Id {
        let size: u32 = [1, 2, 4, 8, 8, 16][view];
        if let Some(block) = self.blocks[view] {
            return block;
        }
        let array = self
            .b
            .distinct_type(Op::TypeRuntimeArray, &[element.word()]);
        self.b.decorate(array, Decoration::ArrayStride, &[size]);
        let block = self.b.distinct_type(Op::TypeStruct, &[array.word()]);
        self.b.decorate(block, Decoration::Block, &[]);
        self.b.decorate_member(block, 0, Decoration::Offset, &[0]);
        self.blocks[view] = Some(block);
        block
    }

    /// Lays out the shared memory of a class when it is first needed.
    pub(super) fn shared(&mut self, class: usize) -> Result<Shared, Diagnostic> {
        if let Some(shared) = self.shared[class] {
            return Ok(shared);
        }
        let data = self.survey.classes[class].clone();
        let narrow_atomics = data.atomic_sizes & 3 != 0;
        let size = match data.atomic_sizes {
            0 => 1 << (data.sizes | 16).trailing_zeros(),
            8 => 8,
            sizes if sizes & 8 != 0 => {
                return Err(refusal(
                    self.place,
                    "shared memory with atomics of several widths",
                ));
            }
            _ => 4,
        };
        let size = if narrow_atomics { 4 } else { size };
        let bytes = data.allocations.iter().map(|(_, bytes)| *bytes).collect();
        let element = self.shared_element(size);
        let length = self.spec_u32(SpecValue::Shared {
            bytes,
            more: 0,
            size,
            least: 1,
        });
        let array = self.b.array(element, length);
        let variable = self.global(StorageClass::Workgroup, array);
        let shared = Shared { variable, size };
        self.shared[class] = Some(shared);
        Ok(shared)
    }

    /// Makes a variable refer to the shared memory that a statement makes.
    pub(super) fn allocate(&mut self, to: Var, bytes: Expr) -> Result<(), Diagnostic> {
        let class = self.class_of(to)?;
        if !self.varies(class) {
            return Ok(());
        }
        if self.layout.is_some() {
            let first = self.laid_out_first(class, (to, bytes));
            let reference = self.reference(to);
            self.store(reference, first);
            return Ok(());
        }
        let shared = self.shared(class)?;
        let all = self.survey.classes[class].allocations.clone();
        let before = all.iter().take_while(|made| **made != (to, bytes));
        let before: Vec<Expr> = before.map(|(_, bytes)| *bytes).collect();
        let first = match before.is_empty() {
            true => self.u32(0),
            false => self.spec_u32(SpecValue::Shared {
                bytes: before,
                more: 0,
                size: shared.size,
                least: 0,
            }),
        };
        let reference = self.reference(to);
        self.store(reference, first);
        Ok(())
    }

    /// A pointer to an element of shared memory, counted in the class' own elements.
    pub(super) fn shared_pointer(&mut self, var: Var, index: Id) -> Result<Id, Diagnostic> {
        let class = self.class_of(var)?;
        let shared = self.shared(class)?;
        let u32_ty = self.uint(32);
        let mut index = index;
        if self.varies(class) {
            let first = self.reference(var);
            let first = self.load(u32_ty, first);
            index = self.value(Op::IAdd, u32_ty, &[first, index]);
        }
        let element = self.shared_element(shared.size);
        let pointer = self.b.pointer(StorageClass::Workgroup, element);
        Ok(self.value(Op::AccessChain, pointer, &[shared.variable, index]))
    }

    /// The type of elements of shared memory of so many bytes.
    fn shared_element(&mut self, size: u64) -> Id {
        match size {
            WIDEST => self.word_type((WIDEST / 4) as u32),
            size => self.uint(size as u32 * 8),
        }
    }

    fn read_shared(
        &mut self,
        var: Var,
        size: u64,
        index: Id,
        volatile: bool,
    ) -> Result<Id, Diagnostic> {
        let class = self.class_of(var)?;
        let ty = self.uint(size as u32 * 8);
        if self.layout.is_some() {
            let pointer = self.laid_out_pointer(var, size, index)?;
            return Ok(self.shared_bits(ty, pointer, volatile));
        }
        let own = self.shared(class)?.size;
        let own_ty = self.uint(own as u32 * 8);
        if size == own {
            let pointer = self.shared_pointer(var, index)?;
            return Ok(self.shared_bits(ty, pointer, volatile));
        }
        if size < own {
            let (pointer, shift) = self.part(var, own / size, size, index)?;
            let word = self.shared_bits(own_ty, pointer, volatile);
            let word = self.value(Op::ShiftRightLogical, own_ty, &[word, shift]);
            return Ok(self.value(Op::UConvert, ty, &[word]));
        }
        let mut whole = None;
        for piece in 0..size / own {
            let pointer = self.piece(var, size / own, piece, index)?;
            let part = self.shared_bits(own_ty, pointer, volatile);
            let part = self.value(Op::UConvert, ty, &[part]);
            let by = self.number(size as u32 * 8, piece * own * 8);
            let part = self.value(Op::ShiftLeftLogical, ty, &[part, by]);
            whole = Some(match whole {
                Some(whole) => self.value(Op::BitwiseOr, ty, &[whole, part]),
                None => part,
            });
        }
        whole.ok_or_else(|| refusal(self.place, "elements without bytes"))
    }

    fn write_shared(
        &mut self,
        var: Var,
        size: u64,
        index: Id,
        bits: Id,
        volatile: bool,
    ) -> Result<(), Diagnostic> {
        let class = self.class_of(var)?;
        if self.layout.is_some() {
            let pointer = self.laid_out_pointer(var, size, index)?;
            self.put_shared_bits(pointer, bits, volatile);
            return Ok(());
        }
        let own = self.shared(class)?.size;
        let (ty, own_ty) = (self.uint(size as u32 * 8), self.uint(own as u32 * 8));
        if size == own {
            let pointer = self.shared_pointer(var, index)?;
            self.put_shared_bits(pointer, bits, volatile);
        } else if size < own {
            let (pointer, shift) = self.part(var, own / size, size, index)?;
            let ones = self.number(own as u32 * 8, (1 << (size * 8)) - 1);
            let hole = self.value(Op::ShiftLeftLogical, own_ty, &[ones, shift]);
            let hole = self.value(Op::Not, own_ty, &[hole]);
            let bits = self.value(Op::UConvert, own_ty, &[bits]);
            let bits = self.value(Op::ShiftLeftLogical, own_ty, &[bits, shift]);
            let (scope, relaxed) = (self.u32(2), self.u32(RELAXED));
            self.value(Op::AtomicAnd, own_ty, &[pointer, scope, relaxed, hole]);
            self.value(Op::AtomicOr, own_ty, &[pointer, scope, relaxed, bits]);
        } else {
            for piece in 0..size / own {
                let pointer = self.piece(var, size / own, piece, index)?;
                let by = self.number(size as u32 * 8, piece * own * 8);
                let part = self.value(Op::ShiftRightLogical, ty, &[bits, by]);
                let part = self.value(Op::UConvert, own_ty, &[part]);
                self.put_shared_bits(pointer, part, volatile);
            }
        }
        Ok(())
    }

    /// The element that holds a part of its size, and by how much the part is shifted in it.
    pub(super) fn part(
        &mut self,
        var: Var,
        count: u64,
        size: u64,
        index: Id,
    ) -> Result<(Id, Id), Diagnostic> {
        let (word, shift) = self.split_index(index, count, size);
        Ok((self.shared_pointer(var, word)?, shift))
    }

    /// An index of parts, `count` of which make an element: the element and the shift in bits.
    pub(super) fn split_index(&mut self, index: Id, count: u64, size: u64) -> (Id, Id) {
        let ty = self.uint(32);
        let by = self.u32(count.trailing_zeros());
        let word = self.value(Op::ShiftRightLogical, ty, &[index, by]);
        let last = self.u32(count as u32 - 1);
        let part = self.value(Op::BitwiseAnd, ty, &[index, last]);
        let bits = self.u32(size as u32 * 8);
        (word, self.value(Op::IMul, ty, &[part, bits]))
    }

    /// One of the elements that an access takes `count` of.
    fn piece(&mut self, var: Var, count: u64, piece: u64, index: Id) -> Result<Id, Diagnostic> {
        let ty = self.uint(32);
        let (count, piece) = (self.u32(count as u32), self.u32(piece as u32));
        let first = self.value(Op::IMul, ty, &[index, count]);
        let at = self.value(Op::IAdd, ty, &[first, piece]);
        self.shared_pointer(var, at)
    }

    /// A pointer to an element of a private array.
    fn private_pointer(&mut self, var: Var, ty: Scalar, index: Id) -> Result<Id, Diagnostic> {
        let (variable, _) = self.private(var)?;
        let element = self.ty(ty);
        let pointer = self.b.pointer(StorageClass::Function, element);
        Ok(self.value(Op::AccessChain, pointer, &[variable, index]))
    }

    /// The variable of a private array, and its length.
    pub(super) fn private(&mut self, var: Var) -> Result<(Id, Id), Diagnostic> {
        let Type::Array(array) = self.p.var(var).ty else {
            return Err(refusal(self.place, "a private array that is none"));
        };
        let data = self.p.array(array);
        let length = match self.array_lengths[array.index()] {
            Some(length) => length,
            None => {
                let known: Option<u64> =
                    data.shape
                        .iter()
                        .try_fold(1u64, |product, size| match self.p.expr(*size) {
                            ExprData::Literal(literal) => product.checked_mul(literal.bits),
                            _ => None,
                        });
                let length = match known {
                    Some(known) => self.u32(known.clamp(1, 1 << 24) as u32),
                    None => self.spec_u32(SpecValue::Product(data.shape.clone())),
                };
                self.array_lengths[array.index()] = Some(length);
                length
            }
        };
        if let Some(variable) = self.slots[var.index()] {
            return Ok((variable, length));
        }
        let element = self.ty(data.element);
        let ty = self.b.array(element, length);
        let variable = self.variable(ty);
        self.slots[var.index()] = Some(variable);
        Ok((variable, length))
    }
}
