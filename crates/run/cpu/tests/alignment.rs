//! Alignment of variables: the address of each is a multiple of what its type or its decoration demands.

mod common;

use common::{compile_with, in_every_mode, run_kernel};

/// Types with their alignment, in an order in which tight offsets are wrong for most.
const TYPES: [(&str, u64); 8] = [
    ("uchar", 1),
    ("ulong16", 128),
    ("uchar", 1),
    ("ulong3", 32),
    ("ushort16", 32),
    ("holder", 128),
    ("uchar", 1),
    ("rows", 64),
];

/// A kernel that writes the addresses of variables of a storage class, and one whose decoration demands 64 bytes. A
/// function that is not inlined has variables of its own.
fn kernel(class: &str) -> String {
    let names: Vec<String> = (0..=TYPES.len()).map(|n| format!("v{n}")).collect();
    let type_of = |n: usize| TYPES.get(n).map_or("uchar", |row| row.0);
    let mut variables = String::new();
    for (n, name) in names.iter().enumerate() {
        let ty = type_of(n);
        variables += &format!("%{name} = OpVariable %p{ty} {class}\n");
    }
    let mut stores = String::new();
    for (n, name) in names.iter().enumerate() {
        stores += &format!(
            "%a{n} = OpConvertPtrToU %ulong %{name}\n%o{n} = OpIAdd %ulong %first %i{n}\n\
             %t{n} = OpInBoundsPtrAccessChain %global %out %o{n}\nOpStore %t{n} %a{n}\n"
        );
    }
    let (global, local) = match class {
        "Function" => (String::new(), variables),
        _ => (variables, String::new()),
    };
    let numbers: String = (0..=TYPES.len())
        .map(|n| format!("%i{n} = OpConstant %ulong {n}\n"))
        .collect();
    let mut pointers = String::new();
    for ty in ["uchar", "ulong16", "ulong3", "ushort16", "holder", "rows"] {
        pointers += &format!("%p{ty} = OpTypePointer {class} %{ty}\n");
    }
    format!(
        "OpCapability Kernel\nOpCapability Addresses\nOpCapability Int64\nOpCapability Int16\n\
         OpCapability Int8\nOpCapability Vector16\nOpMemoryModel Physical64 OpenCL\n\
         OpEntryPoint Kernel %main \"main\" %gid\nOpDecorate %gid BuiltIn GlobalInvocationId\n\
         OpDecorate %v{last} Alignment 64\n\
         %void = OpTypeVoid\n%ulong = OpTypeInt 64 0\n%ushort = OpTypeInt 16 0\n\
         %uchar = OpTypeInt 8 0\n%id = OpTypeVector %ulong 3\n%pid = OpTypePointer Input %id\n\
         %ulong16 = OpTypeVector %ulong 16\n%ulong3 = OpTypeVector %ulong 4\n\
         %ushort16 = OpTypeVector %ushort 16\n%ulong8 = OpTypeVector %ulong 8\n\
         %n3 = OpConstant %ulong 3\n%n9 = OpConstant %ulong {count}\n\
         %holder = OpTypeStruct %uchar %ulong16 %uchar\n%rows = OpTypeArray %ulong8 %n3\n\
         {numbers}{pointers}%global = OpTypePointer CrossWorkgroup %ulong\n\
         %gid = OpVariable %pid Input\n{global}%fn = OpTypeFunction %void %global %ulong\n\
         %kernel_fn = OpTypeFunction %void %global\n\
         %inner = OpFunction %void DontInline %fn\n%out = OpFunctionParameter %global\n\
         %first = OpFunctionParameter %ulong\n%inner_entry = OpLabel\n{local}{stores}OpReturn\n\
         OpFunctionEnd\n\
         %main = OpFunction %void None %kernel_fn\n%to = OpFunctionParameter %global\n\
         %entry = OpLabel\n%g = OpLoad %id %gid\n%n = OpCompositeExtract %ulong %g 0\n\
         %at = OpIMul %ulong %n %n9\n%called = OpFunctionCall %void %inner %to %at\nOpReturn\n\
         OpFunctionEnd\n",
        last = TYPES.len(),
        count = TYPES.len() + 1,
    )
}

#[test]
fn variables_of_every_class_are_aligned() {
    for class in ["Function", "Private", "Workgroup", "CrossWorkgroup"] {
        for text in [kernel(class), kernel(class).replace("DontInline", "Inline")] {
            in_every_mode(|options| {
                let kernel = compile_with(&text, &[], options);
                let kernel = kernel.unwrap_or_else(|faults| panic!("{class}: {}", faults[0]));
                let mut buffers = [vec![7; 16 * (TYPES.len() + 1)]];
                run_kernel(&kernel, [16, 1, 1], Some([8, 1, 1]), &mut buffers, &[]).unwrap();
                for addresses in buffers[0].chunks(TYPES.len() + 1) {
                    for (n, address) in addresses.iter().enumerate() {
                        let align = TYPES.get(n).map_or(64, |row| row.1);
                        assert_eq!(address % align, 0, "{class}, variable {n}: {address:x}");
                    }
                }
            });
        }
    }
}
