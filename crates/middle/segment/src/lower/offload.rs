//! Kernels: what the host launches, and what they capture of it.

use super::view::{ArrayView, ElementOrder, ScalarRef};
use super::{FunctionLowering, KernelScope};
use spirula_diagnostics::SourceLocation;
use spirula_kernel::ir::{
    BlockSize, KernelCapture, KernelData, LaunchIndex, MemorySpace, StmtKind, VarId, VariableType,
};
use spirula_program::{ScalarOp, ScalarOperator, ScalarType};

/// Most bytes of an array that an invocation has for itself.
const PRIVATE_BYTES: i64 = 512;

/// Bytes of the lines of caches that a processor fetches together.
const CACHE_LINES: i64 = 128;

/// The invocations of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct InvocationGrid {
    /// Their number.
    pub(super) width: ScalarRef,
    /// The number of those of a workgroup.
    pub(super) group_size: ScalarRef,
}

impl FunctionLowering<'_> {
    /// Notes that the kernel uses a variable of the host.
    pub(super) fn capture(&mut self, var: VarId, is_memory: bool) {
        let Some(kernel) = &mut self.kernel else {
            return;
        };
        let is_scratch = kernel.scratch.iter().any(|(scratch, _, _)| *scratch == var);
        let is_outer = var.index() < kernel.first_var || is_scratch;
        if is_outer && !kernel.captures.contains(&(var, is_memory)) {
            kernel.captures.push((var, is_memory));
        }
    }

    /// Begins a kernel with a number of invocations. Statements after it belong to its body.
    pub(super) fn begin_kernel(&mut self, width: ScalarRef) -> Result<(), String> {
        self.builder.begin_block();
        self.kernel = Some(KernelScope {
            first_var: self.builder.program().vars.len(),
            invocation: ScalarRef::from_int64(0),
            width,
            captures: Vec::new(),
            scratch: Vec::new(),
            is_alone: false,
            computed: Vec::new(),
            group: None,
        });
        self.compute_deferred()
    }

    /// Makes a kernel with a number of invocations and launches it. `body` is given the number of the invocation.
    pub(super) fn offload(
        &mut self,
        grid: InvocationGrid,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        self.begin_kernel(grid.width)?;
        self.lower_invocation(grid, body)?;
        self.launch_kernel(grid)
    }

    /// Ends a kernel and launches it.
    pub(super) fn launch_kernel(&mut self, grid: InvocationGrid) -> Result<(), String> {
        let InvocationGrid { width, group_size } = grid;
        let block = self.builder.end_block();
        let Some(kernel) = self.kernel.take() else {
            return Err("a kernel has no scope".into());
        };
        self.restore_values(kernel.computed);
        for (var, element, sizes) in &kernel.scratch {
            let size = self.scratch_size(*element, sizes, kernel.is_alone);
            self.builder.push_statement(StmtKind::Declare(*var));
            self.allocate(*var, *element, &[width, size]);
        }
        let captures = kernel.captures.into_iter().map(|(var, is_memory)| {
            if is_memory {
                KernelCapture::Memory(var)
            } else {
                KernelCapture::Scalar(var)
            }
        });
        let captures = captures.collect();
        let groups = self.int64(ScalarOp::SDivUp, width, group_size);
        let blocks = vec![self.read(groups)];
        let size = self.read(group_size);
        let size = match group_size {
            ScalarRef::Constant(_) => BlockSize::Constant(size),
            ScalarRef::Var(_) => BlockSize::Dynamic(size),
        };
        let kernel = self.builder.add_kernel(KernelData {
            label: None,
            blocks,
            block_size: vec![size],
            captures,
            failure_tolerant: false,
            body: block,
            place: SourceLocation::Unknown,
        });
        self.builder.push_statement(StmtKind::Launch(kernel));
        Ok(())
    }

    /// The body of a kernel with several invocations: those beyond the last do nothing.
    fn lower_invocation(
        &mut self,
        grid: InvocationGrid,
        body: impl FnOnce(&mut Self, ScalarRef) -> Result<(), String>,
    ) -> Result<(), String> {
        let InvocationGrid { width, group_size } = grid;
        let group = self.read_index("group", LaunchIndex::Group);
        if group_size == ScalarRef::from_int64(1) {
            if let Some(kernel) = &mut self.kernel {
                kernel.is_alone = true;
            }
            self.set_invocation(group);
            return body(self, group);
        }
        let local = self.read_index("local", LaunchIndex::Local);
        let first = self.int64(ScalarOp::Mul, group, group_size);
        let invocation = self.int64(ScalarOp::Add, first, local);
        self.set_invocation(invocation);
        let is_inside = self.compare(ScalarOp::SLt, invocation, width);
        self.choose(is_inside, |lowering| body(lowering, invocation), |_| Ok(()))
    }

    /// Notes the number of the invocation, of all that run.
    pub(super) fn set_invocation(&mut self, invocation: ScalarRef) {
        if let Some(kernel) = &mut self.kernel {
            kernel.invocation = invocation;
        }
    }

    /// A number of the launch as an `i64`.
    pub(super) fn read_index(&mut self, name: &str, part: LaunchIndex) -> ScalarRef {
        let to = self
            .builder
            .declare_var(name, VariableType::Scalar(ScalarType::I32), false);
        let dimension = 0;
        self.builder.push_statement(StmtKind::Position {
            to,
            part,
            dimension,
        });
        let number = self.builder.read_var(to);
        let widen =
            ScalarOperator::from_conversion(ScalarOp::SExt, ScalarType::I32, ScalarType::I64);
        let wide = self.builder.apply_operator(widen, &[number]);
        self.assign(name, ScalarType::I64, wide)
    }

    /// Allocates a block of the device for elements of some sizes.
    pub(super) fn allocate(&mut self, to: VarId, element: ScalarType, sizes: &[ScalarRef]) {
        let count = self.product(sizes);
        let bytes = self.int64(
            ScalarOp::Mul,
            count,
            ScalarRef::from_int64(element.size() as i64),
        );
        let bytes = self.read(bytes);
        self.builder.push_statement(StmtKind::Alloc { to, bytes });
    }

    /// A new array: a block of the host, or in a kernel the invocation's part of a block. The sizes of the latter are the
    /// host's.
    pub(super) fn new_array(&mut self, element: ScalarType, shape: Vec<ScalarRef>) -> ArrayView {
        let device = VariableType::Memory(MemorySpace::Device);
        if self.kernel.is_none() {
            let var = self.builder.declare_var("mem", device, false);
            self.allocate(var, element, &shape);
            return self.dense_view(var, element, shape);
        }
        if self.is_in_group() {
            return self.new_group_array(element, shape);
        }
        match self.new_private_array(element, &shape) {
            Some(array) => array,
            None => self.new_scratch_array(element, shape),
        }
    }

    /// The invocation's part of a block that the host allocates. The sizes are the host's.
    pub(super) fn new_scratch_array(
        &mut self,
        element: ScalarType,
        shape: Vec<ScalarRef>,
    ) -> ArrayView {
        let device = VariableType::Memory(MemorySpace::Device);
        let memory = self.builder.new_var("scratch", device);
        let (mut invocation, mut is_alone) = (ScalarRef::from_int64(0), false);
        if let Some(kernel) = &mut self.kernel {
            kernel.scratch.push((memory, element, shape.clone()));
            invocation = kernel.invocation;
            is_alone = kernel.is_alone;
        }
        let offset = if self.interleaves_scratch() {
            invocation
        } else {
            let size = self.scratch_size(element, &shape, is_alone);
            self.int64(ScalarOp::Mul, invocation, size)
        };
        ArrayView {
            memory,
            element,
            offset,
            strides: self.new_strides(&shape),
            shape,
            order: if offset == ScalarRef::from_int64(0) {
                ElementOrder::RowMajor
            } else {
                ElementOrder::Strided
            },
        }
    }

    /// Number of elements of an invocation's part of a block. Where invocations are alone in their workgroups, parts share no
    /// line of caches: another processor writes the next part at the same time.
    fn scratch_size(
        &mut self,
        element: ScalarType,
        shape: &[ScalarRef],
        is_alone: bool,
    ) -> ScalarRef {
        let size = self.product(shape);
        if self.interleaves_scratch() || !is_alone {
            return size;
        }
        let line = CACHE_LINES / element.size().max(1) as i64;
        let line = ScalarRef::from_int64(line);
        let lines = self.int64(ScalarOp::SDivUp, size, line);
        self.int64(ScalarOp::Mul, lines, line)
    }

    /// A small array of an invocation, which takes no part of a block.
    fn new_private_array(&mut self, element: ScalarType, shape: &[ScalarRef]) -> Option<ArrayView> {
        let sizes = shape.iter().map(|size| size.to_int64());
        let count = self.count_private(element, sizes)?;
        let length = self.builder.make_i64(count);
        let array = self.builder.add_array_type(element, vec![length]);
        let array_type = VariableType::Array(array);
        let memory = self.builder.declare_var("private", array_type, false);
        Some(self.dense_view(memory, element, shape.to_vec()))
    }

    /// The number of elements of an array, if it is so small that an invocation of the device has it for itself.
    pub(super) fn count_private(
        &self,
        element: ScalarType,
        sizes: impl IntoIterator<Item = Option<i64>>,
    ) -> Option<i64> {
        let most = PRIVATE_BYTES / element.size().max(1) as i64;
        let mut sizes = sizes.into_iter();
        let count = sizes.try_fold(1i64, |count, size| count.checked_mul(size?))?;
        (self.interleaves_scratch() && (0..=most).contains(&count)).then_some(count)
    }

    /// Whether elements of the arrays of different invocations with the same position follow each other: invocations that
    /// run in lockstep reach them together.
    pub(super) fn interleaves_scratch(&self) -> bool {
        self.profile.runs_in_lockstep()
    }

    /// The strides of an array of an invocation.
    fn new_strides(&mut self, shape: &[ScalarRef]) -> Vec<ScalarRef> {
        let width = match &self.kernel {
            Some(kernel) if self.interleaves_scratch() => kernel.width,
            _ => ScalarRef::from_int64(1),
        };
        self.scaled_strides(shape, width)
    }

    /// The strides of the elements of a new array with other sizes.
    pub(super) fn strides_like(
        &mut self,
        array: &ArrayView,
        shape: &[ScalarRef],
    ) -> Vec<ScalarRef> {
        let one = ScalarRef::from_int64(1);
        self.scaled_strides(shape, array.strides.last().copied().unwrap_or(one))
    }

    fn scaled_strides(&mut self, shape: &[ScalarRef], distance: ScalarRef) -> Vec<ScalarRef> {
        let strides = self.dense_strides(shape).into_iter();
        strides
            .map(|stride| self.int64(ScalarOp::Mul, stride, distance))
            .collect()
    }
}
