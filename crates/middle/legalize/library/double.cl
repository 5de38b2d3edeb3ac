// Mathematical functions of doubles, which Vulkan lacks. Each is called f_<name>_64 for the function of
// OpenCL.std that it computes. README.md says how double.spvasm is made of this and double-special.cl.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF

#define LN2_HIGH 6.93147180369123816490e-01 // 21 trailing zeros
#define LN2_LOW 1.90821492927058770002e-10

static double power_of_two(int n) {
  return as_double((ulong)(n + 1023) << 52);
}

// x * 2^n for |n| < 2040, rounded once.
static double scaled(double x, int n) {
  int part = n / 2;
  if (n < -1000)
    return x * power_of_two(n + 1000) * power_of_two(-1000);
  return x * power_of_two(part) * power_of_two(n - part);
}

// exp(r) for |r| <= ln(2) / 2 and a correction of r, by the Taylor series.
static double exp_near_zero(double r, double low) {
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  return 1.0 + (r + (low + r * r * p));
}

// The upper half of a number's bits: products of two such are exact.
static double upper(double x) {
  return as_double(as_ulong(x) & 0xfffffffff8000000UL);
}

// exp(r + low) for |r| <= ln(2) / 2, rounded once: what is lost of 1 + r + r * r / 2 is kept, and the rest is small.
static double exp_rounded(double r, double low) {
  double square = r * r, half_square = 0.5 * square;
  double p = 1.0 / 87178291200.0;
  p = p * r + 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  double a = 1.0 + r, b = a + half_square;
  double kept = (r - (a - 1.0)) + (half_square - (b - a));
  double h = upper(r), l = r - h;
  double lost = ((h * h - square) + 2.0 * h * l) + l * l;
  double cube = square * r * p;
  return b + (kept + (cube + (0.5 * lost + low * (b + cube))));
}

double f_exp_64(double x) {
  if (!(x < 710.0))
    return x > 0.0 ? INFINITY : x;
  if (x < -746.0)
    return 0.0;
  double n = rint(x * 1.44269504088896338700e+00);
  double high = x - n * LN2_HIGH;
  double low = n * LN2_LOW;
  double r = high - low;
  return scaled(exp_near_zero(r, (high - r) - low), (int)n);
}

double f_exp2_64(double x) {
  if (!(x < 1024.0))
    return x > 0.0 ? INFINITY : x;
  if (x < -1076.0)
    return 0.0;
  double n = rint(x);
  double r = (x - n) * 6.93147180559945286227e-01;
  double low = (x - n) * 2.31904681384629955842e-17;
  return scaled(exp_near_zero(r, low), (int)n);
}

double f_exp10_64(double x) {
  if (!(x < 309.0))
    return x > 0.0 ? INFINITY : x;
  if (x < -324.0)
    return 0.0;
  double n = rint(x * 3.32192809488736218171e+00);
  // log10(2) in two parts, the first of few bits.
  double r = (x - n * 0.301025390625) - n * 4.60503898119521373889e-06;
  return scaled(exp_near_zero(r * 2.30258509299404545700e+00, r * -2.17075622338224935276e-16), (int)n);
}

// Exponent and mantissa in [sqrt(1/2), sqrt(2)) of a positive number.
static double split(double x, int *exponent) {
  int e = 0;
  if (x < 2.2250738585072014e-308) {
    x *= 18014398509481984.0;
    e = -54;
  }
  ulong bits = as_ulong(x);
  e += (int)(bits >> 52) - 1023;
  double m = as_double((bits & 0xfffffffffffffUL) | 0x3ff0000000000000UL);
  if (m > 1.41421356237309514547) {
    m *= 0.5;
    e += 1;
  }
  *exponent = e;
  return m;
}

// The series of artanh in s = f / (2 + f), but for its first term: log(1 + f) is
// f - f * f / 2 + s * (f * f / 2 + log_series(s)).
static double log_series(double s) {
  double z = s * s;
  double p = 2.0 / 23.0;
  p = p * z + 2.0 / 21.0;
  p = p * z + 2.0 / 19.0;
  p = p * z + 2.0 / 17.0;
  p = p * z + 2.0 / 15.0;
  p = p * z + 2.0 / 13.0;
  p = p * z + 2.0 / 11.0;
  p = p * z + 2.0 / 9.0;
  p = p * z + 2.0 / 7.0;
  p = p * z + 2.0 / 5.0;
  p = p * z + 2.0 / 3.0;
  return z * p;
}

// log(1 + f) - f + f * f / 2.
static double log_rest(double f) {
  double s = f / (2.0 + f);
  return s * (0.5 * f * f + log_series(s));
}

double f_log_64(double x) {
  if (!(x > 0.0))
    return x == 0.0 ? -INFINITY : NAN;
  if (x == INFINITY)
    return x;
  int e;
  double f = split(x, &e) - 1.0;
  double n = (double)e;
  double half_square = 0.5 * f * f;
  return n * LN2_HIGH - ((half_square - (log_rest(f) + n * LN2_LOW)) - f);
}

// a + b and what its rounding loses.
static double two_sum(double a, double b, double *low) {
  double sum = a + b, back = sum - a;
  *low += (a - (sum - back)) + (b - back);
  return sum;
}

// log(x) as a sum of two numbers, to some 65 bits.
static double log_exact(double x, double *low) {
  int e;
  double f = split(x, &e) - 1.0;
  double n = (double)e;
  // f * f / 2 in two parts.
  double high = upper(f);
  double square = 0.5 * high * high;
  double square_low = 0.5 * (f + high) * (f - high);
  // s = f / (2 + f) in two parts.
  double g = 2.0 + f, s = f / g;
  double s_high = upper(s), g_high = upper(g);
  double s_low = ((f - s_high * g_high) - s_high * ((2.0 - g_high) + f)) / g;
  // s * (f * f / 2 + series) in two parts.
  double rest = square_low + log_series(s);
  double t = square + rest;
  double t_high = upper(t);
  double t_low = (square - t_high) + rest;
  double error = n * LN2_LOW - square_low + s_high * t_low + s_low * t;
  double sum = two_sum(n * LN2_HIGH, f, &error);
  sum = two_sum(sum, -square, &error);
  sum = two_sum(sum, s_high * t_high, &error);
  double total = sum + error;
  *low = (sum - total) + error;
  return total;
}

double f_log2_64(double x) {
  if (!(x > 0.0))
    return x == 0.0 ? -INFINITY : NAN;
  if (x == INFINITY)
    return x;
  int e;
  double m = split(x, &e);
  double f = m - 1.0;
  double r = f - (0.5 * f * f - log_rest(f));
  return (double)e + r * 1.44269504088896338700e+00;
}

double f_log10_64(double x) {
  if (!(x > 0.0))
    return x == 0.0 ? -INFINITY : NAN;
  if (x == INFINITY)
    return x;
  double low;
  double high = log_exact(x, &low);
  return high * 4.34294481903251816668e-01 + (low * 4.34294481903251816668e-01 + high * 1.09831965021676508e-17);
}

double f_log1p_64(double x) {
  if (fabs(x) < 1e-16)
    return x;
  double u = 1.0 + x;
  if (u == 1.0)
    return x;
  return f_log_64(u) + (x - (u - 1.0)) / u;
}

double f_expm1_64(double x) {
  if (fabs(x) < 0.3) {
    double p = 1.0, term = 1.0;
    for (int n = 17; n > 1; n--)
      p = 1.0 + p * x / (double)n;
    return x * p;
  }
  return f_exp_64(x) - 1.0;
}

// Magnitude of x to the power y, x positive and finite.
static double power(double x, double y) {
  double low;
  double high = log_exact(x, &low);
  // The product in two parts.
  double a = upper(high), b = upper(y);
  double product = high * y;
  if (!(fabs(product) < 800.0))
    return product > 0.0 ? INFINITY : 0.0;
  double rest = ((a * b - product) + a * (y - b) + (high - a) * b) + (high - a) * (y - b) + low * y;
  double n = rint(product * 1.44269504088896338700e+00);
  double near = product - n * LN2_HIGH;
  double r = near - n * LN2_LOW;
  double error = (near - r) - n * LN2_LOW;
  return scaled(exp_rounded(r, error + rest), (int)n);
}

double f_pow_64(double x, double y) {
  if (y == 0.0 || x == 1.0)
    return 1.0;
  if (isnan(x) || isnan(y))
    return NAN;
  double size = fabs(x);
  if (isinf(y)) {
    if (size == 1.0)
      return 1.0;
    return (size > 1.0) == (y > 0.0) ? INFINITY : 0.0;
  }
  int is_whole = rint(y) == y;
  int is_odd = is_whole && rint(0.5 * y) != 0.5 * y;
  double result;
  if (size == 0.0 || isinf(size))
    result = (size == 0.0) == (y > 0.0) ? 0.0 : INFINITY;
  else if (x < 0.0 && !is_whole)
    return NAN;
  else
    result = size == 1.0 ? 1.0 : power(size, y);
  return is_odd && signbit(x) ? -result : result;
}

double f_powr_64(double x, double y) {
  return f_pow_64(x, y);
}

double f_cbrt_64(double x) {
  double size = fabs(x);
  if (!(size > 0.0) || isinf(size))
    return x;
  double t = power(size, 1.0 / 3.0);
  // A step of Newton's.
  t = t - (t - size / (t * t)) * (1.0 / 3.0);
  return copysign(t, x);
}

// 1200 bits of 2 / pi, for arguments that are large.
constant uint TWO_OVER_PI[38] = {
  0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
  0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
  0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
  0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
  0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046, 0xfc7b6bab,
};

// The multiple of pi / 2 nearest to x, of which the low bits count, and what is left in two parts.
static int reduce(double x, double *high, double *low) {
  double size = fabs(x);
  if (size < 1048576.0) {
    double n = rint(x * 6.36619772367581382433e-01);
    // Three parts of pi / 2, the first two of 33 bits.
    double r = x - n * 1.57079632673412561417e+00;
    double w = n * 6.07710050630396597660e-11;
    double t = r;
    r = t - w;
    w = n * 2.02226624879595063154e-21 - ((t - r) - w);
    double y = r - w;
    *high = y;
    *low = (r - y) - w;
    return (int)n;
  }
  if (!(size < INFINITY)) {
    *high = *low = NAN;
    return 0;
  }
  // Payne and Hanek: of the product with 2 / pi only the bits around the point are computed.
  ulong bits = as_ulong(size);
  int e = (int)(bits >> 52) - 1075;
  ulong m = (bits & 0xfffffffffffffUL) | 0x10000000000000UL;
  // size = m * 2^e; bit b of the table counts 2^-(b + 1). Bits that make multiples of 4 are left out.
  int first = e - 2;
  int word = (first + 64) / 32 - 2;
  int shift = first - word * 32;
  uint window[7];
  for (int n = 0; n < 7; n++)
    window[n] = word + n >= 0 && word + n < 38 ? TWO_OVER_PI[word + n] : 0;
  uint aligned[6];
  for (int n = 0; n < 6; n++)
    aligned[n] = shift == 0 ? window[n] : window[n] << shift | window[n + 1] >> (32 - shift);
  // m (two words) times 192 bits, modulo 2^192.
  uint product[6];
  ulong carry = 0;
  uint low_m = (uint)m, high_m = (uint)(m >> 32);
  for (int n = 5; n >= 0; n--) {
    ulong p = (ulong)aligned[n] * low_m;
    ulong q = n < 5 ? (ulong)aligned[n + 1] * high_m : 0;
    // Sums of low and high words apart, so that nothing overflows.
    ulong sum = (p & 0xffffffffUL) + (q & 0xffffffffUL) + (carry & 0xffffffffUL);
    product[n] = (uint)sum;
    carry = (sum >> 32) + (p >> 32) + (q >> 32) + (carry >> 32);
  }
  // The first bit behind the cut counts 2^(e - 1 - first) = 2: two bits before the point.
  int quadrant = (int)(product[0] >> 30);
  ulong fraction = (ulong)(product[0] & 0x3fffffff) << 34 | (ulong)product[1] << 2 | product[2] >> 30;
  ulong more = (ulong)product[2] << 34 | (ulong)product[3] << 2 | product[4] >> 30;
  int is_negative = (fraction >> 63) != 0;
  if (is_negative) {
    quadrant += 1;
    fraction = ~fraction;
    more = ~more;
  }
  // fraction / 2^64 of pi / 2, its leading zeros taken from what follows.
  int zeros = fraction == 0 ? 63 : (int)clz(fraction);
  if (zeros > 0) {
    fraction = fraction << zeros | more >> (64 - zeros);
    more <<= zeros;
  }
  double a = (double)(fraction >> 11) * as_double(0x3ca0000000000000UL) * power_of_two(-zeros);
  double b = (double)((fraction & 0x7ff) << 53 | more >> 11) * as_double(0x38a0000000000000UL) * power_of_two(-zeros);
  if (is_negative) {
    a = -a;
    b = -b;
  }
  // Times pi / 2, in two parts.
  double a_high = as_double(as_ulong(a) & 0xfffffffff8000000UL);
  double p = a * 1.57079632679489655800e+00;
  double error = (a_high * 1.57079631090164184570e+00 - p) + a_high * 1.58932547735281966916e-08
    + (a - a_high) * 1.57079632679489655800e+00 + a * 6.12323399573676603587e-17 + b * 1.57079632679489655800e+00;
  *high = p + error;
  *low = (p - *high) + error;
  if (x < 0.0) {
    *high = -*high;
    *low = -*low;
    quadrant = -quadrant;
  }
  return quadrant;
}

static double sin_near_zero(double x, double low) {
  double z = x * x;
  double p = -1.0 / 121645100408832000.0;
  p = p * z + 1.0 / 355687428096000.0;
  p = p * z - 1.0 / 1307674368000.0;
  p = p * z + 1.0 / 6227020800.0;
  p = p * z - 1.0 / 39916800.0;
  p = p * z + 1.0 / 362880.0;
  p = p * z - 1.0 / 5040.0;
  p = p * z + 1.0 / 120.0;
  p = p * z - 1.0 / 6.0;
  return x + (x * z * p + low * (1.0 - 0.5 * z));
}

static double cos_near_zero(double x, double low) {
  double z = x * x;
  double p = 1.0 / 2432902008176640000.0;
  p = p * z - 1.0 / 6402373705728000.0;
  p = p * z + 1.0 / 20922789888000.0;
  p = p * z - 1.0 / 87178291200.0;
  p = p * z + 1.0 / 479001600.0;
  p = p * z - 1.0 / 3628800.0;
  p = p * z + 1.0 / 40320.0;
  p = p * z - 1.0 / 720.0;
  p = p * z + 1.0 / 24.0;
  double half_square = 0.5 * z;
  double w = 1.0 - half_square;
  return w + (((1.0 - w) - half_square) + (z * z * p - x * low));
}

static double quarter(int n, double high, double low) {
  double value = n & 1 ? cos_near_zero(high, low) : sin_near_zero(high, low);
  return n & 2 ? -value : value;
}

double f_sin_64(double x) {
  if (x == 0.0)
    return x;
  double high, low;
  int n = reduce(x, &high, &low);
  return quarter(n, high, low);
}

double f_cos_64(double x) {
  double high, low;
  int n = reduce(x, &high, &low);
  return quarter(n + 1, high, low);
}

double f_tan_64(double x) {
  if (x == 0.0)
    return x;
  double high, low;
  int n = reduce(x, &high, &low);
  double s = sin_near_zero(high, low), c = cos_near_zero(high, low);
  return n & 1 ? -c / s : s / c;
}

// atan of a number in [0, 1], by the nearest eighth and the series.
static double atan_to_one(double x) {
  const double known[9] = {0.0, 1.24354994546761438157e-01, 2.44978663126864143473e-01, 3.58770670270572189040e-01,
    4.63647609000806093515e-01, 5.58599315343562435972e-01, 6.43501108793284370968e-01, 7.18829999621624526706e-01,
    7.85398163397448278999e-01};
  double n = rint(x * 8.0);
  double c = n * 0.125;
  double t = (x - c) / (1.0 + x * c);
  double z = t * t;
  double p = 1.0 / 13.0;
  p = -p * z + 1.0 / 11.0;
  p = -p * z + 1.0 / 9.0;
  p = -p * z + 1.0 / 7.0;
  p = -p * z + 1.0 / 5.0;
  p = -p * z + 1.0 / 3.0;
  return known[(int)n] + (t - t * z * p);
}

double f_atan_64(double x) {
  if (isnan(x) || x == 0.0)
    return x;
  double size = fabs(x);
  double a = size > 1.0 ? 1.57079632679489655800e+00 - (atan_to_one(1.0 / size) - 6.12323399573676603587e-17)
                        : atan_to_one(size);
  return copysign(a, x);
}

double f_atan2_64(double y, double x) {
  if (isnan(x) || isnan(y))
    return NAN;
  double a = fabs(y), b = fabs(x), angle;
  if (a == 0.0)
    angle = 0.0;
  else if (isinf(a) && isinf(b))
    angle = 7.85398163397448278999e-01;
  else if (a > b)
    angle = 1.57079632679489655800e+00 - (atan_to_one(b / a) - 6.12323399573676603587e-17);
  else
    angle = atan_to_one(a / b);
  if (signbit(x))
    angle = 3.14159265358979311600e+00 - (angle - 1.22464679914735317722e-16);
  return copysign(angle, y);
}

double f_asin_64(double x) {
  if (fabs(x) > 1.0)
    return NAN;
  return f_atan2_64(x, sqrt((1.0 - x) * (1.0 + x)));
}

double f_acos_64(double x) {
  if (fabs(x) > 1.0)
    return NAN;
  return f_atan2_64(sqrt((1.0 - x) * (1.0 + x)), x);
}

double f_sinh_64(double x) {
  double size = fabs(x);
  if (size < 1e-8)
    return x;
  double e = f_expm1_64(size > 709.0 ? size - 0.69314718055994530942 : size);
  double s = size > 709.0 ? e : 0.5 * (e + e / (e + 1.0));
  return copysign(s, x);
}

double f_cosh_64(double x) {
  double size = fabs(x);
  double e = f_exp_64(size > 709.0 ? size - 0.69314718055994530942 : size);
  return size > 709.0 ? e : 0.5 * (e + 1.0 / e);
}

double f_tanh_64(double x) {
  double size = fabs(x);
  if (size < 1e-8)
    return x;
  if (size > 22.0)
    return copysign(1.0, x);
  double e = f_expm1_64(2.0 * size);
  return copysign(e / (e + 2.0), x);
}

// erf by a series without changes of sign, for small arguments.
static double erf_series(double x) {
  double z = 2.0 * x * x, sum = 1.0;
  for (int n = 40; n > 0; n--)
    sum = 1.0 + sum * z / (double)(2 * n + 1);
  return 1.12837916709551255856e+00 * x * (sum * f_exp_64(-x * x));
}

// erfc by its continued fraction, for x >= 1.
static double erfc_fraction(double x) {
  double f = 0.0;
  for (int n = x < 2.0 ? 200 : 60; n > 0; n--)
    f = 0.5 * (double)n / (x + f);
  double high = as_double(as_ulong(x) & 0xfffffffff8000000UL);
  double e = f_exp_64(-high * high) * f_exp_64(-(x - high) * (x + high));
  return e * 5.64189583547756279280e-01 / (x + f);
}

double f_erf_64(double x) {
  double size = fabs(x);
  if (size < 1.0)
    return erf_series(x);
  if (size > 6.0)
    return copysign(1.0, x);
  return isnan(x) ? x : copysign(1.0 - erfc_fraction(size), x);
}

double f_erfc_64(double x) {
  if (x < 1.0)
    return x < -6.0 ? 2.0 : x < -1.0 ? 2.0 - erfc_fraction(-x) : 1.0 - erf_series(x);
  if (x > 28.0)
    return 0.0;
  return isnan(x) ? x : erfc_fraction(x);
}

double f_pown_64(double x, int n) {
  return f_pow_64(x, (double)n);
}

double f_asinh_64(double x) {
  double a = fabs(x);
  if (!(a > 1e-9) || isinf(a))
    return x;
  if (a > 1e9)
    return copysign(f_log_64(a) + 6.93147180559945286227e-01, x);
  return copysign(f_log1p_64(a + a * a / (1.0 + sqrt(a * a + 1.0))), x);
}

double f_acosh_64(double x) {
  if (!(x >= 1.0))
    return NAN;
  if (x > 1e9)
    return isinf(x) ? x : f_log_64(x) + 6.93147180559945286227e-01;
  double t = x - 1.0;
  return f_log1p_64(t + sqrt(2.0 * t + t * t));
}

double f_atanh_64(double x) {
  double a = fabs(x);
  if (a < 1e-9)
    return x;
  return copysign(0.5 * f_log1p_64(2.0 * a / (1.0 - a)), x);
}
