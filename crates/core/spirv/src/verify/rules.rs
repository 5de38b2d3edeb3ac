//! The rules of the verifier, numbered.

use std::fmt;

macro_rules! rules {
    ($($name:ident = $number:literal, $title:literal, $text:literal;)*) => {
        /// A rule of the verifier. Its number is part of every message and does not change.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum VerifyRule {
            $(#[doc = $text] $name = $number,)*
        }

        impl VerifyRule {
            /// Every rule by increasing number.
            pub const ALL: &[VerifyRule] = &[$(VerifyRule::$name,)*];

            /// A few words.
            pub const fn title(self) -> &'static str {
                match self { $(VerifyRule::$name => $title,)* }
            }

            /// Its demand, and the section of the specification.
            pub const fn text(self) -> &'static str {
                match self { $(VerifyRule::$name => $text,)* }
            }
        }
    };
}

rules! {
    Encoding = 1, "instructions are well-formed",
        "Header, word counts, operands and literals are as the grammar has them (sections 2.2 and 2.3).";
    Order = 2, "sections are in order",
        "Instructions are in the order of the logical layout of a module (section 2.4).";
    DefinedOnce = 3, "ids are defined once",
        "Every id is the result of one instruction at most (section 2.2.1).";
    DefinedBefore = 4, "ids are defined before they are used",
        "An id is defined before its use but where an instruction may refer forward; a definition in a \
         block dominates its uses; a phi's value dominates the end of its parent (section 2.16.1).";
    OperandClass = 5, "operands are of the right class",
        "Types are used where types are expected, values where values are (section 2.16.1).";
    Capabilities = 6, "capabilities are declared",
        "Instructions and enumerants stand in modules that declare a capability that enables them, and environments \
         take only capabilities that they know (sections 2.16.1 and 3.31).";
    Versions = 7, "versions and extensions fit",
        "Features of a version of SPIR-V or of an extension are used in modules that declare it (section 2.16.1).";
    Types = 8, "types are formed right",
        "Declarations of types take the types and numbers that section 3.42.6 allows, and no two \
         declarations of the same type that is no aggregate stand in a module (section 2.8).";
    Constants = 9, "constants have their types",
        "Constants fit their types (section 3.42.7).";
    Values = 10, "operands and results have fitting types",
        "Types of operands and results are as the instruction demands (sections 3.42.11 to 3.42.15).";
    Memory = 11, "pointers are used as their classes allow",
        "Variables, pointers, loads, stores and access chains fit each other and the storage class (section 3.42.8).";
    Functions = 12, "functions and calls agree",
        "Functions have the parameters and results of their types, and calls the arguments (section 3.42.9).";
    Blocks = 13, "blocks and branches are well-formed",
        "Branches go to blocks of the same function, phis have one value for each predecessor, blocks \
         stand after their dominators (sections 2.4 and 2.16.1).";
    Structure = 14, "control flow is structured",
        "With the capability Shader, constructs nest and are entered and left as section 2.11 allows.";
    Decorations = 15, "decorations fit their targets",
        "Decorations are applied to targets that they are for, with operands that the target allows (section 3.20).";
    Layout = 16, "memory layouts are explicit and free of overlap",
        "Blocks that others see have offsets and strides that keep the rules of alignment (section 2.16.2 \
         and the Vulkan specification, \"Offset and Stride Assignment\").";
    EntryPoints = 17, "entry points and their modes agree",
        "Entry points have the interface, modes and kind of function that their execution model asks for \
         (sections 3.42.5 and 3.6).";
    Images = 18, "images are used as their types allow",
        "Operands of image instructions fit the image's type (section 3.42.10).";
    Atomics = 19, "scopes, memory semantics and atomics fit",
        "Scopes and semantics are ones that the instruction and the memory model allow (sections 3.25 and 3.27).";
    BuiltIns = 20, "built-in variables have their types",
        "Variables decorated as built-in have the type, storage class and execution models that the client interface lists.";
    ExtendedInstructions = 21, "extended instructions have fitting types",
        "Operands and results of extended instructions are as their set demands.";
    Limits = 22, "universal limits hold",
        "Numbers stay below the limits of section 2.17.";
    Environment = 23, "the target environment allows it",
        "The client interface that the module is for allows its features.";
    Groups = 24, "group operations fit",
        "Operations over groups of invocations have fitting types and scopes (sections 3.42.21 and 3.42.24).";
    SmallNumbers = 25, "numbers of 8 and 16 bits are used as far as declared",
        "Without Int8, Int16 or Float16 such numbers are stored, converted to another width and copied only \
         (section 3.31, the capabilities for storage).";
    CooperativeMatrices = 26, "cooperative matrices fit each other",
        "Cooperative matrices have the scopes, sizes, uses and layouts that their extensions demand.";
    LogicalPointers = 27, "logical pointers are no values",
        "In logical addressing pointers are made and used by the instructions that section 2.16.1 lists.";
}

impl VerifyRule {
    /// Its number.
    pub const fn number(self) -> u8 {
        self as u8
    }

    /// The rule with a number.
    pub fn by_number(number: u8) -> Option<VerifyRule> {
        Self::ALL.iter().copied().find(|r| r.number() == number)
    }
}

impl fmt::Display for VerifyRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}: {}", self.number(), self.title())
    }
}
