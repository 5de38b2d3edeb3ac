//! Enumerations with names in LLVM assembly and numbers in bitcode.

/// Defines an enumeration with names in LLVM assembly and its numbers in bitcode.
macro_rules! named {
    ($(#[$doc:meta])* $ty:ident { $($(#[$vdoc:meta])* $name:ident = $code:literal, $text:literal;)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $ty { $($(#[$vdoc])* $name,)* }

        impl $ty {
            const ROWS: &'static [($ty, u64, &'static str)] =
                &[$(($ty::$name, $code, $text),)*];

            /// Its name in LLVM assembly.
            pub fn name(self) -> &'static str {
                Self::ROWS[self as usize].2
            }

            /// The one with this name.
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ROWS.iter().find(|row| row.2 == name).map(|row| row.0)
            }

            /// The one with this number in bitcode.
            pub fn from_code(code: u64) -> Option<Self> {
                Self::ROWS.iter().find(|row| row.1 == code).map(|row| row.0)
            }
        }
    };
}
pub(crate) use named;
