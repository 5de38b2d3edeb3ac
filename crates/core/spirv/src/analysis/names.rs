//! Names and decorations by id.

use crate::grammar::Op;
use crate::grammar::enumerants::Decoration;
use crate::ir::{Inst, ModuleSection, SpirvModule};
use crate::{Id, IdMap};

/// The `OpName` of every id.
#[derive(Clone, Debug)]
pub struct IdNames {
    by_id: IdMap<Option<Inst>>,
}

impl IdNames {
    /// One pass over the module's names; the first name of an id counts.
    pub fn from_module(module: &SpirvModule) -> Self {
        let mut by_id = IdMap::new(module.bound(), None);
        for inst in module
            .section_insts(ModuleSection::Names)
            .filter(|i| i.op() == Op::Name)
        {
            by_id
                .get_mut(inst.id_operand(0))
                .get_or_insert(inst.handle());
        }
        IdNames { by_id }
    }

    /// The name of an id, if it has one that is not empty.
    pub fn get(&self, module: &SpirvModule, id: Id) -> Option<String> {
        let name = module.inst(self.by_id[id]?).string_operand(1);
        (!name.is_empty()).then_some(name)
    }
}

/// The name of a function in messages: its linkage name, else its `OpName`, else its id. One pass over names and
/// decorations.
pub fn function_name(module: &SpirvModule, function: Id) -> String {
    let linkage = module.section_insts(ModuleSection::Annotations).find(|i| {
        i.op() == Op::Decorate
            && i.id_operand(0) == function
            && i.operand_word(1) == Decoration::LinkageAttributes.0
    });
    let name = module.section_insts(ModuleSection::Names);
    let mut name = name.filter(|i| i.op() == Op::Name && i.id_operand(0) == function);
    let found = linkage.map(|i| i.string_operand(2));
    let found = found.or_else(|| Some(name.next()?.string_operand(1)));
    let found = found.filter(|name| !name.is_empty());
    found.unwrap_or_else(|| function.to_string())
}

/// The decorations of every id and structure member, groups resolved.
#[derive(Clone, Debug)]
pub struct IdDecorations {
    /// Sorted.
    rows: Vec<DecorationRow>,
}

/// A decoration of an id or member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct DecorationRow {
    target: Id,
    /// `u32::MAX` for the id itself.
    member: u32,
    inst: Inst,
}

impl IdDecorations {
    /// One pass over the module's annotations and a sort.
    pub fn from_module(module: &SpirvModule) -> Self {
        let annotations = || module.section_insts(ModuleSection::Annotations);
        let mut rows = Vec::with_capacity(annotations().count());
        let mut groups = Vec::new();
        for inst in annotations() {
            let row = |target, member| DecorationRow {
                target,
                member,
                inst: inst.handle(),
            };
            match inst.op() {
                Op::Decorate | Op::DecorateId | Op::DecorateString => {
                    rows.push(row(inst.id_operand(0), u32::MAX));
                }
                Op::MemberDecorate | Op::MemberDecorateString => {
                    rows.push(row(inst.id_operand(0), inst.operand_word(1)));
                }
                Op::GroupDecorate => {
                    groups.extend(
                        inst.id_operands(1)
                            .map(|target| (inst.id_operand(0), target, u32::MAX)),
                    );
                }
                Op::GroupMemberDecorate => groups.extend(
                    inst.operands()[1..]
                        .chunks_exact(2)
                        .filter_map(|pair| Some((inst.id_operand(0), Id::new(pair[0])?, pair[1]))),
                ),
                _ => {}
            }
        }
        rows.sort_unstable();
        let of_group = |group: Id| {
            let from = rows.partition_point(|r: &DecorationRow| r.target < group);
            rows[from..]
                .iter()
                .take_while(move |r| r.target == group)
                .copied()
        };
        let mut resolved = Vec::new();
        for (group, target, member) in groups {
            let row = |of_group: DecorationRow| DecorationRow {
                target,
                member,
                ..of_group
            };
            resolved.extend(of_group(group).map(row));
        }
        if !resolved.is_empty() {
            rows.extend(resolved);
            rows.sort_unstable();
        }
        IdDecorations { rows }
    }

    /// The operands of a decoration of an id, empty if it has none; `None` if the id does not have the
    /// decoration.
    pub fn get<'a>(&self, module: &'a SpirvModule, id: Id, what: Decoration) -> Option<&'a [u32]> {
        self.decorations_of(module, id, u32::MAX)
            .find(|(d, _)| *d == what)
            .map(|(_, operands)| operands)
    }

    /// As [`IdDecorations::get`], for a member of a structure.
    pub fn get_member<'a>(
        &self,
        module: &'a SpirvModule,
        id: Id,
        member: u32,
        what: Decoration,
    ) -> Option<&'a [u32]> {
        self.decorations_of(module, id, member)
            .find(|(d, _)| *d == what)
            .map(|(_, operands)| operands)
    }

    /// All decorations of an id (`member` is `u32::MAX`) or of a member, with their operands.
    pub fn decorations_of<'a, 'm: 'a>(
        &'a self,
        module: &'m SpirvModule,
        id: Id,
        member: u32,
    ) -> impl Iterator<Item = (Decoration, &'m [u32])> + 'a {
        let from = self
            .rows
            .partition_point(|r| (r.target, r.member) < (id, member));
        self.rows[from..]
            .iter()
            .take_while(move |r| (r.target, r.member) == (id, member))
            .map(|row| {
                let inst = module.inst(row.inst);
                let of_member = matches!(inst.op(), Op::MemberDecorate | Op::MemberDecorateString);
                let words = &inst.operands()[1 + usize::from(of_member)..];
                (Decoration(words[0]), &words[1..])
            })
    }
}
