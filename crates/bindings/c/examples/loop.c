/* Walks a module, makes values of its variables, gives its loop a pre-header and moves a product there.
 * Takes the name of a file with assembly; prints what it finds and does. */

#include "spirula.h"

#include <stdio.h>
#include <stdlib.h>

static int fail(const char *what, SpirulaError *error) {
  for (size_t i = 0; i < spirula_error_count(error); i++) {
    SpirulaPlace place = spirula_error_place(error, i);
    fprintf(stderr, "%s: %s (%d: %llu to %llu)\n", what, spirula_error_message(error, i), place.kind,
            (unsigned long long)place.start, (unsigned long long)place.end);
  }
  spirula_error_free(error);
  return 1;
}

static char *read_file(const char *name, size_t *length) {
  FILE *file = fopen(name, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *length = (size_t)ftell(file);
  rewind(file);
  char *text = malloc(*length + 1);
  *length = fread(text, 1, *length, file);
  fclose(file);
  return text;
}

static void print_instruction(const SpirulaModule *module, uint32_t number) {
  SpirulaInstruction inst;
  spirula_instruction_get(module, number, &inst, NULL);
  SpirulaName name = spirula_opcode_name(inst.opcode);
  printf("   ");
  if (inst.result) printf(" %%%u =", inst.result);
  printf(" %.*s", (int)name.length, name.data);
  SpirulaOperand operands[16];
  size_t count = spirula_instruction_operands(module, number, operands, 16);
  for (size_t i = 0; i < count && i < 16; i++) {
    uint32_t word = inst.words[operands[i].at];
    if (operands[i].operand_class == SPIRULA_OPERAND_CLASS_ID && word != inst.result)
      printf(" %%%u", word);
  }
  printf("\n");
}

static void print_blocks(const SpirulaModule *module, uint32_t function) {
  SpirulaFlow *flow;
  if (spirula_flow_new(module, function, &flow, NULL) != SPIRULA_STATUS_OK) return;
  for (uint32_t at = 0; at < spirula_flow_count(flow); at++) {
    uint32_t block = spirula_flow_block(flow, at);
    uint32_t targets[8];
    size_t count = spirula_flow_successors(flow, at, targets, 8);
    printf("  block %%%u", spirula_block_label(module, block));
    if (at > 0) printf(", dominated by block %u", spirula_flow_immediate_dominator(flow, at));
    uint32_t header = spirula_flow_loop_header(flow, at);
    if (header != SPIRULA_NONE) printf(", in the loop of block %u", header);
    for (size_t i = 0; i < count && i < 8; i++) printf(i ? ", %u" : ", leads to %u", targets[i]);
    printf("\n");
    for (uint32_t inst = spirula_block_first(module, block); inst != SPIRULA_NONE;
         inst = spirula_instruction_next(module, inst))
      print_instruction(module, inst);
  }
  spirula_flow_free(flow);
}

/* The header of the first loop of a function, or SPIRULA_NONE. */
static uint32_t first_loop(const SpirulaModule *module, uint32_t function) {
  SpirulaFlow *flow;
  uint32_t found = SPIRULA_NONE;
  if (spirula_flow_new(module, function, &flow, NULL) != SPIRULA_STATUS_OK) return found;
  for (uint32_t at = 0; at < spirula_flow_count(flow) && found == SPIRULA_NONE; at++)
    if (spirula_flow_loop_header(flow, at) == at) found = spirula_flow_block(flow, at);
  spirula_flow_free(flow);
  return found;
}

/* Puts a product of two ids into a block, and has the uses of `old` use it. */
static int move_product(SpirulaModule *module, uint32_t block, uint32_t old) {
  SpirulaError *error = NULL;
  SpirulaInstruction inst;
  uint32_t definition = spirula_id_definition(module, old);
  if (spirula_instruction_get(module, definition, &inst, &error)) return fail("get", error);
  uint32_t words[] = {inst.result_type, spirula_new_id(module), inst.operands[0], inst.operands[1]};
  if (spirula_insert(module, SPIRULA_WHERE_END_OF_BLOCK, block, inst.opcode, words, 4, NULL, &error))
    return fail("insert", error);
  size_t uses;
  if (spirula_replace_uses(module, old, words[1], &uses, &error)) return fail("replace", error);
  printf("moved %%%u, which had %zu uses, to %%%u\n", old, uses, words[1]);
  if (spirula_erase(module, definition, &error)) return fail("erase", error);
  return 0;
}

/* The first product in a module's blocks. */
static uint32_t find_product(SpirulaModule *module, uint16_t opcode) {
  for (uint32_t id = 1; id < spirula_module_bound(module); id++) {
    SpirulaInstruction inst;
    uint32_t definition = spirula_id_definition(module, id);
    if (definition != SPIRULA_NONE && !spirula_instruction_get(module, definition, &inst, NULL) &&
        inst.opcode == opcode)
      return id;
  }
  return 0;
}

int main(int argc, char **argv) {
  size_t length = 0;
  char *source = argc > 1 ? read_file(argv[1], &length) : NULL;
  if (!source) return fprintf(stderr, "usage: %s FILE\n", argv[0]), 2;
  SpirulaModule *module = NULL;
  SpirulaError *error = NULL;
  SpirulaStatus status =
      spirula_module_from_text((const uint8_t *)source, length, &module, &error);
  free(source);
  if (status != SPIRULA_STATUS_OK) return fail(argv[1], error);

  size_t variables, phis;
  if (spirula_module_construct_ssa(module, &variables, &phis, &error)) return fail("SSA", error);
  printf("%zu variables became %zu phis\n", variables, phis);

  for (size_t i = 0; i < spirula_function_count(module); i++) {
    uint32_t function = spirula_function_at(module, i);
    SpirulaText name = spirula_id_name(module, spirula_function_id(module, function));
    printf("function %s\n", name.data ? name.data : "without a name");
    spirula_text_free(name);
    print_blocks(module, function);
    uint32_t header = first_loop(module, function);
    if (header == SPIRULA_NONE) continue;
    uint32_t before;
    if (spirula_create_pre_header(module, header, &before, &error)) return fail("pre-header", error);
    printf("pre-header %%%u\n", spirula_block_label(module, before));
    uint16_t multiply;
    if (spirula_opcode_by_name((const uint8_t *)"OpIMul", 6, &multiply, &error))
      return fail("opcode", error);
    uint32_t product = find_product(module, multiply);
    if (product && move_product(module, before, product)) return 1;
  }

  if (spirula_module_verify(module, "vulkan1.1", &error)) return fail("verify", error);
  spirula_module_compact_ids(module, NULL);
  SpirulaText text;
  if (spirula_module_to_text(module, true, &text, &error)) return fail("print", error);
  fputs(text.data, stdout);
  spirula_text_free(text);
  SpirulaWords words;
  if (spirula_module_to_words(module, &words, &error)) return fail("write", error);
  printf("%zu words\n", words.count);
  spirula_words_free(words);

  /* Mistakes are values. */
  uint32_t block;
  status = spirula_split_block(module, 4711, 0, &block, &error);
  printf("status %d: %s\n", status, spirula_error_message(error, 0));
  spirula_error_free(error);
  spirula_module_free(module);
  return 0;
}
