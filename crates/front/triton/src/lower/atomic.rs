//! Atomic changes of memory.

use super::binding::{TileBinding, TileLowering};
use super::fault;
use super::memory_access::zero_stored;
use super::narrow_atomic::NarrowChange;
use crate::TritonResult;
use crate::emit::{storage_type, value_type};
use crate::ir::{TileElement, TileOperation, ValueId};

/// Kinds of changes, with the operations of LLVM IR.
const KINDS: &[(&str, &str)] = &[
    ("add", "add"),
    ("and", "and"),
    ("exch", "xchg"),
    ("fadd", "fadd"),
    ("max", "max"),
    ("min", "min"),
    ("or", "or"),
    ("umax", "umax"),
    ("umin", "umin"),
    ("xor", "xor"),
];

/// Orders of memory, with those of LLVM IR.
const ORDERS: &[(&str, &str)] = &[
    ("acq_rel", "acq_rel"),
    ("acquire", "acquire"),
    ("release", "release"),
    ("relaxed", "monotonic"),
];

/// An atomic change that is emitted for each element.
struct AtomicUpdate<'m> {
    operation: &'m TileOperation,
    /// The operation of LLVM IR; none for an exchange after a comparison.
    kind: Option<&'static str>,
    order: &'static str,
    element: TileElement,
    /// The operand that memory is changed with; none where it stays as it is.
    value: Option<ValueId>,
    mask: Option<ValueId>,
}

impl<'m> TileLowering<'m, '_> {
    /// Lowers `tt.atomic_rmw`, `tt.atomic_cas`, `tt.atomic_load` and `tt.atomic_store`.
    pub fn lower_atomic(&mut self, operation: &'m TileOperation) -> TritonResult<()> {
        let change = self.describe_atomic(operation)?;
        let result = operation.results.first().copied();
        let Some(shape) = &self.type_of(operation.operands[0]).shape else {
            return match result {
                Some(result) => self.lower_scalar_atomic(&change, result),
                None => {
                    self.emit_alone(&mut |lowering| lowering.emit_atomic(&change, &[]).map(drop))
                }
            };
        };
        let used = result.filter(|result| !self.facts.uses(*result).is_empty());
        let buffer = used.map(|result| self.make_buffer(self.type_of(result)));
        self.kernel.emit_barrier();
        self.for_each_element(shape, &mut |lowering, index| {
            let old = lowering.emit_atomic(&change, index)?;
            if let Some(buffer) = &buffer {
                lowering.store_element(buffer, index, &old);
            }
            Ok(())
        })?;
        self.kernel.emit_barrier();
        if let (Some(result), Some(buffer)) = (used, buffer) {
            self.bind(result, TileBinding::Buffer(buffer));
        }
        Ok(())
    }

    /// Lowers a change of a scalar: the first invocation makes it, and the others receive the result.
    fn lower_scalar_atomic(
        &mut self,
        change: &AtomicUpdate<'m>,
        result: ValueId,
    ) -> TritonResult<()> {
        if self.kernel.width == 1 {
            let old = self.emit_atomic(change, &[])?;
            self.bind(result, TileBinding::Scalar(old));
            return Ok(());
        }
        let exchange = match &self.kernel.exchange {
            Some(exchange) => exchange.clone(),
            None => {
                self.kernel.workgroup_bytes += 8;
                let array = self.kernel.text.make_array(1, "i64");
                self.kernel.exchange.insert(array).clone()
            }
        };
        let bits = change.element.bits();
        let ty = value_type(&change.element);
        self.emit_alone(&mut |lowering| {
            let mut old = lowering.emit_atomic(change, &[])?;
            let text = &mut lowering.kernel.text;
            if !ty.starts_with('i') {
                old = text.compute(format!("bitcast {ty} {old} to i{bits}"));
            }
            if bits < 64 {
                old = text.compute(format!("zext i{bits} {old} to i64"));
            }
            text.act(format!("store i64 {old}, ptr addrspace(3) {exchange}"));
            Ok(())
        })?;
        let text = &mut self.kernel.text;
        let mut old = text.compute(format!("load i64, ptr addrspace(3) {exchange}"));
        if bits < 64 {
            old = text.compute(format!("trunc i64 {old} to i{bits}"));
        }
        if !ty.starts_with('i') {
            old = text.compute(format!("bitcast i{bits} {old} to {ty}"));
        }
        self.kernel.emit_barrier();
        self.bind(result, TileBinding::Scalar(old));
        Ok(())
    }

    fn describe_atomic(&self, operation: &'m TileOperation) -> TritonResult<AtomicUpdate<'m>> {
        let unsupported = |what: &str| {
            let message = format!("{} with {what} is not supported", operation.name);
            fault(&operation.place, message)
        };
        let malformed = || {
            let message = format!("malformed {}", operation.name);
            fault(&operation.place, message)
        };
        let second = operation.operands.get(1).copied();
        let third = operation.operands.get(2).copied();
        let (value, mask, fixed_kind) = match operation.name.as_str() {
            // The value stays as it is.
            "tt.atomic_load" => (None, second, Some("or")),
            "tt.atomic_store" => (second, third, Some("xchg")),
            "tt.atomic_cas" => (second, None, None),
            _ => (second, third, None),
        };
        let is_exchange = operation.name == "tt.atomic_cas";
        let typed = value.or(operation.results.first().copied());
        let element = self.type_of(typed.ok_or_else(malformed)?).element.clone();
        let words: Vec<&str> = (0..operation.words.len())
            .filter_map(|position| operation.word_at(position))
            .collect();
        let order = ORDERS.iter().find(|row| words.contains(&row.0));
        let order = order.ok_or_else(|| unsupported("this order of memory"))?.1;
        let named_kind = KINDS.iter().find(|row| words.first() == Some(&row.0));
        let kind = fixed_kind
            .or(named_kind.map(|row| row.1))
            .filter(|_| !is_exchange);
        if kind.is_none() && !is_exchange {
            return Err(unsupported("this change"));
        }
        if element.bits() < 8 || matches!(element, TileElement::Pointer(_)) {
            return Err(unsupported(&element.to_string()));
        }
        Ok(AtomicUpdate {
            operation,
            kind,
            order,
            element,
            value,
            mask,
        })
    }

    /// Emits the change of one element, and returns what was there before, or zero where the mask does not hold.
    fn emit_atomic(&mut self, change: &AtomicUpdate<'m>, index: &[String]) -> TritonResult<String> {
        let Some(mask) = change.mask else {
            return self.emit_unmasked_atomic(change, index);
        };
        let mask = self.evaluate(mask, index)?;
        if mask == "true" {
            return self.emit_unmasked_atomic(change, index);
        }
        let storage = storage_type(&change.element);
        let variable = self.kernel.text.make_variable(&storage);
        let zero = zero_stored(&change.element);
        self.kernel
            .text
            .act(format!("store {storage} {zero}, ptr {variable}"));
        self.emit_if(&mask, &mut |lowering| {
            let old = lowering.emit_unmasked_atomic(change, index)?;
            let text = &mut lowering.kernel.text;
            text.act(format!("store {storage} {old}, ptr {variable}"));
            Ok(())
        })?;
        Ok(self
            .kernel
            .text
            .compute(format!("load {storage}, ptr {variable}")))
    }

    fn emit_unmasked_atomic(
        &mut self,
        change: &AtomicUpdate<'m>,
        index: &[String],
    ) -> TritonResult<String> {
        let operands = &change.operation.operands;
        let address = self.evaluate(operands[0], index)?;
        let value = match change.value {
            Some(value) => self.evaluate(value, index)?,
            None => zero_stored(&change.element).to_owned(),
        };
        let ty = value_type(&change.element);
        let order = change.order;
        if change.element.bits() < 32 {
            let desired = match operands.get(2).filter(|_| change.kind.is_none()) {
                Some(desired) => Some(self.evaluate(*desired, index)?),
                None => None,
            };
            return self.emit_narrow_atomic(&NarrowChange {
                element: &change.element,
                kind: change.kind,
                order,
                address: &address,
                value: &value,
                desired: desired.as_deref(),
            });
        }
        let pointer = format!("ptr addrspace(1) {address}");
        if change.value.is_none() && !ty.starts_with('i') {
            let bits = format!("i{}", change.element.bits());
            let text = &mut self.kernel.text;
            let old = text.compute(format!("atomicrmw or {pointer}, {bits} 0 {order}"));
            return Ok(text.compute(format!("bitcast {bits} {old} to {ty}")));
        }
        if let Some(kind) = change.kind {
            let instruction = format!("atomicrmw {kind} {pointer}, {ty} {value} {order}");
            return Ok(self.kernel.text.compute(instruction));
        }
        let Some(desired) = operands.get(2) else {
            return Err(fault(&change.operation.place, "malformed tt.atomic_cas"));
        };
        let mut desired = self.evaluate(*desired, index)?;
        let mut expected = value;
        let text = &mut self.kernel.text;
        let bits = format!("i{}", change.element.bits());
        if ty != bits {
            expected = text.compute(format!("bitcast {ty} {expected} to {bits}"));
            desired = text.compute(format!("bitcast {ty} {desired} to {bits}"));
        }
        let failure = match order {
            "acq_rel" | "acquire" => "acquire",
            _ => "monotonic",
        };
        let pair = text.compute(format!(
            "cmpxchg {pointer}, {bits} {expected}, {bits} {desired} {order} {failure}"
        ));
        let mut old = text.compute(format!("extractvalue {{ {bits}, i1 }} {pair}, 0"));
        if ty != bits {
            old = text.compute(format!("bitcast {bits} {old} to {ty}"));
        }
        Ok(old)
    }
}
