// The gamma and error functions of floats, and what works on bits; compiled behind
// float.cl and float-angles.cl.

// log(gamma(2 + t)) for |t| <= 0.5, by the series of the zeta function.
static float log_gamma_two(float t) {
  float p = -9.43948828e-06f;
  p = p * t + 2.05072128e-05f;
  p = p * t - 4.49262367e-05f;
  p = p * t + 9.94575128e-05f;
  p = p * t - 2.23154758e-04f;
  p = p * t + 5.09669525e-04f;
  p = p * t - 1.19275391e-03f;
  p = p * t + 2.89051033e-03f;
  p = p * t - 7.38555103e-03f;
  p = p * t + 2.05808084e-02f;
  p = p * t - 6.73523011e-02f;
  p = p * t + 3.22467032e-01f;
  return t * (4.22784335e-01f + t * p);
}

// log|gamma(x)| for x > 0.
static float log_gamma(float x) {
  if (x >= 8.0f) {
    float z = 1.0f / x, w = z * z;
    float series = z * (8.33333333e-02f - w * (2.77777778e-03f - w * 7.93650794e-04f));
    float log_x = f_log_32(x);
    return (x - 0.5f) * (log_x - 1.0f) + (0.418938533f + series);
  }
  float product = 1.0f;
  while (x > 2.5f) {
    x -= 1.0f;
    product *= x;
  }
  if (x >= 1.5f) {
    float rest = log_gamma_two(x - 2.0f);
    return product == 1.0f ? rest : f_log_32(product) + rest;
  }
  if (x >= 0.5f)
    return log_gamma_two(x - 1.0f) - f_log1p_32(x - 1.0f);
  // gamma(x) = gamma(x + 2) / (x * (x + 1)).
  return log_gamma_two(x) - f_log1p_32(x) - f_log_32(x);
}

float f_lgamma_32(float x) {
  if (isnan(x))
    return x;
  if (isinf(x) || (x <= 0.0f && rint(x) == x))
    return INFINITY;
  if (x > 0.0f)
    return log_gamma(x);
  if (x > -1e-8f)
    return -f_log_32(-x);
  float s = fabs(f_sinpi_32(x));
  return 1.14472985f - f_log_32(s) - f_log_32(-x) - log_gamma(-x);
}

// The sign of gamma(x).
int f_lgamma_sign_32(float x) {
  if (x > 0.0f || isnan(x))
    return 1;
  if (x == 0.0f)
    return signbit(x) ? -1 : 1;
  float whole = floor(x);
  return whole == x || rint(0.5f * whole) == 0.5f * whole ? 1 : -1;
}

static float gamma_of(float x) {
  if (x > 36.0f)
    return INFINITY;
  if (x > 10.0f) {
    float z = 1.0f / x;
    float series = 1.0f + z * (8.33333333e-02f + z * (3.47222222e-03f - z * (2.68132716e-03f + z * 2.29472094e-04f)));
    float root = power(x, 0.5f * (x - 0.5f), 0.0f, 0);
    return (root * f_exp_32(-x)) * root * (2.50662827f * series);
  }
  float product = 1.0f, below = 1.0f;
  while (x > 2.5f) {
    x -= 1.0f;
    product *= x;
  }
  while (x < 1.5f) {
    below *= x;
    x += 1.0f;
  }
  float rest = log_gamma_two(x - 2.0f);
  return product * (1.0f + f_expm1_32(rest)) / below;
}

float f_tgamma_32(float x) {
  if (isnan(x))
    return x;
  if (x == 0.0f)
    return copysign(INFINITY, x);
  if (x > 0.0f)
    return gamma_of(x);
  if (rint(x) == x || isinf(x))
    return NAN;
  if (x > -1e-6f)
    return 1.0f / x;
  if (x < -44.0f)
    return f_lgamma_sign_32(x) < 0 ? -0.0f : 0.0f;
  float s = f_sinpi_32(x);
  if (x < -30.0f)
    // gamma(1 - x) overflows: it is gamma(-7 - x) times eight factors.
    return 3.14159274f / (s * gamma_of(-7.0f - x)) / (x * (x + 1.0f) * (x + 2.0f) * (x + 3.0f)) /
           ((x + 4.0f) * (x + 5.0f) * (x + 6.0f) * (x + 7.0f));
  // gamma(1 - x) is -x times gamma(-x), whose argument is exact.
  return -3.14159274f / (s * (x * gamma_of(-x)));
}

float f_erf_32(float x) {
  float size = fabs(x);
  if (isnan(x))
    return x;
  if (size > 4.0f)
    return copysign(1.0f, x);
  // Either the series, whose terms are all positive, or the continued fraction, both with exp(-x * x).
  float high = upper(size);
  float e = f_exp_32(-high * high) * f_exp_32(-(size - high) * (size + high));
  float value;
  if (size < 2.0f) {
    float z = 2.0f * x * x, sum = 1.0f;
    for (int n = 24; n > 0; n--)
      sum = 1.0f + sum * z / (float)(2 * n + 1);
    value = 1.12837917f * size * sum * e;
  } else {
    float f = 0.0f;
    for (int n = 30; n > 0; n--)
      f = 0.5f * (float)n / (size + f);
    value = 1.0f - e * 0.564189584f / (size + f);
  }
  return copysign(value, x);
}

float f_erfc_32(float x) {
  if (isnan(x))
    return x;
  if (x < 0.5f)
    return 1.0f - f_erf_32(x);
  if (x > 11.0f)
    return 0.0f;
  float high = upper(x);
  float e = f_exp_32(-high * high) * f_exp_32(-(x - high) * (x + high));
  float f = 0.0f;
  for (int n = x < 1.0f ? 250 : x < 2.0f ? 80 : 30; n > 0; n--)
    f = 0.5f * (float)n / (x + f);
  return e * 0.564189584f / (x + f);
}

float f_nextafter_32(float x, float y) {
  if (isnan(x) || isnan(y))
    return NAN;
  if (x == y)
    return y;
  uint bits = as_uint(x);
  if ((bits << 1) == 0)
    return as_float(1u | (as_uint(y) & 0x80000000u));
  return as_float((x < y) == (x > 0.0f) ? bits + 1 : bits - 1);
}

int f_ilogb_32(float x) {
  uint bits = as_uint(x) & 0x7fffffffu;
  if (bits == 0)
    return FP_ILOGB0;
  if (bits >= 0x7f800000u)
    return bits == 0x7f800000u ? INT_MAX : FP_ILOGBNAN;
  return bits < 0x800000u ? -118 - (int)clz(bits) : (int)(bits >> 23) - 127;
}

float f_logb_32(float x) {
  float a = fabs(x);
  if (!(a > 0.0f))
    return a == 0.0f ? -INFINITY : x;
  return a == INFINITY ? a : (float)f_ilogb_32(x);
}

// The significand of a finite positive number, with 24 bits, and the exponent of its lowest bit.
static uint split_significand(uint bits, int *exponent) {
  uint fraction = bits & 0x7fffffu;
  if (bits >= 0x800000u) {
    *exponent = (int)(bits >> 23) - 150;
    return fraction | 0x800000u;
  }
  int shift = (int)clz(fraction) - 8;
  *exponent = -149 - shift;
  return fraction << shift;
}

// A number without the bits below a position, of which the lowest says whether any was set.
static ulong shifted(ulong number, int count) {
  if (count > 62)
    return number != 0;
  return number >> count | ((number & ((1ul << count) - 1)) != 0);
}

// number * 2^exponent, rounded once to nearest. The sign is the highest bit of its word.
static float rounded(ulong number, int exponent, uint sign) {
  int zeros = (int)clz(number);
  // The highest bit is bit 63, and 24 bits are kept.
  int biased = exponent - zeros + 190;
  ulong word = shifted(number << zeros, 38);
  if (biased <= 0) {
    word = shifted(word, 1 - biased);
    biased = 0;
  } else {
    // The highest bit counts as one of the exponent.
    biased--;
  }
  if (biased >= 254)
    return as_float(sign | 0x7f800000u);
  uint kept = (uint)(word >> 2), rest = (uint)word & 3u;
  uint up = rest > 2u || (rest == 2u && (kept & 1u));
  return as_float(sign | (((uint)biased << 23) + kept + up));
}

// Drivers may round the product, too.
float f_fma_32(float a, float b, float c) {
  uint x = as_uint(a) & 0x7fffffffu, y = as_uint(b) & 0x7fffffffu, z = as_uint(c) & 0x7fffffffu;
  if (x == 0 || y == 0 || x >= 0x7f800000u || y >= 0x7f800000u)
    return a * b + c;
  if (z >= 0x7f800000u)
    return c;
  uint sign = (as_uint(a) ^ as_uint(b)) & 0x80000000u, other = as_uint(c) & 0x80000000u;
  int first, second, third;
  ulong product = (ulong)split_significand(x, &first) * split_significand(y, &second) << 14;
  int exponent = first + second - 14;
  if (z == 0)
    return rounded(product, exponent, sign);
  ulong added = (ulong)split_significand(z, &third) << 37;
  third -= 37;
  // Both have their highest bits at 60 or 61, so that the lost ones are far below.
  if (third > exponent) {
    product = shifted(product, third - exponent);
    exponent = third;
  } else {
    added = shifted(added, exponent - third);
  }
  if (sign == other)
    return rounded(product + added, exponent, sign);
  if (product == added)
    return 0.0f;
  return product > added ? rounded(product - added, exponent, sign) : rounded(added - product, exponent, other);
}
