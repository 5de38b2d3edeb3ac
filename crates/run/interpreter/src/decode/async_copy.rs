//! Asynchronous copies of workgroups, as a loop of the first invocation.
//!
//! All invocations wait at `OpGroupAsyncCopy`, and the first of them copies the elements. `OpGroupWaitEvents` is a barrier, so
//! none reads the target before. Elements of the memory that is not the workgroup's are `Stride` elements apart.

use super::{CodeDecoder, DecodeResult};
use crate::exchange::{ExchangeKind, ExchangePoint};
use crate::facts::ScalarKind;
use crate::step::{AddressTerm, CodeEdge, CodeStep, Slot, TableRange};
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{Scope, StorageClass};
use spirula_spirv::ir::InstRef;

const LONG: ScalarKind = ScalarKind::Int(64);

/// The registers of a copy.
struct WorkgroupCopy {
    to: Slot,
    from: Slot,
    /// Number of elements.
    count: Slot,
    /// Elements from one to the next in memory that is not the workgroup's.
    stride: Slot,
    /// Bytes of an element.
    size: u64,
    is_to_workgroup: bool,
}

impl CodeDecoder<'_> {
    /// Decodes an asynchronous copy.
    ///
    /// # Errors
    /// When another group than the workgroup copies, or the types are not supported.
    pub(super) fn decode_async_copy(&mut self, inst: InstRef<'_>) -> DecodeResult {
        let scope = self.facts.scalar_constant(inst.id_operand(0));
        if scope != Some(Scope::Workgroup.0.into()) {
            return Err(self.refuse_inst(inst));
        }
        let target = inst.id_operand(1);
        let class = self.facts.define(self.facts.type_of(target)?)?;
        let copy = WorkgroupCopy {
            size: self.facts.layout(self.pointee_of(target)?).size,
            is_to_workgroup: StorageClass(class.operand_word(0)) == StorageClass::Workgroup,
            to: self.value_slot(target)?,
            from: self.value_slot(inst.id_operand(2))?,
            count: self.extend_to_long(inst.id_operand(3))?,
            stride: self.extend_to_long(inst.id_operand(4))?,
        };
        let is_first = self.elect_invocation();
        self.copy_elements(&copy, is_first)?;
        self.copy_to_result(inst, inst.id_operand(5))
    }

    /// An unsigned number as one of 64 bits.
    fn extend_to_long(&mut self, number: Id) -> Result<Slot, SourceDiagnostic> {
        let kind = self.facts.component_kind(self.facts.type_of(number)?)?;
        let (from, to) = (self.value_slot(number)?, self.reserve_registers(1));
        self.push_operation(Op::UConvert, LONG, &[kind], to, &[from])?;
        Ok(to)
    }

    /// Lets all invocations of the workgroup wait. The register tells whether an invocation is the first.
    fn elect_invocation(&mut self) -> Slot {
        let to = self.reserve_registers(1);
        let number = self.code.points.len() as u32;
        self.code.points.push(ExchangePoint {
            to,
            to_count: 1,
            ..ExchangePoint::of_workgroup(ExchangeKind::Elect)
        });
        self.push_step(CodeStep::Suspend(number));
        to
    }

    /// Appends the loop over the elements, which the first invocation enters.
    fn copy_elements(&mut self, copy: &WorkgroupCopy, is_first: Slot) -> DecodeResult {
        let [zero, one, size] = [0, 1, copy.size].map(|bits| self.pool_constants(&[bits]));
        let number = self.reserve_registers(1);
        self.push_step(CodeStep::Copy {
            to: number,
            from: zero,
            count: 1,
        });
        let enter = self.push_edge();
        let skip = self.push_edge();
        self.push_step(CodeStep::Branch {
            condition: is_first,
            edges: [enter, skip],
        });
        self.aim_edge(enter);
        let head = self.code.steps.len() as u32;
        let has_more = self.reserve_registers(1);
        let kinds = [LONG, LONG];
        let operands = [number, copy.count];
        self.push_operation(Op::ULessThan, ScalarKind::Bool, &kinds, has_more, &operands)?;
        let go_on = self.push_edge();
        let leave = self.push_edge();
        self.push_step(CodeStep::Branch {
            condition: has_more,
            edges: [go_on, leave],
        });
        self.aim_edge(go_on);
        let strided = self.reserve_registers(1);
        self.push_operation(Op::IMul, LONG, &kinds, strided, &[number, copy.stride])?;
        let (to_index, from_index) = if copy.is_to_workgroup {
            (number, strided)
        } else {
            (strided, number)
        };
        let to = self.push_element(copy.to, to_index, copy.size);
        let from = self.push_element(copy.from, from_index, copy.size);
        self.push_step(CodeStep::CopyMemory {
            to,
            from,
            bytes: size,
        });
        self.push_operation(Op::IAdd, LONG, &kinds, number, &[number, one])?;
        let again = self.push_edge();
        self.push_step(CodeStep::Jump(again));
        self.code.edges[again as usize].target = head;
        self.aim_edge(skip);
        self.aim_edge(leave);
        Ok(())
    }

    /// The address of an element.
    fn push_element(&mut self, base: Slot, index: Slot, stride: u64) -> Slot {
        let terms = TableRange {
            first: self.code.terms.len() as u32,
            count: 1,
        };
        self.code.terms.push(AddressTerm {
            slot: index,
            width: 64,
            stride,
        });
        let to = self.reserve_registers(1);
        self.push_step(CodeStep::Address {
            to,
            base,
            offset: 0,
            terms,
        });
        to
    }

    /// An edge without moves, whose target is set later.
    fn push_edge(&mut self) -> u32 {
        let moves = self.push_moves(&[]);
        self.code.edges.push(CodeEdge { target: 0, moves });
        self.code.edges.len() as u32 - 1
    }

    /// Lets an edge lead to the next step.
    fn aim_edge(&mut self, edge: u32) {
        self.code.edges[edge as usize].target = self.code.steps.len() as u32;
    }
}
