//! Rewriting: opaque values get their target extension types.

use super::opaque_evidence::OpaqueValueTypes;
use super::type_names::OpaqueTypeName;
use crate::ir::{
    ConstKind, GlobalKind, InstructionExtra, LlvmFunc, LlvmInst, LlvmModule, LlvmType,
    LlvmTypeKind, LlvmValue,
};

/// A copy of the module in which the inferred opaque types are applied.
pub(super) fn rewrite_module(module: &LlvmModule, mut found: OpaqueValueTypes) -> LlvmModule {
    let mut new = module.clone();
    for func in module.function_ids() {
        rewrite_signature(&mut new, &mut found, func);
        rewrite_instructions(&mut new, &mut found, func);
    }
    update_call_types(module, &mut new);
    for (func, at, slot) in std::mem::take(&mut found.constants) {
        if let Some(ty) = find_target_type(&mut new, &mut found, slot) {
            replace_constant(&mut new, func, at, ty);
        }
    }
    new
}

/// The type of a slot in today's form.
fn find_target_type(
    new: &mut LlvmModule,
    found: &mut OpaqueValueTypes,
    slot: u32,
) -> Option<LlvmType> {
    let handle = found.find_handle(slot)?;
    Some(intern_opaque_type(new, handle))
}

fn intern_opaque_type(new: &mut LlvmModule, handle: &OpaqueTypeName) -> LlvmType {
    let name = new.strings.intern_text(&handle.name);
    new.types.intern_type(LlvmTypeKind::Target {
        name,
        types: handle.ty.into_iter().collect(),
        ints: handle.ints.clone().into(),
    })
}

/// Whether a type may represent an opaque one.
fn may_be(module: &LlvmModule, ty: LlvmType) -> bool {
    ty == LlvmType::I32 || module.types.address_space(ty).is_some()
}

fn rewrite_signature(new: &mut LlvmModule, found: &mut OpaqueValueTypes, func: LlvmFunc) {
    let function = new.function(func);
    let Some((result, _, variadic)) = new.types.function_signature(function.ty) else {
        return;
    };
    let mut params = function.params.clone();
    let locals = function.local_count();
    for (index, param) in params.iter_mut().enumerate() {
        let slot = found.slot_of(func, index);
        if may_be(new, *param)
            && let Some(ty) = find_target_type(new, found, slot)
        {
            *param = ty;
        }
    }
    let slot = found.slot_of(func, locals);
    let result = if may_be(new, result) {
        find_target_type(new, found, slot).unwrap_or(result)
    } else {
        result
    };
    let ty = new.types.intern_type(LlvmTypeKind::Function {
        result,
        params: params.clone().into(),
        variadic,
    });
    let function = &mut new.functions[func.index()];
    function.params = params;
    function.ty = ty;
    let global = function.global;
    new.globals[global.index()].value_type = ty;
}

fn rewrite_instructions(new: &mut LlvmModule, found: &mut OpaqueValueTypes, func: LlvmFunc) {
    for index in 0..new.function(func).insts.len() {
        let function = new.function(func);
        let data = *function.inst(LlvmInst::new(index));
        let slot = found.slot_of(func, function.params.len() + index);
        if may_be(new, data.ty)
            && let Some(ty) = find_target_type(new, found, slot)
        {
            new.functions[func.index()].insts[index].ty = ty;
        }
        let source = match data.extra {
            InstructionExtra::Alloca { ty, .. } | InstructionExtra::SourceType(ty) => ty,
            _ => continue,
        };
        let Some(content) = find_target_type(new, found, slot + 1) else {
            continue;
        };
        let replaced = replace_pointers(new, source, content);
        match &mut new.functions[func.index()].insts[index].extra {
            InstructionExtra::Alloca { ty, .. } | InstructionExtra::SourceType(ty) => {
                *ty = replaced
            }
            _ => {}
        }
    }
}

/// A type in memory in which the opaque type replaces pointers.
fn replace_pointers(new: &mut LlvmModule, ty: LlvmType, content: LlvmType) -> LlvmType {
    match *new.types.kind(ty) {
        LlvmTypeKind::Array { element, len } if may_be(new, element) => {
            new.types.make_array(content, len)
        }
        _ if may_be(new, ty) => content,
        _ => ty,
    }
}

/// Updates the function types of calls to those of their callees, if both were the same before.
fn update_call_types(old: &LlvmModule, new: &mut LlvmModule) {
    for func in new.function_ids() {
        for index in 0..new.function(func).insts.len() {
            let inst = LlvmInst::new(index);
            let function = new.function(func);
            let InstructionExtra::Call(call) = function.inst(inst).extra else {
                continue;
            };
            let callee = function.callee(inst).and_then(LlvmValue::as_const);
            let callee = callee.and_then(|constant| new.as_global(constant));
            let Some(GlobalKind::Function(callee)) = callee.map(|global| new.global(global).kind)
            else {
                continue;
            };
            let known = old.function(func).calls[call as usize].function_type;
            if known != old.function(callee).ty {
                continue;
            }
            let ty = new.function(callee).ty;
            new.functions[func.index()].calls[call as usize].function_type = ty;
        }
    }
}

/// Replaces a null pointer or a literal sampler by a constant of the opaque type.
fn replace_constant(new: &mut LlvmModule, func: LlvmFunc, at: usize, ty: LlvmType) {
    let value = new.function(func).value_pool[at];
    let Some(old) = value.as_const() else {
        return;
    };
    let kind = match new.consts.kind(old) {
        ConstKind::Null => ConstKind::Zero,
        kind @ (ConstKind::Undef | ConstKind::Poison | ConstKind::Int(_)) => kind.clone(),
        _ => return,
    };
    let constant = new.consts.intern_constant(ty, kind);
    new.functions[func.index()].value_pool[at] = LlvmValue::from_constant(constant);
}
