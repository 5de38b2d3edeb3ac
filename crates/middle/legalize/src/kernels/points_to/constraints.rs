//! Which pointers belong together.

use super::{NONE, PointsToAnalysis, PointsToObject};
use crate::kernels::module_info::KernelModuleInfo;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FunctionParameterAttribute, StorageClass};
use spirula_spirv::ir::InstRef;

/// Unifies what the module's instructions bring together.
pub fn gather_constraints(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
) -> Result<(), SourceDiagnostic> {
    for inst in facts.module.all_insts() {
        let (Some(result), Some(ty)) = (inst.result(), inst.result_type()) else {
            gather_effects(classes, facts, inst);
            continue;
        };
        if is_input(facts, ty) || !facts.has_pointers(ty) {
            gather_effects(classes, facts, inst);
            continue;
        }
        if inst.op() == Op::Function || facts.is_nothing(result) {
            continue;
        }
        let node = classes.intern_node(result);
        match inst.op() {
            Op::Variable => gather_variable(classes, facts, inst, node)?,
            Op::FunctionParameter => gather_parameter(classes, facts, inst, node)?,
            Op::Load => {
                if let Some(of) = node_of(classes, facts, inst.id_operand(0)) {
                    let content = classes.intern_content(of);
                    classes.unify_nodes(node, content);
                }
            }
            Op::ConvertUToPtr => {
                classes.meet_null(node);
                if let Some(of) = find_source_pointer(facts, inst.id_operand(0)) {
                    unify_value(classes, facts, node, of);
                }
            }
            Op::Bitcast if !facts.is_pointer(inst.id_operand(0)) => {
                classes.meet_null(node);
                if let Some(of) = find_source_pointer(facts, inst.id_operand(0)) {
                    unify_value(classes, facts, node, of);
                }
            }
            _ => {
                let mut operands = Vec::new();
                facts.ids.visit_uses(inst, |_, id| operands.push(id));
                for id in operands {
                    unify_value(classes, facts, node, id);
                }
                if inst.op() == Op::GenericCastToPtrExplicit {
                    classes.meet_null(node);
                }
            }
        }
    }
    Ok(())
}

fn is_input(facts: &KernelModuleInfo<'_>, ty: Id) -> bool {
    matches!(facts.parse_pointer_type(ty), Some((StorageClass::Input, _)))
}

/// The node of a value that is or has pointers; none for null.
fn node_of(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, value: Id) -> Option<u32> {
    let ty = facts.type_of(value)?;
    let is_one = !facts.is_nothing(value) && !is_input(facts, ty) && facts.has_pointers(ty);
    is_one.then(|| classes.intern_node(value))
}

fn unify_value(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, node: u32, value: Id) {
    if let Some(other) = node_of(classes, facts, value) {
        classes.unify_nodes(node, other);
    } else if facts.is_null(value) {
        classes.meet_null(node);
    }
}

/// The pointer that a number was computed of.
fn find_source_pointer(facts: &KernelModuleInfo<'_>, number: Id) -> Option<Id> {
    let mut work = vec![number];
    // Few steps: alignment of an address, a member's offset.
    for _ in 0..32 {
        let def = facts.find_definition(work.pop()?).ok()?;
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

fn gather_effects(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, inst: InstRef<'_>) {
    match inst.op() {
        Op::Store => {
            let to = node_of(classes, facts, inst.id_operand(0));
            let value = node_of(classes, facts, inst.id_operand(1));
            if let (Some(to), Some(value)) = (to, value) {
                let content = classes.intern_content(to);
                classes.unify_nodes(content, value);
            }
        }
        Op::CopyMemory | Op::CopyMemorySized => {
            let to = node_of(classes, facts, inst.id_operand(0));
            let from = node_of(classes, facts, inst.id_operand(1));
            if let (Some(to), Some(from)) = (to, from) {
                let (to, from) = (classes.intern_content(to), classes.intern_content(from));
                classes.unify_nodes(to, from);
            }
        }
        // A pointer that is compared may be null, and so may a number be that is made of one.
        Op::PtrEqual | Op::PtrNotEqual | Op::IEqual | Op::INotEqual => {
            for (pointer, other) in [
                (inst.id_operand(0), inst.id_operand(1)),
                (inst.id_operand(1), inst.id_operand(0)),
            ] {
                if facts.is_null(other)
                    && let Some(node) = node_of(classes, facts, pointer)
                {
                    classes.meet_null(node);
                }
            }
        }
        Op::ConvertPtrToU | Op::Bitcast | Op::SpecConstantOp => {
            let mut operands = Vec::new();
            facts.ids.visit_uses(inst, |_, id| operands.push(id));
            for id in operands {
                if let Some(node) = node_of(classes, facts, id) {
                    classes.meet_null(node);
                }
            }
        }
        _ => {}
    }
}

fn gather_variable(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    node: u32,
) -> Result<(), SourceDiagnostic> {
    let class = StorageClass(inst.operand_word(0));
    let (Some(id), Some(pointee)) = (inst.result(), find_pointee(facts, inst)) else {
        return Ok(());
    };
    // What nobody writes is the same as in constant memory.
    let constant = Decoration::Constant;
    let is_constant = facts.decorations.get(facts.module, id, constant).is_some();
    let class = match class {
        StorageClass::CrossWorkgroup if is_constant => StorageClass::UniformConstant,
        class => class,
    };
    let size = Some(facts.layouts.get(pointee).size);
    add_object(
        classes,
        node,
        PointsToObject {
            id,
            class,
            offset: 0,
            size,
        },
    );
    if class == StorageClass::CrossWorkgroup {
        classes.memories[node as usize].is_physical = true;
    }
    if let Some(initializer) = inst.get_id(1)
        && let Some(value) = node_of(classes, facts, initializer)
    {
        let content = classes.intern_content(node);
        classes.unify_nodes(content, value);
    }
    Ok(())
}

fn gather_parameter(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    node: u32,
) -> Result<(), SourceDiagnostic> {
    let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
        return Ok(());
    };
    let Some((class, pointee)) = facts.parse_pointer_type(ty) else {
        return Err(facts.diagnose_id(id, "a parameter with pointers within"));
    };
    let by_value = is_by_value(facts, id);
    let object = |class, size| PointsToObject {
        id,
        class,
        offset: 0,
        size,
    };
    match class {
        StorageClass::Workgroup => add_object(classes, node, object(class, None)),
        _ if class == StorageClass::Function || by_value => {
            let size = pointee.map(|p| facts.layouts.get(p).size);
            add_object(classes, node, object(StorageClass::Function, size));
        }
        _ => classes.memories[node as usize].is_physical = true,
    }
    Ok(())
}

/// Whether a parameter is a pointer to a copy of what is passed.
pub fn is_by_value(facts: &KernelModuleInfo<'_>, id: Id) -> bool {
    let mut all = facts.decorations.decorations_of(facts.module, id, NONE);
    all.any(|(d, operands)| {
        d == Decoration::FuncParamAttr
            && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
    })
}

fn add_object(classes: &mut PointsToAnalysis, node: u32, object: PointsToObject) {
    let class = classes.find_root(node) as usize;
    classes.memories[class].objects.push(object);
}

fn find_pointee(facts: &KernelModuleInfo<'_>, inst: InstRef<'_>) -> Option<Id> {
    facts.parse_pointer_type(inst.result_type()?)?.1
}
