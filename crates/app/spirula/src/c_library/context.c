
struct futhark_context_config *futhark_context_config_new(void) {
  return (struct futhark_context_config *)spirula_futhark_config_new(&program);
}

void futhark_context_config_free(struct futhark_context_config *cfg) {
  spirula_futhark_config_free(CONFIG(cfg));
}

void futhark_context_config_set_debugging(struct futhark_context_config *cfg, int flag) {
  spirula_futhark_config_set_logging(CONFIG(cfg), flag);
  spirula_futhark_config_set_profiling(CONFIG(cfg), flag);
}

void futhark_context_config_set_profiling(struct futhark_context_config *cfg, int flag) {
  spirula_futhark_config_set_profiling(CONFIG(cfg), flag);
}

void futhark_context_config_set_logging(struct futhark_context_config *cfg, int flag) {
  spirula_futhark_config_set_logging(CONFIG(cfg), flag);
}

void futhark_context_config_set_cache_file(struct futhark_context_config *cfg, const char *f) {
  spirula_futhark_config_set_cache(CONFIG(cfg), f);
}

void futhark_context_config_set_device(struct futhark_context_config *cfg, const char *s) {
  spirula_futhark_config_set_device(CONFIG(cfg), s);
}

void futhark_context_config_set_num_threads(struct futhark_context_config *cfg, int n) {
  spirula_futhark_config_set_threads(CONFIG(cfg), n);
}

void futhark_context_config_set_unified_memory(struct futhark_context_config *cfg, int flag) {
  (void)cfg;
  (void)flag;
}

static void set_size(struct futhark_context_config *cfg, const char *name, int size) {
  if (size > 0) spirula_futhark_config_set_parameter(CONFIG(cfg), name, (size_t)size);
}

void futhark_context_config_set_default_thread_block_size(struct futhark_context_config *cfg, int size) {
  set_size(cfg, "thread_block_size", size);
}

void futhark_context_config_set_default_group_size(struct futhark_context_config *cfg, int size) {
  set_size(cfg, "thread_block_size", size);
}

void futhark_context_config_set_default_grid_size(struct futhark_context_config *cfg, int num) {
  set_size(cfg, "grid_size", num);
}

void futhark_context_config_set_default_num_groups(struct futhark_context_config *cfg, int num) {
  set_size(cfg, "grid_size", num);
}

void futhark_context_config_set_default_tile_size(struct futhark_context_config *cfg, int num) {
  set_size(cfg, "tile_size", num);
}

int futhark_context_config_set_tuning_param(struct futhark_context_config *cfg, const char *param_name, size_t new_value) {
  for (int i = 0; tuning_parameters[i][0] != NULL; i++) {
    if (strcmp(tuning_parameters[i][0], param_name) == 0) {
      spirula_futhark_config_set_parameter(CONFIG(cfg), param_name, new_value);
      return 0;
    }
  }
  return 1;
}

int futhark_get_tuning_param_count(void) {
  return (int)(sizeof tuning_parameters / sizeof tuning_parameters[0]) - 1;
}

const char *futhark_get_tuning_param_name(int i) {
  return tuning_parameters[i][0];
}

const char *futhark_get_tuning_param_class(int i) {
  return tuning_parameters[i][1];
}

struct futhark_context *futhark_context_new(struct futhark_context_config *cfg) {
  return (struct futhark_context *)spirula_futhark_context_new(CONFIG(cfg));
}

void futhark_context_free(struct futhark_context *ctx) {
  spirula_futhark_context_free(CONTEXT(ctx));
}

int futhark_context_sync(struct futhark_context *ctx) {
  return spirula_futhark_context_sync(CONTEXT(ctx));
}

int futhark_context_clear_caches(struct futhark_context *ctx) {
  return spirula_futhark_context_clear_caches(CONTEXT(ctx));
}

void futhark_context_pause_profiling(struct futhark_context *ctx) {
  spirula_futhark_context_pause(CONTEXT(ctx), 1);
}

void futhark_context_unpause_profiling(struct futhark_context *ctx) {
  spirula_futhark_context_pause(CONTEXT(ctx), 0);
}

char *futhark_context_get_error(struct futhark_context *ctx) {
  return spirula_futhark_context_get_error(CONTEXT(ctx), malloc);
}

char *futhark_context_report(struct futhark_context *ctx) {
  return spirula_futhark_context_report(CONTEXT(ctx), malloc);
}

static void write_line(void *file, const char *text) {
  fputs(text, (FILE *)file);
}

void futhark_context_set_logging_file(struct futhark_context *ctx, FILE *f) {
  spirula_futhark_context_set_log(CONTEXT(ctx), write_line, f);
}
