//! Value printer: types, constants, values and attributes.

use super::LlvmPrinter;
use crate::auto_upgrade::MEMORY_LOCATIONS;
use crate::ir::{
    AttrKind, AttrList, AttrSet, ConstKind, ExprExtra, LlvmAttribute, LlvmConst, LlvmConstantExpr,
    LlvmGlobal, LlvmInstFlags, LlvmType, LlvmTypeKind, LlvmValue, ValueKind,
};
use crate::text::attribute_encoding::{
    ACCESSES, ALLOC_KINDS, CAPTURES, DENORMALS, FP_CLASSES, list_words,
};
use crate::text::types::SIMPLE;

impl LlvmPrinter<'_> {
    pub(super) fn print_type(&mut self, ty: LlvmType) {
        if let Some(row) = SIMPLE.iter().find(|row| row.1 == ty) {
            return self.put_text(row.0);
        }
        match self.module.types.kind(ty) {
            LlvmTypeKind::Int(width) => self.put_args(format_args!("i{width}")),
            LlvmTypeKind::Pointer {
                space,
                pointee: None,
            } => {
                self.put_text("ptr");
                if *space != 0 {
                    self.put_args(format_args!(" addrspace({space})"));
                }
            }
            LlvmTypeKind::Pointer {
                space,
                pointee: Some(pointee),
            } => {
                self.print_type(*pointee);
                if *space != 0 {
                    self.put_args(format_args!(" addrspace({space})"));
                }
                self.put_text("*");
            }
            LlvmTypeKind::Array { element, len } => {
                self.put_args(format_args!("[{len} x "));
                self.print_type(*element);
                self.put_text("]");
            }
            LlvmTypeKind::Vector {
                element,
                len,
                scalable,
            } => {
                self.put_text(if *scalable { "<vscale x " } else { "<" });
                self.put_args(format_args!("{len} x "));
                self.print_type(*element);
                self.put_text(">");
            }
            LlvmTypeKind::Struct {
                name,
                fields,
                packed,
            } => {
                if name.is_empty() {
                    self.print_struct_body(fields.as_deref(), *packed);
                } else {
                    self.print_type_name(ty);
                }
            }
            LlvmTypeKind::Function {
                result,
                params,
                variadic,
            } => {
                self.print_type(*result);
                self.put_text(" (");
                self.print_list(&**params, |printer, &param| printer.print_type(param));
                if *variadic {
                    self.put_text(if params.is_empty() { "..." } else { ", ..." });
                }
                self.put_text(")");
            }
            LlvmTypeKind::Target { name, types, ints } => {
                self.put_text("target(");
                self.print_quoted_symbol(*name);
                for &ty in &**types {
                    self.put_text(", ");
                    self.print_type(ty);
                }
                for int in &**ints {
                    self.put_args(format_args!(", {int}"));
                }
                self.put_text(")");
            }
            // All others are in the table.
            _ => {}
        }
    }

    /// Prints the name of a named struct, or its number if it has no name.
    pub(super) fn print_type_name(&mut self, ty: LlvmType) {
        let LlvmTypeKind::Struct { name, .. } = *self.module.types.kind(ty) else {
            return;
        };
        let text = self.module.symbol_text(name);
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.put_text("%");
            self.put_text(text);
        } else {
            self.print_name("%", name);
        }
    }

    pub(super) fn print_struct_body(&mut self, fields: Option<&[LlvmType]>, packed: bool) {
        let Some(fields) = fields else {
            return self.put_text("opaque");
        };
        self.put_text(if packed { "<{ " } else { "{ " });
        self.print_list(fields, |printer, &field| printer.print_type(field));
        self.put_text(if packed { " }>" } else { " }" });
    }

    pub(super) fn print_typed_value(&mut self, value: LlvmValue) {
        match (value.kind(), self.func) {
            (ValueKind::Local(local), Some(func)) => {
                self.print_type(func.local_type(local));
                self.put_text(" ");
                self.print_value(value);
            }
            (ValueKind::Const(id), _) => self.print_typed_constant(id),
            (ValueKind::Metadata(id), _) => {
                self.put_text("metadata ");
                self.print_metadata_ref(id);
            }
            (ValueKind::Local(_), None) => self.print_value(value),
        }
    }

    pub(super) fn print_value(&mut self, value: LlvmValue) {
        match value.kind() {
            ValueKind::Local(local) => self.print_local(local),
            ValueKind::Const(id) => self.print_constant(id),
            ValueKind::Metadata(id) => self.print_metadata_ref(id),
        }
    }

    pub(super) fn print_local(&mut self, local: usize) {
        let name = self
            .func
            .map_or(crate::ir::LlvmSymbol::EMPTY, |func| func.local_name(local));
        if name.is_empty() {
            let number = self.numbers.get(local).copied().unwrap_or(0);
            self.put_args(format_args!("%{number}"));
        } else {
            self.print_name("%", name);
        }
    }

    pub(super) fn print_global_name(&mut self, global: LlvmGlobal) {
        let name = self.module.global(global).name;
        if name.is_empty() {
            let number = self.unnamed[global.index()];
            self.put_args(format_args!("@{number}"));
        } else {
            self.print_name("@", name);
        }
    }

    pub(super) fn print_typed_constant(&mut self, id: LlvmConst) {
        self.print_type(self.module.consts.ty(id));
        self.put_text(" ");
        self.print_constant(id);
    }

    pub(super) fn print_constant(&mut self, id: LlvmConst) {
        let ty = self.module.consts.ty(id);
        match self.module.consts.kind(id) {
            ConstKind::Int(1) if ty == LlvmType::I1 => self.put_text("true"),
            ConstKind::Int(0) if ty == LlvmType::I1 => self.put_text("false"),
            ConstKind::Int(value) => {
                let width = self.module.types.int_width(ty).unwrap_or(64);
                self.print_int(*value, width);
            }
            ConstKind::Wide(words) => {
                self.put_text("u0x");
                for word in words.iter().rev() {
                    self.put_args(format_args!("{word:016X}"));
                }
            }
            ConstKind::Float(bits) => self.print_float(ty, *bits),
            ConstKind::WideFloat([low, high]) => match ty {
                LlvmType::X86_FP80 => self.put_args(format_args!("0xK{high:04X}{low:016X}")),
                LlvmType::FP128 => self.put_args(format_args!("0xL{low:016X}{high:016X}")),
                _ => self.put_args(format_args!("0xM{low:016X}{high:016X}")),
            },
            ConstKind::Null => self.put_text(if ty == LlvmType::TOKEN {
                "none"
            } else {
                "null"
            }),
            ConstKind::Zero => self.put_text("zeroinitializer"),
            ConstKind::Undef => self.put_text("undef"),
            ConstKind::Poison => self.put_text("poison"),
            ConstKind::Aggregate(elements) => {
                let (open, close) = self.choose_brackets(ty);
                self.put_text(open);
                self.print_list(&**elements, |printer, &element| {
                    printer.print_typed_constant(element)
                });
                self.put_text(close);
            }
            ConstKind::Data(bytes) => self.print_data(ty, id, bytes),
            ConstKind::Splat(element) => {
                self.put_text("splat (");
                self.print_typed_constant(*element);
                self.put_text(")");
            }
            ConstKind::Global(global) => self.print_global_name(*global),
            ConstKind::BlockAddress(func, block) => {
                self.put_text("blockaddress(");
                self.print_global_name(self.module.function(*func).global);
                self.put_text(", ");
                self.block_of(*func, *block);
                self.put_text(")");
            }
            ConstKind::DsoLocalEquivalent(global) => {
                self.put_text("dso_local_equivalent ");
                self.print_global_name(*global);
            }
            ConstKind::NoCfi(global) => {
                self.put_text("no_cfi ");
                self.print_global_name(*global);
            }
            ConstKind::PtrAuth(parts) => {
                self.put_text("ptrauth (");
                self.print_list(&**parts, |printer, &part| {
                    printer.print_typed_constant(part)
                });
                self.put_text(")");
            }
            ConstKind::InlineAsm(index) => self.print_inline_asm(*index),
            ConstKind::Expr(expr) => self.print_expression(ty, expr),
        }
    }

    fn print_inline_asm(&mut self, index: u32) {
        let asm = &self.module.inline_asm[index as usize];
        self.put_text("asm ");
        for (set, word) in [
            (asm.side_effect, "sideeffect "),
            (asm.align_stack, "alignstack "),
            (asm.intel_dialect, "inteldialect "),
            (asm.unwind, "unwind "),
        ] {
            if set {
                self.put_text(word);
            }
        }
        self.print_quoted(asm.text.as_bytes());
        self.put_text(", ");
        self.print_quoted(asm.constraints.as_bytes());
    }

    fn print_int(&mut self, value: u64, width: u32) {
        let shift = 64 - width.clamp(1, 64);
        let signed = ((value << shift) as i64) >> shift;
        self.put_args(format_args!("{signed}"));
    }

    fn print_float(&mut self, ty: LlvmType, bits: u64) {
        let number = match ty {
            LlvmType::HALF => return self.put_args(format_args!("0xH{bits:04X}")),
            LlvmType::BFLOAT => return self.put_args(format_args!("0xR{bits:04X}")),
            LlvmType::FLOAT => {
                let narrow = f32::from_bits(bits as u32);
                if narrow.is_nan() {
                    // Widened on bits, so that the payload does not depend on the machine.
                    let (sign, fraction) = (bits >> 31 << 63, bits & 0x7f_ffff);
                    let wide = sign | 0x7ff << 52 | fraction << 29;
                    return self.put_args(format_args!("0x{wide:016X}"));
                }
                f64::from(narrow)
            }
            _ => f64::from_bits(bits),
        };
        if number.is_finite() {
            let text = format!("{number:e}");
            let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
            let point = if mantissa.contains('.') { "" } else { ".0" };
            let sign = if exponent.starts_with('-') { "" } else { "+" };
            self.put_args(format_args!("{mantissa}{point}e{sign}{exponent}"));
        } else {
            self.put_args(format_args!("0x{:016X}", number.to_bits()));
        }
    }

    fn choose_brackets(&self, ty: LlvmType) -> (&'static str, &'static str) {
        match self.module.types.kind(ty) {
            LlvmTypeKind::Vector { .. } => ("<", ">"),
            LlvmTypeKind::Struct { packed: true, .. } => ("<{ ", " }>"),
            LlvmTypeKind::Struct { .. } => ("{ ", " }"),
            _ => ("[", "]"),
        }
    }

    fn print_data(&mut self, ty: LlvmType, id: LlvmConst, bytes: &[u8]) {
        let module = self.module;
        let element = module.types.element_type(ty, 0).unwrap_or(LlvmType::I8);
        let (open, close) = self.choose_brackets(ty);
        if element == LlvmType::I8 && open == "[" {
            self.put_text("c");
            return self.print_quoted(bytes);
        }
        let Some(elements) = module.consts.data_elements(&module.types, id) else {
            return;
        };
        let width = module.types.int_width(element);
        self.put_text(open);
        self.print_list(elements, |printer, bits| {
            printer.print_type(element);
            printer.put_text(" ");
            match width {
                Some(width) => printer.print_int(bits, width),
                None => printer.print_float(element, bits),
            }
        });
        self.put_text(close);
    }

    pub(super) fn print_flags(&mut self, flags: LlvmInstFlags) {
        let mut flags = flags;
        if flags.contains_all(LlvmInstFlags::FAST) {
            self.put_text("fast ");
            flags = LlvmInstFlags(flags.0 & !LlvmInstFlags::FAST.0);
        }
        for &(flag, name) in LlvmInstFlags::NAMES {
            if flags.contains_all(flag) {
                self.put_text(name);
                self.put_text(" ");
            }
        }
    }

    fn print_expression(&mut self, ty: LlvmType, expr: &LlvmConstantExpr) {
        self.put_text(expr.opcode.name());
        self.put_text(" ");
        self.print_flags(expr.flags);
        if let ExprExtra::Compare(predicate) = expr.extra {
            self.put_text(predicate.name());
            self.put_text(" ");
        }
        self.put_text("(");
        if let ExprExtra::SourceType(source) = expr.extra {
            self.print_type(source);
            self.put_text(", ");
        }
        self.print_list(&*expr.operands, |printer, &operand| {
            printer.print_typed_constant(operand)
        });
        match &expr.extra {
            ExprExtra::Mask(mask) => {
                self.put_text(", ");
                self.print_mask(mask, false);
            }
            ExprExtra::Indices(indices) => {
                for index in &**indices {
                    self.put_args(format_args!(", {index}"));
                }
            }
            _ => {}
        }
        if expr.opcode.is_cast() {
            self.put_text(" to ");
            self.print_type(ty);
        }
        self.put_text(")");
    }

    /// Prints a shuffle mask as a constant vector.
    pub(super) fn print_mask(&mut self, mask: &[u32], scalable: bool) {
        let scale = if scalable { "vscale x " } else { "" };
        self.put_args(format_args!("<{scale}{} x i32> ", mask.len()));
        if mask.iter().all(|&index| index == 0) {
            return self.put_text("zeroinitializer");
        }
        if mask.iter().all(|&index| index == u32::MAX) {
            return self.put_text("poison");
        }
        self.put_text("<");
        self.print_list(mask, |printer, &index| match index {
            u32::MAX => printer.put_text("i32 poison"),
            index => printer.put_args(format_args!("i32 {index}")),
        });
        self.put_text(">");
    }

    /// Prints the attributes of a result or parameter, each after a space.
    pub(super) fn print_value_attributes(&mut self, set: AttrSet) {
        for attribute in self.module.attributes.get(set) {
            self.put_text(" ");
            self.print_attribute(attribute);
        }
    }

    pub(super) fn print_result_attributes(&mut self, list: AttrList) {
        for attribute in self
            .module
            .attributes
            .get(self.module.attributes.result_set(list))
        {
            self.print_attribute(attribute);
            self.put_text(" ");
        }
    }

    /// Prints a space and the number of an attribute group, if the set is not empty.
    pub(super) fn print_group_number(&mut self, set: AttrSet) {
        if set == AttrSet::EMPTY {
            return;
        }
        let groups = &mut self.groups;
        let number = *self.group_of.entry(set).or_insert_with(|| {
            groups.push(set);
            groups.len() - 1
        });
        self.put_args(format_args!(" #{number}"));
    }

    pub(super) fn print_attribute(&mut self, attribute: &LlvmAttribute) {
        match attribute {
            LlvmAttribute::Plain(kind) => self.put_text(kind.name()),
            LlvmAttribute::Number(kind, number) => self.print_number_attribute(*kind, *number),
            LlvmAttribute::Type(kind, ty) => {
                self.put_text(kind.name());
                if let Some(ty) = ty {
                    self.put_text("(");
                    self.print_type(*ty);
                    self.put_text(")");
                }
            }
            LlvmAttribute::Range(kind, width, low, high) => {
                self.put_args(format_args!("{}(i{width} ", kind.name()));
                self.print_words(low, *width);
                self.put_text(", ");
                self.print_words(high, *width);
                self.put_text(")");
            }
            LlvmAttribute::RangeList(kind, ranges) => {
                self.put_args(format_args!("{}(", kind.name()));
                self.print_list(&**ranges, |printer, (low, high)| {
                    printer.put_args(format_args!("({low}, {high})"));
                });
                self.put_text(")");
            }
            LlvmAttribute::String(key, value) => {
                self.print_quoted_symbol(*key);
                if !value.is_empty() {
                    self.put_text("=");
                    self.print_quoted_symbol(*value);
                }
            }
        }
    }

    fn print_words(&mut self, words: &[u64], width: u32) {
        match words {
            [word] if width <= 64 => self.print_int(*word, width),
            words => {
                self.put_text("u0x");
                for word in words.iter().rev() {
                    self.put_args(format_args!("{word:016X}"));
                }
            }
        }
    }

    fn print_number_attribute(&mut self, kind: AttrKind, number: u64) {
        self.put_text(kind.name());
        match kind {
            AttrKind::Align => self.put_args(format_args!(" {number}")),
            AttrKind::Memory => self.print_memory_effects(number),
            AttrKind::Captures => self.print_captures(number),
            AttrKind::NoFpClass => {
                let classes = list_words(FP_CLASSES, number).join(" ");
                self.put_args(format_args!("({classes})"));
            }
            AttrKind::AllocKind => {
                let kinds = list_words(ALLOC_KINDS, number).join(",");
                self.put_args(format_args!("(\"{kinds}\")"));
            }
            AttrKind::DenormalFpEnv => self.print_denormals(number),
            AttrKind::AllocSize if number as u32 == u32::MAX => {
                self.put_args(format_args!("({})", number >> 32));
            }
            AttrKind::AllocSize | AttrKind::VScaleRange => {
                self.put_args(format_args!("({},{})", number >> 32, number as u32));
            }
            AttrKind::UwTable if number == 1 => self.put_text("(sync)"),
            AttrKind::UwTable => {}
            _ => self.put_args(format_args!("({number})")),
        }
    }

    /// Access to all other memory comes first, then kinds of memory whose access differs from it.
    fn print_memory_effects(&mut self, bits: u64) {
        let access = |at: usize| bits >> (2 * at) & 3;
        let other = MEMORY_LOCATIONS
            .iter()
            .position(|name| name.is_empty())
            .unwrap_or(0);
        let differing: Vec<usize> = (0..MEMORY_LOCATIONS.len())
            .filter(|&at| access(at) != access(other))
            .collect();
        let mut parts = Vec::new();
        if access(other) != 0 || differing.is_empty() {
            parts.push(ACCESSES[access(other) as usize].to_owned());
        }
        for at in differing {
            parts.push(format!(
                "{}: {}",
                MEMORY_LOCATIONS[at],
                ACCESSES[access(at) as usize]
            ));
        }
        self.put_args(format_args!("({})", parts.join(", ")));
    }

    fn print_denormals(&mut self, bits: u64) {
        let modes = |bits: u64| match (bits & 3, bits >> 2 & 3) {
            (output, input) if output == input => DENORMALS[output as usize].to_owned(),
            (output, input) => {
                let [output, input] = [output, input].map(|at| DENORMALS[at as usize]);
                format!("{output}|{input}")
            }
        };
        let (all, float) = (bits & 15, bits >> 4 & 15);
        self.put_args(format_args!("({}", modes(all)));
        if float != all {
            self.put_args(format_args!(", float: {}", modes(float)));
        }
        self.put_text(")");
    }

    fn print_captures(&mut self, bits: u64) {
        let (other, result) = (bits >> 4 & 15, bits & 15);
        let text = |bits: u64| match list_words(CAPTURES, bits) {
            words if words.is_empty() => "none".to_owned(),
            words => words.join(", "),
        };
        if other == result {
            self.put_args(format_args!("({})", text(other)));
        } else if other == 0 {
            self.put_args(format_args!("(ret: {})", text(result)));
        } else {
            self.put_args(format_args!("({}, ret: {})", text(other), text(result)));
        }
    }
}
