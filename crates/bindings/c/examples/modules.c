#include "spirula.h"
#include <stdio.h>
#include <string.h>

static int fail(SpirulaError *error) {
  for (size_t i = 0; i < spirula_error_count(error); i++) fprintf(stderr, "%s\n", spirula_error_message(error, i));
  spirula_error_free(error);
  return 1;
}

int main(void) {
  const char *source = "OpCapability Shader\nOpCapability Linkage\nOpMemoryModel Logical GLSL450\n%1 = OpTypeInt 32 0\n";
  SpirulaModule *module;
  SpirulaText text;
  SpirulaError *error = NULL;
  if (spirula_module_from_text((const uint8_t *)source, strlen(source), &module, &error)) return fail(error);
  if (spirula_module_verify(module, "spv1.6", &error)) return fail(error);
  if (spirula_module_to_text(module, true, &text, &error)) return fail(error);
  fputs(text.data, stdout);
  spirula_text_free(text);
  spirula_module_free(module);
  return 0;
}
