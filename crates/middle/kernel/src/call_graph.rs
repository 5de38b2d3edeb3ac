//! The call graph: which functions are called, from the host and from kernels.

use crate::ir::{FuncId, KernelProgram, MemorySpace, StmtBlock, StmtKind, VarId, VariableType};
use spirula_diagnostics::SourceDiagnostic;

/// Callees and launched kernels in a block and its nested blocks. The bodies of kernels are not searched.
pub(crate) fn collect_calls_and_kernels(
    program: &KernelProgram,
    block: StmtBlock,
) -> (Vec<FuncId>, Vec<StmtBlock>) {
    let (mut calls, mut kernels, mut open) = (Vec::new(), Vec::new(), vec![block]);
    while let Some(block) = open.pop() {
        for stmt in program.block_stmts(block) {
            match &stmt.kind {
                StmtKind::Call(call) => calls.push(call.function),
                StmtKind::Launch(kernel) => kernels.push(program.kernel(*kernel).body),
                kind => open.extend(kind.nested_blocks()),
            }
        }
    }
    calls.sort_unstable();
    calls.dedup();
    (calls, kernels)
}

/// For each function, whether it is code of kernels. Kernels call such a function, directly or through others, and it
/// neither has device memory nor launches kernels. Checks that every function has a body, and that none that a kernel
/// calls also calls itself (rule 1).
pub(crate) fn on_device(program: &KernelProgram) -> Result<Vec<bool>, SourceDiagnostic> {
    let mut calls = Vec::new();
    let mut from_kernels = Vec::new();
    for function in &program.functions {
        let (mut called, kernels) = match function.body {
            Some(body) => collect_calls_and_kernels(program, body),
            None => {
                let name = program.names.get(function.name);
                let message = format!("function {name} is called but not defined (rule 1)");
                return Err(SourceDiagnostic::error(function.place, message));
            }
        };
        for kernel in kernels {
            from_kernels.extend(collect_calls_and_kernels(program, kernel).0);
        }
        called.retain(|f| f.index() < program.functions.len());
        calls.push(called);
    }
    if let Some(body) = program.initialise {
        for kernel in collect_calls_and_kernels(program, body).1 {
            from_kernels.extend(collect_calls_and_kernels(program, kernel).0);
        }
    }
    let mut on_device = vec![false; calls.len()];
    while let Some(function) = from_kernels.pop() {
        if !std::mem::replace(&mut on_device[function.index()], true) {
            from_kernels.extend(&calls[function.index()]);
        }
    }
    verify_acyclic(program, &calls, &on_device)?;
    for function in program.function_ids() {
        on_device[function.index()] &= !is_host_only(program, function);
    }
    Ok(on_device)
}

/// Whether a function, or one that it calls, has device memory.
pub(crate) fn is_host_only(program: &KernelProgram, function: FuncId) -> bool {
    let mut open = vec![function];
    let mut seen = vec![false; program.functions.len()];
    while let Some(function) = open.pop() {
        if std::mem::replace(&mut seen[function.index()], true) {
            continue;
        }
        let data = program.function(function);
        let mut vars: Vec<_> = data.inputs.iter().chain(&data.outputs).copied().collect();
        if let Some(body) = data.body {
            open.extend(collect_calls_and_kernels(program, body).0);
            vars.extend(collect_declared_vars(program, body));
        }
        if vars
            .iter()
            .any(|v| program.var(*v).ty == VariableType::Memory(MemorySpace::Device))
        {
            return true;
        }
    }
    false
}

/// Variables that a block and its nested blocks declare.
fn collect_declared_vars(program: &KernelProgram, block: StmtBlock) -> Vec<VarId> {
    let (mut vars, mut open) = (Vec::new(), vec![block]);
    while let Some(block) = open.pop() {
        for stmt in program.block_stmts(block) {
            match &stmt.kind {
                StmtKind::Declare(var) => vars.push(*var),
                kind => open.extend(kind.nested_blocks()),
            }
        }
    }
    vars
}

/// Checks that functions which kernels call do not call themselves, by removing those whose callees have all been removed.
fn verify_acyclic(
    program: &KernelProgram,
    calls: &[Vec<FuncId>],
    on_device: &[bool],
) -> Result<(), SourceDiagnostic> {
    let mut waiting = vec![0; calls.len()];
    let mut callers = vec![Vec::new(); calls.len()];
    let functions = (0..calls.len()).filter(|function| on_device[*function]);
    for caller in functions.clone() {
        waiting[caller] = calls[caller].len();
        for callee in &calls[caller] {
            callers[callee.index()].push(caller);
        }
    }
    let mut open: Vec<usize> = functions.filter(|f| waiting[*f] == 0).collect();
    while let Some(function) = open.pop() {
        for caller in &callers[function] {
            waiting[*caller] -= 1;
            if waiting[*caller] == 0 {
                open.push(*caller);
            }
        }
    }
    let Some(cyclic) = waiting.iter().position(|w| *w > 0) else {
        return Ok(());
    };
    let function = &program.functions[cyclic];
    let name = program.names.get(function.name);
    let message = format!("a kernel calls function {name}, which calls itself (rule 1)");
    Err(SourceDiagnostic::error(function.place, message))
}
