//! Kernel metadata: execution modes, argument types, and the source language.

use super::translator::LlvmTranslator;
use super::words::push_string;
use crate::ir::{ConstKind, LlvmConst, LlvmFunc, LlvmMetadata};
use crate::make_refusal;
use spirula_diagnostics::SourceLocation;
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::{ExecutionMode, SourceLanguage};
use spirula_spirv::grammar::{Kind, Op, OperandCategory};
use spirula_spirv::ir::ModuleSection;

/// Metadata whose three numbers are an execution mode's.
const SIZES: &[(&str, ExecutionMode)] = &[
    ("reqd_work_group_size", ExecutionMode::LocalSize),
    ("work_group_size_hint", ExecutionMode::LocalSizeHint),
    ("max_work_group_size", ExecutionMode::MaxWorkgroupSizeINTEL),
];

/// Metadata whose number is an execution mode's.
const NUMBERS: &[(&str, ExecutionMode)] = &[
    ("intel_reqd_sub_group_size", ExecutionMode::SubgroupSize),
    ("reqd_sub_group_size", ExecutionMode::SubgroupSize),
    ("max_global_work_dim", ExecutionMode::MaxWorkDimINTEL),
    ("num_simd_work_items", ExecutionMode::NumSIMDWorkitemsINTEL),
    (
        "scheduler_target_fmax_mhz",
        ExecutionMode::SchedulerTargetFmaxMhzINTEL,
    ),
];

/// Metadata that states the version of a language by two numbers. The first that exists is used.
const VERSIONS: &[(&str, SourceLanguage)] = &[
    ("opencl.cxx.version", SourceLanguage::CPP_for_OpenCL),
    ("opencl.ocl.version", SourceLanguage::OpenCL_C),
];

/// Execution modes that must not be combined with the mode of floating-point defaults.
const COVERED_BY_FLOAT_DEFAULTS: &[ExecutionMode] = &[
    ExecutionMode::ContractionOff,
    ExecutionMode::SignedZeroInfNanPreserve,
];

/// Register allocation modes of Intel's GPUs, with the resulting number of threads per execution
/// unit.
const REGISTER_MODES: &[(u32, u32)] = &[(0, 0), (1, 8), (2, 4)];

/// Unsigned scalar types by their numbers in `VecTypeHint`.
const UNSIGNED_HINTS: &[&str] = &["uchar", "ushort", "uint", "ulong"];

/// Length in bytes beyond which a string is ignored.
const MAX_TEXT: usize = 100_000;

impl LlvmTranslator<'_> {
    /// Declares the source language, if the module states it.
    pub(super) fn declare_source_language(&mut self) {
        // Modules that were translated from SPIR-V state the language by SPIR-V's own number.
        if let Some(&node) = self.module.named_metadata("spirv.Source").first()
            && let [language, version, ..] = self.read_numbers(node)[..]
            && Kind::SourceLanguage
                .info()
                .enumerant_by_value(language)
                .is_some()
        {
            return self.b.declare_source(language, version);
        }
        for (name, language) in VERSIONS {
            if let Some(&node) = self.module.named_metadata(name).first()
                && let [major, minor] = self.read_numbers(node)[..]
            {
                let minor = minor.saturating_mul(1000);
                let version = major.saturating_mul(100_000).saturating_add(minor);
                return self.b.declare_source(language.0, version);
            }
        }
    }

    /// Declares the execution modes of an entry point.
    pub(super) fn declare_execution_modes(&mut self, func: LlvmFunc, entry: Id) {
        // Clang expresses permitted contraction by calls of `llvm.fmuladd`; no other contraction is
        // permitted.
        if !self.declare_stated_modes(func, entry) {
            self.b
                .execution_mode(entry, ExecutionMode::ContractionOff, &[]);
        }
        for (name, mode) in SIZES {
            if let Some(node) = self.module.function_metadata(func, name) {
                let mut numbers = self.read_numbers(node);
                numbers.resize(3, 1);
                if numbers.contains(&0) {
                    let reason = make_refusal(format!("{name} has a size of zero"));
                    self.report_refusal(func, SourceLocation::Unknown, &reason);
                    continue;
                }
                self.b.execution_mode(entry, *mode, &numbers);
            }
        }
        for (name, mode) in NUMBERS {
            if let Some(node) = self.module.function_metadata(func, name)
                && let [size, ..] = self.read_numbers(node)[..]
            {
                self.b.execution_mode(entry, *mode, &[size]);
            }
        }
        if let Some(node) = self.module.function_metadata(func, "ip_interface") {
            self.declare_streaming_interface(node, entry);
        }
        if let Some(node) = self.module.function_metadata(func, "RegisterAllocMode")
            && let [mode, ..] = self.read_numbers(node)[..]
            && let Some((_, threads)) = REGISTER_MODES.iter().find(|row| row.0 == mode)
        {
            self.decorate_by_annotation(entry, &format!("num-thread-per-eu {threads}"));
        }
        self.declare_vector_compute_modes(func, entry);
        if let Some(node) = self.module.function_metadata(func, "vec_type_hint")
            && let Some(hint) = self.vector_hint(node)
        {
            self.b
                .execution_mode(entry, ExecutionMode::VecTypeHint, &[hint]);
            self.keep_unsigned_hint(func, node, hint);
        }
        self.keep_argument_types(func);
    }

    /// A streaming interface, whose result may or may not stall.
    fn declare_streaming_interface(&mut self, node: LlvmMetadata, entry: Id) {
        let metadata = &self.module.metadata;
        let texts = metadata.operands(node).iter().flatten();
        let texts: Vec<&str> = texts
            .filter_map(|text| metadata.as_string(*text))
            .map(|text| self.module.symbol_text(text))
            .collect();
        if texts.contains(&"streaming") {
            let free = u32::from(texts.contains(&"stall_free_return"));
            let mode = ExecutionMode::StreamingInterfaceINTEL;
            self.b.execution_mode(entry, mode, &[free]);
        }
    }

    /// Declares the execution modes that `!spirv.ExecutionMode` lists for a function. Returns
    /// whether the mode of floating-point defaults is among them, which also decides contraction.
    pub(super) fn declare_stated_modes(&mut self, func: LlvmFunc, entry: Id) -> bool {
        let module = self.module;
        let metadata = &module.metadata;
        let stated = module.named_metadata("spirv.ExecutionMode");
        let defaults = stated.iter().any(|&node| {
            let operands: Vec<LlvmMetadata> =
                metadata.operands(node).iter().flatten().copied().collect();
            let constant = |n: usize| operands.get(n).and_then(|m| metadata.as_constant(*m));
            let mode = constant(1).and_then(|c| module.consts.as_u64(c));
            mode == Some(u64::from(ExecutionMode::FPFastMathDefault.0))
                && constant(0).and_then(|c| self.callee_of(c)) == Some(func)
        });
        let (mut floats, mut defaulted) = (Vec::new(), Vec::new());
        for &node in stated {
            let operands = metadata.operands(node).iter().flatten();
            let constants: Vec<LlvmConst> =
                operands.filter_map(|m| metadata.as_constant(*m)).collect();
            let [function, mode, ref operands @ ..] = constants[..] else {
                continue;
            };
            let Some(number) = module.consts.as_u64(mode).map(|n| n as u32) else {
                continue;
            };
            let row = Kind::ExecutionMode.info().enumerant_by_value(number);
            let (Some(row), true) = (row, self.callee_of(function) == Some(func)) else {
                continue;
            };
            let covered = defaults && COVERED_BY_FLOAT_DEFAULTS.contains(&ExecutionMode(number));
            if covered
                && ExecutionMode(number) == ExecutionMode::SignedZeroInfNanPreserve
                && let [width, ..] = operands
            {
                let width = module.consts.as_u64(*width).map(|n| n as u32);
                floats.extend(width.filter(|width| matches!(width, 16 | 32 | 64)));
            }
            // Operands after a mode's own are ignored.
            let (Some(operands), false) = (operands.get(..row.parameters.len()), covered) else {
                continue;
            };
            let ids = row
                .parameters
                .iter()
                .any(|p| p.kind.info().category == OperandCategory::Id);
            let words: Option<Vec<u32>> = if ids {
                operands.iter().map(|c| self.mode_operand(*c)).collect()
            } else {
                operands
                    .iter()
                    .map(|c| module.consts.as_u64(*c).map(|n| n as u32))
                    .collect()
            };
            let Some(words) = words else { continue };
            if ids {
                if let [ty, _] = words[..] {
                    defaulted.push(ty);
                }
                let mut all = vec![entry.word(), number];
                all.extend(words);
                self.b
                    .push_inst(ModuleSection::ExecutionModes, Op::ExecutionModeId, &all);
            } else {
                self.b.execution_mode(entry, ExecutionMode(number), &words);
            }
        }
        for width in floats {
            let ty = self.b.float_type(width).word();
            if !defaulted.contains(&ty) {
                defaulted.push(ty);
                self.preserve_special_floats(entry, ty);
            }
        }
        defaults
    }

    /// Signed zeros, infinities and NaNs of a floating-point type are preserved by default, so no
    /// assumptions about them are allowed.
    fn preserve_special_floats(&mut self, entry: Id, ty: u32) {
        let none = self.make_u32(0).word();
        let words = [entry.word(), ExecutionMode::FPFastMathDefault.0, ty, none];
        self.b
            .push_inst(ModuleSection::ExecutionModes, Op::ExecutionModeId, &words);
    }

    /// An operand of an execution mode that is an id: a constant, or a type, given by an undefined
    /// value of it.
    fn mode_operand(&mut self, constant: LlvmConst) -> Option<u32> {
        let undefined = matches!(
            self.module.consts.kind(constant),
            ConstKind::Undef | ConstKind::Poison
        );
        let id = if undefined {
            self.register_type(self.module.consts.ty(constant))
        } else {
            self.lower_constant(constant)
        };
        id.ok().map(Id::word)
    }

    /// The operands of a node that are integer constants, as numbers.
    pub(super) fn read_numbers(&self, node: LlvmMetadata) -> Vec<u32> {
        let metadata = &self.module.metadata;
        let operands = metadata.operands(node).iter().flatten();
        let constants = operands.filter_map(|m| metadata.as_constant(*m));
        constants
            .filter_map(|c| self.module.consts.as_u64(c))
            .map(|n| n as u32)
            .collect()
    }

    /// A type as the operand of `VecTypeHint`: number of components in the high half, scalar type
    /// in the low half.
    fn vector_hint(&self, node: LlvmMetadata) -> Option<u32> {
        let metadata = &self.module.metadata;
        let first = (*metadata.operands(node).first()?)?;
        let ty = self.module.consts.ty(metadata.as_constant(first)?);
        let shape = self.find_shape(ty)?;
        let scalar = match (shape.elem, shape.width) {
            (super::shapes::NumericElement::Int, width) => width.trailing_zeros() - 3,
            (super::shapes::NumericElement::Float, width) => width.trailing_zeros(),
            _ => return None,
        };
        let lanes = if shape.lanes == 1 { 0 } else { shape.lanes };
        Some(lanes << 16 | scalar)
    }

    /// Keeps the unsigned type of a hint, which the execution mode does not tell from the signed one: `OpString
    /// "vec_type_hint.NAME.TYPE,"`.
    fn keep_unsigned_hint(&mut self, func: LlvmFunc, node: LlvmMetadata, hint: u32) {
        let is_signed = self.read_numbers(node).last().copied() != Some(0);
        let (lanes, scalar) = (hint >> 16, hint & 0xffff);
        let Some(scalar) = UNSIGNED_HINTS.get(scalar as usize).filter(|_| !is_signed) else {
            return;
        };
        let lanes = if lanes == 0 {
            String::new()
        } else {
            lanes.to_string()
        };
        let name = self.module.function_name(func);
        self.keep_text(&format!("vec_type_hint.{name}.{scalar}{lanes},"));
    }

    /// Keeps the source types of a kernel's arguments, which runtimes can report: `OpString
    /// "kernel_arg_type.NAME.TYPE,TYPE,"`.
    fn keep_argument_types(&mut self, func: LlvmFunc) {
        let name = self.module.function_name(func);
        for kind in ["kernel_arg_type", "kernel_arg_type_qual"] {
            if self.module.function_metadata(func, kind).is_none() {
                continue;
            }
            let mut text = format!("{kind}.{name}.");
            for what in self.module.function_strings(func, kind) {
                text.push_str(what);
                text.push(',');
            }
            self.keep_text(&text);
        }
    }

    /// Adds a string for runtimes, unless it is too long.
    fn keep_text(&mut self, text: &str) {
        if text.len() > MAX_TEXT {
            return;
        }
        let id = self.b.fresh_id();
        let mut words = vec![id.word()];
        push_string(&mut words, text);
        self.b.push_inst(ModuleSection::Sources, Op::String, &words);
    }
}
