//! Suspension points: instructions at which an invocation waits for others.
//!
//! An invocation that reaches one stores its operands into its frame and returns to the scheduler,
//! which computes the result for all invocations that take part and lets them go on.

use crate::context::EXCHANGE_SLOTS;
use crate::pipe::PipeUse;
use crate::product::Product;
use crate::program::Program;
use crate::types::Scalar;
use spirula_diagnostics::Place;
use spirula_spirv::Id;
use spirula_spirv::grammar::Op;
use spirula_spirv::grammar::enumerants::Scope;
use spirula_spirv::ir::InstRef;

/// Who waits for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Group {
    /// All invocations of the workgroup.
    Workgroup,
    /// The invocations of the subgroup that are at the same point.
    Subgroup,
}

/// How two values become one in reductions and scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Combine {
    IAdd,
    FAdd,
    IMul,
    FMul,
    SMin,
    UMin,
    FMin,
    SMax,
    UMax,
    FMax,
    And,
    Or,
    Xor,
}

/// What is exchanged at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exchange {
    /// Nothing: the invocations only wait.
    Barrier,
    /// Whether the invocation is the first one.
    Elect,
    All,
    Any,
    AllEqual,
    /// The value of the invocation with the given number within the group.
    Broadcast,
    BroadcastFirst,
    Ballot,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    /// A reduction or a scan; the group operation is the first literal.
    Reduce(Combine),
    QuadBroadcast,
    QuadSwap,
    QuadAll,
    QuadAny,
    Rotate,
    /// Two values and a number: Intel's shuffles between two registers.
    ShufflePairUp,
    ShufflePairDown,
    /// A copy that the invocations do together.
    AsyncCopy,
    /// A product of cooperative matrices.
    Product,
    /// Something with a pipe that the invocations do together.
    Pipe(PipeUse),
}

/// How a point's operands stand in its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Scope first.
    Scoped,
    /// Scope, then a literal group operation.
    Operation,
    /// No scope: subgroups.
    Subgroup,
}

struct Row(Op, Shape, Exchange);

/// The instructions that are suspension points, but for control barriers.
const ROWS: &[Row] = &[
    Row(Op::GroupAsyncCopy, Shape::Scoped, Exchange::AsyncCopy),
    Row(
        Op::UntypedGroupAsyncCopyKHR,
        Shape::Scoped,
        Exchange::AsyncCopy,
    ),
    Row(Op::GroupWaitEvents, Shape::Scoped, Exchange::Barrier),
    Row(
        Op::GroupReserveReadPipePackets,
        Shape::Scoped,
        Exchange::Pipe(PipeUse::ReserveRead),
    ),
    Row(
        Op::GroupReserveWritePipePackets,
        Shape::Scoped,
        Exchange::Pipe(PipeUse::ReserveWrite),
    ),
    Row(
        Op::GroupCommitReadPipe,
        Shape::Scoped,
        Exchange::Pipe(PipeUse::CommitRead),
    ),
    Row(
        Op::GroupCommitWritePipe,
        Shape::Scoped,
        Exchange::Pipe(PipeUse::CommitWrite),
    ),
    Row(Op::GroupAll, Shape::Scoped, Exchange::All),
    Row(Op::GroupAny, Shape::Scoped, Exchange::Any),
    Row(Op::GroupBroadcast, Shape::Scoped, Exchange::Broadcast),
    Row(
        Op::GroupIAdd,
        Shape::Operation,
        Exchange::Reduce(Combine::IAdd),
    ),
    Row(
        Op::GroupFAdd,
        Shape::Operation,
        Exchange::Reduce(Combine::FAdd),
    ),
    Row(
        Op::GroupFMin,
        Shape::Operation,
        Exchange::Reduce(Combine::FMin),
    ),
    Row(
        Op::GroupUMin,
        Shape::Operation,
        Exchange::Reduce(Combine::UMin),
    ),
    Row(
        Op::GroupSMin,
        Shape::Operation,
        Exchange::Reduce(Combine::SMin),
    ),
    Row(
        Op::GroupFMax,
        Shape::Operation,
        Exchange::Reduce(Combine::FMax),
    ),
    Row(
        Op::GroupUMax,
        Shape::Operation,
        Exchange::Reduce(Combine::UMax),
    ),
    Row(
        Op::GroupSMax,
        Shape::Operation,
        Exchange::Reduce(Combine::SMax),
    ),
    Row(
        Op::GroupIMulKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::IMul),
    ),
    Row(
        Op::GroupFMulKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::FMul),
    ),
    Row(
        Op::GroupBitwiseAndKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::And),
    ),
    Row(
        Op::GroupBitwiseOrKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::Or),
    ),
    Row(
        Op::GroupBitwiseXorKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::Xor),
    ),
    Row(
        Op::GroupLogicalAndKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::And),
    ),
    Row(
        Op::GroupLogicalOrKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::Or),
    ),
    Row(
        Op::GroupLogicalXorKHR,
        Shape::Operation,
        Exchange::Reduce(Combine::Xor),
    ),
    Row(
        Op::GroupIAddNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::IAdd),
    ),
    Row(
        Op::GroupFAddNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::FAdd),
    ),
    Row(
        Op::GroupFMinNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::FMin),
    ),
    Row(
        Op::GroupUMinNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::UMin),
    ),
    Row(
        Op::GroupSMinNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::SMin),
    ),
    Row(
        Op::GroupFMaxNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::FMax),
    ),
    Row(
        Op::GroupUMaxNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::UMax),
    ),
    Row(
        Op::GroupSMaxNonUniformAMD,
        Shape::Operation,
        Exchange::Reduce(Combine::SMax),
    ),
    Row(Op::GroupNonUniformElect, Shape::Scoped, Exchange::Elect),
    Row(Op::GroupNonUniformAll, Shape::Scoped, Exchange::All),
    Row(Op::GroupNonUniformAny, Shape::Scoped, Exchange::Any),
    Row(
        Op::GroupNonUniformAllEqual,
        Shape::Scoped,
        Exchange::AllEqual,
    ),
    Row(
        Op::GroupNonUniformBroadcast,
        Shape::Scoped,
        Exchange::Broadcast,
    ),
    Row(
        Op::GroupNonUniformBroadcastFirst,
        Shape::Scoped,
        Exchange::BroadcastFirst,
    ),
    Row(Op::GroupNonUniformBallot, Shape::Scoped, Exchange::Ballot),
    Row(
        Op::GroupNonUniformShuffle,
        Shape::Scoped,
        Exchange::Broadcast,
    ),
    Row(
        Op::GroupNonUniformShuffleXor,
        Shape::Scoped,
        Exchange::ShuffleXor,
    ),
    Row(
        Op::GroupNonUniformShuffleUp,
        Shape::Scoped,
        Exchange::ShuffleUp,
    ),
    Row(
        Op::GroupNonUniformShuffleDown,
        Shape::Scoped,
        Exchange::ShuffleDown,
    ),
    Row(
        Op::GroupNonUniformIAdd,
        Shape::Operation,
        Exchange::Reduce(Combine::IAdd),
    ),
    Row(
        Op::GroupNonUniformFAdd,
        Shape::Operation,
        Exchange::Reduce(Combine::FAdd),
    ),
    Row(
        Op::GroupNonUniformIMul,
        Shape::Operation,
        Exchange::Reduce(Combine::IMul),
    ),
    Row(
        Op::GroupNonUniformFMul,
        Shape::Operation,
        Exchange::Reduce(Combine::FMul),
    ),
    Row(
        Op::GroupNonUniformSMin,
        Shape::Operation,
        Exchange::Reduce(Combine::SMin),
    ),
    Row(
        Op::GroupNonUniformUMin,
        Shape::Operation,
        Exchange::Reduce(Combine::UMin),
    ),
    Row(
        Op::GroupNonUniformFMin,
        Shape::Operation,
        Exchange::Reduce(Combine::FMin),
    ),
    Row(
        Op::GroupNonUniformSMax,
        Shape::Operation,
        Exchange::Reduce(Combine::SMax),
    ),
    Row(
        Op::GroupNonUniformUMax,
        Shape::Operation,
        Exchange::Reduce(Combine::UMax),
    ),
    Row(
        Op::GroupNonUniformFMax,
        Shape::Operation,
        Exchange::Reduce(Combine::FMax),
    ),
    Row(
        Op::GroupNonUniformBitwiseAnd,
        Shape::Operation,
        Exchange::Reduce(Combine::And),
    ),
    Row(
        Op::GroupNonUniformBitwiseOr,
        Shape::Operation,
        Exchange::Reduce(Combine::Or),
    ),
    Row(
        Op::GroupNonUniformBitwiseXor,
        Shape::Operation,
        Exchange::Reduce(Combine::Xor),
    ),
    Row(
        Op::GroupNonUniformLogicalAnd,
        Shape::Operation,
        Exchange::Reduce(Combine::And),
    ),
    Row(
        Op::GroupNonUniformLogicalOr,
        Shape::Operation,
        Exchange::Reduce(Combine::Or),
    ),
    Row(
        Op::GroupNonUniformLogicalXor,
        Shape::Operation,
        Exchange::Reduce(Combine::Xor),
    ),
    Row(
        Op::GroupNonUniformQuadBroadcast,
        Shape::Scoped,
        Exchange::QuadBroadcast,
    ),
    Row(
        Op::GroupNonUniformQuadSwap,
        Shape::Scoped,
        Exchange::QuadSwap,
    ),
    Row(
        Op::GroupNonUniformRotateKHR,
        Shape::Scoped,
        Exchange::Rotate,
    ),
    Row(
        Op::GroupNonUniformQuadAllKHR,
        Shape::Subgroup,
        Exchange::QuadAll,
    ),
    Row(
        Op::GroupNonUniformQuadAnyKHR,
        Shape::Subgroup,
        Exchange::QuadAny,
    ),
    Row(
        Op::CooperativeMatrixMulAddKHR,
        Shape::Subgroup,
        Exchange::Product,
    ),
    Row(Op::SubgroupBallotKHR, Shape::Subgroup, Exchange::Ballot),
    Row(
        Op::SubgroupFirstInvocationKHR,
        Shape::Subgroup,
        Exchange::BroadcastFirst,
    ),
    Row(Op::SubgroupAllKHR, Shape::Subgroup, Exchange::All),
    Row(Op::SubgroupAnyKHR, Shape::Subgroup, Exchange::Any),
    Row(Op::SubgroupAllEqualKHR, Shape::Subgroup, Exchange::AllEqual),
    Row(
        Op::SubgroupReadInvocationKHR,
        Shape::Subgroup,
        Exchange::Broadcast,
    ),
    Row(
        Op::SubgroupShuffleINTEL,
        Shape::Subgroup,
        Exchange::Broadcast,
    ),
    Row(
        Op::SubgroupShuffleXorINTEL,
        Shape::Subgroup,
        Exchange::ShuffleXor,
    ),
    Row(
        Op::SubgroupShuffleDownINTEL,
        Shape::Subgroup,
        Exchange::ShufflePairDown,
    ),
    Row(
        Op::SubgroupShuffleUpINTEL,
        Shape::Subgroup,
        Exchange::ShufflePairUp,
    ),
];

/// The operations that are suspension points.
pub(crate) fn ops() -> impl Iterator<Item = Op> {
    ROWS.iter().map(|row| row.0).chain([Op::ControlBarrier])
}

/// Shape and exchange of an instruction that is a suspension point in the table.
pub(crate) fn row(op: Op) -> Option<(Shape, Exchange)> {
    let row = ROWS.iter().find(|row| row.0 == op)?;
    Some((row.1, row.2))
}

/// Whether an instruction suspends the invocation.
pub(crate) fn is_point(program: &Program<'_>, inst: InstRef<'_>) -> bool {
    match inst.op() {
        Op::ControlBarrier if program.is_single => false,
        Op::CooperativeMatrixMulAddKHR if is_dense(program, inst) => false,
        Op::ControlBarrier => group_of(program, inst).is_some(),
        op if row(op).is_some() => group_of(program, inst).is_some(),
        _ => false,
    }
}

/// Whether a product is one of matrices that lie in memory.
fn is_dense(program: &Program<'_>, inst: InstRef<'_>) -> bool {
    inst.result_type().is_some_and(|ty| program.is_dense(ty))
}

/// Who waits at a point; none where an invocation would wait for itself only.
pub(crate) fn group_of(program: &Program<'_>, inst: InstRef<'_>) -> Option<Group> {
    if let Some((Shape::Subgroup, _)) = row(inst.op()) {
        return Some(Group::Subgroup);
    }
    match program.constants.u64(inst.id(0)).map(|s| Scope(s as u32)) {
        Some(Scope::Invocation) => None,
        Some(Scope::Subgroup) => Some(Group::Subgroup),
        _ => Some(Group::Workgroup),
    }
}

/// A suspension point of a compiled kernel.
#[derive(Clone, Debug)]
pub(crate) struct Point {
    /// Its instruction.
    pub op: Op,
    /// Where it stands in the module.
    pub place: Place,
    /// Who waits.
    pub group: Group,
    /// What is exchanged.
    pub exchange: Exchange,
    /// Type of the value's components.
    pub scalar: Scalar,
    /// Components of the value; the operands behind it follow in the exchange slots.
    pub components: u32,
    /// Group operation of a reduction; 0 for others.
    pub operation: u32,
    /// Invocations that exchange among themselves, where the instruction says.
    pub cluster: Option<u32>,
    /// What is multiplied, where matrices are.
    pub product: Option<Product>,
    /// Its number as a site, for checks.
    pub site: u16,
}

/// Slots that a point needs at least.
pub(crate) fn slots(program: &Program<'_>, inst: InstRef<'_>) -> u32 {
    match row(inst.op()) {
        Some((_, Exchange::Product)) if is_dense(program, inst) => 0,
        Some((_, Exchange::Product)) => {
            let types = [0, 1, 2].map(|n| program.type_of(inst.id(n)));
            let scalars = |ty: Option<Id>| ty.map_or(0, |ty| program.types.scalars(ty));
            let slots: usize = types
                .into_iter()
                .map(scalars)
                .fold(0, usize::saturating_add);
            u32::try_from(slots).unwrap_or(u32::MAX).max(EXCHANGE_SLOTS)
        }
        Some(_) => EXCHANGE_SLOTS,
        None => 0,
    }
}
