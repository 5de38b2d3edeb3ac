//! Globals: variables, functions, aliases and ifuncs.

use super::named_enum::named;
use super::{AttrSet, LlvmAlign, LlvmConst, LlvmFunc, LlvmMetadata, LlvmSymbol, LlvmType};
use spirula_diagnostics::SourceLocation;
use spirula_entity::define_ids;

define_ids! {
    /// A global variable, function, alias or ifunc.
    pub struct LlvmGlobal: "global";
}

/// The properties that all globals share.
#[derive(Clone, Debug)]
pub struct GlobalData {
    /// Its name; empty if unnamed.
    pub name: LlvmSymbol,
    /// The place of its declaration.
    pub place: SourceLocation,
    /// The type of its value: of the variable's contents, or of the function.
    pub value_type: LlvmType,
    /// Type of its address, a pointer.
    pub ty: LlvmType,
    /// Address space of its address.
    pub space: u32,
    /// Linkage.
    pub linkage: Linkage,
    /// Visibility.
    pub visibility: Visibility,
    /// Whether the address does not matter.
    pub unnamed_addr: UnnamedAddr,
    /// Whether it is thread-local.
    pub thread_local: ThreadLocal,
    /// Whether it resolves within its linkage unit.
    pub dso_local: bool,
    /// DLL storage class: 0 default, 1 import, 2 export.
    pub dll_storage: u8,
    /// Section; empty if none.
    pub section: LlvmSymbol,
    /// Partition; empty if none.
    pub partition: LlvmSymbol,
    /// Index into [`super::LlvmModule::comdats`].
    pub comdat: Option<u32>,
    /// Alignment.
    pub align: LlvmAlign,
    /// Metadata attached: kind and node.
    pub metadata: Vec<(LlvmSymbol, LlvmMetadata)>,
    /// Variable, function, alias or ifunc.
    pub kind: GlobalKind,
}

impl GlobalData {
    /// A global without a name and with default properties.
    pub fn new(
        value_type: LlvmType,
        ty: LlvmType,
        space: u32,
        kind: GlobalKind,
        place: SourceLocation,
    ) -> Self {
        GlobalData {
            name: LlvmSymbol::EMPTY,
            place,
            value_type,
            ty,
            space,
            linkage: Linkage::External,
            visibility: Visibility::Default,
            unnamed_addr: UnnamedAddr::None,
            thread_local: ThreadLocal::None,
            dso_local: false,
            dll_storage: 0,
            section: LlvmSymbol::EMPTY,
            partition: LlvmSymbol::EMPTY,
            comdat: None,
            align: LlvmAlign::NONE,
            metadata: Vec::new(),
            kind,
        }
    }
}

/// The kind of a global, with its own properties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GlobalKind {
    /// A variable.
    Variable(LlvmGlobalVariable),
    /// A function, declared or defined.
    Function(LlvmFunc),
    /// Another name for an address.
    Alias(GlobalAliasee),
    /// A function that a resolver selects at load time.
    Ifunc(GlobalAliasee),
}

/// A global variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlvmGlobalVariable {
    /// Its initial contents; `None` for a declaration.
    pub initializer: Option<LlvmConst>,
    /// Whether it is never written.
    pub constant: bool,
    /// Whether code outside the module may change its initial contents.
    pub externally_initialized: bool,
    /// Attributes.
    pub attributes: AttrSet,
}

/// The aliasee of an alias, or the resolver of an ifunc; `None` only while reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GlobalAliasee(pub Option<LlvmConst>);

/// A group of globals that a linker keeps or drops together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ComdatGroup {
    /// Its name.
    pub name: LlvmSymbol,
    /// How duplicates are resolved.
    pub selection: Selection,
}

named! {
    /// How duplicates of a comdat are resolved.
    Selection {
        /// Any member is kept.
        Any = 1, "any";
        /// All must be equal.
        ExactMatch = 2, "exactmatch";
        /// The largest member is kept.
        Largest = 3, "largest";
        /// All are kept.
        NoDeduplicate = 4, "nodeduplicate";
        /// All must have the same size.
        SameSize = 5, "samesize";
    }
}

named! {
    /// Linkage. The numbers are those of current bitcode; the reader maps older ones.
    Linkage {
        /// Visible and defined here, or declared.
        External = 0, "external";
        /// Kept only for optimisation.
        AvailableExternally = 12, "available_externally";
        /// Merged, dropped when unused.
        LinkOnce = 18, "linkonce";
        /// As `LinkOnce`; all definitions are equivalent.
        LinkOnceOdr = 19, "linkonce_odr";
        /// Merged.
        Weak = 16, "weak";
        /// As `Weak`; all definitions are equivalent.
        WeakOdr = 17, "weak_odr";
        /// Arrays joined when linking.
        Appending = 2, "appending";
        /// Local to the module.
        Internal = 3, "internal";
        /// Local to the module, without a symbol.
        Private = 9, "private";
        /// Null unless defined elsewhere.
        ExternWeak = 7, "extern_weak";
        /// A tentative definition of C.
        Common = 8, "common";
    }
}

impl Linkage {
    /// Whether the global is not seen by other modules.
    pub fn is_local(self) -> bool {
        matches!(self, Linkage::Internal | Linkage::Private)
    }
}

named! {
    /// Visibility.
    Visibility {
        /// The default of the linkage.
        Default = 0, "default";
        /// Not outside of the linkage unit.
        Hidden = 1, "hidden";
        /// Not replaced from outside of the linkage unit.
        Protected = 2, "protected";
    }
}

named! {
    /// Whether the address of a global does not matter.
    UnnamedAddr {
        /// It does.
        None = 0, "";
        /// Nowhere.
        LlvmGlobal = 1, "unnamed_addr";
        /// Not within this module.
        Local = 2, "local_unnamed_addr";
    }
}

named! {
    /// Model of thread-local storage.
    ThreadLocal {
        /// Not thread-local.
        None = 0, "";
        /// `thread_local`
        GeneralDynamic = 1, "generaldynamic";
        /// `thread_local(localdynamic)`
        LocalDynamic = 2, "localdynamic";
        /// `thread_local(initialexec)`
        InitialExec = 3, "initialexec";
        /// `thread_local(localexec)`
        LocalExec = 4, "localexec";
    }
}

/// A calling convention, by LLVM's number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallingConvention(pub u32);

/// Calling conventions that have a keyword without parameters.
const CONVENTIONS: &[(u32, &str)] = &[
    (0, "ccc"),
    (8, "fastcc"),
    (9, "coldcc"),
    (10, "ghccc"),
    (13, "anyregcc"),
    (14, "preserve_mostcc"),
    (15, "preserve_allcc"),
    (16, "swiftcc"),
    (17, "cxx_fast_tlscc"),
    (18, "tailcc"),
    (19, "cfguard_checkcc"),
    (20, "swifttailcc"),
    (21, "preserve_nonecc"),
    (64, "x86_stdcallcc"),
    (65, "x86_fastcallcc"),
    (66, "arm_apcscc"),
    (67, "arm_aapcscc"),
    (68, "arm_aapcs_vfpcc"),
    (69, "msp430_intrcc"),
    (70, "x86_thiscallcc"),
    (71, "ptx_kernel"),
    (72, "ptx_device"),
    (75, "spir_func"),
    (76, "spir_kernel"),
    (77, "intel_ocl_bicc"),
    (78, "x86_64_sysvcc"),
    (79, "win64cc"),
    (80, "x86_vectorcallcc"),
    (83, "x86_intrcc"),
    (84, "avr_intrcc"),
    (85, "avr_signalcc"),
    (87, "amdgpu_vs"),
    (88, "amdgpu_gs"),
    (89, "amdgpu_ps"),
    (90, "amdgpu_cs"),
    (91, "amdgpu_kernel"),
    (92, "x86_regcallcc"),
    (93, "amdgpu_hs"),
    (95, "amdgpu_ls"),
    (96, "amdgpu_es"),
    (97, "aarch64_vector_pcs"),
    (98, "aarch64_sve_vector_pcs"),
    (100, "amdgpu_gfx"),
    (102, "aarch64_sme_preservemost_from_x0"),
    (103, "aarch64_sme_preservemost_from_x2"),
    (104, "amdgpu_cs_chain"),
    (105, "amdgpu_cs_chain_preserve"),
    (106, "m68k_rtdcc"),
    (107, "graalcc"),
    (110, "riscv_vector_cc"),
    (111, "aarch64_sme_preservemost_from_x1"),
    (124, "amdgpu_gfx_whole_wave"),
];

impl CallingConvention {
    /// That of C.
    pub const C: CallingConvention = CallingConvention(0);
    /// `fastcc`
    pub const FAST: CallingConvention = CallingConvention(8);
    /// `spir_func`
    pub const SPIR_FUNC: CallingConvention = CallingConvention(75);
    /// `spir_kernel`
    pub const SPIR_KERNEL: CallingConvention = CallingConvention(76);

    /// Its keyword in LLVM assembly, if it has one.
    pub fn name(self) -> Option<&'static str> {
        CONVENTIONS
            .iter()
            .find(|row| row.0 == self.0)
            .map(|row| row.1)
    }

    /// The convention with this word.
    pub fn from_name(name: &str) -> Option<CallingConvention> {
        CONVENTIONS
            .iter()
            .find(|row| row.1 == name)
            .map(|row| CallingConvention(row.0))
    }
}
