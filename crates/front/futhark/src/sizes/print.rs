//! Shaped types and sizes as text.

use super::shape::{
    FunctionShape, ShapeTable, ShapedForm, ShapedScheme, ShapedTypeId, SizeForm, SizeHead, SizeId,
};
use crate::check::types::TypeParameterId;
use crate::syntax::tree::SourceNameId;
use crate::typed::{LocalId, TypedProgram};
use rustc_hash::FxHashMap;
use std::cell::RefCell;

/// Bytes after which a type in a message is cut off.
const MAX_PRINTED: usize = 400;

/// Printer of shaped types without variables of inference.
///
/// In all that one printer prints, variables of one name that are not the same have numbers after it: `[n]`, `[n₁]`.
pub(crate) struct ShapePrinter<'p> {
    table: &'p ShapeTable,
    program: &'p TypedProgram,
    labels: RefCell<SizeLabels>,
}

/// The texts of variables that were printed.
#[derive(Default)]
struct SizeLabels {
    texts: FxHashMap<LocalId, String>,
    /// How many variables have a name.
    counts: FxHashMap<SourceNameId, u32>,
}

/// The digits of a number as subscripts.
fn subscript_digits(number: u32) -> String {
    let digits = number.to_string();
    let subscripts = digits
        .bytes()
        .filter_map(|digit| char::from_u32(0x2080 + u32::from(digit - b'0')));
    subscripts.collect()
}

impl<'p> ShapePrinter<'p> {
    /// A printer that has not printed anything.
    pub(crate) fn new(table: &'p ShapeTable, program: &'p TypedProgram) -> Self {
        ShapePrinter {
            table,
            program,
            labels: RefCell::default(),
        }
    }

    /// A variable of the program.
    pub(crate) fn print_local(&self, local: LocalId) -> String {
        let name = self.program.locals[local].name;
        let SizeLabels { texts, counts } = &mut *self.labels.borrow_mut();
        let new = || {
            let count = counts.entry(name).or_insert(0);
            let number = std::mem::replace(count, *count + 1);
            let digits = match number {
                0 => String::new(),
                _ => subscript_digits(number),
            };
            format!("{}{digits}", &self.program.names[name])
        };
        texts.entry(local).or_insert_with(new).clone()
    }

    /// The name of a parameter that a type binds. It has no number: two types that are compared may have one of this name each.
    fn print_parameter_name(&self, local: LocalId) -> String {
        let name = self.program.names[self.program.locals[local].name].to_owned();
        let texts = &mut self.labels.borrow_mut().texts;
        texts.entry(local).or_insert(name).clone()
    }

    /// A type with parameters, as a module type has it after the name of a value: `[n] 't : [n]t -> i64`.
    pub(crate) fn print_scheme(&self, scheme: &ShapedScheme) -> String {
        let mut out = String::new();
        for size in &scheme.sizes {
            out.push_str(&format!("[{}] ", self.print_local(*size)));
        }
        for (parameter, _) in &scheme.types {
            out.push_str(&self.print_parameter(*parameter));
            out.push(' ');
        }
        out.push_str(": ");
        out.push_str(&self.print_shape(scheme.shape));
        out
    }

    /// A type parameter as it is declared. One that was inferred has no mark of liftedness.
    pub(crate) fn print_parameter(&self, id: TypeParameterId) -> String {
        let types = &self.program.types;
        let name = &self.program.names[types.parameter_name(id)];
        if types.is_inferred(id) {
            format!("'{name}")
        } else {
            format!("{}{name}", types.parameter_liftedness(id).sigil())
        }
    }

    /// A size.
    pub(crate) fn print_size(&self, id: SizeId) -> String {
        let mut out = String::new();
        self.write_size(id, false, &mut out);
        out
    }

    fn write_size(&self, id: SizeId, is_part: bool, out: &mut String) {
        if out.len() > MAX_PRINTED {
            return;
        }
        match self.table.size(id) {
            SizeForm::Constant(value) => out.push_str(&value.to_string()),
            SizeForm::Local(local) => out.push_str(&self.print_local(*local)),
            SizeForm::Variable(_) | SizeForm::Unknown => out.push('_'),
            SizeForm::Compound(head, parts, _) => self.write_compound(head, parts, is_part, out),
        }
    }

    fn write_compound(&self, head: &SizeHead, parts: &[SizeId], is_part: bool, out: &mut String) {
        let names = &self.program.names;
        match head {
            SizeHead::Number(value) => out.push_str(&value.to_string()),
            SizeHead::Specified => out.push('_'),
            SizeHead::Truth(value) => out.push_str(&value.to_string()),
            SizeHead::Global(id, _) => out.push_str(&names[self.program.definitions[*id].name]),
            SizeHead::Intrinsic(id, _) => out.push_str(&names[self.program.intrinsics[*id]]),
            SizeHead::Instance(local, _) => {
                out.push_str(&names[self.program.locals[*local].name]);
            }
            SizeHead::Field(name) => {
                self.write_size(parts[0], true, out);
                out.push('.');
                out.push_str(&names[*name]);
            }
            SizeHead::Apply => self.write_application(parts, is_part, out),
            SizeHead::Record(_) => self.write_list("(", parts, ")", out),
            SizeHead::Array => self.write_list("[", parts, "]", out),
            SizeHead::Index => {
                self.write_size(parts[0], true, out);
                self.write_list("[", &parts[1..], "]", out);
            }
            SizeHead::Choice => {
                for (word, part) in ["if ", " then ", " else "].into_iter().zip(parts) {
                    out.push_str(word);
                    self.write_size(*part, false, out);
                }
            }
        }
    }

    fn write_list(&self, open: &str, parts: &[SizeId], close: &str, out: &mut String) {
        out.push_str(open);
        for (index, part) in parts.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            self.write_size(*part, false, out);
        }
        out.push_str(close);
    }

    fn write_application(&self, parts: &[SizeId], is_part: bool, out: &mut String) {
        let function = self.print_size(parts[0]);
        let is_operator = !function.starts_with(|first: char| {
            first.is_ascii_alphanumeric() || first == '_' || first == '('
        });
        if is_part {
            out.push('(');
        }
        if is_operator && parts.len() == 3 {
            self.write_size(parts[1], true, out);
            out.push_str(&format!(" {function} "));
            self.write_size(parts[2], true, out);
        } else {
            out.push_str(&function);
            for part in &parts[1..] {
                out.push(' ');
                self.write_size(*part, true, out);
            }
        }
        if is_part {
            out.push(')');
        }
    }

    /// A type.
    pub(crate) fn print_shape(&self, id: ShapedTypeId) -> String {
        let mut out = String::new();
        self.write_shape(id, 0, &mut out);
        if out.len() > MAX_PRINTED {
            out.push('…');
        }
        out
    }

    /// Writes a type where `level` says what needs parentheses: 0 nothing, 1 functions and sums, 2 applications too. An abstract
    /// type that is known is written as the type that it is.
    fn write_shape(&self, id: ShapedTypeId, level: u8, out: &mut String) {
        if out.len() > MAX_PRINTED {
            return;
        }
        let needs = match self.table.shape(id) {
            ShapedForm::Function(_) | ShapedForm::Sum(_) => level > 0,
            ShapedForm::Abstract(_, sizes, types) => {
                level > 1 && !(sizes.is_empty() && types.is_empty())
            }
            _ => false,
        };
        if needs {
            out.push('(');
        }
        match self.table.shape(id) {
            ShapedForm::Plain(type_id) => {
                out.push_str(&self.program.types.print(*type_id, &self.program.names));
            }
            ShapedForm::Any => out.push('_'),
            ShapedForm::Parameter(parameter) => {
                let name = self.program.types.parameter_name(*parameter);
                out.push_str(&self.program.names[name]);
            }
            ShapedForm::Array(size, element) => {
                out.push_str(&format!("[{}]", self.print_size(*size)));
                self.write_shape(*element, 1, out);
            }
            ShapedForm::Record(fields) => self.write_fields(fields, out),
            ShapedForm::Sum(clauses) => {
                for (index, (name, payload)) in clauses.iter().enumerate() {
                    out.push_str(if index > 0 { " | #" } else { "#" });
                    out.push_str(&self.program.names[*name]);
                    for part in payload {
                        out.push(' ');
                        self.write_shape(*part, 2, out);
                    }
                }
            }
            ShapedForm::Function(function) => self.write_function(function, out),
            ShapedForm::Abstract(name, sizes, types) => {
                if sizes.is_empty()
                    && types.is_empty()
                    && self.program.types.is_defined(*name)
                    && let Some(definition) = self.table.abstracts.get(name)
                {
                    return self.write_shape(definition.shape, level, out);
                }
                out.push_str(self.program.types.abstract_name(*name));
                for size in sizes {
                    out.push_str(&format!(" [{}]", self.print_size(*size)));
                }
                for part in types {
                    out.push(' ');
                    self.write_shape(*part, 2, out);
                }
            }
        }
        if needs {
            out.push(')');
        }
    }

    fn write_fields(&self, fields: &[(SourceNameId, ShapedTypeId)], out: &mut String) {
        let names = &self.program.names;
        let mut numbered = fields.iter().enumerate();
        let is_tuple = fields.len() != 1
            && numbered.all(|(index, (name, _))| names[*name] == *index.to_string());
        out.push(if is_tuple { '(' } else { '{' });
        for (index, (name, field)) in fields.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            if !is_tuple {
                out.push_str(&format!("{}: ", &names[*name]));
            }
            self.write_shape(*field, 0, out);
        }
        out.push(if is_tuple { ')' } else { '}' });
    }

    fn write_function(&self, function: &FunctionShape, out: &mut String) {
        match function.name {
            Some(name) if self.table.mentions(function.result, name) => {
                out.push_str(&format!("({}: ", self.print_parameter_name(name)));
                self.write_shape(function.parameter, 0, out);
                out.push(')');
            }
            _ => self.write_shape(function.parameter, 1, out),
        }
        out.push_str(" -> ");
        if !function.sizes.is_empty() {
            out.push('?');
            for local in &function.sizes {
                out.push_str(&format!("[{}]", self.print_local(*local)));
            }
            out.push('.');
        }
        self.write_shape(function.result, 0, out);
    }
}
