//! Debug scopes of inlined code: each copied instruction records the position of the call (`DebugInlinedAt`).

use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::{IdWords, Inst, InstRef, ModuleSection, SpirvModule};

/// The last debug instructions before a call.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallDebugLocation {
    /// `OpLine`, or `DebugLine`.
    pub line: Option<Inst>,
    /// `DebugScope`.
    pub scope: Option<Inst>,
}

/// The kind of a debug instruction, as far as copies are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DebugInstKind {
    Scope,
    Line,
    /// `DebugFunctionDefinition`, which a copy must not have.
    Definition,
    Other,
}

/// The kind of an instruction of a debug information set; `None` for other instructions.
pub fn classify_debug_inst(ids: &IdWords, inst: InstRef<'_>) -> Option<DebugInstKind> {
    if inst.op() != Op::ExtInst {
        return None;
    }
    let set = ids.ext_inst_set(inst).filter(|s| s.is_debug_info())?;
    let row = set.instruction_by_number(inst.operand_word(1));
    Some(match row.map(|r| r.name) {
        Some("DebugScope" | "DebugNoScope") => DebugInstKind::Scope,
        Some("DebugLine" | "DebugNoLine") => DebugInstKind::Line,
        Some("DebugFunctionDefinition") => DebugInstKind::Definition,
        _ => DebugInstKind::Other,
    })
}

impl CallDebugLocation {
    /// Records an instruction before the call.
    pub fn record_inst(&mut self, ids: &IdWords, inst: InstRef<'_>) {
        match (inst.op(), classify_debug_inst(ids, inst)) {
            (Op::Line | Op::NoLine, _) | (_, Some(DebugInstKind::Line)) => {
                self.line = Some(inst.handle())
            }
            (_, Some(DebugInstKind::Scope)) => self.scope = Some(inst.handle()),
            _ => {}
        }
    }

    /// A `DebugInlinedAt` for the inlined code, if scope and line of the call are known.
    pub fn inlined_at(&self, ids: &IdWords, module: &mut SpirvModule) -> Option<Id> {
        let scope = module.inst(self.scope?);
        let set = ids.ext_inst_set(scope)?;
        let number = set.instruction_by_name("DebugInlinedAt")?.number;
        let line = module.inst(self.line?);
        let by_id = set.name.starts_with("NonSemantic");
        let at = match line.op() {
            Op::ExtInst if by_id => *line.operands().get(3)?,
            Op::Line if !by_id => line.operand_word(1),
            _ => return None,
        };
        let outer = scope.operands().get(3).copied();
        let [ty, set] = [scope.words()[0], scope.operand_word(0)];
        let scope = *scope.operands().get(2)?;
        let id = module.fresh_id();
        let mut words = vec![ty, id.word(), set, number, at, scope];
        words.extend(outer);
        let inst = module.create_inst(Op::ExtInst, &words);
        module.append_inst(ModuleSection::Globals.list(), inst);
        Some(id)
    }
}

/// A copy of the `DebugInlinedAt` `known` for code within a function that is itself inlined at `site`.
pub fn chain_inlined_at(module: &mut SpirvModule, known: Id, site: Id, depth: u32) -> Option<Id> {
    let globals = module.section_insts(ModuleSection::Globals).rev();
    let found = globals.take(4096).find(|i| i.result() == Some(known))?;
    let mut words = found.words().to_vec();
    let end = match words.get(6).copied().and_then(Id::new) {
        Some(outer) if depth < 16 => chain_inlined_at(module, outer, site, depth + 1)?,
        Some(_) => return None,
        None => site,
    };
    words.truncate(6);
    words.push(end.word());
    let id = module.fresh_id();
    words[1] = id.word();
    let inst = module.create_inst(Op::ExtInst, &words);
    module.append_inst(ModuleSection::Globals.list(), inst);
    Some(id)
}
