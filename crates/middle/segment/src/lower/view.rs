//! Views of memory: where the elements of an array are.

use super::FunctionLowering;
use spirula_kernel::ir::{ExprId, MemoryElement, StmtKind, VarId, VariableType};
use spirula_program::{ScalarLiteral, ScalarOp, ScalarOperator, ScalarType};

/// A scalar of the program that is made: a constant, or a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ScalarRef {
    /// A constant.
    Constant(ScalarLiteral),
    /// A variable.
    Var(VarId),
}

impl ScalarRef {
    /// An `i64`.
    pub(super) fn from_int64(value: i64) -> Self {
        ScalarRef::Constant(ScalarLiteral::from_i64(value))
    }

    /// The value of a constant integer.
    pub(super) fn to_int64(self) -> Option<i64> {
        match self {
            ScalarRef::Constant(literal) => Some(literal.to_signed()),
            ScalarRef::Var(_) => None,
        }
    }
}

/// The order of the elements of an array in memory, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementOrder {
    /// They fill the block from its beginning, in row-major order.
    RowMajor,
    /// They may do so: strides are chosen when the program runs.
    Chosen,
    /// The strides say where they are.
    Strided,
}

/// An array: element `[i, j, …]` is element `offset + i * strides[0] + j * strides[1] + …` of a block.
#[derive(Clone, Debug)]
pub(super) struct ArrayView {
    /// The block.
    pub(super) memory: VarId,
    /// The type of the elements.
    pub(super) element: ScalarType,
    /// The first element.
    pub(super) offset: ScalarRef,
    /// The distance of elements in each dimension.
    pub(super) strides: Vec<ScalarRef>,
    /// The sizes.
    pub(super) shape: Vec<ScalarRef>,
    /// The order of the elements in memory.
    pub(super) order: ElementOrder,
}

impl ArrayView {
    /// Whether the elements are where those of another array of the same sizes are.
    pub(super) fn is_same_place(&self, other: &ArrayView) -> bool {
        self.memory == other.memory && self.offset == other.offset && self.strides == other.strides
    }
}

impl FunctionLowering<'_> {
    /// The value of a scalar. A kernel that reads a variable of the host captures it.
    pub(super) fn read(&mut self, scalar: ScalarRef) -> ExprId {
        match scalar {
            ScalarRef::Constant(literal) => self.builder.make_literal(literal),
            ScalarRef::Var(var) => {
                self.capture(var, false);
                self.builder.read_var(var)
            }
        }
    }

    /// A new scalar variable with a value.
    pub(super) fn assign(&mut self, name: &str, scalar: ScalarType, value: ExprId) -> ScalarRef {
        let var = self
            .builder
            .declare_var(name, VariableType::Scalar(scalar), false);
        self.builder.push_assignment(var, value);
        ScalarRef::Var(var)
    }

    /// The result of an operator on `i64`. Constants are folded.
    pub(super) fn int64(&mut self, op: ScalarOp, left: ScalarRef, right: ScalarRef) -> ScalarRef {
        let operator = ScalarOperator::with_type(op, ScalarType::I64);
        match (op, left.to_int64(), right.to_int64()) {
            (_, Some(left), Some(right)) => {
                return ScalarRef::from_int64(
                    operator.eval_operands(&[left as u64, right as u64]) as i64
                );
            }
            (ScalarOp::Add, Some(0), _) | (ScalarOp::Mul, Some(1), _) => return right,
            (ScalarOp::Add | ScalarOp::Sub, _, Some(0)) | (ScalarOp::Mul, _, Some(1)) => {
                return left;
            }
            (ScalarOp::Mul, Some(0), _) | (ScalarOp::Mul, _, Some(0)) => {
                return ScalarRef::from_int64(0);
            }
            _ => {}
        }
        let operands = [self.read(left), self.read(right)];
        let value = self.builder.apply_operator(operator, &operands);
        self.assign("i", ScalarType::I64, value)
    }

    /// The product of sizes.
    pub(super) fn product(&mut self, sizes: &[ScalarRef]) -> ScalarRef {
        let one = ScalarRef::from_int64(1);
        sizes.iter().fold(one, |product, &size| {
            self.int64(ScalarOp::Mul, product, size)
        })
    }

    /// The strides of an array in row-major order.
    pub(super) fn dense_strides(&mut self, shape: &[ScalarRef]) -> Vec<ScalarRef> {
        (0..shape.len())
            .map(|dimension| self.product(&shape[dimension + 1..]))
            .collect()
    }

    /// The whole of a block as an array.
    pub(super) fn dense_view(
        &mut self,
        memory: VarId,
        element: ScalarType,
        shape: Vec<ScalarRef>,
    ) -> ArrayView {
        ArrayView {
            memory,
            element,
            offset: ScalarRef::from_int64(0),
            strides: self.dense_strides(&shape),
            shape,
            order: ElementOrder::RowMajor,
        }
    }

    /// The element or row of an array at a position of its outermost dimension.
    pub(super) fn row_view(&mut self, view: &ArrayView, position: ScalarRef) -> ArrayView {
        let distance = self.int64(ScalarOp::Mul, position, view.strides[0]);
        ArrayView {
            memory: view.memory,
            element: view.element,
            offset: self.int64(ScalarOp::Add, view.offset, distance),
            strides: view.strides[1..].to_vec(),
            shape: view.shape[1..].to_vec(),
            order: ElementOrder::Strided,
        }
    }

    /// The element of a block at an index.
    pub(super) fn element(&mut self, view: &ArrayView) -> MemoryElement {
        self.capture(view.memory, true);
        MemoryElement {
            memory: view.memory,
            ty: view.element,
            index: self.read(view.offset),
            volatile: false,
        }
    }

    /// Reads the only element of an array without dimensions.
    pub(super) fn load(&mut self, view: &ArrayView) -> ScalarRef {
        self.begin_group_read();
        let to = self
            .builder
            .declare_var("x", VariableType::Scalar(view.element), false);
        let from = self.element(view);
        self.builder.push_statement(StmtKind::Read { to, from });
        ScalarRef::Var(to)
    }

    /// Writes the only element of an array without dimensions.
    pub(super) fn store(&mut self, view: &ArrayView, value: ScalarRef) {
        let written = self.write_alone(|lowering| {
            let to = lowering.element(view);
            let value = lowering.read(value);
            lowering
                .builder
                .push_statement(StmtKind::Write { to, value });
            Ok(())
        });
        debug_assert!(written.is_ok(), "a store cannot fail");
    }
}
