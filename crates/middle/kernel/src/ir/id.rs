//! Ids: dense `u32` newtypes, the positions of entities in their arenas.

macro_rules! dense_id {
    ($($(#[$doc:meta])* $name:ident $prefix:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u32);

        impl $name {
            /// The id of the entity at a position. Readers bound their inputs far below `u32::MAX`.
            pub(crate) fn new(index: usize) -> Self {
                $name(u32::try_from(index).unwrap_or(u32::MAX))
            }

            /// Its position in its arena.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    )*};
}

dense_id! {
    /// A name.
    NameId "name";
    /// A variable: scalar, memory reference or private array.
    VarId "var";
    /// A node of an expression.
    ExprId "expr";
    /// A list of statements.
    StmtBlock "block";
    /// A function.
    FuncId "func";
    /// A kernel.
    KernelId "kernel";
    /// The type of a private array.
    ArrayId "array";
    /// A message.
    MessageId "message";
    /// A tuning parameter.
    ParamId "param";
    /// The class of a limit.
    LimitId "limit";
}
