//! The call graph: which functions are called, from the host and from kernels.

use crate::ir::{FuncId, KernelProgram, MemorySpace, StmtBlock, StmtKind, VarId, VariableType};
use spirula_diagnostics::{SourceDiagnostic, SourceLocation};

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

/// For each function, whether it is code of kernels: kernels call it, directly or through other functions, and it
/// neither has device memory nor launches kernels. Checks that every function has a body and that none calls itself
/// (rule 1).
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
    verify_acyclic(program, &calls)?;
    let mut on_device = vec![false; calls.len()];
    while let Some(function) = from_kernels.pop() {
        if !std::mem::replace(&mut on_device[function.index()], true) {
            from_kernels.extend(&calls[function.index()]);
        }
    }
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

/// Checks that the call graph is acyclic, by removing functions whose callees have all been removed.
fn verify_acyclic(program: &KernelProgram, calls: &[Vec<FuncId>]) -> Result<(), SourceDiagnostic> {
    let mut waiting: Vec<usize> = calls.iter().map(Vec::len).collect();
    let mut callers = vec![Vec::new(); calls.len()];
    for (caller, called) in calls.iter().enumerate() {
        for callee in called {
            callers[callee.index()].push(caller);
        }
    }
    let mut open: Vec<usize> = (0..calls.len()).filter(|f| waiting[*f] == 0).collect();
    let mut gone = 0;
    while let Some(function) = open.pop() {
        gone += 1;
        for caller in &callers[function] {
            waiting[*caller] -= 1;
            if waiting[*caller] == 0 {
                open.push(*caller);
            }
        }
    }
    if gone == calls.len() {
        return Ok(());
    }
    let cyclic = waiting.iter().position(|w| *w > 0);
    let function = cyclic.map(|f| &program.functions[f]);
    let name = function.map_or("", |f| program.names.get(f.name));
    let place = function.map_or(SourceLocation::Unknown, |f| f.place);
    let message = format!("function {name} calls itself (rule 1)");
    Err(SourceDiagnostic::error(place, message))
}
