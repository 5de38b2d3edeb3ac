//! Global constructors and destructors: the functions in `llvm.global_ctors` and
//! `llvm.global_dtors`.
//!
//! They become entry points with the execution modes `Initializer` and `Finalizer`, which run
//! before and after all kernels of the module.

use super::translator::LlvmTranslator;
use crate::ir::{ConstKind, GlobalKind, LlvmFunc};
use spirula_spirv::grammar::enumerants::{ExecutionMode, ExecutionModel};

/// The two lists, with the execution mode of their functions.
const LISTS: [(&str, ExecutionMode); 2] = [
    ("llvm.global_ctors", ExecutionMode::Initializer),
    ("llvm.global_dtors", ExecutionMode::Finalizer),
];

impl LlvmTranslator<'_> {
    /// Declares the entry points, in the order of their priorities.
    pub(super) fn declare_global_constructors(&mut self) {
        for (list, mode) in LISTS {
            for func in self.list_functions(list) {
                let Some(signature) = self.signatures[func.index()].clone() else {
                    continue;
                };
                let entry = self.define_entry_wrapper(func, &signature);
                let mut visited = vec![u32::MAX; self.module.functions.len()];
                let interface = self.collect_interface(func, &mut visited);
                let name = self.module.function_name(func);
                self.b
                    .entry_point(ExecutionModel::Kernel, entry, name, &interface);
                self.b.execution_mode(entry, mode, &[]);
            }
        }
    }

    /// The functions of a list that have a body, without duplicates, in the order of their
    /// priorities.
    fn list_functions(&self, list: &str) -> Vec<LlvmFunc> {
        let module = self.module;
        let global = module
            .globals
            .iter()
            .find(|g| module.symbol_text(g.name) == list);
        let Some(GlobalKind::Variable(variable)) = global.map(|g| g.kind) else {
            return Vec::new();
        };
        let Some(ConstKind::Aggregate(rows)) = variable.initializer.map(|c| module.consts.kind(c))
        else {
            return Vec::new();
        };
        let mut found: Vec<(u64, LlvmFunc)> = Vec::new();
        for &row in rows {
            if let ConstKind::Aggregate(fields) = module.consts.kind(row)
                && let [priority, function, ..] = fields[..]
                && let Some(func) = self
                    .strip_constant_casts(function)
                    .and_then(|f| self.callee_of(f))
                && !self.is_defined_elsewhere(func)
                && found.iter().all(|row| row.1 != func)
            {
                let priority = module.consts.as_u64(priority).unwrap_or(u64::MAX);
                found.push((priority, func));
            }
        }
        found.sort_by_key(|row| row.0);
        found.into_iter().map(|row| row.1).collect()
    }
}
