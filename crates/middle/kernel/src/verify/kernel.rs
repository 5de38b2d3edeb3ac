//! Verification of kernels and their launches (rules 6, 8 and 9).

use super::KernelVerifier;
use crate::captures::find_missing_captures;
use crate::ir::{BlockSize, KernelCapture, KernelData, KernelId, MemorySpace};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;

impl KernelVerifier<'_> {
    pub(super) fn verify_kernel(&mut self, kernel: KernelId) -> Result<(), SourceDiagnostic> {
        let missing = find_missing_captures(self.program, kernel);
        self.require_rule(6, missing.is_empty(), || {
            let name = missing.first().map_or("", |var| self.var_name(*var));
            format!("a function of the kernel sees %{name}, which the kernel does not use")
        })?;
        let kernel = self.program.kernel(kernel);
        let ranks = (kernel.blocks.len(), kernel.block_size.len());
        self.require_rule(8, ranks.0 == ranks.1 && (1..=3).contains(&ranks.0), || {
            format!("{} dimensions and {} block sizes", ranks.0, ranks.1)
        })?;
        for size in &kernel.blocks {
            self.verify_expr_type(*size, ScalarType::I64)?;
        }
        for size in &kernel.block_size {
            self.verify_expr_type(size.size_expr(), ScalarType::I64)?;
            if let BlockSize::Constant(size) = size {
                self.verify_constant(*size)?;
            }
        }
        self.verify_kernel_body(kernel)
    }

    fn verify_kernel_body(&mut self, kernel: &KernelData) -> Result<(), SourceDiagnostic> {
        let mut seen = Vec::new();
        for used in &kernel.captures {
            match *used {
                KernelCapture::Scalar(var) => {
                    self.verify_visible(var)?;
                    self.require_rule(6, self.program.scalar_type(var).is_some(), || {
                        format!("%{} is no scalar", self.var_name(var))
                    })?;
                    seen.push((var, false));
                }
                KernelCapture::Memory(var) => {
                    self.verify_memory(var, &[MemorySpace::Device])?;
                    seen.push((var, false));
                }
                KernelCapture::Constant(var, value) => {
                    let ty = self.verify_expr(value)?;
                    self.verify_constant(value)?;
                    let fits = self.program.scalar_type(var) == Some(ty);
                    self.require_rule(4, fits, || format!("%{} is not {ty}", self.var_name(var)))?;
                    seen.push((var, true));
                }
            }
        }
        // Variables of the host are invisible while the body is checked.
        let outer = std::mem::take(&mut self.bound);
        for var in &outer {
            self.visible[var.index()] = false;
        }
        for (var, is_constant) in seen {
            self.bind_var(var);
            self.constant[var.index()] = is_constant;
        }
        self.is_device = true;
        self.verify_block(kernel.body)?;
        self.is_device = false;
        self.unbind_to(0);
        for var in &outer {
            self.visible[var.index()] = true;
        }
        self.bound = outer;
        Ok(())
    }
}
