//! Messages on types that are not equal: what is found and expected, and where the two differ.

use super::types::{TypeForm, TypeId};
use super::unify::{UnifyFault, VariableState};
use super::{CheckFault, SourceChecker};
use crate::syntax::token::TextRange;
use crate::syntax::tree::SourceNameId;
use rustc_hash::{FxHashMap, FxHashSet};

impl SourceChecker<'_> {
    /// The fault that two types are not equal.
    pub(super) fn fail_unify(
        &mut self,
        fault: UnifyFault,
        found: TypeId,
        expected: TypeId,
        range: TextRange,
        role: &str,
    ) -> CheckFault {
        let reason = match fault {
            UnifyFault::Mismatch => self.describe_difference(found, expected),
            UnifyFault::Infinite => Some("the type would contain itself".to_owned()),
            UnifyFault::Class(class, other) => {
                let other = self.print_type(other);
                Some(format!("`{other}` is not {}", class.describe()))
            }
            UnifyFault::Field(name, other) => {
                let other = self.print_type(other);
                Some(format!("`{other}` has no field `{}`", self.name_text(name)))
            }
            UnifyFault::Constructor(name, other) => {
                let other = self.print_type(other);
                Some(format!(
                    "`{other}` has no constructor `#{}`",
                    self.name_text(name)
                ))
            }
            UnifyFault::Compare(other) => {
                let other = self.print_type(other);
                Some(format!("values of type `{other}` cannot be compared"))
            }
            UnifyFault::Escape(parameter) => {
                let escaped = self.program.types.intern(TypeForm::Parameter(parameter));
                let escaped = self.print_type(escaped);
                Some(format!(
                    "the type parameter `{escaped}` is not in scope where the type is needed"
                ))
            }
        };
        let found = match self.describe_unknown(found) {
            Some(description) => description,
            None => format!("of type `{}`", self.print_type(found)),
        };
        let expected = match self.describe_unknown(expected) {
            Some(description) => description,
            None => format!("`{}`", self.print_type(expected)),
        };
        let mut letters = VariableLetters::default();
        let message = letters.rename(&format!("{role} is {found}, but {expected} is expected"));
        let label = letters.rename(&format!("expected {expected}"));
        let reason = reason.map(|reason| letters.rename(&reason));
        self.fail_with(range, message, |diagnostic| {
            let diagnostic = diagnostic.with_label(label);
            match reason {
                Some(reason) => diagnostic.with_note(reason),
                None => diagnostic,
            }
        })
    }

    /// The facts known of a type that is not determined.
    fn describe_unknown(&mut self, id: TypeId) -> Option<String> {
        let id = self.resolve(id);
        let TypeForm::Variable(variable) = self.program.types.form(id) else {
            return None;
        };
        match self.variables.state(*variable) {
            VariableState::Scalar(class) => Some(class.describe().to_owned()),
            VariableState::Record(fields) => Some(format!(
                "a record with a field `{}`",
                self.name_text(fields[0].0)
            )),
            VariableState::Sum(clauses) => Some(format!(
                "a value of a sum with `#{}`",
                self.name_text(clauses[0].0)
            )),
            _ => None,
        }
    }

    /// Where two types differ, if that is only a part of them or more than their names.
    fn describe_difference(&mut self, found: TypeId, expected: TypeId) -> Option<String> {
        let mut path = Vec::new();
        let reason = self.find_difference(found, expected, &mut path, &mut FxHashSet::default())?;
        if path.is_empty() {
            return (!reason.is_plain).then_some(reason.text);
        }
        Some(format!(
            "they differ in {}: {}",
            path.join(" of "),
            reason.text
        ))
    }

    /// The innermost difference of two types. The parts that lead to it are added to `path`, the innermost first.
    fn find_difference(
        &mut self,
        found: TypeId,
        expected: TypeId,
        path: &mut Vec<String>,
        seen: &mut FxHashSet<(TypeId, TypeId)>,
    ) -> Option<TypeDifference> {
        let (found, expected) = (self.resolve(found), self.resolve(expected));
        if found == expected || !seen.insert((found, expected)) {
            return None;
        }
        let parts = match self.pair_parts(found, expected) {
            Ok(parts) => parts,
            Err(difference) => return difference,
        };
        for (role, found, expected) in parts {
            if let Some(reason) = self.find_difference(found, expected, path, seen) {
                path.push(role);
                return Some(reason);
            }
        }
        None
    }

    /// The parts of two types of one form, with their roles. An error is the difference of two types of other forms, if it
    /// is known.
    fn pair_parts(
        &mut self,
        found: TypeId,
        expected: TypeId,
    ) -> Result<Vec<(String, TypeId, TypeId)>, Option<TypeDifference>> {
        let forms = (
            self.program.types.form(found).clone(),
            self.program.types.form(expected).clone(),
        );
        Ok(match forms {
            (TypeForm::Variable(_), _) | (_, TypeForm::Variable(_)) => return Err(None),
            (TypeForm::Array(found), TypeForm::Array(expected)) => {
                vec![("the elements".to_owned(), found, expected)]
            }
            (
                TypeForm::Function(parameter, result),
                TypeForm::Function(expected_parameter, expected_result),
            ) => vec![
                ("the parameter".to_owned(), parameter, expected_parameter),
                ("the result".to_owned(), result, expected_result),
            ],
            (TypeForm::Record(fields), TypeForm::Record(others)) => {
                let names: Vec<_> = fields.iter().map(|(name, _)| *name).collect();
                let other_names: Vec<_> = others.iter().map(|(name, _)| *name).collect();
                if names != other_names {
                    let unshared = self.describe_unshared("unshared fields", &names, &other_names);
                    return Err(Some(unshared));
                }
                let pairs = fields.into_iter().zip(others);
                pairs
                    .map(|((name, field), (_, other))| {
                        (
                            format!("the field `{}`", self.name_text(name)),
                            field,
                            other,
                        )
                    })
                    .collect()
            }
            (TypeForm::Sum(clauses), TypeForm::Sum(others)) => {
                let names: Vec<_> = clauses.iter().map(|(name, _)| *name).collect();
                let other_names: Vec<_> = others.iter().map(|(name, _)| *name).collect();
                if names != other_names {
                    let what = "unshared constructors";
                    return Err(Some(self.describe_unshared(what, &names, &other_names)));
                }
                let mut parts = Vec::new();
                for ((name, payload), (_, other)) in clauses.into_iter().zip(others) {
                    let text = self.name_text(name).to_owned();
                    if payload.len() != other.len() {
                        let (found, expected) = (payload.len(), other.len());
                        let text = format!(
                            "the constructors `#{text}` differ in arity: {found} and {expected}"
                        );
                        return Err(Some(TypeDifference::from_text(text)));
                    }
                    for (part, other) in payload.into_iter().zip(other) {
                        parts.push((format!("the payload of `#{text}`"), part, other));
                    }
                }
                parts
            }
            (TypeForm::Abstract(name, arguments), TypeForm::Abstract(other, others))
                if name == other && arguments.len() == others.len() =>
            {
                let pairs = arguments.into_iter().zip(others);
                pairs
                    .map(|(argument, other)| ("a type argument".to_owned(), argument, other))
                    .collect()
            }
            _ => return Err(Some(self.describe_plain(found, expected))),
        })
    }

    /// The difference of two types of other forms, or with other names.
    fn describe_plain(&mut self, found: TypeId, expected: TypeId) -> TypeDifference {
        let (text, expected_text) = (self.print_type(found), self.print_type(expected));
        if text == expected_text {
            let text = format!("`{text}` and `{expected_text}` are different types of one name");
            return TypeDifference::from_text(text);
        }
        TypeDifference {
            text: format!("`{text}` is not `{expected_text}`"),
            is_plain: true,
        }
    }

    /// The names that only one of two types has.
    fn describe_unshared(
        &self,
        what: &str,
        names: &[SourceNameId],
        others: &[SourceNameId],
    ) -> TypeDifference {
        let own = names.iter().filter(|name| !others.contains(name));
        let other = others.iter().filter(|name| !names.contains(name));
        let unshared: Vec<_> = own
            .chain(other)
            .map(|&name| format!("`{}`", self.name_text(name)))
            .collect();
        TypeDifference::from_text(format!("{what}: {}", unshared.join(", ")))
    }
}

/// A difference of two types.
struct TypeDifference {
    text: String,
    /// Whether the text only says that the two are not equal.
    is_plain: bool,
}

impl TypeDifference {
    fn from_text(text: String) -> TypeDifference {
        TypeDifference {
            text,
            is_plain: false,
        }
    }
}

/// Letters for the variables of inference in one message.
#[derive(Default)]
struct VariableLetters {
    letters: FxHashMap<String, String>,
}

impl VariableLetters {
    /// The text with each `?n` replaced by a letter.
    fn rename(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('?') {
            out.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
            if digits.is_empty() {
                out.push('?');
                continue;
            }
            rest = &rest[digits.len()..];
            let next = self.letters.len();
            let letter = self.letters.entry(digits).or_insert_with(|| {
                let letter = char::from(b'a' + (next % 26) as u8);
                match next / 26 {
                    0 => letter.to_string(),
                    round => format!("{letter}{round}"),
                }
            });
            out.push('?');
            out.push_str(letter);
        }
        out.push_str(rest);
        out
    }
}
