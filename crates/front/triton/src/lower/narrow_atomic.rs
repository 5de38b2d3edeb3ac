//! Atomic changes of 8 and 16 bits: the word around them is exchanged until nothing else has changed it meanwhile.

use super::binding::TileLowering;
use crate::TritonResult;
use crate::emit::{convert_format, value_type};
use crate::ir::{FloatFormat, TileElement};

/// An atomic change of a part of a word.
pub(super) struct NarrowChange<'a> {
    pub element: &'a TileElement,
    /// The operation of LLVM IR; none for an exchange after a comparison with the value.
    pub kind: Option<&'static str>,
    pub order: &'static str,
    pub address: &'a str,
    pub value: &'a str,
    /// The new value of an exchange after a comparison.
    pub desired: Option<&'a str>,
}

impl TileLowering<'_, '_> {
    /// Emits the change, and returns what was there before.
    pub fn emit_narrow_atomic(&mut self, change: &NarrowChange<'_>) -> TritonResult<String> {
        let bits = change.element.bits();
        let ty = format!("i{bits}");
        let text = &mut self.kernel.text;
        let address = text.compute(format!(
            "ptrtoint ptr addrspace(1) {} to i64",
            change.address
        ));
        let aligned = text.compute(format!("and i64 {address}, -4"));
        let word = text.compute(format!("inttoptr i64 {aligned} to ptr addrspace(1)"));
        let low = text.compute(format!("trunc i64 {address} to i32"));
        let low = text.compute(format!("and i32 {low}, 3"));
        let shift = text.compute(format!("shl i32 {low}, 3"));
        let ones = (1_u32 << bits) - 1;
        let mask = text.compute(format!("shl i32 {ones}, {shift}"));
        let kept = text.compute(format!("xor i32 {mask}, -1"));
        let current = text.make_variable("i32");
        let first = text.compute(format!(
            "atomicrmw or ptr addrspace(1) {word}, i32 0 monotonic"
        ));
        text.act(format!("store i32 {first}, ptr {current}"));
        let (head, after) = (text.make_label(), text.make_label());
        text.branch(&head);
        text.begin_block(&head);
        let found = text.compute(format!("load i32, ptr {current}"));
        let part = text.compute(format!("lshr i32 {found}, {shift}"));
        let old = text.compute(format!("trunc i32 {part} to {ty}"));
        let new = self.emit_new_value(change, &old, &ty);
        let text = &mut self.kernel.text;
        let wide = text.compute(format!("zext {ty} {new} to i32"));
        let placed = text.compute(format!("shl i32 {wide}, {shift}"));
        let rest = text.compute(format!("and i32 {found}, {kept}"));
        let replaced = text.compute(format!("or i32 {rest}, {placed}"));
        let failure = match change.order {
            "acq_rel" | "acquire" => "acquire",
            _ => "monotonic",
        };
        let pair = text.compute(format!(
            "cmpxchg ptr addrspace(1) {word}, i32 {found}, i32 {replaced} {} {failure}",
            change.order
        ));
        let seen = text.compute(format!("extractvalue {{ i32, i1 }} {pair}, 0"));
        text.act(format!("store i32 {seen}, ptr {current}"));
        let is_done = text.compute(format!("icmp eq i32 {seen}, {found}"));
        text.branch_if(&is_done, &after, &head);
        text.begin_block(&after);
        Ok(self.emit_value(change.element, &old, &ty))
    }

    /// The bits of the value after the change.
    fn emit_new_value(&mut self, change: &NarrowChange<'_>, old: &str, ty: &str) -> String {
        let value = self.emit_bits(change.element, change.value, ty);
        let Some(kind) = change.kind else {
            let desired = change.desired.unwrap_or(change.value);
            let desired = self.emit_bits(change.element, desired, ty);
            let text = &mut self.kernel.text;
            let is_same = text.compute(format!("icmp eq {ty} {old}, {value}"));
            return text.compute(format!("select i1 {is_same}, {ty} {desired}, {ty} {old}"));
        };
        let text = &mut self.kernel.text;
        let predicate = match kind {
            "xchg" => return value,
            "fadd" => return self.emit_float_sum(change, old, ty),
            "max" => "sgt",
            "min" => "slt",
            "umax" => "ugt",
            "umin" => "ult",
            _ => return text.compute(format!("{kind} {ty} {old}, {value}")),
        };
        let is_old = text.compute(format!("icmp {predicate} {ty} {old}, {value}"));
        text.compute(format!("select i1 {is_old}, {ty} {old}, {ty} {value}"))
    }

    /// The bits of a sum of floating-point numbers.
    fn emit_float_sum(&mut self, change: &NarrowChange<'_>, old: &str, ty: &str) -> String {
        let TileElement::Float(format) = *change.element else {
            return old.to_owned();
        };
        let old = self.emit_value(change.element, old, ty);
        let text = &mut self.kernel.text;
        let a = convert_format(text, &old, format, FloatFormat::Single, true);
        let b = convert_format(text, change.value, format, FloatFormat::Single, true);
        let sum = text.compute(format!("fadd float {a}, {b}"));
        let sum = convert_format(text, &sum, FloatFormat::Single, format, true);
        self.emit_bits(change.element, &sum, ty)
    }

    fn emit_bits(&mut self, element: &TileElement, value: &str, ty: &str) -> String {
        let own = value_type(element);
        if own == ty {
            return value.to_owned();
        }
        self.kernel
            .text
            .compute(format!("bitcast {own} {value} to {ty}"))
    }

    fn emit_value(&mut self, element: &TileElement, bits: &str, ty: &str) -> String {
        let own = value_type(element);
        if own == ty {
            return bits.to_owned();
        }
        self.kernel
            .text
            .compute(format!("bitcast {ty} {bits} to {own}"))
    }
}
