"""The type stubs say what the native part has."""

import ast
import inspect
import pathlib
import unittest

import spirula as sp
from spirula import _spirula

# The methods of Python's own protocols that the stubs list.
LISTED = {"__call__", "__array__", "__dlpack__", "__dlpack_device__"}


def read_stubs():
    path = pathlib.Path(_spirula.__file__).with_name("_spirula.pyi")
    return ast.parse(path.read_text()).body


def list_parameters(function):
    arguments = function.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args]
    names += [argument.arg for argument in (arguments.vararg,) if argument]
    names += [argument.arg for argument in arguments.kwonlyargs]
    names += [argument.arg for argument in (arguments.kwarg,) if argument]
    return names


class StubsTest(unittest.TestCase):
    def test_functions_and_classes(self):
        stubs = {s.name: s for s in read_stubs() if isinstance(s, ast.FunctionDef | ast.ClassDef)}
        native = {name for name in vars(_spirula) if not name.startswith("_")}
        self.assertEqual(set(stubs), native)
        for name, stub in stubs.items():
            found = getattr(_spirula, name)
            self.assertTrue(found.__doc__, name)
            if isinstance(stub, ast.FunctionDef):
                self.assertEqual(list_parameters(stub), list(inspect.signature(found).parameters), name)
            else:
                self.compare_class(stub, found)

    def compare_class(self, stub, found):
        members = {member.name: member for member in stub.body if isinstance(member, ast.FunctionDef)}
        native = {name for name in vars(found) if not name.startswith("_") or name in LISTED}
        public = {name for name in members if not name.startswith("_") or name in LISTED}
        self.assertEqual(public, native, stub.name)
        for name, member in members.items():
            value = inspect.getattr_static(found, name, None)
            if member.decorator_list:
                self.assertEqual(type(value).__name__, "getset_descriptor", name)
                self.assertTrue(value.__doc__, f"{stub.name}.{name}")
            elif name in public and name != "__call__":
                # Calls are slots of the class, which have no signature.
                self.assertEqual(list_parameters(member), list(inspect.signature(value).parameters), name)

    def test_all_names_are_exported(self):
        self.assertEqual(sorted(sp.__all__), sp.__all__)
        native = {name for name in vars(_spirula) if not name.startswith("_")} - {"run_command"}
        errors = {name for name, value in vars(sp).items() if isinstance(value, type) and issubclass(value, Exception | Warning)}
        self.assertEqual(set(sp.__all__), native | errors | {"__version__"})


if __name__ == "__main__":
    unittest.main()
