//! Instruction opcodes.

/// Defines the opcodes with their names in LLVM assembly.
macro_rules! opcodes {
    ($($name:ident = $text:literal,)*) => {
        /// The operation of an instruction or constant expression. The names are those of LLVM's
        /// reference manual, which defines the operations.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum LlvmOpcode { $($name,)* }

        /// Every opcode with its name.
        const NAMES: &[(LlvmOpcode, &str)] = &[$((LlvmOpcode::$name, $text),)*];
    };
}

opcodes! {
    Ret = "ret",
    Br = "br",
    Switch = "switch",
    IndirectBr = "indirectbr",
    Invoke = "invoke",
    CallBr = "callbr",
    Resume = "resume",
    Unreachable = "unreachable",
    CleanupRet = "cleanupret",
    CatchRet = "catchret",
    CatchSwitch = "catchswitch",
    FNeg = "fneg",
    Add = "add",
    FAdd = "fadd",
    Sub = "sub",
    FSub = "fsub",
    Mul = "mul",
    FMul = "fmul",
    UDiv = "udiv",
    SDiv = "sdiv",
    FDiv = "fdiv",
    URem = "urem",
    SRem = "srem",
    FRem = "frem",
    Shl = "shl",
    LShr = "lshr",
    AShr = "ashr",
    And = "and",
    Or = "or",
    Xor = "xor",
    Trunc = "trunc",
    ZExt = "zext",
    SExt = "sext",
    FpToUi = "fptoui",
    FpToSi = "fptosi",
    UiToFp = "uitofp",
    SiToFp = "sitofp",
    FpTrunc = "fptrunc",
    FpExt = "fpext",
    PtrToInt = "ptrtoint",
    PtrToAddr = "ptrtoaddr",
    IntToPtr = "inttoptr",
    BitCast = "bitcast",
    AddrSpaceCast = "addrspacecast",
    Alloca = "alloca",
    Load = "load",
    Store = "store",
    GetElementPtr = "getelementptr",
    Fence = "fence",
    CmpXchg = "cmpxchg",
    AtomicRmw = "atomicrmw",
    ICmp = "icmp",
    FCmp = "fcmp",
    Phi = "phi",
    Select = "select",
    Freeze = "freeze",
    Call = "call",
    VaArg = "va_arg",
    ExtractElement = "extractelement",
    InsertElement = "insertelement",
    ShuffleVector = "shufflevector",
    ExtractValue = "extractvalue",
    InsertValue = "insertvalue",
    LandingPad = "landingpad",
    CatchPad = "catchpad",
    CleanupPad = "cleanuppad",
}

impl LlvmOpcode {
    /// Its name in LLVM assembly.
    pub fn name(self) -> &'static str {
        NAMES[self as usize].1
    }

    /// The opcode with this name.
    pub fn from_name(name: &str) -> Option<LlvmOpcode> {
        NAMES.iter().find(|row| row.1 == name).map(|row| row.0)
    }

    /// Whether it ends a block.
    pub fn is_terminator(self) -> bool {
        (self as u8) <= LlvmOpcode::CatchSwitch as u8
    }

    /// Whether it is an arithmetic or bitwise operation on two operands of the result's type.
    pub fn is_binary(self) -> bool {
        (LlvmOpcode::Add as u8..=LlvmOpcode::Xor as u8).contains(&(self as u8))
    }

    /// Whether it is a conversion of one operand to another type.
    pub fn is_cast(self) -> bool {
        (LlvmOpcode::Trunc as u8..=LlvmOpcode::AddrSpaceCast as u8).contains(&(self as u8))
    }

    /// Whether it is a call; if so, the instruction has a [`super::CallInfo`].
    pub fn is_call(self) -> bool {
        matches!(
            self,
            LlvmOpcode::Call | LlvmOpcode::Invoke | LlvmOpcode::CallBr
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_the_order_of_opcodes() {
        for &(opcode, name) in NAMES {
            assert_eq!(opcode.name(), name);
            assert_eq!(LlvmOpcode::from_name(name), Some(opcode));
        }
        assert!(LlvmOpcode::Xor.is_binary() && !LlvmOpcode::Trunc.is_binary());
        assert!(LlvmOpcode::AddrSpaceCast.is_cast() && !LlvmOpcode::Alloca.is_cast());
    }
}
