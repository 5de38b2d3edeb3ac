//! Shardings of the arguments and results of an entry point.

use super::layout::TensorSharding;
use super::propagation::find_result_shardings;
use super::text::read_sharding;
use super::xla_text::read_xla_sharding;
use crate::mlir::{AttributeKind, MlirAttr, MlirModule, MlirOp};
use spirula_diagnostics::SourceDiagnostic;

/// Attribute of an argument or result that has its sharding.
const SHARDING: &str = "sdy.sharding";

/// The attribute in programs that were made with Shardy off.
const XLA_SHARDING: &str = "mhlo.sharding";

/// The shardings of the arguments and results of an entry point, where they are given or follow from others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EntryShardings {
    /// Those of the arguments.
    pub parameters: Vec<Option<TensorSharding>>,
    /// Those of the results.
    pub results: Vec<Option<TensorSharding>>,
}

impl EntryShardings {
    /// Reads the shardings of a function.
    ///
    /// # Errors
    /// When there is no such function, or a sharding is malformed.
    pub fn read(module: &MlirModule, entry: &str) -> Result<EntryShardings, SourceDiagnostic> {
        let function = find_entry(module, entry)?;
        let given = EntryShardings::read_given(module, entry)?;
        let parameters = given.parameters;
        let mut results = find_result_shardings(module, function, &parameters);
        for (result, given) in results.iter_mut().zip(given.results) {
            if let Some(mut given) = given {
                if let Some(found) = result {
                    given.fill_open_dimensions(found);
                }
                *result = Some(given);
            }
        }
        Ok(EntryShardings {
            parameters,
            results,
        })
    }

    /// Reads the shardings that a function gives. Results without one have none, even if one follows from the arguments.
    ///
    /// # Errors
    /// Those of [`EntryShardings::read`].
    pub fn read_given(
        module: &MlirModule,
        entry: &str,
    ) -> Result<EntryShardings, SourceDiagnostic> {
        let function = find_entry(module, entry)?;
        Ok(EntryShardings {
            parameters: read_list(module, function, "arg_attrs")?,
            results: read_list(module, function, "res_attrs")?,
        })
    }
}

fn find_entry(module: &MlirModule, entry: &str) -> Result<MlirOp, SourceDiagnostic> {
    module.find_function(entry).ok_or_else(|| {
        let place = module.source_location(module.root());
        SourceDiagnostic::error(place, format!("there is no function @{entry}"))
    })
}

/// The sharding of each dictionary in a list of attributes.
fn read_list(
    module: &MlirModule,
    function: MlirOp,
    name: &str,
) -> Result<Vec<Option<TensorSharding>>, SourceDiagnostic> {
    let read = |attr: &MlirAttr| {
        let sharding = if let Some(sharding) = module.find_field(*attr, SHARDING) {
            read_sharding(module, sharding)
        } else if let Some(sharding) = module.find_field(*attr, XLA_SHARDING) {
            match module.attributes.kind(sharding) {
                AttributeKind::String(text) => read_xla_sharding(module.symbol_text(*text)),
                _ => None,
            }
        } else {
            return Ok(None);
        };
        let sharding = sharding.ok_or_else(|| {
            let place = module.source_location(function);
            SourceDiagnostic::error(place, format!("a sharding in `{name}` is malformed"))
        })?;
        Ok(Some(sharding))
    };
    module.find_list(function, name).iter().map(read).collect()
}
