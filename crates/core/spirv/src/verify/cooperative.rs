//! Rule 26: cooperative matrices (`SPV_KHR_cooperative_matrix`, `SPV_NV_cooperative_matrix`,
//! `SPV_NV_cooperative_matrix2`).

use super::context::{VerifyContext, VerifyResult, ensure};
use super::memory::is_pointer;
use super::rules::VerifyRule;
use crate::grammar::Op;
use crate::grammar::enumerants::{
    Capability, CooperativeMatrixLayout as Layout, CooperativeMatrixUse as Use, Scope, StorageClass,
};
use crate::ir::InstRef;

/// The constants of a matrix type, if they are known.
struct CooperativeMatrix {
    op: Op,
    component: u32,
    scope: Option<u64>,
    rows: Option<u64>,
    columns: Option<u64>,
    /// None of the types of `SPV_NV_cooperative_matrix` has one.
    usage: Option<u64>,
}

impl CooperativeMatrix {
    fn from_type(cx: &VerifyContext<'_>, ty: u32) -> Option<CooperativeMatrix> {
        let inst = cx.defining_inst(ty).filter(|i| is_matrix(i.op()))?;
        let known = |at: usize| cx.constant_value(*inst.operands().get(at)?);
        Some(CooperativeMatrix {
            op: inst.op(),
            component: inst.operand_word(0),
            scope: known(1),
            rows: known(2),
            columns: known(3),
            usage: known(4),
        })
    }
}

pub(super) fn is_matrix(op: Op) -> bool {
    matches!(
        op,
        Op::TypeCooperativeMatrixKHR | Op::TypeCooperativeMatrixNV
    )
}

fn ensure_cooperative(holds: bool, message: impl FnOnce() -> String) -> VerifyResult {
    ensure(VerifyRule::CooperativeMatrices, holds, message)
}

/// Whether two numbers are the same, as far as both are known.
fn can_be_equal(a: Option<u64>, b: Option<u64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Checks the capabilities that go with matrices.
pub(super) fn verify_cooperative_capabilities(cx: &VerifyContext<'_>) -> VerifyResult {
    let needs = cx.is_shader && cx.has_capability(Capability::CooperativeMatrixKHR);
    ensure_cooperative(
        !needs || cx.has_capability(Capability::VulkanMemoryModel),
        || "cooperative matrices in shaders need the capability VulkanMemoryModel".to_owned(),
    )
}

/// Checks the declaration of a matrix type.
pub(super) fn verify_matrix_declaration(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let component = cx.defining_op(inst.operand_word(0));
    ensure_cooperative(matches!(component, Op::TypeInt | Op::TypeFloat), || {
        format!(
            "its components are {}, no numbers",
            cx.describe_type(inst.operand_word(0))
        )
    })?;
    let names = ["scope", "number of rows", "number of columns", "use"];
    for (name, id) in names.iter().zip(&inst.operands()[1..]) {
        let is_int = cx.value_shape(*id).op == Op::TypeInt;
        ensure_cooperative(is_int && cx.is_constant(*id), || {
            format!("its {name} %{id} is no constant integer")
        })?;
    }
    let scope = cx
        .constant_value(inst.operand_word(1))
        .map(|scope| Scope(scope as u32));
    let taken = scope.is_none_or(|scope| matches!(scope, Scope::Workgroup | Scope::Subgroup));
    ensure_cooperative(taken, || {
        format!(
            "its scope is {}, neither Workgroup nor Subgroup",
            scope.unwrap_or(Scope::Device)
        )
    })
}

/// Checks an instruction on matrices.
pub(super) fn verify_matrix_inst(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::CooperativeMatrixLoadKHR => {
            let result = inst.words()[0];
            verify_matrix_access(cx, inst, result, inst.operand_word(0), 1)
        }
        Op::CooperativeMatrixStoreKHR => verify_matrix_access(
            cx,
            inst,
            cx.type_of(inst.operand_word(1)),
            inst.operand_word(0),
            2,
        ),
        Op::CooperativeMatrixLoadNV => {
            let result = inst.words()[0];
            access_nv(cx, inst, result, inst.operand_word(0), 1)
        }
        Op::CooperativeMatrixStoreNV => access_nv(
            cx,
            inst,
            cx.type_of(inst.operand_word(1)),
            inst.operand_word(0),
            2,
        ),
        Op::CooperativeMatrixMulAddKHR | Op::CooperativeMatrixMulAddNV => {
            verify_matrix_multiply(cx, inst)
        }
        Op::CooperativeMatrixLengthKHR | Op::CooperativeMatrixLengthNV => {
            verify_matrix_length(cx, inst.op(), inst.words()[0], inst.operand_word(0))
        }
        Op::CooperativeMatrixConvertNV | Op::CooperativeMatrixTransposeNV => convert_use(cx, inst),
        Op::CooperativeMatrixReduceNV => verify_matrix_reduce(cx, inst),
        Op::CooperativeMatrixPerElementOpNV => per_element(cx, inst),
        _ => Ok(()),
    }
}

/// Whether an opcode is checked here.
pub(super) fn is_own(op: Op) -> bool {
    matches!(
        op,
        Op::CooperativeMatrixLoadKHR
            | Op::CooperativeMatrixStoreKHR
            | Op::CooperativeMatrixLoadNV
            | Op::CooperativeMatrixStoreNV
            | Op::CooperativeMatrixMulAddKHR
            | Op::CooperativeMatrixMulAddNV
            | Op::CooperativeMatrixLengthKHR
            | Op::CooperativeMatrixLengthNV
            | Op::CooperativeMatrixConvertNV
            | Op::CooperativeMatrixTransposeNV
            | Op::CooperativeMatrixReduceNV
            | Op::CooperativeMatrixPerElementOpNV
    )
}

/// The pointer of a load or store.
fn verify_matrix_pointer(cx: &VerifyContext<'_>, id: u32) -> VerifyResult {
    let shape = cx.value_shape(id);
    ensure_cooperative(is_pointer(shape.op), || {
        format!(
            "%{id} is of {}, not a pointer",
            cx.describe_type(cx.type_of(id))
        )
    })?;
    let shared = matches!(
        shape.class,
        StorageClass::Workgroup | StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer
    );
    ensure_cooperative(!cx.is_vulkan() || shared, || {
        format!("matrices are not in memory of the class {}", shape.class)
    })?;
    let part = super::signatures::get_components(cx, shape.part).part;
    let numbers = matches!(part.op, Op::TypeInt | Op::TypeFloat);
    ensure_cooperative(shape.op == Op::TypeUntypedPointerKHR || numbers, || {
        format!(
            "the pointer points to {}, neither numbers nor vectors of them",
            cx.describe_type(shape.part)
        )
    })
}

fn verify_matrix_access(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    matrix: u32,
    id: u32,
    at: usize,
) -> VerifyResult {
    ensure_cooperative(
        cx.defining_op(matrix) == Op::TypeCooperativeMatrixKHR,
        || format!("{} is no cooperative matrix", cx.describe_type(matrix)),
    )?;
    verify_matrix_pointer(cx, id)?;
    let layout = inst.operand_word(at);
    let is_int = cx.value_shape(layout).op == Op::TypeInt;
    ensure_cooperative(is_int && cx.is_constant(layout), || {
        format!("the memory layout %{layout} is no constant integer")
    })?;
    let stride = inst.operands().get(at + 1).copied();
    let known = cx
        .constant_value(layout)
        .map(|layout| Layout(layout as u32));
    let strided = matches!(known, Some(Layout::RowMajorKHR | Layout::ColumnMajorKHR));
    ensure_cooperative(!strided || stride.is_some(), || {
        "a memory layout by rows or columns has a stride".to_owned()
    })?;
    if let Some(stride) = stride {
        ensure_cooperative(cx.value_shape(stride).op == Op::TypeInt, || {
            format!("the stride %{stride} is no integer")
        })?;
    }
    super::memory::verify_memory_access(cx, inst, at + 2, [cx.value_shape(id).class; 2])
}

fn access_nv(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    matrix: u32,
    id: u32,
    at: usize,
) -> VerifyResult {
    ensure_cooperative(
        cx.defining_op(matrix) == Op::TypeCooperativeMatrixNV,
        || format!("{} is no cooperative matrix", cx.describe_type(matrix)),
    )?;
    verify_matrix_pointer(cx, id)?;
    let (stride, by_columns) = (inst.operand_word(at), inst.operand_word(at + 1));
    ensure_cooperative(cx.value_shape(stride).op == Op::TypeInt, || {
        format!("the stride %{stride} is no integer")
    })?;
    let is_bool = cx.value_shape(by_columns).op == Op::TypeBool;
    ensure_cooperative(is_bool && cx.is_constant(by_columns), || {
        format!("%{by_columns}, whether columns are contiguous, is no constant boolean")
    })?;
    super::memory::verify_memory_access(cx, inst, at + 2, [cx.value_shape(id).class; 2])
}

fn verify_matrix_multiply(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let wanted = match inst.op() {
        Op::CooperativeMatrixMulAddNV => Op::TypeCooperativeMatrixNV,
        _ => Op::TypeCooperativeMatrixKHR,
    };
    let types = [
        cx.type_of(inst.operand_word(0)),
        cx.type_of(inst.operand_word(1)),
        cx.type_of(inst.operand_word(2)),
        inst.words()[0],
    ];
    let matrices = types.map(|ty| CooperativeMatrix::from_type(cx, ty).filter(|m| m.op == wanted));
    let [Some(a), Some(b), Some(c), Some(d)] = matrices else {
        return ensure_cooperative(false, || {
            "result and operands are not all cooperative matrices".to_owned()
        });
    };
    let uses = [
        (&a, Use::MatrixAKHR, "A"),
        (&b, Use::MatrixBKHR, "B"),
        (&c, Use::MatrixAccumulatorKHR, "C"),
    ];
    for (matrix, wanted, name) in uses {
        ensure_cooperative(can_be_equal(matrix.usage, Some(wanted.0.into())), || {
            format!("the matrix {name} does not have the use {wanted}")
        })?;
    }
    let all = [&a, &b, &c, &d];
    let scopes = all.iter().all(|m| can_be_equal(m.scope, a.scope))
        && can_be_equal(b.scope, c.scope)
        && can_be_equal(c.scope, d.scope);
    ensure_cooperative(scopes, || "the matrices differ in scope".to_owned())?;
    let rows = can_be_equal(a.rows, c.rows)
        && can_be_equal(a.rows, d.rows)
        && can_be_equal(c.rows, d.rows);
    ensure_cooperative(rows, || {
        "A, C and the result differ in the number of rows".to_owned()
    })?;
    let columns = can_be_equal(b.columns, c.columns)
        && can_be_equal(b.columns, d.columns)
        && can_be_equal(c.columns, d.columns);
    ensure_cooperative(columns, || {
        "B, C and the result differ in the number of columns".to_owned()
    })?;
    ensure_cooperative(can_be_equal(a.columns, b.rows), || {
        "A does not have as many columns as B has rows".to_owned()
    })
}

/// Checks instructions that query the number of a matrix type's components.
pub(super) fn verify_matrix_length(
    cx: &VerifyContext<'_>,
    op: Op,
    result: u32,
    ty: u32,
) -> VerifyResult {
    let wanted = match op {
        Op::CooperativeMatrixLengthNV => Op::TypeCooperativeMatrixNV,
        _ => Op::TypeCooperativeMatrixKHR,
    };
    let shape = cx.type_shape(result);
    ensure_cooperative(
        shape.op == Op::TypeInt && shape.width == 32 && !shape.signed,
        || "the result is no integer of 32 bits without sign".to_owned(),
    )?;
    ensure_cooperative(cx.defining_op(ty) == wanted, || {
        format!("{} is no cooperative matrix", cx.describe_type(ty))
    })
}

/// Checks that matrices have one shape: those of an operation component by component.
pub(super) fn same_shape(
    cx: &VerifyContext<'_>,
    result: u32,
    operand: u32,
    converts: bool,
) -> VerifyResult {
    let (Some(to), Some(from)) = (
        CooperativeMatrix::from_type(cx, result),
        CooperativeMatrix::from_type(cx, operand),
    ) else {
        let both = is_matrix(cx.defining_op(result)) == is_matrix(cx.defining_op(operand));
        return ensure_cooperative(both, || {
            "result and operand are not both cooperative matrices".to_owned()
        });
    };
    let shapes = to.op == from.op
        && can_be_equal(to.scope, from.scope)
        && can_be_equal(to.rows, from.rows)
        && can_be_equal(to.columns, from.columns);
    ensure_cooperative(shapes, || {
        "the matrices differ in scope, rows or columns".to_owned()
    })?;
    let accumulates =
        |matrix: &CooperativeMatrix| matrix.usage == Some(Use::MatrixAccumulatorKHR.0.into());
    let conversion = converts
        && (accumulates(&from) && cx.has_capability(Capability::CooperativeMatrixConversionsNV)
            || (accumulates(&from) || accumulates(&to))
                && cx.has_capability(Capability::CooperativeMatrixConversionsEXT));
    ensure_cooperative(can_be_equal(to.usage, from.usage) || conversion, || {
        "the matrices differ in use".to_owned()
    })
}

/// From an accumulator to a matrix of another use, and transposed on the way.
fn convert_use(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, operand) = (inst.words()[0], cx.type_of(inst.operand_word(0)));
    let (Some(to), Some(from)) = (
        CooperativeMatrix::from_type(cx, result),
        CooperativeMatrix::from_type(cx, operand),
    ) else {
        return ensure_cooperative(false, || {
            "result and operand are not both cooperative matrices".to_owned()
        });
    };
    let transposes = inst.op() == Op::CooperativeMatrixTransposeNV;
    let (rows, columns) = if transposes {
        (from.columns, from.rows)
    } else {
        (from.rows, from.columns)
    };
    let shapes = can_be_equal(to.scope, from.scope)
        && can_be_equal(to.rows, rows)
        && can_be_equal(to.columns, columns);
    ensure_cooperative(shapes, || {
        "the matrices do not fit in scope, rows and columns".to_owned()
    })?;
    ensure_cooperative(to.component == from.component, || {
        "the matrices have different components".to_owned()
    })?;
    let accumulates = can_be_equal(from.usage, Some(Use::MatrixAccumulatorKHR.0.into()));
    let becomes = can_be_equal(to.usage, Some(Use::MatrixBKHR.0.into()))
        || !transposes && can_be_equal(to.usage, Some(Use::MatrixAKHR.0.into()));
    ensure_cooperative(accumulates && becomes, || {
        "a use is converted from an accumulator to A or B, and transposed to B".to_owned()
    })
}

fn verify_matrix_reduce(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, operand) = (inst.words()[0], cx.type_of(inst.operand_word(0)));
    let (Some(to), Some(from)) = (
        CooperativeMatrix::from_type(cx, result),
        CooperativeMatrix::from_type(cx, operand),
    ) else {
        return ensure_cooperative(false, || {
            "result and operand are not both cooperative matrices".to_owned()
        });
    };
    ensure_cooperative(to.component == from.component, || {
        "the matrices have different components".to_owned()
    })?;
    ensure_cooperative(can_be_equal(to.scope, from.scope), || {
        "the matrices differ in scope".to_owned()
    })?;
    let accumulator = Some(Use::MatrixAccumulatorKHR.0.into());
    ensure_cooperative(
        can_be_equal(to.usage, accumulator) && can_be_equal(from.usage, accumulator),
        || "the matrices are no accumulators".to_owned(),
    )?;
    verify_callback(cx, *inst.operands().last().unwrap_or(&0), to.component, 0)
}

fn per_element(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let Some(matrix) = CooperativeMatrix::from_type(cx, result)
        .filter(|_| cx.type_of(inst.operand_word(0)) == result)
    else {
        return ensure_cooperative(false, || {
            "the operand is no cooperative matrix of the result's type".to_owned()
        });
    };
    verify_callback(cx, inst.operand_word(1), matrix.component, 2)
}

/// A function that is called with components, after n indices.
fn verify_callback(
    cx: &VerifyContext<'_>,
    id: u32,
    component: u32,
    indices: usize,
) -> VerifyResult {
    let ty = cx.defining_inst(id).filter(|f| f.op() == Op::Function);
    let ty = ty.and_then(|f| cx.defining_inst(f.operand_word(1)));
    let Some(ty) = ty.filter(|t| t.op() == Op::TypeFunction) else {
        return ensure_cooperative(false, || format!("%{id} is no function"));
    };
    ensure_cooperative(ty.operand_word(0) == component, || {
        format!("the function %{id} does not return a component")
    })?;
    let params = &ty.operands()[1..];
    let of_index = |param: &u32| {
        let shape = cx.type_shape(*param);
        shape.op == Op::TypeInt && shape.width == 32
    };
    let fits = params.len() > indices
        && params[..indices].iter().all(of_index)
        && params[indices] == component;
    ensure_cooperative(fits, || {
        format!("the function %{id} does not take a component of the matrix")
    })
}
