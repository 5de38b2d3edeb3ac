// About 100 kB of bitcode: rounds of a mixing function, unrolled by hand for many kernels.

#define ROTATE(v, n) ((v) << (n) | (v) >> (32 - (n)))
#define MIX(a, b, c, d) \
  a += b; d = ROTATE(d ^ a, 16); c += d; b = ROTATE(b ^ c, 12); \
  a += b; d = ROTATE(d ^ a, 8); c += d; b = ROTATE(b ^ c, 7);
#define ROUND \
  MIX(s[0], s[4], s[8], s[12]) MIX(s[1], s[5], s[9], s[13]) \
  MIX(s[2], s[6], s[10], s[14]) MIX(s[3], s[7], s[11], s[15]) \
  MIX(s[0], s[5], s[10], s[15]) MIX(s[1], s[6], s[11], s[12]) \
  MIX(s[2], s[7], s[8], s[13]) MIX(s[3], s[4], s[9], s[14])
#define KERNEL(name, rounds) \
  kernel void name(global const uint *in, global uint *out) { \
    size_t i = get_global_id(0) * 16; \
    uint s[16]; \
    for (int k = 0; k < 16; k++) s[k] = in[i + k]; \
    rounds \
    for (int k = 0; k < 16; k++) out[i + k] = s[k] + in[i + k]; \
  }

KERNEL(mix_1, ROUND)
KERNEL(mix_2, ROUND ROUND)
KERNEL(mix_4, ROUND ROUND ROUND ROUND)
KERNEL(mix_8, ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND)
KERNEL(mix_10, ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND)
KERNEL(mix_12, ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND)
KERNEL(mix_14, ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND)
KERNEL(mix_16, ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND ROUND)
