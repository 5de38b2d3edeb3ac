//! Type, constant and global rules (rules 1 to 5).

use super::ensure_holds;
use crate::ir::{
    ConstData, ConstKind, GlobalAliasee, GlobalKind, LlvmConst, LlvmConstantExpr, LlvmModule,
    LlvmOpcode, LlvmType, LlvmTypeKind, LlvmTypes,
};
use crate::{LlvmResult, make_refusal};
use spirula_diagnostics::SourceLocation;

const MAX_TYPE_DEPTH: u32 = 100;
const MAX_CONSTANT_DEPTH: u32 = 200;

/// Checks a module.
///
/// # Errors
/// The first broken rule, with its place as far as it is known.
pub fn verify_module(module: &LlvmModule) -> LlvmResult<()> {
    verify_types(&module.types).map_err(|error| error.locate(SourceLocation::Unknown))?;
    verify_constants(module).map_err(|error| error.locate(SourceLocation::Unknown))?;
    super::metadata::verify_metadata(module)
        .map_err(|error| error.locate(SourceLocation::Unknown))?;
    for data in &module.globals {
        let result = match data.kind {
            GlobalKind::Variable(variable) => variable.initializer.map_or(Ok(()), |contents| {
                let fits = module
                    .types
                    .is_compatible(module.consts.ty(contents), data.value_type);
                ensure_holds(fits, "the contents of a variable are of another type")
            }),
            GlobalKind::Alias(GlobalAliasee(aliasee))
            | GlobalKind::Ifunc(GlobalAliasee(aliasee)) => {
                ensure_holds(aliasee.is_some(), "an alias of nothing")
            }
            GlobalKind::Function(_) => Ok(()),
        };
        result.map_err(|error| error.locate(data.place))?;
    }
    for function in &module.functions {
        super::function::verify_function(module, function)?;
    }
    Ok(())
}

fn verify_types(types: &LlvmTypes) -> LlvmResult<()> {
    for (_, kind) in types.iter() {
        match kind {
            LlvmTypeKind::Vector { element, .. } => ensure_holds(
                is_scalar(types, *element),
                "a vector of elements that are neither numbers nor pointers",
            )?,
            LlvmTypeKind::Array { element, .. } => {
                ensure_holds(
                    is_element(types, *element),
                    "an array of elements that cannot be in memory",
                )?;
            }
            LlvmTypeKind::Struct {
                fields: Some(fields),
                ..
            } => {
                let all = fields.iter().all(|&field| is_element(types, field));
                ensure_holds(all, "a struct with a field that cannot be in memory")?;
            }
            LlvmTypeKind::Function { result, params, .. } => {
                let is_value = |ty: LlvmType| {
                    !matches!(
                        types.kind(ty),
                        LlvmTypeKind::Function { .. } | LlvmTypeKind::Label
                    )
                };
                let all = params
                    .iter()
                    .all(|&param| param != LlvmType::VOID && is_value(param));
                ensure_holds(
                    all && is_value(*result),
                    "a function with a parameter that cannot be a value",
                )?;
            }
            _ => {}
        }
    }
    let mut depths = vec![TypeNestingDepth::Unknown; types.len()];
    for (ty, _) in types.iter() {
        type_depth(types, ty, 0, &mut depths)?;
    }
    Ok(())
}

fn is_scalar(types: &LlvmTypes, ty: LlvmType) -> bool {
    types.float_width(ty).is_some()
        || matches!(
            types.kind(ty),
            LlvmTypeKind::Int(_) | LlvmTypeKind::Pointer { .. }
        )
}

fn is_named(types: &LlvmTypes, ty: LlvmType) -> bool {
    matches!(types.kind(ty), LlvmTypeKind::Struct { name, .. } if !name.is_empty())
}

fn is_element(types: &LlvmTypes, ty: LlvmType) -> bool {
    !matches!(
        types.kind(ty),
        LlvmTypeKind::Void
            | LlvmTypeKind::Label
            | LlvmTypeKind::Metadata
            | LlvmTypeKind::Function { .. }
    )
}

/// Progress of the computation of a type's nesting depth. A type that is met while it is in
/// progress contains itself.
#[derive(Clone, Copy)]
enum TypeNestingDepth {
    Unknown,
    Busy,
    Known(u32),
}

fn type_depth(
    types: &LlvmTypes,
    ty: LlvmType,
    level: u32,
    depths: &mut [TypeNestingDepth],
) -> LlvmResult<u32> {
    match depths[ty.index()] {
        TypeNestingDepth::Known(depth) => return Ok(depth),
        TypeNestingDepth::Busy => return Err(make_refusal("a type that contains itself")),
        TypeNestingDepth::Unknown => {}
    }
    let too_deep = "types that nest too deeply";
    ensure_holds(level < MAX_TYPE_DEPTH, too_deep)?;
    depths[ty.index()] = TypeNestingDepth::Busy;
    let mut depth = 0;
    let mut within = |inner: LlvmType, depths: &mut [TypeNestingDepth]| {
        depth = depth.max(type_depth(types, inner, level + 1, depths)? + 1);
        LlvmResult::Ok(())
    };
    match types.kind(ty) {
        LlvmTypeKind::Array { element, .. } | LlvmTypeKind::Vector { element, .. } => {
            within(*element, depths)?;
        }
        LlvmTypeKind::Struct {
            fields: Some(fields),
            ..
        } => {
            for &field in fields {
                within(field, depths)?;
            }
        }
        // Containment ends at a pointer: a named struct may contain a pointer to itself.
        LlvmTypeKind::Pointer {
            pointee: Some(pointee),
            ..
        } if !is_named(types, *pointee) => {
            within(*pointee, depths)?;
        }
        LlvmTypeKind::Function { result, params, .. } => {
            within(*result, depths)?;
            for &param in params {
                within(param, depths)?;
            }
        }
        LlvmTypeKind::Target {
            types: parameters, ..
        } => {
            for &parameter in parameters {
                within(parameter, depths)?;
            }
        }
        _ => {}
    }
    ensure_holds(depth < MAX_TYPE_DEPTH, too_deep)?;
    depths[ty.index()] = TypeNestingDepth::Known(depth);
    Ok(depth)
}

fn verify_constants(module: &LlvmModule) -> LlvmResult<()> {
    // The operands of a constant were interned before it.
    let mut depths: Vec<u32> = Vec::with_capacity(module.consts.len());
    for (_, ConstData { ty, kind }) in module.consts.iter() {
        let deepest = |parts: &[LlvmConst]| {
            parts
                .iter()
                .map(|part| depths.get(part.index()).map_or(0, |depth| depth + 1))
                .max()
        };
        let depth = match kind {
            ConstKind::Aggregate(parts) | ConstKind::PtrAuth(parts) => {
                verify_aggregate_constant(module, *ty, parts)?;
                deepest(parts).unwrap_or(0)
            }
            ConstKind::Splat(element) => deepest(&[*element]).unwrap_or(0),
            ConstKind::Expr(expr) => {
                verify_expression(module, *ty, expr)?;
                deepest(&expr.operands).unwrap_or(0)
            }
            ConstKind::BlockAddress(func, block) => {
                let count = module.function(*func).blocks.len();
                ensure_holds(
                    (*block as usize) < count,
                    "the address of a block that does not exist",
                )?;
                0
            }
            _ => 0,
        };
        ensure_holds(depth < MAX_CONSTANT_DEPTH, "constants that nest too deeply")?;
        depths.push(depth);
    }
    Ok(())
}

fn verify_aggregate_constant(
    module: &LlvmModule,
    ty: LlvmType,
    parts: &[LlvmConst],
) -> LlvmResult<()> {
    let types = &module.types;
    if matches!(types.kind(ty), LlvmTypeKind::Pointer { .. }) {
        return Ok(());
    }
    let fits = |(index, part): (usize, &LlvmConst)| {
        let expected = types.element_type(ty, index as u64);
        expected.is_some_and(|expected| types.is_compatible(expected, module.consts.ty(*part)))
    };
    ensure_holds(
        parts.iter().enumerate().all(fits),
        "an aggregate of elements of other types",
    )
}

fn verify_expression(module: &LlvmModule, ty: LlvmType, expr: &LlvmConstantExpr) -> LlvmResult<()> {
    let types = &module.types;
    let of = |index: usize| {
        expr.operands
            .get(index)
            .map(|&operand| module.consts.ty(operand))
    };
    let first = of(0).ok_or_else(|| make_refusal("a constant expression without operands"))?;
    match expr.opcode {
        opcode if opcode.is_cast() => super::function::verify_cast(types, opcode, first, ty),
        opcode if opcode.is_binary() => {
            ensure_holds(
                of(1).is_some_and(|second| types.is_compatible(first, second)),
                "operands of two types",
            )?;
            super::function::verify_arithmetic_type(types, opcode, first)
        }
        LlvmOpcode::ICmp | LlvmOpcode::FCmp | LlvmOpcode::ShuffleVector => ensure_holds(
            of(1).is_some_and(|second| types.is_compatible(first, second)),
            "operands of two types",
        ),
        LlvmOpcode::Select => {
            let both = of(1)
                .zip(of(2))
                .is_some_and(|(a, b)| types.is_compatible(a, b));
            ensure_holds(both, "a choice between two types")
        }
        _ => Ok(()),
    }
}
