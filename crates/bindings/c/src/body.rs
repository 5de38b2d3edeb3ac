//! Bodies of exported functions, as macros: the header is made of the source, so that the functions
//! themselves stand as they are.

/// A body that can fail: its status, the error being written where the caller wants it.
macro_rules! status {
    ($error:expr, $body:expr) => {{
        let body = $body;
        // SAFETY: the crate's contract.
        unsafe { $crate::error::run_guarded($error, body) }
    }};
}

/// What an object, or a part of it, answers; the first value where it is null or does not know.
macro_rules! ask {
    ($otherwise:expr, $object:ident $(. $part:ident)?, |$inner:ident| $body:expr) => {
        $crate::error::run_guarded_or($otherwise, || {
            // SAFETY: the crate's contract.
            let $inner = &unsafe { $crate::handle::get_ref($object) }?$(.$part)?;
            $body
        })
    };
}

/// What an object, or a part of it, answers with a list: copied into a buffer as far as there is room, and how
/// much there is of it.
macro_rules! list {
    ($object:ident $(. $part:ident)?, $buffer:expr, $capacity:expr, |$inner:ident| $body:expr) => {
        $crate::body::ask!(0, $object $(. $part)?, |$inner| {
            let list = || $body;
            let list: Result<_, $crate::error::ApiFailure> = list();
            // SAFETY: the crate's contract.
            Ok(unsafe { $crate::handle::fill_buffer($buffer, $capacity, &list?) })
        })
    };
}

/// An edit of a module that can fail.
macro_rules! edit {
    ($error:expr, $module:ident, |$inner:ident| $body:expr) => {
        $crate::body::status!($error, || {
            // SAFETY: the crate's contract.
            let $inner = unsafe { $crate::handle::get_mut($module) }?.module_mut();
            $body
        })
    };
}

pub(crate) use {ask, edit, list, status};
