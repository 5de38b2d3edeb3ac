//! Values that are owned, or lent for a while by an owner that has further uses for them.

use std::ops::{Deref, DerefMut};

/// A value that is owned or lent.
#[derive(Debug)]
pub enum OwnedOrLent<'a, T> {
    /// It is dropped with its holder.
    Owned(Box<T>),
    /// Its owner has it back when the holder is dropped.
    Lent(&'a mut T),
}

impl<T> Deref for OwnedOrLent<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        match self {
            OwnedOrLent::Owned(value) => value,
            OwnedOrLent::Lent(value) => value,
        }
    }
}

impl<T> DerefMut for OwnedOrLent<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        match self {
            OwnedOrLent::Owned(value) => value,
            OwnedOrLent::Lent(value) => value,
        }
    }
}
