//! Ranges of literals: a number fits the type that is inferred for it. One with the type as its suffix is cut to the type, and so
//! are numbers in patterns; a warning says so.

use super::RestrictionChecker;
use crate::check::types::{PrimitiveType, TypeForm, TypeId};
use crate::evaluate::read_float;
use crate::syntax::tree::NumberType;
use crate::typed::{ProgramPlace, TypedExpressionId, TypedKind, TypedLiteral, TypedPatternKind};
use rustc_hash::FxHashSet;

impl RestrictionChecker<'_> {
    /// Checks all literals of the program.
    pub(super) fn check_literals(&mut self) {
        let program = self.program;
        let mut negated: FxHashSet<TypedExpressionId> = FxHashSet::default();
        for (_, node) in program.expressions.iter().rev() {
            if let TypedKind::Application(function, arguments) = &node.kind
                && let Some(&operand) = arguments.first()
                && self.is_negation(*function, operand)
                && let TypedKind::Scalar(literal) = &program.expressions[operand].kind
            {
                negated.insert(operand);
                let literal = negate_literal(literal);
                let is_fixed = self.has_suffix(node.type_id, node.place);
                self.check_literal(&literal, node.type_id, node.place, is_fixed);
            }
        }
        for (id, node) in program.expressions.iter() {
            if let TypedKind::Scalar(literal) = &node.kind
                && !negated.contains(&id)
            {
                let is_fixed = self.has_suffix(node.type_id, node.place);
                self.check_literal(literal, node.type_id, node.place, is_fixed);
            }
        }
        for (_, node) in program.patterns.iter() {
            if let TypedPatternKind::Scalar(literal) = &node.kind {
                self.check_literal(literal, node.type_id, node.place, true);
            }
        }
    }

    /// Whether a function is a minus right before a literal.
    fn is_negation(&self, function: TypedExpressionId, operand: TypedExpressionId) -> bool {
        let program = self.program;
        let function = &program.expressions[function];
        let TypedKind::Intrinsic(intrinsic, _) = function.kind else {
            return false;
        };
        let operand = program.expressions[operand].place;
        let file = &self.files.files[operand.file];
        let between = function.place.range.start as usize + 1..operand.range.start as usize;
        &program.names[program.intrinsics[intrinsic]] == "neg"
            && file
                .text
                .get(between)
                .is_some_and(|text| text.trim().is_empty())
    }

    /// Checks a literal. One whose type is fixed is cut to the type.
    fn check_literal(
        &mut self,
        literal: &TypedLiteral,
        type_id: TypeId,
        place: ProgramPlace,
        is_fixed: bool,
    ) {
        let Some(number_type) = self.number_type(type_id) else {
            return;
        };
        let is_within = match literal {
            TypedLiteral::Truth(_) => true,
            TypedLiteral::Integer(value) => match integer_range(number_type) {
                Some(range) => range.contains(value),
                None => is_finite(*value as f64, number_type),
            },
            TypedLiteral::Float(text) => {
                read_float(text).is_none_or(|value| is_finite(value, number_type))
            }
        };
        if is_within || self.is_prelude(place) {
            return;
        }
        let text = match literal {
            TypedLiteral::Truth(value) => value.to_string(),
            TypedLiteral::Integer(value) => value.to_string(),
            TypedLiteral::Float(text) => text.clone(),
        };
        let name = number_type.spelling();
        let message = format!("literal {text} is out of bounds for its type `{name}`");
        let note = describe_range(number_type);
        if !is_fixed {
            self.faults.report(place, message, |fault| {
                fault
                    .with_note(note)
                    .with_hint("write a larger type as suffix, or a smaller number")
            });
        } else if !self.is_bit_pattern(literal, number_type, place) {
            let value = describe_cut(literal, number_type);
            self.warn(place, message, &format!("its value is {value}; {note}"));
        }
    }

    /// The number type that a type is.
    fn number_type(&self, type_id: TypeId) -> Option<NumberType> {
        match self.program.types.form(type_id) {
            TypeForm::Scalar(PrimitiveType::Number(number_type)) => Some(*number_type),
            _ => None,
        }
    }

    /// The text of a place.
    fn text_of(&self, place: ProgramPlace) -> &str {
        let text = &self.files.files[place.file].text;
        let range = place.range.start as usize..place.range.end as usize;
        text.get(range).unwrap_or_default()
    }

    /// Whether a literal has its type as suffix.
    fn has_suffix(&self, type_id: TypeId, place: ProgramPlace) -> bool {
        let number_type = self.number_type(type_id);
        number_type.is_some_and(|number_type| self.text_of(place).ends_with(number_type.spelling()))
    }

    /// Whether a literal gives all bits of an integer, as `0x80i8` does.
    fn is_bit_pattern(
        &self,
        literal: &TypedLiteral,
        number_type: NumberType,
        place: ProgramPlace,
    ) -> bool {
        let (TypedLiteral::Integer(value), Some(range)) = (literal, integer_range(number_type))
        else {
            return false;
        };
        let text = self.text_of(place).to_ascii_lowercase();
        let count = range.end() - range.start() + 1;
        (text.starts_with("0x") || text.starts_with("0b")) && (0..count).contains(value)
    }
}

/// The value of a literal that is cut to its type.
fn describe_cut(literal: &TypedLiteral, number_type: NumberType) -> String {
    match (literal, integer_range(number_type)) {
        (TypedLiteral::Integer(value), Some(range)) => {
            let count = range.end() - range.start() + 1;
            ((value - range.start()).rem_euclid(count) + range.start()).to_string()
        }
        _ => "infinite".to_owned(),
    }
}

/// The literal with a minus.
fn negate_literal(literal: &TypedLiteral) -> TypedLiteral {
    match literal {
        TypedLiteral::Integer(value) => TypedLiteral::Integer(value.saturating_neg()),
        TypedLiteral::Float(text) => TypedLiteral::Float(format!("-{text}")),
        TypedLiteral::Truth(value) => TypedLiteral::Truth(*value),
    }
}

/// The numbers of an integer type. None for floats.
fn integer_range(number_type: NumberType) -> Option<std::ops::RangeInclusive<i128>> {
    let signed = |bits: u32| -(1i128 << (bits - 1))..=(1i128 << (bits - 1)) - 1;
    let unsigned = |bits: u32| 0..=(1i128 << bits) - 1;
    match number_type {
        NumberType::I8 => Some(signed(8)),
        NumberType::I16 => Some(signed(16)),
        NumberType::I32 => Some(signed(32)),
        NumberType::I64 => Some(signed(64)),
        NumberType::U8 => Some(unsigned(8)),
        NumberType::U16 => Some(unsigned(16)),
        NumberType::U32 => Some(unsigned(32)),
        NumberType::U64 => Some(unsigned(64)),
        NumberType::F16 | NumberType::F32 | NumberType::F64 => None,
    }
}

/// Whether a number is finite when it is rounded to a float type.
fn is_finite(value: f64, number_type: NumberType) -> bool {
    // A number from half a unit in the last place above the largest one on is rounded to infinity.
    let bound = match number_type {
        NumberType::F16 => 65520.0,
        NumberType::F32 => f64::from(f32::MAX) + 2f64.powi(103),
        _ => f64::INFINITY,
    };
    value.abs() < bound
}

fn describe_range(number_type: NumberType) -> String {
    let name = number_type.spelling();
    match integer_range(number_type) {
        Some(range) => format!(
            "`{name}` has the numbers from {} to {}",
            range.start(),
            range.end()
        ),
        None => format!("`{name}` has no numbers of that magnitude"),
    }
}
