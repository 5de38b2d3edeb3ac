// Functions of floats within OpenCL's bounds, which those of Vulkan are not held to. Only sums, products,
// quotients, square roots and operations on bits are used, none of them fused. Each function is called
// f_<name>_32 for the one of OpenCL.std that it computes; halves go through them.
#pragma OPENCL FP_CONTRACT OFF

static float power_of_two(int n) { return as_float((uint)(n + 127) << 23); }

// x * 2^n for |n| < 378, rounded once unless the result is denormal.
static float scaled(float x, int n) {
  int a = n / 2;
  int first = a < -126 ? -126 : a > 127 ? 127 : a, second = n - first;
  if (second > 127)
    return x * power_of_two(first) * power_of_two(127) * power_of_two(second - 127);
  if (second < -126)
    return x * power_of_two(first) * power_of_two(-126) * power_of_two(second + 126);
  return x * power_of_two(first) * power_of_two(second);
}

// The upper 12 bits of the mantissa: products of such are exact.
static float upper(float x) { return as_float(as_uint(x) & 0xfffff000u); }

// What is lost when product = a * b is rounded.
static float lost(float a, float b, float product) {
  float x = upper(a), y = upper(b);
  return ((x * y - product) + x * (b - y) + (a - x) * y) + (a - x) * (b - y);
}

// exp(r + low) - 1 for |r| <= 0.36.
static float exp_less_one(float r, float low) {
  float p = 2.4801587e-05f;
  p = p * r + 1.98412698e-04f;
  p = p * r + 1.38888889e-03f;
  p = p * r + 8.33333333e-03f;
  p = p * r + 4.16666667e-02f;
  p = p * r + 1.66666667e-01f;
  p = p * r + 0.5f;
  return r + (low + r * r * p);
}

// exp(r + low) for |r| <= 0.36, rounded once: what is lost of 1 + r + r * r / 2 is kept, and the rest is small.
static float exp_rounded(float r, float low) {
  float square = r * r, half_square = 0.5f * square;
  float p = 2.48015873e-05f;
  p = p * r + 1.98412698e-04f;
  p = p * r + 1.38888889e-03f;
  p = p * r + 8.33333333e-03f;
  p = p * r + 4.16666667e-02f;
  p = p * r + 1.66666667e-01f;
  float a = 1.0f + r, b = a + half_square;
  float kept = (r - (a - 1.0f)) + (half_square - (b - a));
  float cube = square * r * p;
  return b + (kept + (cube + (0.5f * lost(r, r, square) + low * (b + cube))));
}

#define LN2_HIGH 0.693359375f
#define LN2_LOW -2.12194440e-4f
#define LN2_REST 1.64659496e-12f

// exp(x + low) * 2^k.
static float exp_times(float x, float low, int k) {
  float n = rint(x * 1.44269504f);
  float r = x - n * LN2_HIGH, t = n * LN2_LOW;
  float s = r - t;
  return scaled(1.0f + exp_less_one(s, ((r - s) - t) + low), (int)n + k);
}

float f_exp_32(float x) {
  if (!(x < 89.0f))
    return x > 0.0f ? INFINITY : x;
  return x < -104.0f ? 0.0f : exp_times(x, 0.0f, 0);
}

float f_exp2_32(float x) {
  if (!(x < 128.0f))
    return x > 0.0f ? INFINITY : x;
  if (x < -150.0f)
    return 0.0f;
  float n = rint(x), r = x - n;
  return scaled(1.0f + exp_less_one(r * 0.693147182f, r * -1.9046542e-09f), (int)n);
}

float f_exp10_32(float x) {
  if (!(x < 38.6f))
    return x > 0.0f ? INFINITY : x;
  if (x < -45.5f)
    return 0.0f;
  float n = rint(x * 3.32192809f);
  // log10(2) in two parts, the first of few bits.
  float r = (x - n * 0.30078125f) - n * 2.48745666e-04f;
  float h = r * 2.30258512f;
  return scaled(1.0f + exp_less_one(h, lost(r, 2.30258512f, h) - r * 3.1975e-08f), (int)n);
}

float f_expm1_32(float x) {
  if (!(x < 89.0f))
    return x > 0.0f ? INFINITY : x;
  if (x < -20.0f)
    return -1.0f;
  if (fabs(x) < 1e-5f)
    return x + 0.5f * x * x;
  float n = rint(x * 1.44269504f);
  float r = x - n * LN2_HIGH, t = n * LN2_LOW;
  float s = r - t;
  float p = exp_less_one(s, (r - s) - t);
  if (n == 0.0f)
    return p;
  if (n > 26.0f)
    return scaled(1.0f + p, (int)n);
  return scaled(p + (1.0f - power_of_two(-(int)n)), (int)n);
}

// Mantissa in [sqrt(1/2), sqrt(2)) and exponent of a positive number.
static float split(float x, int *exponent) {
  int e = 0;
  uint bits = as_uint(x);
  if (bits < 0x800000u) {
    // Denormal: by integers, as products may take it for zero.
    int zeros = (int)clz(bits) - 8;
    bits <<= zeros;
    e = 1 - zeros;
    bits &= 0x7fffffu;
  } else {
    e = (int)(bits >> 23);
    bits &= 0x7fffffu;
  }
  e -= 127;
  float m = as_float(bits | 0x3f800000u);
  if (m > 1.41421356f) {
    m *= 0.5f;
    e++;
  }
  *exponent = e;
  return m;
}

// log(1 + f) - f + f * f / 2 for 1 + f in [sqrt(1/2), sqrt(2)).
static float log_rest(float f, float half_square) {
  float s = f / (2.0f + f), z = s * s;
  float r = 2.0f / 11.0f;
  r = r * z + 2.0f / 9.0f;
  r = r * z + 2.0f / 7.0f;
  r = r * z + 2.0f / 5.0f;
  r = r * z + 2.0f / 3.0f;
  return s * (half_square + r * z);
}

// Results for what is no positive finite number.
static float log_edge(float x) { return x == 0.0f ? -INFINITY : x > 0.0f ? x : NAN; }

static float log_of(float x, int more) {
  int n;
  float f = split(x, &n) - 1.0f, k = (float)(n + more);
  float half_square = 0.5f * f * f;
  float rest = log_rest(f, half_square);
  return k * LN2_HIGH - ((half_square - (rest + k * LN2_LOW)) - f);
}

float f_log_32(float x) { return x > 0.0f && x < INFINITY ? log_of(x, 0) : log_edge(x); }

// log(x) * factor + exponent * scale, the factor in two parts.
static float log_scaled(float x, float factor, float low, float scale, float scale_low) {
  int n;
  float f = split(x, &n) - 1.0f, k = (float)n;
  float half_square = 0.5f * f * f;
  float high = upper(f - half_square);
  float rest = ((f - high) - half_square) + log_rest(f, half_square);
  float a = upper(factor), b = (factor - a) + low;
  float sum = k * scale, part = high * a;
  float total = sum + part;
  float error = (sum - total) + part;
  return total + (error + (k * scale_low + (rest * factor + high * b)));
}

float f_log2_32(float x) {
  return x > 0.0f && x < INFINITY ? log_scaled(x, 1.44269502f, 1.92596299e-08f, 1.0f, 0.0f) : log_edge(x);
}

float f_log10_32(float x) {
  return x > 0.0f && x < INFINITY
             ? log_scaled(x, 4.34294492e-01f, -1.01030501e-08f, 0.30078125f, 2.48745666e-04f)
             : log_edge(x);
}

float f_log1p_32(float x) {
  if (fabs(x) < 1e-7f)
    return x;
  if (!(x > -1.0f) || isinf(x))
    return x == -1.0f ? -INFINITY : x > 0.0f ? x : NAN;
  float u = 1.0f + x;
  float c = x > 1.0f ? 1.0f - (u - x) : x - (u - 1.0f);
  int n;
  float f = split(u, &n) - 1.0f, k = (float)n;
  float half_square = 0.5f * f * f;
  float rest = log_rest(f, half_square) + (k * LN2_LOW + c / u);
  return k * LN2_HIGH - ((half_square - rest) - f);
}

// log(x) of a positive finite number in two parts, of about 40 bits.
static float log_exact(float x, float *low) {
  int n;
  float f = split(x, &n) - 1.0f, k = (float)n;
  float d = 2.0f + f, s = f / d;
  float d_low = (2.0f - d) + f;
  float p = s * d;
  float s_low = (((f - p) - lost(s, d, p)) - s * d_low) / d;
  float z = s * s;
  float z_low = lost(s, s, z) + 2.0f * s * s_low;
  float r = 2.0f / 13.0f;
  r = r * z + 2.0f / 11.0f;
  r = r * z + 2.0f / 9.0f;
  r = r * z + 2.0f / 7.0f;
  r = r * z + 2.0f / 5.0f;
  // 2/3 s^3 with its first product in two parts.
  float c = 0.666666687f, c_low = -1.98682e-08f;
  float q = s * z, q_low = lost(s, z, q) + s * z_low + s_low * z;
  float t = q * c, t_low = lost(q, c, t) + q * c_low + q_low * c + q * z * r;
  float a = k * LN2_HIGH, b = 2.0f * s;
  // The largest first.
  float sum = a + b;
  float v = sum - a;
  float error = (a - (sum - v)) + (b - v);
  float total = sum + t;
  v = total - sum;
  error += (sum - (total - v)) + (t - v);
  error += t_low + 2.0f * s_low + (k * LN2_LOW + k * LN2_REST);
  float high = total + error;
  *low = error - (high - total);
  return high;
}

// x to the power of y + y_low, x positive and finite, times 2^k.
static float power(float x, float y, float y_low, int k) {
  float low, high = log_exact(x, &low);
  float product = high * y;
  if (!(fabs(product) < 200.0f))
    return product > 0.0f ? INFINITY : 0.0f;
  float rest = lost(high, y, product) + low * y + high * y_low;
  float n = rint(product * 1.44269504f);
  if (fabs(n) > 200.0f)
    return n > 0.0f ? INFINITY : 0.0f;
  float r = product - n * LN2_HIGH, t = n * LN2_LOW;
  float s = r - t;
  float error = ((r - s) - t) + (rest - (lost(n, LN2_LOW, t) + n * LN2_REST));
  float sum = s + error;
  return scaled(exp_rounded(sum, error - (sum - s)), (int)n + k);
}

// The power of any number, given what is known of the exponent.
static float power_of(float x, float y, float y_low, bool is_whole, bool is_odd) {
  float size = fabs(x), result;
  if (size == 0.0f || isinf(size))
    result = (size == 0.0f) == (y > 0.0f) ? 0.0f : INFINITY;
  else if (x < 0.0f && !is_whole)
    return NAN;
  else
    result = size == 1.0f ? 1.0f : power(size, y, y_low, 0);
  return is_odd && signbit(x) ? -result : result;
}

float f_pow_32(float x, float y) {
  if (y == 0.0f || x == 1.0f)
    return 1.0f;
  if (isnan(x) || isnan(y))
    return NAN;
  float size = fabs(x);
  if (isinf(y)) {
    if (size == 1.0f)
      return 1.0f;
    return (size > 1.0f) == (y > 0.0f) ? INFINITY : 0.0f;
  }
  bool is_whole = rint(y) == y;
  return power_of(x, y, 0.0f, is_whole, is_whole && rint(0.5f * y) != 0.5f * y);
}

float f_powr_32(float x, float y) {
  if (!(x >= 0.0f) || isnan(y))
    return NAN;
  if (y == 0.0f)
    return x == 0.0f || isinf(x) ? NAN : 1.0f;
  if (isinf(y) && x == 1.0f)
    return NAN;
  return f_pow_32(fabs(x), y);
}

float f_pown_32(float x, int n) {
  if (n == 0)
    return 1.0f;
  if (isnan(x))
    return x;
  float y = (float)(n & ~0xff), y_low = (float)(n & 0xff);
  float sum = y + y_low;
  return power_of(x, sum, y_low - (sum - y), true, n & 1);
}

float f_rootn_32(float x, int n) {
  if (n == 0 || isnan(x) || (x < 0.0f && !(n & 1)))
    return NAN;
  float d = (float)n, y = 1.0f / d, p = y * d;
  float d_low = (float)(n - (int)(n == 2147483647 ? 2147483520.0f : d));
  float y_low = (((1.0f - p) - lost(y, d, p)) - y * d_low) / d;
  return power_of(x, y, y_low, true, n & 1);
}

float f_cbrt_32(float x) {
  float size = fabs(x);
  if (!(size > 0.0f) || isinf(size))
    return x;
  return copysign(power(size, 0.333333343f, -9.934107e-09f, 0), x);
}

float f_hypot_32(float x, float y) {
  float a = fabs(x), b = fabs(y);
  if (isinf(a) || isinf(b))
    return INFINITY;
  if (isnan(a) || isnan(b))
    return NAN;
  float large = a > b ? a : b, small = a > b ? b : a;
  float up = 1.0f, down = 1.0f;
  if (large > 1e18f) {
    up = power_of_two(-100);
    down = power_of_two(100);
  } else if (large < 1e-18f) {
    up = power_of_two(100);
    down = power_of_two(-100);
  }
  large *= up;
  small *= up;
  return sqrt(large * large + small * small) * down;
}
