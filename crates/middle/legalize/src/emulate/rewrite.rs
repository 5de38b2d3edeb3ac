//! Which instruction is changed how.

use super::emitter::TypeEmulator;
use super::kinds::{EmulatedScalar, EmulatedShape};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::ir::InstRef;

impl<'a> TypeEmulator<'a> {
    /// Changes an instruction of a function.
    pub fn instruction(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        self.at = inst.handle();
        if self.on_buffers(inst)? {
            return Ok(());
        }
        let made = inst.result().and_then(|id| self.shape(id));
        let mut given: Option<EmulatedShape> = None;
        let mut operands = Vec::new();
        // The first of what has a result is its type.
        let first = usize::from(inst.result_type().is_some());
        self.ids.visit(inst, |at, id| {
            if at >= first {
                operands.push(id);
            }
        });
        for operand in &operands {
            let shape = self.shape(*operand).filter(|s| s.kind.changes());
            given = given.or(shape);
        }
        let made = made.filter(|s| s.kind.changes());
        if made.is_none() && given.is_none() {
            return Ok(());
        }
        match inst.op() {
            Op::AccessChain | Op::InBoundsAccessChain | Op::PtrAccessChain => {
                self.indices(inst, 1);
                Ok(())
            }
            Op::Switch => self.switch(inst),
            Op::Load | Op::Store | Op::Phi | Op::FunctionCall | Op::ReturnValue | Op::Variable => {
                Ok(())
            }
            Op::FunctionParameter | Op::CopyObject | Op::CompositeInsert | Op::Undef => Ok(()),
            Op::CompositeExtract | Op::CopyLogical | Op::Function | Op::CopyMemory => Ok(()),
            Op::UConvert
            | Op::SConvert
            | Op::FConvert
            | Op::ConvertFToU
            | Op::ConvertFToS
            | Op::ConvertUToF
            | Op::ConvertSToF => self.convert(inst),
            Op::Bitcast | Op::ConvertUToPtr | Op::ConvertPtrToU => self.bitcast(inst),
            Op::ExtInst => self.extended(inst, made.or(given)),
            _ => self.by_kind(inst, made, given),
        }
    }

    fn by_kind(
        &mut self,
        inst: InstRef<'a>,
        made: Option<EmulatedShape>,
        given: Option<EmulatedShape>,
    ) -> Result<(), SourceDiagnostic> {
        let is_wide = |s: Option<EmulatedShape>| {
            s.is_some_and(|s| matches!(s.kind, EmulatedScalar::Wide { .. }))
        };
        match made.or(given).map(|s| s.kind) {
            _ if is_wide(made) || is_wide(given) => self.wide(inst, made, given),
            Some(EmulatedScalar::Half) => self.half(inst, made),
            _ => self.narrow(inst, made),
        }
    }

    /// Has indices be words.
    fn indices(&mut self, inst: InstRef<'a>, from: usize) {
        let indices: Vec<Id> = inst.ids(from).collect();
        let mut map = Vec::new();
        for index in indices {
            let changes = self.shape(index).is_some_and(|s| s.kind.changes());
            // Into structures lead constants of words, which stay constants.
            if changes {
                map.push((index, self.index(index)));
            }
        }
        let ids = &self.ids;
        ids.rewrite(&mut self.m, inst.handle(), |id| {
            let found = map.iter().find(|(old, _)| *old == id);
            found.map_or(id, |(_, new)| *new)
        });
    }

    /// An index of the source as a word.
    pub fn index(&mut self, index: Id) -> Id {
        if let Some(value) = self.definitions.constant(self.source, index) {
            return self.number(value as u32);
        }
        match self.shape(index) {
            Some(shape) => match shape.kind {
                EmulatedScalar::Wide { .. } => {
                    let ty = self.uint();
                    self.extract(ty, index, 0)
                }
                EmulatedScalar::Narrow { signed: true, .. } => self.extended_sign(index, shape),
                _ => self.unsigned(index, shape),
            },
            None => index,
        }
    }

    /// A switch over something that is no word any more: its literals become words.
    fn switch(&mut self, inst: InstRef<'a>) -> Result<(), SourceDiagnostic> {
        let Some(shape) = self.shape(inst.id(0)) else {
            return Ok(());
        };
        let step = self.ids.switch_literal_words(inst);
        let mut words = inst.words()[..2].to_vec();
        match shape.kind {
            EmulatedScalar::Narrow { width, .. } => {
                for case in inst.words()[2..].chunks_exact(step + 1) {
                    words.extend([case[0] & (u32::MAX >> (32 - width)), case[step]]);
                }
            }
            _ => {
                // By the number of the case that it is.
                let (truth, word) = (self.truth(), self.uint());
                let [low, high] = self.halves(inst.id(0));
                let mut selector = self.number(u32::MAX);
                for (n, case) in inst.words()[2..].chunks_exact(step + 1).enumerate() {
                    let (a, b) = (self.number(case[0]), self.number(case[1]));
                    let low = self.op(Op::IEqual, truth, &[low, a]);
                    let high = self.op(Op::IEqual, truth, &[high, b]);
                    let is_it = self.op(Op::LogicalAnd, truth, &[low, high]);
                    let number = self.number(n as u32);
                    selector = self.op(Op::Select, word, &[is_it, number, selector]);
                    words.extend([n as u32, case[step]]);
                }
                words[0] = selector.word();
            }
        }
        self.m.replace(inst.handle(), Op::Switch, &words);
        Ok(())
    }
}
