//! Needs by the grammar: the capabilities, extensions and versions that the rows of used instructions and
//! enumerants name.

use super::ModuleRequirements;
use crate::Id;
use crate::grammar::enumerants::{BuiltIn, Capability, Decoration, GroupOperation};
use crate::grammar::{
    EnumerantInfo, ExtInstSet, Kind, KindInfo, Op, OperandCategory, OperandIter, OperandQuantifier,
    SpirvVersion, all_instructions, all_kinds, ext_inst_sets,
};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use rustc_hash::FxHashSet;

/// The capabilities that allow rounding modes, besides those of the grammar.
pub(crate) const ROUNDING: &[Capability] = &[
    Capability::StorageUniformBufferBlock16,
    Capability::StorageUniform16,
    Capability::StoragePushConstant16,
    Capability::StorageInputOutput16,
];

/// The requirements of a row of the grammar.
struct RequirementRow {
    capabilities: &'static [Capability],
    extensions: &'static [&'static str],
    version: SpirvVersion,
    /// Whether a capability makes it available in every version.
    by_capability: bool,
}

impl From<&'static EnumerantInfo> for RequirementRow {
    fn from(row: &'static EnumerantInfo) -> Self {
        RequirementRow {
            capabilities: row.capabilities,
            extensions: row.extensions,
            version: row.version,
            by_capability: false,
        }
    }
}

/// Finds the needs of instructions and enumerants. Each kind is examined once.
pub(super) struct RowCollector {
    /// Imported sets of extended instructions.
    sets: Vec<(Id, Option<&'static ExtInstSet>)>,
    seen: SeenEnumerants,
}

struct SeenEnumerants {
    ops: Vec<bool>,
    /// By row of the grammar: the last operands with requirements that were examined, if they are one or two words.
    last_operands: Vec<[Option<u32>; 2]>,
    /// All such operands, with their row.
    operands: FxHashSet<(usize, [Option<u32>; 2])>,
    values: FxHashSet<(Kind, u32)>,
    ext: FxHashSet<(&'static str, u32)>,
}

impl SeenEnumerants {
    /// Whether an instruction of this row with these last words was examined. All words before them are ids. Most
    /// decorations, loads and stores are like one before them.
    #[inline]
    fn has_operands(&mut self, row: usize, words: &[u32]) -> bool {
        let key = match *words {
            [first] => [Some(first), None],
            [first, second] => [Some(first), Some(second)],
            _ => return false,
        };
        if std::mem::replace(&mut self.last_operands[row], key) == key {
            return true;
        }
        !self.operands.insert((row, key))
    }
}

impl RowCollector {
    pub fn new(module: &SpirvModule) -> RowCollector {
        let imports = module.section_insts(ModuleSection::Imports);
        let imports = imports.filter(|i| i.op() == Op::ExtInstImport);
        let set = |i: InstRef<'_>| Some((i.result()?, ExtInstSet::by_name(&i.string_operand(0))));
        RowCollector {
            sets: imports.filter_map(set).collect(),
            seen: SeenEnumerants {
                ops: vec![false; all_instructions().len()],
                last_operands: vec![[None; 2]; all_instructions().len()],
                operands: FxHashSet::default(),
                values: FxHashSet::default(),
                ext: FxHashSet::default(),
            },
        }
    }

    /// Whether a further instruction of a row has no other needs.
    #[inline]
    pub fn is_done(&self, row: usize) -> bool {
        self.seen.ops[row] && FIRST_ENUMERANTS[row] == u16::MAX
    }

    /// Finds the needs of an instruction, whose row of the grammar is given, and of its enumerants.
    #[inline]
    pub fn collect_from_inst(
        &mut self,
        needs: &mut ModuleRequirements,
        row: usize,
        inst: InstRef<'_>,
    ) {
        if !self.seen.ops[row] {
            self.seen.ops[row] = true;
            collect_from_opcode(needs, inst);
        }
        let first = usize::from(FIRST_ENUMERANTS[row]);
        let Some(rest @ [_, ..]) = inst.words().get(first..) else {
            return;
        };
        // The needs of an extended instruction depend on its set as well.
        if is_extended(inst) || !self.seen.has_operands(row, rest) {
            self.collect_from_operands(needs, inst);
        }
    }

    fn collect_from_operands(&mut self, needs: &mut ModuleRequirements, inst: InstRef<'_>) {
        if matches!(inst.op(), Op::Capability | Op::Extension) {
            return;
        }
        let id = inst.get_id(0).filter(|_| is_extended(inst));
        let set = self.sets.iter().find(|set| Some(set.0) == id);
        let set = set.and_then(|set| set.1);
        // Operands of extended instructions have no needs of their own.
        if let (Some(set), Some(&number)) = (set, inst.operands().get(1))
            && self.seen.ext.contains(&(set.name, number))
        {
            return;
        }
        let operands = OperandIter::new(inst.op(), inst.words()).with_ext(set);
        for operand in operands.map_while(Result::ok) {
            let (kind, word) = (operand.kind, operand.words[0]);
            match kind.info().category {
                OperandCategory::ValueEnum => {
                    collect_from_operand(needs, &mut self.seen, inst.handle(), kind, word)
                }
                OperandCategory::BitEnum => {
                    let mut rest = word;
                    while rest != 0 {
                        let bit = rest & rest.wrapping_neg();
                        rest ^= bit;
                        collect_from_operand(needs, &mut self.seen, inst.handle(), kind, bit);
                    }
                }
                OperandCategory::Literal if kind == Kind::LiteralExtInstInteger => {
                    collect_from_extended(needs, &mut self.seen, inst.handle(), set, word);
                }
                OperandCategory::Literal if kind == Kind::LiteralSpecConstantOpInteger => {
                    collect_from_nested_op(needs, inst.handle(), word);
                }
                _ => {}
            }
        }
    }
}

fn is_extended(inst: InstRef<'_>) -> bool {
    matches!(inst.op(), Op::ExtInst | Op::ExtInstWithForwardRefsKHR)
}

fn require_row(
    needs: &mut ModuleRequirements,
    row: &RequirementRow,
    inst: Inst,
    name: impl Fn() -> String,
) {
    needs.require_any(row.capabilities, Some(inst), &name);
    if needs.version >= row.version || row.by_capability {
        return;
    }
    let reason = || super::RequirementReason {
        inst: Some(inst),
        what: name(),
    };
    if row.extensions.is_empty() {
        if row.version != SpirvVersion::NEVER {
            needs.newer.push((row.version, reason()));
        }
        return;
    }
    let any = row.extensions.to_vec();
    needs.extensions.entry(any).or_insert_with(reason);
}

fn collect_from_opcode(needs: &mut ModuleRequirements, inst: InstRef<'_>) {
    let Some(info) = inst.op().info() else { return };
    if matches!(info.op, Op::Capability | Op::Extension) {
        return;
    }
    let amd = "SPV_AMD_shader_ballot";
    if info.op.is_amd_group_reduction() && needs.has_extension(amd) {
        // The extension provides these without a capability.
        needs.kept_extensions.insert(amd.to_owned());
        return;
    }
    let found = RequirementRow {
        capabilities: info.capabilities,
        extensions: info.extensions,
        version: info.version,
        by_capability: !info.capabilities.is_empty() && info.extensions.is_empty(),
    };
    require_row(needs, &found, inst.handle(), || info.name.to_owned());
}

fn collect_from_operand(
    needs: &mut ModuleRequirements,
    seen: &mut SeenEnumerants,
    inst: Inst,
    kind: Kind,
    word: u32,
) {
    if !seen.values.insert((kind, word)) {
        return;
    }
    let Some(found) = kind.info().enumerant_by_value(word) else {
        return;
    };
    let mut demand = RequirementRow::from(found);
    let name = || format!("{} {}", kind.info().name, found.name);
    let is_named_only = kind == Kind::BuiltIn
        && [
            BuiltIn::PointSize,
            BuiltIn::ClipDistance,
            BuiltIn::CullDistance,
        ]
        .contains(&BuiltIn(word));
    let rounds = kind == Kind::FPRoundingMode
        || kind == Kind::Decoration && word == Decoration::FPRoundingMode.0;
    let amd = "SPV_AMD_shader_ballot";
    let by_amd = kind == Kind::GroupOperation
        && word <= GroupOperation::ExclusiveScan.0
        && needs.has_extension(amd);
    if is_named_only {
        // A mention needs nothing, a use may.
        needs.keep_declared(found.capabilities, Some(inst), name);
        demand.capabilities = &[];
    } else if by_amd {
        needs.keep_declared(found.capabilities, Some(inst), name);
        needs.kept_extensions.insert(amd.to_owned());
        demand.capabilities = &[];
    } else if rounds && !found.capabilities.is_empty() {
        let any = [found.capabilities, ROUNDING].concat();
        needs.require_any(&any, Some(inst), name);
        demand.capabilities = &[];
    }
    require_row(needs, &demand, inst, name);
}

fn collect_from_extended(
    needs: &mut ModuleRequirements,
    seen: &mut SeenEnumerants,
    inst: Inst,
    set: Option<&'static ExtInstSet>,
    number: u32,
) {
    let Some(set) = set.filter(|set| seen.ext.insert((set.name, number))) else {
        return;
    };
    if let Some(row) = set.instruction_by_number(number) {
        needs.require_any(row.capabilities, Some(inst), || row.name.to_owned());
    }
}

/// The first version in which specialisation constants of shaders may be converted to other widths.
const WIDE_CONSTANTS: SpirvVersion = SpirvVersion::new(1, 4);

/// Finds the needs of the operation of an `OpSpecConstantOp`: kernels allow more operations.
fn collect_from_nested_op(needs: &mut ModuleRequirements, inst: Inst, number: u32) {
    let op = u16::try_from(number).ok().map(Op);
    if let Some(info) = op.and_then(Op::info) {
        let name = || info.name.to_owned();
        needs.keep_declared(info.capabilities, Some(inst), name);
        needs.keep_declared(&[Capability::Kernel], Some(inst), name);
        let is_kernel = needs.declared.contains(&Capability::Kernel.0);
        let by_extension = needs.has_extension("SPV_AMD_gpu_shader_int16");
        if info.op == Op::UConvert && needs.version < WIDE_CONSTANTS && !is_kernel && !by_extension
        {
            let reason = super::RequirementReason {
                inst: Some(inst),
                what: "OpSpecConstantOp UConvert".to_owned(),
            };
            needs.newer.push((WIDE_CONSTANTS, reason));
        }
    }
}

/// The number of words of an instruction before operands with requirements. An instruction without further words
/// has no such operand. 0 if strings come first. By row of the grammar, computed when the crate is compiled. A value
/// beyond the length of any instruction means that there is no such operand.
static FIRST_ENUMERANTS: [u16; all_instructions().len()] = {
    let mut first = [u16::MAX; all_instructions().len()];
    let mut row = 0;
    while row < first.len() {
        let operands = all_instructions()[row].operands;
        let mut at = 0;
        let mut only_ids = true;
        while at < operands.len() {
            if operands[at].kind.has_rows() {
                first[row] = if only_ids { at as u16 } else { 0 };
                break;
            }
            let is_id = matches!(operands[at].kind.info().category, OperandCategory::Id);
            only_ids &= is_id && matches!(operands[at].quantifier, OperandQuantifier::One);
            at += 1;
        }
        row += 1;
    }
    first
};

/// Whether a row of the grammar mentions a capability: the row of an instruction, or of an enumerant other than
/// a capability.
fn is_mentioned(capability: Capability) -> bool {
    let of_value = |kind: &KindInfo| {
        let mut rows = kind.enumerants.iter();
        kind.kind != Kind::Capability && rows.any(|row| row.capabilities.contains(&capability))
    };
    let mut extended = ext_inst_sets().iter().flat_map(|set| set.instructions);
    let mut rows = all_instructions().iter();
    rows.any(|row| row.capabilities.contains(&capability))
        || all_kinds().iter().any(of_value)
        || extended.any(|row| row.capabilities.contains(&capability))
}

/// Whether a row of the grammar mentions an extension.
fn is_extension_mentioned(extension: &str) -> bool {
    let mut values = all_kinds().iter().flat_map(|kind| kind.enumerants);
    let mut extended = ext_inst_sets().iter().flat_map(|set| set.instructions);
    let mut rows = all_instructions().iter();
    rows.any(|row| row.extensions.contains(&extension))
        || values.any(|row| row.extensions.contains(&extension))
        || extended.any(|row| row.extensions.contains(&extension))
}

pub(super) fn keep_what_no_row_mentions(module: &SpirvModule, needs: &mut ModuleRequirements) {
    for inst in module.section_insts(ModuleSection::Capabilities) {
        let capability = Capability(inst.operand_word(0));
        let is_derived =
            is_mentioned(capability) || super::tables::is_derived_capability(capability);
        if !is_derived {
            let what = || "its declaration, which no instruction explains,".to_owned();
            needs.keep_declared(&[capability], Some(inst.handle()), what);
        }
    }
    for extension in needs.declared_extensions.clone() {
        let is_derived =
            is_extension_mentioned(&extension) || super::tables::derives_extension(&extension);
        if !is_derived {
            needs.kept_extensions.insert(extension);
        }
    }
}
