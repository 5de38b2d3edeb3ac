//! Partial workgroups: launches of kernels whose global size no workgroup size divides.

mod common;

use common::{compile_with, in_every_mode, run_kernel};

/// A kernel that writes for each invocation the size of its workgroup and that of whole ones along two axes, as
/// decimals, and its local id. `mode` is its execution mode.
fn kernel(mode: &str) -> String {
    let inputs = [
        ("gid", "GlobalInvocationId"),
        ("lid", "LocalInvocationId"),
        ("size", "WorkgroupSize"),
        ("whole", "EnqueuedWorkgroupSize"),
        ("all", "GlobalSize"),
    ];
    let names: String = inputs.iter().map(|row| format!(" %{}", row.0)).collect();
    let rows = |text: fn(&str, &str) -> String| -> String {
        inputs.iter().map(|row| text(row.0, row.1)).collect()
    };
    let decorations = rows(|name, input| format!("OpDecorate %{name} BuiltIn {input}\n"));
    let variables = rows(|name, _| format!("%{name} = OpVariable %pid Input\n"));
    let loads = rows(|name, _| {
        format!(
            "%{name}3 = OpLoad %id %{name}\n%{name}x = OpCompositeExtract %ulong %{name}3 0\n\
             %{name}y = OpCompositeExtract %ulong %{name}3 1\n"
        )
    });
    let digits: String = ["sizey", "wholex", "wholey", "lidx", "lidy"]
        .iter()
        .scan("sizex".to_owned(), |number, digit| {
            let next = format!("n{digit}");
            let line = format!(
                "%m{digit} = OpIMul %ulong %{number} %n10\n%{next} = OpIAdd %ulong %m{digit} %{digit}\n"
            );
            *number = next;
            Some(line)
        })
        .collect();
    format!(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\n\
         OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %main \"main\"{names}\n{mode}\n\
         {decorations}%void = OpTypeVoid\n%ulong = OpTypeInt 64 0\n%id = OpTypeVector %ulong 3\n\
         %pid = OpTypePointer Input %id\n%global = OpTypePointer CrossWorkgroup %ulong\n\
         %n10 = OpConstant %ulong 10\n{variables}%fn = OpTypeFunction %void %global\n\
         %main = OpFunction %void None %fn\n%out = OpFunctionParameter %global\n%entry = OpLabel\n\
         {loads}{digits}%row = OpIMul %ulong %gidy %allx\n%at = OpIAdd %ulong %row %gidx\n\
         %to = OpInBoundsPtrAccessChain %global %out %at\nOpStore %to %nlidy\nOpReturn\n\
         OpFunctionEnd\n"
    )
}

#[test]
fn the_last_workgroups_of_a_kernel_are_smaller() {
    let (width, height) = (11_u64, 5_u64);
    for local in [[8_u32, 2, 1], [4, 3, 1], [3, 1, 1], [1, 4, 1]] {
        let [x, y, _] = local.map(u64::from);
        let mode = format!(
            "OpExecutionMode %main LocalSize {} {} 1",
            local[0], local[1]
        );
        for mode in [String::new(), mode] {
            let found = in_every_mode(|options| {
                let kernel = compile_with(&kernel(&mode), &[], options);
                let kernel = kernel.unwrap_or_else(|faults| panic!("{}", faults[0]));
                let mut buffers = [vec![7; (width * height) as usize]];
                let global = [width, height, 1];
                run_kernel(&kernel, global, Some(local), &mut buffers, &[]).unwrap();
                buffers
            });
            for (n, found) in (0..).zip(&found[0]) {
                let (gx, gy) = (n % width, n / width);
                let size_x = x.min(width - gx / x * x);
                let size_y = y.min(height - gy / y * y);
                let digits = [size_x, size_y, x, y, gx % x, gy % y];
                let expected = digits.iter().fold(0, |number, digit| number * 10 + digit);
                assert_eq!(
                    *found, expected,
                    "{mode} of {local:?}, invocation {gx} {gy}"
                );
            }
        }
    }
}
