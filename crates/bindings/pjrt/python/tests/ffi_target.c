/* Functions of C for the tests: handlers of XLA's foreign function interface. */

#include "xla/ffi/api/c_api.h"

#include <string.h>

static XLA_FFI_Error* fail(XLA_FFI_CallFrame* frame, const char* message) {
  XLA_FFI_Error_Create_Args args;
  memset(&args, 0, sizeof(args));
  args.struct_size = XLA_FFI_Error_Create_Args_STRUCT_SIZE;
  args.message = message;
  args.errc = XLA_FFI_Error_Code_INVALID_ARGUMENT;
  return frame->api->XLA_FFI_Error_Create(&args);
}

static size_t count(const XLA_FFI_Buffer* buffer) {
  size_t product = 1;
  for (int64_t at = 0; at < buffer->rank; ++at) product *= (size_t)buffer->dims[at];
  return product;
}

#if XLA_FFI_API_MINOR < 4
typedef XLA_FFI_Extension_Base XLA_FFI_InternalExtension;
#endif

/* XLA asks each function that is registered for its processor for the version of the interface. */
static int answer_metadata(XLA_FFI_CallFrame* frame) {
  XLA_FFI_InternalExtension* extension = frame->extension_start;
  if (extension == NULL || extension->type != XLA_FFI_Extension_Metadata) return 0;
  XLA_FFI_Metadata* metadata = ((XLA_FFI_Metadata_Extension*)extension)->metadata;
  metadata->api_version.major_version = XLA_FFI_API_MAJOR;
  metadata->api_version.minor_version = XLA_FFI_API_MINOR;
  metadata->traits = 0;
  return 1;
}

/* y = x * factor. A negative factor is an error. */
XLA_FFI_Error* scale(XLA_FFI_CallFrame* frame) {
  if (answer_metadata(frame)) return NULL;
  if (frame->args.size != 1 || frame->rets.size != 1 || frame->attrs.size != 1) return fail(frame, "one of each");
  const XLA_FFI_ByteSpan* name = frame->attrs.names[0];
  if (name->len != 6 || memcmp(name->ptr, "factor", 6) != 0) return fail(frame, "there is no factor");
  if (frame->attrs.types[0] != XLA_FFI_AttrType_SCALAR) return fail(frame, "the factor is no scalar");
  const XLA_FFI_Scalar* factor = frame->attrs.attrs[0];
  if (factor->dtype != XLA_FFI_DataType_F32) return fail(frame, "the factor is no float");
  const XLA_FFI_Buffer* x = frame->args.args[0];
  const XLA_FFI_Buffer* y = frame->rets.rets[0];
  if (x->dtype != XLA_FFI_DataType_F32 || count(x) != count(y)) return fail(frame, "the types differ");
  const float by = *(const float*)factor->value;
  if (by < 0) return fail(frame, "the factor is negative");
  for (size_t at = 0; at < count(x); ++at) ((float*)y->data)[at] = ((const float*)x->data)[at] * by;
  return NULL;
}

/* Writes the elements as they lie in memory, and counts the calls. */
XLA_FFI_Error* flatten(XLA_FFI_CallFrame* frame) {
  static int32_t calls = 0;
  if (answer_metadata(frame)) return NULL;
  const XLA_FFI_Buffer* x = frame->args.args[0];
  const XLA_FFI_Buffer* flat = frame->rets.rets[0];
  const XLA_FFI_Buffer* number = frame->rets.rets[1];
  memcpy(flat->data, x->data, count(x) * sizeof(float));
  *(int32_t*)number->data = ++calls;
  return NULL;
}
