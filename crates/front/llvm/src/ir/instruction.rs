//! Instructions, and their properties besides operands.

use super::LlvmAlign;
use super::named_enum::named;
use super::{AttrList, CallingConvention, LlvmOpcode, LlvmPoolRange, LlvmSymbol, LlvmType};

/// One instruction. Its operands are a span of [`super::LlvmFunction::operands`]'s pool; what they
/// are, opcode by opcode:
///
/// | opcode | operands | extra |
/// | --- | --- | --- |
/// | `ret` | the value, or none | |
/// | `br` | the condition, or none | `Blocks`: then and else, or the target |
/// | `switch` | the value, then one constant a case | `Blocks`: default, then one a case |
/// | `indirectbr` | the address | `Blocks` |
/// | unary, casts, `freeze`, `resume`, `va_arg` | the operand | |
/// | binary | left, right | |
/// | `alloca` | the number of elements | `Alloca` |
/// | `load` | the pointer | `Access` |
/// | `store` | the value, the pointer | `Access` |
/// | `getelementptr` | the base, the indices | `SourceType` |
/// | `fence` | none | `Fence` |
/// | `cmpxchg` | pointer, expected, new | `CmpXchg` |
/// | `atomicrmw` | pointer, value | `Rmw` |
/// | `icmp`, `fcmp` | left, right | `Compare` |
/// | `phi` | one value an incoming edge | `Blocks`: one an incoming edge |
/// | `select` | condition, value if true, value if false | |
/// | `extractelement` | vector, index | |
/// | `insertelement` | vector, element, index | |
/// | `shufflevector` | left, right | `Mask` |
/// | `extractvalue` | aggregate | `Indices` |
/// | `insertvalue` | aggregate, element | `Indices` |
/// | `call`, `invoke`, `callbr` | callee, arguments, then those of operand bundles | `Call` |
/// | `landingpad` | clauses; one of array type is a filter | |
/// | `catchswitch` | parent pad (a token) | `Blocks`: handlers, and the unwind target last |
/// | `catchpad`, `cleanuppad` | parent pad, then arguments | |
/// | `catchret` | the pad | `Blocks`: the target |
/// | `cleanupret` | the pad | `Blocks`: the unwind target, if any |
#[derive(Clone, Copy, Debug)]
pub struct LlvmInstruction {
    /// The operation.
    pub opcode: LlvmOpcode,
    /// Flags such as `nsw` or `volatile`.
    pub flags: LlvmInstFlags,
    /// Type of its result; `void` if it has none.
    pub ty: LlvmType,
    /// Its operands.
    pub operands: LlvmPoolRange,
    /// Further properties besides operands.
    pub extra: InstructionExtra,
}

/// Properties of an instruction besides its operands. Ranges refer to pools of its function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InstructionExtra {
    /// Nothing.
    None,
    /// Of `alloca`: the type of an element, and the alignment.
    Alloca {
        /// Type allocated.
        ty: LlvmType,
        /// Alignment; readers complete it if the input omits it.
        align: LlvmAlign,
    },
    /// Of `load` and `store`.
    Access {
        /// Alignment; readers complete it if the input omits it.
        align: LlvmAlign,
        /// [`Ordering::NotAtomic`] unless atomic.
        ordering: Ordering,
        /// Name of the synchronisation scope; empty: the whole system.
        scope: LlvmSymbol,
    },
    /// Of `cmpxchg`.
    CmpXchg {
        /// Alignment; readers complete it if the input omits it.
        align: LlvmAlign,
        /// Ordering if the exchange takes place.
        success: Ordering,
        /// Ordering when it does not.
        failure: Ordering,
        /// Name of the synchronisation scope; empty: the whole system.
        scope: LlvmSymbol,
    },
    /// Of `atomicrmw`.
    Rmw {
        /// The operation.
        op: RmwOp,
        /// Alignment; readers complete it if the input omits it.
        align: LlvmAlign,
        /// Ordering.
        ordering: Ordering,
        /// Name of the synchronisation scope; empty: the whole system.
        scope: LlvmSymbol,
    },
    /// Of `fence`.
    Fence {
        /// Ordering.
        ordering: Ordering,
        /// Name of the synchronisation scope; empty: the whole system.
        scope: LlvmSymbol,
    },
    /// Of `getelementptr`: the type the indices walk through.
    SourceType(LlvmType),
    /// Of `icmp` and `fcmp`.
    Compare(Predicate),
    /// Of `shufflevector`: numbers of the result's elements, `u32::MAX` for poison.
    Mask(LlvmPoolRange),
    /// Of `extractvalue` and `insertvalue`: the path to the element.
    Indices(LlvmPoolRange),
    /// Successors, or the incoming blocks of a phi.
    Blocks(LlvmPoolRange),
    /// Of calls: index of the [`CallInfo`] in its function.
    Call(u32),
}

impl InstructionExtra {
    /// Changes the alignment, if the instruction has one.
    pub(crate) fn set_align(&mut self, new: LlvmAlign) {
        match self {
            InstructionExtra::Alloca { align, .. }
            | InstructionExtra::Access { align, .. }
            | InstructionExtra::CmpXchg { align, .. }
            | InstructionExtra::Rmw { align, .. } => *align = new,
            _ => {}
        }
    }
}

/// Properties of a call besides its operands.
#[derive(Clone, Debug)]
pub struct CallInfo {
    /// Type of the function called.
    pub function_type: LlvmType,
    /// Calling convention.
    pub convention: CallingConvention,
    /// Attributes of the call itself, not those of the callee.
    pub attributes: AttrList,
    /// Number of arguments; operands `1..=arguments` of the instruction.
    pub arguments: u32,
    /// Operand bundles, if any.
    pub bundles: Vec<OperandBundle>,
    /// Of `invoke`: normal and unwind target; of `callbr`: fallthrough, then the others.
    pub targets: LlvmPoolRange,
}

/// An operand bundle of a call.
#[derive(Clone, Copy, Debug)]
pub struct OperandBundle {
    /// Its tag.
    pub tag: LlvmSymbol,
    /// Its operands, in the pool of operands of the function.
    pub operands: LlvmPoolRange,
}

/// Flags of an instruction or constant expression, as a set of bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LlvmInstFlags(pub u32);

/// Defines the flags with their names in LLVM assembly.
macro_rules! flags {
    ($($(#[$doc:meta])* $name:ident = $bit:literal, $text:literal;)*) => {
        impl LlvmInstFlags {
            $($(#[$doc])* pub const $name: LlvmInstFlags = LlvmInstFlags(1 << $bit);)*

            /// Every single flag with its name in LLVM assembly, in the order they are written.
            pub const NAMES: &'static [(LlvmInstFlags, &'static str)] = &[$((LlvmInstFlags::$name, $text),)*];
        }
    };
}

flags! {
    /// Unsigned overflow results in poison.
    NUW = 0, "nuw";
    /// Signed overflow results in poison.
    NSW = 1, "nsw";
    /// A nonzero remainder results in poison.
    EXACT = 2, "exact";
    /// Address arithmetic stays within the object.
    INBOUNDS = 3, "inbounds";
    /// Address arithmetic does not wrap, offsets being signed.
    NUSW = 4, "nusw";
    /// The operands have no bit in common.
    DISJOINT = 5, "disjoint";
    /// The operand is not negative.
    NNEG = 6, "nneg";
    /// Both operands have the same sign.
    SAMESIGN = 7, "samesign";
    /// Operands may be reordered and regrouped.
    REASSOC = 8, "reassoc";
    /// No operand or result is a NaN.
    NNAN = 9, "nnan";
    /// No operand or result is infinite.
    NINF = 10, "ninf";
    /// The sign of a zero does not matter.
    NSZ = 11, "nsz";
    /// Division may be multiplication by the reciprocal.
    ARCP = 12, "arcp";
    /// Operations may be fused.
    CONTRACT = 13, "contract";
    /// Functions may be approximated.
    AFN = 14, "afn";
    /// The access is observable.
    VOLATILE = 15, "volatile";
    /// May be a tail call.
    TAIL = 16, "tail";
    /// Must be a tail call.
    MUSTTAIL = 17, "musttail";
    /// Must not be a tail call.
    NOTAIL = 18, "notail";
    /// The exchange may fail spuriously.
    WEAK = 19, "weak";
    /// Of `landingpad`: it runs cleanups. Of `catchswitch`: its last block is the unwind target.
    CLEANUP = 20, "cleanup";
    /// Of `alloca`.
    INALLOCA = 21, "inalloca";
    /// Of `alloca`.
    SWIFTERROR = 22, "swifterror";
}

impl LlvmInstFlags {
    /// No flag.
    pub const NONE: LlvmInstFlags = LlvmInstFlags(0);
    /// All fast-math flags: `fast`.
    pub const FAST: LlvmInstFlags = LlvmInstFlags(0x7f << 8);

    /// Whether all flags of `other` are set.
    pub const fn contains_all(self, other: LlvmInstFlags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Whether no flag is set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The flags in both.
    pub const fn intersection(self, other: LlvmInstFlags) -> LlvmInstFlags {
        LlvmInstFlags(self.0 & other.0)
    }
}

impl std::ops::BitOr for LlvmInstFlags {
    type Output = LlvmInstFlags;

    fn bitor(self, other: LlvmInstFlags) -> LlvmInstFlags {
        LlvmInstFlags(self.0 | other.0)
    }
}

impl std::ops::BitOrAssign for LlvmInstFlags {
    fn bitor_assign(&mut self, other: LlvmInstFlags) {
        self.0 |= other.0;
    }
}

named! {
    /// Ordering of an atomic access.
    Ordering {
        /// Not atomic at all.
        NotAtomic = 0, "notatomic";
        /// `unordered`
        Unordered = 1, "unordered";
        /// `monotonic`, relaxed elsewhere.
        Monotonic = 2, "monotonic";
        /// `acquire`
        Acquire = 3, "acquire";
        /// `release`
        Release = 4, "release";
        /// `acq_rel`
        AcquireRelease = 5, "acq_rel";
        /// `seq_cst`
        SeqCst = 6, "seq_cst";
    }
}

named! {
    /// Operation of an `atomicrmw`.
    RmwOp {
        /// Exchange.
        Xchg = 0, "xchg";
        /// Integer sum.
        Add = 1, "add";
        /// Integer difference.
        Sub = 2, "sub";
        /// Bitwise and.
        And = 3, "and";
        /// Complement of the bitwise and.
        Nand = 4, "nand";
        /// Bitwise or.
        Or = 5, "or";
        /// Bitwise exclusive or.
        Xor = 6, "xor";
        /// Signed maximum.
        Max = 7, "max";
        /// Signed minimum.
        Min = 8, "min";
        /// Unsigned maximum.
        UMax = 9, "umax";
        /// Unsigned minimum.
        UMin = 10, "umin";
        /// Floating sum.
        FAdd = 11, "fadd";
        /// Floating difference.
        FSub = 12, "fsub";
        /// Floating maximum, `maxnum`.
        FMax = 13, "fmax";
        /// Floating minimum, `minnum`.
        FMin = 14, "fmin";
        /// Increment, back to zero above the operand.
        UIncWrap = 15, "uinc_wrap";
        /// Decrement; zero, and values above the operand, become the operand.
        UDecWrap = 16, "udec_wrap";
        /// Difference if it does not wrap.
        USubCond = 17, "usub_cond";
        /// Difference, zero if it would wrap.
        USubSat = 18, "usub_sat";
        /// Floating maximum that prefers NaN.
        FMaximum = 19, "fmaximum";
        /// Floating minimum that prefers NaN.
        FMinimum = 20, "fminimum";
        /// Floating maximum that prefers numbers, `-0 < +0`.
        FMaximumNum = 21, "fmaximumnum";
        /// Floating minimum that prefers numbers, `-0 < +0`.
        FMinimumNum = 22, "fminimumnum";
    }
}

named! {
    /// Comparison of an `icmp` (`I…`, `U…`, `S…`) or `fcmp` (`F…`: `O` ordered, `U` unordered).
    Predicate {
        /// Never.
        FFalse = 0, "false";
        /// Ordered and equal.
        FOeq = 1, "oeq";
        /// Ordered and greater.
        FOgt = 2, "ogt";
        /// Ordered and greater or equal.
        FOge = 3, "oge";
        /// Ordered and less.
        FOlt = 4, "olt";
        /// Ordered and less or equal.
        FOle = 5, "ole";
        /// Ordered and not equal.
        FOne = 6, "one";
        /// Ordered: no NaN.
        FOrd = 7, "ord";
        /// Unordered: a NaN.
        FUno = 8, "uno";
        /// Unordered or equal.
        FUeq = 9, "ueq";
        /// Unordered or greater.
        FUgt = 10, "ugt";
        /// Unordered, greater or equal.
        FUge = 11, "uge";
        /// Unordered or less.
        FUlt = 12, "ult";
        /// Unordered, less or equal.
        FUle = 13, "ule";
        /// Unordered or not equal.
        FUne = 14, "une";
        /// Always.
        FTrue = 15, "true";
        /// Equal.
        Eq = 32, "eq";
        /// Not equal.
        Ne = 33, "ne";
        /// Unsigned greater.
        Ugt = 34, "ugt";
        /// Unsigned greater or equal.
        Uge = 35, "uge";
        /// Unsigned less.
        Ult = 36, "ult";
        /// Unsigned less or equal.
        Ule = 37, "ule";
        /// Signed greater.
        Sgt = 38, "sgt";
        /// Signed greater or equal.
        Sge = 39, "sge";
        /// Signed less.
        Slt = 40, "slt";
        /// Signed less or equal.
        Sle = 41, "sle";
    }
}

impl Predicate {
    /// Whether it compares integers or pointers.
    pub fn is_integer(self) -> bool {
        self as u8 >= Predicate::Eq as u8
    }

    /// The predicate of `icmp` (`integer`) or `fcmp` with this name.
    pub fn from_name_for(name: &str, integer: bool) -> Option<Predicate> {
        let fits = |row: &&(Predicate, u64, &str)| row.2 == name && row.0.is_integer() == integer;
        Self::ROWS.iter().find(fits).map(|row| row.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integer_and_float_predicates_share_names() {
        assert_eq!(Predicate::from_name_for("ugt", true), Some(Predicate::Ugt));
        assert_eq!(
            Predicate::from_name_for("ugt", false),
            Some(Predicate::FUgt)
        );
        assert_eq!(Predicate::from_code(40), Some(Predicate::Slt));
    }

    #[test]
    fn alignments() {
        assert_eq!(
            LlvmAlign::from_bytes(8).and_then(LlvmAlign::to_bytes),
            Some(8)
        );
        assert_eq!(LlvmAlign::from_bytes(12), None);
        assert_eq!(LlvmAlign::NONE.to_bytes(), None);
    }
}
