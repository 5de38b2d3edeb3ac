/* Included before every file of SPIRV-Tools. */
#undef SPIRV_CHECK_CONTEXT
