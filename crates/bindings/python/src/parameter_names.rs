//! Names that authors of tensor programs gave to parameters.

use spirula_stablehlo::mlir::{AttributeKind, LocationKind, MlirLoc, MlirModule};

/// The function that is the entry point, unless another is asked for.
const MAIN: &str = "main";

/// The attribute by which some releases of JAX name a parameter.
const NAME_ATTRIBUTE: &str = "jax.arg_info";

/// The names of the parameters of a function of StableHLO: those of attributes, or of locations, such as `params['w']`. Other
/// sources have none here.
pub fn read_parameter_names(source: &[u8], function: Option<&str>) -> Vec<Option<String>> {
    let Ok(module) = spirula_stablehlo::read_module(source) else {
        return Vec::new();
    };
    let Some(function) = module.find_function(function.unwrap_or(MAIN)) else {
        return Vec::new();
    };
    let attributes = module.find_attribute(function, "arg_attrs");
    let attributes = match attributes.map(|attributes| module.attributes.kind(attributes)) {
        Some(AttributeKind::Array(attributes)) => &**attributes,
        _ => &[],
    };
    let body = module.regions(function).next();
    let Some(entry) = body.and_then(|body| module.blocks(body).first()) else {
        return Vec::new();
    };
    let parameters = module.arguments(*entry).enumerate();
    let names = parameters.map(|(at, parameter)| {
        let attributes = attributes.get(at);
        let named = attributes.and_then(|attributes| {
            find_name_attribute(&module, module.attributes.kind(*attributes))
        });
        let loc = module.argument_location(parameter);
        named.or_else(|| find_name_of_location(&module, loc))
    });
    names.collect()
}

/// The name among the attributes of a parameter.
fn find_name_attribute(module: &MlirModule, attributes: &AttributeKind) -> Option<String> {
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

/// The name of a location.
fn find_name_of_location(module: &MlirModule, loc: MlirLoc) -> Option<String> {
    match module.locations.kind(loc) {
        LocationKind::Name { name, .. } => Some(module.symbol_text(*name).to_owned()),
        _ => None,
    }
}
