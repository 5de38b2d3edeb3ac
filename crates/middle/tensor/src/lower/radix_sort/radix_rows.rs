//! The rows of a sort and their chunks.

use super::kernel_code::{RadixKernelCode, RadixPass, WORD_BYTES};
use spirula_kernel::ProgramBuilder;
use spirula_kernel::ir::{ExprId, LaunchIndex, VarId, VariableType};
use spirula_program::{ScalarOp, ScalarType};

/// A size that the host knows, at once or when it runs.
#[derive(Clone, Copy)]
pub(super) enum HostSize {
    Known(u64),
    Variable(VarId),
}

impl HostSize {
    pub fn to_i64(self, b: &mut ProgramBuilder) -> ExprId {
        match self {
            HostSize::Known(size) => b.make_i64(size as i64),
            HostSize::Variable(var) => b.read_var(var),
        }
    }

    pub fn to_i32(self, code: &mut RadixKernelCode<'_>) -> ExprId {
        match self {
            HostSize::Known(size) => code.number(size as i64),
            HostSize::Variable(var) => {
                let size = code.b.read_var(var);
                code.narrow(size)
            }
        }
    }

    /// A size that is computed from others.
    pub fn compute(
        b: &mut ProgramBuilder,
        from: &[HostSize],
        known: impl FnOnce(&[u64]) -> u64,
        emit: impl FnOnce(&mut ProgramBuilder, &[ExprId]) -> ExprId,
    ) -> HostSize {
        let sizes = from.iter().map(|size| match size {
            HostSize::Known(size) => Some(*size),
            HostSize::Variable(_) => None,
        });
        if let Some(sizes) = sizes.collect::<Option<Vec<u64>>>() {
            return HostSize::Known(known(&sizes));
        }
        let sizes: Vec<ExprId> = from.iter().map(|size| size.to_i64(b)).collect();
        let value = emit(b, &sizes);
        let var = b.declare_var("n", VariableType::Scalar(ScalarType::I64), false);
        b.push_assignment(var, value);
        HostSize::Variable(var)
    }
}

/// The rows of a sort, and their chunks.
pub(super) struct RadixRows {
    /// Number of rows.
    pub count: HostSize,
    /// Elements of a row.
    pub length: HostSize,
    /// Elements of a chunk.
    pub chunk: HostSize,
    /// Chunks of a row.
    pub chunks: HostSize,
}

/// The chunk of a kernel's workgroup.
pub(super) struct RowChunk {
    /// Number of the row.
    pub row: ExprId,
    /// Number of the chunk in its row.
    pub number: ExprId,
    /// Index of its first element in the row.
    pub first: ExprId,
    /// Number of its elements.
    pub count: ExprId,
}

impl RadixRows {
    /// Rows in chunks. `limits` are the elements of the smallest chunk, and the most chunks of a row.
    pub fn new(
        b: &mut ProgramBuilder,
        count: HostSize,
        length: HostSize,
        [least, most]: [u64; 2],
    ) -> RadixRows {
        let chunk = HostSize::compute(
            b,
            &[length],
            |n| n[0].div_ceil(least * most).max(1) * least,
            |b, n| {
                let whole = b.make_i64((least * most) as i64);
                let parts = b.apply_op(ScalarOp::SDivUp, &[n[0], whole]);
                let one = b.make_i64(1);
                let parts = b.apply_op(ScalarOp::SMax, &[parts, one]);
                let least = b.make_i64(least as i64);
                b.apply_op(ScalarOp::Mul, &[parts, least])
            },
        );
        let chunks = HostSize::compute(
            b,
            &[length, chunk],
            |n| n[0].div_ceil(n[1]).max(1),
            |b, n| {
                let chunks = b.apply_op(ScalarOp::SDivUp, n);
                let one = b.make_i64(1);
                b.apply_op(ScalarOp::SMax, &[chunks, one])
            },
        );
        RadixRows {
            count,
            length,
            chunk,
            chunks,
        }
    }

    pub fn is_single_chunk(&self) -> bool {
        matches!(self.chunks, HostSize::Known(1))
    }

    /// The number of workgroups that have a chunk each, an `i64`.
    pub fn count_groups(&self, b: &mut ProgramBuilder) -> ExprId {
        let factors = [self.count.to_i64(b), self.chunks.to_i64(b)];
        b.apply_op(ScalarOp::Mul, &factors)
    }

    /// Bytes of the totals of a pass, an `i64`: of each digit in each chunk, and of each digit in each row.
    pub fn total_bytes(&self, b: &mut ProgramBuilder, pass: RadixPass) -> ExprId {
        let parts = [self.count_groups(b), self.count.to_i64(b)];
        let parts = b.apply_op(ScalarOp::Add, &parts);
        let bytes = b.make_i64(pass.digits() * WORD_BYTES);
        b.apply_op(ScalarOp::Mul, &[parts, bytes])
    }

    /// The index of a row's first element, an `i64`.
    pub fn first_element(&self, code: &mut RadixKernelCode<'_>, row: ExprId) -> ExprId {
        let row = code.widen(row);
        let length = self.length.to_i64(code.b);
        let first = code.apply(ScalarOp::Mul, &[row, length]);
        code.bind("first", first)
    }

    /// The index of an element of a row that begins at an index. It is an `i32` where there is one row.
    pub fn element_place(&self, code: &mut RadixKernelCode<'_>, row: ExprId, at: ExprId) -> ExprId {
        if self.is_single_row() {
            return at;
        }
        let at = code.widen(at);
        code.add(row, at)
    }

    fn is_single_row(&self) -> bool {
        matches!(self.count, HostSize::Known(1))
    }

    /// Emits the position of the workgroup's chunk.
    pub fn begin_chunk(&self, code: &mut RadixKernelCode<'_>) -> RowChunk {
        let group = code.position("group", LaunchIndex::Group);
        let [row, number] = if self.is_single_row() {
            [code.number(0), group]
        } else {
            let chunks = self.chunks.to_i32(code);
            let row = code.apply(ScalarOp::UDiv, &[group, chunks]);
            let number = code.apply(ScalarOp::UMod, &[group, chunks]);
            [code.bind("row", row), code.bind("chunk", number)]
        };
        let size = self.chunk.to_i32(code);
        let first = code.apply(ScalarOp::Mul, &[number, size]);
        let first = code.bind("begin", first);
        let length = self.length.to_i32(code);
        let rest = code.apply(ScalarOp::Sub, &[length, first]);
        let count = code.apply(ScalarOp::SMin, &[rest, size]);
        RowChunk {
            row,
            number,
            first,
            count: code.bind("count", count),
        }
    }

    /// The index of the total of a digit in a whole row, an `i64`. These totals come after those of chunks.
    pub fn digit_total_place(
        &self,
        code: &mut RadixKernelCode<'_>,
        pass: RadixPass,
        digit: ExprId,
    ) -> ExprId {
        let groups = self.count_groups(code.b);
        let digits = code.b.make_i64(pass.digits());
        let first = code.apply(ScalarOp::Mul, &[groups, digits]);
        let digit = code.widen(digit);
        code.add(first, digit)
    }

    /// The index of the first total of a row, an `i64`, and the number of its totals.
    pub fn locate_totals(
        &self,
        code: &mut RadixKernelCode<'_>,
        row: ExprId,
        pass: RadixPass,
    ) -> (ExprId, ExprId) {
        let chunks = self.chunks.to_i32(code);
        let count = code.multiply(chunks, pass.digits());
        let count = code.bind("totals", count);
        let [row, wide] = [row, count].map(|number| code.widen(number));
        let first = code.apply(ScalarOp::Mul, &[row, wide]);
        (code.bind("first_total", first), count)
    }
}

impl RowChunk {
    /// The index of the chunk's total of a digit, an `i64`.
    pub fn total_place(
        &self,
        code: &mut RadixKernelCode<'_>,
        rows: &RadixRows,
        pass: RadixPass,
        digit: ExprId,
    ) -> ExprId {
        let row = code.multiply(self.row, pass.digits());
        let row = code.add(row, digit);
        let chunks = rows.chunks.to_i32(code);
        let [row, chunks, number] = [row, chunks, self.number].map(|n| code.widen(n));
        let first = code.apply(ScalarOp::Mul, &[row, chunks]);
        code.add(first, number)
    }
}
