/* math.h - elementary functions on vectors. */
