"""torch.special: other names of operators; those whose operator is not there yet are planned."""

import tensorh

_NAMES = {
    "expit": "sigmoid", "psi": "digamma", "gammaln": "lgamma", "multigammaln": "mvlgamma",
    "gammainc": "igamma", "gammaincc": "igammac",
}  # fmt: skip
_SAME = (
    "digamma entr erf erfc erfcx erfinv exp2 expm1 i0 i0e i1 i1e log1p log_ndtr log_softmax logit "
    "logsumexp ndtr ndtri polygamma round sinc softmax xlog1py xlogy zeta airy_ai bessel_j0 "
    "bessel_j1 bessel_y0 bessel_y1 modified_bessel_i0 modified_bessel_i1 modified_bessel_k0 "
    "modified_bessel_k1 scaled_modified_bessel_k0 scaled_modified_bessel_k1 spherical_bessel_j0 "
    "chebyshev_polynomial_t chebyshev_polynomial_u chebyshev_polynomial_v chebyshev_polynomial_w "
    "hermite_polynomial_h hermite_polynomial_he laguerre_polynomial_l legendre_polynomial_p "
    "shifted_chebyshev_polynomial_t shifted_chebyshev_polynomial_u shifted_chebyshev_polynomial_v "
    "shifted_chebyshev_polynomial_w"
).split()
_NAMES.update((name, name) for name in _SAME)


def __getattr__(name):
    f = getattr(tensorh, _NAMES[name], None) if name in _NAMES else None
    if f is None:
        from ._missing import error

        raise error("torch.special", name, planned=name in _NAMES)
    globals()[name] = f
    return f


def __dir__():
    return sorted({*globals(), *(name for name, row in _NAMES.items() if hasattr(tensorh, row))})
