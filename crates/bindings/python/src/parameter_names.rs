//! Names that authors of tensor programs gave to parameters.

use spirula_stablehlo::mlir::{AttributeKind, MlirModule};

/// The function that is the entry point, unless another is asked for.
const MAIN: &str = "main";

/// The attribute of a parameter by which JAX names it.
const NAME_ATTRIBUTE: &str = "jax.arg_info";

/// The names of the parameters of a function of StableHLO. Other sources have none here.
pub fn read_parameter_names(source: &[u8], function: Option<&str>) -> Vec<Option<String>> {
    let Ok(module) = spirula_stablehlo::read_module(source) else {
        return Vec::new();
    };
    let function = module.find_function(function.unwrap_or(MAIN));
    let attributes = function.and_then(|function| module.find_attribute(function, "arg_attrs"));
    match attributes.map(|attributes| module.attributes.kind(attributes)) {
        Some(AttributeKind::Array(parameters)) => {
            let parameters = parameters.iter();
            parameters
                .map(|parameter| find_name(&module, module.attributes.kind(*parameter)))
                .collect()
        }
        _ => Vec::new(),
    }
}

/// The name among the attributes of a parameter.
fn find_name(module: &MlirModule, attributes: &AttributeKind) -> Option<String> {
    let AttributeKind::Dictionary(named) = attributes else {
        return None;
    };
    let mut named = named.iter();
    let (_, name) = named.find(|(key, _)| module.symbol_text(*key) == NAME_ATTRIBUTE)?;
    match module.attributes.kind(*name) {
        AttributeKind::String(text) => Some(module.symbol_text(*text).to_owned()),
        _ => None,
    }
}
