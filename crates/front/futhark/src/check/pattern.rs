//! Patterns: their types, and the variables that they bind.

use super::duplicates::BoundNames;
use super::environment::TermBinding;
use super::types::TypeId;
use super::unify::{ScalarClass, VariableState};
use super::{CheckResult, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::{
    PatternId, PatternKind, RecordFieldPattern, SourceLiteral, SourceName, SourceNameId,
};
use crate::typed::{
    LocalVariable, SizedTypeId, TypedLiteral, TypedPattern, TypedPatternId, TypedPatternKind,
};

impl SourceChecker<'_> {
    /// Checks a pattern that matches values of a type, and binds its variables until the scope ends.
    pub(super) fn check_pattern(
        &mut self,
        id: PatternId,
        type_id: TypeId,
    ) -> CheckResult<TypedPatternId> {
        self.check_pattern_part(id, type_id, &mut BoundNames::default())
    }

    /// Checks a pattern that stands after the sizes that it binds.
    pub(super) fn check_sized_pattern(
        &mut self,
        sizes: &[SourceName],
        pattern: PatternId,
        type_id: TypeId,
    ) -> CheckResult<TypedPatternId> {
        let mut bound = BoundNames::default();
        for &size in sizes {
            self.add_bound(&mut bound, size)?;
        }
        self.check_pattern_part(pattern, type_id, &mut bound)
    }

    /// Checks several patterns, which together bind no name twice. Each has a new type.
    pub(super) fn check_parameters(
        &mut self,
        parameters: &[PatternId],
        mut bound: BoundNames,
    ) -> CheckResult<Vec<TypedPatternId>> {
        let mut checked = Vec::with_capacity(parameters.len());
        for &parameter in parameters {
            let range = self.tree().patterns[parameter].range;
            let type_id = self.add_variable(VariableState::Free, range);
            checked.push(self.check_pattern_part(parameter, type_id, &mut bound)?);
        }
        Ok(checked)
    }

    /// Adds a typed pattern.
    fn add_pattern(
        &mut self,
        kind: TypedPatternKind,
        type_id: TypeId,
        ascribed: Option<SizedTypeId>,
        range: TextRange,
    ) -> TypedPatternId {
        let place = self.place(range);
        self.program.patterns.push(TypedPattern {
            kind,
            type_id,
            ascribed,
            place,
        })
    }

    /// A pattern that binds a name.
    pub(super) fn bind_name(
        &mut self,
        name: SourceNameId,
        type_id: TypeId,
        range: TextRange,
    ) -> TypedPatternId {
        let local = self.program.locals.push(LocalVariable { name, type_id });
        self.bind_term(name, TermBinding::Local(local, None));
        self.add_pattern(TypedPatternKind::Local(local), type_id, None, range)
    }

    /// Records the variable of a pattern.
    pub(super) fn record_pattern(&mut self, name: SourceName, pattern: TypedPatternId) {
        if let TypedPatternKind::Local(local) = self.program.patterns[pattern].kind {
            self.record_local(name, local);
        }
    }

    /// Records the fields of a record pattern.
    fn record_field_patterns(
        &mut self,
        written: &[RecordFieldPattern],
        kind: &TypedPatternKind,
        record: TypeId,
    ) {
        let TypedPatternKind::Record(typed) = kind else {
            return;
        };
        for (field, (_, pattern)) in written.iter().zip(typed) {
            if field.is_explicit {
                let value = self.program.patterns[*pattern].type_id;
                self.record_field(field.name, value, record);
            } else {
                self.record_shorthand(field.name.range);
            }
        }
    }

    /// Checks a pattern. The names that it binds are added to `bound`.
    fn check_pattern_part(
        &mut self,
        id: PatternId,
        type_id: TypeId,
        bound: &mut BoundNames,
    ) -> CheckResult<TypedPatternId> {
        let node = &self.tree().patterns[id];
        let range = node.range;
        let kind = match &node.kind {
            PatternKind::Name(name) => {
                self.add_bound(bound, *name)?;
                let pattern = self.bind_name(name.name, type_id, range);
                self.record_pattern(*name, pattern);
                return Ok(pattern);
            }
            PatternKind::Wildcard => TypedPatternKind::Wildcard,
            PatternKind::Literal {
                is_negative,
                literal,
            } => {
                let (literal, literal_type) = self.check_scalar(literal, *is_negative, range)?;
                self.require_type(literal_type, type_id, range, "the literal")?;
                TypedPatternKind::Scalar(literal)
            }
            PatternKind::Parentheses(inner) => {
                return self.check_pattern_part(*inner, type_id, bound);
            }
            PatternKind::Attributed { pattern, .. } => {
                return self.check_pattern_part(*pattern, type_id, bound);
            }
            PatternKind::Tuple(elements) => {
                let fields = elements.iter().enumerate();
                let fields = fields.map(|(index, element)| {
                    (self.program.names.intern(&index.to_string()), *element)
                });
                let fields: Vec<_> = fields.collect();
                self.check_record_pattern(&fields, type_id, range, bound)?
            }
            PatternKind::Record(fields) => {
                let written = fields;
                let fields: Vec<_> = fields
                    .iter()
                    .map(|field| (field.name.name, field.pattern))
                    .collect();
                let kind = self.check_record_pattern(&fields, type_id, range, bound)?;
                self.record_field_patterns(written, &kind, type_id);
                kind
            }
            PatternKind::Constructor { name, payload } => {
                let types = payload
                    .iter()
                    .map(|_| self.add_variable(VariableState::Free, range));
                let types: Vec<_> = types.collect();
                let state = VariableState::Sum(vec![(name.name, types.clone())]);
                let sum = self.add_variable(state, range);
                self.require_type(sum, type_id, range, "the pattern")?;
                self.record_constructor(*name, sum);
                let parts = payload.iter().zip(types);
                let parts =
                    parts.map(|(&part, part_type)| self.check_pattern_part(part, part_type, bound));
                TypedPatternKind::Constructor(name.name, parts.collect::<CheckResult<_>>()?)
            }
            PatternKind::Ascription { pattern, ascribed } => {
                let written = self.check_type(*ascribed)?;
                self.require_type(written.type_id, type_id, range, "the pattern")?;
                let inner = self.check_pattern_part(*pattern, written.type_id, bound)?;
                let kind = TypedPatternKind::Ascribed(inner);
                return Ok(self.add_pattern(kind, type_id, Some(written.sized), range));
            }
        };
        Ok(self.add_pattern(kind, type_id, None, range))
    }

    /// Binds the names of a pattern whose value has a fault.
    pub(super) fn bind_faulty_pattern(&mut self, id: PatternId) {
        match &self.tree().patterns[id].kind {
            PatternKind::Name(name) => {
                self.bind_term(name.name, TermBinding::Faulty(self.place(name.range)));
            }
            PatternKind::Wildcard | PatternKind::Literal { .. } => {}
            PatternKind::Parentheses(inner)
            | PatternKind::Attributed { pattern: inner, .. }
            | PatternKind::Ascription { pattern: inner, .. } => self.bind_faulty_pattern(*inner),
            PatternKind::Tuple(parts) | PatternKind::Constructor { payload: parts, .. } => {
                for &part in parts {
                    self.bind_faulty_pattern(part);
                }
            }
            PatternKind::Record(fields) => {
                for field in fields {
                    self.bind_faulty_pattern(field.pattern);
                }
            }
        }
    }

    /// Checks the fields of a record pattern.
    fn check_record_pattern(
        &mut self,
        fields: &[(SourceNameId, PatternId)],
        type_id: TypeId,
        range: TextRange,
        bound: &mut BoundNames,
    ) -> CheckResult<TypedPatternKind> {
        let types = fields
            .iter()
            .map(|(name, _)| (*name, self.add_variable(VariableState::Free, range)));
        let types: Vec<_> = types.collect();
        let record = self
            .program
            .types
            .record(types.clone(), &self.program.names);
        self.require_type(record, type_id, range, "the pattern")?;
        let fields = fields.iter().zip(types);
        let fields = fields.map(|((name, field), (_, field_type))| {
            Ok((*name, self.check_pattern_part(*field, field_type, bound)?))
        });
        Ok(TypedPatternKind::Record(
            fields.collect::<CheckResult<_>>()?,
        ))
    }

    /// The value of a scalar literal, and its type.
    pub(super) fn check_scalar(
        &mut self,
        literal: &SourceLiteral,
        is_negative: bool,
        range: TextRange,
    ) -> CheckResult<(TypedLiteral, TypeId)> {
        use super::types::PrimitiveType;
        let class_type =
            |checker: &mut Self, class| checker.add_variable(VariableState::Scalar(class), range);
        let suffix_type = |checker: &mut Self, suffix: &Option<_>, class| match suffix {
            Some(number_type) => checker
                .program
                .types
                .scalar(PrimitiveType::Number(*number_type)),
            None => class_type(checker, class),
        };
        let integer = |value: u128| -> i128 {
            let value = i128::try_from(value).unwrap_or(i128::MAX);
            if is_negative {
                value.wrapping_neg()
            } else {
                value
            }
        };
        match literal {
            SourceLiteral::Truth(value) => {
                Ok((TypedLiteral::Truth(*value), self.program.types.bool()))
            }
            SourceLiteral::Integer(value, suffix) => {
                let type_id = suffix_type(self, suffix, ScalarClass::Number);
                Ok((TypedLiteral::Integer(integer(*value)), type_id))
            }
            SourceLiteral::Character(value) => {
                let type_id = class_type(self, ScalarClass::Number);
                Ok((
                    TypedLiteral::Integer(integer(u128::from(u32::from(*value)))),
                    type_id,
                ))
            }
            SourceLiteral::Float(text, suffix) => {
                let type_id = suffix_type(self, suffix, ScalarClass::Float);
                let text = if is_negative {
                    format!("-{text}")
                } else {
                    text.clone()
                };
                Ok((TypedLiteral::Float(text), type_id))
            }
            SourceLiteral::String(_) => Err(self.fail(range, "a string is no scalar")),
        }
    }
}
