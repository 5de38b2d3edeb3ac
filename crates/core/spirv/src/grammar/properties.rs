//! Opcode properties: sets of opcodes that analyses and passes ask for. The effects of running an instruction are in
//! [`InstructionEffects`](super::InstructionEffects), the forms of access chains in
//! [`AccessChainForm`](super::AccessChainForm).

use super::{InstructionClass, Op};

impl Op {
    /// The chapter of the specification that describes the instruction; `None` for unknown opcodes.
    #[inline]
    pub fn class(self) -> Option<InstructionClass> {
        self.info().map(|info| info.class)
    }

    /// Whether this is a type declaration by its name, `OpType…`. Those of some extensions are reserved
    /// instructions by their class.
    pub fn is_type_declaration(self) -> bool {
        self.info()
            .is_some_and(|info| info.name.starts_with("OpType"))
    }

    /// Whether this is an atomic access to the pointer that is operand 0.
    #[inline]
    pub fn is_atomic(self) -> bool {
        self.class() == Some(InstructionClass::Atomic)
    }

    /// Whether this is an instruction of pipes by its name.
    pub fn is_pipe(self) -> bool {
        self.info().is_some_and(|info| info.name.contains("Pipe"))
    }

    /// `OpControlBarrier` and `OpMemoryBarrier`.
    #[inline]
    pub const fn is_barrier(self) -> bool {
        matches!(self, Op::ControlBarrier | Op::MemoryBarrier)
    }

    /// Arithmetic of two floating-point numbers: sum, difference, product, quotient and remainders.
    #[inline]
    pub const fn is_float_arithmetic(self) -> bool {
        matches!(
            self,
            Op::FAdd | Op::FSub | Op::FMul | Op::FDiv | Op::FRem | Op::FMod
        )
    }

    /// Comparisons of two floating-point numbers, ordered and unordered.
    #[inline]
    pub const fn is_float_comparison(self) -> bool {
        matches!(
            self,
            Op::FOrdEqual
                | Op::FOrdNotEqual
                | Op::FOrdLessThan
                | Op::FOrdLessThanEqual
                | Op::FOrdGreaterThan
                | Op::FOrdGreaterThanEqual
                | Op::FUnordEqual
                | Op::FUnordNotEqual
                | Op::FUnordLessThan
                | Op::FUnordLessThanEqual
                | Op::FUnordGreaterThan
                | Op::FUnordGreaterThanEqual
        )
    }

    /// Whether the result stays the same when the two operands are exchanged.
    #[inline]
    pub const fn is_commutative(self) -> bool {
        matches!(
            self,
            Op::IAdd
                | Op::IMul
                | Op::FAdd
                | Op::FMul
                | Op::BitwiseAnd
                | Op::BitwiseOr
                | Op::BitwiseXor
                | Op::LogicalAnd
                | Op::LogicalOr
                | Op::LogicalEqual
                | Op::LogicalNotEqual
                | Op::IEqual
                | Op::INotEqual
                | Op::FOrdEqual
                | Op::FUnordEqual
                | Op::FOrdNotEqual
                | Op::FUnordNotEqual
                | Op::Dot
        )
    }
}

#[cfg(test)]
mod tests {
    use crate::grammar::all_instructions;

    /// Names of atomics and types follow a pattern, from which the sets are checked.
    #[test]
    fn properties_agree_with_names() {
        for row in all_instructions() {
            let (op, name) = (row.op, row.name);
            assert_eq!(op.is_atomic(), name.starts_with("OpAtomic"), "{name}");
            assert_eq!(
                op.is_type_declaration(),
                name.starts_with("OpType"),
                "{name}"
            );
            assert!(!op.is_commutative() || op.effects().is_pure(), "{name}");
        }
    }
}
