//! Extended arithmetic: sums with carry, differences with borrow, products in two halves.
//!
//! OpenCL has these instructions for every width and for vectors. Drivers of Vulkan support 32 bits, of which only products become the
//! instruction. All others are computed:
//!
//! ```text
//! %s = OpIAddCarry %pair %a %b
//! ```
//! becomes
//! ```text
//! %low = OpIAdd %long %a %b
//! %is = OpULessThan %bool %low %a
//! %high = OpSelect %long %is %one %zero
//! %s = OpCompositeConstruct %pair %low %high
//! ```

use super::ShaderLowering;
use super::composites::expect_result;
use crate::kernels::module_info::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// `OpIAddCarry`, `OpISubBorrow`, `OpUMulExtended` and `OpSMulExtended`.
pub fn lower_extended_arithmetic(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let source = inst.result_type().unwrap_or(expect_result(inst));
    let (scalar, _) = l.find_component_scalar(inst.id_operand(0))?;
    let part = l.make_scalar_type(scalar);
    let [a, b] = [
        l.lanes_of(inst.id_operand(0))?,
        l.lanes_of(inst.id_operand(1))?,
    ];
    let lanes = a
        .iter()
        .zip(&b)
        .map(|(a, b)| l.split_wide_result(inst.op(), scalar, part, [*a, *b]));
    let (low, high): (Vec<Id>, Vec<Id>) = lanes.collect();
    let ty = l.lower_type(source)?;
    let half = l.info.find_definition(source)?.id_operand(0);
    let half = l.lower_type(half)?;
    let parts = [low, high].map(|lanes| l.construct_composite(half, lanes));
    Ok(l.construct_composite(ty, parts.to_vec()))
}

impl ShaderLowering<'_> {
    /// The lower and the upper half of the result of an operation on two scalars.
    fn split_wide_result(&mut self, op: Op, scalar: MemoryScalar, ty: Id, v: [Id; 2]) -> (Id, Id) {
        let (truth, width) = (self.b.bool_type(), scalar.size() * 8);
        let single = match op {
            Op::IAddCarry => Op::IAdd,
            Op::ISubBorrow => Op::ISub,
            _ => Op::IMul,
        };
        let low = self.emit_value(single, ty, &v);
        let is_carried = match op {
            Op::IAddCarry => [low, v[0]],
            Op::ISubBorrow => v,
            _ => return (low, self.high_product(&v, scalar, op == Op::SMulExtended)),
        };
        let is_carried = self.emit_value(Op::ULessThan, truth, &is_carried);
        let (one, zero) = (
            self.make_uint_constant(width, 1),
            self.make_uint_constant(width, 0),
        );
        (
            low,
            self.emit_value(Op::Select, ty, &[is_carried, one, zero]),
        )
    }
}
