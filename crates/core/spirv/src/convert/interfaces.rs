//! Conversion of entry point interfaces.

use crate::analysis::EntryReach;
use crate::grammar::enumerants::StorageClass;
use crate::grammar::{Op, SpirvVersion};
use crate::ir::{Inst, InstRef, ModuleSection, SpirvModule};
use crate::{Id, IdMap};

/// The first version whose interfaces list all global variables, each once.
pub(super) const ALL_VARIABLES: SpirvVersion = SpirvVersion::new(1, 4);

/// Removes from the interfaces of entry points the variables that only 1.4 and later list: all except inputs and
/// outputs.
pub(super) fn reduce_interfaces(module: &mut SpirvModule) {
    let mut kept = IdMap::new(module.bound(), true);
    for inst in module.section_insts(ModuleSection::Globals) {
        if let (Op::Variable | Op::UntypedVariableKHR, Some(id)) = (inst.op(), inst.result()) {
            let class = StorageClass(inst.operand_word(0));
            let is_interface = matches!(class, StorageClass::Input | StorageClass::Output);
            kept.set(id, is_interface);
        }
    }
    let points = module.section_insts(ModuleSection::EntryPoints);
    let points = points.filter(|p| p.op() == Op::EntryPoint);
    let points: Vec<Inst> = points.map(InstRef::handle).collect();
    for inst in points {
        let (head, interface) = split_entry_point(module.inst(inst).words());
        let ids = interface
            .iter()
            .filter(|w| Id::new(**w).is_some_and(|id| kept[id]));
        let new: Vec<u32> = head.iter().chain(ids).copied().collect();
        module.replace_words(inst, &new);
    }
}

/// The words of an entry point before its interface, and the interface.
fn split_entry_point(words: &[u32]) -> (&[u32], &[u32]) {
    let name = words[2..].iter().position(|w| w.to_le_bytes().contains(&0));
    words.split_at(3 + name.unwrap_or(words.len() - 3))
}

/// Adds the global variables that an entry point uses to its interface: all of them from 1.4 on, inputs and
/// outputs before. Listed variables stay if the version allows them.
pub fn complete_interfaces(module: &mut SpirvModule) {
    let all = module.version >= ALL_VARIABLES;
    let mut listable = IdMap::new(module.bound(), false);
    for inst in module.section_insts(ModuleSection::Globals) {
        let class = match inst.op() {
            Op::Variable | Op::UntypedVariableKHR => StorageClass(inst.operand_word(0)),
            _ => continue,
        };
        if let Some(id) = inst.result() {
            let is_interface = matches!(class, StorageClass::Input | StorageClass::Output);
            listable.set(id, all || is_interface);
        }
    }
    let reach = EntryReach::from_module(module);
    let points = module.section_insts(ModuleSection::EntryPoints);
    let points = points.filter(|p| p.op() == Op::EntryPoint);
    let points: Vec<Inst> = points.map(InstRef::handle).collect();
    let mut listed: IdMap<u32> = IdMap::new(module.bound(), 0);
    for (number, inst) in points.into_iter().enumerate() {
        let mark = number as u32 + 1;
        let words = module.inst(inst).words();
        let (head, interface) = split_entry_point(words);
        let mut new = head.to_vec();
        let mut list = |id: Id| {
            let fresh = listable[id] && std::mem::replace(listed.get_mut(id), mark) != mark;
            new.extend(fresh.then_some(id.word()));
        };
        interface
            .iter()
            .filter_map(|w| Id::new(*w))
            .for_each(&mut list);
        reach
            .used_variables(number)
            .iter()
            .copied()
            .for_each(&mut list);
        if new != words {
            module.replace_words(inst, &new);
        }
    }
}
