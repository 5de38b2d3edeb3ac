//! Bodies of exported functions, as macros. The C header is generated from the source, so the functions themselves
//! are written out.

/// The body of a function that can fail: returns a status, and writes the error where the caller wants it.
macro_rules! status {
    ($error:expr, $body:expr) => {{
        let body = $body;
        // SAFETY: the crate's contract.
        unsafe { $crate::error::run_guarded($error, body) }
    }};
}

/// The body of a query of an object or a part of it. It returns the first value if the object is null or the part
/// does not exist.
macro_rules! ask {
    ($otherwise:expr, $object:ident $(. $part:ident)?, |$inner:ident| $body:expr) => {
        $crate::error::run_guarded_or($otherwise, || {
            // SAFETY: the crate's contract.
            let $inner = &unsafe { $crate::handle::get_ref($object) }?$(.$part)?;
            $body
        })
    };
}

/// The body of a query with a list as its result. It copies as much as the buffer holds, and returns the full
/// length.
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

/// The body of an edit of a module, which can fail.
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
