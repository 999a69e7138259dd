"""python -m tensorh --cflags: what a C compiler needs to find tensorh.h and Python.h."""
import sys
import sysconfig

from . import __version__, get_include

if "--cflags" in sys.argv:
    print(f"-I{get_include()} -I{sysconfig.get_paths()['include']}")
else:
    print(f"tensorh {__version__}, {get_include()}")
