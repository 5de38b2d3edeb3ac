//! Constraints: pointers that must be in the same points-to set.

use super::{NONE, PointsToAnalysis, PointsToObject};
use crate::kernels::module_info::KernelModuleInfo;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FunctionParameterAttribute, StorageClass};
use spirula_spirv::ir::InstRef;

/// Unifies the pointers that instructions of the module connect.
pub fn gather_constraints(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
) -> Result<(), SourceDiagnostic> {
    for inst in info.module.all_insts() {
        let (Some(result), Some(ty)) = (inst.result(), inst.result_type()) else {
            gather_effects(points_to, info, inst);
            continue;
        };
        if is_input(info, ty) || !info.has_pointers(ty) {
            gather_effects(points_to, info, inst);
            continue;
        }
        if inst.op() == Op::Function || info.is_nothing(result) {
            continue;
        }
        let node = points_to.intern_node(result);
        match inst.op() {
            Op::Variable => gather_variable(points_to, info, inst, node)?,
            Op::FunctionParameter => gather_parameter(points_to, info, inst, node)?,
            Op::Load => {
                if let Some(of) = node_of(points_to, info, inst.id_operand(0)) {
                    let content = points_to.intern_content(of);
                    points_to.unify_nodes(node, content);
                }
            }
            Op::ConvertUToPtr => {
                points_to.meet_null(node);
                if let Some(of) = find_source_pointer(info, inst.id_operand(0)) {
                    unify_value(points_to, info, node, of);
                }
            }
            Op::Bitcast if !info.is_pointer(inst.id_operand(0)) => {
                points_to.meet_null(node);
                if let Some(of) = find_source_pointer(info, inst.id_operand(0)) {
                    unify_value(points_to, info, node, of);
                }
            }
            _ => {
                let mut operands = Vec::new();
                info.ids.visit_uses(inst, |_, id| operands.push(id));
                for id in operands {
                    unify_value(points_to, info, node, id);
                }
                if inst.op() == Op::GenericCastToPtrExplicit {
                    points_to.meet_null(node);
                }
            }
        }
    }
    Ok(())
}

fn is_input(info: &KernelModuleInfo<'_>, ty: Id) -> bool {
    matches!(info.parse_pointer_type(ty), Some((StorageClass::Input, _)))
}

/// The node of a value that is or contains pointers; `None` for null.
fn node_of(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    value: Id,
) -> Option<u32> {
    let ty = info.type_of(value)?;
    let is_one = !info.is_nothing(value) && !is_input(info, ty) && info.has_pointers(ty);
    is_one.then(|| points_to.intern_node(value))
}

fn unify_value(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    node: u32,
    value: Id,
) {
    if let Some(other) = node_of(points_to, info, value) {
        points_to.unify_nodes(node, other);
    } else if info.is_null(value) {
        points_to.meet_null(node);
    }
}

/// The pointer that a number was computed from.
fn find_source_pointer(info: &KernelModuleInfo<'_>, number: Id) -> Option<Id> {
    let mut work = vec![number];
    // A few steps suffice: alignment of an address, the offset of a member.
    for _ in 0..32 {
        let def = info.find_definition(work.pop()?).ok()?;
        match def.op() {
            Op::ConvertPtrToU => return Some(def.id_operand(0)),
            Op::Bitcast | Op::UConvert | Op::SConvert | Op::CopyObject => {
                work.push(def.id_operand(0))
            }
            Op::IAdd | Op::ISub | Op::BitwiseAnd | Op::BitwiseOr => {
                work.extend([def.id_operand(1), def.id_operand(0)]);
            }
            _ => {}
        }
    }
    None
}

fn gather_effects(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
) {
    match inst.op() {
        Op::Store => {
            let to = node_of(points_to, info, inst.id_operand(0));
            let value = node_of(points_to, info, inst.id_operand(1));
            if let (Some(to), Some(value)) = (to, value) {
                let content = points_to.intern_content(to);
                points_to.unify_nodes(content, value);
            }
        }
        Op::CopyMemory | Op::CopyMemorySized => {
            let to = node_of(points_to, info, inst.id_operand(0));
            let from = node_of(points_to, info, inst.id_operand(1));
            if let (Some(to), Some(from)) = (to, from) {
                let (to, from) = (points_to.intern_content(to), points_to.intern_content(from));
                points_to.unify_nodes(to, from);
            }
        }
        // A compared pointer may be null, and so may a number that is computed from a pointer.
        Op::PtrEqual | Op::PtrNotEqual | Op::IEqual | Op::INotEqual => {
            for (pointer, other) in [
                (inst.id_operand(0), inst.id_operand(1)),
                (inst.id_operand(1), inst.id_operand(0)),
            ] {
                if info.is_null(other)
                    && let Some(node) = node_of(points_to, info, pointer)
                {
                    points_to.meet_null(node);
                }
            }
        }
        Op::ConvertPtrToU | Op::Bitcast | Op::SpecConstantOp => {
            let mut operands = Vec::new();
            info.ids.visit_uses(inst, |_, id| operands.push(id));
            for id in operands {
                if let Some(node) = node_of(points_to, info, id) {
                    points_to.meet_null(node);
                }
            }
        }
        _ => {}
    }
}

fn gather_variable(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    node: u32,
) -> Result<(), SourceDiagnostic> {
    let class = StorageClass(inst.operand_word(0));
    let (Some(id), Some(pointee)) = (inst.result(), find_pointee(info, inst)) else {
        return Ok(());
    };
    // Memory that is never written is like constant memory.
    let constant = Decoration::Constant;
    let is_constant = info.decorations.get(info.module, id, constant).is_some();
    let class = match class {
        StorageClass::CrossWorkgroup if is_constant => StorageClass::UniformConstant,
        class => class,
    };
    let size = Some(info.layouts.get(pointee).size);
    add_object(
        points_to,
        node,
        PointsToObject {
            id,
            class,
            offset: 0,
            size,
        },
    );
    if class == StorageClass::CrossWorkgroup {
        points_to.memories[node as usize].is_physical = true;
    }
    if let Some(initializer) = inst.get_id(1)
        && let Some(value) = node_of(points_to, info, initializer)
    {
        let content = points_to.intern_content(node);
        points_to.unify_nodes(content, value);
    }
    Ok(())
}

fn gather_parameter(
    points_to: &mut PointsToAnalysis,
    info: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    node: u32,
) -> Result<(), SourceDiagnostic> {
    let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
        return Ok(());
    };
    let Some((class, pointee)) = info.parse_pointer_type(ty) else {
        return Err(info.diagnose_id(id, "a parameter with pointers within"));
    };
    let by_value = is_by_value(info, id);
    let object = |class, size| PointsToObject {
        id,
        class,
        offset: 0,
        size,
    };
    match class {
        StorageClass::Workgroup => add_object(points_to, node, object(class, None)),
        _ if class == StorageClass::Function || by_value => {
            let size = pointee.map(|p| info.layouts.get(p).size);
            add_object(points_to, node, object(StorageClass::Function, size));
        }
        _ => points_to.memories[node as usize].is_physical = true,
    }
    Ok(())
}

/// Whether a parameter is a pointer to a by-value copy.
pub fn is_by_value(info: &KernelModuleInfo<'_>, id: Id) -> bool {
    let mut all = info.decorations.decorations_of(info.module, id, NONE);
    all.any(|(d, operands)| {
        d == Decoration::FuncParamAttr
            && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
    })
}

fn add_object(points_to: &mut PointsToAnalysis, node: u32, object: PointsToObject) {
    let set = points_to.find_root(node) as usize;
    points_to.memories[set].objects.push(object);
}

fn find_pointee(info: &KernelModuleInfo<'_>, inst: InstRef<'_>) -> Option<Id> {
    info.parse_pointer_type(inst.result_type()?)?.1
}
