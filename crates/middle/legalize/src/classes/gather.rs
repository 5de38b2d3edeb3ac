//! Which pointers belong together.

use super::{NONE, PointsToAnalysis, PointsToObject};
use crate::facts::KernelModuleInfo;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Decoration, FunctionParameterAttribute, StorageClass};
use spirula_spirv::ir::InstRef;

/// Unifies what the module's instructions bring together.
pub fn gather(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
) -> Result<(), SourceDiagnostic> {
    for inst in facts.module.all_insts() {
        let (Some(result), Some(ty)) = (inst.result(), inst.result_type()) else {
            effects(classes, facts, inst);
            continue;
        };
        if is_input(facts, ty) || !facts.has_pointers(ty) {
            effects(classes, facts, inst);
            continue;
        }
        if inst.op() == Op::Function || facts.is_nothing(result) {
            continue;
        }
        let node = classes.node(result);
        match inst.op() {
            Op::Variable => variable(classes, facts, inst, node)?,
            Op::FunctionParameter => parameter(classes, facts, inst, node)?,
            Op::Load => {
                if let Some(of) = node_of(classes, facts, inst.id(0)) {
                    let content = classes.content(of);
                    classes.unify(node, content);
                }
            }
            Op::ConvertUToPtr => {
                classes.meet_null(node);
                if let Some(of) = origin(facts, inst.id(0)) {
                    join(classes, facts, node, of);
                }
            }
            Op::Bitcast if !facts.is_pointer(inst.id(0)) => {
                classes.meet_null(node);
                if let Some(of) = origin(facts, inst.id(0)) {
                    join(classes, facts, node, of);
                }
            }
            _ => {
                let mut operands = Vec::new();
                facts.ids.visit(inst, |_, id| operands.push(id));
                for id in operands {
                    join(classes, facts, node, id);
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
    matches!(facts.pointer(ty), Some((StorageClass::Input, _)))
}

/// The node of a value that is or has pointers; none for null.
fn node_of(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, value: Id) -> Option<u32> {
    let ty = facts.type_of(value)?;
    let is_one = !facts.is_nothing(value) && !is_input(facts, ty) && facts.has_pointers(ty);
    is_one.then(|| classes.node(value))
}

fn join(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, node: u32, value: Id) {
    if let Some(other) = node_of(classes, facts, value) {
        classes.unify(node, other);
    } else if facts.is_null(value) {
        classes.meet_null(node);
    }
}

/// The pointer that a number was computed of.
fn origin(facts: &KernelModuleInfo<'_>, number: Id) -> Option<Id> {
    let mut work = vec![number];
    // Few steps: alignment of an address, a member's offset.
    for _ in 0..32 {
        let def = facts.def(work.pop()?).ok()?;
        match def.op() {
            Op::ConvertPtrToU => return Some(def.id(0)),
            Op::Bitcast | Op::UConvert | Op::SConvert | Op::CopyObject => work.push(def.id(0)),
            Op::IAdd | Op::ISub | Op::BitwiseAnd | Op::BitwiseOr => {
                work.extend([def.id(1), def.id(0)]);
            }
            _ => {}
        }
    }
    None
}

fn effects(classes: &mut PointsToAnalysis, facts: &KernelModuleInfo<'_>, inst: InstRef<'_>) {
    match inst.op() {
        Op::Store => {
            let to = node_of(classes, facts, inst.id(0));
            let value = node_of(classes, facts, inst.id(1));
            if let (Some(to), Some(value)) = (to, value) {
                let content = classes.content(to);
                classes.unify(content, value);
            }
        }
        Op::CopyMemory | Op::CopyMemorySized => {
            let to = node_of(classes, facts, inst.id(0));
            let from = node_of(classes, facts, inst.id(1));
            if let (Some(to), Some(from)) = (to, from) {
                let (to, from) = (classes.content(to), classes.content(from));
                classes.unify(to, from);
            }
        }
        // A pointer that is compared may be null, and so may a number be that is made of one.
        Op::PtrEqual | Op::PtrNotEqual | Op::IEqual | Op::INotEqual => {
            for (pointer, other) in [(inst.id(0), inst.id(1)), (inst.id(1), inst.id(0))] {
                if facts.is_null(other)
                    && let Some(node) = node_of(classes, facts, pointer)
                {
                    classes.meet_null(node);
                }
            }
        }
        Op::ConvertPtrToU | Op::Bitcast | Op::SpecConstantOp => {
            let mut operands = Vec::new();
            facts.ids.visit(inst, |_, id| operands.push(id));
            for id in operands {
                if let Some(node) = node_of(classes, facts, id) {
                    classes.meet_null(node);
                }
            }
        }
        _ => {}
    }
}

fn variable(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    node: u32,
) -> Result<(), SourceDiagnostic> {
    let class = StorageClass(inst.word(0));
    let (Some(id), Some(pointee)) = (inst.result(), pointee(facts, inst)) else {
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
    own(
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
        let content = classes.content(node);
        classes.unify(content, value);
    }
    Ok(())
}

fn parameter(
    classes: &mut PointsToAnalysis,
    facts: &KernelModuleInfo<'_>,
    inst: InstRef<'_>,
    node: u32,
) -> Result<(), SourceDiagnostic> {
    let (Some(id), Some(ty)) = (inst.result(), inst.result_type()) else {
        return Ok(());
    };
    let Some((class, pointee)) = facts.pointer(ty) else {
        return Err(facts.refuse(id, "a parameter with pointers within"));
    };
    let by_value = is_by_value(facts, id);
    let object = |class, size| PointsToObject {
        id,
        class,
        offset: 0,
        size,
    };
    match class {
        StorageClass::Workgroup => own(classes, node, object(class, None)),
        _ if class == StorageClass::Function || by_value => {
            let size = pointee.map(|p| facts.layouts.get(p).size);
            own(classes, node, object(StorageClass::Function, size));
        }
        _ => classes.memories[node as usize].is_physical = true,
    }
    Ok(())
}

/// Whether a parameter is a pointer to a copy of what is passed.
pub fn is_by_value(facts: &KernelModuleInfo<'_>, id: Id) -> bool {
    let mut all = facts.decorations.of(facts.module, id, NONE);
    all.any(|(d, operands)| {
        d == Decoration::FuncParamAttr
            && operands.first() == Some(&FunctionParameterAttribute::ByVal.0)
    })
}

fn own(classes: &mut PointsToAnalysis, node: u32, object: PointsToObject) {
    let class = classes.find(node) as usize;
    classes.memories[class].objects.push(object);
}

fn pointee(facts: &KernelModuleInfo<'_>, inst: InstRef<'_>) -> Option<Id> {
    facts.pointer(inst.result_type()?)?.1
}
