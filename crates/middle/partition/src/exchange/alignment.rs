//! Entry points whose arguments and results lie on meshes with the devices in another order than that of the program.

use spirula_stablehlo::mlir::MlirModule;
use spirula_stablehlo::sharding::{DeviceMesh, EntryShardings, TensorSharding};

/// The moves of parts between devices at the boundary of a program: pairs of a source and a target, where there are any.
#[derive(Clone, Debug, Default)]
pub struct EntryMoves {
    pub(super) parameters: Vec<Option<Vec<i64>>>,
    pub(super) results: Vec<Option<Vec<i64>>>,
}

impl EntryMoves {
    /// Gives all shardings of an entry point the program's order of devices. It is that of the body, or of the first
    /// argument that has one. Parts then have to move.
    pub fn align(shardings: &mut EntryShardings, module: &MlirModule) -> EntryMoves {
        let inner = crate::partition::list_shardings(module);
        let outer = shardings
            .parameters
            .iter()
            .chain(&shardings.results)
            .flatten();
        let mut meshes = inner.iter().chain(outer).map(|sharding| &sharding.mesh);
        let Some(reference) = meshes.find(|mesh| !mesh.axes.is_empty()).cloned() else {
            return EntryMoves::default();
        };
        let own_order = list_devices(&reference);
        let move_parameter = |sharding: &mut Option<TensorSharding>| {
            let order = replace_order(sharding, &reference)?;
            Some(pair_devices(&order, &own_order))
        };
        let parameters = shardings
            .parameters
            .iter_mut()
            .map(move_parameter)
            .collect();
        let move_result = |sharding: &mut Option<TensorSharding>| {
            let order = replace_order(sharding, &reference)?;
            Some(pair_devices(&own_order, &order))
        };
        let results = shardings.results.iter_mut().map(move_result).collect();
        EntryMoves {
            parameters,
            results,
        }
    }
}

/// The devices of a mesh in the order of its positions.
fn list_devices(mesh: &DeviceMesh) -> Vec<u64> {
    match &mesh.device_ids {
        Some(ids) => ids.clone(),
        None => (0..mesh.device_count()).collect(),
    }
}

/// Gives a sharding the order of the reference. Returns its own, if parts have to move.
fn replace_order(
    sharding: &mut Option<TensorSharding>,
    reference: &DeviceMesh,
) -> Option<Vec<u64>> {
    let sharding = sharding.as_mut().filter(|own| !own.mesh.axes.is_empty())?;
    let order = list_devices(&sharding.mesh);
    let wanted = list_devices(reference);
    if order.len() != wanted.len() {
        return None;
    }
    sharding.mesh.device_ids.clone_from(&reference.device_ids);
    (order != wanted && !sharding.is_replicated()).then_some(order)
}

/// The pairs by which the part of each position moves from one order to another.
fn pair_devices(from: &[u64], to: &[u64]) -> Vec<i64> {
    let pairs = from.iter().zip(to);
    let pairs = pairs.flat_map(|(source, target)| [source.cast_signed(), target.cast_signed()]);
    pairs.collect()
}
