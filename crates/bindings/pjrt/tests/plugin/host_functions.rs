//! Functions of the host that programs call: registered by the extension of PJRT, and called with memory of the device.

use crate::caller::{TestClient, make_arguments, table, take_error};
use spirula_pjrt::ffi::FfiExtension;
use spirula_pjrt::ffi::extension::RegisterHandlerArgs;
use spirula_pjrt::ffi::interface::{
    FfiBuffer, FfiCallFrame, FfiErrorCreateArgs, FfiErrorObject, FfiScalar,
};
use spirula_pjrt::generated::{PjrtErrorCode, PjrtExtensionType};
use std::ffi::c_void;
use std::ptr::null_mut;
use std::slice;
use std::sync::LazyLock;

/// Registers a function by the extension.
fn register(name: &str, api_version: i32, handler: *mut c_void) {
    let mut extension = table().extension_start;
    // SAFETY: the list of extensions lives as long as the process, and each says its type.
    unsafe {
        while (*extension).ty != PjrtExtensionType::FFI {
            extension = (*extension).next;
        }
        let extension = &*extension.cast::<FfiExtension>();
        let mut arguments = make_arguments::<RegisterHandlerArgs>();
        arguments.target_name = name.as_ptr().cast();
        arguments.target_name_size = name.len();
        arguments.api_version = api_version;
        arguments.handler = handler;
        take_error((extension.register_handler)(&raw mut arguments)).expect("it is registered");
    }
}

unsafe fn floats<'a>(buffer: *const FfiBuffer) -> &'a mut [f32] {
    let sizes = slice::from_raw_parts((*buffer).dims, (*buffer).rank as usize);
    let count: i64 = sizes.iter().product();
    slice::from_raw_parts_mut((*buffer).data.cast(), count as usize)
}

/// y = x * factor. A negative factor is an error.
unsafe extern "C" fn scale(frame: *mut FfiCallFrame) -> *mut FfiErrorObject {
    let frame = &*frame;
    let factor = *(*(*frame.attrs.attrs).cast::<FfiScalar>())
        .value
        .cast::<f32>();
    if factor < 0.0 {
        let mut arguments = FfiErrorCreateArgs {
            struct_size: size_of::<FfiErrorCreateArgs>(),
            extension_start: null_mut(),
            message: c"the factor is negative".as_ptr(),
            errc: 11,
        };
        return ((*frame.api).error_create)(&raw mut arguments);
    }
    let (x, y) = (floats(*frame.args.args), floats(*frame.rets.rets));
    y.iter_mut().zip(x).for_each(|(y, x)| *y = *x * factor);
    null_mut()
}

/// The client whose programs call the functions.
static CLIENT: LazyLock<TestClient> = LazyLock::new(TestClient::new);

/// Runs another program on the device whose program calls it.
unsafe extern "C" fn nest(frame: *mut FfiCallFrame) -> *mut FfiErrorObject {
    let frame = &*frame;
    let client = &*CLIENT;
    let inner = client.compile(&scaling("2.0")).expect("it compiles");
    let x = floats(*frame.args.args);
    let given = client.upload(x, &[4], &[]);
    let doubled = inner.run(&[&given]).expect("it runs");
    let doubled = doubled.download().expect("it is there");
    floats(*frame.rets.rets).copy_from_slice(&doubled);
    null_mut()
}

/// The negation of four numbers, by the convention before typed calls.
unsafe extern "C" fn negate(result: *mut c_void, arguments: *const *const c_void) {
    let x = slice::from_raw_parts((*arguments).cast::<f32>(), 4);
    let y = slice::from_raw_parts_mut(result.cast::<f32>(), 4);
    y.iter_mut().zip(x).for_each(|(y, x)| *y = -x);
}

/// A program that scales by the function, and adds 1.
fn scaling(factor: &str) -> String {
    format!(
        r#"module @scale {{
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = stablehlo.custom_call @plugin.scale(%a) {{api_version = 4 : i32, backend_config = {{factor = {factor} : f32}}}} : (tensor<4xf32>) -> tensor<4xf32>
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %1 = stablehlo.add %0, %one : tensor<4xf32>
    return %1 : tensor<4xf32>
  }}
}}"#
    )
}

fn calling(target: &str) -> String {
    format!(
        r#"module @call {{
  func.func public @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
    %0 = stablehlo.custom_call @{target}(%a) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }}
}}"#
    )
}

#[test]
fn registered_functions_are_called() {
    register("plugin.scale", 1, scale as *mut c_void);
    register("plugin.nest", 1, nest as *mut c_void);
    register("plugin.negate", 0, negate as *mut c_void);
    let client = &*CLIENT;
    let given = client.upload(&[0.0, 1.0, 2.0, 3.0], &[4], &[]);
    let run = |code: &str| {
        let program = client.compile(code).expect("it compiles");
        program.run(&[&given]).and_then(|sum| sum.download())
    };
    let scaled = run(&scaling("3.0")).expect("it is there");
    assert_eq!(scaled, [1.0, 4.0, 7.0, 10.0]);
    let failed = run(&scaling("-1.0")).expect_err("it fails");
    assert_eq!(failed.code, PjrtErrorCode::OUT_OF_RANGE);
    assert!(
        failed.message.ends_with("the factor is negative"),
        "{}",
        failed.message
    );
    let negated = run(&calling("plugin.negate")).expect("it is there");
    assert_eq!(negated, [0.0, -1.0, -2.0, -3.0]);
    let nested = run(&calling("plugin.nest")).expect("it is there");
    assert_eq!(nested, [1.0, 3.0, 5.0, 7.0]);
    let Err(missing) = client.compile(&calling("plugin.missing")) else {
        panic!("there is no function");
    };
    assert_eq!(missing.code, PjrtErrorCode::UNIMPLEMENTED);
    assert!(
        missing.message.contains("@plugin.missing"),
        "{}",
        missing.message
    );
}
