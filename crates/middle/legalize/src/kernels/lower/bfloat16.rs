//! bfloat16: floats that are the upper halves of 32-bit floats.
//!
//! Few devices have them, so they become 16-bit integers. They are widened by a shift, computed with as 32-bit floats, and rounded to
//! nearest even.
//!
//! ```text
//! %y = OpFConvert %float %x
//! ```
//! becomes
//! ```text
//! %wide = OpUConvert %uint %x
//! %bits = OpShiftLeftLogical %uint %wide %sixteen
//! %y = OpBitcast %float %bits
//! ```

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::FPRoundingMode as Mode;
use spirula_spirv::ir::InstRef;

const SINGLE: MemoryScalar = MemoryScalar::Float(32);

/// Instructions on bfloat16 besides arithmetic.
const TAKEN: &[Op] = &[
    Op::Load,
    Op::Store,
    Op::Phi,
    Op::Select,
    Op::CopyObject,
    Op::FConvert,
    Op::Bitcast,
    Op::Undef,
    Op::CompositeConstruct,
    Op::CompositeExtract,
    Op::CompositeInsert,
    Op::VectorShuffle,
    Op::VectorExtractDynamic,
    Op::VectorInsertDynamic,
    Op::AtomicLoad,
    Op::AtomicStore,
    Op::AtomicExchange,
    Op::AtomicFAddEXT,
    Op::AtomicFMinEXT,
    Op::AtomicFMaxEXT,
];

/// Whether an instruction is computed in 32-bit floats: arithmetic and comparisons.
fn is_computed(op: Op) -> bool {
    op.is_float_arithmetic()
        || op.is_float_comparison()
        || matches!(op, Op::FNegate | Op::IsNan | Op::IsInf)
}

impl ShaderLowering<'_> {
    fn is_bfloat16(&self, value: Id) -> bool {
        matches!(
            self.find_component_scalar(value),
            Ok((MemoryScalar::Bfloat16, _))
        )
    }

    /// Refuses instructions that are not supported for bfloat16.
    pub fn check_bfloat16(&self, inst: InstRef<'_>) -> Result<(), SourceDiagnostic> {
        if TAKEN.contains(&inst.op()) || is_computed(inst.op()) {
            return Ok(());
        }
        let mut ids = Vec::new();
        self.info.ids.visit_uses(inst, |_, id| ids.push(id));
        ids.extend(inst.result());
        if ids.iter().any(|id| self.is_bfloat16(*id)) {
            let text = format!("{} of brain floats", inst.op());
            Err(crate::error::diagnose_instruction(inst, &text))
        } else {
            Ok(())
        }
    }

    /// Widens a bfloat16 to a 32-bit float.
    pub fn widen_bfloat16(&mut self, value: Id) -> Id {
        let word = self.make_int_type(32);
        let wide = self.resize_int(value, 16, 32);
        let sixteen = self.make_uint_constant(32, 16);
        let bits = self.emit_value(Op::ShiftLeftLogical, word, &[wide, sixteen]);
        self.bitcast_scalar(bits, MemoryScalar::Int(32), SINGLE)
    }

    /// Rounds a 32-bit float to the nearest bfloat16, ties to even.
    pub fn round_to_bfloat16(&mut self, value: Id) -> Id {
        let (word, truth) = (self.make_int_type(32), self.b.bool_type());
        let bits = self.bitcast_scalar(value, SINGLE, MemoryScalar::Int(32));
        let [sixteen, one, half, quiet] =
            [16, 1, 0x7fff, 0x40].map(|number| self.make_uint_constant(32, number));
        let upper = self.emit_value(Op::ShiftRightLogical, word, &[bits, sixteen]);
        let odd = self.emit_value(Op::BitwiseAnd, word, &[upper, one]);
        let sum = self.emit_value(Op::IAdd, word, &[bits, half]);
        let sum = self.emit_value(Op::IAdd, word, &[sum, odd]);
        let rounded = self.emit_value(Op::ShiftRightLogical, word, &[sum, sixteen]);
        let nan = self.emit_value(Op::BitwiseOr, word, &[upper, quiet]);
        let is_nan = self.emit_value(Op::IsNan, truth, &[value]);
        let chosen = self.emit_value(Op::Select, word, &[is_nan, nan, rounded]);
        self.resize_int(chosen, 32, 16)
    }

    /// Computes a bfloat16 by an operation on 32-bit floats.
    pub fn compute_in_singles(
        &mut self,
        v: &[Id],
        make: impl FnOnce(&mut Self, &[Id]) -> Id,
    ) -> Id {
        let singles: Vec<Id> = v.iter().map(|v| self.widen_bfloat16(*v)).collect();
        let made = make(self, &singles);
        self.round_to_bfloat16(made)
    }
}

/// Arithmetic on bfloat16; `None` for other operands.
pub fn lower_bfloat_arithmetic(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Option<Result<Id, SourceDiagnostic>> {
    let op = inst.op();
    if !is_computed(op) || !l.is_bfloat16(inst.id_operand(0)) {
        return None;
    }
    let gives_bfloat16 = l.is_bfloat16(expect_result(inst));
    let operands: Vec<Id> = inst.id_operands(0).collect();
    let single = l.make_scalar_type(SINGLE);
    Some(l.each_scalar(inst, &operands, |l, ty, v| {
        if gives_bfloat16 {
            l.compute_in_singles(v, |l, v| l.emit_value(op, single, v))
        } else {
            let singles: Vec<Id> = v.iter().map(|v| l.widen_bfloat16(*v)).collect();
            l.emit_value(op, ty, &singles)
        }
    }))
}

/// `OpFConvert` from or to bfloat16; `None` where neither is.
pub fn lower_bfloat_conversion(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
    mode: Option<Mode>,
) -> Option<Result<Id, SourceDiagnostic>> {
    let operand = inst.id_operand(0);
    let (from, to) = (
        l.find_component_scalar(operand).ok()?.0,
        l.find_component_scalar(expect_result(inst)).ok()?.0,
    );
    if from != MemoryScalar::Bfloat16 && to != MemoryScalar::Bfloat16 {
        return None;
    }
    if to == MemoryScalar::Bfloat16 && mode.is_some_and(|mode| mode != Mode::RTE) {
        let text = "a conversion to brain floats that does not round to nearest";
        return Some(Err(crate::error::diagnose_instruction(inst, text)));
    }
    Some(l.each_scalar(inst, &[operand], |l, ty, v| {
        let single = match from {
            MemoryScalar::Bfloat16 => l.widen_bfloat16(v[0]),
            SINGLE => v[0],
            MemoryScalar::Float(64) => l.single_to_odd(v[0]),
            _ => {
                let single = l.make_scalar_type(SINGLE);
                l.emit_value(Op::FConvert, single, v)
            }
        };
        match to {
            MemoryScalar::Bfloat16 => l.round_to_bfloat16(single),
            SINGLE => single,
            _ => l.emit_value(Op::FConvert, ty, &[single]),
        }
    }))
}

/// `OpConvertBF16ToFINTEL`, from integers.
pub fn of_bits(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.each_scalar(inst, &[inst.id_operand(0)], |l, _, v| {
        l.widen_bfloat16(v[0])
    })
}

/// `OpConvertFToBF16INTEL`, to integers.
pub fn as_bits(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    l.each_scalar(inst, &[inst.id_operand(0)], |l, _, v| {
        l.round_to_bfloat16(v[0])
    })
}
