// Uses the interface wrongly. Each fault is a code and a message, and the next call works.

#include "shapes.h"
#include <stdlib.h>
#include <string.h>

static void expect_error(struct futhark_context *ctx, const char *words, int line) {
  char *text = futhark_context_get_error(ctx);
  if (text == NULL || strstr(text, words) == NULL) {
    fprintf(stderr, "line %d: %s is not in %s\n", line, words, text ? text : "-");
    exit(1);
  }
  free(text);
  if (futhark_context_get_error(ctx) != NULL) {
    fprintf(stderr, "line %d: the message is given twice\n", line);
    exit(1);
  }
}

#define CHECK(condition)                                \
  if (!(condition)) {                                   \
    fprintf(stderr, "line %d: not as it should be\n", __LINE__); \
    exit(1);                                            \
  }
#define EXPECT(code, words, call)            \
  CHECK((call) == code);                     \
  expect_error(ctx, words, __LINE__);

static void check_calls(struct futhark_context *ctx, struct futhark_i32_1d *xs) {
  int32_t found = 77;
  EXPECT(FUTHARK_PROGRAM_ERROR, "Index [2] out of bounds for array of shape [2].", futhark_entry_get(ctx, &found, xs, 2));
  CHECK(found == 77);
  EXPECT(FUTHARK_PROGRAM_ERROR, "shapes.fut:", futhark_entry_get(ctx, &found, xs, -1));
  CHECK(futhark_entry_get(ctx, &found, xs, 1) == FUTHARK_SUCCESS && found == 8);
  EXPECT(1, "null", futhark_entry_get(ctx, &found, NULL, 0));
  EXPECT(1, "null", futhark_entry_get(ctx, NULL, xs, 0));
  const float ones[] = {1, 1, 1};
  float sum;
  struct futhark_f32_1d *two = futhark_new_f32_1d(ctx, ones, 2), *three = futhark_new_f32_1d(ctx, ones, 3);
  EXPECT(FUTHARK_PROGRAM_ERROR, "arguments have invalid sizes", futhark_entry_dot(ctx, &sum, two, three));
  CHECK(futhark_entry_dot(ctx, &sum, three, three) == FUTHARK_SUCCESS && sum == 3);
  CHECK(futhark_free_f32_1d(ctx, two) == 0 && futhark_free_f32_1d(ctx, three) == 0);
}

static void check_arrays(struct futhark_context *ctx, struct futhark_i32_1d *xs) {
  int32_t found;
  EXPECT(1, "Index out of bounds.", futhark_index_i32_1d(ctx, &found, xs, 2));
  EXPECT(1, "Index out of bounds.", futhark_index_i32_1d(ctx, &found, xs, -1));
  EXPECT(NULL, "negative", futhark_new_i32_1d(ctx, &found, -1));
  EXPECT(NULL, "too large", futhark_new_i32_1d(ctx, &found, INT64_MAX));
  EXPECT(NULL, "null", futhark_new_i32_1d(ctx, NULL, 3));
  EXPECT(1, "null", futhark_values_i32_1d(ctx, xs, NULL));
  EXPECT(1, "null", futhark_values_i32_1d(ctx, NULL, &found));
  EXPECT(1, "null", futhark_free_i32_1d(ctx, NULL));
  struct futhark_i32_1d *empty = futhark_new_i32_1d(ctx, NULL, 0);
  CHECK(empty != NULL && futhark_values_i32_1d(ctx, empty, NULL) == 0);
  CHECK(futhark_free_i32_1d(ctx, empty) == 0);
}

static void check_opaque_values(struct futhark_context *ctx) {
  const double xs[] = {1, 2};
  struct futhark_f64_1d *one = futhark_new_f64_1d(ctx, xs, 1), *two = futhark_new_f64_1d(ctx, xs, 2);
  struct futhark_opaque_arr1d_point *points;
  struct futhark_opaque_point *point;
  EXPECT(1, "different shapes", futhark_zip_opaque_arr1d_point(ctx, &points, one, two));
  CHECK(futhark_zip_opaque_arr1d_point(ctx, &points, two, two) == 0);
  EXPECT(1, "Index out of bounds.", futhark_index_opaque_arr1d_point(ctx, &point, points, 2));
  EXPECT(1, "null", futhark_set_opaque_arr1d_point(ctx, points, NULL, 0));
  CHECK(futhark_new_opaque_point(ctx, &point, 0, 0) == 0);
  EXPECT(1, "Index out of bounds.", futhark_set_opaque_arr1d_point(ctx, points, point, 2));
  struct futhark_opaque_point *elements[] = {point, NULL};
  EXPECT(1, "null", futhark_new_opaque_arr1d_point(ctx, &points, elements, 2));
  struct futhark_opaque_mark *mark;
  int64_t payload = 7;
  CHECK(futhark_new_opaque_mark_odd(ctx, &mark) == 0);
  EXPECT(1, "the constructor 1, not 0", futhark_destruct_opaque_mark_even(ctx, &payload, mark));
  CHECK(payload == 7 && futhark_free_opaque_mark(ctx, mark) == 0);
  char garbage[64] = {0};
  EXPECT(NULL, "no value of this type", futhark_restore_opaque_shape(ctx, garbage));
  EXPECT(NULL, "null", futhark_restore_opaque_shape(ctx, NULL));
  CHECK(futhark_free_f64_1d(ctx, one) == 0 && futhark_free_f64_1d(ctx, two) == 0);
  CHECK(futhark_free_opaque_arr1d_point(ctx, points) == 0 && futhark_free_opaque_point(ctx, point) == 0);
}

static void check_contexts(struct futhark_context *ctx, struct futhark_i32_1d *xs) {
  struct futhark_context_config *cfg = futhark_context_config_new();
  CHECK(futhark_context_config_set_tuning_param(cfg, "no_such_parameter", 1) != 0);
  struct futhark_context *other = futhark_context_new(cfg);
  struct futhark_i32_1d *same;
  CHECK(futhark_entry_same(other, &same, xs) == 1);
  expect_error(other, "another context", __LINE__);
  futhark_context_free(other);
  futhark_context_config_set_device(cfg, "no such device");
  other = futhark_context_new(cfg);
  expect_error(other, "no device no such device", __LINE__);
  CHECK(futhark_context_sync(other) != 0);
  CHECK(futhark_entry_table(other, &same) != 0);
  CHECK(futhark_new_i32_1d(other, NULL, 0) == NULL);
  futhark_context_free(other);
  futhark_context_config_free(cfg);
  CHECK(futhark_entry_table(NULL, &same) != 0 && futhark_context_get_error(NULL) == NULL);
  CHECK(futhark_context_sync(ctx) == 0);
}

int main(void) {
  const int32_t numbers[] = {7, 8};
  struct futhark_context_config *cfg = futhark_context_config_new();
  struct futhark_context *ctx = futhark_context_new(cfg);
  struct futhark_i32_1d *xs = futhark_new_i32_1d(ctx, numbers, 2);
  for (int round = 0; round < 20; round++) {
    check_calls(ctx, xs);
    check_arrays(ctx, xs);
    check_opaque_values(ctx);
  }
  check_contexts(ctx, xs);
  CHECK(futhark_free_i32_1d(ctx, xs) == 0);
  futhark_context_free(ctx);
  futhark_context_config_free(cfg);
  return 0;
}
