// Trigonometric functions of floats, and their inverses; compiled behind float.cl.

// 2 / pi, 32 bits in each word, behind a word of zeros.
static uint two_over_pi(int n) {
  switch (n) {
  case 0: return 0u;
  case 1: return 0xa2f9836eu;
  case 2: return 0x4e441529u;
  case 3: return 0xfc2757d1u;
  case 4: return 0xf534ddc0u;
  case 5: return 0xdb629599u;
  case 6: return 0x3c439041u;
  case 7: return 0xfe5163abu;
  case 8: return 0xdebbc561u;
  default: return 0xb7246e3au;
  }
}

#define QUARTER_1 1.5703125f
#define QUARTER_2 4.83751297e-04f
#define QUARTER_3 7.54953362e-08f
#define QUARTER_4 2.56334415e-12f

// x less the nearest multiple of pi / 2 in two parts, and the number of that multiple.
static float reduced(float x, float *low, int *quadrant) {
  uint bits = as_uint(x) & 0x7fffffffu;
  int e = (int)(bits >> 23) - 150;
  uint m = (bits & 0x7fffffu) | 0x800000u;
  if (e < -24) {
    *low = 0.0f;
    *quadrant = 0;
    return x;
  }
  if (fabs(x) < 2048.0f) {
    // pi / 2 in parts whose products with the quotient are exact, but for the last (Cody and Waite).
    float n = rint(x * 0.636619747f);
    float t = (x - n * QUARTER_1) - n * QUARTER_2, u = n * QUARTER_3;
    float r = t - u;
    *low = ((t - r) - u) - n * QUARTER_4;
    *quadrant = (int)n;
    return r;
  }
  // The 96 bits of 2 / pi from that on whose product with the mantissa is 4: those before make
  // whole turns (Payne and Hanek).
  int from = e - 2 + 32, word = from >> 5, shift = from & 31;
  uint w[3];
  for (int n = 0; n < 3; n++) {
    uint a = two_over_pi(word + n), b = two_over_pi(word + n + 1);
    w[n] = shift == 0 ? a : a << shift | b >> (32 - shift);
  }
  ulong p = (ulong)m * w[2];
  uint last = (uint)p;
  p = (p >> 32) + (ulong)m * w[1];
  uint middle = (uint)p;
  uint first = (uint)(p >> 32) + m * w[0];
  int q = (int)(first >> 30);
  ulong rest = ((ulong)(first << 2 | middle >> 30) << 32) | (middle << 2 | last >> 30);
  bool is_above = (rest >> 63) != 0;
  if (is_above) {
    q++;
    rest = 0 - rest;
  }
  int zeros = (int)clz(rest);
  rest <<= zeros & 63;
  float h = (float)(uint)(rest >> 40), l = (float)(uint)((rest >> 16) & 0xffffffu) * power_of_two(-24);
  float a = h * 1.57079637f;
  float b = lost(h, 1.57079637f, a) + l * 1.57079637f - h * 4.37113883e-08f;
  float sum = a + b;
  float unit = power_of_two(-24 - (zeros & 63));
  unit = is_above != (x < 0.0f) ? -unit : unit;
  *low = (b - (sum - a)) * unit;
  *quadrant = x < 0.0f ? -q : q;
  return sum * unit;
}

static float sin_near_zero(float x, float low) {
  float z = x * x;
  float p = -2.50521084e-08f;
  p = p * z + 2.75573192e-06f;
  p = p * z - 1.98412698e-04f;
  p = p * z + 8.33333333e-03f;
  p = p * z - 1.66666667e-01f;
  return x + (x * z * p + low * (1.0f - 0.5f * z));
}

static float cos_near_zero(float x, float low) {
  float z = x * x;
  float p = -2.75573192e-07f;
  p = p * z + 2.48015873e-05f;
  p = p * z - 1.38888889e-03f;
  p = p * z + 4.16666667e-02f;
  float half_square = 0.5f * z, w = 1.0f - half_square;
  return w + (((1.0f - w) - half_square) + (z * z * p - x * low));
}

float f_sin_32(float x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  float low, r = reduced(x, &low, &q);
  float y = q & 1 ? cos_near_zero(r, low) : sin_near_zero(r, low);
  return q & 2 ? -y : y;
}

float f_cos_32(float x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  float low, r = reduced(x, &low, &q);
  float y = q & 1 ? sin_near_zero(r, low) : cos_near_zero(r, low);
  return (q + 1) & 2 ? -y : y;
}

float f_tan_32(float x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  float low, r = reduced(x, &low, &q);
  float s = sin_near_zero(r, low), c = cos_near_zero(r, low);
  return q & 1 ? -c / s : s / c;
}

// The angle x * pi less the nearest multiple of pi / 2, and the number of that.
static float turned(float x, float *low, int *quadrant) {
  float y = x - 2.0f * rint(0.5f * x);
  float n = rint(2.0f * y), f = y - 0.5f * n;
  float h = f * 3.14159274f;
  *low = lost(f, 3.14159274f, h) - f * 8.74227766e-08f;
  *quadrant = (int)n;
  return h;
}

float f_sinpi_32(float x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  if (rint(x) == x)
    return copysign(0.0f, x);
  int q;
  float low, r = turned(x, &low, &q);
  float y = q & 1 ? cos_near_zero(r, low) : sin_near_zero(r, low);
  return q & 2 ? -y : y;
}

float f_cospi_32(float x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  float low, r = turned(x, &low, &q);
  if (r == 0.0f && (q & 1))
    return 0.0f;
  float y = q & 1 ? sin_near_zero(r, low) : cos_near_zero(r, low);
  return (q + 1) & 2 ? -y : y;
}

float f_tanpi_32(float x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  float low, r = turned(x, &low, &q);
  float s = sin_near_zero(r, low), c = cos_near_zero(r, low);
  if (r == 0.0f) {
    bool is_odd = rint(0.5f * rint(x)) != 0.5f * rint(x);
    if (q & 1)
      return copysign(INFINITY, (q & 2) ? -1.0f : 1.0f);
    return is_odd != (x < 0.0f || (x == 0.0f && signbit(x))) ? -0.0f : 0.0f;
  }
  return q & 1 ? -c / s : s / c;
}

// asin(x) - x for |x| <= 0.5, by the series.
static float asin_rest(float x) {
  float z = x * x;
  float p = 9.7616095e-03f;
  p = p * z + 1.15518007e-02f;
  p = p * z + 1.39648438e-02f;
  p = p * z + 1.73527644e-02f;
  p = p * z + 2.23721591e-02f;
  p = p * z + 3.03819444e-02f;
  p = p * z + 4.46428571e-02f;
  p = p * z + 7.5e-02f;
  p = p * z + 1.66666667e-01f;
  return x * z * p;
}

#define HALF_PI 1.57079637f
#define HALF_PI_LOW -4.37113883e-08f

float f_asin_32(float x) {
  float a = fabs(x);
  if (!(a <= 1.0f))
    return NAN;
  if (a <= 0.5f)
    return x + asin_rest(x);
  float s = sqrt(0.5f * (1.0f - a));
  return copysign(HALF_PI - (2.0f * s + (2.0f * asin_rest(s) - HALF_PI_LOW)), x);
}

float f_acos_32(float x) {
  float a = fabs(x);
  if (!(a <= 1.0f))
    return NAN;
  if (a <= 0.5f)
    return HALF_PI - (x + (asin_rest(x) - HALF_PI_LOW));
  float s = sqrt(0.5f * (1.0f - a));
  float angle = 2.0f * s + 2.0f * asin_rest(s);
  return x > 0.0f ? angle : 2.0f * HALF_PI - (angle - 2.0f * HALF_PI_LOW);
}

// atan of a magnitude, which may be infinite.
static float atan_of(float a) {
  float high = 0.0f, low = 0.0f, t = a;
  if (a > 2.41421366f) {
    high = HALF_PI;
    low = HALF_PI_LOW;
    t = -1.0f / a;
  } else if (a > 0.414213568f) {
    high = 0.5f * HALF_PI;
    low = 0.5f * HALF_PI_LOW;
    t = (a - 1.0f) / (a + 1.0f);
  }
  float z = t * t;
  float p = 4.7619048e-02f;
  p = p * -z + 5.26315789e-02f;
  p = p * -z + 5.88235294e-02f;
  p = p * -z + 6.66666667e-02f;
  p = p * -z + 7.69230769e-02f;
  p = p * -z + 9.09090909e-02f;
  p = p * -z + 1.11111111e-01f;
  p = p * -z + 1.42857143e-01f;
  p = p * -z + 0.2f;
  p = p * -z + 3.33333333e-01f;
  return high + (t + (low - t * z * p));
}

float f_atan_32(float x) { return isnan(x) ? x : copysign(atan_of(fabs(x)), x); }

float f_atan2_32(float y, float x) {
  if (isnan(x) || isnan(y))
    return NAN;
  float a = fabs(y), b = fabs(x), angle;
  if (a == 0.0f)
    angle = 0.0f;
  else if (isinf(a) && isinf(b))
    angle = 0.5f * HALF_PI;
  else if (b == 0.0f || isinf(a))
    angle = HALF_PI;
  else if (b > 1e30f || a > 1e30f)
    // The smaller may be denormal once both are.
    angle = atan_of((a * power_of_two(-30)) / (b * power_of_two(-30)));
  else
    angle = atan_of(a / b);
  if (signbit(x))
    angle = 2.0f * HALF_PI - (angle - 2.0f * HALF_PI_LOW);
  return copysign(angle, y);
}

// 1 / pi.
#define OVER_PI 0.318309873f
#define OVER_PI_LOW 1.28412765e-08f

static float over_pi(float x) {
  float h = x * OVER_PI;
  return h + (lost(x, OVER_PI, h) + x * OVER_PI_LOW);
}

float f_asinpi_32(float x) { return over_pi(f_asin_32(x)); }
float f_acospi_32(float x) { return over_pi(f_acos_32(x)); }
float f_atanpi_32(float x) { return over_pi(f_atan_32(x)); }
float f_atan2pi_32(float y, float x) { return over_pi(f_atan2_32(y, x)); }

float f_sinh_32(float x) {
  float a = fabs(x);
  if (!(a < 90.0f))
    return isnan(x) ? x : copysign(INFINITY, x);
  if (a > 20.0f)
    return copysign(exp_times(a, 0.0f, -1), x);
  float e = f_expm1_32(a);
  return copysign(0.5f * (e + e / (e + 1.0f)), x);
}

float f_cosh_32(float x) {
  float a = fabs(x);
  if (!(a < 90.0f))
    return isnan(x) ? x : INFINITY;
  float half_power = exp_times(a, 0.0f, -1);
  return a > 20.0f ? half_power : half_power + 0.25f / half_power;
}

float f_tanh_32(float x) {
  float a = fabs(x);
  if (!(a < 10.0f))
    return isnan(x) ? x : copysign(1.0f, x);
  if (a < 1e-4f)
    return x;
  float e = f_expm1_32(2.0f * a);
  return copysign(a < 0.5f ? e / (e + 2.0f) : 1.0f - 2.0f / (e + 2.0f), x);
}

float f_asinh_32(float x) {
  float a = fabs(x);
  if (!(a > 1e-4f) || isinf(a))
    return x;
  if (a > 4096.0f)
    return copysign(log_of(a, 1), x);
  return copysign(f_log1p_32(a + a * a / (1.0f + sqrt(a * a + 1.0f))), x);
}

float f_acosh_32(float x) {
  if (!(x >= 1.0f))
    return NAN;
  if (x > 4096.0f)
    return isinf(x) ? x : log_of(x, 1);
  float t = x - 1.0f;
  return f_log1p_32(t + sqrt(2.0f * t + t * t));
}

float f_atanh_32(float x) {
  float a = fabs(x);
  if (a < 1e-4f)
    return x;
  if (!(a <= 1.0f))
    return NAN;
  return copysign(a == 1.0f ? INFINITY : 0.5f * f_log1p_32(2.0f * a / (1.0f - a)), x);
}
