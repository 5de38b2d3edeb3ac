//! Types of the text.

use super::{ExpressionNesting, TypedPrinter};
use crate::check::types::{AbstractTypeId, TypeForm, TypeId, TypeParameterId};
use crate::syntax::tree::{SourceNameId, TypeLiftedness};
use crate::typed::{LocalId, SizeTerm, SizedType, SizedTypeId, TypedKind, TypedLiteral};
use rustc_hash::FxHashMap;

/// How a printed type ends, which decides where it needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TypeClosure {
    /// A name, record or tuple.
    Closed,
    /// An array, a unique type, or a type with arguments.
    Term,
    /// A function, a sum, or a type with sizes of its own.
    Open,
}

/// A printed type.
#[derive(Clone)]
pub(super) struct TypeText {
    text: String,
    closure: TypeClosure,
}

impl TypeText {
    fn new(text: String, closure: TypeClosure) -> Self {
        TypeText { text, closure }
    }

    /// The text where it is nested, with parentheses if it needs them.
    pub(super) fn nest(&self, nesting: ExpressionNesting) -> String {
        let is_closed = match self.closure {
            TypeClosure::Closed => true,
            TypeClosure::Term => nesting < ExpressionNesting::Atom,
            TypeClosure::Open => nesting == ExpressionNesting::Whole,
        };
        if is_closed {
            self.text.clone()
        } else {
            format!("({})", self.text)
        }
    }
}

/// A printed size, and how it may be nested. It is empty if nothing is known of it.
#[derive(Clone)]
pub(super) struct SizeText {
    pub(super) text: String,
    pub(super) closure: ExpressionNesting,
}

impl SizeText {
    fn unknown() -> Self {
        SizeText {
            text: String::new(),
            closure: ExpressionNesting::Atom,
        }
    }
}

/// The arguments of an abstract type, for its parameters.
#[derive(Default)]
pub(super) struct TypeArgumentTexts {
    sizes: FxHashMap<LocalId, SizeText>,
    types: FxHashMap<TypeParameterId, TypeText>,
}

/// The sign in front of a type parameter.
pub(super) fn parameter_sign(liftedness: TypeLiftedness) -> &'static str {
    match liftedness {
        TypeLiftedness::Unlifted => "'",
        TypeLiftedness::SizeLifted => "'~",
        TypeLiftedness::FullyLifted => "'^",
    }
}

impl TypedPrinter<'_> {
    /// A type with sizes. Sizes that are not in scope are left out, which clears `is_exact`.
    pub(super) fn print_sized(&mut self, id: SizedTypeId) -> TypeText {
        let program = self.program;
        match &program.sized_types[id] {
            SizedType::Plain(type_id) => self.print_type(*type_id),
            SizedType::Array(size, element) => {
                self.is_scalar = false;
                let size = self.print_size(*size).text;
                // The sizes that elements have of their own are those of an abbreviation, which are left open.
                let mut element = *element;
                while let SizedType::Existential(_, inner) = &program.sized_types[element] {
                    element = *inner;
                }
                let element = self.print_sized(element).nest(ExpressionNesting::Operand);
                TypeText::new(format!("[{size}]{element}"), TypeClosure::Term)
            }
            SizedType::Record(fields) => {
                let fields = fields.iter().map(|(name, field)| {
                    let field = self.print_sized(*field);
                    (*name, field)
                });
                let fields = fields.collect();
                self.print_record_type(fields)
            }
            SizedType::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload.iter().map(|part| self.print_sized(*part));
                    (*name, payload.collect())
                });
                let clauses = clauses.collect();
                self.print_sum_type(clauses)
            }
            SizedType::Function(name, parameter, result) => {
                self.print_function_type(*name, *parameter, *result)
            }
            SizedType::Abstract(name, sizes, arguments) => {
                let sizes: Vec<_> = sizes.iter().map(|size| self.print_size(*size)).collect();
                let arguments = arguments.iter().map(|part| self.print_sized(*part));
                let arguments = arguments.collect();
                self.print_abstract(*name, &sizes, arguments)
            }
            SizedType::Unique(inner) => {
                let inner = self.print_sized(*inner).nest(ExpressionNesting::Operand);
                TypeText::new(format!("*{inner}"), TypeClosure::Term)
            }
            SizedType::Existential(sizes, inner) => {
                let mark = self.scope.mark();
                let sizes = sizes.iter().map(|size| format!("[{}]", self.bind(*size)));
                let sizes: String = sizes.collect();
                let inner = self.print_sized(*inner).nest(ExpressionNesting::Whole);
                self.scope.close(mark);
                TypeText::new(format!("?{sizes}.{inner}"), TypeClosure::Open)
            }
        }
    }

    /// A type of a function, whose parameter may have a name.
    fn print_function_type(
        &mut self,
        name: Option<LocalId>,
        parameter: SizedTypeId,
        result: SizedTypeId,
    ) -> TypeText {
        self.is_scalar = false;
        let parameter = self.print_sized(parameter);
        let mark = self.scope.mark();
        let parameter = match name {
            Some(name) => format!(
                "({}: {})",
                self.bind(name),
                parameter.nest(ExpressionNesting::Whole)
            ),
            None => parameter.nest(ExpressionNesting::Operand),
        };
        let result = self.print_sized(result).nest(ExpressionNesting::Whole);
        self.scope.close(mark);
        TypeText::new(format!("{parameter} -> {result}"), TypeClosure::Open)
    }

    /// A type without sizes. The sizes of its arrays are left out, which clears `is_exact`.
    pub(super) fn print_type(&mut self, id: TypeId) -> TypeText {
        let program = self.program;
        match program.types.form(id) {
            TypeForm::Scalar(scalar) => {
                TypeText::new(scalar.spelling().to_owned(), TypeClosure::Closed)
            }
            TypeForm::Array(element) => {
                self.is_exact = false;
                self.is_scalar = false;
                let element = self.print_type(*element).nest(ExpressionNesting::Operand);
                TypeText::new(format!("[]{element}"), TypeClosure::Term)
            }
            TypeForm::Record(fields) => {
                let fields = fields.iter().map(|(name, field)| {
                    let field = self.print_type(*field);
                    (*name, field)
                });
                let fields = fields.collect();
                self.print_record_type(fields)
            }
            TypeForm::Sum(clauses) => {
                let clauses = clauses.iter().map(|(name, payload)| {
                    let payload = payload.iter().map(|part| self.print_type(*part));
                    (*name, payload.collect())
                });
                let clauses = clauses.collect();
                self.print_sum_type(clauses)
            }
            TypeForm::Function(parameter, result) => {
                self.is_scalar = false;
                let parameter = self.print_type(*parameter).nest(ExpressionNesting::Operand);
                let result = self.print_type(*result).nest(ExpressionNesting::Whole);
                TypeText::new(format!("{parameter} -> {result}"), TypeClosure::Open)
            }
            TypeForm::Abstract(name, arguments) => {
                let arguments = arguments.iter().map(|part| self.print_type(*part));
                let arguments = arguments.collect();
                self.print_abstract(*name, &[], arguments)
            }
            TypeForm::Parameter(parameter) => self.print_parameter(*parameter),
            TypeForm::Variable(_) => {
                self.is_exact = false;
                TypeText::new("()".to_owned(), TypeClosure::Closed)
            }
        }
    }

    fn print_parameter(&mut self, parameter: TypeParameterId) -> TypeText {
        let argument = self.arguments.iter().rev();
        let mut argument = argument.filter_map(|texts| texts.types.get(&parameter));
        if let Some(argument) = argument.next() {
            return argument.clone();
        }
        self.is_scalar = false;
        let name = self.scope.find_type(parameter).map(str::to_owned);
        self.is_exact &= name.is_some();
        let name = name.unwrap_or_else(|| "()".to_owned());
        TypeText::new(name, TypeClosure::Closed)
    }

    /// An abstract type: the type that it hides, or one of the compiler with its name.
    fn print_abstract(
        &mut self,
        id: AbstractTypeId,
        sizes: &[SizeText],
        arguments: Vec<TypeText>,
    ) -> TypeText {
        let program = self.program;
        let Some(hidden) = program.hidden_types.get(&id) else {
            self.is_scalar = false;
            let mut text = format!("intrinsics.{}", program.types.abstract_name(id));
            for argument in &arguments {
                text.push(' ');
                text.push_str(&argument.nest(ExpressionNesting::Atom));
            }
            return TypeText::new(text, TypeClosure::Term);
        };
        // A type without sizes has none for the size parameters.
        self.is_exact &= sizes.len() == hidden.sizes.len();
        let blank = std::iter::repeat_with(SizeText::unknown);
        let sizes = sizes.iter().cloned().chain(blank);
        let texts = TypeArgumentTexts {
            sizes: hidden.sizes.iter().copied().zip(sizes).collect(),
            types: hidden.types.iter().copied().zip(arguments).collect(),
        };
        self.arguments.push(texts);
        let text = self.print_sized(hidden.sized);
        self.arguments.pop();
        text
    }

    /// A record type, with its fields in canonical order.
    fn print_record_type(&mut self, fields: Vec<(SourceNameId, TypeText)>) -> TypeText {
        let names = fields.iter().map(|(name, _)| *name);
        let is_tuple = self.is_tuple(names);
        let fields = fields.iter().map(|(name, field)| {
            let field = field.nest(ExpressionNesting::Whole);
            if is_tuple {
                field
            } else {
                format!("{}: {field}", self.name_text(*name))
            }
        });
        let fields = fields.collect::<Vec<_>>().join(", ");
        let text = if is_tuple {
            format!("({fields})")
        } else {
            format!("{{{fields}}}")
        };
        TypeText::new(text, TypeClosure::Closed)
    }

    fn print_sum_type(&mut self, clauses: Vec<(SourceNameId, Vec<TypeText>)>) -> TypeText {
        let clauses = clauses.iter().map(|(name, payload)| {
            let mut text = format!("#{}", self.name_text(*name));
            for part in payload {
                text.push(' ');
                text.push_str(&part.nest(ExpressionNesting::Atom));
            }
            text
        });
        let text = clauses.collect::<Vec<_>>().join(" | ");
        TypeText::new(text, TypeClosure::Open)
    }

    /// A size without its brackets.
    fn print_size(&mut self, size: SizeTerm) -> SizeText {
        let expression = match size {
            SizeTerm::Anonymous => {
                self.is_exact = false;
                return SizeText::unknown();
            }
            SizeTerm::Local(local) => {
                let text = self.print_size_local(local);
                self.is_exact &= !text.text.is_empty();
                return text;
            }
            SizeTerm::Expression(expression) => expression,
        };
        if let TypedKind::Scalar(TypedLiteral::Integer(value @ 0..)) =
            self.program.expressions[expression].kind
        {
            return SizeText {
                text: value.to_string(),
                closure: ExpressionNesting::Atom,
            };
        }
        let outer = std::mem::replace(&mut self.is_complete, true);
        let (text, closure) = self.print_open(expression);
        let is_complete = std::mem::replace(&mut self.is_complete, outer);
        if is_complete {
            return SizeText { text, closure };
        }
        self.is_exact = false;
        SizeText::unknown()
    }

    /// A variable as a size.
    fn print_size_local(&mut self, local: LocalId) -> SizeText {
        if let Some(text) = self.find_size_argument(local) {
            return text;
        }
        if self.scope.find_local(local).is_none() {
            return SizeText::unknown();
        }
        SizeText {
            text: self.name_local(local),
            closure: ExpressionNesting::Atom,
        }
    }

    /// The text of the size that an abstract type has for one of its parameters.
    pub(super) fn find_size_argument(&self, local: LocalId) -> Option<SizeText> {
        let mut arguments = self.arguments.iter().rev();
        arguments.find_map(|texts| texts.sizes.get(&local).cloned())
    }
}
