kernel void saxpy(uint n, float a, global const float *x, global float *y) {
  size_t i = get_global_id(0);
  if (i < n) y[i] += a * x[i];
}
