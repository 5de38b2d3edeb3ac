//! Attributes of functions, results, parameters and calls.

use super::LlvmAlign;
use super::LlvmSymbol;
use super::LlvmType;
use spirula_entity::{ValueInterner, define_ids};

/// The form of an attribute's value, which its kind determines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrForm {
    /// No value.
    Plain,
    /// A number.
    Number,
    /// A type; it is optional before LLVM 15.
    Type,
    /// A range of integers.
    Range,
    /// A list of ranges of integers.
    RangeList,
}

/// Defines the attribute kinds: number in bitcode, name in LLVM assembly, form of the value.
macro_rules! attributes {
    ($($name:ident = $code:literal, $text:literal, $form:ident;)*) => {
        /// A kind of enumerated attribute. The names are those of LLVM's reference manual, which
        /// defines the attributes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)]
        pub enum AttrKind { $($name,)* }

        const ROWS: &[(AttrKind, u64, &str, AttrForm)] =
            &[$((AttrKind::$name, $code, $text, AttrForm::$form),)*];
    };
}

attributes! {
    Align = 1, "align", Number;
    AlwaysInline = 2, "alwaysinline", Plain;
    ByVal = 3, "byval", Type;
    InlineHint = 4, "inlinehint", Plain;
    InReg = 5, "inreg", Plain;
    MinSize = 6, "minsize", Plain;
    Naked = 7, "naked", Plain;
    Nest = 8, "nest", Plain;
    NoAlias = 9, "noalias", Plain;
    NoBuiltin = 10, "nobuiltin", Plain;
    NoCapture = 11, "nocapture", Plain;
    NoDuplicate = 12, "noduplicate", Plain;
    NoImplicitFloat = 13, "noimplicitfloat", Plain;
    NoInline = 14, "noinline", Plain;
    NonLazyBind = 15, "nonlazybind", Plain;
    NoRedZone = 16, "noredzone", Plain;
    NoReturn = 17, "noreturn", Plain;
    NoUnwind = 18, "nounwind", Plain;
    OptSize = 19, "optsize", Plain;
    ReadNone = 20, "readnone", Plain;
    ReadOnly = 21, "readonly", Plain;
    Returned = 22, "returned", Plain;
    ReturnsTwice = 23, "returns_twice", Plain;
    SignExt = 24, "signext", Plain;
    AlignStack = 25, "alignstack", Number;
    Ssp = 26, "ssp", Plain;
    SspReq = 27, "sspreq", Plain;
    SspStrong = 28, "sspstrong", Plain;
    StructRet = 29, "sret", Type;
    SanitizeAddress = 30, "sanitize_address", Plain;
    SanitizeThread = 31, "sanitize_thread", Plain;
    SanitizeMemory = 32, "sanitize_memory", Plain;
    UwTable = 33, "uwtable", Number;
    ZeroExt = 34, "zeroext", Plain;
    Builtin = 35, "builtin", Plain;
    Cold = 36, "cold", Plain;
    OptNone = 37, "optnone", Plain;
    InAlloca = 38, "inalloca", Type;
    NonNull = 39, "nonnull", Plain;
    JumpTable = 40, "jumptable", Plain;
    Dereferenceable = 41, "dereferenceable", Number;
    DereferenceableOrNull = 42, "dereferenceable_or_null", Number;
    Convergent = 43, "convergent", Plain;
    SafeStack = 44, "safestack", Plain;
    ArgMemOnly = 45, "argmemonly", Plain;
    SwiftSelf = 46, "swiftself", Plain;
    SwiftError = 47, "swifterror", Plain;
    NoRecurse = 48, "norecurse", Plain;
    InaccessibleMemOnly = 49, "inaccessiblememonly", Plain;
    InaccessibleMemOrArgMemOnly = 50, "inaccessiblemem_or_argmemonly", Plain;
    AllocSize = 51, "allocsize", Number;
    WriteOnly = 52, "writeonly", Plain;
    Speculatable = 53, "speculatable", Plain;
    StrictFp = 54, "strictfp", Plain;
    SanitizeHwAddress = 55, "sanitize_hwaddress", Plain;
    NoCfCheck = 56, "nocf_check", Plain;
    OptForFuzzing = 57, "optforfuzzing", Plain;
    ShadowCallStack = 58, "shadowcallstack", Plain;
    SpeculativeLoadHardening = 59, "speculative_load_hardening", Plain;
    ImmArg = 60, "immarg", Plain;
    WillReturn = 61, "willreturn", Plain;
    NoFree = 62, "nofree", Plain;
    NoSync = 63, "nosync", Plain;
    SanitizeMemTag = 64, "sanitize_memtag", Plain;
    Preallocated = 65, "preallocated", Type;
    NoMerge = 66, "nomerge", Plain;
    NullPointerIsValid = 67, "null_pointer_is_valid", Plain;
    NoUndef = 68, "noundef", Plain;
    ByRef = 69, "byref", Type;
    MustProgress = 70, "mustprogress", Plain;
    NoCallback = 71, "nocallback", Plain;
    Hot = 72, "hot", Plain;
    NoProfile = 73, "noprofile", Plain;
    VScaleRange = 74, "vscale_range", Number;
    SwiftAsync = 75, "swiftasync", Plain;
    NoSanitizeCoverage = 76, "nosanitize_coverage", Plain;
    ElementType = 77, "elementtype", Type;
    DisableSanitizerInstrumentation = 78, "disable_sanitizer_instrumentation", Plain;
    NoSanitizeBounds = 79, "nosanitize_bounds", Plain;
    AllocAlign = 80, "allocalign", Plain;
    AllocatedPointer = 81, "allocptr", Plain;
    AllocKind = 82, "allockind", Number;
    PresplitCoroutine = 83, "presplitcoroutine", Plain;
    FnRetThunkExtern = 84, "fn_ret_thunk_extern", Plain;
    SkipProfile = 85, "skipprofile", Plain;
    Memory = 86, "memory", Number;
    NoFpClass = 87, "nofpclass", Number;
    OptDebug = 88, "optdebug", Plain;
    Writable = 89, "writable", Plain;
    CoroOnlyDestroyWhenComplete = 90, "coro_only_destroy_when_complete", Plain;
    DeadOnUnwind = 91, "dead_on_unwind", Plain;
    Range = 92, "range", Range;
    SanitizeNumericalStability = 93, "sanitize_numerical_stability", Plain;
    Initializes = 94, "initializes", RangeList;
    HybridPatchable = 95, "hybrid_patchable", Plain;
    SanitizeRealtime = 96, "sanitize_realtime", Plain;
    SanitizeRealtimeBlocking = 97, "sanitize_realtime_blocking", Plain;
    CoroElideSafe = 98, "coro_elide_safe", Plain;
    NoExt = 99, "noext", Plain;
    NoDivergenceSource = 100, "nodivergencesource", Plain;
    SanitizeType = 101, "sanitize_type", Plain;
    Captures = 102, "captures", Number;
    DeadOnReturn = 103, "dead_on_return", Number;
    SanitizeAllocToken = 104, "sanitize_alloc_token", Plain;
    NoCreateUndefOrPoison = 105, "nocreateundeforpoison", Plain;
    DenormalFpEnv = 106, "denormal_fpenv", Number;
    NoOutline = 107, "nooutline", Plain;
}

impl AttrKind {
    /// Its name in LLVM assembly.
    pub fn name(self) -> &'static str {
        ROWS[self as usize].2
    }

    /// The form of its value.
    pub fn value_form(self) -> AttrForm {
        ROWS[self as usize].3
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<AttrKind> {
        ROWS.iter().find(|row| row.2 == name).map(|row| row.0)
    }

    /// The kind with this number in bitcode.
    pub fn from_code(code: u64) -> Option<AttrKind> {
        let index = usize::try_from(code).ok()?.checked_sub(1)?;
        ROWS.get(index).map(|row| row.0)
    }
}

/// One attribute.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum LlvmAttribute {
    /// A kind without a value.
    Plain(AttrKind),
    /// A kind and a number: bytes for `align`, and LLVM's own encoding for `memory`,
    /// `captures`, `nofpclass`, `allocsize`, `vscale_range`, `allockind` and `denormal_fpenv`.
    Number(AttrKind, u64),
    /// A kind and a type, such as `byval(T)`.
    Type(AttrKind, Option<LlvmType>),
    /// `range(iN lo, hi)`: width, and the bounds as words least significant first.
    Range(AttrKind, u32, Box<[u64]>, Box<[u64]>),
    /// `initializes((lo, hi), …)`
    RangeList(AttrKind, Box<[(i64, i64)]>),
    /// `"key"="value"`; the value may be empty.
    String(LlvmSymbol, LlvmSymbol),
}

impl LlvmAttribute {
    /// Its kind; `None` for a string.
    pub fn kind(&self) -> Option<AttrKind> {
        match *self {
            LlvmAttribute::Plain(kind)
            | LlvmAttribute::Number(kind, _)
            | LlvmAttribute::Type(kind, _)
            | LlvmAttribute::Range(kind, ..)
            | LlvmAttribute::RangeList(kind, _) => Some(kind),
            LlvmAttribute::String(..) => None,
        }
    }
}

impl LlvmAttribute {
    /// Whether its value has the form that its kind requires.
    pub(crate) fn is_well_formed(&self) -> bool {
        match *self {
            // LLVM 22 added a number to `dead_on_return`.
            LlvmAttribute::Plain(AttrKind::DeadOnReturn) | LlvmAttribute::String(..) => true,
            LlvmAttribute::Plain(kind) => kind.value_form() == AttrForm::Plain,
            LlvmAttribute::Number(AttrKind::Align | AttrKind::AlignStack, bytes) => {
                LlvmAlign::from_bytes(bytes).is_some()
            }
            LlvmAttribute::Number(kind, _) => kind.value_form() == AttrForm::Number,
            LlvmAttribute::Type(kind, _) => kind.value_form() == AttrForm::Type,
            LlvmAttribute::Range(kind, ..) => kind.value_form() == AttrForm::Range,
            LlvmAttribute::RangeList(kind, _) => kind.value_form() == AttrForm::RangeList,
        }
    }
}

define_ids! {
    /// A set of attributes of one function, result or parameter.
    pub struct AttrSet: "attrs";
    /// The attributes of a function or call with its result and parameters.
    pub struct AttrList: "attrlist";
}

impl AttrSet {
    /// No attributes.
    pub const EMPTY: AttrSet = AttrSet::new(0);
}

impl AttrList {
    /// No attributes.
    pub const EMPTY: AttrList = AttrList::new(0);
}

/// The attribute sets of an [`AttrList`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AttrListData {
    /// Attributes of the function or call itself.
    pub function: AttrSet,
    /// Attributes of its result.
    pub result: AttrSet,
    /// Attributes of its parameters. Parameters past the end have none.
    pub params: Box<[AttrSet]>,
}

/// All attributes of a module, interned.
#[derive(Clone, Debug)]
pub struct LlvmAttributes {
    sets: ValueInterner<AttrSet, Box<[LlvmAttribute]>>,
    lists: ValueInterner<AttrList, AttrListData>,
}

impl Default for LlvmAttributes {
    fn default() -> Self {
        let mut attributes = LlvmAttributes {
            sets: ValueInterner::default(),
            lists: ValueInterner::default(),
        };
        let none = attributes.intern_set(Vec::new());
        attributes.intern_list(none, none, Vec::new());
        attributes
    }
}

impl LlvmAttributes {
    /// The set of these attributes. Enumerated attributes come first, in the order of bitcode;
    /// string attributes follow in their given order. Of several attributes of one kind or key, the
    /// last is kept.
    pub fn intern_set(&mut self, attributes: Vec<LlvmAttribute>) -> AttrSet {
        self.sets.intern(sort_attributes(attributes).into())
    }

    /// The list of these sets.
    pub fn intern_list(
        &mut self,
        function: AttrSet,
        result: AttrSet,
        params: Vec<AttrSet>,
    ) -> AttrList {
        let mut params = params;
        while params.last() == Some(&AttrSet::EMPTY) {
            params.pop();
        }
        self.lists.intern(AttrListData {
            function,
            result,
            params: params.into(),
        })
    }

    /// The attributes of a set.
    pub fn get(&self, set: AttrSet) -> &[LlvmAttribute] {
        self.sets.get(set)
    }

    /// The sets of a list.
    pub fn list_data(&self, list: AttrList) -> &AttrListData {
        self.lists.get(list)
    }

    /// The set of the function or call itself.
    pub fn function_set(&self, list: AttrList) -> AttrSet {
        self.list_data(list).function
    }

    /// The set of the result.
    pub fn result_set(&self, list: AttrList) -> AttrSet {
        self.list_data(list).result
    }

    /// The set of parameter `index`.
    pub fn param_set(&self, list: AttrList, index: usize) -> AttrSet {
        self.list_data(list)
            .params
            .get(index)
            .copied()
            .unwrap_or(AttrSet::EMPTY)
    }

    /// The attribute of a kind in a set.
    pub fn find_attribute(&self, set: AttrSet, kind: AttrKind) -> Option<&LlvmAttribute> {
        self.get(set)
            .iter()
            .find(|attribute| attribute.kind() == Some(kind))
    }

    /// Whether a set has an attribute of a kind.
    pub fn has_attribute(&self, set: AttrSet, kind: AttrKind) -> bool {
        self.find_attribute(set, kind).is_some()
    }

    /// The number of the attribute of a kind in a set.
    pub fn find_number(&self, set: AttrSet, kind: AttrKind) -> Option<u64> {
        match self.find_attribute(set, kind) {
            Some(&LlvmAttribute::Number(_, number)) => Some(number),
            _ => None,
        }
    }

    /// The type of the attribute of a kind in a set.
    pub fn type_of(&self, set: AttrSet, kind: AttrKind) -> Option<LlvmType> {
        match self.find_attribute(set, kind) {
            Some(&LlvmAttribute::Type(_, ty)) => ty,
            _ => None,
        }
    }

    /// The value of a string attribute in a set.
    pub fn find_string(&self, set: AttrSet, key: LlvmSymbol) -> Option<LlvmSymbol> {
        self.get(set).iter().find_map(|attribute| match *attribute {
            LlvmAttribute::String(at, value) if at == key => Some(value),
            _ => None,
        })
    }
}

fn sort_attributes(attributes: Vec<LlvmAttribute>) -> Vec<LlvmAttribute> {
    let rank =
        |attribute: &LlvmAttribute| attribute.kind().map_or(usize::MAX, |kind| kind as usize);
    let mut sorted = attributes;
    sorted.sort_by_key(rank);
    let mut out: Vec<LlvmAttribute> = Vec::with_capacity(sorted.len());
    for new in sorted {
        let same = |old: &LlvmAttribute| match (old, &new) {
            (LlvmAttribute::String(a, _), LlvmAttribute::String(b, _)) => a == b,
            _ => old.kind().is_some() && old.kind() == new.kind(),
        };
        match out.iter_mut().find(|old| same(old)) {
            Some(old) => *old = new,
            None => out.push(new),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_positions() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.1, index as u64 + 1, "{}", row.2);
            assert_eq!(AttrKind::from_code(row.1), Some(row.0));
            assert_eq!(AttrKind::from_name(row.2), Some(row.0));
        }
    }

    #[test]
    fn sets_are_ordered_without_duplicates() {
        let mut all = LlvmAttributes::default();
        let a = all.intern_set(vec![
            LlvmAttribute::Plain(AttrKind::NoUnwind),
            LlvmAttribute::Number(AttrKind::Align, 4),
            LlvmAttribute::Number(AttrKind::Align, 8),
        ]);
        let b = all.intern_set(vec![
            LlvmAttribute::Number(AttrKind::Align, 8),
            LlvmAttribute::Plain(AttrKind::NoUnwind),
        ]);
        assert_eq!(a, b);
        assert_eq!(all.find_number(a, AttrKind::Align), Some(8));
        let list = all.intern_list(a, AttrSet::EMPTY, vec![AttrSet::EMPTY]);
        assert_eq!(all.param_set(list, 0), AttrSet::EMPTY);
        assert_eq!(all.intern_list(a, AttrSet::EMPTY, vec![]), list);
    }
}
