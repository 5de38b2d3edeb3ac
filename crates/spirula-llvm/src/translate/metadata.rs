//! What metadata says about kernels and about the source.

use super::refusal::refuse;
use super::translator::Translator;
use super::types::push_string;
use crate::ir::{Func, Metadata};
use spirula_source::Place;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{ExecutionMode, SourceLanguage};
use spirula_spirv::ir::Section;

/// Metadata whose three numbers are an execution mode's.
const SIZES: &[(&str, ExecutionMode)] = &[
    ("reqd_work_group_size", ExecutionMode::LocalSize),
    ("work_group_size_hint", ExecutionMode::LocalSizeHint),
];

/// Bytes of a string beyond which it is left out.
const MAX_TEXT: usize = 100_000;

impl Translator<'_> {
    /// Declares the language of the source, if the module says it.
    pub(super) fn source_language(&mut self) {
        let Some(&node) = self.module.named("opencl.ocl.version").first() else {
            return;
        };
        if let [major, minor] = self.numbers(node)[..] {
            let minor = minor.saturating_mul(1000);
            let version = major.saturating_mul(100_000).saturating_add(minor);
            self.b.source(SourceLanguage::OpenCL_C.0, version);
        }
    }

    /// Declares the execution modes of an entry point.
    pub(super) fn execution_modes(&mut self, func: Func, entry: Id) {
        // Clang writes a contraction that is allowed as a call of `llvm.fmuladd`; no other is.
        self.b
            .execution_mode(entry, ExecutionMode::ContractionOff, &[]);
        for (name, mode) in SIZES {
            if let Some(node) = self.module.function_metadata(func, name) {
                let mut numbers = self.numbers(node);
                numbers.resize(3, 1);
                if numbers.contains(&0) {
                    let reason = refuse(format!("{name} has a size of zero"));
                    self.report(func, Place::Unknown, &reason);
                    continue;
                }
                self.b.execution_mode(entry, *mode, &numbers);
            }
        }
        if let Some(node) = self
            .module
            .function_metadata(func, "intel_reqd_sub_group_size")
            && let [size, ..] = self.numbers(node)[..]
        {
            self.b
                .execution_mode(entry, ExecutionMode::SubgroupSize, &[size]);
        }
        if let Some(node) = self.module.function_metadata(func, "vec_type_hint")
            && let Some(hint) = self.vector_hint(node)
        {
            self.b
                .execution_mode(entry, ExecutionMode::VecTypeHint, &[hint]);
        }
        self.argument_types(func);
    }

    /// The numbers of a node's operands that are integer constants.
    fn numbers(&self, node: Metadata) -> Vec<u32> {
        let metadata = &self.module.metadata;
        let operands = metadata.operands(node).iter().flatten();
        let constants = operands.filter_map(|m| metadata.as_constant(*m));
        constants
            .filter_map(|c| self.module.consts.as_u64(c))
            .map(|n| n as u32)
            .collect()
    }

    /// A type as the operand of `VecTypeHint`: number of components above, scalar type below.
    fn vector_hint(&self, node: Metadata) -> Option<u32> {
        let metadata = &self.module.metadata;
        let first = (*metadata.operands(node).first()?)?;
        let ty = self.module.consts.ty(metadata.as_constant(first)?);
        let shape = self.shape(ty)?;
        let scalar = match (shape.elem, shape.width) {
            (super::types::Elem::Int, width) => width.trailing_zeros() - 3,
            (super::types::Elem::Float, width) => width.trailing_zeros(),
            _ => return None,
        };
        let lanes = if shape.lanes == 1 { 0 } else { shape.lanes };
        Some(lanes << 16 | scalar)
    }

    /// Keeps the types of a kernel's arguments as the source has them, for those who ask a
    /// runtime about them: `OpString "kernel_arg_type.NAME.TYPE,TYPE,"`.
    fn argument_types(&mut self, func: Func) {
        let name = self.module.function_name(func);
        for kind in ["kernel_arg_type", "kernel_arg_type_qual"] {
            let Some(node) = self.module.function_metadata(func, kind) else {
                continue;
            };
            let metadata = &self.module.metadata;
            let mut text = format!("{kind}.{name}.");
            for operand in metadata.operands(node).iter().flatten() {
                if let Some(symbol) = metadata.as_string(*operand) {
                    text.push_str(self.module.str(symbol));
                }
                text.push(',');
            }
            if text.len() > MAX_TEXT {
                continue;
            }
            let id = self.b.fresh_id();
            let mut words = vec![id.word()];
            push_string(&mut words, &text);
            self.b.push(Section::Sources, Op::String, &words);
        }
    }
}
