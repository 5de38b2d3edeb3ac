/* Library that C interfaces of compiled Futhark programs call. Generated from crates/bindings/futhark-c/src by
 * its test with BLESS=1; do not edit.
 *
 * A function that can fail returns SPIRULA_FUTHARK_SUCCESS or another code, or NULL. The context has the message. A type word
 * is the type of a scalar or of an array of scalars as Futhark writes it: i32, [][]f32. A value consists of scalars and
 * arrays, its parts. A context may be used by several threads. */

#ifndef SPIRULA_FUTHARK_H
#define SPIRULA_FUTHARK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// Success.
#define SPIRULA_FUTHARK_SUCCESS 0

// A failure that has no code of its own.
#define SPIRULA_FUTHARK_FAILURE 1

// The program failed, or its arguments do not fit it.
#define SPIRULA_FUTHARK_PROGRAM_ERROR 2

// There was no memory for a value.
#define SPIRULA_FUTHARK_OUT_OF_MEMORY 3

// A configuration.
typedef struct SpirulaFutharkConfig SpirulaFutharkConfig;

// A program on a device.
typedef struct SpirulaFutharkContext SpirulaFutharkContext;

// A value of a program.
typedef struct SpirulaFutharkValue SpirulaFutharkValue;

// The archives of a program: one for the processor, one for graphics devices. One of them may be null.
typedef struct SpirulaFutharkProgram {
  // The archive for the CPU device.
  const uint8_t *processor;
  // Its bytes.
  size_t processor_size;
  // The archive for graphics devices.
  const uint8_t *graphics;
  // Its bytes.
  size_t graphics_size;
} SpirulaFutharkProgram;

// A function that allocates memory as `malloc` does.
typedef void *(*SpirulaFutharkAllocate)(size_t);

// A function that writes a line of text to a file.
typedef void (*SpirulaFutharkWrite)(void*, const char*);

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Creates an array of a type such as `[][]f32` from its elements in row-major order, which are copied.
struct SpirulaFutharkValue *spirula_futhark_array_new(struct SpirulaFutharkContext *context,
                                                      const char *type_word,
                                                      const void *data,
                                                      const int64_t *sizes);

// Copies all elements of an array to memory that has room for them.
int spirula_futhark_array_values(struct SpirulaFutharkContext *context,
                                 const struct SpirulaFutharkValue *array,
                                 void *data);

// Copies an element of an array.
int spirula_futhark_array_index(struct SpirulaFutharkContext *context,
                                const struct SpirulaFutharkValue *array,
                                const int64_t *indices,
                                void *out);

// The elements of an array in memory of the host: a copy that is made once, and freed with the value.
uint8_t *spirula_futhark_array_raw(struct SpirulaFutharkContext *context,
                                   const struct SpirulaFutharkValue *array);

// Calls an entry point. `input_words` has a word for each input, with blanks between them: the type word of a scalar, or `*`
// for a value. `inputs` are pointers to scalars, and values. `output_word` says the same of the result. A scalar is written
// to `output`; otherwise a new value is, which the caller frees.
int spirula_futhark_call(struct SpirulaFutharkContext *context,
                         const char *entry,
                         const char *input_words,
                         const void *const *inputs,
                         const char *output_word,
                         void *output);

// Creates a configuration for a program, whose archives stay where they are while contexts exist. Null without a program.
struct SpirulaFutharkConfig *spirula_futhark_config_new(const struct SpirulaFutharkProgram *program);

// Frees a configuration; null is allowed.
void spirula_futhark_config_free(struct SpirulaFutharkConfig *config);

// Chooses the device: by its name (`cpu`, `vulkan:0`), by its number among all devices (`#1`), or as the first whose name
// contains the text. By default it is the one that the variable `SPIRULA_DEVICE` of the environment names so, or `cpu`.
void spirula_futhark_config_set_device(struct SpirulaFutharkConfig *config,
                                       const char *name);

// Sets the number of threads of the CPU device; below one it is one for each processor.
void spirula_futhark_config_set_threads(struct SpirulaFutharkConfig *config, int count);

// Sets a tuning parameter by its name, or all parameters of a class by the name of the class.
void spirula_futhark_config_set_parameter(struct SpirulaFutharkConfig *config,
                                          const char *name,
                                          size_t value);

// Sets the folder in which compiled kernels are kept between runs; null for none.
void spirula_futhark_config_set_cache(struct SpirulaFutharkConfig *config, const char *path);

// Says whether calls are logged.
void spirula_futhark_config_set_logging(struct SpirulaFutharkConfig *config, int flag);

// Says whether the time of calls is recorded.
void spirula_futhark_config_set_profiling(struct SpirulaFutharkConfig *config, int flag);

// Creates a context. If its initialisation fails, it has an error, and it can only be freed. Null without a configuration.
struct SpirulaFutharkContext *spirula_futhark_context_new(const struct SpirulaFutharkConfig *config);

// Frees a context; null is allowed. Its values can no longer be used.
void spirula_futhark_context_free(struct SpirulaFutharkContext *context);

// Waits for all calls. Calls have ended when they return, so this only tells whether the context works.
int spirula_futhark_context_sync(struct SpirulaFutharkContext *context);

// Frees memory of the device that is kept for later calls.
int spirula_futhark_context_clear_caches(struct SpirulaFutharkContext *context);

// Takes the message of the last failure: memory of `allocate` that the caller frees. Null if there was none since the last
// call of this function.
char *spirula_futhark_context_get_error(struct SpirulaFutharkContext *context,
                                        SpirulaFutharkAllocate allocate);

// The record of calls, as a JSON object in memory of `allocate` that the caller frees.
char *spirula_futhark_context_report(struct SpirulaFutharkContext *context,
                                     SpirulaFutharkAllocate allocate);

// Pauses the recording of calls, or continues it.
void spirula_futhark_context_pause(struct SpirulaFutharkContext *context, int flag);

// Says where the log is written to: `write` is called with `file` and each line.
void spirula_futhark_context_set_log(struct SpirulaFutharkContext *context,
                                     SpirulaFutharkWrite write,
                                     void *file);

// Frees a value.
int spirula_futhark_value_free(struct SpirulaFutharkContext *context,
                               struct SpirulaFutharkValue *value);

// The sizes of an array, valid until it is freed. Null for null.
const int64_t *spirula_futhark_value_shape(const struct SpirulaFutharkValue *value);

// Makes a value of others. `words` has a word for each of its fields, with blanks between them. The type word of a scalar and
// `*` for a value need a pointer in `fields`. `=3` is the number of a constructor, and `-` before a type word a scalar that is
// zero or an array without elements. The first `rank` sizes of all parts have to be equal.
int spirula_futhark_value_new(struct SpirulaFutharkContext *context,
                              const char *words,
                              size_t rank,
                              const void *const *fields,
                              struct SpirulaFutharkValue **out);

// Extracts parts of a value: a scalar of the type of `word`, or for `*` a new value that shares the arrays.
int spirula_futhark_value_project(struct SpirulaFutharkContext *context,
                                  const struct SpirulaFutharkValue *value,
                                  size_t first,
                                  size_t count,
                                  const char *word,
                                  void *out);

// The number of a sum's constructor; negative for a value that is no sum.
int spirula_futhark_value_variant(struct SpirulaFutharkContext *context,
                                  const struct SpirulaFutharkValue *value);

// Fails where a sum has another constructor than that of a number.
int spirula_futhark_value_check_variant(struct SpirulaFutharkContext *context,
                                        const struct SpirulaFutharkValue *value,
                                        int variant);

// Extracts an element of an array of records or sums, below its first `rank` dimensions.
int spirula_futhark_value_index(struct SpirulaFutharkContext *context,
                                const struct SpirulaFutharkValue *array,
                                size_t rank,
                                const int64_t *indices,
                                struct SpirulaFutharkValue **out);

// Replaces an element of an array of records or sums. Values that share the array change, too.
int spirula_futhark_value_set(struct SpirulaFutharkContext *context,
                              const struct SpirulaFutharkValue *array,
                              const struct SpirulaFutharkValue *element,
                              size_t rank,
                              const int64_t *indices);

// Makes an array of records or sums of its elements, in row-major order. `words` has the type word of each part of an element,
// with blanks between them. The elements of an array without elements have no elements either.
int spirula_futhark_values_join(struct SpirulaFutharkContext *context,
                                const char *words,
                                size_t rank,
                                const struct SpirulaFutharkValue *const *elements,
                                const int64_t *sizes,
                                struct SpirulaFutharkValue **out);

// Stores a value as bytes. Their number is written to `size`. Nothing else happens where `bytes` is null. Where `*bytes` is
// null, it becomes memory of `allocate` that the caller frees; otherwise it has room for all bytes.
int spirula_futhark_value_store(struct SpirulaFutharkContext *context,
                                const struct SpirulaFutharkValue *value,
                                void **bytes,
                                size_t *size,
                                SpirulaFutharkAllocate allocate);

// Restores a value that was stored. `words` has the type word of each of its parts, with blanks between them. Null where the
// bytes are no value of this type.
struct SpirulaFutharkValue *spirula_futhark_value_restore(struct SpirulaFutharkContext *context,
                                                          const char *words,
                                                          const void *bytes);

// Creates a configuration for a program, whose archives stay where they are while contexts exist. Null without a program.
struct SpirulaFutharkConfig *spirula_futhark_config_new(const struct SpirulaFutharkProgram *program);

// Frees a configuration; null is allowed.
void spirula_futhark_config_free(struct SpirulaFutharkConfig *config);

// Chooses the device: by its name (`cpu`, `vulkan:0`), by its number among all devices (`#1`), or as the first whose name
// contains the text. By default it is the one that the variable `SPIRULA_DEVICE` of the environment names so, or `cpu`.
void spirula_futhark_config_set_device(struct SpirulaFutharkConfig *config,
                                       const char *name);

// Sets the number of threads of the CPU device; below one it is one for each processor.
void spirula_futhark_config_set_threads(struct SpirulaFutharkConfig *config, int count);

// Sets a tuning parameter by its name, or all parameters of a class by the name of the class.
void spirula_futhark_config_set_parameter(struct SpirulaFutharkConfig *config,
                                          const char *name,
                                          size_t value);

// Sets the folder in which compiled kernels are kept between runs; null for none.
void spirula_futhark_config_set_cache(struct SpirulaFutharkConfig *config, const char *path);

// Says whether calls are logged.
void spirula_futhark_config_set_logging(struct SpirulaFutharkConfig *config, int flag);

// Says whether the time of calls is recorded.
void spirula_futhark_config_set_profiling(struct SpirulaFutharkConfig *config, int flag);

// Creates a context. If its initialisation fails, it has an error, and it can only be freed. Null without a configuration.
struct SpirulaFutharkContext *spirula_futhark_context_new(const struct SpirulaFutharkConfig *config);

// Frees a context; null is allowed. Its values can no longer be used.
void spirula_futhark_context_free(struct SpirulaFutharkContext *context);

// Waits for all calls. Calls have ended when they return, so this only tells whether the context works.
int spirula_futhark_context_sync(struct SpirulaFutharkContext *context);

// Frees memory of the device that is kept for later calls.
int spirula_futhark_context_clear_caches(struct SpirulaFutharkContext *context);

// Takes the message of the last failure: memory of `allocate` that the caller frees. Null if there was none since the last
// call of this function.
char *spirula_futhark_context_get_error(struct SpirulaFutharkContext *context,
                                        SpirulaFutharkAllocate allocate);

// The record of calls, as a JSON object in memory of `allocate` that the caller frees.
char *spirula_futhark_context_report(struct SpirulaFutharkContext *context,
                                     SpirulaFutharkAllocate allocate);

// Pauses the recording of calls, or continues it.
void spirula_futhark_context_pause(struct SpirulaFutharkContext *context, int flag);

// Says where the log is written to: `write` is called with `file` and each line.
void spirula_futhark_context_set_log(struct SpirulaFutharkContext *context,
                                     SpirulaFutharkWrite write,
                                     void *file);

// Calls an entry point. `input_words` has a word for each input, with blanks between them: the type word of a scalar, or `*`
// for a value. `inputs` are pointers to scalars, and values. `output_word` says the same of the result. A scalar is written
// to `output`; otherwise a new value is, which the caller frees.
int spirula_futhark_call(struct SpirulaFutharkContext *context,
                         const char *entry,
                         const char *input_words,
                         const void *const *inputs,
                         const char *output_word,
                         void *output);

// Creates an array of a type such as `[][]f32` from its elements in row-major order, which are copied.
struct SpirulaFutharkValue *spirula_futhark_array_new(struct SpirulaFutharkContext *context,
                                                      const char *type_word,
                                                      const void *data,
                                                      const int64_t *sizes);

// Copies all elements of an array to memory that has room for them.
int spirula_futhark_array_values(struct SpirulaFutharkContext *context,
                                 const struct SpirulaFutharkValue *array,
                                 void *data);

// Copies an element of an array.
int spirula_futhark_array_index(struct SpirulaFutharkContext *context,
                                const struct SpirulaFutharkValue *array,
                                const int64_t *indices,
                                void *out);

// The elements of an array in memory of the host: a copy that is made once, and freed with the value.
uint8_t *spirula_futhark_array_raw(struct SpirulaFutharkContext *context,
                                   const struct SpirulaFutharkValue *array);

// Frees a value.
int spirula_futhark_value_free(struct SpirulaFutharkContext *context,
                               struct SpirulaFutharkValue *value);

// The sizes of an array, valid until it is freed. Null for null.
const int64_t *spirula_futhark_value_shape(const struct SpirulaFutharkValue *value);

// Makes a value of others. `words` has a word for each of its fields, with blanks between them. The type word of a scalar and
// `*` for a value need a pointer in `fields`. `=3` is the number of a constructor, and `-` before a type word a scalar that is
// zero or an array without elements. The first `rank` sizes of all parts have to be equal.
int spirula_futhark_value_new(struct SpirulaFutharkContext *context,
                              const char *words,
                              size_t rank,
                              const void *const *fields,
                              struct SpirulaFutharkValue **out);

// Extracts parts of a value: a scalar of the type of `word`, or for `*` a new value that shares the arrays.
int spirula_futhark_value_project(struct SpirulaFutharkContext *context,
                                  const struct SpirulaFutharkValue *value,
                                  size_t first,
                                  size_t count,
                                  const char *word,
                                  void *out);

// The number of a sum's constructor; negative for a value that is no sum.
int spirula_futhark_value_variant(struct SpirulaFutharkContext *context,
                                  const struct SpirulaFutharkValue *value);

// Fails where a sum has another constructor than that of a number.
int spirula_futhark_value_check_variant(struct SpirulaFutharkContext *context,
                                        const struct SpirulaFutharkValue *value,
                                        int variant);

// Extracts an element of an array of records or sums, below its first `rank` dimensions.
int spirula_futhark_value_index(struct SpirulaFutharkContext *context,
                                const struct SpirulaFutharkValue *array,
                                size_t rank,
                                const int64_t *indices,
                                struct SpirulaFutharkValue **out);

// Replaces an element of an array of records or sums. Values that share the array change, too.
int spirula_futhark_value_set(struct SpirulaFutharkContext *context,
                              const struct SpirulaFutharkValue *array,
                              const struct SpirulaFutharkValue *element,
                              size_t rank,
                              const int64_t *indices);

// Makes an array of records or sums of its elements, in row-major order. `words` has the type word of each part of an element,
// with blanks between them. The elements of an array without elements have no elements either.
int spirula_futhark_values_join(struct SpirulaFutharkContext *context,
                                const char *words,
                                size_t rank,
                                const struct SpirulaFutharkValue *const *elements,
                                const int64_t *sizes,
                                struct SpirulaFutharkValue **out);

// Stores a value as bytes. Their number is written to `size`. Nothing else happens where `bytes` is null. Where `*bytes` is
// null, it becomes memory of `allocate` that the caller frees; otherwise it has room for all bytes.
int spirula_futhark_value_store(struct SpirulaFutharkContext *context,
                                const struct SpirulaFutharkValue *value,
                                void **bytes,
                                size_t *size,
                                SpirulaFutharkAllocate allocate);

// Restores a value that was stored. `words` has the type word of each of its parts, with blanks between them. Null where the
// bytes are no value of this type.
struct SpirulaFutharkValue *spirula_futhark_value_restore(struct SpirulaFutharkContext *context,
                                                          const char *words,
                                                          const void *bytes);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPIRULA_FUTHARK_H */
