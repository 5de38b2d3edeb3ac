// The library spirula_futhark_c, as its header declares it.
typedef struct SpirulaFutharkConfig SpirulaFutharkConfig;
typedef struct SpirulaFutharkContext SpirulaFutharkContext;
typedef struct SpirulaFutharkValue SpirulaFutharkValue;
typedef void *(*SpirulaFutharkAllocate)(size_t);
typedef void (*SpirulaFutharkWrite)(void *, const char *);
#ifndef SPIRULA_FUTHARK_H
typedef struct SpirulaFutharkProgram {
  const uint8_t *processor;
  size_t processor_size;
  const uint8_t *graphics;
  size_t graphics_size;
} SpirulaFutharkProgram;
#endif

SpirulaFutharkConfig *spirula_futhark_config_new(const SpirulaFutharkProgram *program);
void spirula_futhark_config_free(SpirulaFutharkConfig *config);
void spirula_futhark_config_set_device(SpirulaFutharkConfig *config, const char *name);
void spirula_futhark_config_set_threads(SpirulaFutharkConfig *config, int count);
void spirula_futhark_config_set_parameter(SpirulaFutharkConfig *config, const char *name, size_t value);
void spirula_futhark_config_set_cache(SpirulaFutharkConfig *config, const char *path);
void spirula_futhark_config_set_logging(SpirulaFutharkConfig *config, int flag);
void spirula_futhark_config_set_profiling(SpirulaFutharkConfig *config, int flag);

SpirulaFutharkContext *spirula_futhark_context_new(const SpirulaFutharkConfig *config);
void spirula_futhark_context_free(SpirulaFutharkContext *context);
int spirula_futhark_context_sync(SpirulaFutharkContext *context);
int spirula_futhark_context_clear_caches(SpirulaFutharkContext *context);
void spirula_futhark_context_pause(SpirulaFutharkContext *context, int flag);
char *spirula_futhark_context_get_error(SpirulaFutharkContext *context, SpirulaFutharkAllocate allocate);
char *spirula_futhark_context_report(SpirulaFutharkContext *context, SpirulaFutharkAllocate allocate);
void spirula_futhark_context_set_log(SpirulaFutharkContext *context, SpirulaFutharkWrite write, void *file);

int spirula_futhark_call(SpirulaFutharkContext *context, const char *entry, const char *input_words, const void *const *inputs, const char *output_word, void *output);

SpirulaFutharkValue *spirula_futhark_array_new(SpirulaFutharkContext *context, const char *type_word, const void *data, const int64_t *sizes);
int spirula_futhark_array_values(SpirulaFutharkContext *context, const SpirulaFutharkValue *array, void *data);
int spirula_futhark_array_index(SpirulaFutharkContext *context, const SpirulaFutharkValue *array, const int64_t *indices, void *out);
uint8_t *spirula_futhark_array_raw(SpirulaFutharkContext *context, const SpirulaFutharkValue *array);

int spirula_futhark_value_free(SpirulaFutharkContext *context, SpirulaFutharkValue *value);
const int64_t *spirula_futhark_value_shape(const SpirulaFutharkValue *value);
int spirula_futhark_value_new(SpirulaFutharkContext *context, const char *words, size_t rank, const void *const *fields, SpirulaFutharkValue **out);
int spirula_futhark_value_project(SpirulaFutharkContext *context, const SpirulaFutharkValue *value, size_t first, size_t count, const char *word, void *out);
int spirula_futhark_value_variant(SpirulaFutharkContext *context, const SpirulaFutharkValue *value);
int spirula_futhark_value_check_variant(SpirulaFutharkContext *context, const SpirulaFutharkValue *value, int variant);
int spirula_futhark_value_index(SpirulaFutharkContext *context, const SpirulaFutharkValue *array, size_t rank, const int64_t *indices, SpirulaFutharkValue **out);
int spirula_futhark_value_set(SpirulaFutharkContext *context, const SpirulaFutharkValue *array, const SpirulaFutharkValue *element, size_t rank, const int64_t *indices);
SpirulaFutharkValue *spirula_futhark_value_restore(SpirulaFutharkContext *context, const char *words, const void *bytes);
int spirula_futhark_value_store(SpirulaFutharkContext *context, const SpirulaFutharkValue *value, void **bytes, size_t *size, SpirulaFutharkAllocate allocate);
int spirula_futhark_values_join(SpirulaFutharkContext *context, const char *words, size_t rank, const SpirulaFutharkValue *const *elements, const int64_t *sizes, SpirulaFutharkValue **out);

#define CONFIG(cfg) ((SpirulaFutharkConfig *)(cfg))
#define CONTEXT(ctx) ((SpirulaFutharkContext *)(ctx))
#define VALUE(value) ((SpirulaFutharkValue *)(value))
