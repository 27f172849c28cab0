# cffi's objects have no static types. They are contained in this package: nothing that it returns is Any.
from typing import Any

ffi: Any
lib: Any
