//! Signatures of entry points in the types of StableHLO.

use spirula_diagnostics::{SourceDiagnostic, SourceLocation};
use spirula_program::CompiledProgram;
use spirula_program::program::SourceTensorType;
use spirula_stablehlo::translate::{InterfaceTensor, ResultCheck};

/// Signature of an entry point in the types of StableHLO, with its checks.
#[derive(Clone, Debug, Default)]
pub struct TensorSignature {
    /// Its parameters.
    pub parameters: Vec<InterfaceTensor>,
    /// Its results, followed by those that only checks compare.
    pub results: Vec<InterfaceTensor>,
    /// Conditions that its results must satisfy.
    pub checks: Vec<ResultCheck>,
}

impl TensorSignature {
    /// Stores the types in a program. All entry points of the program have this signature.
    pub(crate) fn store_in_program(&self, program: &mut CompiledProgram) {
        for entry in &mut program.entries {
            let parameters = entry.parameters.iter_mut().zip(&self.parameters);
            parameters.for_each(|(p, interface)| p.tensor = Some(tensor_type(interface)));
            let results = entry.results.iter_mut().zip(&self.results);
            results.for_each(|(r, interface)| r.tensor = Some(tensor_type(interface)));
        }
    }

    /// The types that are stored in a program; `None` where there are none.
    pub(crate) fn read_from_program(
        program: &CompiledProgram,
    ) -> Result<Option<TensorSignature>, SourceDiagnostic> {
        let Some(entry) = program.entries.first() else {
            return Ok(None);
        };
        let parameters =
            collect_interface_tensors(entry.parameters.iter().map(|p| p.tensor.as_ref()))?;
        let results = collect_interface_tensors(entry.results.iter().map(|r| r.tensor.as_ref()))?;
        Ok(Some(TensorSignature {
            parameters,
            results,
            checks: Vec::new(),
        })
        .filter(|tensors| !tensors.parameters.is_empty() || !tensors.results.is_empty()))
    }
}

fn tensor_type(interface: &InterfaceTensor) -> SourceTensorType {
    SourceTensorType {
        element: interface.element.stored_element().to_string(),
        shape: interface.shape.clone(),
    }
}

fn collect_interface_tensors<'a>(
    types: impl Iterator<Item = Option<&'a SourceTensorType>>,
) -> Result<Vec<InterfaceTensor>, SourceDiagnostic> {
    let interface = |ty: &SourceTensorType| {
        Ok(InterfaceTensor {
            element: ty
                .element
                .parse()
                .map_err(|fault: String| SourceDiagnostic::error(SourceLocation::Unknown, fault))?,
            shape: ty.shape.clone(),
        })
    };
    types.map_while(|ty| ty).map(interface).collect()
}
