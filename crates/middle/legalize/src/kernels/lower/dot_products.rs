//! Integer dot products.
//!
//! Those of four bytes are instructions of SPIR-V 1.6 on words that pack the bytes, which every device with Vulkan 1.3 has. Others become
//! products that are added.

use super::ShaderLowering;
use super::composites::expect_result;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::PackedVectorFormat;
use spirula_spirv::grammar::{Op, SpirvVersion};
use spirula_spirv::ir::InstRef;

/// The version of SPIR-V that has dot products.
const NATIVE: SpirvVersion = SpirvVersion::new(1, 6);

impl ShaderLowering<'_> {
    /// A factor of four bytes as a word; `None` where it consists of something else.
    fn pack_factor(&mut self, factor: Id) -> Result<Option<Id>, SourceDiagnostic> {
        let (scalar, count) = self.find_component_scalar(factor)?;
        Ok(match [scalar.size(), count] {
            [4, 1] => Some(self.lower_operand(factor)?),
            [1, 4] => {
                let value = self.lower_operand(factor)?;
                let word = self.make_int_type(32);
                Some(self.emit_value(Op::Bitcast, word, &[value]))
            }
            _ => None,
        })
    }

    /// The components of a factor as integers of a width. A word packs four bytes.
    fn widen_factor(
        &mut self,
        factor: Id,
        is_signed: bool,
        width: u32,
    ) -> Result<Vec<Id>, SourceDiagnostic> {
        let (scalar, count) = self.find_component_scalar(factor)?;
        let mut lanes = self.lanes_of(factor)?;
        let from = scalar.size() * 8;
        if count == 1 {
            let (packed, word) = (lanes[0], self.make_int_type(32));
            let op = if is_signed {
                Op::BitFieldSExtract
            } else {
                Op::BitFieldUExtract
            };
            let bits = self.make_uint_constant(32, 8);
            lanes = (0..4)
                .map(|n| {
                    let offset = self.make_uint_constant(32, 8 * n);
                    self.emit_value(op, word, &[packed, offset, bits])
                })
                .collect();
        }
        if from == width {
            return Ok(lanes);
        }
        let ty = self.make_int_type(width);
        let op = if is_signed {
            Op::SConvert
        } else {
            Op::UConvert
        };
        let wide = lanes.iter().map(|lane| self.emit_value(op, ty, &[*lane]));
        Ok(wide.collect())
    }
}

/// `OpSDot`, `OpUDot`, `OpSUDot` and those whose sums saturate.
pub fn lower_dot_product(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let op = inst.op();
    let factors = [inst.id_operand(0), inst.id_operand(1)];
    let saturates = matches!(op, Op::SDotAccSat | Op::UDotAccSat | Op::SUDotAccSat);
    let before = match inst.get_id(2).filter(|_| saturates) {
        Some(before) => Some(l.lower_operand(before)?),
        None => None,
    };
    let (scalar, _) = l.find_component_scalar(expect_result(inst))?;
    let ty = l.make_scalar_type(scalar);
    if l.version >= NATIVE
        && scalar.size() == 4
        && let (Some(a), Some(b)) = (l.pack_factor(factors[0])?, l.pack_factor(factors[1])?)
    {
        let mut words = vec![a.word(), b.word()];
        words.extend(before.map(Id::word));
        words.push(PackedVectorFormat::PackedVectorFormat4x8Bit.0);
        return Ok(l.b.append_value(op, ty, &words));
    }
    let signs = match op {
        Op::SDot | Op::SDotAccSat => [true, true],
        Op::SUDot | Op::SUDotAccSat => [true, false],
        _ => [false, false],
    };
    let width = scalar.size() * 8;
    let a = l.widen_factor(factors[0], signs[0], width)?;
    let b = l.widen_factor(factors[1], signs[1], width)?;
    let products = a.iter().zip(&b);
    let products = products.map(|(a, b)| l.emit_value(Op::IMul, ty, &[*a, *b]));
    let products: Vec<Id> = products.collect();
    let sum = products
        .into_iter()
        .reduce(|sum, product| l.emit_value(Op::IAdd, ty, &[sum, product]));
    let sum = sum.ok_or_else(|| crate::error::diagnose_instruction(inst, "an empty vector"))?;
    Ok(match before {
        Some(before) => l.add_saturated(scalar, signs[0], [sum, before]),
        None => sum,
    })
}
