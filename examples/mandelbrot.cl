// A corner of the Mandelbrot set, lit from the upper left, as RGBA.
//
// Every pixel averages four samples. A sample follows z -> z^2 + c together with its derivative;
// the quotient of the two points away from the set, which gives the slope to light (the "normal
// map" of Arnaud Cheritat), and the smoothed number of rounds picks the colour.

float3 palette(float t) {
  float3 phase = (float3)(0.0f, 0.10f, 0.22f);
  return 0.5f + 0.5f * cos(6.2831853f * (t + phase));
}

float3 sample(float2 c, int rounds) {
  float2 z = c, dz = (float2)(1.0f, 0.0f);
  for (int i = 0; i < rounds; i++) {
    float r2 = dot(z, z);
    if (r2 > 1.0e4f) {
      float smooth = i + 1 - native_log2(native_log2(r2) * 0.5f);
      float2 u = (float2)(z.x * dz.x + z.y * dz.y, z.y * dz.x - z.x * dz.y);
      u *= rsqrt(dot(u, u));
      float light = clamp((dot(u, (float2)(-0.7071f, 0.7071f)) + 1.4f) / 2.4f, 0.0f, 1.0f);
      return palette(0.032f * smooth + 0.55f) * light;
    }
    dz = 2.0f * (float2)(z.x * dz.x - z.y * dz.y, z.x * dz.y + z.y * dz.x) + (float2)(1.0f, 0.0f);
    z = (float2)(z.x * z.x - z.y * z.y, 2.0f * z.x * z.y) + c;
  }
  return (float3)(0.02f, 0.02f, 0.05f);
}

// `x`, `y`: the middle of the picture; `height`: of the picture, in the plane.
kernel void mandelbrot(global uchar4 *pixels, float x, float y, float height, int rounds) {
  int column = get_global_id(0), row = get_global_id(1);
  int columns = get_global_size(0), rows = get_global_size(1);
  float3 sum = 0.0f;
  for (int s = 0; s < 4; s++) {
    float2 at = (float2)(column + 0.25f + 0.5f * (s & 1), row + 0.25f + 0.5f * (s >> 1));
    float2 c = (float2)(at.x - 0.5f * columns, 0.5f * rows - at.y) * (height / rows);
    sum += sample(c + (float2)(x, y), rounds);
  }
  float3 rgb = sqrt(0.25f * sum);
  pixels[row * columns + column] = (uchar4)(convert_uchar3_sat(255.0f * rgb), 255);
}
