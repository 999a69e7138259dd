"""A few eigenpairs of large symmetric matrices, which are only multiplied by: torch.lobpcg.

The iteration of A. Knyazev, Toward the optimal preconditioned eigensolver: locally optimal block
preconditioned conjugate gradient method, 2001: Rayleigh-Ritz in the span of the vectors X, of
residuals W and of the last directions P. "ortho" keeps an orthonormal basis of it: J. Duersch, M.
Shao, C. Yang, M. Gu, A robust and efficient implementation of LOBPCG, 2018."""

from . import _C
from ._functions.dtypes import finfo
from .autograd import Function

_linalg = _C._spaces["linalg"]


def _times(M, X):
    """M X; M is a matrix, sparse or not, or None for the unit matrix."""
    return X if M is None else M @ X


def _length(X):
    return float(_linalg["vector_norm"](X))


class LOBPCG:
    """The state of an iteration, which `tracker` is called with after each step.

    iparams, fparams, bparams: what was asked; ivars, fvars, bvars, tvars: how far it is. X and E
    are the vectors and values so far, R = A X - B X E, S the basis from which the next step takes
    them. A true bvars["force_stop"] ends the iteration."""

    def __init__(self, A, B, X, iK, iparams, fparams, bparams, method, tracker):
        self.A, self.B, self.iK = A, B, iK
        self.iparams, self.fparams, self.bparams = iparams, fparams, bparams
        self.method, self.tracker = method, tracker
        self.X, self.E, self.R, self.S = X, X.new_zeros(X.shape[1]), _C.zeros_like(X), X
        self.ivars = {
            "istep": 0, "iterations_left": iparams["niter"], "converged_count": 0,
            "converged_end": 0,
        }  # fmt: skip
        norm = _length(X)
        if not norm > 0:
            raise ValueError(f"lobpcg(): the first vectors X have the length {norm}")
        self.fvars = {
            "X_norm": norm,
            "A_norm": _length(_times(A, X)) / norm,
            "B_norm": _length(_times(B, X)) / norm,
        }
        self.bvars = {"force_stop": False}
        self.tvars = {}

    def __str__(self):
        shown = "iparams fparams bparams ivars fvars bvars tvars A B iK X E".split()
        return "LOBPCG:\n" + "".join(f"  {name}={getattr(self, name)}\n" for name in shown)

    def run(self):
        """Steps until k pairs have converged, niter steps are made, or the tracker says so."""
        while True:
            self.update()
            if self.tracker is not None:
                self.tracker(self)
            if self.stop_iteration():
                return

    def stop_iteration(self):
        """Whether the last step was the last."""
        spent = self.iparams["niter"] >= 0 and self.ivars["iterations_left"] <= 0
        converged = self.ivars["converged_count"] >= self.iparams["k"]
        return self.bvars.get("force_stop", False) or spent or converged

    def update(self):
        """One step."""
        if self.ivars["istep"] == 0:
            E, C = self._ritz(self.X)
            self.X, self.E, P = self.X @ C, E, self.X[:, :0]
        elif self.method == "ortho":
            P = self._step_ortho()
        else:
            P = self._step_basic()
        self.update_residual()
        done = self.update_converged_count()
        W = _times(self.iK, self.R[:, done:])
        known = _C.cat((self.X, P), 1)
        if self.method == "ortho":
            W = self._orthonormal(W, known)
        self.S = _C.cat((known, W), 1)
        self.ivars["converged_end"] = self.S.shape[1]
        self.ivars["iterations_left"] -= 1
        self.ivars["istep"] += 1

    def update_residual(self):
        """R of X and E."""
        self.R = _times(self.A, self.X) - _times(self.B, self.X) * self.E

    def update_converged_count(self):
        """How many of the first pairs have a residual below tol, beside |A| |x| + |E| |B| |x|."""
        size = self.fvars["A_norm"] + self.E.abs() * self.fvars["B_norm"]
        rerr = _linalg["vector_norm"](self.R, 2, 0) / (_linalg["vector_norm"](self.X, 2, 0) * size)
        self.tvars["rerr"] = rerr
        count = int((rerr < self.fparams["tol"]).cumprod(0).sum())
        self.ivars["converged_count"] = count
        return count

    # --- Rayleigh-Ritz ---

    def _form(self, M, S):
        G = S.mH @ _times(M, S)
        return (G + G.mH) / 2

    def _eigh(self, M):
        """Eigenpairs in the order that is asked for."""
        E, Z = _linalg["eigh"](M)
        return (E.flip(0), Z.flip(1)) if self.bparams["largest"] else (E, Z)

    def _ritz(self, S):
        """E and C so that S C are orthonormal in B and diagonalize A: by the Cholesky factor of
        S^H B S with ones on its diagonal."""
        G = self._form(self.B, S)
        d = G.diagonal().real ** -0.5
        R = _linalg["cholesky"](G * d * d.unsqueeze(1), upper=True)
        T = _linalg["solve_triangular"](R, d.to(S.dtype).diag_embed(), upper=True, left=False)
        E, Z = self._eigh(T.mH @ self._form(self.A, S) @ T)
        return E, T @ Z

    def _step_basic(self):
        """All of X is taken anew. P is what X was moved by."""
        n = self.X.shape[1]
        E, C = self._ritz(self.S)
        self.X, self.E = self.S @ C[:, :n], E[:n]
        active = C[n:, self.ivars["converged_count"] : n]
        return self.S[:, n:] @ active

    def _step_ortho(self):
        """Converged vectors stay; the others and P are taken from what is orthogonal to them. P
        spans what X was moved by, orthogonal to the new X."""
        done = self.ivars["converged_count"]
        active = self.X.shape[1] - done
        S = self.S[:, done:]
        E, Z = self._eigh(self._form(self.A, S))
        self.X = _C.cat((self.X[:, :done], S @ Z[:, :active]), 1)
        self.E = _C.cat((self.E[:done], E[:active]))
        rest = Z[:, active:]
        Q = _linalg["qr"](rest[:active].mH)[0]
        return S @ (rest @ Q)

    # --- an orthonormal basis ---

    def _orthonormal(self, W, V):
        """The span of W without that of V, orthonormal in B; V is. Columns of zeros are lost."""
        asked, tol = self.iparams, self.fparams
        BV = _times(self.B, V)
        size = _length(BV)
        for i in range(asked["ortho_i_max"]):
            W = W - V @ (BV.mH @ W)
            W = self._svqb_often(W, i)
            self.ivars["ortho_i"] = i
            if not W.numel():
                break
            rerr = _length(BV.mH @ W) / (size * _length(W))
            self.fvars[f"ortho_VBU_rerr[{i}]"] = rerr
            if rerr < tol["ortho_tol"]:
                break
        return W

    def _svqb_often(self, W, i):
        use_drop, drop = self.bparams["ortho_use_drop"], False
        limit = self.fparams["ortho_tol_drop" if use_drop else "ortho_tol_replace"]
        for j in range(self.iparams["ortho_j_max"]):
            W = self._svqb(W, drop, limit)
            self.ivars["ortho_j"] = j
            if not W.numel():
                break
            drop, limit = use_drop, self.fparams["ortho_tol_replace"]
            BW = _times(self.B, W)
            off = W.mH @ BW - _C.eye(W.shape[1], dtype=W.dtype, device=W.device)
            rerr = _length(off) / (_length(BW) * _length(W))
            self.fvars[f"ortho_UBUmI_rerr[{i}, {j}]"] = rerr
            if rerr < self.fparams["ortho_tol"]:
                break
        return W

    def _svqb(self, W, drop, limit):
        """W made orthonormal by the eigenvectors of its Gram matrix (A. Stathopoulos, K. Wu, A
        block orthogonalization procedure with constant synchronization requirements, 2002).
        Eigenvalues below `limit` times the largest are dropped, or count as that."""
        d = (W.conj() * _times(self.B, W)).sum(0).real
        W, d = W[:, d > 0], d[d > 0]
        if not W.numel():
            return W
        W = W * d**-0.5
        E, Z = _linalg["eigh"](self._form(self.B, W))
        least = limit * E.abs().max()
        if drop:
            E, Z = E[E > least], Z[:, E > least]
        return (W @ Z) * E.maximum(least) ** -0.5


# --- the function ---


class _Pairs(Function):
    """Eigenpairs with the gradient of eigenpairs of a symmetric A, as if they were exact."""

    @staticmethod
    def forward(ctx, A, B, rest):
        D, U = _solve(A.detach(), B if B is None else B.detach(), *rest)
        ctx.save_for_backward(A, D, U)
        ctx.general = B is not None
        return D, U

    @staticmethod
    def backward(ctx, gD, gU):
        A, D, U = ctx.saved_tensors
        why = (
            "support sparse input yet" if A.is_sparse
            else "support complex input yet" if A.is_complex()
            else "support backward with B != I yet" if ctx.general
            else None
        )  # fmt: skip
        if why:
            raise ValueError(f"lobpcg.backward does not {why}.")
        # dU = U (F * U^T dA U) - (A - d)^+ dA U outside of the span of U; F_ij = 1 / (d_j - d_i)
        unit = _C.eye(D.shape[-1], dtype=D.dtype, device=D.device)
        apart = D.unsqueeze(-2) - D.unsqueeze(-1)
        inner = (U.mT @ gU) * (1 - unit) / (apart + unit)
        gA = U @ (inner + gD.diag_embed()) @ U.mT
        onto = U @ U.mT
        outside = _C.eye(A.shape[-1], dtype=A.dtype, device=A.device) - onto
        shift = D.unsqueeze(-1).unsqueeze(-1)
        M = (outside @ A @ outside + onto).unsqueeze(-3) - shift * outside.unsqueeze(-3)
        z = _linalg["solve"](M, (outside @ gU).mT.unsqueeze(-1)).squeeze(-1)
        return gA - z.mT @ U.mT, None, None


def _parameters(A, k, n, niter, tol, largest, method, given):
    """The parameters of LOBPCG in its three dicts, with those that were given."""
    eps = finfo(A.dtype).eps
    tol = eps**0.5 if tol is None else tol
    i = {"m": A.shape[-1], "n": n, "k": k, "niter": 1000 if niter is None else niter}
    f, b = {"tol": tol}, {"largest": True if largest is None else largest}
    if method == "ortho":
        i = {"ortho_i_max": 3, "ortho_j_max": 3, **i, **(given[0] or {})}
        f = {"ortho_tol": tol, "ortho_tol_drop": tol, "ortho_tol_replace": tol, **f,
             **(given[1] or {})}  # fmt: skip
        b = {"ortho_use_drop": False, **b, **(given[2] or {})}
    return i, f, b


def _solve(A, B, X, n, iK, method, tracker, parameters):
    m, k = A.shape[-1], parameters[0]["k"]
    if A.dim() == 2:
        if X is None:
            X = _C.randn((m, n), dtype=A.dtype, device=A.device)
        if X.shape != (m, n):
            raise AssertionError(f"X shape mismatch: got {tuple(X.shape)}, expected {(m, n)}")
        worker = LOBPCG(A, B, X, iK, *parameters, method, tracker)
        worker.run()
        return worker.E[:k], worker.X[:, :k]
    batch = A.shape[:-2]
    A, B, X, iK = (
        x.reshape(-1, *x.shape[-2:]) if x is not None and x.dim() > 2 else x for x in (A, B, X, iK)
    )
    pairs = []
    for i in range(A.shape[0]):
        parameters[0]["batch_index"] = i
        own = (x[i] if x is not None and x.dim() > 2 else x for x in (B, X))
        own_K = iK[i] if iK is not None and iK.dim() > 2 else iK
        pairs.append(_solve(A[i], *own, n, own_K, method, tracker, parameters))
    if not pairs:
        return A.new_zeros((*batch, k)), A.new_zeros((*batch, m, k))
    E, X = (_C.stack(x) for x in zip(*pairs, strict=True))
    return E.reshape(*batch, k), X.reshape(*batch, m, k)


def lobpcg(A, k, B, X, n, iK, niter, tol, largest, method, tracker, *given):
    """torch.lobpcg with all of its arguments."""
    if X is not None and X.dim() < 2:
        raise AssertionError(f"X must be a matrix or a batch of them, got shape {tuple(X.shape)}")
    if A.dim() < 2 or A.shape[-2] != A.shape[-1]:
        raise AssertionError(f"A must be square, got shape {tuple(A.shape)}")
    if B is not None and A.shape != B.shape:
        raise AssertionError(
            f"A and B must have same shape, got {tuple(A.shape)} vs {tuple(B.shape)}"
        )
    k = k if k is not None else 1 if X is None else X.shape[-1]
    n = X.shape[-1] if X is not None else k if n is None else n
    if k < 1 or n < 1:
        raise ValueError(f"lobpcg(): k={k} pairs from n={n} vectors: both must be 1 or more")
    if A.shape[-1] < 3 * n:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={A.shape[-1]}) is "
            f"smaller than 3 x the number of requested eigenpairs (={n})"
        )
    if not (A.is_floating_point() or A.is_complex()):
        A = A.to(_C.get_default_dtype())
    method = "ortho" if method is None else method
    if method not in ("ortho", "basic"):
        raise ValueError(f"lobpcg(): method must be 'ortho' or 'basic', not {method!r}")
    rest = (X, n, iK, method, tracker,
            _parameters(A, k, n, niter, tol, largest, method, given))  # fmt: skip
    recorded = [x for x in (A, B) if x is not None and x.requires_grad]
    if not recorded or not _C.is_grad_enabled():
        return _solve(A, B, *rest)
    return _Pairs.apply((A + A.mH) / 2, B if B is None else (B + B.mH) / 2, rest)
