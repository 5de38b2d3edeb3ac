//! Sums with their carry, differences with their borrow, products in two halves.
//!
//! OpenCL has them of every width and of vectors; Vulkan's drivers know them of 32 bits, so that only
//! products of that width are the instruction. The rest is computed:
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
use super::composites::result;
use crate::facts::MemoryScalar;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

/// `OpIAddCarry`, `OpISubBorrow`, `OpUMulExtended` and `OpSMulExtended`.
pub fn pair(l: &mut ShaderLowering<'_>, inst: InstRef<'_>) -> Result<Id, SourceDiagnostic> {
    let source = inst.result_type().unwrap_or(result(inst));
    let (scalar, _) = l.scalars(inst.id(0))?;
    let part = l.scalar(scalar);
    let [a, b] = [l.lanes_of(inst.id(0))?, l.lanes_of(inst.id(1))?];
    let lanes = a
        .iter()
        .zip(&b)
        .map(|(a, b)| l.halves(inst.op(), scalar, part, [*a, *b]));
    let (low, high): (Vec<Id>, Vec<Id>) = lanes.collect();
    let ty = l.ty(source)?;
    let half = l.facts.def(source)?.id(0);
    let half = l.ty(half)?;
    let parts = [low, high].map(|lanes| l.construct(half, lanes));
    Ok(l.construct(ty, parts.to_vec()))
}

impl ShaderLowering<'_> {
    /// The lower and the upper half of what an operation on two scalars gives.
    fn halves(&mut self, op: Op, scalar: MemoryScalar, ty: Id, v: [Id; 2]) -> (Id, Id) {
        let (truth, width) = (self.b.bool(), scalar.size() * 8);
        let single = match op {
            Op::IAddCarry => Op::IAdd,
            Op::ISubBorrow => Op::ISub,
            _ => Op::IMul,
        };
        let low = self.op(single, ty, &v);
        let is_carried = match op {
            Op::IAddCarry => [low, v[0]],
            Op::ISubBorrow => v,
            _ => return (low, self.high_product(&v, scalar, op == Op::SMulExtended)),
        };
        let is_carried = self.op(Op::ULessThan, truth, &is_carried);
        let (one, zero) = (self.number(width, 1), self.number(width, 0));
        (low, self.op(Op::Select, ty, &[is_carried, one, zero]))
    }
}
