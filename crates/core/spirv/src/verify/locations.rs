//! Rule 17 for the locations of inputs and outputs.

use super::context::{VerifyContext, VerifyResult, ensure, make_fault};
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{Decoration, ExecutionModel as Model, StorageClass};
use rustc_hash::FxHashSet;

/// Locations of inputs and outputs do not overlap (Vulkan specification, "Interface Matching").
pub(super) fn verify_locations(
    cx: &VerifyContext<'_>,
    model: Model,
    listed: &[u32],
) -> VerifyResult {
    let has_locations = matches!(
        model,
        Model::Vertex
            | Model::TessellationControl
            | Model::TessellationEvaluation
            | Model::Geometry
            | Model::Fragment
    );
    if !cx.is_vulkan() || !has_locations {
        return Ok(());
    }
    let mut taken: FxHashSet<(bool, u32, u32)> = FxHashSet::default();
    for id in listed {
        let shape = cx.value_shape(*id);
        let is_output = shape.class == StorageClass::Output;
        if !matches!(shape.class, StorageClass::Input | StorageClass::Output)
            || cx.has_decoration(*id, Decoration::BuiltIn)
        {
            continue;
        }
        let mut ty = shape.part;
        let patch = cx.has_decoration(*id, Decoration::Patch);
        let arrayed = match model {
            Model::TessellationControl => !patch,
            Model::TessellationEvaluation => !is_output && !patch,
            Model::Geometry => !is_output,
            Model::Fragment => !is_output && cx.has_decoration(*id, Decoration::PerVertexKHR),
            _ => false,
        };
        if arrayed && matches!(cx.defining_op(ty), Op::TypeArray | Op::TypeRuntimeArray) {
            ty = cx.type_shape(ty).part;
        }
        let members = cx.struct_members(ty);
        let is_built_in = (0..members.len() as u32)
            .any(|n| cx.member_decoration(ty, n, Decoration::BuiltIn).is_some());
        if is_built_in {
            continue;
        }
        let word = |what| cx.decoration(*id, what).and_then(<[u32]>::first).copied();
        let location = word(Decoration::Location);
        let is_block = cx.has_decoration(ty, Decoration::Block);
        ensure(
            VerifyRule::EntryPoints,
            location.is_some() || is_block,
            || format!("%{id} of its interface has no Location"),
        )?;
        let index = word(Decoration::Index).unwrap_or(0);
        let key = |at: u32| (is_output, index, at);
        if let Some(location) = location {
            let component = word(Decoration::Component).unwrap_or(0);
            occupy_locations(cx, ty, location, component, &mut |at| taken.insert(key(at)))
                .map_err(|at| make_conflict_fault(*id, at))?;
            continue;
        }
        for (n, member) in members.iter().enumerate() {
            let word = |what| {
                let found = cx.member_decoration(ty, n as u32, what);
                found.and_then(<[u32]>::first).copied()
            };
            let Some(location) = word(Decoration::Location) else {
                let message = format!("member {n} of %{id} of its interface has no Location");
                return Err(make_fault(VerifyRule::EntryPoints, message));
            };
            let component = word(Decoration::Component).unwrap_or(0);
            occupy_locations(cx, *member, location, component, &mut |at| {
                taken.insert(key(at))
            })
            .map_err(|at| make_conflict_fault(*id, at))?;
        }
    }
    Ok(())
}

fn make_conflict_fault(id: u32, at: u32) -> super::context::VerifyFault {
    let message = format!(
        "%{id} of its interface takes location {}, component {}, which another takes",
        at / 4,
        at % 4
    );
    make_fault(VerifyRule::EntryPoints, message)
}

/// Most locations that are looked at.
const LOCATIONS: u32 = 4096;

/// Takes the components of a value's locations; the first that is taken already is an error.
fn occupy_locations(
    cx: &VerifyContext<'_>,
    ty: u32,
    location: u32,
    component: u32,
    take: &mut dyn FnMut(u32) -> bool,
) -> Result<(), u32> {
    let shape = cx.type_shape(ty);
    if shape.op == Op::TypeArray {
        let length = cx.defining_inst(ty).map_or(0, |t| t.operand_word(1));
        let length = cx.constant_value(length).unwrap_or(1).min(LOCATIONS.into()) as u32;
        let each = cx.type_shape(shape.part).locations;
        for n in 0..length {
            let at = location.saturating_add(n.saturating_mul(each));
            occupy_one(cx, shape.part, at, component, take)?;
        }
        return Ok(());
    }
    occupy_one(cx, ty, location, component, take)
}

fn occupy_one(
    cx: &VerifyContext<'_>,
    ty: u32,
    location: u32,
    component: u32,
    take: &mut dyn FnMut(u32) -> bool,
) -> Result<(), u32> {
    if location >= LOCATIONS {
        return Ok(());
    }
    let components = count_components(cx, ty);
    let (from, to) = if components > 0 {
        let from = location * 4 + component;
        (from, from.saturating_add(components))
    } else {
        let many = cx.type_shape(ty).locations.min(LOCATIONS);
        (location * 4, (location + many) * 4)
    };
    (from..to).find(|at| !take(*at)).map_or(Ok(()), Err)
}

/// Components that a scalar or vector takes; 0 for others.
fn count_components(cx: &VerifyContext<'_>, ty: u32) -> u32 {
    let shape = cx.type_shape(ty);
    match shape.op {
        Op::TypeInt | Op::TypeFloat => 1 + u32::from(shape.width == 64),
        Op::TypeVector => count_components(cx, shape.part) * shape.count,
        _ => 0,
    }
}
