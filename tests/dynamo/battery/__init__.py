"""Small programs that use every corner of Python's bytecode.

Each public function without parameters is one program: it returns plain data, may print, may raise. The tests run it by
CPython, by the interpreter, reassembled, and cut in two anywhere."""
