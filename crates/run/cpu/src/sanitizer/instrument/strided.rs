//! Checks of strided load groups ([`crate::sanitizer::strided_group`]).

use super::accessed_object::{AccessedObject, ShadowKind};
use super::cells::shadow_codegen;
use super::shadow_state::cell_flags;
use super::{ClifLowering, SanitizerHooks, info_bits};
use crate::codegen::ClifScalars;
use crate::codegen::access_hooks::{EmitAccess, MemoryAccessKind, PointerAccess};
use crate::module::types::ScalarLeaf;
use crate::sanitizer::shadow_cell::HALF;
use crate::sanitizer::{access_info as info, runtime};
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::grammar::Op;

/// Number of cells that are compared before a branch. There are not registers for many more.
const AT_ONCE: usize = 4;

impl SanitizerHooks {
    /// Makes a load of a group, at its own address or at the one to use instead. None where it is in no group.
    pub(super) fn guard_strided_group(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        access: PointerAccess,
        leaves: &[ScalarLeaf],
        emit: &EmitAccess<'_>,
    ) -> Result<Option<ClifScalars>, SourceDiagnostic> {
        let PointerAccess {
            pointer: id,
            address,
            kind: how,
        } = access;
        let load = lower.current.filter(|inst| inst.op() == Op::Load);
        let load = load.and_then(|inst| inst.result());
        let groups = &self.analysis.strided_groups;
        let found = load.and_then(|load| {
            let group = groups.group_of_load(load)?;
            let is_first = groups.groups[group][0].load == load;
            Some((group, is_first))
        });
        let Some((group, is_first)) = found.filter(|_| how == MemoryAccessKind::Read) else {
            return Ok(None);
        };
        let bytes = 1 << self.group_granule();
        let is_next = |(leaf, n): (&ScalarLeaf, u64)| {
            leaf.offset == n * bytes && u64::from(leaf.scalar.bytes()) == bytes
        };
        if !leaves.iter().zip(0..).all(is_next) {
            return Ok(None);
        }
        let Some(place) = self.find_accessed_object(lower, id)? else {
            return Ok(None);
        };
        if is_first {
            let is_fine = self.check_strided_group(lower, &place, address, group, bytes);
            let results = &mut self.state.borrow_mut().group_results;
            match is_fine {
                Some(is_fine) => results.insert(group, is_fine),
                None => results.remove(&group),
            };
        }
        let is_fine = self.state.borrow().group_results.get(&group).copied();
        let Some(is_fine) = is_fine else {
            return Ok(None);
        };
        let site = u64::from(self.current_site(lower));
        let all = bytes * leaves.len() as u64;
        let access_word = site | info_bits(how) | all << info::BYTES_SHIFT | place.cleared_flag();
        let [fine, done] = [(); 2].map(|()| lower.builder.create_block());
        let bad = self.cold_block(lower);
        lower.builder.ins().brif(is_fine, fine, &[], bad, &[]);
        lower.builder.switch_to_block(bad);
        self.make_instead(lower, &place, address, access_word, emit, done);
        lower.builder.switch_to_block(fine);
        let made = emit(lower, address);
        self.jump_with(lower, done, &made);
        lower.builder.switch_to_block(done);
        Ok(Some(lower.builder.block_params(done).into()))
    }

    /// Checks all loads of a group, from the address of the first. The result is not zero where all are inside of
    /// their object. Loads whose cells many invocations have not read in this phase are passed to the runtime.
    fn check_strided_group(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        address: Value,
        group: usize,
        bytes: u64,
    ) -> Option<Value> {
        let ShadowKind::Group { cells, .. } = place.space else {
            return None;
        };
        let distances = self.strided_distances(group, bytes);
        let (least, most) = (*distances.iter().min()?, *distances.iter().max()?);
        let span = most.checked_sub(least)?.checked_add(bytes as i64)?;
        let offset = lower.builder.ins().isub(address, place.base);
        let first = lower.builder.ins().iadd_imm_s(offset, least);
        let outside = self.is_outside(lower, place, first, span as u64);
        let [inside, done] = [(); 2].map(|()| lower.builder.create_block());
        let is_fine = lower.builder.append_block_param(done, types::I8);
        let [no, yes] = [0, 1].map(|is| lower.emit_iconst(types::I8, is));
        let (no, yes) = ([BlockArg::Value(no)], [BlockArg::Value(yes)]);
        lower.builder.ins().brif(outside, done, &no, inside, &[]);
        lower.builder.switch_to_block(inside);
        let step = 3 - i64::from(self.group_granule());
        let step = lower.builder.ins().ishl_imm_u(offset, step);
        let cells = self.first_cell(lower, cells);
        let at = lower.builder.ins().iadd(cells, step);
        let halves = distances.iter().map(|distance| {
            let cell = distance / bytes as i64 * 8 + i64::from(HALF / 8);
            i32::try_from(cell).ok()
        });
        let halves: Vec<i32> = halves.collect::<Option<_>>()?;
        let slow = self.cold_block(lower);
        for some in halves.chunks(AT_ONCE) {
            let differ = self.differ_from_many(lower, at, some);
            let next = lower.builder.create_block();
            lower.builder.ins().brif(differ, slow, &[], next, &[]);
            lower.builder.switch_to_block(next);
        }
        lower.builder.ins().jump(done, &yes);
        lower.builder.switch_to_block(slow);
        let members = self.strided_group_members(lower, place, group, bytes);
        let members = lower.emit_iconst(types::I64, members as i64);
        let args = [lower.item.context, lower.item.linear, address, members];
        self.call_quietly(
            lower,
            runtime::read_strided_group as *const () as usize,
            &args,
        );
        lower.builder.ins().jump(done, &yes);
        lower.builder.switch_to_block(done);
        Some(is_fine)
    }

    /// Bytes from the address of the first load of a group to each scalar of all loads.
    fn strided_distances(&self, group: usize, bytes: u64) -> Vec<i64> {
        let members = &self.analysis.strided_groups.groups[group];
        let scalars = members
            .iter()
            .flat_map(|member| member.scalar_offsets(bytes));
        scalars.collect()
    }

    /// A value that is not zero where the upper half of any of the cells differs from that of a cell which many have
    /// read. It compares the bits that any half has, and the bits that all have.
    fn differ_from_many(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        at: Value,
        halves: &[i32],
    ) -> Value {
        let known = shadow_codegen(lower).load_state_half(runtime::at::READ_BY_MANY);
        let flags = cell_flags();
        let halves = halves.iter();
        let halves = halves.map(|half| lower.builder.ins().load(types::I32, flags, at, *half));
        let halves: Vec<Value> = halves.collect();
        let (mut any, mut all) = (halves[0], halves[0]);
        for half in &halves[1..] {
            any = lower.builder.ins().bor(any, *half);
            all = lower.builder.ins().band(all, *half);
        }
        let [any, all] = [any, all].map(|half| lower.builder.ins().bxor(half, known));
        lower.builder.ins().bor(any, all)
    }

    /// The address of the list of a group's loads for [`runtime::read_strided_group`].
    fn strided_group_members(
        &self,
        lower: &mut ClifLowering<'_, '_, '_>,
        place: &AccessedObject,
        group: usize,
        bytes: u64,
    ) -> usize {
        let access_word =
            info_bits(MemoryAccessKind::Read) | bytes << info::BYTES_SHIFT | place.cleared_flag();
        let (program, scope) = (lower.program, lower.current_scope());
        let (func, position) = (scope.func, scope.position);
        let block = program
            .module
            .label(program.functions.get(func).cfg.block(position));
        let members = &self.analysis.strided_groups.groups[group];
        let mut words = vec![0];
        for member in members {
            let inst = program.definitions.get(program.module, member.load);
            let purpose = self.analysis.purposes[member.load];
            let site = inst.map_or(0, |inst| {
                let mut sites = self.sites.borrow_mut();
                sites.assign_number(program, func, block, inst, purpose)
            });
            for distance in member.scalar_offsets(bytes) {
                words.extend([distance as u64, u64::from(site) | access_word]);
                words[0] += 1;
            }
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        lower.shared.code.memory.keep_bytes(&bytes)
    }
}
