//! Wide division: 64-bit quotients and remainders by a function that divides bit by bit.

use super::emitter::TypeEmulator;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;

const TEXT: &str = include_str!("../../library/divide.spvasm");

impl<'a> TypeEmulator<'a> {
    /// The function of two unsigned integers that returns quotient and remainder.
    fn import_divider(&mut self) -> Result<Id, SourceDiagnostic> {
        if let Some(known) = self.divider {
            return Ok(known);
        }
        let broken = || crate::error::diagnose_unsupported("a library that cannot be read");
        let words =
            text::parse_assembly(TEXT, &text::ParseOptions::default()).map_err(|_| broken())?;
        let library = SpirvModule::from_words(words)?;
        let function = library.functions().first().ok_or_else(broken)?;
        let function = library.function_id(*function);
        let mut values = GlobalValueTable::from_module(&self.m);
        let made =
            SpirvImporter::new(&library).import_ids(&mut self.m, &mut values, &[function])?;
        let made = *made.first().ok_or_else(broken)?;
        Ok(*self.divider.insert(made))
    }

    /// Emits a quotient or remainder. Results of divisions by zero are undefined.
    pub fn emit_division(
        &mut self,
        op: Op,
        a: [Id; 2],
        b: [Id; 2],
    ) -> Result<[Id; 2], SourceDiagnostic> {
        let function = self.import_divider()?;
        let (word, truth) = (self.make_uint_type(), self.make_bool_type());
        let (pair, both) = (self.make_uint_vector_type(2), self.make_uint_vector_type(4));
        let is_signed = !matches!(op, Op::UDiv | Op::UMod);
        let (mut x, mut y) = (a, b);
        if is_signed {
            let (below_a, below_b) = (self.is_negative(a), self.is_negative(b));
            let (minus_a, minus_b) = (self.negate_wide(a), self.negate_wide(b));
            x = self.select_wide(below_a, minus_a, a);
            y = self.select_wide(below_b, minus_b, b);
        }
        let x = self.emit_value(Op::CompositeConstruct, pair, &x);
        let y = self.emit_value(Op::CompositeConstruct, pair, &y);
        let made = self.emit_value(Op::FunctionCall, both, &[function, x, y]);
        let first = if matches!(op, Op::UDiv | Op::SDiv) {
            0
        } else {
            2
        };
        let found = [0, 1].map(|n| self.extract_component(word, made, first + n));
        if !is_signed {
            return Ok(found);
        }
        let below_a = self.is_negative(a);
        let minus = self.negate_wide(found);
        if op == Op::SDiv {
            let below_b = self.is_negative(b);
            let differ = self.emit_value(Op::LogicalNotEqual, truth, &[below_a, below_b]);
            return Ok(self.select_wide(differ, minus, found));
        }
        let remainder = self.select_wide(below_a, minus, found);
        if op == Op::SRem {
            return Ok(remainder);
        }
        // The result has the sign of the divisor.
        let below_b = self.is_negative(b);
        let differ = self.emit_value(Op::LogicalNotEqual, truth, &[below_a, below_b]);
        let zero = self.make_uint_constant(0);
        let is_some = self.compare_wide(Op::INotEqual, remainder, [zero; 2]);
        let moves = self.emit_value(Op::LogicalAnd, truth, &[differ, is_some]);
        let moved = self.add_wide(remainder, b);
        Ok(self.select_wide(moves, moved, remainder))
    }
}
