// Types, attributes and elements.
#alias = [1, #later]
!rows = tensor<?x4x!quant.uniform<u8:f32:1, {0.5:128, 0.25, 1.0:3, 2.0}>>
module attributes {
    a.alias = #alias, a.bits = [0xFF : i8, 0x7FC00000 : f32, 0x7C00 : f16, -1 : si8, 255 : ui8, 1 : index, -9.5, true],
    a.arrays = [array<i1: true, false>, array<i8: -1>, array<f32: 1.5>, array<i64>],
    a.text = "tab\09 quote\" line\n \\", a.bytes = "\FF\FE", a.ref = @x::@"y z", a.unit,
    a.types = [!rows, tensor<*xi1>, tensor<4xf8E4M3FN, #stablehlo.bounds<?>>, vector<2x[4]xf32>, memref<2x?xf32, strided<[?, 1]>, 3>, memref<*xi8>, (i1) -> ((i2) -> i3), complex<f64>, f4E2M1FN, !other.thing<{a = [1], "x>"}>, none],
    a.elements = [dense<[[true, false]]> : tensor<1x2xi1>, dense<"0x0D"> : tensor<4xi1>, dense<"0xFF"> : tensor<70xi1>, dense<0x7F800001> : tensor<2xf32>, dense<[(1, -2), (3, 4)]> : tensor<2xcomplex<i32>>, dense<1> : tensor<0xi32>, dense<[]> : tensor<0xf32>, dense<[[], []]> : tensor<2x0xf32>, dense<[1, 1, 1]> : tensor<3xui2>, dense<-8> : tensor<i4>],
    a.dialects = [#stablehlo.channel_handle<handle = 1, type = 2>, #stablehlo<channel_handle handle = 1, type = 2>, #stablehlo.precision<HIGH>, #other<thing {x = 1}>, #other.thing, #sdy.op_sharding_rule<([i])->([i]) {i=4}, custom>],
    a.maps = [affine_map<(d0, d1)[s0] -> (d1 - d0 * 3 + s0 + 2 - 5, d0 mod 4 floordiv 2, -(d0 + 1))>, affine_set<(d0) : (d0 - 3 >= 0, 10 >= d0)>]} {
}
#later = "later"
