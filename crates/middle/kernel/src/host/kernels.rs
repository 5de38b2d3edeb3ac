//! The kernels of a compiled program.

use crate::lower::LoweredKernel;
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_program::program::ProgramKernel;
use spirula_spirv::ir::SpirvModule;

/// Removes duplicate kernels; returns the kernels and, for each kernel of the program, its index among them. Layers
/// of a model repeat their kernels, which a device would otherwise compile again each time.
pub(super) fn deduplicate_kernels(
    lowered: &[Result<LoweredKernel, SourceDiagnostic>],
) -> (Vec<ProgramKernel>, Vec<usize>) {
    let mut kernels: Vec<ProgramKernel> = Vec::new();
    let mut ids = Vec::new();
    let mut known: FxHashMap<Result<SpirvModule, String>, usize> = FxHashMap::default();
    for lowered in lowered {
        let kernel = to_program_kernel(lowered);
        let equal = known
            .get(&kernel.module)
            .filter(|id| kernels[**id] == kernel);
        let id = match equal {
            Some(id) => *id,
            None => {
                known.insert(kernel.module.clone(), kernels.len());
                kernels.push(kernel);
                kernels.len() - 1
            }
        };
        ids.push(id);
    }
    (kernels, ids)
}

fn to_program_kernel(lowered: &Result<LoweredKernel, SourceDiagnostic>) -> ProgramKernel {
    match lowered {
        Ok(lowered) => ProgramKernel {
            module: Ok(lowered.module.clone()),
            laid_out: lowered.laid_out.clone(),
            scalars: lowered
                .scalars
                .iter()
                .map(|(_, ty, at)| (*at, *ty))
                .collect(),
            scalar_bytes: lowered.scalar_bytes,
            scalars_in_buffer: lowered.scalars_in_buffer,
            uses_failures: lowered.uses_failures,
            can_fail: lowered.can_fail,
            reach: lowered.reach.clone(),
        },
        Err(fault) => ProgramKernel {
            module: Err(fault.message.clone()),
            laid_out: None,
            scalars: Vec::new(),
            scalar_bytes: 4,
            scalars_in_buffer: false,
            uses_failures: false,
            can_fail: false,
            reach: Vec::new(),
        },
    }
}
