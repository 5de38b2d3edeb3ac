/* C interface of Spirula's SPIR-V library. Generated from crates/bindings/c/src by its test with
 * BLESS=1; do not edit.
 *
 * A function that can fail returns SpirulaStatus and has a last parameter `error`, which may be
 * NULL. If it is not NULL, a failure stores a SpirulaError there, which the caller frees. Results
 * are written through pointers, and only on success. Functions, blocks and instructions are numbers
 * that stay valid while the module changes; SPIRULA_NONE stands for none, and numbers that refer to
 * nothing are errors. Functions that fill a buffer write as much as it holds, and return the full
 * length. A module may be used by one thread at a time. */

#ifndef SPIRULA_H
#define SPIRULA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// No function, block or instruction.
#define SPIRULA_NONE UINT32_MAX

// The outcome of a call.
typedef enum SpirulaStatus {
  // Success.
  SPIRULA_STATUS_OK = 0,
  // A pointer is null, or a number refers to nothing.
  SPIRULA_STATUS_BAD_ARGUMENT = 1,
  // The input is malformed or invalid.
  SPIRULA_STATUS_INVALID = 2,
  // The edit is impossible; the module is unchanged.
  SPIRULA_STATUS_REFUSED = 3,
  // An internal error of this library. The module can only be freed.
  SPIRULA_STATUS_INTERNAL = 4,
} SpirulaStatus;

// The unit of a place.
typedef enum SpirulaPlaceKind {
  // The place is unknown, or the whole input is meant.
  SPIRULA_PLACE_KIND_UNKNOWN = 0,
  // Bytes of a text.
  SPIRULA_PLACE_KIND_TEXT = 1,
  // Bytes of a binary input.
  SPIRULA_PLACE_KIND_BYTE = 2,
  // Words of a module, its header included.
  SPIRULA_PLACE_KIND_WORD = 3,
} SpirulaPlaceKind;

// The kind of an operand.
typedef enum SpirulaOperandClass {
  // An id.
  SPIRULA_OPERAND_CLASS_ID = 0,
  // One of several named values.
  SPIRULA_OPERAND_CLASS_ENUMERANT = 1,
  // A mask of named bits.
  SPIRULA_OPERAND_CLASS_MASK = 2,
  // A number or a string.
  SPIRULA_OPERAND_CLASS_LITERAL = 3,
} SpirulaOperandClass;

// The kind of a resource.
typedef enum SpirulaBindingKind {
  // A storage buffer.
  SPIRULA_BINDING_KIND_STORAGE = 0,
  // A uniform buffer.
  SPIRULA_BINDING_KIND_UNIFORM = 1,
  // An image, a sampler or another object.
  SPIRULA_BINDING_KIND_OPAQUE = 2,
} SpirulaBindingKind;

// The place of an instruction that is inserted.
typedef enum SpirulaWhere {
  // Before an instruction.
  SPIRULA_WHERE_BEFORE = 0,
  // After an instruction.
  SPIRULA_WHERE_AFTER = 1,
  // At the end of a block, before its merge instruction and terminator.
  SPIRULA_WHERE_END_OF_BLOCK = 2,
  // At the beginning of a block, after its phis and variables.
  SPIRULA_WHERE_BEGIN_OF_BLOCK = 3,
  // At the end of its section outside of functions; the number is ignored.
  SPIRULA_WHERE_SECTION = 4,
} SpirulaWhere;

// The error of a call: one or more messages, each with its place.
typedef struct SpirulaError SpirulaError;

// The control-flow graph of a function, as it was when the graph was created. Its blocks are positions from 0 on,
// the entry block first; `spirula_flow_block` returns their numbers in the module.
typedef struct SpirulaFlow SpirulaFlow;

// A SPIR-V module.
typedef struct SpirulaModule SpirulaModule;

// The place of an error in the input.
typedef struct SpirulaPlace {
  // The unit of `start` and `end`.
  enum SpirulaPlaceKind kind;
  // The first unit.
  uint64_t start;
  // One past the last unit; equal to `start` if only a point is known.
  uint64_t end;
} SpirulaPlace;

// An instruction. Its pointers stay valid until the module changes.
typedef struct SpirulaInstruction {
  // Its number.
  uint32_t instruction;
  // Opcode.
  uint16_t opcode;
  // Result id, or 0.
  uint32_t result;
  // Result type, or 0.
  uint32_t result_type;
  // All words after the first, including result type and result id.
  const uint32_t *words;
  // Number of these words.
  size_t word_count;
  // Words after result type and result id.
  const uint32_t *operands;
  // Number of these words.
  size_t operand_word_count;
} SpirulaInstruction;

// A text that belongs to the library, without a final NUL.
typedef struct SpirulaName {
  // The bytes.
  const char *data;
  // Number of bytes.
  size_t length;
} SpirulaName;

// An operand of an instruction; result type and result id count as operands.
typedef struct SpirulaOperand {
  // Name in the specification; may be empty.
  struct SpirulaName name;
  // Name of its kind in the grammar, such as `IdRef` or `StorageClass`.
  struct SpirulaName kind;
  // Its kind.
  enum SpirulaOperandClass operand_class;
  // Position of its first word in the instruction.
  size_t at;
  // Its words: one, or more for strings and wide numbers.
  size_t word_count;
} SpirulaOperand;

// A text that belongs to the caller, who frees it with `spirula_text_free`. Its bytes are UTF-8 and followed by
// NUL.
typedef struct SpirulaText {
  // The bytes; null if there is no text.
  char *data;
  // Number of bytes without the NUL.
  size_t length;
} SpirulaText;

// A use of an id.
typedef struct SpirulaUse {
  // The instruction.
  uint32_t instruction;
  // Position among the instruction's words.
  uint32_t at;
} SpirulaUse;

// Words that belong to the caller, who frees them with `spirula_words_free`.
typedef struct SpirulaWords {
  // The words; null if there are none.
  uint32_t *data;
  // Number of words.
  size_t count;
} SpirulaWords;

// An entry point.
typedef struct SpirulaEntryPoint {
  // Its execution model, with SPIR-V's number.
  uint32_t execution_model;
  // The id of its function.
  uint32_t function_id;
  // Whether its workgroup size is known.
  bool has_workgroup_size;
  // Its workgroup size in x, y and z.
  uint32_t workgroup_size[3];
  // Bytes of push constants that it accesses.
  uint32_t push_constant_bytes;
  // Number of parameters of a kernel.
  size_t parameter_count;
  // Number of resources with a set and a binding.
  size_t binding_count;
} SpirulaEntryPoint;

// A resource that an entry point uses.
typedef struct SpirulaBinding {
  // `DescriptorSet`.
  uint32_t set;
  // `Binding`.
  uint32_t binding;
  // The id of the variable.
  uint32_t variable;
  // Its kind.
  enum SpirulaBindingKind kind;
  // The id of the type of the block or object.
  uint32_t type_id;
  // Descriptors of an array; 1 for a single descriptor, 0 if the number is unknown.
  uint32_t count;
  // Whether the module only reads it.
  bool read_only;
} SpirulaBinding;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// Allocates a new id; 0 for null.
uint32_t spirula_new_id(struct SpirulaModule *module);

// Inserts a new instruction into a module. `words` are all words after the first, including result type and result
// id. `place` is one of `SpirulaWhere`, and `at` is the instruction or block that it refers to. `instruction`,
// which may be null, receives its number.
//
// The operands must conform to the grammar. Instructions that begin or end functions and blocks (`OpFunction`,
// `OpLabel`, terminators, …) are refused; other functions create those.
enum SpirulaStatus spirula_insert(struct SpirulaModule *module,
                                  uint32_t place,
                                  uint32_t at,
                                  uint16_t opcode,
                                  const uint32_t *words,
                                  size_t count,
                                  uint32_t *instruction,
                                  struct SpirulaError **error);

// Deletes an instruction, together with the names and decorations of its result. The result must be unused.
enum SpirulaStatus spirula_erase(struct SpirulaModule *module,
                                 uint32_t instruction,
                                 struct SpirulaError **error);

// Replaces the words of an instruction: all after the first, including result type and result id.
enum SpirulaStatus spirula_set_words(struct SpirulaModule *module,
                                     uint32_t instruction,
                                     const uint32_t *words,
                                     size_t count,
                                     struct SpirulaError **error);

// Replaces the terminator of a block. The caller has to update the phis of the old and the new targets;
// `spirula_redirect_edge`, `spirula_add_edge` and `spirula_remove_edge` do so themselves.
enum SpirulaStatus spirula_set_terminator(struct SpirulaModule *module,
                                          uint32_t block,
                                          uint16_t opcode,
                                          const uint32_t *words,
                                          size_t count,
                                          struct SpirulaError **error);

// Replaces all uses of an id by another; names and decorations stay. `count`, which may be null, receives their
// number.
enum SpirulaStatus spirula_replace_uses(struct SpirulaModule *module,
                                        uint32_t old,
                                        uint32_t new_,
                                        size_t *count,
                                        struct SpirulaError **error);

// Splits a block: an instruction and all that follow move to a new block, to which the old one branches.
// `new_block` receives the new block.
enum SpirulaStatus spirula_split_block(struct SpirulaModule *module,
                                       uint32_t block,
                                       uint32_t instruction,
                                       uint32_t *new_block,
                                       struct SpirulaError **error);

// Inserts a block on an edge. `new_block` receives the new block.
enum SpirulaStatus spirula_insert_on_edge(struct SpirulaModule *module,
                                          uint32_t from,
                                          uint32_t to,
                                          uint32_t *new_block,
                                          struct SpirulaError **error);

// Redirects an edge to another block of the function. `values` are the ids that the phis of the new target take
// from it, in the order of the phis.
enum SpirulaStatus spirula_redirect_edge(struct SpirulaModule *module,
                                         uint32_t from,
                                         uint32_t to,
                                         uint32_t new_target,
                                         const uint32_t *values,
                                         size_t count,
                                         struct SpirulaError **error);

// Adds an edge to a block that ends in `OpBranch`: it goes to `to` if the condition holds. `values` are as for
// `spirula_redirect_edge`.
enum SpirulaStatus spirula_add_edge(struct SpirulaModule *module,
                                    uint32_t from,
                                    uint32_t to,
                                    uint32_t condition,
                                    const uint32_t *values,
                                    size_t count,
                                    struct SpirulaError **error);

// Removes an edge. A conditional branch becomes a branch, a branch becomes `OpUnreachable`, and a switch loses
// cases. Blocks that become unreachable stay: see `spirula_remove_unreachable`.
enum SpirulaStatus spirula_remove_edge(struct SpirulaModule *module,
                                       uint32_t from,
                                       uint32_t to,
                                       struct SpirulaError **error);

// Removes the unreachable blocks of a function.
enum SpirulaStatus spirula_remove_unreachable(struct SpirulaModule *module,
                                              uint32_t function,
                                              struct SpirulaError **error);

// Creates a pre-header: the only block through which a loop is entered. `new_block` receives it.
enum SpirulaStatus spirula_create_pre_header(struct SpirulaModule *module,
                                             uint32_t header,
                                             uint32_t *new_block,
                                             struct SpirulaError **error);

// The number of messages of an error; 0 for null.
size_t spirula_error_count(const struct SpirulaError *error);

// A message of an error, valid until the error is freed; null if there is no such message.
const char *spirula_error_message(const struct SpirulaError *error, size_t index);

// The place in the input that a message refers to.
struct SpirulaPlace spirula_error_place(const struct SpirulaError *error, size_t index);

// Frees an error; null is allowed.
void spirula_error_free(struct SpirulaError *error);

// Computes the graph of a function, with dominators, post-dominators and loops.
enum SpirulaStatus spirula_flow_new(const struct SpirulaModule *module,
                                    uint32_t function,
                                    struct SpirulaFlow **flow,
                                    struct SpirulaError **error);

// Frees a graph; null is allowed.
void spirula_flow_free(struct SpirulaFlow *flow);

// The number of blocks.
size_t spirula_flow_count(const struct SpirulaFlow *flow);

// The number in the module of the block at a position.
uint32_t spirula_flow_block(const struct SpirulaFlow *flow, uint32_t position);

// The position of the block with a label; `SPIRULA_NONE` if there is none.
uint32_t spirula_flow_position(const struct SpirulaFlow *flow, uint32_t label);

// The successors of a block, once for each time its terminator names them. Returns their number.
size_t spirula_flow_successors(const struct SpirulaFlow *flow,
                               uint32_t position,
                               uint32_t *buffer,
                               size_t capacity);

// The predecessors of a block. Returns their number.
size_t spirula_flow_predecessors(const struct SpirulaFlow *flow,
                                 uint32_t position,
                                 uint32_t *buffer,
                                 size_t capacity);

// The reachable blocks in reverse postorder: each before its successors, except for back edges. Returns their
// number.
size_t spirula_flow_reverse_postorder(const struct SpirulaFlow *flow,
                                      uint32_t *buffer,
                                      size_t capacity);

// The immediate dominator of a block; `SPIRULA_NONE` for the entry and for unreachable blocks.
uint32_t spirula_flow_immediate_dominator(const struct SpirulaFlow *flow, uint32_t position);

// Whether `above` dominates `below`; a block dominates itself.
bool spirula_flow_dominates(const struct SpirulaFlow *flow, uint32_t above, uint32_t below);

// The immediate post-dominator of a block.
uint32_t spirula_flow_immediate_post_dominator(const struct SpirulaFlow *flow, uint32_t position);

// The header of the innermost loop around a block; `SPIRULA_NONE` outside of loops.
uint32_t spirula_flow_loop_header(const struct SpirulaFlow *flow, uint32_t position);

// The number of the first instruction of a section; `SPIRULA_NONE` if it is empty. Sections are counted from 0 in
// the order of the specification: capabilities, extensions, imports, memory model, entry points, execution modes,
// sources, names, processed, annotations, globals. Section 11 holds instructions after the last function.
uint32_t spirula_section_first(const struct SpirulaModule *module,
                               uint32_t section);

// The number of functions of a module.
size_t spirula_function_count(const struct SpirulaModule *module);

// The function at a position in the module; `SPIRULA_NONE` if there is none.
uint32_t spirula_function_at(const struct SpirulaModule *module, size_t position);

// The id of a function; 0 if there is no such function.
uint32_t spirula_function_id(const struct SpirulaModule *module, uint32_t function);

// The instruction `OpFunction` of a function; `SPIRULA_NONE` if there is no such function.
uint32_t spirula_function_definition(const struct SpirulaModule *module, uint32_t function);

// The first parameter of a function; `SPIRULA_NONE` if it has none.
uint32_t spirula_function_first_parameter(const struct SpirulaModule *module, uint32_t function);

// The blocks of a function in their order, the entry block first. Returns their number.
size_t spirula_function_blocks(const struct SpirulaModule *module,
                               uint32_t function,
                               uint32_t *buffer,
                               size_t capacity);

// The id of a block's label; 0 if there is no such block.
uint32_t spirula_block_label(const struct SpirulaModule *module, uint32_t block);

// The first instruction after a block's label.
uint32_t spirula_block_first(const struct SpirulaModule *module, uint32_t block);

// The terminator of a block, its last instruction.
uint32_t spirula_block_terminator(const struct SpirulaModule *module, uint32_t block);

// The merge instruction of a block; `SPIRULA_NONE` if it has none.
uint32_t spirula_block_merge(const struct SpirulaModule *module, uint32_t block);

// The next instruction in its section or block; `SPIRULA_NONE` after the last.
uint32_t spirula_instruction_next(const struct SpirulaModule *module, uint32_t instruction);

// The previous instruction in its section or block; `SPIRULA_NONE` before the first.
uint32_t spirula_instruction_previous(const struct SpirulaModule *module, uint32_t instruction);

// The contents of an instruction.
enum SpirulaStatus spirula_instruction_get(const struct SpirulaModule *module,
                                           uint32_t instruction,
                                           struct SpirulaInstruction *description,
                                           struct SpirulaError **error);

// The operands of an instruction, split by the grammar; result type and result id count as operands. Returns their
// number. Operands after a word that the grammar does not know are left out.
size_t spirula_instruction_operands(const struct SpirulaModule *module,
                                    uint32_t instruction,
                                    struct SpirulaOperand *buffer,
                                    size_t capacity);

// The name of an opcode with its `Op`; empty if the grammar does not know it.
struct SpirulaName spirula_opcode_name(uint16_t opcode);

// The opcode with a name, with or without its `Op`.
enum SpirulaStatus spirula_opcode_by_name(const uint8_t *name,
                                          size_t length,
                                          uint16_t *opcode,
                                          struct SpirulaError **error);

// The name that `OpName` gives an id; without data if there is none. The caller frees it.
struct SpirulaText spirula_id_name(const struct SpirulaModule *module, uint32_t id);

// The instruction that defines an id; `SPIRULA_NONE` if there is none.
uint32_t spirula_id_definition(struct SpirulaModule *module, uint32_t id);

// The uses of an id, including names and decorations. Returns their number.
size_t spirula_id_uses(struct SpirulaModule *module,
                       uint32_t id,
                       struct SpirulaUse *buffer,
                       size_t capacity);

// The value of an integer constant of at most 64 bits, zero-extended.
enum SpirulaStatus spirula_id_constant(struct SpirulaModule *module,
                                       uint32_t id,
                                       uint64_t *value,
                                       struct SpirulaError **error);

// Creates an empty module of a version of SPIR-V, such as 1 and 6.
struct SpirulaModule *spirula_module_new(uint8_t major, uint8_t minor);

// Reads a module from its words.
enum SpirulaStatus spirula_module_from_words(const uint32_t *words,
                                             size_t count,
                                             struct SpirulaModule **module,
                                             struct SpirulaError **error);

// Reads a module from its bytes, in either byte order.
enum SpirulaStatus spirula_module_from_bytes(const uint8_t *bytes,
                                             size_t count,
                                             struct SpirulaModule **module,
                                             struct SpirulaError **error);

// Assembles a module from text in the language of SPIRV-Tools.
enum SpirulaStatus spirula_module_from_text(const uint8_t *source,
                                            size_t length,
                                            struct SpirulaModule **module,
                                            struct SpirulaError **error);

// A copy of a module, in which functions, blocks and instructions keep their numbers; null for null.
struct SpirulaModule *spirula_module_copy(const struct SpirulaModule *module);

// Frees a module; null is allowed.
void spirula_module_free(struct SpirulaModule *module);

// Writes a module as words, header included.
enum SpirulaStatus spirula_module_to_words(const struct SpirulaModule *module,
                                           struct SpirulaWords *words,
                                           struct SpirulaError **error);

// Writes a module as text; with `friendly_names`, ids are written as `%main` instead of `%4`.
enum SpirulaStatus spirula_module_to_text(const struct SpirulaModule *module,
                                          bool friendly_names,
                                          struct SpirulaText *text,
                                          struct SpirulaError **error);

// Verifies a module for an environment such as `vulkan1.3`, `opencl2.2` or `spv1.6`; null stands for any consumer
// of the newest version. The error has one message for each fault.
enum SpirulaStatus spirula_module_verify(const struct SpirulaModule *module,
                                         const char *environment,
                                         struct SpirulaError **error);

// Extends the grammar of the process by a text in the form of Khronos' grammar files: instructions and values, or
// a set of extended instructions. `set_name` is the name of such a set if the text does not contain it, else null.
// This has to be done before modules that use the additions are read.
enum SpirulaStatus spirula_grammar_add(const uint8_t *json,
                                       size_t length,
                                       const char *set_name,
                                       struct SpirulaError **error);

// The version of SPIR-V as the word of the header: 0x00010300 for 1.3. 0 for null.
uint32_t spirula_module_version(const struct SpirulaModule *module);

// One more than the largest id; 0 for null.
uint32_t spirula_module_bound(const struct SpirulaModule *module);

// The capabilities that a module declares, in its order. Returns their number.
size_t spirula_module_capabilities(const struct SpirulaModule *module,
                                   uint32_t *buffer,
                                   size_t capacity);

// The capabilities that a module requires, by increasing number. Returns their number.
size_t spirula_module_needed_capabilities(const struct SpirulaModule *module,
                                          uint32_t *buffer,
                                          size_t capacity);

// Promotes the variables of all functions to SSA values where that is possible. `variables` and `phis`, which may
// be null, receive the numbers of removed variables and added phis.
enum SpirulaStatus spirula_module_construct_ssa(struct SpirulaModule *module,
                                                size_t *variables,
                                                size_t *phis,
                                                struct SpirulaError **error);

// Renumbers ids densely, in the order of their definitions.
enum SpirulaStatus spirula_module_compact_ids(struct SpirulaModule *module,
                                              struct SpirulaError **error);

// The number of entry points and, for `position` below it, the name of one, which the caller frees. `name` may be
// null.
enum SpirulaStatus spirula_entry_points(const struct SpirulaModule *module,
                                        size_t *count,
                                        size_t position,
                                        struct SpirulaText *name,
                                        struct SpirulaError **error);

// The interface of the entry point with a name.
enum SpirulaStatus spirula_entry_point_get(const struct SpirulaModule *module,
                                           const uint8_t *name,
                                           size_t length,
                                           struct SpirulaEntryPoint *entry_point,
                                           struct SpirulaError **error);

// The resources that the entry point with a name uses. `count` receives their number; as many as the buffer holds
// are written.
enum SpirulaStatus spirula_entry_point_bindings(const struct SpirulaModule *module,
                                                const uint8_t *name,
                                                size_t length,
                                                struct SpirulaBinding *buffer,
                                                size_t capacity,
                                                size_t *count,
                                                struct SpirulaError **error);

// Frees a text; a text without data is allowed.
void spirula_text_free(struct SpirulaText text);

// Frees words; an empty array is allowed.
void spirula_words_free(struct SpirulaWords words);

// The number of messages of an error; 0 for null.
size_t spirula_error_count(const struct SpirulaError *error);

// A message of an error, valid until the error is freed; null if there is no such message.
const char *spirula_error_message(const struct SpirulaError *error, size_t index);

// The place in the input that a message refers to.
struct SpirulaPlace spirula_error_place(const struct SpirulaError *error, size_t index);

// Frees an error; null is allowed.
void spirula_error_free(struct SpirulaError *error);

// Frees a text; a text without data is allowed.
void spirula_text_free(struct SpirulaText text);

// Frees words; an empty array is allowed.
void spirula_words_free(struct SpirulaWords words);

// Creates an empty module of a version of SPIR-V, such as 1 and 6.
struct SpirulaModule *spirula_module_new(uint8_t major, uint8_t minor);

// Reads a module from its words.
enum SpirulaStatus spirula_module_from_words(const uint32_t *words,
                                             size_t count,
                                             struct SpirulaModule **module,
                                             struct SpirulaError **error);

// Reads a module from its bytes, in either byte order.
enum SpirulaStatus spirula_module_from_bytes(const uint8_t *bytes,
                                             size_t count,
                                             struct SpirulaModule **module,
                                             struct SpirulaError **error);

// Assembles a module from text in the language of SPIRV-Tools.
enum SpirulaStatus spirula_module_from_text(const uint8_t *source,
                                            size_t length,
                                            struct SpirulaModule **module,
                                            struct SpirulaError **error);

// A copy of a module, in which functions, blocks and instructions keep their numbers; null for null.
struct SpirulaModule *spirula_module_copy(const struct SpirulaModule *module);

// Frees a module; null is allowed.
void spirula_module_free(struct SpirulaModule *module);

// Writes a module as words, header included.
enum SpirulaStatus spirula_module_to_words(const struct SpirulaModule *module,
                                           struct SpirulaWords *words,
                                           struct SpirulaError **error);

// Writes a module as text; with `friendly_names`, ids are written as `%main` instead of `%4`.
enum SpirulaStatus spirula_module_to_text(const struct SpirulaModule *module,
                                          bool friendly_names,
                                          struct SpirulaText *text,
                                          struct SpirulaError **error);

// Verifies a module for an environment such as `vulkan1.3`, `opencl2.2` or `spv1.6`; null stands for any consumer
// of the newest version. The error has one message for each fault.
enum SpirulaStatus spirula_module_verify(const struct SpirulaModule *module,
                                         const char *environment,
                                         struct SpirulaError **error);

// Extends the grammar of the process by a text in the form of Khronos' grammar files: instructions and values, or
// a set of extended instructions. `set_name` is the name of such a set if the text does not contain it, else null.
// This has to be done before modules that use the additions are read.
enum SpirulaStatus spirula_grammar_add(const uint8_t *json,
                                       size_t length,
                                       const char *set_name,
                                       struct SpirulaError **error);

// The version of SPIR-V as the word of the header: 0x00010300 for 1.3. 0 for null.
uint32_t spirula_module_version(const struct SpirulaModule *module);

// One more than the largest id; 0 for null.
uint32_t spirula_module_bound(const struct SpirulaModule *module);

// The capabilities that a module declares, in its order. Returns their number.
size_t spirula_module_capabilities(const struct SpirulaModule *module,
                                   uint32_t *buffer,
                                   size_t capacity);

// The capabilities that a module requires, by increasing number. Returns their number.
size_t spirula_module_needed_capabilities(const struct SpirulaModule *module,
                                          uint32_t *buffer,
                                          size_t capacity);

// Promotes the variables of all functions to SSA values where that is possible. `variables` and `phis`, which may
// be null, receive the numbers of removed variables and added phis.
enum SpirulaStatus spirula_module_construct_ssa(struct SpirulaModule *module,
                                                size_t *variables,
                                                size_t *phis,
                                                struct SpirulaError **error);

// Renumbers ids densely, in the order of their definitions.
enum SpirulaStatus spirula_module_compact_ids(struct SpirulaModule *module,
                                              struct SpirulaError **error);

// The number of the first instruction of a section; `SPIRULA_NONE` if it is empty. Sections are counted from 0 in
// the order of the specification: capabilities, extensions, imports, memory model, entry points, execution modes,
// sources, names, processed, annotations, globals. Section 11 holds instructions after the last function.
uint32_t spirula_section_first(const struct SpirulaModule *module,
                               uint32_t section);

// The number of functions of a module.
size_t spirula_function_count(const struct SpirulaModule *module);

// The function at a position in the module; `SPIRULA_NONE` if there is none.
uint32_t spirula_function_at(const struct SpirulaModule *module, size_t position);

// The id of a function; 0 if there is no such function.
uint32_t spirula_function_id(const struct SpirulaModule *module, uint32_t function);

// The instruction `OpFunction` of a function; `SPIRULA_NONE` if there is no such function.
uint32_t spirula_function_definition(const struct SpirulaModule *module, uint32_t function);

// The first parameter of a function; `SPIRULA_NONE` if it has none.
uint32_t spirula_function_first_parameter(const struct SpirulaModule *module, uint32_t function);

// The blocks of a function in their order, the entry block first. Returns their number.
size_t spirula_function_blocks(const struct SpirulaModule *module,
                               uint32_t function,
                               uint32_t *buffer,
                               size_t capacity);

// The id of a block's label; 0 if there is no such block.
uint32_t spirula_block_label(const struct SpirulaModule *module, uint32_t block);

// The first instruction after a block's label.
uint32_t spirula_block_first(const struct SpirulaModule *module, uint32_t block);

// The terminator of a block, its last instruction.
uint32_t spirula_block_terminator(const struct SpirulaModule *module, uint32_t block);

// The merge instruction of a block; `SPIRULA_NONE` if it has none.
uint32_t spirula_block_merge(const struct SpirulaModule *module, uint32_t block);

// The next instruction in its section or block; `SPIRULA_NONE` after the last.
uint32_t spirula_instruction_next(const struct SpirulaModule *module, uint32_t instruction);

// The previous instruction in its section or block; `SPIRULA_NONE` before the first.
uint32_t spirula_instruction_previous(const struct SpirulaModule *module, uint32_t instruction);

// The contents of an instruction.
enum SpirulaStatus spirula_instruction_get(const struct SpirulaModule *module,
                                           uint32_t instruction,
                                           struct SpirulaInstruction *description,
                                           struct SpirulaError **error);

// The operands of an instruction, split by the grammar; result type and result id count as operands. Returns their
// number. Operands after a word that the grammar does not know are left out.
size_t spirula_instruction_operands(const struct SpirulaModule *module,
                                    uint32_t instruction,
                                    struct SpirulaOperand *buffer,
                                    size_t capacity);

// The name of an opcode with its `Op`; empty if the grammar does not know it.
struct SpirulaName spirula_opcode_name(uint16_t opcode);

// The opcode with a name, with or without its `Op`.
enum SpirulaStatus spirula_opcode_by_name(const uint8_t *name,
                                          size_t length,
                                          uint16_t *opcode,
                                          struct SpirulaError **error);

// The name that `OpName` gives an id; without data if there is none. The caller frees it.
struct SpirulaText spirula_id_name(const struct SpirulaModule *module, uint32_t id);

// The instruction that defines an id; `SPIRULA_NONE` if there is none.
uint32_t spirula_id_definition(struct SpirulaModule *module, uint32_t id);

// The uses of an id, including names and decorations. Returns their number.
size_t spirula_id_uses(struct SpirulaModule *module,
                       uint32_t id,
                       struct SpirulaUse *buffer,
                       size_t capacity);

// The value of an integer constant of at most 64 bits, zero-extended.
enum SpirulaStatus spirula_id_constant(struct SpirulaModule *module,
                                       uint32_t id,
                                       uint64_t *value,
                                       struct SpirulaError **error);

// Computes the graph of a function, with dominators, post-dominators and loops.
enum SpirulaStatus spirula_flow_new(const struct SpirulaModule *module,
                                    uint32_t function,
                                    struct SpirulaFlow **flow,
                                    struct SpirulaError **error);

// Frees a graph; null is allowed.
void spirula_flow_free(struct SpirulaFlow *flow);

// The number of blocks.
size_t spirula_flow_count(const struct SpirulaFlow *flow);

// The number in the module of the block at a position.
uint32_t spirula_flow_block(const struct SpirulaFlow *flow, uint32_t position);

// The position of the block with a label; `SPIRULA_NONE` if there is none.
uint32_t spirula_flow_position(const struct SpirulaFlow *flow, uint32_t label);

// The successors of a block, once for each time its terminator names them. Returns their number.
size_t spirula_flow_successors(const struct SpirulaFlow *flow,
                               uint32_t position,
                               uint32_t *buffer,
                               size_t capacity);

// The predecessors of a block. Returns their number.
size_t spirula_flow_predecessors(const struct SpirulaFlow *flow,
                                 uint32_t position,
                                 uint32_t *buffer,
                                 size_t capacity);

// The reachable blocks in reverse postorder: each before its successors, except for back edges. Returns their
// number.
size_t spirula_flow_reverse_postorder(const struct SpirulaFlow *flow,
                                      uint32_t *buffer,
                                      size_t capacity);

// The immediate dominator of a block; `SPIRULA_NONE` for the entry and for unreachable blocks.
uint32_t spirula_flow_immediate_dominator(const struct SpirulaFlow *flow, uint32_t position);

// Whether `above` dominates `below`; a block dominates itself.
bool spirula_flow_dominates(const struct SpirulaFlow *flow, uint32_t above, uint32_t below);

// The immediate post-dominator of a block.
uint32_t spirula_flow_immediate_post_dominator(const struct SpirulaFlow *flow, uint32_t position);

// The header of the innermost loop around a block; `SPIRULA_NONE` outside of loops.
uint32_t spirula_flow_loop_header(const struct SpirulaFlow *flow, uint32_t position);

// The number of entry points and, for `position` below it, the name of one, which the caller frees. `name` may be
// null.
enum SpirulaStatus spirula_entry_points(const struct SpirulaModule *module,
                                        size_t *count,
                                        size_t position,
                                        struct SpirulaText *name,
                                        struct SpirulaError **error);

// The interface of the entry point with a name.
enum SpirulaStatus spirula_entry_point_get(const struct SpirulaModule *module,
                                           const uint8_t *name,
                                           size_t length,
                                           struct SpirulaEntryPoint *entry_point,
                                           struct SpirulaError **error);

// The resources that the entry point with a name uses. `count` receives their number; as many as the buffer holds
// are written.
enum SpirulaStatus spirula_entry_point_bindings(const struct SpirulaModule *module,
                                                const uint8_t *name,
                                                size_t length,
                                                struct SpirulaBinding *buffer,
                                                size_t capacity,
                                                size_t *count,
                                                struct SpirulaError **error);

// Allocates a new id; 0 for null.
uint32_t spirula_new_id(struct SpirulaModule *module);

// Inserts a new instruction into a module. `words` are all words after the first, including result type and result
// id. `place` is one of `SpirulaWhere`, and `at` is the instruction or block that it refers to. `instruction`,
// which may be null, receives its number.
//
// The operands must conform to the grammar. Instructions that begin or end functions and blocks (`OpFunction`,
// `OpLabel`, terminators, …) are refused; other functions create those.
enum SpirulaStatus spirula_insert(struct SpirulaModule *module,
                                  uint32_t place,
                                  uint32_t at,
                                  uint16_t opcode,
                                  const uint32_t *words,
                                  size_t count,
                                  uint32_t *instruction,
                                  struct SpirulaError **error);

// Deletes an instruction, together with the names and decorations of its result. The result must be unused.
enum SpirulaStatus spirula_erase(struct SpirulaModule *module,
                                 uint32_t instruction,
                                 struct SpirulaError **error);

// Replaces the words of an instruction: all after the first, including result type and result id.
enum SpirulaStatus spirula_set_words(struct SpirulaModule *module,
                                     uint32_t instruction,
                                     const uint32_t *words,
                                     size_t count,
                                     struct SpirulaError **error);

// Replaces the terminator of a block. The caller has to update the phis of the old and the new targets;
// `spirula_redirect_edge`, `spirula_add_edge` and `spirula_remove_edge` do so themselves.
enum SpirulaStatus spirula_set_terminator(struct SpirulaModule *module,
                                          uint32_t block,
                                          uint16_t opcode,
                                          const uint32_t *words,
                                          size_t count,
                                          struct SpirulaError **error);

// Replaces all uses of an id by another; names and decorations stay. `count`, which may be null, receives their
// number.
enum SpirulaStatus spirula_replace_uses(struct SpirulaModule *module,
                                        uint32_t old,
                                        uint32_t new_,
                                        size_t *count,
                                        struct SpirulaError **error);

// Splits a block: an instruction and all that follow move to a new block, to which the old one branches.
// `new_block` receives the new block.
enum SpirulaStatus spirula_split_block(struct SpirulaModule *module,
                                       uint32_t block,
                                       uint32_t instruction,
                                       uint32_t *new_block,
                                       struct SpirulaError **error);

// Inserts a block on an edge. `new_block` receives the new block.
enum SpirulaStatus spirula_insert_on_edge(struct SpirulaModule *module,
                                          uint32_t from,
                                          uint32_t to,
                                          uint32_t *new_block,
                                          struct SpirulaError **error);

// Redirects an edge to another block of the function. `values` are the ids that the phis of the new target take
// from it, in the order of the phis.
enum SpirulaStatus spirula_redirect_edge(struct SpirulaModule *module,
                                         uint32_t from,
                                         uint32_t to,
                                         uint32_t new_target,
                                         const uint32_t *values,
                                         size_t count,
                                         struct SpirulaError **error);

// Adds an edge to a block that ends in `OpBranch`: it goes to `to` if the condition holds. `values` are as for
// `spirula_redirect_edge`.
enum SpirulaStatus spirula_add_edge(struct SpirulaModule *module,
                                    uint32_t from,
                                    uint32_t to,
                                    uint32_t condition,
                                    const uint32_t *values,
                                    size_t count,
                                    struct SpirulaError **error);

// Removes an edge. A conditional branch becomes a branch, a branch becomes `OpUnreachable`, and a switch loses
// cases. Blocks that become unreachable stay: see `spirula_remove_unreachable`.
enum SpirulaStatus spirula_remove_edge(struct SpirulaModule *module,
                                       uint32_t from,
                                       uint32_t to,
                                       struct SpirulaError **error);

// Removes the unreachable blocks of a function.
enum SpirulaStatus spirula_remove_unreachable(struct SpirulaModule *module,
                                              uint32_t function,
                                              struct SpirulaError **error);

// Creates a pre-header: the only block through which a loop is entered. `new_block` receives it.
enum SpirulaStatus spirula_create_pre_header(struct SpirulaModule *module,
                                             uint32_t header,
                                             uint32_t *new_block,
                                             struct SpirulaError **error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* SPIRULA_H */
