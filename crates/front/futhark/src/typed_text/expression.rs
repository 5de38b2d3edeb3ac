//! Expressions of the text.

use super::{ExpressionNesting, TypedPrinter};
use crate::check::types::{TypeForm, TypeId};
use crate::syntax::tree::{SourceAttribute, SourceNameId};
use crate::typed::{
    DefinitionId, IntrinsicId, TypedExpressionId, TypedIndex, TypedKind, TypedLiteral, TypedStep,
};

/// A list in brackets or parentheses.
fn join_list(parts: Vec<String>) -> String {
    parts.join(", ")
}

/// Whether a name is that of an operator.
fn is_operator(name: &str) -> bool {
    !name.starts_with(|first: char| first.is_alphanumeric() || first == '_')
}

/// A string with quotes, if all its characters are printed as they are.
fn quote_bytes(bytes: &[u8]) -> Option<String> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut quoted = String::from("\"");
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if character.is_control() => return None,
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    Some(quoted)
}

impl TypedPrinter<'_> {
    /// An expression where it is nested.
    pub(super) fn print_expression(
        &mut self,
        id: TypedExpressionId,
        nesting: ExpressionNesting,
    ) -> String {
        let (text, closure) = self.print_open(id);
        if nesting <= closure {
            text
        } else {
            format!("({text})")
        }
    }

    /// An expression as an atom.
    pub(super) fn print_atom(&mut self, id: TypedExpressionId) -> String {
        self.print_expression(id, ExpressionNesting::Atom)
    }

    /// An expression without parentheses around it, and how it may be nested.
    pub(super) fn print_open(&mut self, id: TypedExpressionId) -> (String, ExpressionNesting) {
        let program = self.program;
        let expression = &program.expressions[id];
        let text = match &expression.kind {
            TypedKind::Scalar(literal) => {
                let text = self.print_literal(literal, expression.type_id);
                let closure = if text.starts_with('-') {
                    ExpressionNesting::Whole
                } else {
                    ExpressionNesting::Atom
                };
                return (text, closure);
            }
            TypedKind::Bytes(bytes) => quote_bytes(bytes).unwrap_or_else(|| {
                let bytes = bytes.iter().map(|byte| format!("{byte}u8"));
                format!("[{}]", join_list(bytes.collect()))
            }),
            TypedKind::Hole => "???".to_owned(),
            TypedKind::Local(local, _) => match self.find_size_argument(*local) {
                Some(size) => return (size.text, size.closure),
                None => self.name_local(*local),
            },
            TypedKind::Global(global, _) => self.name_definition(*global),
            TypedKind::Intrinsic(intrinsic, _) => self.name_intrinsic(*intrinsic),
            TypedKind::Record(fields) => self.print_record(fields),
            TypedKind::Array(elements) => {
                let elements = elements.iter();
                let elements =
                    elements.map(|part| self.print_expression(*part, ExpressionNesting::Whole));
                format!("[{}]", join_list(elements.collect()))
            }
            TypedKind::Constructor(name, payload) => {
                let mut text = format!("#{}", self.name_text(*name));
                for &part in payload {
                    text.push(' ');
                    text.push_str(&self.print_atom(part));
                }
                if !payload.is_empty() {
                    return (text, ExpressionNesting::Operand);
                }
                text
            }
            TypedKind::Projection(record, field) => {
                let record = self.print_path_head(*record);
                format!("{record}.{}", self.name_text(*field))
            }
            TypedKind::Index(array, indices) => {
                let array = self.print_path_head(*array);
                format!("{array}[{}]", self.print_indices(indices))
            }
            TypedKind::Application(function, arguments) => {
                return self.print_application(id, *function, arguments);
            }
            _ => return (self.print_control(id), ExpressionNesting::Whole),
        };
        (text, ExpressionNesting::Atom)
    }

    /// The value in front of a field or an index: a path of names, or anything in parentheses.
    fn print_path_head(&mut self, id: TypedExpressionId) -> String {
        if self.is_path(id) {
            return self.print_atom(id);
        }
        format!("({})", self.print_expression(id, ExpressionNesting::Whole))
    }

    /// Whether an expression is a path of names. A number in it would be taken for one with a fraction.
    fn is_path(&self, id: TypedExpressionId) -> bool {
        match &self.program.expressions[id].kind {
            TypedKind::Local(..) | TypedKind::Global(..) => true,
            TypedKind::Projection(record, field) => {
                let is_number = self
                    .name_text(*field)
                    .starts_with(|first: char| first.is_ascii_digit());
                !is_number && self.is_path(*record)
            }
            _ => false,
        }
    }

    /// An expression that is no operand: it extends as far as possible.
    fn print_control(&mut self, id: TypedExpressionId) -> String {
        let program = self.program;
        match &program.expressions[id].kind {
            TypedKind::Lambda(lambda) => self.print_lambda(lambda),
            TypedKind::If(condition, accept, reject) => {
                let condition = self.print_expression(*condition, ExpressionNesting::Whole);
                let accept = self.print_expression(*accept, ExpressionNesting::Whole);
                let reject = self.print_expression(*reject, ExpressionNesting::Whole);
                let is_long = accept.contains('\n') || reject.contains('\n');
                let space = if is_long { "\n" } else { " " };
                format!("if {condition}{space}then {accept}{space}else {reject}")
            }
            TypedKind::Let(bindings, body) => self.print_let(bindings, *body),
            TypedKind::Match(subject, cases) => self.print_match(*subject, cases),
            TypedKind::Loop(source) => self.print_loop(source),
            TypedKind::Assert(condition, body) => {
                let condition = self.print_atom(*condition);
                let body = self.print_expression(*body, ExpressionNesting::Whole);
                format!("assert {condition} {body}")
            }
            TypedKind::Update {
                source,
                steps,
                value,
            } => {
                let source = self.print_expression(*source, ExpressionNesting::Operand);
                let steps = self.print_steps(steps);
                let value = self.print_expression(*value, ExpressionNesting::Operand);
                format!("{source} with {steps} = {value}")
            }
            TypedKind::Ascription(value, ascribed) => {
                let value = self.print_expression(*value, ExpressionNesting::Operand);
                let ascribed = self.print_sized(*ascribed).nest(ExpressionNesting::Whole);
                format!("{value} : {ascribed}")
            }
            TypedKind::Coercion(value, coerced) => {
                let value = self.print_expression(*value, ExpressionNesting::Operand);
                let coerced = self.print_sized(*coerced).nest(ExpressionNesting::Whole);
                format!("{value} :> {coerced}")
            }
            TypedKind::Range {
                first,
                second,
                bound,
                last,
            } => {
                let first = self.print_atom(*first);
                let second = second.map(|second| format!("..{}", self.print_atom(second)));
                let last = self.print_atom(*last);
                format!(
                    "{first}{}{}{last}",
                    second.unwrap_or_default(),
                    bound.dots()
                )
            }
            TypedKind::Attributed(attribute, body) => {
                let attribute = self.print_attribute(attribute);
                let body = self.print_expression(*body, ExpressionNesting::Whole);
                format!("{attribute} {body}")
            }
            _ => self.print_atom(id),
        }
    }

    /// A function with its arguments.
    fn print_application(
        &mut self,
        id: TypedExpressionId,
        function: TypedExpressionId,
        arguments: &[TypedExpressionId],
    ) -> (String, ExpressionNesting) {
        if let [operand] = arguments
            && let Some(sign) = self.prefix_sign(function)
        {
            let operand = self.print_atom(*operand);
            return (format!("{sign}{operand}"), ExpressionNesting::Whole);
        }
        if let [left, right] = arguments
            && self.program.sizes.infix.contains(&id)
            && let Some(operator) = self.print_infix(function)
        {
            let left = self.print_expression(*left, ExpressionNesting::Operand);
            let right = self.print_expression(*right, ExpressionNesting::Operand);
            let text = format!("{left} {operator} {right}");
            return (text, ExpressionNesting::Whole);
        }
        let mut text = self.print_atom(function);
        for &argument in arguments {
            text.push(' ');
            text.push_str(&self.print_atom(argument));
        }
        (text, ExpressionNesting::Operand)
    }

    /// The sign of a function of the compiler that is a prefix operator.
    fn prefix_sign(&self, function: TypedExpressionId) -> Option<&'static str> {
        let program = self.program;
        let TypedKind::Intrinsic(intrinsic, _) = &program.expressions[function].kind else {
            return None;
        };
        match &program.names[program.intrinsics[*intrinsic]] {
            "neg" => Some("-"),
            "not" => Some("!"),
            _ => None,
        }
    }

    /// A function as an infix operator, if it is a path of names.
    fn print_infix(&mut self, function: TypedExpressionId) -> Option<String> {
        let program = self.program;
        if let TypedKind::Intrinsic(intrinsic, _) = &program.expressions[function].kind {
            let name = &program.names[program.intrinsics[*intrinsic]];
            return Some(if is_operator(name) {
                name.to_owned()
            } else {
                format!("`intrinsics.{name}`")
            });
        }
        let is_path = self.is_path(function);
        is_path.then(|| format!("`{}`", self.print_atom(function)))
    }

    fn name_definition(&mut self, id: DefinitionId) -> String {
        self.reached.insert(id);
        let name = self.names.find(id).unwrap_or("???");
        name.to_owned()
    }

    fn name_intrinsic(&self, id: IntrinsicId) -> String {
        let name = &self.program.names[self.program.intrinsics[id]];
        if is_operator(name) {
            format!("({name})")
        } else {
            format!("intrinsics.{name}")
        }
    }

    /// A scalar with the suffix of its type.
    pub(super) fn print_literal(&mut self, literal: &TypedLiteral, type_id: TypeId) -> String {
        let text = match literal {
            TypedLiteral::Truth(value) => return value.to_string(),
            TypedLiteral::Integer(value) => value.to_string(),
            TypedLiteral::Float(text) => text.clone(),
        };
        let is_scalar = matches!(
            self.program.types.form(type_id),
            TypeForm::Scalar(_) | TypeForm::Abstract(..)
        );
        if !is_scalar {
            return text;
        }
        format!(
            "{text}{}",
            self.print_type(type_id).nest(ExpressionNesting::Whole)
        )
    }

    /// A record or tuple. Only fields in canonical order are those of a tuple.
    fn print_record(&mut self, fields: &[(SourceNameId, TypedExpressionId)]) -> String {
        let is_tuple = self.is_tuple(fields.iter().map(|(name, _)| *name));
        let fields = fields.iter().map(|(name, field)| {
            let field = self.print_expression(*field, ExpressionNesting::Whole);
            if is_tuple {
                field
            } else {
                format!("{} = {field}", self.name_text(*name))
            }
        });
        let fields = join_list(fields.collect());
        if is_tuple {
            format!("({fields})")
        } else {
            format!("{{{fields}}}")
        }
    }

    fn print_indices(&mut self, indices: &[TypedIndex]) -> String {
        let indices = indices.iter().map(|index| match *index {
            TypedIndex::Point(point) => self.print_expression(point, ExpressionNesting::Operand),
            TypedIndex::Slice { start, end, step } => {
                let mut part = |part: Option<TypedExpressionId>| {
                    part.map(|part| self.print_expression(part, ExpressionNesting::Operand))
                        .unwrap_or_default()
                };
                let (start, end) = (part(start), part(end));
                match step {
                    Some(step) => format!("{start}:{end}:{}", part(Some(step))),
                    None => format!("{start}:{end}"),
                }
            }
        });
        join_list(indices.collect())
    }

    fn print_steps(&mut self, steps: &[TypedStep]) -> String {
        let mut text = String::new();
        for step in steps {
            match step {
                TypedStep::Field(name) => {
                    if !text.is_empty() {
                        text.push('.');
                    }
                    text.push_str(self.name_text(*name));
                }
                TypedStep::Indices(indices) => {
                    text.push_str(&format!("[{}]", self.print_indices(indices)));
                }
            }
        }
        text
    }

    /// An attribute with its brackets.
    pub(super) fn print_attribute(&self, attribute: &SourceAttribute) -> String {
        format!("#[{}]", self.print_attribute_body(attribute))
    }

    fn print_attribute_body(&self, attribute: &SourceAttribute) -> String {
        let name = &self.program.names[attribute.name.name];
        match &attribute.arguments {
            None => name.to_owned(),
            Some(arguments) => {
                let arguments = arguments.iter().map(|part| self.print_attribute_body(part));
                format!("{name}({})", join_list(arguments.collect()))
            }
        }
    }
}
