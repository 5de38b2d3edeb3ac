//! Loads that are checked together ([`crate::sanitizer::AllSeries`]).

use super::accessed_object::{AccessedObject, ShadowKind};
use super::shadow_state::cell_flags;
use super::{ClifLowering, GuardedAccess, MemoryAccessKind};
use crate::codegen::ClifScalars;
use crate::module::types::ScalarLeaf;
use crate::sanitizer::runtime::{self, info};
use crate::sanitizer::shadow_cell::HALF;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use rustc_hash::FxHashMap;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;

/// By series: what was asked at its first load, which is not zero if all its places are inside, and nothing more is to be said of
/// the loads.
pub(crate) type StridedCheckResults = FxHashMap<usize, Value>;

/// Cells that are compared before it is asked whether all are what they should be: there are not registers for many more.
const AT_ONCE: usize = 4;

impl ClifLowering<'_, '_, '_> {
    /// What a load of a series gives, made at its address or the one to use instead; none where it is of no series.
    pub(super) fn guard_series(
        &mut self,
        GuardedAccess { id, address, how }: GuardedAccess,
        leaves: &[ScalarLeaf],
        make: impl Fn(&mut Self, Value) -> ClifScalars,
    ) -> Result<Option<ClifScalars>, SourceDiagnostic> {
        let load = self.current.filter(|inst| inst.op() == Op::Load);
        let load = load.and_then(|inst| inst.result());
        let checking = self.shared.checking.as_ref();
        let found = load.zip(checking).and_then(|(load, checking)| {
            let series = checking.series.group_of_load(load)?;
            let is_first = checking.series.series[series][0].load == load;
            Some((series, is_first))
        });
        let Some((series, is_first)) = found.filter(|_| how == MemoryAccessKind::Read) else {
            return Ok(None);
        };
        let bytes = 1 << self.group_granule();
        let is_next = |(leaf, n): (&ScalarLeaf, u64)| {
            leaf.offset == n * bytes && u64::from(leaf.scalar.bytes()) == bytes
        };
        if !leaves.iter().zip(0..).all(is_next) {
            return Ok(None);
        }
        let Some(place) = self.find_accessed_object(id)? else {
            return Ok(None);
        };
        if is_first {
            match self.ask_series(&place, address, (series, bytes)) {
                Some(is_fine) => self.asked.insert(series, is_fine),
                None => self.asked.remove(&series),
            };
        }
        let Some(is_fine) = self.asked.get(&series).copied() else {
            return Ok(None);
        };
        let site = u64::from(self.current_site());
        let all = bytes * leaves.len() as u64;
        let what = site | how.info_bits() | all << info::BYTES_SHIFT | place.cleared_flag();
        let [fine, done] = [(); 2].map(|()| self.builder.create_block());
        let bad = self.cold_block();
        self.builder.ins().brif(is_fine, fine, &[], bad, &[]);
        self.builder.switch_to_block(bad);
        self.make_instead((&place, address), what, &make, done);
        self.builder.switch_to_block(fine);
        let made = make(self, address);
        self.jump_with(done, &made);
        self.builder.switch_to_block(done);
        Ok(Some(self.builder.block_params(done).into()))
    }

    /// Asks for all loads of a series, given the address of the first: whether all are inside, and whether their cells were
    /// read by many in this phase already. Where they were not, the loads are told of one by one.
    fn ask_series(
        &mut self,
        place: &AccessedObject,
        address: Value,
        (series, bytes): (usize, u64),
    ) -> Option<Value> {
        let ShadowKind::Group { cells, .. } = place.space else {
            return None;
        };
        let distances = self.strided_distances(series, bytes);
        let (least, most) = (*distances.iter().min()?, *distances.iter().max()?);
        let span = most.checked_sub(least)?.checked_add(bytes as i64)?;
        let offset = self.builder.ins().isub(address, place.base);
        let first = self.builder.ins().iadd_imm_s(offset, least);
        let outside = self.is_outside(place, first, span as u64);
        let [inside, done] = [(); 2].map(|()| self.builder.create_block());
        let is_fine = self.builder.append_block_param(done, types::I8);
        let [no, yes] = [0, 1].map(|is| self.emit_iconst(types::I8, is));
        let (no, yes) = ([BlockArg::Value(no)], [BlockArg::Value(yes)]);
        self.builder.ins().brif(outside, done, &no, inside, &[]);
        self.builder.switch_to_block(inside);
        let step = 3 - i64::from(self.group_granule());
        let step = self.builder.ins().ishl_imm_u(offset, step);
        let cells = self.first_cell(cells);
        let at = self.builder.ins().iadd(cells, step);
        let halves = distances.iter().map(|distance| {
            let cell = distance / bytes as i64 * 8 + i64::from(HALF / 8);
            i32::try_from(cell).ok()
        });
        let halves: Vec<i32> = halves.collect::<Option<_>>()?;
        let slow = self.cold_block();
        for some in halves.chunks(AT_ONCE) {
            let differ = self.differ_from_many(at, some);
            let next = self.builder.create_block();
            self.builder.ins().brif(differ, slow, &[], next, &[]);
            self.builder.switch_to_block(next);
        }
        self.builder.ins().jump(done, &yes);
        self.builder.switch_to_block(slow);
        let members = self.kept_members(place, series, bytes);
        let members = self.emit_iconst(types::I64, members as i64);
        let args = [self.item.context, self.item.linear, address, members];
        self.call_quietly(runtime::read_series as *const () as usize, &args);
        self.builder.ins().jump(done, &yes);
        self.builder.switch_to_block(done);
        Some(is_fine)
    }

    /// Bytes from the place of the first load of a series to each scalar of all.
    fn strided_distances(&self, series: usize, bytes: u64) -> Vec<i64> {
        let checking = self.shared.checking.as_ref();
        let members = checking.map_or(&[][..], |c| &c.series.series[series]);
        let scalars = members
            .iter()
            .flat_map(|member| member.scalar_offsets(bytes));
        scalars.collect()
    }

    /// What is not zero where a half of a cell, at such distances from an address, is another than that of what many have read:
    /// all bits that any has, and those that all have, are what is known.
    fn differ_from_many(&mut self, at: Value, halves: &[i32]) -> Value {
        let known = self.shadow_codegen().live_half(runtime::at::READ_BY_MANY);
        let flags = cell_flags();
        let halves = halves.iter();
        let halves = halves.map(|half| self.builder.ins().load(types::I32, flags, at, *half));
        let halves: Vec<Value> = halves.collect();
        let (mut any, mut all) = (halves[0], halves[0]);
        for half in &halves[1..] {
            any = self.builder.ins().bor(any, *half);
            all = self.builder.ins().band(all, *half);
        }
        let [any, all] = [any, all].map(|half| self.builder.ins().bxor(half, known));
        self.builder.ins().bor(any, all)
    }

    /// The address of what [`runtime::read_series`] is told of a series.
    fn kept_members(&mut self, place: &AccessedObject, series: usize, bytes: u64) -> usize {
        let what =
            MemoryAccessKind::Read.info_bits() | bytes << info::BYTES_SHIFT | place.cleared_flag();
        let (program, scope) = (self.program, self.current_scope());
        let (func, position) = (scope.func, scope.position);
        let block = program
            .module
            .label(program.functions.get(func).cfg.block(position));
        let Some(checking) = &mut self.shared.checking else {
            return 0;
        };
        let members = checking.series.series[series].clone();
        let mut words = vec![0];
        for member in members {
            let inst = program.definitions.get(program.module, member.load);
            let purpose = checking.purposes[member.load];
            let site = inst.map_or(0, |inst| {
                checking
                    .sites
                    .assign_number(program, func, block, inst, purpose)
            });
            for distance in member.scalar_offsets(bytes) {
                words.extend([distance as u64, u64::from(site) | what]);
                words[0] += 1;
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        self.shared.code.memory.keep_bytes(&bytes)
    }
}
