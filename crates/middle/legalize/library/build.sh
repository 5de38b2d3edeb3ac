#!/bin/sh
# Compiles the library: README.md.
set -eu
cd "$(dirname "$0")"
build() {
  name=$1
  shift
  cat "$@" > "$name.all.cl"
  clang-19 -c -x cl -cl-std=CL1.2 -target spir64-unknown-unknown -O1 -fno-unroll-loops \
    -Xclang -finclude-default-header -emit-llvm "$name.all.cl" -o "$name.bc"
  spirula compile "$name.bc" --target-env spv1.4 -o "$name.spv"
  spirula dis "$name.spv" > "$name.spvasm"
  rm "$name.all.cl" "$name.bc" "$name.spv"
}
build float float.cl float-angles.cl float-special.cl
build double double.cl double-special.cl
build half half.cl
