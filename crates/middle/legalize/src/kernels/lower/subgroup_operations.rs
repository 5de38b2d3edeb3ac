//! Subgroup operations, most of which Vulkan has. Those on vectors of more than four components apply to each component.

use super::ShaderLowering;
use spirula_diagnostics::SourceDiagnostic;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::{BuiltIn, Scope};
use spirula_spirv::grammar::glsl_std_450 as glsl;
use spirula_spirv::ir::InstRef;

impl ShaderLowering<'_> {
    /// The number of invocations of the own subgroup. The last subgroup of a workgroup has those that are left, and Vulkan's built-in
    /// value is the size of full ones.
    pub fn count_subgroup_invocations(&mut self) -> Id {
        let word = self.make_int_type(32);
        let size = self.load_input(BuiltIn::SubgroupSize, 1);
        let number = self.load_input(BuiltIn::SubgroupId, 1);
        let all = self.count_invocations();
        let before = self.emit_value(Op::IMul, word, &[number, size]);
        let left = self.emit_value(Op::ISub, word, &[all, before]);
        self.emit_glsl(glsl::UMIN, word, &[left, size])
    }

    fn subgroup_scope(&mut self) -> Id {
        self.make_uint_constant(32, Scope::Subgroup.0.into())
    }

    /// A number less one, the mask of the bits below a power of two.
    fn mask_below(&mut self, power: Id) -> Id {
        let (word, one) = (self.make_int_type(32), self.make_uint_constant(32, 1));
        self.emit_value(Op::ISub, word, &[power, one])
    }
}

/// Operations that differ from Vulkan's in their scope only. A broadcast from an invocation that is no constant becomes a shuffle, as
/// drivers take it for that of an inactive invocation where control flow diverges (lavapipe 25).
pub fn lower_subgroup_operation(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let scope = l.lower_scope(inst.id_operand(0))?;
    let (mut head, mut values) = (vec![scope.word()], Vec::new());
    for operand in inst.parse_operands().flatten().skip(3) {
        let word = operand.words[0];
        match operand.name {
            "Operation" => head.push(word),
            _ => values.extend(Id::new(word)),
        }
    }
    let op = match inst.op() {
        Op::GroupNonUniformBroadcast => {
            let from = values.get(1).and_then(|from| l.info.read_constant(*from));
            from.map_or(Op::GroupNonUniformShuffle, |_| inst.op())
        }
        op => op,
    };
    l.map_components(inst, &values, |l, ty, values| {
        let words = head.iter().copied();
        let words: Vec<u32> = words.chain(values.iter().map(|id| id.word())).collect();
        l.b.append_value(op, ty, &words)
    })
}

/// `OpGroupNonUniformAllEqual`: all components must be equal.
pub fn lower_equality_vote(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let scope = l.lower_scope(inst.id_operand(0))?;
    let truth = l.b.bool_type();
    let lanes = l.lanes_of(inst.id_operand(1))?;
    let votes = lanes
        .into_iter()
        .map(|lane| l.emit_value(Op::GroupNonUniformAllEqual, truth, &[scope, lane]));
    let votes: Vec<Id> = votes.collect();
    let all = votes
        .into_iter()
        .reduce(|a, b| l.emit_value(Op::LogicalAnd, truth, &[a, b]));
    all.ok_or_else(|| crate::error::diagnose_instruction(inst, "an empty vector"))
}

/// `OpGroupNonUniformRotateKHR`, as a shuffle, which more devices have.
pub fn lower_subgroup_rotation(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let word = l.make_int_type(32);
    let scope = l.lower_scope(inst.id_operand(0))?;
    let delta = l.lower_operand(inst.id_operand(2))?;
    let size = match inst.get_id(3) {
        Some(cluster) => l.lower_operand(cluster)?,
        None => l.load_input(BuiltIn::SubgroupSize, 1),
    };
    let lane = l.load_input(BuiltIn::SubgroupLocalInvocationId, 1);
    let mask = l.mask_below(size);
    let others = l.emit_value(Op::Not, word, &[mask]);
    let first = l.emit_value(Op::BitwiseAnd, word, &[lane, others]);
    let moved = l.emit_value(Op::IAdd, word, &[lane, delta]);
    let within = l.emit_value(Op::BitwiseAnd, word, &[moved, mask]);
    let from = l.emit_value(Op::BitwiseOr, word, &[first, within]);
    l.map_components(inst, &[inst.id_operand(1)], |l, ty, v| {
        l.emit_value(Op::GroupNonUniformShuffle, ty, &[scope, v[0], from])
    })
}

/// Intel's shuffles, which differ from Vulkan's in their scope only.
pub fn lower_subgroup_shuffle(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let op = match inst.op() {
        Op::SubgroupShuffleXorINTEL => Op::GroupNonUniformShuffleXor,
        _ => Op::GroupNonUniformShuffle,
    };
    let scope = l.subgroup_scope();
    let lane = l.lower_operand(inst.id_operand(1))?;
    l.map_components(inst, &[inst.id_operand(0)], |l, ty, v| {
        l.emit_value(op, ty, &[scope, v[0], lane])
    })
}

/// Intel's shuffles up and down over two adjacent values. The result is that of the lane at a distance below or above;
/// beyond the subgroup it is taken from the other value.
pub fn lower_subgroup_shift(
    l: &mut ShaderLowering<'_>,
    inst: InstRef<'_>,
) -> Result<Id, SourceDiagnostic> {
    let (word, truth) = (l.make_int_type(32), l.b.bool_type());
    let size = l.load_input(BuiltIn::SubgroupSize, 1);
    let lane = l.load_input(BuiltIn::SubgroupLocalInvocationId, 1);
    let delta = l.lower_operand(inst.id_operand(2))?;
    let (from, is_first) = match inst.op() {
        Op::SubgroupShuffleDownINTEL => {
            let from = l.emit_value(Op::IAdd, word, &[lane, delta]);
            (from, l.emit_value(Op::ULessThan, truth, &[from, size]))
        }
        _ => {
            let from = l.emit_value(Op::ISub, word, &[lane, delta]);
            (from, l.emit_value(Op::ULessThan, truth, &[lane, delta]))
        }
    };
    // The size is a power of two, so the lane of the other value is the same modulo the size.
    let mask = l.mask_below(size);
    let from = l.emit_value(Op::BitwiseAnd, word, &[from, mask]);
    let scope = l.subgroup_scope();
    let both = [inst.id_operand(0), inst.id_operand(1)];
    l.map_components(inst, &both, |l, ty, v| {
        let shuffled = [v[0], v[1]]
            .map(|value| l.emit_value(Op::GroupNonUniformShuffle, ty, &[scope, value, from]));
        l.emit_value(Op::Select, ty, &[is_first, shuffled[0], shuffled[1]])
    })
}
