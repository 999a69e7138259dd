/* grid_place.inl - which elements grid_sample sums for a place of its grid, with which weights, for
 * one type. TNI_TABLE says whose functions they are: the kernels' (kernels/grid_type.inl), or a
 * device's (cuda/grid_sample.cu). */

/* A position beyond the ends, mirrored at these as often as it takes. */
TNI_HELPER V TNI_FNT(grid_mirror)(V p, int64_t n, bool align_corners) {
    const double low = align_corners ? 0 : -0.5, span = (double)(align_corners ? n - 1 : n);
    if (span <= 0) return V_ZERO();
    p = V_ABS(V_SUB(p, V_SET(low)));
    const V rest = V_FMOD(p, V_SET(span)), turns = V_FLOOR(V_DIV(p, V_SET(span)));
    const M even = V_EQ(turns, V_MUL(V_SET(2), V_FLOOR(V_MUL(turns, V_SET(0.5)))));
    return V_ADD(V_SEL(even, rest, V_SUB(V_SET(span), rest)), V_SET(low));
}
TNI_TABLE V TNI_FNT(grid_inside)(const tni_grid_plan *g, V p, int64_t n) {
    const V last = V_SET(n - 1), zero = V_ZERO();
    if (!g->clamped) return p;
    if (g->mirrored) p = TNI_FNT(grid_mirror)(p, n, g->align_corners);
    return V_SEL(V_LT(p, zero), zero, V_SEL(V_GT(p, last), last, p));
}
/* Cubic convolution with A = -0.75 (Robert Keys, 1981). */
TNI_TABLE V TNI_FNT(grid_cubic)(V d, bool outer) {
    const double a = -0.75;
    V y;
    if (!outer) {
        y = V_SUB(V_MUL(V_SET(a + 2), d), V_SET(a + 3));
        return V_ADD(V_MUL(y, V_MUL(d, d)), V_SET(1));
    }
    y = V_SUB(V_MUL(V_SET(a), d), V_SET(5 * a));
    y = V_ADD(V_MUL(y, d), V_SET(8 * a));
    return V_SUB(V_MUL(y, d), V_SET(4 * a));
}
/* Of places' numbers c along dimension k: taps i have whole numbers at[i], NaN or outside 0 .. n -
 * 1 for none, and weights weight[i]. Positions are cut at 2^30, so that int32_t holds them. NaN
 * stands for -1 where positions are clamped, as in torch, and is a weight else; the nearest place
 * of it is none. */
TNI_TABLE void TNI_FNT(grid_axis)(const tni_grid_plan *g, int k, V c, V *at, V *weight) {
    const int64_t n = g->n[k];
    const V most = V_SET(1 << 30), least = V_SET(-(1 << 30));
    const double half = (double)(g->align_corners ? n - 1 : n) / 2;
    V p, first, part;
    if (g->taps < 4 && g->clamped) c = V_SEL(V_NE(c, c), V_SET(-1), c);
    p = V_MUL(V_ADD(c, V_ONE), V_SET(half));
    if (!g->align_corners) p = V_SUB(p, V_SET(0.5));
    p = V_SEL(V_LT(p, least), least, V_SEL(V_GT(p, most), most, p));
    if (g->taps < 4) p = TNI_FNT(grid_inside)(g, p, n);
    first = V_SEL(V_EQ(p, p), p, least);
    at[0] = V_ROUND(first);
    weight[0] = V_ONE;
    if (g->taps == 1) return;
    first = V_FLOOR(first);
    part = V_SUB(p, first);
    at[0] = first;
    at[1] = V_ADD(first, V_ONE);
    weight[0] = V_SUB(at[1], p);
    weight[1] = part;
    for (int i = 0; g->taps == 4 && i < 4; i++) {
        const V d = i < 2 ? V_ADD(part, V_SET(1 - i)) : V_SUB(V_SET(i - 1), part);
        at[i] = TNI_FNT(grid_inside)(g, V_ADD(first, V_SET(i - 1)), n);
        weight[i] = TNI_FNT(grid_cubic)(d, i == 0 || i == 3);
    }
}
