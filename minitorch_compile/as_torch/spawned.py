"""What a process that a script spawned runs in place of the script: the same, with torch installed.

A spawned process begins by importing the parent's `__main__` under the name `__mp_main__`, to find there the functions
and classes that it is to work with. Under `python -m minitorch_compile.as_torch train.py` that module gives this one's
name for its own (run_script.py), so this file is run, under that name, and fetches the script's contents.

>>> __name__       # imported in any other way, it does nothing
'minitorch_compile.as_torch.spawned'
"""

import os

if __name__ == "__mp_main__":
    from minitorch_compile.as_torch.run_script import PACKAGE_VARIABLE, PATH_VARIABLE, execute

    __file__ = os.environ[PATH_VARIABLE]
    execute(__file__, os.environ[PACKAGE_VARIABLE], globals())
