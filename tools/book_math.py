# SPDX-License-Identifier: Apache-2.0
# SPDX-FileCopyrightText: The Saltus developers
"""Functions for the accepted numbers of the validation book: what the standard library lacks, written for the
book alone, so that no reference comes from the program that it judges."""
import math
import pathlib
from fractions import Fraction

REFERENCE = pathlib.Path(__file__).resolve().parent.parent / "data/reference"


def ellipk(m):
    """Complete elliptic integral of the first kind, by the arithmetic-geometric mean."""
    a, b = 1.0, math.sqrt(1.0 - m)
    for _ in range(60):
        if abs(a - b) <= 1e-16 * a:
            break
        a, b = (a + b) / 2, math.sqrt(a * b)
    return math.pi / (2 * a)


def jacobi(u, m):
    """(sn, cn, dn) of Jacobi by descending Landen transformations (Abramowitz and Stegun 16.4)."""
    if m == 0:
        return math.sin(u), math.cos(u), 1.0
    if m == 1:
        return math.tanh(u), 1 / math.cosh(u), 1 / math.cosh(u)
    a, c = [1.0], [math.sqrt(m)]
    b = math.sqrt(1.0 - m)
    while abs(c[-1]) > 1e-16 * a[-1] and len(a) < 60:
        a_next, c_next = (a[-1] + b) / 2, (a[-1] - b) / 2
        b = math.sqrt(a[-1] * b)
        a.append(a_next)
        c.append(c_next)
    phi = 2 ** (len(a) - 1) * a[-1] * u
    before = phi
    for i in range(len(a) - 1, 0, -1):
        before = phi
        phi = (math.asin(max(-1.0, min(1.0, c[i] / a[i] * math.sin(phi)))) + phi) / 2
    sn, cn = math.sin(phi), math.cos(phi)
    return sn, cn, cn / math.cos(before - phi) if abs(math.cos(before - phi)) > 0.1 else math.sqrt(1 - m * sn * sn)


def quad(f, a, b, levels=7):
    """Integral of f over (a, b) by the tanh-sinh rule; end points may be singular."""
    mid, half = (a + b) / 2, (b - a) / 2
    step = 1.0 / 2 ** levels
    terms = []
    for k in range(-int(4.0 / step), int(4.0 / step) + 1):
        t = k * step
        u = math.pi / 2 * math.sinh(t)
        # distance from the nearer end, without cancellation
        near = 2 * half / (1 + math.exp(2 * abs(u)))
        if near <= 0 or not math.isfinite(near):
            continue
        x = b - near if u > 0 else a + near
        if x <= min(a, b) or x >= max(a, b):
            continue
        terms.append(f(x) * math.pi / 2 * math.cosh(t) / math.cosh(u) ** 2)
    return half * step * math.fsum(terms) if mid == mid else math.nan


def root(f, a, b):
    """A root of f between a and b by bisection: slow and sure."""
    fa = f(a)
    if fa == 0:
        return a
    if (fa > 0) == (f(b) > 0):
        raise ValueError("no change of sign")
    for _ in range(200):
        mid = (a + b) / 2
        if mid in (a, b):
            break
        if (f(mid) > 0) == (fa > 0):
            a = mid
        else:
            b = mid
    return (a + b) / 2


def ode(f, y, t0, t1, steps=200):
    """y(t1) of y' = f(t, y) by Gragg's method with Bulirsch and Stoer's extrapolation, ten columns in each of the steps."""
    y = list(map(float, y))
    big = (t1 - t0) / steps
    for i in range(steps):
        t, rows = t0 + i * big, []
        for j in range(10):
            n = 2 * (j + 1)
            h = big / n
            z0, z1 = y, [a + h * b for a, b in zip(y, f(t, y))]
            for k in range(1, n):
                d = f(t + k * h, z1)
                z0, z1 = z1, [a + 2 * h * b for a, b in zip(z0, d)]
            d = f(t + big, z1)
            row = [[(a + b + h * c) / 2 for a, b, c in zip(z0, z1, d)]]
            for k in range(1, j + 1):
                factor = ((2 * (j + 1)) / (2 * (j + 1 - k))) ** 2 - 1
                row.append([a + (a - b) / factor for a, b in zip(row[k - 1], rows[-1][k - 1])])
            rows.append(row)
        y = rows[-1][-1]
    return y


def table(name, t):
    """The row of a table in data/reference whose first column is t."""
    with open(REFERENCE / name, encoding="utf-8") as file:
        for line in file:
            cells = line.strip().split(",")
            try:
                if abs(float(cells[0]) - t) < 1e-12:
                    return [float(c) for c in cells]
            except ValueError:
                continue
    raise ValueError(f"{name} has no row at {t}")


def names():
    """What formulas of the book may use."""
    known = {k: getattr(math, k) for k in (
        "pi", "sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "exp", "log", "sinh", "cosh", "tanh",
        "asinh", "acosh", "atanh", "hypot", "radians", "degrees", "fabs", "fsum", "floor", "erf")}
    known.update(abs=abs, max=max, min=min, sum=sum, range=range, len=len, float=float, int=int, zip=zip,
                 Fraction=Fraction, ellipk=ellipk, jacobi=jacobi, quad=quad, root=root, ode=ode, table=table, list=list, sorted=sorted)
    return known
