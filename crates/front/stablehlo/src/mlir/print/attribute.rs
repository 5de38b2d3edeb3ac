//! Printer of attributes.

use super::MlirPrinter;
use super::number::show_float;
use crate::dialect;
use crate::mlir::elements::pack_bits;
use crate::mlir::{
    AffineExpr, AffineOp, AttributeKind, DenseElements, DialectBody, IntegerSignedness,
    LocationKind, MlirAttr, MlirLoc, MlirSymbol, MlirType, MlirTypeKind, NamedAttribute,
};

/// Maximum number of elements that are printed one by one.
const MAX_LISTED: usize = 100;

impl MlirPrinter<'_> {
    pub fn write_attribute(&mut self, attr: MlirAttr) {
        let module = self.module;
        match module.attributes.kind(attr) {
            AttributeKind::Unit => self.out.push_str("unit"),
            AttributeKind::Integer { value, ty } => self.write_integer(*value, *ty),
            AttributeKind::Float { bits, ty } => {
                self.write_scalar(*ty, &bits.to_le_bytes());
                self.out.push_str(" : ");
                self.write_type(*ty);
            }
            AttributeKind::String(text) => self.write_string(module.symbol_text(*text).as_bytes()),
            AttributeKind::Bytes(bytes) => self.write_string(bytes),
            AttributeKind::SymbolRef(path) => {
                for (at, &name) in path.iter().enumerate() {
                    self.out.push_str(if at > 0 { "::@" } else { "@" });
                    self.write_name(name);
                }
            }
            AttributeKind::Type(ty) => self.write_type(*ty),
            AttributeKind::Array(list) => {
                self.out.push('[');
                self.write_separated(list, |printer, &attr| printer.write_attribute(attr));
                self.out.push(']');
            }
            AttributeKind::Dictionary(named) => self.write_dictionary(named),
            AttributeKind::Elements(elements) => self.write_elements(elements),
            AttributeKind::Resource { key, ty } => {
                self.out.push_str("dense_resource<");
                self.write_name(*key);
                self.out.push_str("> : ");
                self.write_type(*ty);
            }
            AttributeKind::DenseArray { element, data } => self.write_dense_array(*element, data),
            AttributeKind::AffineMap(_) | AttributeKind::IntegerSet(_) => {
                match self.aliases.get(attr.index()) {
                    Some(Some(alias)) => self.out.push_str(alias),
                    _ => self.write_affine(attr),
                }
            }
            AttributeKind::Location(loc) => {
                self.out.push_str("loc(");
                self.write_location(*loc);
                self.out.push(')');
            }
            AttributeKind::Dialect { name, body } => self.write_dialect(attr, *name, body),
        }
    }

    /// Prints a list with commas between.
    pub fn write_separated<T>(&mut self, all: &[T], mut one: impl FnMut(&mut Self, &T)) {
        for (at, item) in all.iter().enumerate() {
            if at > 0 {
                self.out.push_str(", ");
            }
            one(self, item);
        }
    }

    fn write_integer(&mut self, value: i128, ty: MlirType) {
        if let MlirTypeKind::Integer {
            width: 1,
            sign: IntegerSignedness::Signless,
        } = self.module.types.kind(ty)
        {
            self.out.push_str(if value == 0 { "false" } else { "true" });
            return;
        }
        self.out.push_str(&format!("{value} : "));
        self.write_type(ty);
    }

    fn write_string(&mut self, bytes: &[u8]) {
        self.out.push('"');
        for &byte in bytes {
            match byte {
                b'\\' => self.out.push_str("\\\\"),
                b' '..=b'~' if byte != b'"' => self.out.push(byte as char),
                _ => self.out.push_str(&format!("\\{byte:02X}")),
            }
        }
        self.out.push('"');
    }

    /// A name, in quotes if it is not a word.
    pub fn write_name(&mut self, name: MlirSymbol) {
        let text = self.module.symbol_text(name);
        let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
        let is_word = text.bytes().next().is_some_and(is_start)
            && text
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'.'));
        if is_word {
            self.out.push_str(text)
        } else {
            self.write_string(text.as_bytes())
        }
    }

    /// `{name = attribute, unit}`
    pub fn write_dictionary(&mut self, named: &[NamedAttribute]) {
        self.out.push('{');
        self.write_separated(named, |printer, &(name, attr)| {
            printer.write_name(name);
            if *printer.module.attributes.kind(attr) != AttributeKind::Unit {
                printer.out.push_str(" = ");
                printer.write_attribute(attr);
            }
        });
        self.out.push('}');
    }

    fn write_elements(&mut self, elements: &DenseElements) {
        self.out.push_str("dense<");
        self.write_element_data(elements);
        self.out.push_str("> : ");
        self.write_type(elements.ty);
    }

    fn write_element_data(&mut self, elements: &DenseElements) {
        let types = &self.module.types;
        let element = types.element_type(elements.ty);
        let (Some(width), Some(shape)) = (
            types.element_bytes(element),
            types.static_shape(elements.ty),
        ) else {
            return;
        };
        if elements.splat {
            self.write_scalar(element, &elements.data);
        } else if elements.data.len() / width > MAX_LISTED {
            let is_bool = matches!(types.kind(element), MlirTypeKind::Integer { width: 1, .. });
            if is_bool {
                self.write_hexadecimal(&pack_bits(&elements.data))
            } else {
                self.write_hexadecimal(&elements.data)
            }
        } else if !elements.data.is_empty() {
            self.write_nested(element, &shape, &elements.data);
        }
    }

    pub fn write_hexadecimal(&mut self, bytes: &[u8]) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        self.out.push_str("\"0x");
        for &byte in bytes {
            self.out.push(DIGITS[usize::from(byte >> 4)] as char);
            self.out.push(DIGITS[usize::from(byte & 15)] as char);
        }
        self.out.push('"');
    }

    fn write_nested(&mut self, element: MlirType, shape: &[u64], data: &[u8]) {
        let Some((&count, inner)) = shape.split_first() else {
            return self.write_scalar(element, data);
        };
        self.out.push('[');
        let parts: Vec<&[u8]> = data.chunks(data.len() / count.max(1) as usize).collect();
        self.write_separated(&parts, |printer, part| {
            printer.write_nested(element, inner, part);
        });
        self.out.push(']');
    }

    /// An element without its type.
    fn write_scalar(&mut self, ty: MlirType, data: &[u8]) {
        let mut bytes = [0; 8];
        let length = data.len().min(8);
        bytes[..length].copy_from_slice(&data[..length]);
        let bits = u64::from_le_bytes(bytes);
        match *self.module.types.kind(ty) {
            MlirTypeKind::Integer { width: 1, .. } => {
                self.out
                    .push_str(if bits & 1 == 0 { "false" } else { "true" });
            }
            MlirTypeKind::Integer {
                width,
                sign: IntegerSignedness::Unsigned,
            } if width <= 64 => self.out.push_str(&bits.to_string()),
            MlirTypeKind::Integer { width, .. } if width <= 64 => {
                let shift = 64 - width;
                let value = ((bits << shift) as i64) >> shift;
                self.out.push_str(&value.to_string());
            }
            MlirTypeKind::Index => self.out.push_str(&(bits as i64).to_string()),
            MlirTypeKind::Float(float) => self.out.push_str(&show_float(float, bits)),
            MlirTypeKind::Complex(part) => {
                let (real, imaginary) = data.split_at(data.len() / 2);
                self.out.push('(');
                self.write_scalar(part, real);
                self.out.push(',');
                self.write_scalar(part, imaginary);
                self.out.push(')');
            }
            _ => {}
        }
    }

    fn write_dense_array(&mut self, element: MlirType, data: &[u8]) {
        self.out.push_str("array<");
        self.write_type(element);
        let width = self.module.types.element_bytes(element).unwrap_or(1);
        if !data.is_empty() {
            self.out.push_str(": ");
        }
        let parts: Vec<&[u8]> = data.chunks(width.max(1)).collect();
        self.write_separated(&parts, |printer, part| printer.write_scalar(element, part));
        self.out.push('>');
    }

    fn write_dialect(&mut self, attr: MlirAttr, name: MlirSymbol, body: &DialectBody) {
        let name = self.module.symbol_text(name);
        match body {
            DialectBody::Text(text) => {
                let sign = if name == "strided" { "" } else { "#" };
                self.out.push_str(sign);
                self.out.push_str(name);
                self.out.push_str(self.module.symbol_text(*text));
            }
            DialectBody::Keyword(word) => {
                let (dialect, mnemonic) = name.split_once('.').unwrap_or((name, ""));
                let word = self.module.symbol_text(*word);
                self.out.push_str(&format!("#{dialect}<{mnemonic} {word}>"));
            }
            DialectBody::Fields(_) if name == "stablehlo.conv" => {
                let shown = dialect::show_dimension_numbers(self.module, attr);
                self.out.push_str(&format!("#{name}<{shown}>"));
            }
            DialectBody::Fields(fields) => {
                self.out.push_str(&format!("#{name}<"));
                self.write_separated(fields, |printer, &(field, attr)| {
                    let field = printer.module.symbol_text(field);
                    printer.out.push_str(&format!("{field} = "));
                    printer.write_field(attr);
                });
                self.out.push('>');
            }
        }
    }

    /// The value of a field: numbers are printed without their types.
    fn write_field(&mut self, attr: MlirAttr) {
        let module = self.module;
        match module.attributes.kind(attr) {
            AttributeKind::Integer { value, ty } if module.types.element_bytes(*ty) == Some(8) => {
                self.out.push_str(&value.to_string());
            }
            AttributeKind::DenseArray { .. } => {
                let values = module.as_integers(attr).unwrap_or_default();
                self.out.push('[');
                self.write_separated(&values, |printer, value| {
                    printer.out.push_str(&value.to_string());
                });
                self.out.push(']');
            }
            _ => self.write_attribute(attr),
        }
    }

    pub fn write_affine(&mut self, attr: MlirAttr) {
        let module = self.module;
        match module.attributes.kind(attr) {
            AttributeKind::AffineMap(map) => {
                self.out.push_str("affine_map<");
                self.write_affine_names(map.dims, map.symbols);
                self.out.push_str(" -> (");
                self.write_separated(&map.results, |printer, result| {
                    printer.write_expression(result, false);
                });
                self.out.push_str(")>");
            }
            AttributeKind::IntegerSet(set) => {
                self.out.push_str("affine_set<");
                self.write_affine_names(set.dims, set.symbols);
                self.out.push_str(" : (");
                self.write_separated(&set.constraints, |printer, (expression, equal)| {
                    printer.write_expression(expression, false);
                    printer.out.push_str(if *equal { " == 0" } else { " >= 0" });
                });
                self.out.push_str(")>");
            }
            _ => {}
        }
    }

    fn write_affine_names(&mut self, dims: u32, symbols: u32) {
        let names = |letter: char, count: u32| -> Vec<String> {
            (0..count).map(|at| format!("{letter}{at}")).collect()
        };
        self.out
            .push_str(&format!("({})", names('d', dims).join(", ")));
        if symbols > 0 {
            self.out
                .push_str(&format!("[{}]", names('s', symbols).join(", ")));
        }
    }

    /// An expression, in parentheses if it is an operand of a stronger operation.
    fn write_expression(&mut self, expression: &AffineExpr, strong: bool) {
        let (op, left, right) = match expression {
            AffineExpr::Dim(at) => return self.out.push_str(&format!("d{at}")),
            AffineExpr::Symbol(at) => return self.out.push_str(&format!("s{at}")),
            AffineExpr::Constant(value) => return self.out.push_str(&value.to_string()),
            AffineExpr::Binary(op, left, right) => (*op, left.as_ref(), right.as_ref()),
        };
        if strong {
            self.out.push('(');
        }
        if op == AffineOp::Add {
            self.write_sum(left, right);
        } else if let (AffineOp::Mul, AffineExpr::Constant(-1)) = (op, right) {
            self.out.push('-');
            self.write_expression(left, true);
        } else {
            self.write_expression(left, true);
            self.out.push_str(match op {
                AffineOp::Mul => " * ",
                AffineOp::Mod => " mod ",
                AffineOp::FloorDiv => " floordiv ",
                AffineOp::CeilDiv | AffineOp::Add => " ceildiv ",
            });
            self.write_expression(right, true);
        }
        if strong {
            self.out.push(')');
        }
    }

    /// A sum: an addend with a negative factor is printed as a subtraction.
    fn write_sum(&mut self, left: &AffineExpr, right: &AffineExpr) {
        self.write_expression(left, false);
        match right {
            AffineExpr::Constant(value) if *value < 0 => {
                self.out.push_str(&format!(" - {}", value.unsigned_abs()));
            }
            AffineExpr::Binary(AffineOp::Mul, inner, factor) if matches!(**factor, AffineExpr::Constant(value) if value < 0) =>
            {
                self.out.push_str(" - ");
                let AffineExpr::Constant(factor) = **factor else {
                    return;
                };
                self.write_expression(inner, true);
                if factor != -1 {
                    self.out.push_str(&format!(" * {}", factor.unsigned_abs()));
                }
            }
            _ => {
                self.out.push_str(" + ");
                self.write_expression(right, false);
            }
        }
    }

    fn write_location(&mut self, loc: MlirLoc) {
        let module = self.module;
        match module.locations.kind(loc) {
            LocationKind::Unknown => self.out.push_str("unknown"),
            LocationKind::File { file, start, end } => {
                self.write_string(module.symbol_text(*file).as_bytes());
                self.out.push_str(&format!(":{}:{}", start.0, start.1));
                if start != end {
                    self.out.push_str(" to ");
                    let line = if start.0 == end.0 {
                        String::new()
                    } else {
                        end.0.to_string()
                    };
                    self.out.push_str(&format!("{line}:{}", end.1));
                }
            }
            LocationKind::Name { name, child } => {
                self.write_string(module.symbol_text(*name).as_bytes());
                if *child != MlirLoc::UNKNOWN {
                    self.out.push('(');
                    self.write_location(*child);
                    self.out.push(')');
                }
            }
            LocationKind::CallSite { .. } => self.write_call_sites(loc),
            LocationKind::Fused { parts, metadata } => {
                self.out.push_str("fused");
                if let Some(metadata) = metadata {
                    self.out.push('<');
                    self.write_attribute(*metadata);
                    self.out.push('>');
                }
                self.out.push('[');
                self.write_separated(parts, |printer, &part| printer.write_location(part));
                self.out.push(']');
            }
        }
    }

    /// `callsite(… at …)`. The callers, which form long chains, are written in a loop.
    fn write_call_sites(&mut self, first: MlirLoc) {
        let module = self.module;
        let mut loc = first;
        let mut open = 0;
        while let LocationKind::CallSite { callee, caller } = module.locations.kind(loc) {
            self.out.push_str("callsite(");
            self.write_location(*callee);
            self.out.push_str(" at ");
            open += 1;
            loc = *caller;
        }
        self.write_location(loc);
        self.out.extend(std::iter::repeat_n(')', open));
    }
}
