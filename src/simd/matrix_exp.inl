/* matrix_exp.inl - the approximants of the exponential of a matrix, for the CPU
 * (ops/linalg/matrix_exp.c) and devices (cuda/matrix_exp.cu). */

/* Scaling and squaring: the diagonal Pade approximant of degree 3, 5, 7, 9 or 13 of A / 2^s, the
 * lowest whose backward error is below the unit for this norm (N. Higham, The scaling and squaring
 * method for the matrix exponential revisited, 2005, table 2.3). */
static const double mexp_reach[] = {1.495585217958292e-2, 2.539398330063230e-1,
                                    9.504178996162932e-1, 2.097847961257068, 5.371920351148152};
static const double mexp_weights[][14] = {
    {120, 60, 12, 1},
    {30240, 15120, 3360, 420, 30, 1},
    {17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1},
    {17643225600.0, 8821612800.0, 2075673600.0, 302702400, 30270240, 2162160, 110880, 3960, 90, 1},
    {64764752532480000.0, 32382376266240000.0, 7771770303897600.0, 1187353796428800.0,
     129060195264000.0, 10559470521600.0, 670442572800.0, 33522128640.0, 1323241920.0, 40840800.0,
     960960.0, 16380.0, 182.0, 1.0}};
