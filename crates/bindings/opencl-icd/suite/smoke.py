"""Runs a small program of OpenCL on each device of this driver, through the loader of OpenCL.

    OCL_ICD_VENDORS=FOLDER python3 smoke.py [--loader libOpenCL.so.1] [--needs-compiler]

It needs nothing but Python. On each device of the platform "Spirula" it copies a buffer, builds a kernel from source, runs it and
compares the results. Where Clang is missing, the kernel is left out, or is an error with `--needs-compiler`. The exit code is 1
if something is wrong.
"""

import argparse
import ctypes
import sys
from ctypes import byref, c_char_p, c_int, c_size_t, c_uint, c_uint64, c_void_p, create_string_buffer

PLATFORM_NAME, DEVICE_NAME, DEVICE_COMPILER_AVAILABLE, PROGRAM_BUILD_LOG = 0x0902, 0x102B, 0x1028, 0x1183
DEVICE_TYPE_ALL, MEM_COPY_HOST_PTR, COUNT = 0xFFFFFFFF, 1 << 5, 1000

SOURCE = b"""
kernel void square_sum(global const int *a, global int *b, int c) {
    size_t n = get_global_id(0);
    b[n] = a[n] * a[n] + c;
}
"""


class OpenClError(Exception):
    """A call that failed."""


class Loader:
    """The functions of the loader. A call that returns an error raises it."""

    def __init__(self, name):
        self.library = ctypes.CDLL(name)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code:
            raise OpenClError(f"{name}: {code}")

    def create(self, name, *arguments):
        function, code = getattr(self.library, name), c_int(0)
        function.restype = c_void_p
        made = function(*arguments, byref(code))
        if code.value:
            raise OpenClError(f"{name}: {code.value}")
        return c_void_p(made)

    def list(self, name, *arguments):
        count = c_uint(0)
        self.call(name, *arguments, 0, None, byref(count))
        handles = (c_void_p * count.value)()
        self.call(name, *arguments, count, handles, None)
        return [c_void_p(handle) for handle in handles]

    def ask_text(self, name, *arguments):
        size = c_size_t(0)
        self.call(name, *arguments, c_size_t(0), None, byref(size))
        text = create_string_buffer(size.value)
        self.call(name, *arguments, size, text, None)
        return text.value.decode()


def build_kernel(cl, context, device):
    """The kernel, with its program."""
    program = cl.create("clCreateProgramWithSource", context, 1, byref(c_char_p(SOURCE)), None)
    try:
        cl.call("clBuildProgram", program, 1, byref(device), b"-cl-std=CL1.2", None, None)
    except OpenClError as error:
        log = cl.ask_text("clGetProgramBuildInfo", program, device, PROGRAM_BUILD_LOG)
        raise OpenClError(f"{error}: {log}") from error
    return cl.create("clCreateKernel", program, b"square_sum"), program


def check_device(cl, device, has_compiler):
    """Runs everything on a device."""
    context = cl.create("clCreateContext", None, 1, byref(device), None, None)
    queue = cl.create("clCreateCommandQueueWithProperties", context, device, None)
    numbers = (c_int * COUNT)(*range(COUNT))
    size = c_size_t(ctypes.sizeof(numbers))
    source = cl.create("clCreateBuffer", context, c_uint64(MEM_COPY_HOST_PTR), size, numbers)
    target = cl.create("clCreateBuffer", context, c_uint64(0), size, None)
    zero = c_size_t(0)
    cl.call("clEnqueueCopyBuffer", queue, source, target, zero, zero, size, 0, None, None)
    expected = list(range(COUNT))
    if has_compiler:
        kernel, program = build_kernel(cl, context, device)
        values = (byref(source), byref(target), byref(c_int(7)))
        for at, (value, bytes) in enumerate(zip(values, (8, 8, 4))):
            cl.call("clSetKernelArg", kernel, at, c_size_t(bytes), value)
        cl.call("clEnqueueNDRangeKernel", queue, kernel, 1, None, byref(c_size_t(COUNT)), None, 0, None, None)
        expected = [n * n + 7 for n in expected]
    results = (c_int * COUNT)()
    cl.call("clEnqueueReadBuffer", queue, target, 1, zero, size, results, 0, None, None)
    if list(results) != expected:
        raise OpenClError("the results are wrong")
    if has_compiler:
        cl.call("clReleaseKernel", kernel)
        cl.call("clReleaseProgram", program)
    for memory in (source, target):
        cl.call("clReleaseMemObject", memory)
    cl.call("clReleaseCommandQueue", queue)
    cl.call("clReleaseContext", context)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loader", default="libOpenCL.so.1", help="the loader, by its name or path")
    parser.add_argument("--needs-compiler", action="store_true", help="without Clang, the check fails")
    options = parser.parse_args()
    cl = Loader(options.loader)
    platforms = [p for p in cl.list("clGetPlatformIDs") if cl.ask_text("clGetPlatformInfo", p, PLATFORM_NAME) == "Spirula"]
    if len(platforms) != 1:
        raise OpenClError(f"the loader has {len(platforms)} platforms of this driver")
    for device in cl.list("clGetDeviceIDs", platforms[0], c_uint64(DEVICE_TYPE_ALL)):
        available = c_uint(0)
        cl.call("clGetDeviceInfo", device, DEVICE_COMPILER_AVAILABLE, c_size_t(4), byref(available), None)
        if options.needs_compiler and not available.value:
            raise OpenClError("there is no compiler")
        check_device(cl, device, available.value != 0)
        name = cl.ask_text("clGetDeviceInfo", device, DEVICE_NAME)
        print(f"{name}: passed{'' if available.value else ', without a kernel, as there is no compiler'}")


if __name__ == "__main__":
    try:
        main()
    except (OpenClError, OSError) as error:
        sys.exit(f"error: {error}")
