"""Sources that the tests compile."""

ADD = """
module @add {
  func.func public @main(%a: tensor<4xf32> loc("params['w']"), %b: tensor<4xf32> loc("x")) -> tensor<4xf32> {
    %0 = stablehlo.add %a, %b : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""

# A program with one operation on arrays of a type.
DOUBLE = """
func.func @main(%x: tensor<5x{0}>) -> tensor<5x{0}> {{
  %0 = stablehlo.add %x, %x : tensor<5x{0}>
  return %0 : tensor<5x{0}>
}}
"""

# Sizes that calls choose.
OPEN_SIZE = """
func.func @main(%x: tensor<?xf32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
       : (tensor<?xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
"""

SLOW = """
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<20000> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %y = %x) : tensor<i32>, tensor<f32>
    cond {
      %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %next = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.cosine %y : tensor<f32>
      stablehlo.return %next, %w : tensor<i32>, tensor<f32>
    }
  return %0#1 : tensor<f32>
}
"""

FUTHARK = """
type point = { x: f32, y: f32 }

entry dot [n] (xs: [n]f32) (ys: [n]f32): f32 = reduce (+) 0 (map2 (*) xs ys)

entry update (xs: *[]i32) (at: i64): []i32 = copy (xs with [at] = 7)

entry same (xs: []i32): []i32 = xs

entry make (x: f32): point = { x = x, y = 2 * x }

entry sum (p: point): f32 = p.x + p.y

entry pick (xs: []i32) (at: i64): i32 = xs[at]
"""

CONSUMING = """
type pair = { first: [3]i32, second: [3]i32 }

entry pair (first: [3]i32) (second: [3]i32): pair = { first, second }

entry total (p: pair): i32 = reduce (+) 0 p.first + reduce (+) 0 p.second

entry first (p: pair): [3]i32 = p.first

entry change (p: *pair): i32 =
  let first = p.first with [0] = 9
  let second = p.second with [1] = 9
  in reduce (+) 0 first + reduce (+) 0 second
"""

SAXPY = """
target triple = "spir64-unknown-unknown"

declare spir_func i64 @_Z13get_global_idj(i32)

define spir_kernel void @saxpy(ptr addrspace(1) %x, ptr addrspace(1) %y, float %a) {
  %i = call spir_func i64 @_Z13get_global_idj(i32 0)
  %px = getelementptr inbounds float, ptr addrspace(1) %x, i64 %i
  %vx = load float, ptr addrspace(1) %px
  %py = getelementptr inbounds float, ptr addrspace(1) %y, i64 %i
  %vy = load float, ptr addrspace(1) %py
  %m = fmul float %a, %vx
  %s = fadd float %m, %vy
  store float %s, ptr addrspace(1) %py
  ret void
}
"""

PRINT = """
target triple = "spir64-unknown-unknown"

@format = private unnamed_addr addrspace(2) constant [10 x i8] c"value %d\\0A\\00"

declare spir_func i32 @printf(ptr addrspace(2), ...)

define spir_kernel void @show(i32 %n) {
  %r = call spir_func i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @format, i32 %n)
  ret void
}
"""

# Adds the parts of a vector and a small number, through workgroup memory.
VALUES = """
target triple = "spir64-unknown-unknown"

define spir_kernel void @add(ptr addrspace(1) %y, ptr addrspace(3) %memory, <3 x float> %v, i16 %n, i8 %unused) {
  %a = extractelement <3 x float> %v, i32 0
  %b = extractelement <3 x float> %v, i32 1
  %c = extractelement <3 x float> %v, i32 2
  %s = fadd float %a, %b
  %t = fadd float %s, %c
  %f = sitofp i16 %n to float
  %u = fadd float %t, %f
  store float %u, ptr addrspace(3) %memory
  %w = load float, ptr addrspace(3) %memory
  store float %w, ptr addrspace(1) %y
  ret void
}
"""

# y[i] += a * x[i] for i < n. Specialisation constant 0 is the width of a workgroup.
SHADER = """
OpCapability Shader
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "saxpy" %id
OpExecutionMode %main LocalSize 1 1 1
OpName %x "x"
OpName %y "y"
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %size BuiltIn WorkgroupSize
OpDecorate %width SpecId 0
OpDecorate %floats ArrayStride 4
OpDecorate %block BufferBlock
OpMemberDecorate %block 0 Offset 0
OpDecorate %x DescriptorSet 0
OpDecorate %x Binding 0
OpDecorate %y DescriptorSet 1
OpDecorate %y Binding 2
OpDecorate %push_block Block
OpMemberDecorate %push_block 0 Offset 0
OpMemberDecorate %push_block 1 Offset 4
%void = OpTypeVoid
%void_fn = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%f32 = OpTypeFloat 32
%v3u32 = OpTypeVector %u32 3
%floats = OpTypeRuntimeArray %f32
%block = OpTypeStruct %floats
%block_ptr = OpTypePointer Uniform %block
%f32_ptr = OpTypePointer Uniform %f32
%push_block = OpTypeStruct %f32 %u32
%push_ptr = OpTypePointer PushConstant %push_block
%push_f32 = OpTypePointer PushConstant %f32
%push_u32 = OpTypePointer PushConstant %u32
%in_v3u32 = OpTypePointer Input %v3u32
%in_u32 = OpTypePointer Input %u32
%c0 = OpConstant %u32 0
%c1 = OpConstant %u32 1
%width = OpSpecConstant %u32 1
%size = OpSpecConstantComposite %v3u32 %width %c1 %c1
%id = OpVariable %in_v3u32 Input
%x = OpVariable %block_ptr Uniform
%y = OpVariable %block_ptr Uniform
%push = OpVariable %push_ptr PushConstant
%main = OpFunction %void None %void_fn
%entry = OpLabel
%i_ptr = OpAccessChain %in_u32 %id %c0
%i = OpLoad %u32 %i_ptr
%n_ptr = OpAccessChain %push_u32 %push %c1
%n = OpLoad %u32 %n_ptr
%inside = OpULessThan %bool %i %n
OpSelectionMerge %end None
OpBranchConditional %inside %then %end
%then = OpLabel
%a_ptr = OpAccessChain %push_f32 %push %c0
%a = OpLoad %f32 %a_ptr
%x_ptr = OpAccessChain %f32_ptr %x %c0 %i
%y_ptr = OpAccessChain %f32_ptr %y %c0 %i
%x_i = OpLoad %f32 %x_ptr
%y_i = OpLoad %f32 %y_ptr
%product = OpFMul %f32 %a %x_i
%sum = OpFAdd %f32 %y_i %product
OpStore %y_ptr %sum
OpBranch %end
%end = OpLabel
OpReturn
OpFunctionEnd
"""
