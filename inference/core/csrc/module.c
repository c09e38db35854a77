/* Makes a Python module of the library, so that the ordinary build backend builds and finds it. It holds no Python. */
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_core", NULL, 0, NULL, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__core(void) { return PyModule_Create(&definition); }
