//! Types, constants, values and attributes.

use super::LlvmPrinter;
use crate::ir::{
    AttrKind, AttrList, AttrSet, ConstKind, ExprExtra, LlvmAttribute, LlvmConst, LlvmConstantExpr,
    LlvmGlobal, LlvmInstFlags, LlvmType, LlvmTypeKind, LlvmValue, ValueKind,
};
use crate::text::encoding::{ACCESSES, ALLOC_KINDS, CAPTURES, DENORMALS, FP_CLASSES, words};
use crate::text::types::SIMPLE;
use crate::upgrade::MEMORY_LOCATIONS;

impl LlvmPrinter<'_> {
    pub(super) fn ty(&mut self, ty: LlvmType) {
        if let Some(row) = SIMPLE.iter().find(|row| row.1 == ty) {
            return self.put(row.0);
        }
        match self.module.types.kind(ty) {
            LlvmTypeKind::Int(width) => self.put_args(format_args!("i{width}")),
            LlvmTypeKind::Pointer {
                space,
                pointee: None,
            } => {
                self.put("ptr");
                if *space != 0 {
                    self.put_args(format_args!(" addrspace({space})"));
                }
            }
            LlvmTypeKind::Pointer {
                space,
                pointee: Some(pointee),
            } => {
                self.ty(*pointee);
                if *space != 0 {
                    self.put_args(format_args!(" addrspace({space})"));
                }
                self.put("*");
            }
            LlvmTypeKind::Array { element, len } => {
                self.put_args(format_args!("[{len} x "));
                self.ty(*element);
                self.put("]");
            }
            LlvmTypeKind::Vector {
                element,
                len,
                scalable,
            } => {
                self.put(if *scalable { "<vscale x " } else { "<" });
                self.put_args(format_args!("{len} x "));
                self.ty(*element);
                self.put(">");
            }
            LlvmTypeKind::Struct {
                name,
                fields,
                packed,
            } => {
                if name.is_empty() {
                    self.struct_body(fields.as_deref(), *packed);
                } else {
                    self.type_name(ty);
                }
            }
            LlvmTypeKind::Function {
                result,
                params,
                variadic,
            } => {
                self.ty(*result);
                self.put(" (");
                self.list(&**params, |printer, &param| printer.ty(param));
                if *variadic {
                    self.put(if params.is_empty() { "..." } else { ", ..." });
                }
                self.put(")");
            }
            LlvmTypeKind::Target { name, types, ints } => {
                self.put("target(");
                self.quoted_symbol(*name);
                for &ty in &**types {
                    self.put(", ");
                    self.ty(ty);
                }
                for int in &**ints {
                    self.put_args(format_args!(", {int}"));
                }
                self.put(")");
            }
            // All others are in the table.
            _ => {}
        }
    }

    /// The name of a named struct; of one without a name, its number.
    pub(super) fn type_name(&mut self, ty: LlvmType) {
        let LlvmTypeKind::Struct { name, .. } = *self.module.types.kind(ty) else {
            return;
        };
        let text = self.module.str(name);
        if text.bytes().all(|byte| byte.is_ascii_digit()) {
            self.put("%");
            self.put(text);
        } else {
            self.name("%", name);
        }
    }

    pub(super) fn struct_body(&mut self, fields: Option<&[LlvmType]>, packed: bool) {
        let Some(fields) = fields else {
            return self.put("opaque");
        };
        self.put(if packed { "<{ " } else { "{ " });
        self.list(fields, |printer, &field| printer.ty(field));
        self.put(if packed { " }>" } else { " }" });
    }

    pub(super) fn typed_value(&mut self, value: LlvmValue) {
        match (value.kind(), self.func) {
            (ValueKind::Local(local), Some(func)) => {
                self.ty(func.local_type(local));
                self.put(" ");
                self.value(value);
            }
            (ValueKind::Const(id), _) => self.typed_constant(id),
            (ValueKind::Metadata(id), _) => {
                self.put("metadata ");
                self.metadata_ref(id);
            }
            (ValueKind::Local(_), None) => self.value(value),
        }
    }

    pub(super) fn value(&mut self, value: LlvmValue) {
        match value.kind() {
            ValueKind::Local(local) => self.local(local),
            ValueKind::Const(id) => self.constant(id),
            ValueKind::Metadata(id) => self.metadata_ref(id),
        }
    }

    pub(super) fn local(&mut self, local: usize) {
        let name = self
            .func
            .map_or(crate::ir::LlvmSymbol::EMPTY, |func| func.name(local));
        if name.is_empty() {
            let number = self.numbers.get(local).copied().unwrap_or(0);
            self.put_args(format_args!("%{number}"));
        } else {
            self.name("%", name);
        }
    }

    pub(super) fn global_name(&mut self, global: LlvmGlobal) {
        let name = self.module.global(global).name;
        if name.is_empty() {
            let number = self.unnamed[global.index()];
            self.put_args(format_args!("@{number}"));
        } else {
            self.name("@", name);
        }
    }

    pub(super) fn typed_constant(&mut self, id: LlvmConst) {
        self.ty(self.module.consts.ty(id));
        self.put(" ");
        self.constant(id);
    }

    pub(super) fn constant(&mut self, id: LlvmConst) {
        let ty = self.module.consts.ty(id);
        match self.module.consts.kind(id) {
            ConstKind::Int(1) if ty == LlvmType::I1 => self.put("true"),
            ConstKind::Int(0) if ty == LlvmType::I1 => self.put("false"),
            ConstKind::Int(value) => {
                let width = self.module.types.int_width(ty).unwrap_or(64);
                self.int(*value, width);
            }
            ConstKind::Wide(words) => {
                self.put("u0x");
                for word in words.iter().rev() {
                    self.put_args(format_args!("{word:016X}"));
                }
            }
            ConstKind::Float(bits) => self.float(ty, *bits),
            ConstKind::WideFloat([low, high]) => match ty {
                LlvmType::X86_FP80 => self.put_args(format_args!("0xK{high:04X}{low:016X}")),
                LlvmType::FP128 => self.put_args(format_args!("0xL{low:016X}{high:016X}")),
                _ => self.put_args(format_args!("0xM{low:016X}{high:016X}")),
            },
            ConstKind::Null => self.put(if ty == LlvmType::TOKEN {
                "none"
            } else {
                "null"
            }),
            ConstKind::Zero => self.put("zeroinitializer"),
            ConstKind::Undef => self.put("undef"),
            ConstKind::Poison => self.put("poison"),
            ConstKind::Aggregate(elements) => {
                let (open, close) = self.brackets(ty);
                self.put(open);
                self.list(&**elements, |printer, &element| {
                    printer.typed_constant(element)
                });
                self.put(close);
            }
            ConstKind::Data(bytes) => self.data(ty, id, bytes),
            ConstKind::Splat(element) => {
                self.put("splat (");
                self.typed_constant(*element);
                self.put(")");
            }
            ConstKind::Global(global) => self.global_name(*global),
            ConstKind::BlockAddress(func, block) => {
                self.put("blockaddress(");
                self.global_name(self.module.function(*func).global);
                self.put(", ");
                self.block_of(*func, *block);
                self.put(")");
            }
            ConstKind::DsoLocalEquivalent(global) => {
                self.put("dso_local_equivalent ");
                self.global_name(*global);
            }
            ConstKind::NoCfi(global) => {
                self.put("no_cfi ");
                self.global_name(*global);
            }
            ConstKind::PtrAuth(parts) => {
                self.put("ptrauth (");
                self.list(&**parts, |printer, &part| printer.typed_constant(part));
                self.put(")");
            }
            ConstKind::InlineAsm(index) => self.inline_asm(*index),
            ConstKind::Expr(expr) => self.expression(ty, expr),
        }
    }

    fn inline_asm(&mut self, index: u32) {
        let asm = &self.module.inline_asm[index as usize];
        self.put("asm ");
        for (set, word) in [
            (asm.side_effect, "sideeffect "),
            (asm.align_stack, "alignstack "),
            (asm.intel_dialect, "inteldialect "),
            (asm.unwind, "unwind "),
        ] {
            if set {
                self.put(word);
            }
        }
        self.quoted(asm.text.as_bytes());
        self.put(", ");
        self.quoted(asm.constraints.as_bytes());
    }

    fn int(&mut self, value: u64, width: u32) {
        let shift = 64 - width.clamp(1, 64);
        let signed = ((value << shift) as i64) >> shift;
        self.put_args(format_args!("{signed}"));
    }

    fn float(&mut self, ty: LlvmType, bits: u64) {
        let number = match ty {
            LlvmType::HALF => return self.put_args(format_args!("0xH{bits:04X}")),
            LlvmType::BFLOAT => return self.put_args(format_args!("0xR{bits:04X}")),
            LlvmType::FLOAT => {
                let narrow = f32::from_bits(bits as u32);
                if narrow.is_nan() {
                    // Widened by hand, so that the payload stays whatever the machine.
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

    fn brackets(&self, ty: LlvmType) -> (&'static str, &'static str) {
        match self.module.types.kind(ty) {
            LlvmTypeKind::Vector { .. } => ("<", ">"),
            LlvmTypeKind::Struct { packed: true, .. } => ("<{ ", " }>"),
            LlvmTypeKind::Struct { .. } => ("{ ", " }"),
            _ => ("[", "]"),
        }
    }

    fn data(&mut self, ty: LlvmType, id: LlvmConst, bytes: &[u8]) {
        let module = self.module;
        let element = module.types.element(ty, 0).unwrap_or(LlvmType::I8);
        let (open, close) = self.brackets(ty);
        if element == LlvmType::I8 && open == "[" {
            self.put("c");
            return self.quoted(bytes);
        }
        let Some(elements) = module.consts.data_elements(&module.types, id) else {
            return;
        };
        let width = module.types.int_width(element);
        self.put(open);
        self.list(elements, |printer, bits| {
            printer.ty(element);
            printer.put(" ");
            match width {
                Some(width) => printer.int(bits, width),
                None => printer.float(element, bits),
            }
        });
        self.put(close);
    }

    pub(super) fn flags(&mut self, flags: LlvmInstFlags) {
        let mut flags = flags;
        if flags.has(LlvmInstFlags::FAST) {
            self.put("fast ");
            flags = LlvmInstFlags(flags.0 & !LlvmInstFlags::FAST.0);
        }
        for &(flag, name) in LlvmInstFlags::NAMES {
            if flags.has(flag) {
                self.put(name);
                self.put(" ");
            }
        }
    }

    fn expression(&mut self, ty: LlvmType, expr: &LlvmConstantExpr) {
        self.put(expr.opcode.name());
        self.put(" ");
        self.flags(expr.flags);
        if let ExprExtra::Compare(predicate) = expr.extra {
            self.put(predicate.name());
            self.put(" ");
        }
        self.put("(");
        if let ExprExtra::SourceType(source) = expr.extra {
            self.ty(source);
            self.put(", ");
        }
        self.list(&*expr.operands, |printer, &operand| {
            printer.typed_constant(operand)
        });
        match &expr.extra {
            ExprExtra::Mask(mask) => {
                self.put(", ");
                self.mask(mask, false);
            }
            ExprExtra::Indices(indices) => {
                for index in &**indices {
                    self.put_args(format_args!(", {index}"));
                }
            }
            _ => {}
        }
        if expr.opcode.is_cast() {
            self.put(" to ");
            self.ty(ty);
        }
        self.put(")");
    }

    /// A shuffle mask as the constant vector it is written as.
    pub(super) fn mask(&mut self, mask: &[u32], scalable: bool) {
        let scale = if scalable { "vscale x " } else { "" };
        self.put_args(format_args!("<{scale}{} x i32> ", mask.len()));
        if mask.iter().all(|&index| index == 0) {
            return self.put("zeroinitializer");
        }
        if mask.iter().all(|&index| index == u32::MAX) {
            return self.put("poison");
        }
        self.put("<");
        self.list(mask, |printer, &index| match index {
            u32::MAX => printer.put("i32 poison"),
            index => printer.put_args(format_args!("i32 {index}")),
        });
        self.put(">");
    }

    /// The attributes of a result or parameter, each with a space before it.
    pub(super) fn value_attributes(&mut self, set: AttrSet) {
        for attribute in self.module.attributes.get(set) {
            self.put(" ");
            self.attribute(attribute);
        }
    }

    pub(super) fn result_attributes(&mut self, list: AttrList) {
        for attribute in self
            .module
            .attributes
            .get(self.module.attributes.result(list))
        {
            self.attribute(attribute);
            self.put(" ");
        }
    }

    /// The number of a group of attributes with a space before it, if it has any.
    pub(super) fn group(&mut self, set: AttrSet) {
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

    pub(super) fn attribute(&mut self, attribute: &LlvmAttribute) {
        match attribute {
            LlvmAttribute::Plain(kind) => self.put(kind.name()),
            LlvmAttribute::Number(kind, number) => self.number_attribute(*kind, *number),
            LlvmAttribute::Type(kind, ty) => {
                self.put(kind.name());
                if let Some(ty) = ty {
                    self.put("(");
                    self.ty(*ty);
                    self.put(")");
                }
            }
            LlvmAttribute::Range(kind, width, low, high) => {
                self.put_args(format_args!("{}(i{width} ", kind.name()));
                self.words(low, *width);
                self.put(", ");
                self.words(high, *width);
                self.put(")");
            }
            LlvmAttribute::RangeList(kind, ranges) => {
                self.put_args(format_args!("{}(", kind.name()));
                self.list(&**ranges, |printer, (low, high)| {
                    printer.put_args(format_args!("({low}, {high})"));
                });
                self.put(")");
            }
            LlvmAttribute::String(key, value) => {
                self.quoted_symbol(*key);
                if !value.is_empty() {
                    self.put("=");
                    self.quoted_symbol(*value);
                }
            }
        }
    }

    fn words(&mut self, words: &[u64], width: u32) {
        match words {
            [word] if width <= 64 => self.int(*word, width),
            words => {
                self.put("u0x");
                for word in words.iter().rev() {
                    self.put_args(format_args!("{word:016X}"));
                }
            }
        }
    }

    fn number_attribute(&mut self, kind: AttrKind, number: u64) {
        self.put(kind.name());
        match kind {
            AttrKind::Align => self.put_args(format_args!(" {number}")),
            AttrKind::Memory => self.memory(number),
            AttrKind::Captures => self.captures(number),
            AttrKind::NoFpClass => {
                let classes = words(FP_CLASSES, number).join(" ");
                self.put_args(format_args!("({classes})"));
            }
            AttrKind::AllocKind => {
                let kinds = words(ALLOC_KINDS, number).join(",");
                self.put_args(format_args!("(\"{kinds}\")"));
            }
            AttrKind::DenormalFpEnv => self.denormals(number),
            AttrKind::AllocSize if number as u32 == u32::MAX => {
                self.put_args(format_args!("({})", number >> 32));
            }
            AttrKind::AllocSize | AttrKind::VScaleRange => {
                self.put_args(format_args!("({},{})", number >> 32, number as u32));
            }
            AttrKind::UwTable if number == 1 => self.put("(sync)"),
            AttrKind::UwTable => {}
            _ => self.put_args(format_args!("({number})")),
        }
    }

    /// Access to all other memory first, then to places that differ from it.
    fn memory(&mut self, bits: u64) {
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

    fn denormals(&mut self, bits: u64) {
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
        self.put(")");
    }

    fn captures(&mut self, bits: u64) {
        let (other, result) = (bits >> 4 & 15, bits & 15);
        let text = |bits: u64| match words(CAPTURES, bits) {
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
