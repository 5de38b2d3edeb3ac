//! Target extension types: `target("spirv.NAME", TYPES…, INTS…)`, types that only SPIR-V has.
//!
//! The names are those of LLVM's reference for the SPIR-V target. `NAME` is the instruction without
//! `OpType`. The types, then the integers, are its operands in the order of the grammar's row:
//! literals stay literals, and ids become constants.

use super::translator::LlvmTranslator;
use crate::ir::{LlvmMetadata, LlvmType};
use crate::{LlvmError, LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::{Op, OperandCategory, OperandQuantifier, ResultForm};

/// The sources of a type's operands.
struct OpaqueTypeOperands<'a> {
    types: std::slice::Iter<'a, LlvmType>,
    ints: std::slice::Iter<'a, u32>,
    /// Nodes that replace the integers, as far as there are any.
    numbers: std::slice::Iter<'a, LlvmMetadata>,
}

impl LlvmTranslator<'_> {
    /// A type that only SPIR-V has.
    pub(super) fn target_type(
        &mut self,
        name: &str,
        types: &[LlvmType],
        ints: &[u32],
    ) -> LlvmResult<Id> {
        self.target_type_with(name, types, ints, &[])
    }

    /// The same with operands that are stated separately because they can be specialised. One
    /// number more than there are operands makes the type distinct.
    pub(super) fn target_type_with(
        &mut self,
        name: &str,
        types: &[LlvmType],
        ints: &[u32],
        numbers: &[LlvmMetadata],
    ) -> LlvmResult<Id> {
        let unknown = || make_refusal(format!("the type target(\"{name}\") is not supported"));
        let short = name.strip_prefix("spirv.").ok_or_else(unknown)?;
        let mut parameters = OpaqueTypeOperands {
            types: types.iter(),
            ints: match numbers {
                [] => ints.iter(),
                _ => ints[..ints.len().saturating_sub(1)].iter(),
            },
            numbers: numbers.iter(),
        };
        // These two contain an image, whose operands take the place of the image.
        let image = matches!(short, "SampledImage" | "VmeImageINTEL");
        let row = if image || short == "SignedImage" {
            // Images of integers of known sign are the same SPIR-V type.
            "Image"
        } else {
            short
        };
        let id = self.make_opaque_type(row, &mut parameters, &unknown)?;
        if parameters.types.next().is_some() || parameters.ints.next().is_some() {
            return Err(make_refusal(format!(
                "the type target(\"{name}\") has more parameters than SPIR-V's"
            )));
        }
        Ok(if image {
            self.b
                .declare_type(type_op(short).ok_or_else(unknown)?, &[id.word()])
        } else {
            id
        })
    }

    fn make_opaque_type(
        &mut self,
        name: &str,
        parameters: &mut OpaqueTypeOperands<'_>,
        unknown: &dyn Fn() -> Box<LlvmError>,
    ) -> LlvmResult<Id> {
        let op = type_op(name).ok_or_else(unknown)?;
        let Some(row) = op.info().filter(|row| row.result == ResultForm::Untyped) else {
            return Err(unknown());
        };
        let mut words = Vec::new();
        let last = row.operands[1..].last();
        let more = last.filter(|last| last.quantifier == OperandQuantifier::Many);
        let operands = row.operands[1..].iter().chain(more.into_iter().cycle());
        for operand in operands {
            let word = match operand.kind.info().category {
                OperandCategory::Id => match parameters.types.next() {
                    Some(ty) => Some(self.register_type(*ty)?.word()),
                    None => match (parameters.ints.next(), parameters.numbers.next()) {
                        (Some(_), Some(number)) => Some(self.specialised_number(*number)?.word()),
                        (int, _) => int.map(|int| self.make_u32(*int).word()),
                    },
                },
                _ => parameters.ints.next().copied(),
            };
            match (word, operand.quantifier) {
                (Some(word), _) => words.push(word),
                (None, OperandQuantifier::One) => {
                    return Err(make_refusal(format!(
                        "the type target(\"spirv.{name}\") has fewer parameters than SPIR-V's"
                    )));
                }
                (None, _) => break,
            }
        }
        Ok(self.b.declare_type(op, &words))
    }
}

fn type_op(name: &str) -> Option<Op> {
    Op::by_name(&format!("Type{name}"))
}
