"""Sobol sequences: points of a cube that fill it more evenly than random ones.

The direction numbers are those of S. Joe, F. Y. Kuo: Constructing Sobol sequences with better
two-dimensional projections, SIAM J. Sci. Comput. 30 (2008), for 481 of their 21,201 dimensions."""

from functools import lru_cache

from . import _C

_BITS = 30


class SobolEngine:
    """A sequence of points in [0, 1)^dimension, scrambled if asked for."""

    MAXBIT = _BITS
    MAXDIM = 481  # all primitive polynomials of up to 12 coefficients

    def __init__(self, dimension, scramble=False, seed=None):
        if not 1 <= dimension <= self.MAXDIM:
            raise ValueError(
                f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}]"
            )
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.num_generated = 0
        self.sobolstate = _C.tensor(_directions(dimension), dtype=_C.int64)  # (dimension, bits)
        self.shift = _C.zeros(dimension, dtype=_C.int64)
        if scramble:
            self._scramble()

    def _scramble(self):
        """A random lower triangular matrix for the digits of each dimension, and a random shift
        (J. Matousek: On the L2-discrepancy for anchored boxes, J. Complexity 14, 1998)."""
        g = None if self.seed is None else _C.Generator()
        if g is not None:
            g.manual_seed(self.seed)
        powers = 2 ** _C.arange(_BITS)
        self.shift = (_C.randint(2, (self.dimension, _BITS), generator=g) * powers).sum(1)
        size = (self.dimension, _BITS, _BITS)
        matrix = _C.randint(2, size, generator=g).tril(-1) + _C.eye(_BITS, dtype=_C.int64)
        first = powers.flip(0)  # the values of digits, the first one of a fraction first
        digits = self.sobolstate.unsqueeze(1).bitwise_and(first[:, None]).ne(0)
        digits = (matrix.double() @ digits.double()).long() % 2  # sums of 30 ones are exact
        self.sobolstate = (digits * first[:, None]).sum(1)

    def draw(self, n=1, out=None, dtype=None):
        """The next n points, (n, dimension)."""
        if self.num_generated + n > 2**_BITS:
            raise ValueError(f"there are 2**{_BITS} points, {self.num_generated} were drawn")
        k = _C.arange(self.num_generated, self.num_generated + n)
        gray = k ^ (k >> 1)
        points = self.shift.expand(n, self.dimension).clone()
        for j in range((self.num_generated + n).bit_length()):
            points ^= ((gray >> j) & 1)[:, None] * self.sobolstate[:, min(j, _BITS - 1)]
        points = points.to(dtype or _C.get_default_dtype()) * 2.0**-_BITS
        self.num_generated += n
        return points if out is None else out.resize_(points.shape).copy_(points)

    def draw_base2(self, m, out=None, dtype=None):
        """The next 2^m points, if those drawn before are as many, or none."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ValueError(
                "The balance properties of Sobol' points require n to be a power of 2. "
                f"{self.num_generated} points have been previously generated, then: "
                f"n={self.num_generated}+2**{m}={total}. If you still want to do this, please use "
                "'SobolEngine.draw()' instead."
            )
        return self.draw(n, out=out, dtype=dtype)

    def reset(self):
        """Back to the first point."""
        self.num_generated = 0
        return self

    def fast_forward(self, n):
        """n points are left out."""
        self.num_generated += n
        return self

    def __repr__(self):
        words = [f"dimension={self.dimension}"]
        words += ["scramble=True"] * bool(self.scramble)
        words += [] if self.seed is None else [f"seed={self.seed}"]
        return f"SobolEngine({', '.join(words)})"


@lru_cache(maxsize=4)
def _directions(dimension):
    """For each dimension 30 direction numbers as 30 binary digits of a fraction."""
    from base64 import b64decode

    table = int.from_bytes(b64decode("".join(_INITIAL)), "little")
    rows = [[1] * _BITS]  # the first dimension is van der Corput's sequence
    for degree, polynomial in _polynomials(dimension - 1):
        m = [1]
        for k in range(1, degree):  # number k is odd and below 2^(k + 1): k digits are kept
            m.append((table & ((1 << k) - 1)) << 1 | 1)
            table >>= k
        for i in range(degree, _BITS):
            last = m[i - degree]
            for k in range(1, degree + 1):
                if polynomial >> (degree - k) & 1:
                    last ^= m[i - k] << k
            m.append(last)
        rows.append(m[:_BITS])
    return [[x << (_BITS - 1 - i) for i, x in enumerate(row)] for row in rows]


def _polynomials(n):
    """The first n primitive polynomials over the field of two elements, with their degrees."""
    degree = 0
    while n > 0:
        degree += 1
        for p in range(2**degree + 1, 2 ** (degree + 1), 2):
            if n > 0 and _is_primitive(p, degree):
                yield degree, p
                n -= 1


def _is_primitive(p, degree):
    """Whether the powers of x modulo p are all 2^degree - 1 polynomials but 0."""
    x = order = 1
    while True:
        x <<= 1
        if x >> degree:
            x ^= p
        if x == 1:
            return order == 2**degree - 1
        order += 1


# The initial numbers of all polynomials one after the other, without their last digits, all 1.
_INITIAL = (
    "A6WmkBI3CUCq+nEwripujI/IjVHp3z3zbUeUJ34lMC2mWEftHzap14QRbUjAZakT2VH1gu2xjiSiRWqh4YHvTfPY"
    "FBvK32D6/vsHS6uY/LTrSPC1oJaHH3gKsgRmMpXjfAGy3OXIOXpv7g2hHgxHtnLYD5E0ivr3aqmqJqwcXdb3NYBN"
    "EIFwLoLViM8zy0cLfbQtlhw8r+XTUoPf71NKdEP23O8U+s/GgJL5TitAVLXPl3RrcKdQCg0aCLJ3gP32gmqgLJDf"
    "GP/5QT7b+lEg9T87bp+Uh2RR69t6CIyBZtWB5wOIdCp6vgqufX+Mpj1dxWQgcHwlSfhheEKn0Ea4qTsvOywLZ50c"
    "Y60/ipZW0LYSf0rIE3/IPA3wPOfEOgAAksje/KpjiHeyqcHrReISdt2oTR1KsZCBd/qZQ141gzaZYpuzLTi+Zmvg"
    "f6dKWDq2zSXUS8pFSPG3cpbM7z80L6Ox8tlWynQHeO2eOw0RIoBbZR8on1KZ/0flTLFpM7jgU8kUwYln4ke88Sb1"
    "gwWf7spOz+QT2EUE79z3glYXMhk5asDqvzJnQpXy3LfaTjyMh87wsJgammUtnsRs7ZyMfGZbApDcY3loXOqo4nVr"
    "u06mUlWGKjlzWw6N4yxhORfWlJ9gpxlqchP6ewTNfrj0EBB+uaZy7sEkengvcyRCcLqCO1Cs009vp3Xw5ywMwXdB"
    "ufZBgjL+DbWxaP3dC3Q8YR3wxVig8yZkbS+zSVmfONPCGymhBoAZgZZ3Z17jGKq2tlhRUfpYb+Wn1W9o3YYz4G9+"
    "yLuc3vo0qEQyx+UsYE+P05csBfmS0h+kli9rEgRmixeb5cu74VcJ3tXk/3U1pfWWY+pr8rXRCEDaTKVppl9z5G/X"
    "CqbOXpH43D565S+1YROOGPPZvTHewwmhzhtrpe7EG4MfZMuz1MhFF2KGyRaZDcCHay/sbdoICbc1m6PVDofLBTaD"
    "H1M+otur4LGiZcYj0EEWecBqnGdBaoDPK/e6trMT/kW97w+M2ODoFwiYMRzK0OjYTMY9G8f4Gs6eSsg2SjjF9Ndz"
    "H1urPq7caXnfA21mLwtjaPuL0JAFat09qI5yp5eVzwyExrqrH4CVhNsQuNLKuyyxSRH7SzYyaX/KrwHxamgXi9mx"
    "VQ1HiwjzEGsZ1m0AksztZEUn/TfODcRU3AEnV2/jb2q/Pwll5AEey/o45CqP/QaO9f+GYMEQ36GMSySVfN9UlCBy"
    "P3nXyCzFgWP92dQyN4zZE2dKs+CLGFYXVEYedemIBQim2GhYVAc3NW9dUSy9Vzco+QPUxItSrVJ6CckGFFFiB1pz"
    "Ak5xoRxiuvhpXTthKe4sL9Nnrzf2ZlGRL5PUynxXKjUGqB85u2DoSQFhvLzcDTS+oJgFa5Ih32kOtdhmkI0XZapg"
    "KviYbk0eA4x/LNVjvCNbdQONNEKEoiD3Y3uVjOtXYxh2N6Wb8JW/spBEnZC3ScdhGet+P2wi2bs1jCZcPq9+a1T7"
    "7utHqwGZ4C+Lyb6HIxb6le/HeZjTJ/Yxky1V/ubik9r4t9AKrihKdezTr7ZKskBWxbYLwZbqikQjAc7M9Jtmx1BE"
    "t13+MOk/+idm9NXz/eexV9xUKd0sxnPfLaYWZWXkAVTIYAFQUEBqISYNUumV90ttRE3SJ7YxkCwBwyjtrSfvtONc"
    "8T+agEhRL2TkvxKBvMiG7Dpgiuv0Z91s8nD5D/dylHUwBqbSs4Z0/+fGU4VMciHOQztmVyapEo4wHiZTnZ4/IWK6"
    "VKyr66EMmhDm9Xox0ZZmBQMnZnAuHJkzoYX1suBH1KtX33/5Hux04ii4P1Sep6sQGAcfi+FPjSmiNQ6aHhEahBCu"
    "8SftOETAP/tFzjzyfhPLyXlQXu9m0vKj3hl0pfKDE2GGwaK+lGcx3fqjtJx5JgJ22ao3PbNgnRaoWr4qnQ00lB9U"
    "XultRRNCCS+pzBvQvQkRyp/QUrUXhDBocxEDp0rfRycUmkMqBAGBoOoG7DsYRXO1BEoGDkEmvqps5r5S5d49bCub"
    "fdsgt+Xhoo7YgaqDDuGvCBKNISpFAc7kIAGJtja0WVquLcfrmwrta16B239lM/cao2xypqlnKiJDxZFXKJz9jVFr"
    "Pd4AfiQSVU3XN7W6SQzt6EewYc3S8AbI1sXdp8aTBS1CuZ7t+9VAN/DXxwf40KH6BTOJhrD7OYd3x+8Pcjmp8yk0"
    "spNuCE+IGY6PGn6daqm5w2qn7p4t2k+5+sARDCaD3edLWDAteOYzVXBc8xC+0lXX2eDnbmtqs+SVJ1qwMUfesLH1"
    "UkIu180wpzEm4+Eyy+AzsmYOGLLYGdpSkOi5Sc6gUcnLGjF7Oyaw8NoxnOtPsvLLnPFJhnzlQsdmmnm3ZnOp14m5"
    "t3A8WncT3s/XVu/sImL7Fp1AOHf5COIDrlqIKfOPIY1ZRzzy+RUp5YAidUzJ8KkH2KiftRcu76okhExfNoVTQeWJ"
    "boXlnjHTVBpdFaxxORPmCbyve7QSlea5fQwfPnbKRYSUnShXODRlOC86D3W8TDfPg7hz1RcmF7rYF9ZBbm9YFXAd"
    "LU+zI88pdvY6lRgKfSc/XMVL+wc8hcDo5+psi7Yzu8Vt3q5QIuh5H/Wk1gajXrvSGytNYoyYeElMBEhW5/8UMSM7"
    "17/+dA0O+Fp5hvgPI+TkcE8DaXJgSeGmLebfnoVm+WxadfV7mb9IidE1Tx4CU9BvMbc+ISY2NSwJ7YRaG0mMDniU"
    "eKAxV/xV17U53ssKqkRB9ELh+wPpKXYG2dnPCYAdwU2QXybGWfaQFUSFReUF+LxA1YC7yK+4ZNSi/yCDfA9Xle5F"
    "SJoq8wBFSZfiU58d2guR9mdCCMKCNvFXB0krUz/20tafU3uZAOMb61o8LpEkhkMFcK/1YyqJJf6BA0SuMC31p2sx"
    "aI6Z3ES98npw37ynmhll+va6d2s3TerHvvt1YVzfHKiQmbP4eF0TdWhu5zTx1tWtpVJJqWDlxG9p0lCisSNwH7nL"
    "ylAoCtz81jDtDVM+Rk6ShT0gr4O9Z2nU0NTykomJdpJSvoz9i6wf+TT1IV+Tu9VmDg9IFPqiRJ+IkVxC2wHIX6hL"
    "uUUt+WC1yLqWZwbkNRO2ipVGqfReSJMGYWHA9oe5xTPankVWt7aBi6HRBxvpR7xMCH2FbY8Z4z7UlwxoywVJNM2S"
    "JMn5FLUoSEi+wHe8tko00bFRiZ+hA7Ptax6fQQJjeGPpr1XjPjDYGXlKvs2izrcvUjs1SmMS31afS9j5AH6huGrV"
    "jGB9qd+J+bKZCj7yKGV2WyOo4ol7C2tT2hf+YVMo9mQn/qKi3/ahI/JnZ/iczCYwpza1cZp6/VAeifmL7tBunsZH"
    "lNaaHZ0WMdm9hHJda6303jedCfEknv7yDDGMLlKtgOuTLMXcmOyz0DhbIdJ696ST51VzMtR4dp1IFjwdF4AWvLGY"
    "anfmKNSLyug59m7UX4BXiNTb46HSPVoZBZr+6sVt9ecFspc1bFddbc3m9pzGofOvJb1ZZ6NZdH14nqE55TtyjYP4"
    "IKfe6+WNxYVkDS3b91etT2jejm7Cq/wn4VkZ3JK/+PX6ge3mT7asAYMu8MYdG7LvGpU3Ij4ulWvdsGS68S/q2p3c"
    "GWtX5cVQvMzxM6I/GLdrWRGkF5TDlDLnzfrn3GedrGfiDj3uloeu1Lr9kvNw1ue8f+ky6mI8ZTpm/0wMK36U6ZRM"
    "87L+f+S6W+otwWm5dOiRlzx4l42eoIUTzHHFPzEMDTGvof3TCej14l0N4Z0NhYEp3pHKDtlJzxbiEOZypSX1L4IX"
    "bDZ/gYGPnWe2SpE9mHXKBLW5Ymy8xW/XdOpfKhLOsBqGx4XnQN0SoKfcBR2JxrU2nCIVyAlA55uB9DwyyUo/UMpo"
    "UMjxwFYQrkMOuQXbACoGlgybgmpp0USAR4khXfF8ztHThVRUTaPT6IoFKqMrMgsB1ZtbYN3vjrL3iaOnNWymHJ5K"
    "mz7Qanm1qAvMFs2e/Mj9tgiIeIIKPXSTvK5QyFRoYnJUYgLEp9ScReNGCAHDM2AkU/gWiFApat2LEweFJzVJLbYl"
    "18T9wPUaa2GCeVQs3G47oFprkBg1GDpuI7AE8Dzuli10hx9AYg4xcw=="
)
