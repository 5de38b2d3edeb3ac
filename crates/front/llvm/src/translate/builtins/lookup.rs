//! Look-up of built-in functions by name.

use super::atomic_table::ATOMIC_ROWS;
use super::table::{FAMILIES, ROWS};
use crate::translate::call_rules::OpenClBuiltinRule;
use crate::translate::extended_instructions::extended_number;
use rustc_hash::FxHashMap;
use std::sync::OnceLock;

/// The rows of all tables.
fn all_rows() -> impl Iterator<Item = &'static (&'static str, OpenClBuiltinRule)> {
    ROWS.iter().chain(ATOMIC_ROWS)
}

/// Names of all rows, and prefixes of the names of families.
pub(in crate::translate) fn builtin_names() -> (
    impl Iterator<Item = &'static str>,
    impl Iterator<Item = &'static str>,
) {
    (
        all_rows().map(|row| row.0),
        FAMILIES.iter().map(|row| row.0),
    )
}

/// Names that Clang does not mangle.
pub(super) fn is_unmangled(name: &str) -> bool {
    name == "printf" || name.starts_with("__") || name.starts_with("intel_sub_group_")
}

/// The rule of the function with this name.
pub(super) fn find_builtin(name: &str) -> Option<OpenClBuiltinRule> {
    static INDEX: OnceLock<FxHashMap<&'static str, OpenClBuiltinRule>> = OnceLock::new();
    let index = INDEX.get_or_init(|| all_rows().copied().collect());
    if let Some(lower) = index.get(name) {
        return Some(*lower);
    }
    if let Some((_, handler)) = FAMILIES.iter().find(|row| name.starts_with(row.0)) {
        return Some(OpenClBuiltinRule::By(*handler));
    }
    extended_number(name).map(OpenClBuiltinRule::Ext)
}

#[cfg(test)]
mod tests {
    use super::*;
    use spirula_spirv::grammar::opencl_std as std_;

    #[test]
    fn every_name_has_one_row() {
        let mut names: Vec<&str> = all_rows().map(|row| row.0).collect();
        names.sort_unstable();
        let count = names.len();
        names.dedup();
        assert_eq!(names.len(), count);
    }

    #[test]
    fn extended_instructions_need_no_row() {
        assert!(matches!(
            find_builtin("native_cos"),
            Some(OpenClBuiltinRule::Ext(std_::NATIVE_COS))
        ));
        assert!(matches!(
            find_builtin("convert_int4_sat_rte"),
            Some(OpenClBuiltinRule::By(_))
        ));
        assert!(find_builtin("nothing_of_this_name").is_none());
    }
}
