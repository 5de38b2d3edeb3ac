//! Global merging: variables whose addresses are subtracted from each other become members of one
//! variable, so that the differences are numbers.
//!
//! LLVM creates such differences for relative lookup tables, such as those of `switch` over
//! constants (`llvm.load.relative`).
//!
//! The old variables become aliases of the members. Only variables that are internal to the module
//! are merged, and only within one address space. Cost: one pass over the constants, and a copy of
//! the module if anything is merged.

use super::address_expressions::{AddressForm, AddressForms};
use crate::ir::{
    AttrSet, ConstKind, ExprExtra, GlobalAliasee, GlobalData, GlobalKind, Linkage, LlvmAlign,
    LlvmConst, LlvmConstantExpr, LlvmGlobal, LlvmGlobalVariable, LlvmInstFlags, LlvmModule,
    LlvmOpcode, LlvmType, LlvmTypeKind, ThreadLocal,
};
use spirula_diagnostics::SourceLocation;
use spirula_entity::UnionFind;

/// The module with merged variables, or `None` if nothing is to be merged.
pub(super) fn merge_variables(module: &LlvmModule) -> Option<LlvmModule> {
    let groups = find_merge_groups(module);
    if groups.is_empty() {
        return None;
    }
    let mut new = module.clone();
    for group in groups {
        merge_group(&mut new, &group);
    }
    Some(new)
}

/// The groups of variables to be merged, in the order of the module.
fn find_merge_groups(module: &LlvmModule) -> Vec<Vec<LlvmGlobal>> {
    let mut forms = AddressForms::default();
    let mut classes = UnionFind::new(module.globals.len());
    let mut joined = false;
    for (constant, data) in module.consts.iter() {
        let ConstKind::Expr(expr) = &data.kind else {
            continue;
        };
        if expr.opcode != LlvmOpcode::Sub {
            continue;
        }
        if let Some(AddressForm {
            plus: Some(plus),
            minus: Some(minus),
            ..
        }) = forms.find_layout(module, constant)
        {
            classes.join_sets(plus.index() as u32, minus.index() as u32);
            joined = true;
        }
    }
    if !joined {
        return Vec::new();
    }
    let mut found: Vec<Vec<LlvmGlobal>> = vec![Vec::new(); module.globals.len()];
    for global in module.global_ids() {
        let class = classes.find_root(global.index() as u32);
        found[class as usize].push(global);
    }
    found.retain(|group| group.len() > 1 && can_merge(module, group));
    found
}

/// Whether all of these globals are internal variables in the same address space.
fn can_merge(module: &LlvmModule, group: &[LlvmGlobal]) -> bool {
    let space = module.global(group[0]).space;
    group.iter().all(|global| {
        let data = module.global(*global);
        let opaque = matches!(
            module.types.kind(data.ty),
            LlvmTypeKind::Pointer { pointee: None, .. }
        );
        variable_of(data).is_some_and(|variable| variable.initializer.is_some())
            && data.space == space
            && data.linkage.is_local()
            && data.thread_local == ThreadLocal::None
            && opaque
    })
}

fn variable_of(data: &GlobalData) -> Option<LlvmGlobalVariable> {
    match data.kind {
        GlobalKind::Variable(variable) => Some(variable),
        _ => None,
    }
}

/// Merges the variables of a group into a new one.
fn merge_group(module: &mut LlvmModule, group: &[LlvmGlobal]) {
    let mut fields = Vec::new();
    let mut values = Vec::new();
    let mut places = Vec::new();
    let (mut end, mut largest) = (0_u64, 1_u64);
    let mut constant = true;
    let first = module.global(group[0]).clone();
    for &global in group {
        let data = module.global(global);
        let Some(variable) = variable_of(data) else {
            return;
        };
        let Some(value) = variable.initializer else {
            return;
        };
        let ty = data.value_type;
        let natural = module.layout.abi_align(&module.types, ty);
        let align = data.align.to_bytes().unwrap_or(1).max(natural);
        let Some(size) = module.layout.alloc_size(&module.types, ty) else {
            return;
        };
        constant &= variable.constant;
        largest = largest.max(align);
        let start = end.next_multiple_of(align);
        if start > end {
            let padding = module.types.make_array(LlvmType::I8, start - end);
            fields.push(padding);
            values.push(module.consts.intern_constant(padding, ConstKind::Zero));
        }
        places.push(fields.len() as u64);
        fields.push(ty);
        values.push(value);
        end = start + size;
    }
    let whole = module.types.literal_struct(fields.into(), false);
    let initial = module.consts.make_aggregate(&module.types, whole, &values);
    let kind = GlobalKind::Variable(LlvmGlobalVariable {
        initializer: Some(initial),
        constant,
        externally_initialized: false,
        attributes: AttrSet::EMPTY,
    });
    let mut data = GlobalData::new(whole, first.ty, first.space, kind, SourceLocation::Unknown);
    data.linkage = Linkage::Internal;
    data.section = first.section;
    data.align = LlvmAlign::from_bytes(largest).unwrap_or(LlvmAlign::NONE);
    let merged = LlvmGlobal::new(module.globals.len());
    module.globals.push(data);
    let base = module
        .consts
        .intern_constant(first.ty, ConstKind::Global(merged));
    for (&global, &place) in group.iter().zip(&places) {
        let target = member_address(module, base, whole, place);
        module.globals[global.index()].kind = GlobalKind::Alias(GlobalAliasee(Some(target)));
    }
}

/// The address of a member of a variable.
fn member_address(
    module: &mut LlvmModule,
    base: LlvmConst,
    whole: LlvmType,
    place: u64,
) -> LlvmConst {
    let [zero, index] = [0, place].map(|n| module.consts.make_int(&module.types, LlvmType::I32, n));
    let expr = LlvmConstantExpr {
        opcode: LlvmOpcode::GetElementPtr,
        flags: LlvmInstFlags::INBOUNDS,
        operands: [base, zero, index].into(),
        extra: ExprExtra::SourceType(whole),
    };
    let ty = module.consts.ty(base);
    module
        .consts
        .intern_constant(ty, ConstKind::Expr(expr.into()))
}
