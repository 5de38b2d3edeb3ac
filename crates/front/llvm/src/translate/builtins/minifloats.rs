//! Minifloats: conversions from and to floats of 8 and 4 bits.
//!
//! The functions `__builtin_spirv_ConvertFROMToTO` take and return such floats as integers of their
//! bits. They belong to the extensions SPV_EXT_float8 and SPV_EXT_ocp_microscaling_types.

use crate::translate::call_rules::ExternalCall;
use crate::translate::function_body::FunctionTranslator;
use crate::translate::shapes::{NumericElement, NumericShape};
use crate::{LlvmResult, make_refusal};
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::FPEncoding;

/// Formats with their width and encoding. Formats that LLVM has as types have no encoding.
const FORMATS: &[(&str, u32, Option<FPEncoding>)] = &[
    ("FP16", 16, None),
    ("BF16", 16, None),
    ("E4M3", 8, Some(FPEncoding::Float8E4M3EXT)),
    ("E5M2", 8, Some(FPEncoding::Float8E5M2EXT)),
    ("E2M1", 4, Some(FPEncoding::Float4E2M1EXT)),
];

/// `ConvertFROMToTO(x)`
pub(super) fn lower_minifloat_conversion(
    body: &mut FunctionTranslator<'_, '_>,
    call: &ExternalCall<'_>,
) -> LlvmResult<Option<Id>> {
    let unknown = || make_refusal("there is no such conversion");
    let name = call.name.strip_prefix("__builtin_spirv_Convert");
    let name = name.ok_or_else(unknown)?;
    let name = name.strip_suffix("EXT").or(name.strip_suffix("INTEL"));
    let (from, to) = name.and_then(|n| n.split_once("To")).ok_or_else(unknown)?;
    let [Some(from), Some(to)] = [from, to].map(|n| FORMATS.iter().find(|row| row.0 == n)) else {
        return Err(unknown());
    };
    let value = call.arg(0)?;
    let shape = body.shape_of(value)?;
    let mut id = body.lower_value(value)?;
    if let Some(encoding) = from.2 {
        require_format_bits(shape, from.1)?;
        if from.1 < shape.width {
            let ty = body.lanes_of(from.1, shape);
            id = body.emit_op(Op::UConvert, ty, [id]);
        }
        let ty = body.small_float(from.1, encoding, shape);
        id = body.emit_op(Op::Bitcast, ty, [id]);
    }
    let result = body.result_shape(call.inst)?;
    let Some(encoding) = to.2 else {
        let ty = body.t.shape_type(result);
        return Ok(Some(body.emit_op(Op::FConvert, ty, [id])));
    };
    require_format_bits(result, to.1)?;
    let ty = body.small_float(to.1, encoding, result);
    id = body.emit_op(Op::FConvert, ty, [id]);
    let ty = body.lanes_of(to.1, result);
    id = body.emit_op(Op::Bitcast, ty, [id]);
    if to.1 < result.width {
        let ty = body.t.shape_type(result);
        id = body.emit_op(Op::UConvert, ty, [id]);
    }
    Ok(Some(id))
}

/// Refuses a shape that is not the bits of a format.
fn require_format_bits(shape: NumericShape, width: u32) -> LlvmResult<()> {
    match (shape.elem, shape.bits) {
        (NumericElement::Int, bits) if bits == width => Ok(()),
        _ => Err(make_refusal(format!(
            "the bits of a float of {width} bits are not those of an integer"
        ))),
    }
}

impl FunctionTranslator<'_, '_> {
    /// Integers of a width, as many as a shape has lanes.
    fn lanes_of(&mut self, width: u32, shape: NumericShape) -> Id {
        let scalar = self.t.b.int_type(width, false);
        self.vector_of(scalar, shape)
    }

    fn small_float(&mut self, width: u32, encoding: FPEncoding, shape: NumericShape) -> Id {
        let scalar = self.t.b.declare_type(Op::TypeFloat, &[width, encoding.0]);
        self.vector_of(scalar, shape)
    }

    fn vector_of(&mut self, scalar: Id, shape: NumericShape) -> Id {
        match shape.padded {
            1 => scalar,
            lanes => self.t.b.vector_type(scalar, lanes),
        }
    }
}
