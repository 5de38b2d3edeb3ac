//! Dense ids: the traits and the macro that defines them.

/// An id with a position in tables.
pub trait EntityIndex: Copy + Eq {
    /// Position in tables that are keyed by this kind of id.
    fn index(self) -> usize;
}

/// An id that is the position of an entity in its arena.
pub trait DenseId: EntityIndex {
    /// The id of the entity at a position.
    ///
    /// # Panics
    /// If `index` is `u32::MAX` or above.
    fn from_index(index: usize) -> Self;
}

/// Defines dense ids, each with the prefix that its debug output begins with.
///
/// An id holds its index plus one as a `NonZeroU32`, so that an `Option` of it takes four bytes.
///
/// ```
/// spirula_entity::define_ids! {
///     /// A variable of a function.
///     pub struct VariableId: "var";
/// }
///
/// let id = VariableId::new(3);
/// assert_eq!(id.index(), 3);
/// assert_eq!(format!("{id:?}"), "var3");
/// assert_eq!(size_of::<Option<VariableId>>(), 4);
/// ```
#[macro_export]
macro_rules! define_ids {
    ($($(#[$attribute:meta])* $visibility:vis struct $name:ident: $prefix:literal;)*) => {$(
        $(#[$attribute])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $visibility struct $name(::std::num::NonZeroU32);

        #[allow(dead_code)]
        impl $name {
            /// The id of the entity at a position of its arena.
            ///
            /// # Panics
            /// If `index` is `u32::MAX` or above. Readers bound their inputs far below.
            #[inline]
            pub const fn new(index: usize) -> Self {
                assert!(index < u32::MAX as usize, "too many entities of one kind");
                $name(::std::num::NonZeroU32::MIN.saturating_add(index as u32))
            }

            /// Its position in its arena and in tables that are keyed by it.
            #[inline]
            pub const fn index(self) -> usize {
                self.0.get() as usize - 1
            }
        }

        impl $crate::EntityIndex for $name {
            #[inline]
            fn index(self) -> usize {
                $name::index(self)
            }
        }

        impl $crate::DenseId for $name {
            #[inline]
            fn from_index(index: usize) -> Self {
                $name::new(index)
            }
        }

        impl ::std::fmt::Debug for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                write!(f, concat!($prefix, "{}"), self.index())
            }
        }
    )*};
}

#[cfg(test)]
mod tests {
    use super::{DenseId, EntityIndex};

    crate::define_ids! {
        /// An id.
        struct DenseTestId: "test";
        /// Another one.
        struct OtherTestId: "%";
    }

    #[test]
    fn ids_keep_their_index_and_order() {
        let ids = [0, 1, u32::MAX as usize - 1].map(DenseTestId::from_index);
        assert_eq!(ids.map(EntityIndex::index), [0, 1, u32::MAX as usize - 1]);
        assert!(ids.is_sorted());
        assert_eq!(format!("{:?}", OtherTestId::new(7)), "%7");
    }

    #[test]
    #[should_panic(expected = "too many entities")]
    fn an_index_beyond_the_range_is_refused() {
        DenseTestId::new(u32::MAX as usize);
    }
}
