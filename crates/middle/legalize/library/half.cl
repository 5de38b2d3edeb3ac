// What halves do not do as floats.
#pragma OPENCL EXTENSION cl_khr_fp16 : enable

half f_nextafter_16(half x, half y) {
  if (isnan(x) || isnan(y))
    return (half)NAN;
  if (x == y)
    return y;
  ushort bits = as_ushort(x);
  if ((bits & 0x7fff) == 0)
    return as_half((ushort)(1 | (as_ushort(y) & 0x8000)));
  return as_half((ushort)((x < y) == (x > (half)0.0f) ? bits + 1 : bits - 1));
}
