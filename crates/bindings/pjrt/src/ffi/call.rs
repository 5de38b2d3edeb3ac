//! Calls of functions of the host: buffers and attributes in the form of C, and the stages of a call.

use super::api::{API, CallContext, FfiFuture, StageStates, UserData, take_error};
use super::interface::*;
use super::registry::HostTarget;
use spirula_program::{ForeignArrayType, ForeignAttribute, ForeignFunctionError, ForeignSignature};
use std::collections::HashMap;
use std::ffi::c_void;
use std::mem::offset_of;
use std::ptr::{from_ref, null, null_mut};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The size of a call frame, which the header defines without the future.
const FRAME_SIZE: usize = offset_of!(FfiCallFrame, attrs) + size_of::<FfiAttributes>();

/// Number of the type of elements of a token.
const TOKEN: u32 = 17;

/// The type of untyped calls.
const UNTYPED: u32 = 1;

/// Types of elements and their numbers in the interface.
const ELEMENTS: &[(&str, u32)] = &[
    ("i1", 1),
    ("i2", 26),
    ("i4", 21),
    ("i8", 2),
    ("i16", 3),
    ("i32", 4),
    ("i64", 5),
    ("ui2", 27),
    ("ui4", 22),
    ("ui8", 6),
    ("ui16", 7),
    ("ui32", 8),
    ("ui64", 9),
    ("f16", 10),
    ("f32", 11),
    ("f64", 12),
    ("bf16", 16),
    ("complex<f32>", 15),
    ("complex<f64>", 18),
    ("token", TOKEN),
    ("f8E5M2", 19),
    ("f8E4M3FN", 20),
    ("f8E4M3B11FNUZ", 23),
    ("f8E5M2FNUZ", 24),
    ("f8E4M3FNUZ", 25),
    ("f8E4M3", 28),
    ("f8E3M4", 29),
    ("f4E2M1FN", 32),
    ("f8E8M0FNU", 33),
];

fn find_element(name: &str) -> u32 {
    let mut elements = ELEMENTS.iter();
    elements
        .find(|(other, _)| *other == name)
        .map_or(0, |(_, number)| *number)
}

/// A call with the memory of its operands and results.
pub struct HostMemoryCall<'a> {
    /// The function, with the types of operands and results.
    pub signature: &'a ForeignSignature,
    /// The memory of the operands.
    pub operands: Vec<*mut c_void>,
    /// The memory of the results.
    pub results: Vec<*mut c_void>,
    /// Data of the execution for handlers.
    pub user_data: &'a [UserData],
}

/// The calls of a program, with the state that their handlers keep.
#[derive(Default)]
pub struct HostCallSites {
    /// By the address of the signature, which belongs to the same program.
    sites: Mutex<HashMap<usize, Arc<CallSite>>>,
}

/// The data that a call keeps from execution to execution.
struct CallSite {
    attributes: AttributeList,
    states: StageStates,
    /// Whether the first stage has run.
    is_instantiated: AtomicBool,
}

impl HostCallSites {
    fn find_or_create(&self, signature: &ForeignSignature) -> Arc<CallSite> {
        let mut sites = self.sites.lock().unwrap_or_else(PoisonError::into_inner);
        let site = sites.entry(from_ref(signature).addr());
        let create = || {
            Arc::new(CallSite {
                attributes: AttributeList::new(&signature.attributes),
                states: StageStates::default(),
                is_instantiated: AtomicBool::new(false),
            })
        };
        site.or_insert_with(create).clone()
    }

    /// Calls a function.
    ///
    /// # Errors
    /// When the function fails.
    ///
    /// # Safety
    /// Operands and results have the memory that the signature says, and nobody else changes it meanwhile.
    pub unsafe fn call(
        &self,
        target: HostTarget,
        call: &HostMemoryCall<'_>,
    ) -> Result<(), ForeignFunctionError> {
        match target {
            HostTarget::Typed(bundle) => {
                let site = self.find_or_create(call.signature);
                site.run_stages(bundle, call)
            }
            HostTarget::Untyped(function) if call.signature.convention <= UNTYPED => {
                let results = match &call.results[..] {
                    [result] => *result,
                    results => results.as_ptr().cast_mut().cast(),
                };
                function(results, call.operands.as_ptr().cast());
                Ok(())
            }
            HostTarget::Untyped(_) => {
                let convention = call.signature.convention;
                let message =
                    format!("an untyped function cannot be called by the convention {convention}");
                Err(ForeignFunctionError::new(message))
            }
        }
    }
}

impl CallSite {
    unsafe fn run_stages(
        &self,
        bundle: FfiHandlerBundle,
        call: &HostMemoryCall<'_>,
    ) -> Result<(), ForeignFunctionError> {
        static RUNS: AtomicI64 = AtomicI64::new(1);
        let context = CallContext {
            kept: &self.states,
            own: StageStates::default(),
            user_data: call.user_data,
            run: RUNS.fetch_add(1, Ordering::Relaxed),
            device: call.signature.device,
        };
        let none = BufferList::new(&[], &[]);
        if let Some(handler) = bundle.instantiate
            && !self.is_instantiated.swap(true, Ordering::Relaxed)
        {
            let made = self.run_stage(handler, INSTANTIATE, &context, &none, &none);
            // A handler that fails is asked again.
            self.is_instantiated.store(made.is_ok(), Ordering::Relaxed);
            made?;
        }
        let operands = BufferList::new(&call.signature.operands, &call.operands);
        let results = BufferList::new(&call.signature.results, &call.results);
        let stages = [
            (PREPARE, bundle.prepare),
            (INITIALIZE, bundle.initialize),
            (EXECUTE, bundle.execute),
        ];
        for (stage, handler) in stages {
            if let Some(handler) = handler {
                self.run_stage(handler, stage, &context, &operands, &results)?;
            }
        }
        Ok(())
    }

    unsafe fn run_stage(
        &self,
        handler: FfiHandler,
        stage: u32,
        context: &CallContext<'_>,
        operands: &BufferList,
        results: &BufferList,
    ) -> Result<(), ForeignFunctionError> {
        let mut frame = FfiCallFrame {
            struct_size: FRAME_SIZE,
            extension_start: null_mut(),
            api: &raw const API.0,
            ctx: from_ref(context).cast_mut().cast(),
            stage,
            args: FfiArguments {
                struct_size: size_of::<FfiArguments>(),
                extension_start: null_mut(),
                size: operands.pointers.len() as i64,
                types: operands.kinds.as_ptr(),
                args: operands.pointers.as_ptr(),
            },
            rets: FfiResults {
                struct_size: size_of::<FfiResults>(),
                extension_start: null_mut(),
                size: results.pointers.len() as i64,
                types: results.kinds.as_ptr(),
                rets: results.pointers.as_ptr(),
            },
            attrs: self.attributes.as_struct(),
            future: null_mut(),
        };
        take_error(handler(&raw mut frame))?;
        FfiFuture::wait(frame.future)
    }
}

/// Buffers of a call.
struct BufferList {
    kinds: Vec<u32>,
    pointers: Vec<*const FfiBuffer>,
    /// The targets of the pointers.
    _buffers: Box<[FfiBuffer]>,
    /// The sizes that the buffers refer to.
    _sizes: Vec<Vec<i64>>,
}

impl BufferList {
    fn new(types: &[ForeignArrayType], memory: &[*mut c_void]) -> BufferList {
        let sizes = types.iter().map(|ty| {
            let sizes = ty.shape.iter();
            sizes.map(|size| *size as i64).collect()
        });
        let sizes: Vec<Vec<i64>> = sizes.collect();
        let buffers = types.iter().zip(memory).zip(&sizes);
        let buffers: Box<[FfiBuffer]> = buffers
            .map(|((ty, data), sizes)| FfiBuffer {
                struct_size: size_of::<FfiBuffer>(),
                extension_start: null_mut(),
                dtype: find_element(&ty.element),
                data: *data,
                rank: sizes.len() as i64,
                dims: sizes.as_ptr(),
            })
            .collect();
        BufferList {
            kinds: vec![BUFFER; buffers.len()],
            pointers: buffers.iter().map(from_ref).collect(),
            _buffers: buffers,
            _sizes: sizes,
        }
    }
}

/// Attributes of a call in the form of C.
struct AttributeList {
    kinds: Vec<u32>,
    names: Vec<*const FfiByteSpan>,
    values: Vec<*const c_void>,
    /// The targets of the names and values.
    _spans: Box<[FfiByteSpan]>,
    _texts: Vec<String>,
    _values: Vec<AttributeContent>,
}

// SAFETY: the pointers are to content that the list owns and never changes.
unsafe impl Send for AttributeList {}
// SAFETY: as above.
unsafe impl Sync for AttributeList {}

/// The content of an attribute, which stays where it is.
enum AttributeContent {
    Scalar(
        Box<FfiScalar>,
        #[allow(dead_code, reason = "C reads it")] Box<[u64]>,
    ),
    Array(
        Box<FfiArray>,
        #[allow(dead_code, reason = "C reads it")] Box<[u64]>,
    ),
    Text(
        Box<FfiByteSpan>,
        #[allow(dead_code, reason = "C reads it")] String,
    ),
    Dictionary(
        Box<FfiAttributes>,
        #[allow(dead_code, reason = "C reads it")] Box<AttributeList>,
    ),
}

impl AttributeContent {
    fn new(attribute: &ForeignAttribute) -> AttributeContent {
        match attribute {
            ForeignAttribute::Scalar(element, bytes) => {
                let words = align_bytes(bytes);
                let scalar = FfiScalar {
                    dtype: find_element(element),
                    value: words.as_ptr().cast(),
                };
                AttributeContent::Scalar(Box::new(scalar), words)
            }
            ForeignAttribute::Array(element, bytes) => {
                let words = align_bytes(bytes);
                let size = element_size(element).max(1);
                let array = FfiArray {
                    dtype: find_element(element),
                    size: bytes.len() / size,
                    data: words.as_ptr().cast(),
                };
                AttributeContent::Array(Box::new(array), words)
            }
            ForeignAttribute::Text(text) => {
                let text = text.clone();
                AttributeContent::Text(Box::new(make_span(&text)), text)
            }
            ForeignAttribute::Dictionary(named) => {
                let list = Box::new(AttributeList::new(named));
                AttributeContent::Dictionary(Box::new(list.as_struct()), list)
            }
        }
    }

    fn kind(&self) -> u32 {
        match self {
            AttributeContent::Scalar(..) => SCALAR,
            AttributeContent::Array(..) => ARRAY,
            AttributeContent::Text(..) => STRING,
            AttributeContent::Dictionary(..) => DICTIONARY,
        }
    }

    fn as_pointer(&self) -> *const c_void {
        match self {
            AttributeContent::Scalar(value, _) => from_ref(&**value).cast(),
            AttributeContent::Array(value, _) => from_ref(&**value).cast(),
            AttributeContent::Text(value, _) => from_ref(&**value).cast(),
            AttributeContent::Dictionary(value, _) => from_ref(&**value).cast(),
        }
    }
}

/// Bytes in aligned memory.
fn align_bytes(bytes: &[u8]) -> Box<[u64]> {
    let words = bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    });
    let mut words: Vec<u64> = words.collect();
    words.push(0);
    words.into()
}

/// Bytes of an element.
fn element_size(element: &str) -> usize {
    if let Some(part) = element.strip_prefix("complex<") {
        return 2 * element_size(part.trim_end_matches('>'));
    }
    let digits = element.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let is_small_float = element.starts_with("f8") || element.starts_with("f4");
    let bits = if is_small_float {
        Some(8)
    } else {
        digits.parse::<usize>().ok()
    };
    bits.map_or(1, |bits| bits.div_ceil(8))
}

fn make_span(text: &str) -> FfiByteSpan {
    FfiByteSpan {
        ptr: text.as_ptr().cast(),
        len: text.len(),
    }
}

impl AttributeList {
    fn new(named: &[(String, ForeignAttribute)]) -> AttributeList {
        let texts: Vec<String> = named.iter().map(|(name, _)| name.clone()).collect();
        let spans: Box<[FfiByteSpan]> = texts.iter().map(|text| make_span(text)).collect();
        let values = named.iter().map(|(_, value)| AttributeContent::new(value));
        let values: Vec<AttributeContent> = values.collect();
        AttributeList {
            kinds: values.iter().map(AttributeContent::kind).collect(),
            names: spans.iter().map(from_ref).collect(),
            values: values.iter().map(AttributeContent::as_pointer).collect(),
            _spans: spans,
            _texts: texts,
            _values: values,
        }
    }

    fn as_struct(&self) -> FfiAttributes {
        FfiAttributes {
            struct_size: size_of::<FfiAttributes>(),
            extension_start: null_mut(),
            size: self.kinds.len() as i64,
            types: self.kinds.as_ptr(),
            names: self.names.as_ptr(),
            attrs: if self.values.is_empty() {
                null()
            } else {
                self.values.as_ptr()
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_elements_follow_from_their_names() {
        for (name, size) in [
            ("i1", 1),
            ("ui4", 1),
            ("i32", 4),
            ("bf16", 2),
            ("f8E4M3FN", 1),
            ("complex<f64>", 16),
        ] {
            assert_eq!(element_size(name), size, "{name}");
            assert!(find_element(name) > 0, "{name}");
        }
    }
}
