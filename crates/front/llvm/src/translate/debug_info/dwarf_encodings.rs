//! DWARF encodings: numbers of DWARF and LLVM's debug information, and the corresponding ones of
//! OpenCL.DebugInfo.100.
//!
//! LLVM assembly has keywords, bitcode has numbers, so the tables have both.

/// A keyword with its number in DWARF and its number in SPIR-V.
type DwarfNameRow = (&'static str, u64, u32);

/// Encodings of basic types.
pub(super) const ENCODINGS: &[DwarfNameRow] = &[
    ("DW_ATE_address", 1, 1),
    ("DW_ATE_boolean", 2, 2),
    ("DW_ATE_float", 4, 3),
    ("DW_ATE_signed", 5, 4),
    ("DW_ATE_signed_char", 6, 5),
    ("DW_ATE_unsigned", 7, 6),
    ("DW_ATE_unsigned_char", 8, 7),
];

/// Languages of sources.
pub(super) const LANGUAGES: &[DwarfNameRow] = &[
    ("DW_LANG_OpenCL", 0x15, 3),
    ("DW_LANG_C_plus_plus", 0x04, 6),
    ("DW_LANG_C_plus_plus_11", 0x1a, 6),
    ("DW_LANG_C_plus_plus_14", 0x21, 6),
    ("DW_LANG_C_plus_plus_17", 0x2b, 6),
    ("DW_LANG_C_plus_plus_20", 0x2c, 6),
    ("DW_LANG_C99", 0x0c, 3),
    ("DW_LANG_C11", 0x1d, 3),
];

/// Tags of composite types: class, structure, union.
pub(super) const COMPOSITES: &[DwarfNameRow] = &[
    ("DW_TAG_class_type", 0x02, 0),
    ("DW_TAG_structure_type", 0x13, 1),
    ("DW_TAG_union_type", 0x17, 2),
];

/// Tags of qualifiers: const, volatile, restrict, atomic.
pub(super) const QUALIFIERS: &[DwarfNameRow] = &[
    ("DW_TAG_const_type", 0x26, 0),
    ("DW_TAG_volatile_type", 0x35, 1),
    ("DW_TAG_restrict_type", 0x37, 2),
    ("DW_TAG_atomic_type", 0x47, 3),
];

/// Tags of pointers, with flags.
pub(super) const POINTERS: &[DwarfNameRow] = &[
    ("DW_TAG_pointer_type", 0x0f, 0),
    ("DW_TAG_reference_type", 0x10, 1 << 11),
    ("DW_TAG_rvalue_reference_type", 0x42, 1 << 12),
];

/// Tags of other derived types that are distinguished.
pub(super) const TYPEDEF: &[DwarfNameRow] = &[("DW_TAG_typedef", 0x16, 0)];
pub(super) const MEMBER_POINTER: &[DwarfNameRow] = &[("DW_TAG_ptr_to_member_type", 0x1f, 0)];
pub(super) const MEMBER: &[DwarfNameRow] = &[("DW_TAG_member", 0x0d, 0)];
pub(super) const INHERITANCE: &[DwarfNameRow] = &[("DW_TAG_inheritance", 0x1c, 0)];
pub(super) const ARRAY: &[DwarfNameRow] = &[("DW_TAG_array_type", 0x01, 0)];
pub(super) const ENUMERATION: &[DwarfNameRow] = &[("DW_TAG_enumeration_type", 0x04, 0)];

/// Tags of template parameters that are neither types nor values.
pub(super) const TEMPLATE_TEMPLATE: &[DwarfNameRow] =
    &[("DW_TAG_GNU_template_template_param", 0x4106, 0)];
pub(super) const TEMPLATE_PACK: &[DwarfNameRow] =
    &[("DW_TAG_GNU_template_parameter_pack", 0x4107, 0)];

/// Tags of imported entities.
pub(super) const IMPORTS: &[DwarfNameRow] = &[
    ("DW_TAG_imported_module", 0x3a, 0),
    ("DW_TAG_imported_declaration", 0x08, 1),
];

/// Kinds of macro records: define, undefine.
pub(super) const MACROS: &[DwarfNameRow] =
    &[("DW_MACINFO_define", 1, 0), ("DW_MACINFO_undef", 2, 1)];

/// Flags: of LLVM, and of SPIR-V.
pub(super) const FLAGS: &[DwarfNameRow] = &[
    ("DIFlagFwdDecl", 1 << 2, 1 << 4),
    ("DIFlagArtificial", 1 << 6, 1 << 5),
    ("DIFlagExplicit", 1 << 7, 1 << 6),
    ("DIFlagPrototyped", 1 << 8, 1 << 7),
    ("DIFlagObjectPointer", 1 << 10, 1 << 8),
    ("DIFlagVector", 1 << 11, 0),
    ("DIFlagStaticMember", 1 << 12, 1 << 9),
    ("DIFlagLValueReference", 1 << 13, 1 << 11),
    ("DIFlagRValueReference", 1 << 14, 1 << 12),
    ("DIFlagTypePassByValue", 1 << 22, 1 << 15),
    ("DIFlagTypePassByReference", 1 << 23, 1 << 16),
];

/// Access flags, which are a number in two bits.
pub(super) const ACCESS: &[DwarfNameRow] = &[
    ("DIFlagPrivate", 1, 1 << 1),
    ("DIFlagProtected", 2, 1 << 0),
    ("DIFlagPublic", 3, 1 << 0 | 1 << 1),
];

/// Flags of subprograms: local, definition, optimised.
pub(super) const SUBPROGRAM_FLAGS: &[DwarfNameRow] = &[
    ("DISPFlagLocalToUnit", 1 << 2, 1 << 2),
    ("DISPFlagDefinition", 1 << 3, 1 << 3),
    ("DISPFlagOptimized", 1 << 4, 1 << 13),
];

/// Operations of expressions: number in DWARF, number in SPIR-V.
pub(super) const OPERATIONS: &[DwarfNameRow] = &[
    ("DW_OP_deref", 0x06, 0),
    ("DW_OP_plus", 0x22, 1),
    ("DW_OP_minus", 0x1c, 2),
    ("DW_OP_plus_uconst", 0x23, 3),
    ("DW_OP_bit_piece", 0x9d, 4),
    ("DW_OP_swap", 0x16, 5),
    ("DW_OP_xderef", 0x18, 6),
    ("DW_OP_stack_value", 0x9f, 7),
    ("DW_OP_constu", 0x10, 8),
    ("DW_OP_LLVM_fragment", 0x1000, 9),
];

/// Operands of an operation, by its number in SPIR-V.
pub(super) fn operand_count(operation: u32) -> usize {
    match operation {
        3 | 8 => 1,
        4 | 9 => 2,
        _ => 0,
    }
}
