// The gamma function of doubles, parts of turns, and what works on bits; compiled behind
// double.cl.

// log(gamma(2 + t)) for |t| <= 0.5, by the series of the zeta function.
static double log_gamma_two(double t) {
  double p = -2.75952288512423336e-10;
  p = p * t + 5.73136724167886225e-10;
  p = p * t - 1.19214014058609115e-09;
  p = p * t + 2.48367454380247848e-09;
  p = p * t - 5.18347504197004664e-09;
  p = p * t + 1.08386592148969546e-08;
  p = p * t - 2.27110946089431635e-08;
  p = p * t + 4.76981016936398040e-08;
  p = p * t - 1.00432248239680991e-07;
  p = p * t + 2.12071848055546646e-07;
  p = p * t - 4.49246919876456619e-07;
  p = p * t + 9.55141213040741935e-07;
  p = p * t - 2.03921575380136619e-06;
  p = p * t + 4.37486678990748817e-06;
  p = p * t - 9.43948827526839672e-06;
  p = p * t + 2.05072127756706911e-05;
  p = p * t - 4.49262367381331420e-05;
  p = p * t + 9.94575127818085310e-05;
  p = p * t - 2.23154758453579386e-04;
  p = p * t + 5.09669524743042450e-04;
  p = p * t - 1.19275391170326102e-03;
  p = p * t + 2.89051033074152336e-03;
  p = p * t - 7.38555102867398568e-03;
  p = p * t + 2.05808084277845464e-02;
  p = p * t - 6.73523010531981020e-02;
  p = p * t + 3.22467033424113203e-01;
  return t * (4.22784335098467134e-01 + t * p);
}

// The series behind Stirling's formula.
static double stirling(double x) {
  double z = 1.0 / x, w = z * z;
  double p = -691.0 / 360360.0;
  p = p * w + 1.0 / 1188.0;
  p = p * w - 1.0 / 1680.0;
  p = p * w + 1.0 / 1260.0;
  p = p * w - 1.0 / 360.0;
  p = p * w + 1.0 / 12.0;
  return z * p;
}

static double log_gamma(double x) {
  if (x >= 20.0)
    return (x - 0.5) * (f_log_64(x) - 1.0) + (4.18938533204672741780e-01 + stirling(x));
  double product = 1.0;
  while (x > 2.5) {
    x -= 1.0;
    product *= x;
  }
  if (x >= 1.5) {
    double rest = log_gamma_two(x - 2.0);
    return product == 1.0 ? rest : f_log_64(product) + rest;
  }
  if (x >= 0.5)
    return log_gamma_two(x - 1.0) - f_log1p_64(x - 1.0);
  return log_gamma_two(x) - f_log1p_64(x) - f_log_64(x);
}

// An angle of x half turns less the nearest quarter turns, and the number of those.
static double turned(double x, int *quadrant) {
  double y = x - 2.0 * rint(0.5 * x);
  double n = rint(2.0 * y);
  *quadrant = (int)n;
  return y - 0.5 * n;
}

static double sin_of_turn(double f) { return f_sin_64(f * 3.14159265358979311600e+00); }
static double cos_of_turn(double f) { return f_cos_64(f * 3.14159265358979311600e+00); }

double f_sinpi_64(double x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  if (rint(x) == x)
    return copysign(0.0, x);
  int q;
  double f = turned(x, &q);
  double y = q & 1 ? cos_of_turn(f) : sin_of_turn(f);
  return q & 2 ? -y : y;
}

double f_cospi_64(double x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  double f = turned(x, &q);
  if (f == 0.0 && (q & 1))
    return 0.0;
  double y = q & 1 ? sin_of_turn(f) : cos_of_turn(f);
  return (q + 1) & 2 ? -y : y;
}

double f_tanpi_64(double x) {
  if (!(fabs(x) < INFINITY))
    return NAN;
  int q;
  double f = turned(x, &q);
  if (f == 0.0) {
    if (q & 1)
      return q & 2 ? -INFINITY : INFINITY;
    bool is_odd = rint(0.5 * rint(x)) != 0.5 * rint(x);
    return is_odd != (bool)signbit(x) ? -0.0 : 0.0;
  }
  double s = sin_of_turn(f), c = cos_of_turn(f);
  return q & 1 ? -c / s : s / c;
}

#define OVER_PI 3.18309886183790691216e-01

double f_asinpi_64(double x) { return f_asin_64(x) * OVER_PI; }
double f_acospi_64(double x) { return f_acos_64(x) * OVER_PI; }
double f_atanpi_64(double x) { return f_atan_64(x) * OVER_PI; }
double f_atan2pi_64(double y, double x) { return f_atan2_64(y, x) * OVER_PI; }

double f_rootn_64(double x, int n) {
  if (n == 0 || isnan(x) || (x < 0.0 && !(n & 1)))
    return NAN;
  double size = fabs(x), y = 1.0 / (double)n;
  if (size == 0.0 || isinf(size)) {
    double edge = (size == 0.0) == (n > 0) ? 0.0 : INFINITY;
    return n & 1 ? copysign(edge, x) : edge;
  }
  double t = size == 1.0 ? 1.0 : power(size, y);
  // What the quotient lost, by the product in parts.
  double d = (double)n, a = upper(y), b = upper(d), p = y * d;
  double lost = ((a * b - p) + a * (d - b) + (y - a) * b) + (y - a) * (d - b);
  double rest = ((1.0 - p) - lost) / d;
  t += t * (rest * f_log_64(size));
  return n & 1 ? copysign(t, x) : t;
}

double f_hypot_64(double x, double y) {
  double a = fabs(x), b = fabs(y);
  if (isinf(a) || isinf(b))
    return INFINITY;
  if (isnan(a) || isnan(b))
    return NAN;
  double large = a > b ? a : b, small = a > b ? b : a;
  double up = 1.0, down = 1.0;
  if (large > 1e150) {
    up = power_of_two(-700);
    down = power_of_two(700);
  } else if (large < 1e-150) {
    up = power_of_two(700);
    down = power_of_two(-700);
  }
  large *= up;
  small *= up;
  return sqrt(large * large + small * small) * down;
}

double f_lgamma_64(double x) {
  if (isnan(x))
    return x;
  if (isinf(x) || (x <= 0.0 && rint(x) == x))
    return INFINITY;
  if (x > 0.0)
    return log_gamma(x);
  if (x > -1e-17)
    return -f_log_64(-x);
  double s = fabs(f_sinpi_64(x));
  return 1.14472988584940016388e+00 - f_log_64(s) - f_log_64(-x) - log_gamma(-x);
}

int f_lgamma_sign_64(double x) {
  if (x > 0.0 || isnan(x))
    return 1;
  if (x == 0.0)
    return signbit(x) ? -1 : 1;
  double whole = floor(x);
  return whole == x || rint(0.5 * whole) == 0.5 * whole ? 1 : -1;
}

static double gamma_of(double x) {
  if (x > 172.0)
    return INFINITY;
  if (x > 20.0) {
    double root = power(x, 0.5 * (x - 0.5));
    return (root * f_exp_64(-x)) * root * (2.50662827463100024161e+00 * f_exp_64(stirling(x)));
  }
  double product = 1.0, below = 1.0;
  while (x > 2.5) {
    x -= 1.0;
    product *= x;
  }
  while (x < 1.5) {
    below *= x;
    x += 1.0;
  }
  return product * f_exp_64(log_gamma_two(x - 2.0)) / below;
}

double f_tgamma_64(double x) {
  if (isnan(x))
    return x;
  if (x == 0.0)
    return copysign((double)INFINITY, x);
  if (x > 0.0)
    return gamma_of(x);
  if (rint(x) == x || isinf(x))
    return NAN;
  if (x > -1e-15)
    return 1.0 / x;
  if (x < -184.0)
    return f_lgamma_sign_64(x) < 0 ? -0.0 : 0.0;
  double s = f_sinpi_64(x);
  if (x < -165.0) {
    // gamma(1 - x) overflows: it is gamma(-15 - x) times sixteen factors.
    double result = 3.14159265358979311600e+00 / (s * gamma_of(-15.0 - x));
    for (int n = 0; n < 16; n++)
      result /= x + (double)n;
    return result;
  }
  return -3.14159265358979311600e+00 / (s * (x * gamma_of(-x)));
}

double f_nextafter_64(double x, double y) {
  if (isnan(x) || isnan(y))
    return NAN;
  if (x == y)
    return y;
  ulong bits = as_ulong(x);
  if ((bits << 1) == 0)
    return as_double(1UL | (as_ulong(y) & 0x8000000000000000UL));
  return as_double((x < y) == (x > 0.0) ? bits + 1 : bits - 1);
}

int f_ilogb_64(double x) {
  ulong bits = as_ulong(x) & 0x7fffffffffffffffUL;
  if (bits == 0)
    return FP_ILOGB0;
  if (bits >= 0x7ff0000000000000UL)
    return bits == 0x7ff0000000000000UL ? INT_MAX : FP_ILOGBNAN;
  return (bits >> 52) == 0 ? -1011 - (int)clz(bits) : (int)(bits >> 52) - 1023;
}

double f_logb_64(double x) {
  double a = fabs(x);
  if (!(a > 0.0))
    return a == 0.0 ? -INFINITY : x;
  return a == INFINITY ? a : (double)f_ilogb_64(x);
}
