//! Lane loops: code that the lanes of a gang run one after the other.

use super::vectorise::GangVectoriser;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};

/// The lanes that a loop visits.
#[derive(Clone, Copy)]
pub(super) enum LaneOrder {
    /// All of a gang.
    All,
    /// Those whose bits are set in a number, which is not 0. They take one path of a branch.
    Selected { bits: Value, path: usize },
}

/// A loop over lanes.
pub(super) struct LaneLoop {
    order: LaneOrder,
    head: Block,
    /// The lane, or the bits of those that are left.
    state: Value,
    /// Number of the lane, 64 bits.
    pub(super) lane: Value,
}

impl GangVectoriser<'_> {
    /// Begins a loop over lanes.
    pub(super) fn begin_lanes(&mut self, order: LaneOrder) -> LaneLoop {
        let head = self.builder.create_block();
        let (first, ty) = match order {
            LaneOrder::All => (self.builder.ins().iconst(types::I64, 0), types::I64),
            LaneOrder::Selected { bits, .. } => (bits, types::I32),
        };
        let state = self.builder.append_block_param(head, ty);
        self.builder.ins().jump(head, &[BlockArg::Value(first)]);
        self.builder.switch_to_block(head);
        let lane = match order {
            LaneOrder::All => state,
            LaneOrder::Selected { .. } => {
                let lane = self.builder.ins().ctz(state);
                self.builder.ins().uextend(types::I64, lane)
            }
        };
        LaneLoop {
            order,
            head,
            state,
            lane,
        }
    }

    /// Ends a loop over lanes, and continues after it.
    pub(super) fn end_lanes(&mut self, lanes: &LaneLoop) {
        let state = lanes.state;
        let (next, more) = match lanes.order {
            LaneOrder::All => {
                let next = self.builder.ins().iadd_imm_s(state, 1);
                let last = self.width() as i64;
                let more = self.builder.ins().icmp_imm_u(IntCC::NotEqual, next, last);
                (next, more)
            }
            LaneOrder::Selected { .. } => {
                let before = self.builder.ins().iadd_imm_s(state, -1);
                let next = self.builder.ins().band(state, before);
                (next, next)
            }
        };
        let after = self.builder.create_block();
        let again = [BlockArg::Value(next)];
        self.builder
            .ins()
            .brif(more, lanes.head, &again, after, &[]);
        self.builder.switch_to_block(after);
    }
}
