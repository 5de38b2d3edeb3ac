//! Captures of kernels: globals of the program that a kernel needs through the functions that it calls.
//!
//! A function sees the globals of the program. On a device it is inlined where it is called, so the globals that it
//! mentions have to be among the captures of the kernel.

use crate::call_graph;
use crate::ir::{
    ExprId, FragmentOp, FuncArgument, FuncId, KernelCapture, KernelId, KernelProgram, MemorySpace,
    MessageSegment, StmtBlock, StmtKind, VarId, VariableType,
};
use rustc_hash::FxHashSet;

/// Adds to the captures of each kernel the globals that its functions mention.
pub(crate) fn complete_kernel_captures(program: &mut KernelProgram) {
    if program.globals.is_empty() {
        return;
    }
    for kernel in program.kernel_ids() {
        for var in find_missing_captures(program, kernel) {
            let used = match program.var(var).ty {
                VariableType::Scalar(_) => KernelCapture::Scalar(var),
                _ => KernelCapture::Memory(var),
            };
            program.kernels[kernel.index()].captures.push(used);
        }
    }
}

/// The globals that functions called from a kernel mention and that the kernel does not capture, in their order.
/// Only scalars and blocks of device memory can be captured.
pub(crate) fn find_missing_captures(program: &KernelProgram, kernel: KernelId) -> Vec<VarId> {
    let data = program.kernel(kernel);
    let mut wanted: FxHashSet<VarId> = FxHashSet::default();
    for function in collect_called_functions(program, data.body) {
        if let Some(body) = program.function(function).body {
            each_mentioned(program, body, &mut |var| {
                wanted.insert(var);
            });
        }
    }
    for used in &data.captures {
        let (KernelCapture::Scalar(var)
        | KernelCapture::Memory(var)
        | KernelCapture::Constant(var, _)) = used;
        wanted.remove(var);
    }
    let is_usable = |var: &VarId| {
        let ty = program.var(*var).ty;
        wanted.contains(var)
            && matches!(
                ty,
                VariableType::Scalar(_) | VariableType::Memory(MemorySpace::Device)
            )
    };
    let globals = program.globals.iter().copied();
    globals.filter(is_usable).collect()
}

/// The variables that the body of a kernel mentions and does not declare itself, in the order of their creation. A body
/// that calls no function needs these captures.
pub(crate) fn find_block_captures(program: &KernelProgram, body: StmtBlock) -> Vec<KernelCapture> {
    let mut mentioned: FxHashSet<VarId> = FxHashSet::default();
    each_mentioned(program, body, &mut |var| {
        mentioned.insert(var);
    });
    remove_declared(program, body, &mut mentioned);
    let mut mentioned: Vec<VarId> = mentioned.into_iter().collect();
    mentioned.sort_unstable();
    let captures = mentioned.into_iter().map(|var| match program.var(var).ty {
        VariableType::Scalar(_) => KernelCapture::Scalar(var),
        _ => KernelCapture::Memory(var),
    });
    captures.collect()
}

fn remove_declared(program: &KernelProgram, block: StmtBlock, vars: &mut FxHashSet<VarId>) {
    for stmt in program.block_stmts(block) {
        if let StmtKind::Declare(var) | StmtKind::For { counter: var, .. } = &stmt.kind {
            vars.remove(var);
        }
        for inner in stmt.kind.nested_blocks() {
            remove_declared(program, inner, vars);
        }
    }
}

/// The functions that a block calls, directly or through other functions.
fn collect_called_functions(program: &KernelProgram, block: StmtBlock) -> Vec<FuncId> {
    let mut seen = vec![false; program.functions.len()];
    let (mut open, _) = call_graph::collect_calls_and_kernels(program, block);
    let mut all = Vec::new();
    while let Some(function) = open.pop() {
        if std::mem::replace(&mut seen[function.index()], true) {
            continue;
        }
        all.push(function);
        if let Some(body) = program.function(function).body {
            open.extend(call_graph::collect_calls_and_kernels(program, body).0);
        }
    }
    all
}

/// Calls a closure with every variable that a block and its nested blocks mention. Launches are left out.
fn each_mentioned(program: &KernelProgram, block: StmtBlock, seen: &mut impl FnMut(VarId)) {
    for stmt in program.block_stmts(block) {
        let mut exprs: Vec<ExprId> = Vec::new();
        visit_mentioned(program, &stmt.kind, seen, &mut exprs);
        for expr in exprs {
            program.each_var(expr, seen);
        }
        for inner in stmt.kind.nested_blocks() {
            each_mentioned(program, inner, seen);
        }
    }
}

/// Reports the variables that a statement names itself, and collects its expressions.
fn visit_mentioned(
    program: &KernelProgram,
    stmt: &StmtKind,
    seen: &mut impl FnMut(VarId),
    exprs: &mut Vec<ExprId>,
) {
    match stmt {
        StmtKind::Assign { value, .. } | StmtKind::Shuffle { value, .. } => exprs.push(*value),
        StmtKind::Alias { from, .. } => seen(*from),
        StmtKind::IsUnique { memory, .. } => seen(*memory),
        StmtKind::Alloc { bytes, .. } => exprs.push(*bytes),
        StmtKind::Read { from, .. } | StmtKind::ReadVector { from, .. } => {
            seen(from.memory);
            exprs.push(from.index);
        }
        StmtKind::Write { to, value } => {
            seen(to.memory);
            exprs.extend([to.index, *value]);
        }
        StmtKind::WriteVector { to, values } => {
            seen(to.memory);
            exprs.push(to.index);
            exprs.extend(values);
        }
        StmtKind::Fragment(op) => {
            if let FragmentOp::Load { from: patch, .. } | FragmentOp::Store { to: patch, .. } =
                &**op
            {
                seen(patch.first.memory);
                exprs.push(patch.first.index);
            }
        }
        StmtKind::Copy(copy) => {
            exprs.extend(&copy.shape);
            for side in [&copy.to, &copy.from] {
                seen(side.memory);
                exprs.push(side.offset);
                exprs.extend(&side.strides);
            }
        }
        StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => {
            exprs.push(*condition);
        }
        StmtKind::For { bound, .. } => exprs.push(*bound),
        StmtKind::Call(call) => visit_arguments(&call.inputs, seen, exprs),
        StmtKind::Foreign(call) => visit_arguments(&call.inputs, seen, exprs),
        StmtKind::Assert { condition, message } => {
            exprs.push(*condition);
            exprs.extend(message_values(program, *message));
        }
        StmtKind::Trace(message) => exprs.extend(message_values(program, *message)),
        StmtKind::Atomic(atomic) => {
            seen(atomic.element.memory);
            exprs.extend([atomic.element.index, atomic.value]);
            exprs.extend(atomic.expected);
        }
        StmtKind::Declare(_)
        | StmtKind::Free(_)
        | StmtKind::Static { .. }
        | StmtKind::Launch(_)
        | StmtKind::Position { .. }
        | StmtKind::Sync { .. } => {}
    }
}

fn visit_arguments(
    arguments: &[FuncArgument],
    seen: &mut impl FnMut(VarId),
    exprs: &mut Vec<ExprId>,
) {
    for argument in arguments {
        match *argument {
            FuncArgument::Scalar(expr) => exprs.push(expr),
            FuncArgument::Memory(var) => seen(var),
        }
    }
}

fn message_values(
    program: &KernelProgram,
    message: crate::ir::MessageId,
) -> impl Iterator<Item = ExprId> + '_ {
    let parts = program.message(message).parts.iter();
    parts.filter_map(|part| match part {
        MessageSegment::Value(expr) => Some(*expr),
        MessageSegment::Text(_) => None,
    })
}
