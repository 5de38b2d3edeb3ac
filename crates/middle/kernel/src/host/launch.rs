//! Launches, and the values of specialisation constants.

use super::context::HostStepLowering;
use super::sequential;
use crate::ir::{ExprId, KernelCapture, KernelData, KernelId, VarId};
use crate::lower::SpecValue;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::program::{HostRegister, HostStep, LaunchStep};
use spirula_program::{ScalarLiteral, ScalarOp};

impl HostStepLowering<'_> {
    pub(super) fn lower_launch(&mut self, kernel: KernelId) -> Result<(), SourceDiagnostic> {
        let program = self.program;
        if self.lowered[kernel.index()].is_err() && sequential::is_for_host(program, kernel) {
            return self.lower_sequential_kernel(kernel);
        }
        let data = program.kernel(kernel);
        let groups = self.lower_exprs(&data.blocks)?;
        let (mut scalars, mut memories, mut seen) = (Vec::new(), Vec::new(), Vec::new());
        for used in &data.captures {
            match *used {
                KernelCapture::Scalar(var) => {
                    scalars.push(self.scalar_register(var)?);
                    seen.push(var);
                }
                KernelCapture::Memory(var) => memories.push(self.memory_reference(var)?),
                KernelCapture::Constant(var, value) => {
                    let value = self.lower_expr(value)?;
                    let to = self.scalar_register(var)?;
                    self.push_step(HostStep::Move(to, value));
                    seen.push(var);
                }
            }
        }
        let mut constants = Vec::new();
        if let Ok(lowered) = &self.lowered[kernel.index()] {
            for constant in &lowered.constants {
                constants.push(self.lower_spec_value(constant, data, &seen)?);
            }
        }
        self.push_step(HostStep::Launch(Box::new(LaunchStep {
            kernel: self.kernel_ids[kernel.index()],
            groups,
            constants,
            scalars,
            memories,
        })));
        Ok(())
    }

    /// The value of a specialisation constant of a kernel; `seen` are the scalars that the kernel captures.
    fn lower_spec_value(
        &mut self,
        constant: &SpecValue,
        kernel: &KernelData,
        seen: &[VarId],
    ) -> Result<HostRegister, SourceDiagnostic> {
        match constant {
            SpecValue::BlockSize(at) => self.lower_expr(kernel.block_size[*at].size_expr()),
            SpecValue::Value(expr) => self.lower_expr(*expr),
            SpecValue::Product(sizes) => {
                let mut product = self.set_literal(ScalarLiteral::from_i64(1));
                for size in sizes {
                    let size = self.lower_known_size(*size, seen)?;
                    product = self.apply_i64_op(ScalarOp::Mul, product, size);
                }
                Ok(self.at_least_one(product))
            }
            SpecValue::Shared {
                bytes,
                more,
                size,
                least,
            } => {
                let mut sum = self.set_literal(ScalarLiteral::from_i64(*more as i64));
                for bytes in bytes {
                    let bytes = self.lower_known_size(*bytes, seen)?;
                    let whole = self.round_up_to_16(bytes);
                    sum = self.apply_i64_op(ScalarOp::Add, sum, whole);
                }
                let size = self.set_literal(ScalarLiteral::from_i64(*size as i64));
                let elements = self.apply_i64_op(ScalarOp::SQuot, sum, size);
                Ok(match least {
                    0 => elements,
                    _ => self.at_least_one(elements),
                })
            }
        }
    }

    fn round_up_to_16(&mut self, bytes: HostRegister) -> HostRegister {
        let fifteen = self.set_literal(ScalarLiteral::from_i64(15));
        let mask = self.set_literal(ScalarLiteral::from_i64(-16));
        let above = self.apply_i64_op(ScalarOp::Add, bytes, fifteen);
        self.apply_i64_op(ScalarOp::And, above, mask)
    }

    fn at_least_one(&mut self, value: HostRegister) -> HostRegister {
        let one = self.set_literal(ScalarLiteral::from_i64(1));
        self.apply_i64_op(ScalarOp::SMax, value, one)
    }

    /// The value of a size within a kernel. It may depend only on the scalars that the kernel captures.
    fn lower_known_size(
        &mut self,
        expr: ExprId,
        seen: &[VarId],
    ) -> Result<HostRegister, SourceDiagnostic> {
        let mut is_known = true;
        self.program
            .each_var(expr, &mut |var| is_known &= seen.contains(&var));
        if is_known {
            self.lower_expr(expr)
        } else {
            Err(self.unsupported_diagnostic("memory of a size that is not known at the launch"))
        }
    }
}
