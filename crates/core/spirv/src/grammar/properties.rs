//! Opcode properties: sets of opcodes that analyses and passes ask for. The effects of running an instruction are in
//! [`InstructionEffects`](super::InstructionEffects).

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

    /// Access chains with typed base pointers: `OpAccessChain`, `OpPtrAccessChain` and their in-bounds forms. The
    /// base is operand 0.
    #[inline]
    pub const fn is_access_chain(self) -> bool {
        self.is_plain_access_chain() || self.is_element_access_chain()
    }

    /// `OpAccessChain` and `OpInBoundsAccessChain`: every index selects a part of the object that the base points to.
    #[inline]
    pub const fn is_plain_access_chain(self) -> bool {
        matches!(self, Op::AccessChain | Op::InBoundsAccessChain)
    }

    /// `OpPtrAccessChain` and `OpInBoundsPtrAccessChain`: the first index selects an element of the array that the
    /// base points into.
    #[inline]
    pub const fn is_element_access_chain(self) -> bool {
        matches!(self, Op::PtrAccessChain | Op::InBoundsPtrAccessChain)
    }

    /// `OpInBoundsAccessChain` and `OpInBoundsPtrAccessChain`: the result points into the object of the base.
    #[inline]
    pub const fn is_inbounds_access_chain(self) -> bool {
        matches!(self, Op::InBoundsAccessChain | Op::InBoundsPtrAccessChain)
    }

    /// Access chains with untyped base pointers. Operand 0 is a type, operand 1 the base.
    #[inline]
    pub const fn is_untyped_access_chain(self) -> bool {
        matches!(
            self,
            Op::UntypedAccessChainKHR
                | Op::UntypedInBoundsAccessChainKHR
                | Op::UntypedPtrAccessChainKHR
                | Op::UntypedInBoundsPtrAccessChainKHR
        )
    }

    /// Whether the first index of an access chain, typed or not, selects an element of the array that the base
    /// points into.
    #[inline]
    pub const fn selects_element(self) -> bool {
        self.is_element_access_chain()
            || matches!(
                self,
                Op::UntypedPtrAccessChainKHR | Op::UntypedInBoundsPtrAccessChainKHR
            )
    }

    /// The position of the base pointer among the operands of an access chain, typed or not.
    #[inline]
    pub const fn access_chain_base(self) -> Option<usize> {
        if self.is_access_chain() {
            Some(0)
        } else if self.is_untyped_access_chain() {
            Some(1)
        } else {
            None
        }
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
    use super::Op;
    use crate::grammar::all_instructions;

    /// Names of access chains and atomics follow a pattern, from which the tables are checked.
    #[test]
    fn properties_agree_with_names() {
        for row in all_instructions() {
            let (op, name) = (row.op, row.name);
            let is_chain = name.contains("AccessChain") && op != Op::RawAccessChainNV;
            assert_eq!(op.access_chain_base().is_some(), is_chain, "{name}");
            let is_untyped = is_chain && name.contains("Untyped");
            assert_eq!(op.is_untyped_access_chain(), is_untyped, "{name}");
            let has_element = is_chain && name.contains("PtrAccessChain");
            assert_eq!(op.selects_element(), has_element, "{name}");
            let is_inbounds = is_chain && !is_untyped && name.contains("InBounds");
            assert_eq!(op.is_inbounds_access_chain(), is_inbounds, "{name}");
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
