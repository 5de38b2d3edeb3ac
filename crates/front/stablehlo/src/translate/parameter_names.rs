//! Names of the parameters of an entry point.
//!
//! JAX names a parameter by its path in the argument, such as `params['w']`: in the location of the argument, or in an
//! attribute. Where shapes are symbolic, the entry point checks them and calls a function that has the names.

use crate::mlir::{AttributeKind, LocationKind, MlirBlock, MlirModule, MlirOp, MlirValue};
use std::collections::{HashMap, HashSet};

/// The attribute by which some releases of JAX name a parameter.
const NAME_ATTRIBUTE: &str = "jax.arg_info";

/// The attribute of a parameter that JAX adds, such as the number of a platform.
const CONSTANT_ATTRIBUTE: &str = "jax.global_constant";

/// The operation of a call.
const CALL: &str = "func.call";

/// The names of all parameters of a function. Parameters without a name of their own are called `arg0`, `arg1` and so
/// on by their positions. So are those with the name of an earlier one.
pub fn name_parameters(module: &MlirModule, function: MlirOp) -> Vec<String> {
    let given = read_names(module, function);
    let mut used: HashSet<String> = given.iter().flatten().cloned().collect();
    let mut first = HashSet::new();
    let names = given.into_iter().enumerate().map(|(at, name)| {
        if let Some(name) = name.filter(|name| first.insert(name.clone())) {
            return name;
        }
        let mut name = format!("arg{at}");
        while !used.insert(name.clone()) {
            name.push('_');
        }
        name
    });
    names.collect()
}

/// The names that a function or its callees give to its parameters.
fn read_names(module: &MlirModule, function: MlirOp) -> Vec<Option<String>> {
    let mut names = read_own_names(module, function);
    let Some(body) = find_body(module, function) else {
        return names;
    };
    let parameters = module.arguments(body).enumerate();
    let positions: HashMap<MlirValue, usize> = parameters.map(|(at, p)| (p, at)).collect();
    let calls = module.ops(body).iter().copied();
    for call in calls.filter(|op| module.op_name(*op) == CALL) {
        let callee = module.find_attribute(call, "callee");
        let callee = callee.and_then(|callee| match module.attributes.kind(callee) {
            AttributeKind::SymbolRef(path) => path.last(),
            _ => None,
        });
        let callee = callee.and_then(|name| module.find_function(module.symbol_text(*name)));
        let inner = callee.map_or_else(Vec::new, |callee| read_own_names(module, callee));
        for (operand, inner) in module.operands(call).iter().zip(inner) {
            if let Some(at) = positions.get(operand)
                && names[*at].is_none()
            {
                names[*at] = inner;
            }
        }
    }
    names
}

/// The names that attributes and locations of a function have.
fn read_own_names(module: &MlirModule, function: MlirOp) -> Vec<Option<String>> {
    let attributes = module.find_list(function, "arg_attrs");
    let Some(body) = find_body(module, function) else {
        return Vec::new();
    };
    let parameters = module.arguments(body).enumerate();
    let names = parameters.map(|(at, parameter)| {
        let attributes = attributes.get(at);
        let attributes = attributes.map(|attributes| module.attributes.kind(*attributes));
        let named = attributes.and_then(|attributes| find_name_attribute(module, attributes));
        named.or_else(|| find_name_of_location(module, parameter))
    });
    names.collect()
}

fn find_body(module: &MlirModule, function: MlirOp) -> Option<MlirBlock> {
    let region = module.regions(function).next()?;
    module.blocks(region).first().copied()
}

/// The name among the attributes of a parameter.
fn find_name_attribute(module: &MlirModule, attributes: &AttributeKind) -> Option<String> {
    let AttributeKind::Dictionary(named) = attributes else {
        return None;
    };
    let find = |wanted: &str| {
        let mut named = named.iter();
        let (_, name) = named.find(|(key, _)| module.symbol_text(*key) == wanted)?;
        match module.attributes.kind(*name) {
            AttributeKind::String(text) => Some(module.symbol_text(*text).to_owned()),
            _ => None,
        }
    };
    find(NAME_ATTRIBUTE).or_else(|| find(CONSTANT_ATTRIBUTE))
}

/// The name of the location of a parameter.
fn find_name_of_location(module: &MlirModule, parameter: MlirValue) -> Option<String> {
    let location = module.argument_location(parameter);
    match module.locations.kind(location) {
        LocationKind::Name { name, .. } => Some(module.symbol_text(*name).to_owned()),
        _ => None,
    }
}
