"""Exceptions of the package. The native part raises them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spirula._spirula import Diagnostic


class SpirulaError(Exception):
    """An error with the diagnostics that it consists of.

    The places of the first diagnostic are attributes: `line` and `column` are counted from 1, `source_line` is the text of the
    line, and `hint` is advice. Each is None where it is unknown.
    """

    def __init__(self, message: str = "", diagnostics: Iterable[Diagnostic] = ()) -> None:
        super().__init__(message)
        self.diagnostics: tuple[Diagnostic, ...] = tuple(diagnostics)

    def __reduce__(self) -> tuple[type[SpirulaError], tuple[str]]:
        # Diagnostics are objects of the native part, which are not pickled; the message has their text.
        return type(self), (str(self),)

    def _first(self, name: str) -> Any:
        return getattr(self.diagnostics[0], name) if self.diagnostics else None

    @property
    def line(self) -> int | None:
        """Line of the first diagnostic, counted from 1, or None."""
        return self._first("line")

    @property
    def column(self) -> int | None:
        """Column of the first diagnostic in characters, counted from 1, or None."""
        return self._first("column")

    @property
    def source_line(self) -> str | None:
        """Text of the line of the first diagnostic, or None."""
        return self._first("source_line")

    @property
    def hint(self) -> str | None:
        """Advice of the first diagnostic, or None."""
        return self._first("hint")


class ReadError(SpirulaError):
    """A source is malformed, or of no format that Spirula reads."""


class CompileError(SpirulaError):
    """A source is well-formed, but cannot be compiled."""


class VerifyError(SpirulaError):
    """A module breaks rules of SPIR-V."""


class ArgumentError(SpirulaError, ValueError):
    """An argument does not fit."""


class DeviceError(SpirulaError):
    """There is no such device, or the device refuses something or fails."""


class DeviceMemoryError(DeviceError, MemoryError):
    """A device has no memory for an array."""


class FaultError(DeviceError):
    """The sanitizer has found a fault in a kernel."""


class ProgramError(SpirulaError):
    """An assertion of a program does not hold."""


class SpirulaWarning(UserWarning):
    """A warning about a source."""
