//! Quotients and remainders of 64 bits, by a function that divides bit by bit.

use super::emitter::TypeEmulator;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::SpirvModule;
use spirula_spirv::link::{GlobalValueTable, SpirvImporter};
use spirula_spirv::text;

const TEXT: &str = include_str!("../../library/divide.spvasm");

impl<'a> TypeEmulator<'a> {
    /// The function of two integers without signs that gives quotient and remainder.
    fn divider(&mut self) -> Result<Id, SourceDiagnostic> {
        if let Some(known) = self.divider {
            return Ok(known);
        }
        let broken = || crate::facts::refusal("a library that cannot be read");
        let words = text::parse(TEXT, &text::ParseOptions::default()).map_err(|_| broken())?;
        let library = SpirvModule::from_words(words)?;
        let function = library.functions().first().ok_or_else(broken)?;
        let function = library.function_id(*function);
        let mut values = GlobalValueTable::compute(&self.m);
        let made = SpirvImporter::new(&library).import(&mut self.m, &mut values, &[function])?;
        let made = *made.first().ok_or_else(broken)?;
        Ok(*self.divider.insert(made))
    }

    /// A quotient or remainder. By zero it is what comes out, as it may be anything.
    pub fn divided(&mut self, op: Op, a: [Id; 2], b: [Id; 2]) -> Result<[Id; 2], SourceDiagnostic> {
        let function = self.divider()?;
        let (word, truth) = (self.uint(), self.truth());
        let (pair, both) = (self.uints(2), self.uints(4));
        let is_signed = !matches!(op, Op::UDiv | Op::UMod);
        let (mut x, mut y) = (a, b);
        if is_signed {
            let (below_a, below_b) = (self.is_negative(a), self.is_negative(b));
            let (minus_a, minus_b) = (self.negated(a), self.negated(b));
            x = self.chosen(below_a, minus_a, a);
            y = self.chosen(below_b, minus_b, b);
        }
        let x = self.op(Op::CompositeConstruct, pair, &x);
        let y = self.op(Op::CompositeConstruct, pair, &y);
        let made = self.op(Op::FunctionCall, both, &[function, x, y]);
        let first = if matches!(op, Op::UDiv | Op::SDiv) {
            0
        } else {
            2
        };
        let found = [0, 1].map(|n| self.extract(word, made, first + n));
        if !is_signed {
            return Ok(found);
        }
        let below_a = self.is_negative(a);
        let minus = self.negated(found);
        if op == Op::SDiv {
            let below_b = self.is_negative(b);
            let differ = self.op(Op::LogicalNotEqual, truth, &[below_a, below_b]);
            return Ok(self.chosen(differ, minus, found));
        }
        let remainder = self.chosen(below_a, minus, found);
        if op == Op::SRem {
            return Ok(remainder);
        }
        // With the divisor's sign.
        let below_b = self.is_negative(b);
        let differ = self.op(Op::LogicalNotEqual, truth, &[below_a, below_b]);
        let zero = self.number(0);
        let is_some = self.compared(Op::INotEqual, remainder, [zero; 2]);
        let moves = self.op(Op::LogicalAnd, truth, &[differ, is_some]);
        let moved = self.added(remainder, b);
        Ok(self.chosen(moves, moved, remainder))
    }
}
