//! Foreign calls: calls of functions that do not belong to a program, which refers to them by name.
//!
//! A program says what it calls and with which types ([`ForeignSignature`]). The functions belong to whoever runs the
//! program: they are registered in a [`ForeignFunctionTable`], or the caller of a session runs them itself while the call is
//! paused ([`crate::CallProgress`]).

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

/// The description of a foreign call. All representations of a program share it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignSignature {
    /// The name of the function.
    pub target: String,
    /// Values that are known at compile time, sorted by name.
    #[serde(default)]
    pub attributes: Vec<(String, ForeignAttribute)>,
    /// Types of the operands.
    pub operands: Vec<ForeignArrayType>,
    /// Types of the results.
    pub results: Vec<ForeignArrayType>,
    /// Whether the call matters even if nothing uses its results. Such calls keep their order.
    pub has_effect: bool,
    /// Operands whose elements a result begins with: the numbers of operand and result.
    #[serde(default)]
    pub aliases: Vec<(usize, usize)>,
    /// The number of the logical device that makes the call; 0 where all share it.
    #[serde(default)]
    pub device: u32,
    /// The version of the convention of the call, as the source states it.
    #[serde(default)]
    pub convention: u32,
    /// The place of the call as text, shown with errors; may be empty.
    #[serde(default)]
    pub origin: String,
}

impl ForeignSignature {
    /// The signature as one line of text, which [`ForeignSignature::from_text`] reads back.
    pub fn to_text(&self) -> String {
        // A struct of texts and numbers always has a text.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Reads the text of a signature.
    ///
    /// # Errors
    /// When it is not the text of one; the message says why.
    pub fn from_text(text: &str) -> Result<ForeignSignature, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    /// Checks that aliases name operands and results of the same type.
    ///
    /// # Errors
    /// When one does not; the message says which.
    pub fn check_aliases(&self) -> Result<(), String> {
        let is_right = |(operand, result): &(usize, usize)| {
            let operand = self.operands.get(*operand);
            operand.is_some_and(|operand| self.results.get(*result) == Some(operand))
        };
        match self.aliases.iter().find(|alias| !is_right(alias)) {
            None => Ok(()),
            Some((operand, result)) => Err(format!(
                "result {result} of a foreign call cannot begin with operand {operand}"
            )),
        }
    }

    /// The error that there is no such function.
    pub fn missing_function(&self) -> ForeignFailure {
        self.failure(ForeignFailureKind::Missing)
    }

    /// The error of the function.
    pub fn failed_function(&self, error: ForeignFunctionError) -> ForeignFailure {
        self.failure(ForeignFailureKind::Failed(error))
    }

    fn failure(&self, kind: ForeignFailureKind) -> ForeignFailure {
        ForeignFailure {
            target: self.target.clone(),
            origin: self.origin.clone(),
            kind,
        }
    }
}

/// The type of an operand or result, in the words of the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ForeignArrayType {
    /// Name of the elements' type: `bf16`, `complex<f32>`.
    pub element: String,
    /// Sizes; none for a scalar. Elements are dense in row-major order unless there is a layout.
    pub shape: Vec<u64>,
    /// The dimensions from the slowest to the fastest, where that is not their order.
    #[serde(default)]
    pub layout: Vec<usize>,
    /// Bytes of all elements.
    pub bytes: u64,
}

/// A value that is known at compile time. Numbers are little-endian.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ForeignAttribute {
    /// A number: the name of its type, and its bytes.
    Scalar(String, Vec<u8>),
    /// Numbers: the name of their type, and the bytes of all.
    Array(String, Vec<u8>),
    /// Text.
    Text(String),
    /// Named values, sorted by name.
    Dictionary(Vec<(String, ForeignAttribute)>),
}

/// A call of a foreign function.
#[derive(Debug)]
pub struct ForeignFunctionCall<'a> {
    /// Names and types.
    pub signature: &'a ForeignSignature,
    /// The elements of the operands.
    pub operands: Vec<&'a [u8]>,
    /// The elements of the results, which the function writes. They are zeros, or the elements of an operand.
    pub results: Vec<&'a mut [u8]>,
}

/// A foreign function.
pub trait ForeignFunction: Send + Sync {
    /// Runs the function.
    ///
    /// # Errors
    /// When it fails. The error is that of the program.
    fn call(&self, call: &mut ForeignFunctionCall<'_>) -> Result<(), ForeignFunctionError>;
}

impl<F> ForeignFunction for F
where
    F: Fn(&mut ForeignFunctionCall<'_>) -> Result<(), ForeignFunctionError> + Send + Sync,
{
    fn call(&self, call: &mut ForeignFunctionCall<'_>) -> Result<(), ForeignFunctionError> {
        self(call)
    }
}

/// The reason why a foreign function fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFunctionError {
    /// The canonical code of the status, as Abseil numbers them; 13 is an internal error.
    pub code: u32,
    /// The message for users.
    pub message: String,
}

impl ForeignFunctionError {
    /// An error without a code of its own.
    pub fn new(message: impl Into<String>) -> ForeignFunctionError {
        ForeignFunctionError {
            code: 13,
            message: message.into(),
        }
    }
}

impl fmt::Display for ForeignFunctionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ForeignFunctionError {}

/// The reason why a foreign call fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForeignFailure {
    /// The name of the function.
    pub target: String,
    /// The place of the call; may be empty.
    pub origin: String,
    /// The reason.
    pub kind: ForeignFailureKind,
}

/// Whether a function failed, or was not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForeignFailureKind {
    /// No function of this name is registered.
    Missing,
    /// The function has failed.
    Failed(ForeignFunctionError),
}

impl fmt::Display for ForeignFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.origin.is_empty() {
            write!(f, "{}: ", self.origin)?;
        }
        match &self.kind {
            ForeignFailureKind::Missing => {
                write!(f, "no foreign function is named {:?}", self.target)
            }
            ForeignFailureKind::Failed(error) => {
                write!(f, "the foreign function {:?} failed: {error}", self.target)
            }
        }
    }
}

impl std::error::Error for ForeignFailure {}

/// Foreign functions by name.
///
/// ```
/// use spirula_program::{ForeignFunctionCall, ForeignFunctionTable};
///
/// let mut functions = ForeignFunctionTable::default();
/// functions.register("copy", |call: &mut ForeignFunctionCall<'_>| {
///     call.results[0].copy_from_slice(call.operands[0]);
///     Ok(())
/// });
/// assert!(functions.find("copy").is_some());
/// ```
///
/// [`ProgramSession::set_foreign_functions`](crate::ProgramSession::set_foreign_functions) gives them to a program.
#[derive(Clone, Default)]
pub struct ForeignFunctionTable {
    functions: BTreeMap<String, Arc<dyn ForeignFunction>>,
}

impl ForeignFunctionTable {
    /// Registers a function. It replaces one of the same name.
    pub fn register(&mut self, name: &str, function: impl ForeignFunction + 'static) {
        self.functions.insert(name.to_owned(), Arc::new(function));
    }

    /// The function of a name.
    pub fn find(&self, name: &str) -> Option<&Arc<dyn ForeignFunction>> {
        self.functions.get(name)
    }

    /// Calls the function of a signature with copies of its operands. Returns the results.
    ///
    /// # Errors
    /// When there is no such function, or it fails.
    pub fn call(
        &self,
        signature: &ForeignSignature,
        operands: &[Vec<u8>],
    ) -> Result<Vec<Vec<u8>>, ForeignFailure> {
        let function = self.find(&signature.target);
        let function = function.ok_or_else(|| signature.missing_function())?;
        let results = signature.results.iter();
        let mut results: Vec<Vec<u8>> = results.map(|ty| vec![0; ty.bytes as usize]).collect();
        for (operand, result) in &signature.aliases {
            results[*result].clone_from(&operands[*operand]);
        }
        let mut call = ForeignFunctionCall {
            signature,
            operands: operands.iter().map(Vec::as_slice).collect(),
            results: results.iter_mut().map(Vec::as_mut_slice).collect(),
        };
        let called = function.call(&mut call);
        called.map_err(|error| signature.failed_function(error))?;
        Ok(results)
    }
}

impl fmt::Debug for ForeignFunctionTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.functions.keys()).finish()
    }
}
