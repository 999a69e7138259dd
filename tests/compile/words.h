/* words.h - words that headers of other systems and libraries define as macros, after the system's
 * own: windows.h (all of it), X11's Xlib.h, complex.h, sysmacros.h; with CALLERS Qt's, too. Nothing
 * in tensor.h may be called so. */
#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define far
#define near
#define small char
#define hyper long
#define interface struct
#define pascal
#define cdecl
#define IN
#define OUT
#define OPTIONAL
#define CONST const
#define VOID void
#define TRUE 1
#define FALSE 0
#define ERROR 0
#define STRICT 1
#define DELETE 1
#define ABSOLUTE 1
#define RELATIVE 2
#define min(a, b) ((a) < (b) ? (a) : (b))
#define max(a, b) ((a) > (b) ? (a) : (b))

#define None 0L
#define Bool int
#define Status int
#define True 1
#define False 0
#define Always 2
#define Success 0

#undef I
#define I 1
#undef major
#undef minor
#define major(d) (d)
#define minor(d) (d)
#undef unix
#undef linux
#define unix 1
#define linux 1

#ifdef CALLERS
#define signals public
#define slots
#define emit
#define foreach for
#endif
