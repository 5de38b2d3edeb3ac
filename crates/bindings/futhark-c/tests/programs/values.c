// Makes and takes apart values of all kinds of types, and calls entry points with them.

#include "shapes.h"
#include <stdlib.h>
#include <string.h>

#define CHECK(condition)                                           \
  if (!(condition)) {                                              \
    char *text = futhark_context_get_error(ctx);                   \
    fprintf(stderr, "line %d: %s\n", __LINE__, text ? text : "-"); \
    exit(1);                                                       \
  }

static void check_arrays(struct futhark_context *ctx) {
  const float xs[] = {1, 2, 3}, ys[] = {4, 5, 6};
  float result, element, values[3];
  struct futhark_f32_1d *a = futhark_new_f32_1d(ctx, xs, 3);
  struct futhark_f32_1d *b = futhark_new_raw_f32_1d(ctx, (unsigned char *)ys, 3);
  CHECK(a != NULL && b != NULL);
  CHECK(futhark_entry_dot(ctx, &result, a, b) == 0 && futhark_context_sync(ctx) == 0);
  CHECK(result == 32);
  CHECK(futhark_shape_f32_1d(ctx, b)[0] == 3);
  CHECK(futhark_index_f32_1d(ctx, &element, b, 2) == 0 && element == 6);
  CHECK(futhark_values_f32_1d(ctx, b, values) == 0 && memcmp(values, ys, sizeof ys) == 0);
  CHECK(memcmp(futhark_values_raw_f32_1d(ctx, a), xs, sizeof xs) == 0);
  CHECK(futhark_free_f32_1d(ctx, a) == 0 && futhark_free_f32_1d(ctx, b) == 0);
}

// An array that is returned shares memory with the argument. One that is a constant of the program does not.
static void check_consumption(struct futhark_context *ctx) {
  const int32_t xs[] = {7, 8};
  int32_t values[3];
  struct futhark_i32_1d *given = futhark_new_i32_1d(ctx, xs, 2), *same, *filled, *constant;
  CHECK(futhark_entry_same(ctx, &same, given) == 0 && futhark_free_i32_1d(ctx, given) == 0);
  CHECK(futhark_entry_fill(ctx, &filled, same, 5) == 0 && futhark_free_i32_1d(ctx, same) == 0);
  CHECK(futhark_values_i32_1d(ctx, filled, values) == 0 && values[0] == 5 && values[1] == 8);
  CHECK(futhark_free_i32_1d(ctx, filled) == 0);
  for (int round = 0; round < 2; round++) {
    CHECK(futhark_entry_table(ctx, &constant) == 0);
    CHECK(futhark_values_i32_1d(ctx, constant, values) == 0 && values[0] == 1 && values[2] == 3);
    CHECK(futhark_entry_fill(ctx, &filled, constant, 9) == 0);
    CHECK(futhark_free_i32_1d(ctx, constant) == 0 && futhark_free_i32_1d(ctx, filled) == 0);
  }
}

static void check_records(struct futhark_context *ctx) {
  const double xs[] = {1, 2}, ys[] = {3, 4};
  double y;
  struct futhark_f64_1d *a = futhark_new_f64_1d(ctx, xs, 2), *b = futhark_new_f64_1d(ctx, ys, 2), *column;
  struct futhark_opaque_arr1d_point *points, *scaled, *joined;
  struct futhark_opaque_point *point, *other;
  CHECK(futhark_zip_opaque_arr1d_point(ctx, &points, a, b) == 0);
  CHECK(futhark_entry_scale(ctx, &scaled, 10, points) == 0);
  CHECK(futhark_shape_opaque_arr1d_point(ctx, scaled)[0] == 2);
  CHECK(futhark_index_opaque_arr1d_point(ctx, &point, scaled, 1) == 0);
  CHECK(futhark_project_opaque_point_y(ctx, &y, point) == 0 && y == 40);
  CHECK(futhark_new_opaque_point(ctx, &other, 5, 6) == 0);
  struct futhark_opaque_point *elements[] = {point, other, point};
  CHECK(futhark_new_opaque_arr1d_point(ctx, &joined, elements, 3) == 0);
  CHECK(futhark_set_opaque_arr1d_point(ctx, joined, other, 0) == 0);
  CHECK(futhark_project_opaque_arr1d_point_x(ctx, &column, joined) == 0);
  double columns[3];
  CHECK(futhark_values_f64_1d(ctx, column, columns) == 0);
  CHECK(columns[0] == 5 && columns[1] == 5 && columns[2] == 20);
  CHECK(futhark_free_f64_1d(ctx, a) == 0 && futhark_free_f64_1d(ctx, b) == 0);
  CHECK(futhark_free_f64_1d(ctx, column) == 0 && futhark_free_opaque_arr1d_point(ctx, joined) == 0);
  CHECK(futhark_free_opaque_arr1d_point(ctx, points) == 0);
  CHECK(futhark_free_opaque_arr1d_point(ctx, scaled) == 0);
  CHECK(futhark_free_opaque_point(ctx, point) == 0 && futhark_free_opaque_point(ctx, other) == 0);
}

static void check_sums(struct futhark_context *ctx) {
  double area, radius;
  struct futhark_opaque_shape *square, *circle;
  struct futhark_opaque_arr1d_point *corners;
  struct futhark_opaque_point *centre, *found;
  CHECK(futhark_entry_square(ctx, &square, 3) == 0);
  CHECK(futhark_variant_opaque_shape(ctx, square) == 2);
  CHECK(futhark_destruct_opaque_shape_polygon(ctx, &corners, square) == 0);
  CHECK(futhark_shape_opaque_arr1d_point(ctx, corners)[0] == 4);
  CHECK(futhark_entry_area(ctx, &area, square) == 0 && area == 9);
  CHECK(futhark_new_opaque_point(ctx, &centre, 1, 1) == 0);
  CHECK(futhark_new_opaque_shape_circle(ctx, &circle, centre, 2) == 0);
  CHECK(futhark_variant_opaque_shape(ctx, circle) == 0);
  CHECK(futhark_entry_area(ctx, &area, circle) == 0 && area == 12);
  CHECK(futhark_destruct_opaque_shape_circle(ctx, &found, &radius, circle) == 0 && radius == 2);
  CHECK(futhark_free_opaque_point(ctx, found) == 0 && futhark_free_opaque_point(ctx, centre) == 0);
  CHECK(futhark_free_opaque_shape(ctx, circle) == 0);
  CHECK(futhark_new_opaque_shape_nothing(ctx, &circle) == 0);
  CHECK(futhark_variant_opaque_shape(ctx, circle) == 1);
  CHECK(futhark_destruct_opaque_shape_nothing(ctx, circle) == 0);
  CHECK(futhark_free_opaque_shape(ctx, square) == 0 && futhark_free_opaque_shape(ctx, circle) == 0);
  CHECK(futhark_free_opaque_arr1d_point(ctx, corners) == 0);
}

static void check_arrays_of_sums(struct futhark_context *ctx) {
  int64_t count, payload;
  struct futhark_opaque_arr1d_mark *marks, *joined;
  struct futhark_opaque_mark *even, *odd;
  CHECK(futhark_entry_marks(ctx, &marks, 4) == 0);
  CHECK(futhark_entry_count(ctx, &count, marks) == 0 && count == 202);
  CHECK(futhark_index_opaque_arr1d_mark(ctx, &even, marks, 2) == 0);
  CHECK(futhark_variant_opaque_mark(ctx, even) == 0);
  CHECK(futhark_destruct_opaque_mark_even(ctx, &payload, even) == 0 && payload == 2);
  CHECK(futhark_new_opaque_mark_odd(ctx, &odd) == 0);
  CHECK(futhark_set_opaque_arr1d_mark(ctx, marks, odd, 2) == 0);
  CHECK(futhark_entry_count(ctx, &count, marks) == 0 && count == 300);
  struct futhark_opaque_mark *elements[] = {even, odd};
  CHECK(futhark_new_opaque_arr1d_mark(ctx, &joined, elements, 2) == 0);
  CHECK(futhark_entry_count(ctx, &count, joined) == 0 && count == 102);
  CHECK(futhark_free_opaque_arr1d_mark(ctx, joined) == 0);
  CHECK(futhark_new_opaque_arr1d_mark(ctx, &joined, NULL, 0) == 0);
  CHECK(futhark_shape_opaque_arr1d_mark(ctx, joined)[0] == 0);
  CHECK(futhark_entry_count(ctx, &count, joined) == 0 && count == 0);
  CHECK(futhark_free_opaque_arr1d_mark(ctx, joined) == 0 && futhark_free_opaque_arr1d_mark(ctx, marks) == 0);
  CHECK(futhark_free_opaque_mark(ctx, even) == 0 && futhark_free_opaque_mark(ctx, odd) == 0);
}

static void check_storage(struct futhark_context *ctx) {
  void *bytes = NULL, *again;
  size_t size, same;
  double area;
  struct futhark_opaque_shape *shape, *restored;
  CHECK(futhark_entry_square(ctx, &shape, 2) == 0);
  CHECK(futhark_store_opaque_shape(ctx, shape, NULL, &size) == 0 && size > 0);
  CHECK(futhark_store_opaque_shape(ctx, shape, &bytes, &same) == 0 && size == same);
  again = malloc(size);
  CHECK(futhark_store_opaque_shape(ctx, shape, &again, &same) == 0 && memcmp(bytes, again, size) == 0);
  restored = futhark_restore_opaque_shape(ctx, bytes);
  CHECK(restored != NULL && futhark_entry_area(ctx, &area, restored) == 0 && area == 4);
  CHECK(futhark_free_opaque_shape(ctx, shape) == 0 && futhark_free_opaque_shape(ctx, restored) == 0);
  free(bytes);
  free(again);
}

// Types with type arguments have a hash for a name, abstract types are what they hide.
static void check_names(struct futhark_context *ctx) {
  struct futhark_opaque_unit *unit, *result;
  int64_t hidden, shown;
  CHECK(futhark_new_opaque_unit(ctx, &unit) == 0);
  CHECK(futhark_entry_unit(ctx, &result, unit) == 0);
  CHECK(futhark_free_opaque_unit(ctx, unit) == 0 && futhark_free_opaque_unit(ctx, result) == 0);
  CHECK(futhark_entry_hide(ctx, &hidden, 41) == 0 && hidden == 42);
  CHECK(futhark_entry_show(ctx, &shown, hidden) == 0 && shown == 41);
}

int main(void) {
  struct futhark_context_config *cfg = futhark_context_config_new();
  futhark_context_config_set_num_threads(cfg, 2);
  futhark_context_config_set_profiling(cfg, 1);
  struct futhark_context *ctx = futhark_context_new(cfg);
  CHECK(futhark_context_get_error(ctx) == NULL);
  check_arrays(ctx);
  check_consumption(ctx);
  check_records(ctx);
  check_sums(ctx);
  check_arrays_of_sums(ctx);
  check_storage(ctx);
  check_names(ctx);
  CHECK(futhark_context_clear_caches(ctx) == 0);
  char *report = futhark_context_report(ctx);
  CHECK(report != NULL && strstr(report, "\"dot\"") != NULL);
  free(report);
  futhark_context_free(ctx);
  futhark_context_config_free(cfg);
  return 0;
}
