//! Analysed module: a typed module with the functions that its entry point reaches.

use super::liveness::compute_liveness;
use super::promoted_variables::promote_variables;
use super::reached_functions::ReachedFunctions;
use super::register_pressure::count_live_bytes;
use crate::module::entry_point::EntrySelector;
use crate::module::typed_module::TypedModule;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use std::ops::Deref;

/// Bytes of the floats of an invocation that fill all registers where it has a lane of each. Accumulators of loops do not count:
/// their kernels are scheduled for the largest width.
const CROWDED_BYTES: u64 = 80;

/// A typed module and the analyses of its functions. The lowering starts from it.
pub(crate) struct AnalysedModule<'a> {
    typed: TypedModule<'a>,
    /// The functions that the entry point reaches.
    pub functions: ReachedFunctions,
    /// Invocations of a gang; none where the workgroup size is no multiple of a gang width.
    pub gang_width: Option<usize>,
}

impl<'a> Deref for AnalysedModule<'a> {
    type Target = TypedModule<'a>;

    fn deref(&self) -> &TypedModule<'a> {
        &self.typed
    }
}

impl<'a> AnalysedModule<'a> {
    /// Analyses a module for the selected function; see [`TypedModule::new`].
    ///
    /// # Errors
    /// As [`TypedModule::new`] and [`ReachedFunctions::from_program`].
    pub fn new(
        module: &'a SpirvModule,
        start: EntrySelector<'_>,
        spec: &[(u32, u64)],
        subgroup_size: u32,
        gangs: bool,
    ) -> Result<AnalysedModule<'a>, SourceDiagnostic> {
        let typed = TypedModule::new(module, start, spec, subgroup_size, gangs)?;
        let mut functions = ReachedFunctions::from_program(&typed)?;
        let promoted = promote_variables(&typed, &mut functions);
        functions.set_promoted(promoted);
        for func in functions.bottom_up.clone() {
            if functions.get(func).suspends {
                let live = compute_liveness(&typed, &functions, func);
                functions.get_mut(func).live = live;
            }
        }
        let gang_width = choose_gang_width(&typed, &functions);
        Ok(AnalysedModule {
            typed,
            functions,
            gang_width,
        })
    }
}

/// The gang width of an entry point. A gang of the largest width has two vectors for each value of 32 bits.
fn choose_gang_width(typed: &TypedModule<'_>, functions: &ReachedFunctions) -> Option<usize> {
    let entry = typed.entry.func;
    let is_crowded = !functions.get(entry).has_loop()
        && count_live_bytes(typed, functions, entry) >= CROWDED_BYTES;
    if is_crowded {
        typed.entry.narrow_gang_width()
    } else {
        typed.entry.gang_width()
    }
}
