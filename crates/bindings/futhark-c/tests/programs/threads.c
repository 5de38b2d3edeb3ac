// Several threads use one context.

#include "shapes.h"
#include <pthread.h>
#include <stdlib.h>

enum { THREADS = 4, ROUNDS = 50, LENGTH = 1000 };

static struct futhark_context *ctx;

static void *run_thread(void *argument) {
  float factor = *(float *)argument, values[LENGTH], sum;
  for (int i = 0; i < LENGTH; i++) values[i] = factor;
  for (int round = 0; round < ROUNDS; round++) {
    struct futhark_f32_1d *xs = futhark_new_f32_1d(ctx, values, LENGTH);
    if (futhark_entry_dot(ctx, &sum, xs, xs) != 0 || sum != factor * factor * LENGTH) return argument;
    if (futhark_free_f32_1d(ctx, xs) != 0) return argument;
  }
  return NULL;
}

int main(void) {
  struct futhark_context_config *cfg = futhark_context_config_new();
  ctx = futhark_context_new(cfg);
  pthread_t threads[THREADS];
  float factors[THREADS];
  int code = 0;
  for (int i = 0; i < THREADS; i++) {
    factors[i] = (float)i + 1;
    if (pthread_create(&threads[i], NULL, run_thread, &factors[i]) != 0) return 2;
  }
  for (int i = 0; i < THREADS; i++) {
    void *fault;
    pthread_join(threads[i], &fault);
    if (fault != NULL) code = 1;
  }
  futhark_context_free(ctx);
  futhark_context_config_free(cfg);
  return code;
}
