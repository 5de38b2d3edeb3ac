//! Scopes of the names of values.
//!
//! A name is known from its definition to the end of the enclosing region, and in inner regions
//! unless their operation is isolated from above. A use before the definition refers to a
//! placeholder. Placeholders are replaced when everything is read.

use super::cursor::MlirParseResult;
use super::parser::MlirParser;
use crate::mlir::{MlirBlock, MlirType, MlirValue, ValueDefinition};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceLocation;

/// An operand as it is written: `%name` or `%name#1`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnresolvedOperand<'a> {
    pub name: &'a [u8],
    pub number: u32,
    pub place: SourceLocation,
}

/// Values of one name.
#[derive(Clone, Copy, Debug)]
struct NamedValues {
    first: MlirValue,
    count: u32,
}

/// A use before its definition.
#[derive(Clone, Copy, Debug)]
struct ForwardOperand<'a> {
    written: UnresolvedOperand<'a>,
    placeholder: MlirValue,
}

/// All names that are known at a place.
#[derive(Debug, Default)]
pub(crate) struct MlirScope<'a> {
    names: FxHashMap<&'a [u8], NamedValues>,
    defined: Vec<&'a [u8]>,
    pending: Vec<ForwardOperand<'a>>,
    /// Placeholders and their values.
    replaced: Vec<(MlirValue, MlirValue)>,
}

/// State that [`MlirParser::leave_scope`] restores.
pub(crate) struct MlirScopeMark<'a> {
    defined: usize,
    pending: usize,
    outer: Option<FxHashMap<&'a [u8], NamedValues>>,
}

fn display_name(name: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(name)
}

impl<'a> MlirParser<'a> {
    /// `%name` or `%name#1`
    pub fn parse_operand(&mut self) -> MlirParseResult<UnresolvedOperand<'a>> {
        if self.cursor.peek_byte() != b'%' {
            return self.cursor.report_expected("an operand (`%name`)");
        }
        let start = self.cursor.skip_to_start();
        let name = self.value_name()?;
        let mut number = 0;
        if self.cursor.current_byte() == b'#' {
            self.cursor.pos += 1;
            let written = self.cursor.read_digits()?;
            number = u32::try_from(written).unwrap_or(u32::MAX);
        }
        let place = self.cursor.location_since(start);
        Ok(UnresolvedOperand {
            name,
            number,
            place,
        })
    }

    /// `%name`, without the sign.
    pub fn value_name(&mut self) -> MlirParseResult<&'a [u8]> {
        self.cursor.expect_punctuation("%")?;
        match self.cursor.read_suffix() {
            [] => self.cursor.report_expected("the name of a value"),
            name => Ok(name),
        }
    }

    /// Names `count` values.
    pub fn define_names(
        &mut self,
        name: &'a [u8],
        first: MlirValue,
        count: usize,
        place: SourceLocation,
    ) -> MlirParseResult<()> {
        let count = count as u32;
        if self
            .scope
            .names
            .insert(name, NamedValues { first, count })
            .is_some()
        {
            return self
                .cursor
                .error_at(place, format!("`%{}` is defined twice", display_name(name)));
        }
        self.scope.defined.push(name);
        Ok(())
    }

    /// The value of an operand that has to have a type.
    pub fn resolve_operand(
        &mut self,
        written: UnresolvedOperand<'a>,
        ty: MlirType,
    ) -> MlirParseResult<MlirValue> {
        if let Some(&binding) = self.scope.names.get(written.name) {
            return self.check_bound_value(binding, written, ty);
        }
        // The definition is never read, as an unresolved placeholder is an error.
        let definition = ValueDefinition::Argument(MlirBlock::new(0), 0);
        let placeholder = self.module.reserve_value(ty, definition);
        self.scope.pending.push(ForwardOperand {
            written,
            placeholder,
        });
        Ok(placeholder)
    }

    fn check_bound_value(
        &mut self,
        binding: NamedValues,
        written: UnresolvedOperand<'a>,
        ty: MlirType,
    ) -> MlirParseResult<MlirValue> {
        let name = display_name(written.name);
        if written.number >= binding.count {
            let message = format!("`%{name}` has {} results", binding.count);
            return self.cursor.error_at(written.place, message);
        }
        let value = MlirValue::new(binding.first.index() + written.number as usize);
        let found = self.module.type_of(value);
        if found != ty {
            let message = format!(
                "`%{name}` has type {}, not {}",
                self.module.show_type(found),
                self.module.show_type(ty)
            );
            return self.cursor.error_at(written.place, message);
        }
        Ok(value)
    }

    /// Begins a region. Names from outside are not seen if its operation is isolated from above.
    pub fn enter_scope(&mut self, isolated: bool) -> MlirScopeMark<'a> {
        MlirScopeMark {
            defined: self.scope.defined.len(),
            pending: self.scope.pending.len(),
            outer: isolated.then(|| std::mem::take(&mut self.scope.names)),
        }
    }

    /// Ends a region: resolves uses before definitions and forgets its names.
    pub fn leave_scope(&mut self, mark: MlirScopeMark<'a>) -> MlirParseResult<()> {
        let mut kept = mark.pending;
        for at in mark.pending..self.scope.pending.len() {
            let pending = self.scope.pending[at];
            let written = pending.written;
            if let Some(&binding) = self.scope.names.get(written.name) {
                let ty = self.module.type_of(pending.placeholder);
                let value = self.check_bound_value(binding, written, ty)?;
                self.scope.replaced.push((pending.placeholder, value));
            } else if mark.outer.is_some() {
                let message = format!("`%{}` is not defined", display_name(written.name));
                return self.cursor.error_at(written.place, message);
            } else {
                self.scope.pending[kept] = pending;
                kept += 1;
            }
        }
        self.scope.pending.truncate(kept);
        for name in self.scope.defined.drain(mark.defined..) {
            self.scope.names.remove(name);
        }
        if let Some(outer) = mark.outer {
            self.scope.names = outer;
        }
        Ok(())
    }

    /// Replaces placeholders by their values.
    pub fn replace_placeholders(&mut self) {
        self.module.replace_operands(&self.scope.replaced);
    }
}
