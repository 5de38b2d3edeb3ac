//! The shaders of the tests.

/// The beginning of a shader of workgroups of 8: `%gid3` has the global id, `globals` the resources.
pub fn shader(decorations: &str, globals: &str, body: &str) -> String {
    format!(
        "OpCapability Shader
OpCapability StorageImageReadWithoutFormat
OpCapability StorageImageWriteWithoutFormat
OpCapability ImageQuery
OpCapability Int64
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main \"main\" %gid
OpExecutionMode %main LocalSize 8 1 1
OpDecorate %gid BuiltIn GlobalInvocationId
{decorations}
%void = OpTypeVoid
%bool = OpTypeBool
%uint = OpTypeInt 32 0
%int = OpTypeInt 32 1
%long = OpTypeInt 64 1
%float = OpTypeFloat 32
%uint2 = OpTypeVector %uint 2
%uint3 = OpTypeVector %uint 3
%uint4 = OpTypeVector %uint 4
%int2 = OpTypeVector %int 2
%int3 = OpTypeVector %int 3
%int4 = OpTypeVector %int 4
%long4 = OpTypeVector %long 4
%float2 = OpTypeVector %float 2
%float4 = OpTypeVector %float 4
%n0 = OpConstant %uint 0
%n1 = OpConstant %uint 1
%n2 = OpConstant %uint 2
%n3 = OpConstant %uint 3
%n4 = OpConstant %uint 4
%n8 = OpConstant %uint 8
%pin = OpTypePointer Input %uint3
%gid = OpVariable %pin Input
%fn = OpTypeFunction %void
{globals}
%main = OpFunction %void None %fn
%entry = OpLabel
%gid3 = OpLoad %uint3 %gid
%global = OpCompositeExtract %uint %gid3 0
{body}
OpReturn
OpFunctionEnd
"
    )
}

/// Decorations that bind variables to set 0 in order.
pub fn bound(names: &[&str]) -> String {
    let one = |(n, name): (usize, &&str)| {
        format!("OpDecorate %{name} DescriptorSet 0\nOpDecorate %{name} Binding {n}\n")
    };
    names.iter().enumerate().map(one).collect()
}

/// A block of numbers, `%out`, with pointers `%pnumber` to them.
pub fn block(number: &str) -> (String, String) {
    let decorations = "OpDecorate %numbers ArrayStride 4
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
";
    let globals = format!(
        "%numbers = OpTypeRuntimeArray %{number}
%block = OpTypeStruct %numbers
%pblock = OpTypePointer StorageBuffer %block
%pnumber = OpTypePointer StorageBuffer %{number}
%out = OpVariable %pblock StorageBuffer
"
    );
    (decorations.to_owned(), globals)
}

/// Copies eight columns of an image, a row for each workgroup.
pub fn copy(integers: bool, wide: bool) -> String {
    let (number, texel) = match (integers, wide) {
        (true, true) => ("long", "long4"),
        (true, false) => ("int", "int4"),
        _ => ("float", "float4"),
    };
    let globals = format!(
        "%image = OpTypeImage %{number} 2D 0 0 0 2 Unknown
%pimage = OpTypePointer UniformConstant %image
%from = OpVariable %pimage UniformConstant
%to = OpVariable %pimage UniformConstant"
    );
    let body = format!(
        "%column = OpUMod %uint %global %n8
%row = OpUDiv %uint %global %n8
%at = OpCompositeConstruct %uint2 %column %row
%source = OpLoad %image %from
%texel = OpImageRead %{texel} %source %at
%target = OpLoad %image %to
OpImageWrite %target %at %texel"
    );
    shader(&bound(&["from", "to"]), &globals, &body)
}

/// Reads and writes beyond a storage image of 4 by 4 texels, in all directions.
pub fn far() -> String {
    let (decorations, globals) = block("float");
    let globals = format!(
        "%image = OpTypeImage %float 2D 0 0 0 2 Rgba32f
%pimage = OpTypePointer UniformConstant %image
%from = OpVariable %pimage UniformConstant
%f1 = OpConstant %float 1
%ones = OpConstantComposite %float4 %f1 %f1 %f1 %f1
{globals}"
    );
    let body = "%beyond = OpIAdd %uint %global %n4
%before = OpNot %uint %global
%at = OpCompositeConstruct %uint2 %beyond %n0
%over = OpCompositeConstruct %uint2 %n0 %before
%source = OpLoad %image %from
%texel = OpImageRead %float4 %source %at
%other = OpImageRead %float4 %source %over
OpImageWrite %source %at %ones
OpImageWrite %source %over %ones
%red = OpCompositeExtract %float %texel 0
%green = OpCompositeExtract %float %texel 1
%blue = OpCompositeExtract %float %other 2
%alpha = OpCompositeExtract %float %other 3
%first = OpIMul %uint %global %n4
%second = OpIAdd %uint %first %n1
%third = OpIAdd %uint %first %n2
%fourth = OpIAdd %uint %first %n3
%p0 = OpAccessChain %pnumber %out %n0 %first
OpStore %p0 %red
%p1 = OpAccessChain %pnumber %out %n0 %second
OpStore %p1 %green
%p2 = OpAccessChain %pnumber %out %n0 %third
OpStore %p2 %blue
%p3 = OpAccessChain %pnumber %out %n0 %fourth
OpStore %p3 %alpha";
    shader(&(bound(&["from", "out"]) + &decorations), &globals, body)
}

/// Counts in row 1 of an image of words, two invocations to a column.
pub fn count() -> String {
    let globals = "%image = OpTypeImage %uint 2D 0 0 0 2 R32ui
%pimage = OpTypePointer UniformConstant %image
%ptexel = OpTypePointer Image %uint
%counts = OpVariable %pimage UniformConstant";
    let body = "%column = OpUMod %uint %global %n4
%at = OpCompositeConstruct %uint2 %column %n1
%texel = OpImageTexelPointer %ptexel %counts %at %n0
%old = OpAtomicIAdd %uint %texel %n1 %n0 %n1";
    shader(&bound(&["counts"]), globals, body)
}

/// Width, height and layers of level 1, and the number of levels.
pub fn sizes() -> String {
    let (decorations, globals) = block("uint");
    let globals = format!(
        "%image = OpTypeImage %float 2D 0 1 0 1 Unknown
%pimage = OpTypePointer UniformConstant %image
%from = OpVariable %pimage UniformConstant
{globals}"
    );
    let body = "%source = OpLoad %image %from
%size = OpImageQuerySizeLod %uint3 %source %n1
%levels = OpImageQueryLevels %uint %source
%width = OpCompositeExtract %uint %size 0
%height = OpCompositeExtract %uint %size 1
%layers = OpCompositeExtract %uint %size 2
%p0 = OpAccessChain %pnumber %out %n0 %n0
OpStore %p0 %width
%p1 = OpAccessChain %pnumber %out %n0 %n1
OpStore %p1 %height
%p2 = OpAccessChain %pnumber %out %n0 %n2
OpStore %p2 %layers
%p3 = OpAccessChain %pnumber %out %n0 %n3
OpStore %p3 %levels";
    shader(&(bound(&["from", "out"]) + &decorations), &globals, body)
}

/// Samples at a quarter, a half, … along x, in the middle of the first two rows, from a combined image and sampler or
/// from two bindings.
pub fn sampled(both: bool) -> String {
    let (decorations, globals) = block("float");
    let names: &[&str] = if both {
        &["from", "out"]
    } else {
        &["from", "smp", "out"]
    };
    let (variables, load) = if both {
        (
            "%pimage = OpTypePointer UniformConstant %pair
%from = OpVariable %pimage UniformConstant",
            "%sampled = OpLoad %pair %from",
        )
    } else {
        (
            "%sampler = OpTypeSampler
%pimage = OpTypePointer UniformConstant %image
%psampler = OpTypePointer UniformConstant %sampler
%from = OpVariable %pimage UniformConstant
%smp = OpVariable %psampler UniformConstant",
            "%source = OpLoad %image %from
%used = OpLoad %sampler %smp
%sampled = OpSampledImage %pair %source %used",
        )
    };
    let globals = format!(
        "%image = OpTypeImage %float 2D 0 0 0 1 Unknown
%pair = OpTypeSampledImage %image
%f0 = OpConstant %float 0
%quarter = OpConstant %float 0.25
{variables}
{globals}"
    );
    let body = format!(
        "{load}
%column = OpUMod %uint %global %n4
%next = OpIAdd %uint %column %n1
%number = OpConvertUToF %float %next
%x = OpFMul %float %number %quarter
%at = OpCompositeConstruct %float2 %x %quarter
%texel = OpImageSampleExplicitLod %float4 %sampled %at Lod %f0
%red = OpCompositeExtract %float %texel 0
%p = OpAccessChain %pnumber %out %n0 %global
OpStore %p %red"
    );
    shader(&(bound(names) + &decorations), &globals, &body)
}
