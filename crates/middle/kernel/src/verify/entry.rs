//! Verification of entry points (rule 11).

use super::KernelVerifier;
use crate::ir::{
    ArrayDimension, EntryDecl, EntryDeclValue, EntryKind, MemorySpace, PlainValue, VarId,
    VariableType,
};
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::ScalarType;

impl KernelVerifier<'_> {
    pub(super) fn verify_entry(&mut self, entry: &EntryDecl) -> Result<(), SourceDiagnostic> {
        let function = self.program.function(entry.function);
        self.place = function.place;
        for parameter in &entry.parameters {
            self.verify_entry_value(&parameter.value, &[&function.inputs])?;
        }
        for result in &entry.results {
            self.verify_entry_value(result, &[&function.outputs, &function.inputs])?;
        }
        Ok(())
    }

    fn verify_entry_value(
        &self,
        value: &EntryDeclValue,
        vars: &[&[VarId]],
    ) -> Result<(), SourceDiagnostic> {
        let parts = match &value.kind {
            EntryKind::Plain(plain) => std::slice::from_ref(plain),
            EntryKind::Opaque(_, parts) => parts,
        };
        parts
            .iter()
            .try_for_each(|part| self.verify_plain_value(part, vars))
    }

    fn verify_plain_value(
        &self,
        value: &PlainValue,
        vars: &[&[VarId]],
    ) -> Result<(), SourceDiagnostic> {
        let known = |var: &VarId| vars.iter().any(|list| list.contains(var));
        let globals = &self.program.globals;
        let fits = match (&value.shape, self.program.var(value.var).ty) {
            (None, VariableType::Scalar(ty)) => ty == value.element,
            (Some(_), VariableType::Memory(MemorySpace::Device)) => true,
            _ => false,
        };
        self.require_rule(11, fits && known(&value.var), || {
            format!(
                "%{} is no input or output of the function with this type",
                self.var_name(value.var)
            )
        })?;
        for size in value.shape.iter().flatten() {
            if let ArrayDimension::Var(var) = size {
                let is_size = self.program.scalar_type(*var) == Some(ScalarType::I64)
                    && (known(var) || globals.contains(var));
                self.require_rule(11, is_size, || {
                    format!("%{} is no size", self.var_name(*var))
                })?;
            }
        }
        Ok(())
    }
}
