//! Decorations of a module by target, with groups resolved.

use crate::Id;
use crate::grammar::Op;
use crate::ir::{Inst, ModuleSection, SpirvModule};

/// A decoration of one id or member.
#[derive(Clone, Copy, Debug)]
pub(super) struct TargetAnnotation {
    pub target: Id,
    inst: Inst,
    /// The member where a group names it, `u32::MAX` elsewhere.
    member: u32,
}

impl TargetAnnotation {
    /// The decoration as a separate instruction: its opcode, and its words after the target, which are written
    /// to `words`.
    pub fn write_instruction(&self, module: &SpirvModule, words: &mut Vec<u32>) -> Op {
        let inst = module.inst(self.inst);
        let (op, rest) = (inst.op(), &inst.words()[1..]);
        words.clear();
        if self.member == u32::MAX {
            words.extend_from_slice(rest);
            return op;
        }
        words.push(self.member);
        words.extend_from_slice(rest);
        match op {
            Op::DecorateString => Op::MemberDecorateString,
            _ => Op::MemberDecorate,
        }
    }
}

/// Renames each id among the words after the target of a decoration by `map`. Words that cannot be ids of the
/// module are left alone.
pub(super) fn map_ids(
    op: Op,
    words: &mut [u32],
    bound: u32,
    mut map: impl FnMut(Id) -> Option<Id>,
) -> bool {
    let from = match op {
        Op::DecorateId => 1,
        Op::MemberDecorateIdEXT => 2,
        _ => return true,
    };
    let mut complete = true;
    for word in words.iter_mut().skip(from).filter(|w| **w < bound) {
        match Id::new(*word).and_then(&mut map) {
            Some(new) => *word = new.word(),
            None => complete = false,
        }
    }
    complete
}

/// All decorations, sorted by target; those of one target in the order of the module.
#[derive(Clone, Debug)]
pub(super) struct TargetAnnotations {
    rows: Vec<TargetAnnotation>,
}

impl TargetAnnotations {
    /// One pass over the module's annotations and a sort.
    pub fn from_module(module: &SpirvModule) -> Self {
        let (mut rows, mut groups) = (Vec::new(), Vec::new());
        for inst in module.section_insts(ModuleSection::Annotations) {
            let pairs = inst.operands().get(1..).unwrap_or(&[]);
            match inst.op() {
                Op::GroupDecorate => {
                    groups.extend(
                        inst.id_operands(1)
                            .map(|target| (inst.id_operand(0), target, u32::MAX)),
                    );
                }
                Op::GroupMemberDecorate => groups.extend(
                    pairs
                        .chunks_exact(2)
                        .filter_map(|pair| Some((inst.id_operand(0), Id::new(pair[0])?, pair[1]))),
                ),
                Op::DecorationGroup => {}
                _ => rows.extend(inst.get_id(0).map(|target| TargetAnnotation {
                    target,
                    inst: inst.handle(),
                    member: u32::MAX,
                })),
            }
        }
        rows.sort_by_key(|row| row.target);
        if !groups.is_empty() {
            let mut all = TargetAnnotations { rows };
            let resolved: Vec<TargetAnnotation> = groups
                .into_iter()
                .flat_map(|(group, target, member)| {
                    let rows = all.decorations_of(group).iter();
                    rows.map(move |row| TargetAnnotation {
                        target,
                        member,
                        ..*row
                    })
                })
                .collect();
            let section = module.section_insts(ModuleSection::Annotations);
            let declared = section.filter(|i| i.op() == Op::DecorationGroup);
            let mut names: Vec<Id> = declared.filter_map(|i| i.result()).collect();
            names.sort_unstable();
            all.rows
                .retain(|row| names.binary_search(&row.target).is_err());
            all.rows.extend(resolved);
            all.rows.sort_by_key(|row| row.target);
            return all;
        }
        TargetAnnotations { rows }
    }

    /// The decorations of an id and its members.
    pub fn decorations_of(&self, id: Id) -> &[TargetAnnotation] {
        let from = self.rows.partition_point(|r| r.target < id);
        let length = self.rows[from..].partition_point(|r| r.target == id);
        &self.rows[from..from + length]
    }

    /// All decorations by increasing target.
    pub fn all_rows(&self) -> &[TargetAnnotation] {
        &self.rows
    }
}
