//! Decorations that a module requests: `!spirv.Decorations` of globals, functions and instructions,
//! `!spirv.ParameterDecorations`, cache controls, and annotations of Clang.

use super::function_body::FunctionTranslator;
use super::translator::LlvmTranslator;
use super::words::push_string;
use crate::ir::{
    ConstKind, GlobalKind, LlvmConst, LlvmFunc, LlvmInst, LlvmInstFlags, LlvmMetadata, LlvmValue,
};
use spirula_spirv::Id;
use spirula_spirv::grammar::enumerants::Decoration;
use spirula_spirv::grammar::{
    EnumerantInfo, Kind, Op, OperandCategory, OperandInfo, OperandQuantifier,
};

/// Names of decorations in annotations of Intel's compilers for FPGAs.
const NAMED: &[(&str, Decoration)] = &[
    ("memory", Decoration::MemoryINTEL),
    ("numbanks", Decoration::NumbanksINTEL),
    ("bankwidth", Decoration::BankwidthINTEL),
    ("max_private_copies", Decoration::MaxPrivateCopiesINTEL),
    ("singlepump", Decoration::SinglepumpINTEL),
    ("doublepump", Decoration::DoublepumpINTEL),
    ("max_replicates", Decoration::MaxReplicatesINTEL),
    ("simple_dual_port", Decoration::SimpleDualPortINTEL),
    ("merge", Decoration::MergeINTEL),
    ("bank_bits", Decoration::BankBitsINTEL),
    ("force_pow2_depth", Decoration::ForcePow2DepthINTEL),
    ("register", Decoration::RegisterINTEL),
];

/// Decorations that are also derived from instruction flags.
const FROM_FLAGS: &[Decoration] = &[
    Decoration::NoSignedWrap,
    Decoration::NoUnsignedWrap,
    Decoration::FPFastMathMode,
];

/// Decorations of memory, which only pointers have.
const OF_MEMORY: &[Decoration] = &[
    Decoration::Restrict,
    Decoration::Aliased,
    Decoration::Volatile,
    Decoration::Coherent,
];

/// Decorations that an id may have several of.
const REPEATABLE: &[Decoration] = &[Decoration::UserSemantic, Decoration::FuncParamAttr];

/// Decorations for FPGAs that the Khronos validator does not support and stops at.
const UNCHECKED: &[Decoration] = &[Decoration::HostAccessINTEL, Decoration::InitModeINTEL];

/// Length in bytes beyond which an annotation is ignored.
const MAX_TEXT: usize = 100_000;

impl LlvmTranslator<'_> {
    /// The decorations that a node of metadata lists.
    pub(super) fn apply_stated_decorations(&mut self, id: Id, node: LlvmMetadata) {
        for one in self.module.metadata.operands(node).to_vec() {
            let Some((decoration, words)) = one.and_then(|one| self.read_decoration_node(one))
            else {
                continue;
            };
            self.decorate_by_row(id, decoration, words);
        }
    }

    /// The decorations that a node lists for a parameter, except those of conversions.
    fn apply_parameter_decorations(&mut self, param: Id, node: LlvmMetadata) {
        for one in self.module.metadata.operands(node).to_vec() {
            if let Some((decoration, words)) = one.and_then(|one| self.read_decoration_node(one))
                && decoration != Decoration::FPRoundingMode
            {
                self.decorate_by_row(param, decoration, words);
            }
        }
    }

    /// Reads a decoration from a node: its number, then its operands.
    pub(super) fn read_decoration_node(
        &self,
        node: LlvmMetadata,
    ) -> Option<(Decoration, Vec<u32>)> {
        let metadata = &self.module.metadata;
        let mut operands = metadata.operands(node).iter();
        let first = metadata.as_constant((*operands.next()?)?)?;
        let number = u32::try_from(self.module.consts.as_u64(first)?).ok()?;
        let mut words = Vec::new();
        for operand in operands.flatten() {
            match (metadata.as_constant(*operand), metadata.as_string(*operand)) {
                (Some(constant), _) => words.push(self.module.consts.as_u64(constant)? as u32),
                (_, Some(symbol)) => push_string(&mut words, self.module.symbol_text(symbol)),
                _ => return None,
            }
        }
        Some((Decoration(number), words))
    }

    /// Decorates an id. Numbers become constants where the decoration takes ids.
    pub(super) fn decorate_by_row(&mut self, id: Id, decoration: Decoration, words: Vec<u32>) {
        let row = Kind::Decoration.info().enumerant_by_value(decoration.0);
        let Some(row) = row else { return };
        if !self.may_decorate(id, decoration, row, &words) {
            return;
        }
        let ids = row
            .parameters
            .iter()
            .any(|p| p.kind.info().category == OperandCategory::Id);
        if !ids {
            self.b.decorate_id(id, decoration, &words);
            return;
        }
        let mut all = vec![id.word(), decoration.0];
        all.extend(words.iter().map(|word| self.make_u32(*word).word()));
        let section = spirula_spirv::ir::ModuleSection::Annotations;
        self.b.push_inst(section, Op::DecorateId, &all);
    }

    /// Whether a decoration is valid on an id. Its operands must be present. It must not duplicate
    /// a decoration that must be unique. The id must be a pointer if the decoration requires one.
    fn may_decorate(
        &mut self,
        id: Id,
        decoration: Decoration,
        row: &EnumerantInfo,
        words: &[u32],
    ) -> bool {
        let open = |p: &OperandInfo| {
            p.kind == Kind::LiteralString || p.quantifier == OperandQuantifier::Many
        };
        let more = row.parameters.iter().any(open);
        let (given, wanted) = (words.len(), row.parameters.len());
        if given < wanted || (given > wanted && !more) || UNCHECKED.contains(&decoration) {
            return false;
        }
        let ty = self.b.type_of(id);
        let pointer = ty.is_some_and(|ty| self.pointee_of(ty).is_some());
        if OF_MEMORY.contains(&decoration) && !pointer {
            return false;
        }
        REPEATABLE.contains(&decoration) || self.decorated.insert((id.word(), decoration.0))
    }

    /// The decorations of a function and of its parameters.
    pub(super) fn apply_function_decorations(&mut self, func: LlvmFunc, id: Id, params: &[Id]) {
        if let Some(node) = self.module.function_metadata(func, "spirv.Decorations") {
            self.apply_stated_decorations(id, node);
        }
        self.apply_vector_compute_function(func, id, params);
        self.apply_fpga_function(func, id, params);
        self.volatile_parameters(func, params);
        let node = self
            .module
            .function_metadata(func, "spirv.ParameterDecorations");
        if let Some(node) = node {
            let lists = self.module.metadata.operands(node).to_vec();
            for (list, &param) in lists.into_iter().zip(params) {
                if let Some(list) = list {
                    self.apply_parameter_decorations(param, list);
                }
            }
        }
    }

    /// Parameters that the source has as volatile.
    fn volatile_parameters(&mut self, func: LlvmFunc, params: &[Id]) {
        let texts = self.module.function_strings(func, "kernel_arg_type_qual");
        for (text, &param) in texts.into_iter().zip(params) {
            if text.split(' ').any(|word| word == "volatile") {
                self.b.decorate_id(param, Decoration::Volatile, &[]);
            }
        }
    }

    /// Applies the decorations that `llvm.global.annotations` requests.
    pub(super) fn apply_global_annotations(&mut self) {
        let module = self.module;
        for data in &module.globals {
            if module.symbol_text(data.name) != "llvm.global.annotations" {
                continue;
            }
            let GlobalKind::Variable(variable) = data.kind else {
                continue;
            };
            let Some(ConstKind::Aggregate(rows)) =
                variable.initializer.map(|c| module.consts.kind(c))
            else {
                continue;
            };
            for &row in rows {
                if let ConstKind::Aggregate(fields) = module.consts.kind(row)
                    && let [target, text, ..] = fields[..]
                {
                    self.apply_global_annotation(target, text);
                }
            }
        }
    }

    fn apply_global_annotation(&mut self, target: LlvmConst, text: LlvmConst) {
        let Some(text) = self.read_constant_string(text) else {
            return;
        };
        let Some(target) = self.strip_constant_casts(target) else {
            return;
        };
        let Some(global) = self.module.as_global(target) else {
            return;
        };
        let id = match self.module.global(global).kind {
            GlobalKind::Function(func) => self.intern_signature(func).map(|signature| signature.id),
            GlobalKind::Variable(_) => self.translate_global_variable(global),
            _ => return,
        };
        if let Ok(id) = id {
            self.decorate_by_annotation(id, &text);
        }
    }

    /// A constant pointer without the casts around it.
    pub(super) fn strip_constant_casts(&self, constant: LlvmConst) -> Option<LlvmConst> {
        let mut at = constant;
        for _ in 0..16 {
            match self.module.consts.kind(at) {
                ConstKind::Expr(expr) => at = *expr.operands.first()?,
                _ => return Some(at),
            }
        }
        None
    }

    /// The string that a constant pointer points to, without its terminator.
    pub(super) fn read_constant_string(&self, pointer: LlvmConst) -> Option<String> {
        let module = self.module;
        let global = module.as_global(self.strip_constant_casts(pointer)?)?;
        let GlobalKind::Variable(variable) = module.global(global).kind else {
            return None;
        };
        let ConstKind::Data(bytes) = module.consts.kind(variable.initializer?) else {
            return None;
        };
        let text = bytes.split(|b| *b == 0).next()?;
        (text.len() <= MAX_TEXT).then(|| String::from_utf8_lossy(text).into_owned())
    }

    /// Decorates an id by the string of an annotation. The forms are `{NUMBER:OPERANDS}…`, with
    /// OPERANDS numbers or quoted strings, and `{NAME:OPERANDS}…`, with names of [`NAMED`]. Other
    /// strings become `UserSemantic`.
    pub(super) fn decorate_by_annotation(&mut self, id: Id, text: &str) {
        let parts = parse_annotation(text);
        if self.apply_fpga_accesses(id, text) {
            return;
        }
        if parts.is_empty() {
            let mut words = Vec::new();
            push_string(&mut words, text);
            self.b.decorate_id(id, Decoration::UserSemantic, &words);
            return;
        }
        // Of several of a kind the last counts.
        for (at, (decoration, words)) in parts.iter().enumerate() {
            if parts[at + 1..].iter().any(|later| later.0 == *decoration)
                && !REPEATABLE.contains(decoration)
            {
                continue;
            }
            self.decorate_by_row(id, *decoration, words.clone());
        }
    }
}

/// The decorations in the string of an annotation; empty if it has another form.
fn parse_annotation(text: &str) -> Vec<(Decoration, Vec<u32>)> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(inner) = rest.strip_prefix('{') {
        let Some((part, after)) = inner.split_once('}') else {
            return Vec::new();
        };
        rest = after;
        let (name, operands) = part.split_once([':', ',']).unwrap_or((part, ""));
        let decoration = match name.parse() {
            Ok(number) => Some(Decoration(number)),
            Err(_) => NAMED.iter().find(|row| row.0 == name).map(|row| row.1),
        };
        if let Some(decoration) = decoration {
            found.push((decoration, operand_words(operands)));
        }
    }
    found
}

/// Operands that are separated by commas or colons: numbers, strings, quoted strings.
fn operand_words(operands: &str) -> Vec<u32> {
    let mut words = Vec::new();
    for operand in operands.split([',', ':']).filter(|o| !o.is_empty()) {
        let bare = operand.trim_matches('"');
        match bare.parse() {
            Ok(number) => words.push(number),
            Err(_) => push_string(&mut words, bare),
        }
    }
    words
}

impl FunctionTranslator<'_, '_> {
    /// The decorations that an instruction's metadata requests, except those that its flags
    /// determine.
    pub(super) fn apply_instruction_decorations(&mut self, inst: LlvmInst, id: Id) {
        if !self.function.attachments.is_empty() {
            self.apply_largest_error(inst, id);
        }
        let Some(kind) = self.metadata_kinds.decorations else {
            return;
        };
        let Some(node) = self.function.find_attachment(inst, kind) else {
            return;
        };
        let flags = self.function.inst(inst).flags;
        let fast = !flags.intersection(LlvmInstFlags::FAST).is_empty();
        for one in self.t.module.metadata.operands(node).to_vec() {
            if let Some((decoration, words)) = one.and_then(|one| self.t.read_decoration_node(one))
                && !FROM_FLAGS.contains(&decoration)
                && !(fast && decoration == Decoration::NoContraction)
            {
                self.t.decorate_by_row(id, decoration, words);
            }
        }
    }

    /// The largest error that `!fpmath` permits, if the extension for it was requested by name.
    fn apply_largest_error(&mut self, inst: LlvmInst, id: Id) {
        if !self.t.is_requested("SPV_INTEL_fp_max_error") {
            return;
        }
        let module = self.t.module;
        let kind = module.strings.find_symbol("fpmath");
        let node = kind.and_then(|kind| self.function.find_attachment(inst, kind));
        let operand = node.and_then(|node| *module.metadata.operands(node).first()?);
        let constant = operand.and_then(|operand| module.metadata.as_constant(operand));
        if let Some(ConstKind::Float(bits)) = constant.map(|c| module.consts.kind(c)) {
            let words = [*bits as u32];
            self.decorate_result(id, Decoration::FPMaxErrorDecorationINTEL, &words);
        }
    }

    /// Applies cache controls to pointer operands of an instruction. Each controlled pointer
    /// replaces its operand until the end of the instruction. Returns the previous values, by
    /// local.
    pub(super) fn apply_cache_controls(&mut self, inst: LlvmInst) -> Vec<(usize, Id)> {
        let kind = self.metadata_kinds.cache_controls;
        let node = kind.and_then(|kind| self.function.find_attachment(inst, kind));
        let mut before: Vec<(usize, Id)> = Vec::new();
        let Some(node) = node else { return before };
        for one in self.t.module.metadata.operands(node).to_vec() {
            let Some((decoration, words)) = one.and_then(|one| self.t.read_decoration_node(one))
            else {
                continue;
            };
            let [level, control, operand] = words[..] else {
                continue;
            };
            let operands = match self.function.call_info(inst) {
                Some(_) => self.function.arguments(inst),
                None => self.function.operands(inst),
            };
            let local = operands.get(operand as usize).and_then(|v| v.as_local());
            let Some((local, old)) = local.and_then(|l| Some((l, self.find_translated(l)?))) else {
                continue;
            };
            let fresh = if before.iter().any(|(l, _)| *l == local) {
                old
            } else {
                let Some(ty) = self.t.b.type_of(old) else {
                    continue;
                };
                if self.t.pointee_of(ty).is_none() {
                    continue;
                }
                before.push((local, old));
                let zero = self.t.make_u32(0);
                self.emit_op(Op::PtrAccessChain, ty, [old, zero])
            };
            self.replace_translated(local, fresh);
            let words = vec![level, control];
            self.t.decorate_by_row(fresh, decoration, words);
        }
        before
    }

    /// `llvm.ptr.annotation`, `llvm.var.annotation` and `llvm.annotation`: the first argument, with
    /// the decorations that the string in the second requests.
    pub(super) fn annotate_value(&mut self, value: LlvmValue, text: LlvmValue, id: Id) {
        let text = text.as_const().and_then(|c| self.t.read_constant_string(c));
        if let (Some(text), Some(_)) = (text, value.as_local()) {
            self.t.decorate_by_annotation(id, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn annotations_are_numbers_names_or_for_users() {
        assert_eq!(
            parse_annotation("{44:128}{19}"),
            [(Decoration(44), vec![128]), (Decoration(19), vec![])]
        );
        assert_eq!(
            parse_annotation("{44:\"128\"}"),
            [(Decoration(44), vec![128])]
        );
        assert_eq!(
            parse_annotation("{44,128}{19}"),
            [(Decoration(44), vec![128]), (Decoration(19), vec![])]
        );
        assert_eq!(
            parse_annotation("{numbanks:4}{unheard:1}"),
            [(Decoration::NumbanksINTEL, vec![4])]
        );
        assert!(parse_annotation("any text").is_empty());
        assert!(parse_annotation("{44:128").is_empty());
    }
}
