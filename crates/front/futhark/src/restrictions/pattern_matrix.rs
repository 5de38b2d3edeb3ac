//! Usefulness of patterns, with a witness: a value that no pattern of a list matches.
//!
//! The algorithm is that of L. Maranget, "Warnings for pattern matching", 2007: a matrix with a row for each pattern is
//! specialised by the constructors of its first column, until it has no column or no row. The number of steps is limited,
//! as there are matrices for which it is exponential.

use crate::check::types::{PrimitiveType, TypeForm, TypeId, TypeTable};
use crate::syntax::tree::SourceNameId;
use crate::typed::{TypedLiteral, TypedPatternId, TypedPatternKind, TypedProgram};
use std::fmt::Write as _;

/// Cells of matrices that are made for one list of patterns.
const MOST_CELLS: usize = 4_000_000;

/// Why a list of patterns could not be checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatrixFault {
    /// It has too many combinations.
    TooLarge,
}

/// A value that no pattern matches, for messages. `None` is a part that may be anything.
enum WitnessPattern {
    Anything,
    Text(String),
    Record(Vec<(SourceNameId, WitnessPattern)>),
    Constructor(SourceNameId, Vec<WitnessPattern>),
}

/// A value of a type that none of some patterns matches.
pub(super) fn find_unmatched(
    program: &TypedProgram,
    patterns: &[TypedPatternId],
    type_id: TypeId,
) -> Result<Option<String>, MatrixFault> {
    let mut search = MatrixSearch { program, cells: 0 };
    let rows = patterns
        .iter()
        .map(|&pattern| vec![search.strip(Some(pattern))]);
    let rows = rows.collect();
    let found = search.find_witness(rows, &[type_id])?;
    Ok(found.map(|witness| {
        let mut out = String::new();
        for part in &witness {
            search.print_witness(part, false, &mut out);
        }
        out
    }))
}

/// A cell of a matrix: a pattern that is not always matched, or none.
type PatternCell = Option<TypedPatternId>;

/// State of a search.
struct MatrixSearch<'a> {
    program: &'a TypedProgram,
    cells: usize,
}

impl MatrixSearch<'_> {
    /// The pattern below ascriptions. None if it matches everything by its form.
    fn strip(&self, mut cell: PatternCell) -> PatternCell {
        while let Some(pattern) = cell {
            match &self.program.patterns[pattern].kind {
                TypedPatternKind::Ascribed(inner) => cell = Some(*inner),
                TypedPatternKind::Local(_) | TypedPatternKind::Wildcard => return None,
                _ => return cell,
            }
        }
        None
    }

    /// Values of types that no row matches. The rows have a column for each type.
    fn find_witness(
        &mut self,
        rows: Vec<Vec<PatternCell>>,
        types: &[TypeId],
    ) -> Result<Option<Vec<WitnessPattern>>, MatrixFault> {
        self.cells += 1 + rows.len() * types.len();
        if self.cells > MOST_CELLS {
            return Err(MatrixFault::TooLarge);
        }
        let Some((&first, rest)) = types.split_first() else {
            return Ok(rows.is_empty().then(Vec::new));
        };
        if rows.is_empty() {
            let anything = types.iter().map(|_| WitnessPattern::Anything);
            return Ok(Some(anything.collect()));
        }
        if rows.iter().all(|row| row[0].is_none()) {
            return self.find_default(rows, rest, || WitnessPattern::Anything);
        }
        let table: &TypeTable = &self.program.types;
        match table.form(first).clone() {
            TypeForm::Record(fields) => self.find_in_record(rows, &fields, rest),
            TypeForm::Sum(clauses) => self.find_in_sum(rows, &clauses, rest),
            TypeForm::Scalar(PrimitiveType::Bool) => self.find_in_bool(rows, rest),
            _ => self.find_default(rows, rest, || WitnessPattern::Anything),
        }
    }

    /// Witnesses whose first part is matched by no constructor of the first column.
    fn find_default(
        &mut self,
        rows: Vec<Vec<PatternCell>>,
        rest: &[TypeId],
        first: impl FnOnce() -> WitnessPattern,
    ) -> Result<Option<Vec<WitnessPattern>>, MatrixFault> {
        let rows = rows.into_iter().filter(|row| row[0].is_none());
        let rows = rows.map(|row| row[1..].to_vec()).collect();
        let found = self.find_witness(rows, rest)?;
        Ok(found.map(|mut witness| {
            witness.insert(0, first());
            witness
        }))
    }

    fn find_in_record(
        &mut self,
        rows: Vec<Vec<PatternCell>>,
        fields: &[(SourceNameId, TypeId)],
        rest: &[TypeId],
    ) -> Result<Option<Vec<WitnessPattern>>, MatrixFault> {
        let rows = rows.into_iter().map(|row| {
            let mut cells: Vec<PatternCell> = vec![None; fields.len()];
            if let Some(pattern) = row[0]
                && let TypedPatternKind::Record(parts) = &self.program.patterns[pattern].kind
            {
                for (name, part) in parts {
                    let index = fields.iter().position(|(other, _)| other == name);
                    if let Some(index) = index {
                        cells[index] = self.strip(Some(*part));
                    }
                }
            }
            cells.extend(&row[1..]);
            cells
        });
        let rows = rows.collect();
        let types: Vec<TypeId> = fields
            .iter()
            .map(|(_, field)| *field)
            .chain(rest.iter().copied())
            .collect();
        let found = self.find_witness(rows, &types)?;
        Ok(found.map(|mut witness| {
            let tail = witness.split_off(fields.len());
            let names = fields.iter().map(|(name, _)| *name);
            let record = WitnessPattern::Record(names.zip(witness).collect());
            std::iter::once(record).chain(tail).collect()
        }))
    }

    fn find_in_sum(
        &mut self,
        rows: Vec<Vec<PatternCell>>,
        clauses: &[(SourceNameId, Vec<TypeId>)],
        rest: &[TypeId],
    ) -> Result<Option<Vec<WitnessPattern>>, MatrixFault> {
        let mut specialised: Vec<Vec<Vec<PatternCell>>> = vec![Vec::new(); clauses.len()];
        let mut is_present = vec![false; clauses.len()];
        for row in &rows {
            let (range, payload) = match row[0].map(|cell| &self.program.patterns[cell].kind) {
                Some(TypedPatternKind::Constructor(name, payload)) => {
                    let index = clauses.iter().position(|(other, _)| other == name);
                    let Some(index) = index else {
                        continue;
                    };
                    is_present[index] = true;
                    (index..index + 1, Some(payload))
                }
                _ => (0..clauses.len(), None),
            };
            for index in range {
                let arity = clauses[index].1.len();
                let mut cells: Vec<PatternCell> = match payload {
                    Some(payload) => payload.iter().map(|&part| self.strip(Some(part))).collect(),
                    None => Vec::new(),
                };
                cells.resize(arity, None);
                cells.extend(&row[1..]);
                self.cells += cells.len();
                specialised[index].push(cells);
            }
        }
        if let Some(missing) = is_present.iter().position(|&present| !present) {
            let (name, payload) = &clauses[missing];
            return self.find_default(rows, rest, || {
                let anything = payload.iter().map(|_| WitnessPattern::Anything);
                WitnessPattern::Constructor(*name, anything.collect())
            });
        }
        for (rows, (name, payload)) in specialised.into_iter().zip(clauses) {
            let types: Vec<TypeId> = payload.iter().chain(rest).copied().collect();
            if let Some(mut witness) = self.find_witness(rows, &types)? {
                let tail = witness.split_off(payload.len());
                let value = WitnessPattern::Constructor(*name, witness);
                return Ok(Some(std::iter::once(value).chain(tail).collect()));
            }
        }
        Ok(None)
    }

    fn find_in_bool(
        &mut self,
        rows: Vec<Vec<PatternCell>>,
        rest: &[TypeId],
    ) -> Result<Option<Vec<WitnessPattern>>, MatrixFault> {
        for value in [false, true] {
            let matching = rows.iter().filter(|row| {
                row[0].is_none_or(|cell| {
                    matches!(
                        self.program.patterns[cell].kind,
                        TypedPatternKind::Scalar(TypedLiteral::Truth(other)) if other == value
                    )
                })
            });
            let matching = matching.map(|row| row[1..].to_vec()).collect();
            if let Some(mut witness) = self.find_witness(matching, rest)? {
                witness.insert(0, WitnessPattern::Text(value.to_string()));
                return Ok(Some(witness));
            }
        }
        Ok(None)
    }

    fn print_witness(&self, witness: &WitnessPattern, is_nested: bool, out: &mut String) {
        let names = &self.program.names;
        match witness {
            WitnessPattern::Anything => out.push('_'),
            WitnessPattern::Text(text) => out.push_str(text),
            WitnessPattern::Constructor(name, payload) => {
                let needs_parentheses = is_nested && !payload.is_empty();
                if needs_parentheses {
                    out.push('(');
                }
                let _ = write!(out, "#{}", &names[*name]);
                for part in payload {
                    out.push(' ');
                    self.print_witness(part, true, out);
                }
                if needs_parentheses {
                    out.push(')');
                }
            }
            WitnessPattern::Record(fields) => {
                let mut in_order = fields.iter().enumerate();
                let is_tuple = fields.len() != 1
                    && in_order.all(|(index, (name, _))| names[*name] == *index.to_string());
                out.push(if is_tuple { '(' } else { '{' });
                for (index, (name, field)) in fields.iter().enumerate() {
                    if index > 0 {
                        out.push_str(", ");
                    }
                    if !is_tuple {
                        let _ = write!(out, "{} = ", &names[*name]);
                    }
                    self.print_witness(field, false, out);
                }
                out.push(if is_tuple { ')' } else { '}' });
            }
        }
    }
}
