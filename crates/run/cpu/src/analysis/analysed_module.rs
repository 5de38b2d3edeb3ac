//! Analysed module: a typed module with the functions that its entry point reaches.

use super::liveness::compute_liveness;
use super::promoted_variables::promote_variables;
use super::reached_functions::ReachedFunctions;
use crate::module::entry_point::EntrySelector;
use crate::module::typed_module::TypedModule;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::ir::SpirvModule;
use std::ops::Deref;

/// A typed module and the analyses of its functions. The lowering starts from it.
pub(crate) struct AnalysedModule<'a> {
    typed: TypedModule<'a>,
    /// The functions that the entry point reaches.
    pub functions: ReachedFunctions,
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
        Ok(AnalysedModule { typed, functions })
    }
}
