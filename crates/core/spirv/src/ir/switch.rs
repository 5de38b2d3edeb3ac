//! Targets of `OpSwitch`, whose literals are as wide as its selector.

use super::{InstRef, SpirvModule};
use crate::Id;
use crate::analysis::IdDefinitions;
use crate::grammar::Op;

impl SpirvModule {
    /// Words of an `OpSwitch`'s literals: 2 where its selector is wider than 32 bits.
    pub fn switch_literal_words(&self, definitions: &IdDefinitions, switch: InstRef<'_>) -> usize {
        let ty = definitions
            .get(self, switch.id_operand(0))
            .and_then(InstRef::result_type);
        let int = ty.and_then(|ty| definitions.get(self, ty));
        let wide = int.is_some_and(|int| int.op() == Op::TypeInt && int.operand_word(0) > 32);
        if wide { 2 } else { 1 }
    }
}

/// The cases of an `OpSwitch`: literal and label.
pub fn switch_cases(switch: InstRef<'_>, literal_words: usize) -> impl Iterator<Item = (u64, Id)> {
    switch
        .operands()
        .get(2..)
        .unwrap_or(&[])
        .chunks_exact(literal_words + 1)
        .map(|case| {
            let high = if case.len() > 2 { case[1] } else { 0 };
            let label = Id::new(case[case.len() - 1]).unwrap_or(Id::MAX);
            (u64::from(case[0]) | u64::from(high) << 32, label)
        })
}
