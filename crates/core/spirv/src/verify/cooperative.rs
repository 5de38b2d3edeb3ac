//! Rule 26: cooperative matrices (`SPV_KHR_cooperative_matrix`, `SPV_NV_cooperative_matrix`,
//! `SPV_NV_cooperative_matrix2`).

use super::context::{VerifyContext, VerifyResult, ensure};
use super::memory::is_pointer;
use super::rules::Rule;
use crate::grammar::Op;
use crate::grammar::enumerants::{
    Capability, CooperativeMatrixLayout as Layout, CooperativeMatrixUse as Use, Scope, StorageClass,
};
use crate::ir::InstRef;

/// The constants that a matrix type is made with, where they are known.
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
    fn of(cx: &VerifyContext<'_>, ty: u32) -> Option<CooperativeMatrix> {
        let inst = cx.inst(ty).filter(|i| is_matrix(i.op()))?;
        let known = |at: usize| cx.constant(*inst.operands().get(at)?);
        Some(CooperativeMatrix {
            op: inst.op(),
            component: inst.word(0),
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

fn require(holds: bool, message: impl FnOnce() -> String) -> VerifyResult {
    ensure(Rule::CooperativeMatrices, holds, message)
}

/// Whether two numbers are the same, as far as both are known.
fn agree(a: Option<u64>, b: Option<u64>) -> bool {
    a.is_none() || b.is_none() || a == b
}

/// Checks the capabilities that go with matrices.
pub(super) fn module(cx: &VerifyContext<'_>) -> VerifyResult {
    let needs = cx.is_shader && cx.has(Capability::CooperativeMatrixKHR);
    require(!needs || cx.has(Capability::VulkanMemoryModel), || {
        "cooperative matrices in shaders need the capability VulkanMemoryModel".to_owned()
    })
}

/// Checks the declaration of a matrix type.
pub(super) fn declaration(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let component = cx.op(inst.word(0));
    require(matches!(component, Op::TypeInt | Op::TypeFloat), || {
        format!(
            "its components are {}, no numbers",
            cx.describe(inst.word(0))
        )
    })?;
    let names = ["scope", "number of rows", "number of columns", "use"];
    for (name, id) in names.iter().zip(&inst.operands()[1..]) {
        let is_int = cx.value_shape(*id).op == Op::TypeInt;
        require(is_int && cx.is_constant(*id), || {
            format!("its {name} %{id} is no constant integer")
        })?;
    }
    let scope = cx.constant(inst.word(1)).map(|scope| Scope(scope as u32));
    let taken = scope.is_none_or(|scope| matches!(scope, Scope::Workgroup | Scope::Subgroup));
    require(taken, || {
        format!(
            "its scope is {}, neither Workgroup nor Subgroup",
            scope.unwrap_or(Scope::Device)
        )
    })
}

/// Checks an instruction on matrices.
pub(super) fn check(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    match inst.op() {
        Op::CooperativeMatrixLoadKHR => {
            let result = inst.words()[0];
            access(cx, inst, result, inst.word(0), 1)
        }
        Op::CooperativeMatrixStoreKHR => access(cx, inst, cx.ty(inst.word(1)), inst.word(0), 2),
        Op::CooperativeMatrixLoadNV => {
            let result = inst.words()[0];
            access_nv(cx, inst, result, inst.word(0), 1)
        }
        Op::CooperativeMatrixStoreNV => access_nv(cx, inst, cx.ty(inst.word(1)), inst.word(0), 2),
        Op::CooperativeMatrixMulAddKHR | Op::CooperativeMatrixMulAddNV => multiply(cx, inst),
        Op::CooperativeMatrixLengthKHR | Op::CooperativeMatrixLengthNV => {
            length(cx, inst.op(), inst.words()[0], inst.word(0))
        }
        Op::CooperativeMatrixConvertNV | Op::CooperativeMatrixTransposeNV => convert_use(cx, inst),
        Op::CooperativeMatrixReduceNV => reduce(cx, inst),
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
fn pointer(cx: &VerifyContext<'_>, id: u32) -> VerifyResult {
    let shape = cx.value_shape(id);
    require(is_pointer(shape.op), || {
        format!("%{id} is of {}, not a pointer", cx.describe(cx.ty(id)))
    })?;
    let shared = matches!(
        shape.class,
        StorageClass::Workgroup | StorageClass::StorageBuffer | StorageClass::PhysicalStorageBuffer
    );
    require(!cx.is_vulkan() || shared, || {
        format!("matrices are not in memory of the class {}", shape.class)
    })?;
    let part = super::signatures::parts(cx, shape.part).part;
    let numbers = matches!(part.op, Op::TypeInt | Op::TypeFloat);
    require(shape.op == Op::TypeUntypedPointerKHR || numbers, || {
        format!(
            "the pointer points to {}, neither numbers nor vectors of them",
            cx.describe(shape.part)
        )
    })
}

fn access(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    matrix: u32,
    id: u32,
    at: usize,
) -> VerifyResult {
    require(cx.op(matrix) == Op::TypeCooperativeMatrixKHR, || {
        format!("{} is no cooperative matrix", cx.describe(matrix))
    })?;
    pointer(cx, id)?;
    let layout = inst.word(at);
    let is_int = cx.value_shape(layout).op == Op::TypeInt;
    require(is_int && cx.is_constant(layout), || {
        format!("the memory layout %{layout} is no constant integer")
    })?;
    let stride = inst.operands().get(at + 1).copied();
    let known = cx.constant(layout).map(|layout| Layout(layout as u32));
    let strided = matches!(known, Some(Layout::RowMajorKHR | Layout::ColumnMajorKHR));
    require(!strided || stride.is_some(), || {
        "a memory layout by rows or columns has a stride".to_owned()
    })?;
    if let Some(stride) = stride {
        require(cx.value_shape(stride).op == Op::TypeInt, || {
            format!("the stride %{stride} is no integer")
        })?;
    }
    super::memory::access(cx, inst, at + 2, [cx.value_shape(id).class; 2])
}

fn access_nv(
    cx: &VerifyContext<'_>,
    inst: InstRef<'_>,
    matrix: u32,
    id: u32,
    at: usize,
) -> VerifyResult {
    require(cx.op(matrix) == Op::TypeCooperativeMatrixNV, || {
        format!("{} is no cooperative matrix", cx.describe(matrix))
    })?;
    pointer(cx, id)?;
    let (stride, by_columns) = (inst.word(at), inst.word(at + 1));
    require(cx.value_shape(stride).op == Op::TypeInt, || {
        format!("the stride %{stride} is no integer")
    })?;
    let is_bool = cx.value_shape(by_columns).op == Op::TypeBool;
    require(is_bool && cx.is_constant(by_columns), || {
        format!("%{by_columns}, whether columns are contiguous, is no constant boolean")
    })?;
    super::memory::access(cx, inst, at + 2, [cx.value_shape(id).class; 2])
}

fn multiply(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let wanted = match inst.op() {
        Op::CooperativeMatrixMulAddNV => Op::TypeCooperativeMatrixNV,
        _ => Op::TypeCooperativeMatrixKHR,
    };
    let types = [
        cx.ty(inst.word(0)),
        cx.ty(inst.word(1)),
        cx.ty(inst.word(2)),
        inst.words()[0],
    ];
    let matrices = types.map(|ty| CooperativeMatrix::of(cx, ty).filter(|m| m.op == wanted));
    let [Some(a), Some(b), Some(c), Some(d)] = matrices else {
        return require(false, || {
            "result and operands are not all cooperative matrices".to_owned()
        });
    };
    let uses = [
        (&a, Use::MatrixAKHR, "A"),
        (&b, Use::MatrixBKHR, "B"),
        (&c, Use::MatrixAccumulatorKHR, "C"),
    ];
    for (matrix, wanted, name) in uses {
        require(agree(matrix.usage, Some(wanted.0.into())), || {
            format!("the matrix {name} does not have the use {wanted}")
        })?;
    }
    let all = [&a, &b, &c, &d];
    let scopes = all.iter().all(|m| agree(m.scope, a.scope))
        && agree(b.scope, c.scope)
        && agree(c.scope, d.scope);
    require(scopes, || "the matrices differ in scope".to_owned())?;
    let rows = agree(a.rows, c.rows) && agree(a.rows, d.rows) && agree(c.rows, d.rows);
    require(rows, || {
        "A, C and the result differ in the number of rows".to_owned()
    })?;
    let columns =
        agree(b.columns, c.columns) && agree(b.columns, d.columns) && agree(c.columns, d.columns);
    require(columns, || {
        "B, C and the result differ in the number of columns".to_owned()
    })?;
    require(agree(a.columns, b.rows), || {
        "A does not have as many columns as B has rows".to_owned()
    })
}

/// Checks what asks for the number of a matrix type's components.
pub(super) fn length(cx: &VerifyContext<'_>, op: Op, result: u32, ty: u32) -> VerifyResult {
    let wanted = match op {
        Op::CooperativeMatrixLengthNV => Op::TypeCooperativeMatrixNV,
        _ => Op::TypeCooperativeMatrixKHR,
    };
    let shape = cx.shape(result);
    require(
        shape.op == Op::TypeInt && shape.width == 32 && !shape.signed,
        || "the result is no integer of 32 bits without sign".to_owned(),
    )?;
    require(cx.op(ty) == wanted, || {
        format!("{} is no cooperative matrix", cx.describe(ty))
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
        CooperativeMatrix::of(cx, result),
        CooperativeMatrix::of(cx, operand),
    ) else {
        let both = is_matrix(cx.op(result)) == is_matrix(cx.op(operand));
        return require(both, || {
            "result and operand are not both cooperative matrices".to_owned()
        });
    };
    let shapes = to.op == from.op
        && agree(to.scope, from.scope)
        && agree(to.rows, from.rows)
        && agree(to.columns, from.columns);
    require(shapes, || {
        "the matrices differ in scope, rows or columns".to_owned()
    })?;
    let accumulates =
        |matrix: &CooperativeMatrix| matrix.usage == Some(Use::MatrixAccumulatorKHR.0.into());
    let conversion = converts
        && (accumulates(&from) && cx.has(Capability::CooperativeMatrixConversionsNV)
            || (accumulates(&from) || accumulates(&to))
                && cx.has(Capability::CooperativeMatrixConversionsEXT));
    require(agree(to.usage, from.usage) || conversion, || {
        "the matrices differ in use".to_owned()
    })
}

/// From an accumulator to a matrix of another use, and transposed on the way.
fn convert_use(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, operand) = (inst.words()[0], cx.ty(inst.word(0)));
    let (Some(to), Some(from)) = (
        CooperativeMatrix::of(cx, result),
        CooperativeMatrix::of(cx, operand),
    ) else {
        return require(false, || {
            "result and operand are not both cooperative matrices".to_owned()
        });
    };
    let transposes = inst.op() == Op::CooperativeMatrixTransposeNV;
    let (rows, columns) = match transposes {
        true => (from.columns, from.rows),
        false => (from.rows, from.columns),
    };
    let shapes = agree(to.scope, from.scope) && agree(to.rows, rows) && agree(to.columns, columns);
    require(shapes, || {
        "the matrices do not fit in scope, rows and columns".to_owned()
    })?;
    require(to.component == from.component, || {
        "the matrices have different components".to_owned()
    })?;
    let accumulates = agree(from.usage, Some(Use::MatrixAccumulatorKHR.0.into()));
    let becomes = agree(to.usage, Some(Use::MatrixBKHR.0.into()))
        || !transposes && agree(to.usage, Some(Use::MatrixAKHR.0.into()));
    require(accumulates && becomes, || {
        "a use is converted from an accumulator to A or B, and transposed to B".to_owned()
    })
}

fn reduce(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let (result, operand) = (inst.words()[0], cx.ty(inst.word(0)));
    let (Some(to), Some(from)) = (
        CooperativeMatrix::of(cx, result),
        CooperativeMatrix::of(cx, operand),
    ) else {
        return require(false, || {
            "result and operand are not both cooperative matrices".to_owned()
        });
    };
    require(to.component == from.component, || {
        "the matrices have different components".to_owned()
    })?;
    require(agree(to.scope, from.scope), || {
        "the matrices differ in scope".to_owned()
    })?;
    let accumulator = Some(Use::MatrixAccumulatorKHR.0.into());
    require(
        agree(to.usage, accumulator) && agree(from.usage, accumulator),
        || "the matrices are no accumulators".to_owned(),
    )?;
    function(cx, *inst.operands().last().unwrap_or(&0), to.component, 0)
}

fn per_element(cx: &VerifyContext<'_>, inst: InstRef<'_>) -> VerifyResult {
    let result = inst.words()[0];
    let Some(matrix) = CooperativeMatrix::of(cx, result).filter(|_| cx.ty(inst.word(0)) == result)
    else {
        return require(false, || {
            "the operand is no cooperative matrix of the result's type".to_owned()
        });
    };
    function(cx, inst.word(1), matrix.component, 2)
}

/// A function that is called with components, behind so many indices.
fn function(cx: &VerifyContext<'_>, id: u32, component: u32, indices: usize) -> VerifyResult {
    let ty = cx.inst(id).filter(|f| f.op() == Op::Function);
    let ty = ty.and_then(|f| cx.inst(f.word(1)));
    let Some(ty) = ty.filter(|t| t.op() == Op::TypeFunction) else {
        return require(false, || format!("%{id} is no function"));
    };
    require(ty.word(0) == component, || {
        format!("the function %{id} does not return a component")
    })?;
    let params = &ty.operands()[1..];
    let of_index = |param: &u32| {
        let shape = cx.shape(*param);
        shape.op == Op::TypeInt && shape.width == 32
    };
    let fits = params.len() > indices
        && params[..indices].iter().all(of_index)
        && params[indices] == component;
    require(fits, || {
        format!("the function %{id} does not take a component of the matrix")
    })
}
