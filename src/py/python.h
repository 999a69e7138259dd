/* python.h - Python's own headers, which want to be first: the limited API of 3.11. */
#ifndef TNI_PY_PYTHON_H
#define TNI_PY_PYTHON_H

#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#endif
