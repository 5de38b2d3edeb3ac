//! Expressions: their types, by inference.

use super::name_record::PathTarget;
use super::types::{PrimitiveType, TypeForm, TypeId};
use super::unify::{ScalarClass, VariableState};
use super::{CheckFault, CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    ExpressionId, ExpressionKind, MatchCase, NumberType, QualifiedName, RangeBound, RecordField,
    SliceIndex, SourceLiteral, SourceName, TypeExpressionId,
};
use crate::typed::{TypedExpressionId, TypedKind};

impl SourceChecker<'_> {
    /// Where an expression stands.
    pub(super) fn range_of(&self, id: ExpressionId) -> TextRange {
        self.tree().expressions[id].range
    }

    /// Checks an expression, whose type must be equal to another.
    pub(super) fn check_expected(
        &mut self,
        id: ExpressionId,
        expected: TypeId,
        role: &str,
    ) -> CheckResult<TypedExpressionId> {
        let typed = self.check_expression(id)?;
        self.require_type(self.type_of(typed), expected, self.range_of(id), role)?;
        Ok(typed)
    }

    /// Checks an expression.
    pub(super) fn check_expression(&mut self, id: ExpressionId) -> CheckResult<TypedExpressionId> {
        let node = &self.tree().expressions[id];
        let range = node.range;
        match &node.kind {
            ExpressionKind::Literal(literal) => self.check_literal(literal, range),
            ExpressionKind::Hole => {
                let type_id = self.add_variable(VariableState::Free, range);
                Ok(self.add_typed(TypedKind::Hole, type_id, range))
            }
            ExpressionKind::Name(path) => self.check_name(path, range),
            ExpressionKind::Parentheses(inner) => self.check_expression(*inner),
            ExpressionKind::Tuple(elements) => self.check_tuple(elements, range),
            ExpressionKind::Record(fields) => self.check_record(fields, range),
            ExpressionKind::Array(elements) => self.check_array(elements, range),
            ExpressionKind::Constructor { name, payload } => {
                self.check_constructor(*name, payload, range)
            }
            ExpressionKind::Projection { record, field } => {
                let record = self.check_expression(*record)?;
                self.check_projection(record, *field, range)
            }
            ExpressionKind::LocalOpen { module, body } => {
                self.check_local_open(module, *body, range)
            }
            ExpressionKind::Index { array, indices } => self.check_index(*array, indices, range),
            ExpressionKind::Application {
                function,
                arguments,
            } => self.check_application(*function, arguments, range),
            ExpressionKind::Binary {
                operator,
                left,
                right,
            } => self.check_binary(operator, *left, *right, range),
            ExpressionKind::Negation(operand) => {
                self.check_prefix("neg", ScalarClass::Number, *operand, range)
            }
            ExpressionKind::Complement(operand) => {
                self.check_prefix("not", ScalarClass::Bits, *operand, range)
            }
            ExpressionKind::OperatorSection(operator) => self.check_name(operator, range),
            ExpressionKind::LeftSection { operator, operand } => {
                let operator = self.check_name(operator, operator.name.range)?;
                let operand = self.check_expression(*operand)?;
                self.apply_typed(operator, vec![operand], range)
            }
            ExpressionKind::RightSection { operator, operand } => {
                self.check_right_section(operator, *operand, range)
            }
            ExpressionKind::AccessSection(steps) => self.check_access_section(steps, range),
            ExpressionKind::Ascription { value, ascribed } => {
                self.check_ascription(*value, *ascribed, range)
            }
            ExpressionKind::Coercion { value, coerced } => {
                self.check_coercion(*value, *coerced, range)
            }
            ExpressionKind::Range {
                first,
                second,
                bound,
                last,
            } => self.check_range(*first, *second, *bound, *last, range),
            ExpressionKind::If {
                condition,
                accept,
                reject,
            } => self.check_if(*condition, *accept, *reject, range),
            ExpressionKind::Let { bindings, body } => self.check_let(bindings, *body, range),
            ExpressionKind::Lambda(function) => self.check_lambda(function, range),
            ExpressionKind::Loop(source_loop) => self.check_loop(source_loop, range),
            ExpressionKind::Match { subject, cases } => self.check_match(*subject, cases, range),
            ExpressionKind::Assert { condition, body } => {
                self.check_assert(*condition, *body, range)
            }
            ExpressionKind::Update {
                source,
                steps,
                value,
            } => {
                let source = self.check_expression(*source)?;
                self.check_update(source, steps, *value, range)
            }
            ExpressionKind::Attributed { attribute, body } => {
                let body = self.check_expression(*body)?;
                let kind = TypedKind::Attributed(attribute.clone(), body);
                Ok(self.add_typed(kind, self.type_of(body), range))
            }
        }
    }

    /// Checks an access to elements of an array.
    fn check_index(
        &mut self,
        array: ExpressionId,
        indices: &[SliceIndex],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let array = self.check_expression(array)?;
        let (indices, type_id) = self.check_indices(self.type_of(array), indices, range)?;
        Ok(self.add_typed(TypedKind::Index(array, indices), type_id, range))
    }

    /// Checks an expression under an assertion.
    fn check_assert(
        &mut self,
        condition: ExpressionId,
        body: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let bool_type = self.program.types.bool();
        let condition = self.check_expected(condition, bool_type, "the condition")?;
        let body = self.check_expression(body)?;
        let type_id = self.type_of(body);
        Ok(self.add_typed(TypedKind::Assert(condition, body), type_id, range))
    }

    /// Checks a literal.
    fn check_literal(
        &mut self,
        literal: &SourceLiteral,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        if let SourceLiteral::String(text) = literal {
            let byte = self
                .program
                .types
                .scalar(PrimitiveType::Number(NumberType::U8));
            let type_id = self.program.types.array(byte);
            return Ok(self.add_typed(TypedKind::Bytes(text.clone().into_bytes()), type_id, range));
        }
        let (literal, type_id) = self.check_scalar(literal, false, range)?;
        Ok(self.add_typed(TypedKind::Scalar(literal), type_id, range))
    }

    /// Checks a field of a record.
    pub(super) fn check_projection(
        &mut self,
        record: TypedExpressionId,
        field: SourceName,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let type_id = self.add_field_type(self.type_of(record), field, range)?;
        Ok(self.add_typed(TypedKind::Projection(record, field.name), type_id, range))
    }

    /// The type of a field of a record, which may not be known yet.
    pub(super) fn add_field_type(
        &mut self,
        record: TypeId,
        field: SourceName,
        range: TextRange,
    ) -> CheckResult<TypeId> {
        let type_id = self.find_field_type(record, field, range)?;
        self.record_field(field, type_id, record);
        Ok(type_id)
    }

    fn find_field_type(
        &mut self,
        record: TypeId,
        field: SourceName,
        range: TextRange,
    ) -> CheckResult<TypeId> {
        let record = self.resolve(record);
        if let TypeForm::Record(fields) = self.program.types.form(record) {
            let found = fields.iter().find(|(name, _)| *name == field.name);
            if let Some((_, type_id)) = found {
                return Ok(*type_id);
            }
        }
        let type_id = self.add_variable(VariableState::Free, range);
        let state = VariableState::Record(vec![(field.name, type_id)]);
        let needed = self.add_variable(state, range);
        match self
            .variables
            .unify(&mut self.program.types, needed, record)
        {
            Ok(()) => Ok(type_id),
            Err(_) => {
                let record = self.print_type(record);
                let text = self.name_text(field.name);
                Err(self.fail(
                    range,
                    format!("a value of type `{record}` has no field `{text}`"),
                ))
            }
        }
    }

    /// Checks a tuple.
    fn check_tuple(
        &mut self,
        elements: &[ExpressionId],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let mut fields = Vec::with_capacity(elements.len());
        for (index, &element) in elements.iter().enumerate() {
            let name = self.program.names.intern(&index.to_string());
            let checked = self.check_expression(element);
            fields.push(checked.map(|field| (name, field)));
        }
        let fields = self.collect_checked(fields)?;
        Ok(self.add_record(fields, range))
    }

    /// A record of typed fields.
    pub(super) fn add_record(
        &mut self,
        fields: Vec<(crate::syntax::tree::SourceNameId, TypedExpressionId)>,
        range: TextRange,
    ) -> TypedExpressionId {
        let types = fields
            .iter()
            .map(|(name, field)| (*name, self.type_of(*field)))
            .collect();
        let type_id = self.program.types.record(types, &self.program.names);
        self.add_typed(TypedKind::Record(fields), type_id, range)
    }

    /// Checks a record.
    fn check_record(
        &mut self,
        fields: &[RecordField],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let mut typed = Vec::with_capacity(fields.len());
        let mut written = Vec::new();
        for (index, field) in fields.iter().enumerate() {
            let before = fields[..index]
                .iter()
                .find(|other| other.name.name == field.name.name);
            if let Some(before) = before {
                return Err(self.fail_twice(field.name, before.name.range));
            }
            let value = match field.value {
                Some(value) => {
                    let value = self.check_expression(value)?;
                    written.push((field.name, self.type_of(value)));
                    value
                }
                None => {
                    let path = QualifiedName {
                        modules: Vec::new(),
                        name: field.name,
                    };
                    let value = self.check_name(&path, field.name.range)?;
                    self.record_shorthand(field.name.range);
                    value
                }
            };
            typed.push((field.name.name, value));
        }
        let record = self.add_record(typed, range);
        for (name, value) in written {
            self.record_field(name, value, self.type_of(record));
        }
        Ok(record)
    }

    /// Checks a function with its arguments.
    fn check_application(
        &mut self,
        function: ExpressionId,
        arguments: &[ExpressionId],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let function = self.check_expression(function);
        let typed = arguments.iter().map(|&id| self.check_expression(id));
        let typed = typed.collect();
        let typed = self.collect_checked(typed);
        let (function, typed) = (function?, typed?);
        self.apply_typed(function, typed, range)
    }

    /// A typed function with typed arguments.
    pub(super) fn apply_typed(
        &mut self,
        function: TypedExpressionId,
        arguments: Vec<TypedExpressionId>,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let mut type_id = self.type_of(function);
        for (index, &argument) in arguments.iter().enumerate() {
            type_id = self.resolve(type_id);
            let place = self.program.expressions[argument].place.range;
            let (parameter, result) = match *self.program.types.form(type_id) {
                TypeForm::Function(parameter, result) => (parameter, result),
                TypeForm::Variable(_) => {
                    let parameter = self.add_variable(VariableState::Free, place);
                    let result = self.add_variable(VariableState::Free, range);
                    let needed = self.program.types.function(parameter, result);
                    self.require_type(type_id, needed, range, "the function")?;
                    (parameter, result)
                }
                _ => {
                    let printed = self.print_type(type_id);
                    let message = match index {
                        0 => format!("a value of type `{printed}` is no function"),
                        _ => format!(
                            "the function takes {index} arguments, but {} are given",
                            arguments.len()
                        ),
                    };
                    return Err(self.fail(place, message));
                }
            };
            self.require_type(self.type_of(argument), parameter, place, "the argument")?;
            type_id = result;
        }
        Ok(self.add_typed(TypedKind::Application(function, arguments), type_id, range))
    }

    /// Checks a range.
    fn check_range(
        &mut self,
        first: ExpressionId,
        second: Option<ExpressionId>,
        bound: RangeBound,
        last: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let element = self.add_variable(VariableState::Scalar(ScalarClass::Integer), range);
        let first = self.check_expected(first, element, "the first element")?;
        let second = second
            .map(|second| self.check_expected(second, element, "the second element"))
            .transpose()?;
        let last = self.check_expected(last, element, "the last element")?;
        let type_id = self.program.types.array(element);
        let kind = TypedKind::Range {
            first,
            second,
            bound,
            last,
        };
        Ok(self.add_typed(kind, type_id, range))
    }

    /// Checks a match.
    fn check_match(
        &mut self,
        subject: ExpressionId,
        cases: &[MatchCase],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let subject = self.check_expression(subject)?;
        let type_id = self.add_variable(VariableState::Free, range);
        let mut typed = Vec::with_capacity(cases.len());
        for case in cases {
            let mark = self.mark_scope();
            let pattern = self.check_pattern(case.pattern, self.type_of(subject));
            let body = pattern.and_then(|pattern| {
                let body = self.check_expected(case.body, type_id, "the case")?;
                Ok((pattern, body))
            });
            let body = self.close_scope(mark, case.range, body);
            typed.push(body);
        }
        let typed = self.collect_checked(typed)?;
        Ok(self.add_typed(TypedKind::Match(subject, typed), type_id, range))
    }

    /// Checks an array of its elements.
    fn check_array(
        &mut self,
        elements: &[ExpressionId],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let element = self.add_variable(VariableState::Free, range);
        let typed = elements
            .iter()
            .map(|&id| self.check_expected(id, element, "the element"));
        let typed = typed.collect();
        let typed = self.collect_checked(typed)?;
        let type_id = self.program.types.array(element);
        Ok(self.add_typed(TypedKind::Array(typed), type_id, range))
    }

    /// Checks a value of a sum.
    fn check_constructor(
        &mut self,
        name: SourceName,
        payload: &[ExpressionId],
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let payload = payload.iter().map(|&id| self.check_expression(id));
        let payload: Vec<_> = payload.collect::<CheckResult<_>>()?;
        let types = payload.iter().map(|&id| self.type_of(id)).collect();
        let type_id = self.add_variable(VariableState::Sum(vec![(name.name, types)]), range);
        self.record_constructor(name, type_id);
        Ok(self.add_typed(TypedKind::Constructor(name.name, payload), type_id, range))
    }

    /// Checks an expression with the names of a module in scope.
    fn check_local_open(
        &mut self,
        module: &QualifiedName,
        body: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        self.record_path(module, PathTarget::Terms);
        let module = self.find_module(module)?;
        let structure = self.require_structure(&module, range)?;
        let mark = self.mark_scope();
        self.open_locally(&structure);
        let body = self.check_expression(body);
        self.end_scope(mark);
        body
    }

    /// Checks an expression with its type.
    fn check_ascription(
        &mut self,
        value: ExpressionId,
        ascribed: TypeExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let typed = self.check_expression(value)?;
        let written = self.check_type(ascribed)?;
        self.require_type(
            self.type_of(typed),
            written.type_id,
            self.range_of(value),
            "the expression",
        )?;
        Ok(self.add_typed(
            TypedKind::Ascription(typed, written.sized),
            written.type_id,
            range,
        ))
    }

    /// Checks an expression with the type that it has when the program runs.
    fn check_coercion(
        &mut self,
        value: ExpressionId,
        coerced: TypeExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let typed = self.check_expression(value)?;
        let written = self.check_type(coerced)?;
        self.require_type(
            self.type_of(typed),
            written.type_id,
            self.range_of(value),
            "the expression",
        )?;
        Ok(self.add_typed(
            TypedKind::Coercion(typed, written.sized),
            written.type_id,
            range,
        ))
    }

    /// Checks a choice by a truth value.
    fn check_if(
        &mut self,
        condition: ExpressionId,
        accept: ExpressionId,
        reject: ExpressionId,
        range: TextRange,
    ) -> CheckResult<TypedExpressionId> {
        let bool_type = self.program.types.bool();
        let condition = self.check_expected(condition, bool_type, "the condition")?;
        let accept = self.check_expression(accept);
        let Ok(accept) = accept else {
            let both = vec![accept, self.check_expression(reject)];
            self.collect_checked(both)?;
            return Err(CheckFault(None));
        };
        let type_id = self.type_of(accept);
        let reject = self.check_expected(reject, type_id, "the other branch")?;
        Ok(self.add_typed(TypedKind::If(condition, accept, reject), type_id, range))
    }
}
