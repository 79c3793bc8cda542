"""Worlds: data sets with known clusters, of many kinds, that the judge learns from.

No real data set is among them, and none of their settings was taken from one. What decides how well
the judge does on data it has never seen is how many kinds there are; so there are mixtures of many
forms, shapes in the plane, tables that come from a few hidden causes, pictures of hidden causes
through a random network, cases that are hard in one respect, and one cluster in all its disguises.

    X, labels, kind = draw(seed, number)

Rows of background noise and outliers have the label -1: no clustering is blamed for them.
"""

import numpy as np

from edfkmeans.simulate import SCHEMES, simulate


def draw(seed, number):
    """Draw one data set: rows, labels and the name of its kind."""
    rng = np.random.default_rng([seed, number])
    world = rng.choice(len(WORLDS), p=np.array([share for _, share in WORLDS]))
    while True:
        X, labels, kind = WORLDS[world][0](rng)
        X, labels = _finish(rng, np.asarray(X, float), np.asarray(labels))
        inside = labels[labels >= 0]
        if len(np.unique(X, axis=0)) >= 25 and len(inside) >= 20:
            return X, labels, kind


def _finish(rng, X, labels):
    """Drop constant columns, shuffle the rows, and standardise three sets in four."""
    X = X[:, X.std(axis=0) > 0]
    order = rng.permutation(len(X))
    X, labels = X[order], labels[order]
    if rng.random() < 0.75:
        X = (X - X.mean(axis=0)) / X.std(axis=0, ddof=1)
    return X, labels


def _rows(rng, low=60, high=2500):
    """Draw a number of rows, evenly on the logarithmic scale; one set in thirty is large."""
    if rng.random() < 1 / 30:
        return int(rng.integers(3000, 12000))
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


def _columns(rng, low=2, high=60):
    return int(np.exp(rng.uniform(np.log(low), np.log(high + 1))))


def _clusters(rng, n, most=25):
    """Draw a number of clusters: two to five in half of the sets."""
    k = (
        rng.integers(2, 6)
        if rng.random() < 0.5
        else int(np.exp(rng.uniform(np.log(2), np.log(most + 1))))
    )
    return int(min(k, max(2, n // 12)))


def _sizes(rng, n, k):
    """Draw sizes from nearly equal to very unequal, none below four rows."""
    shares = rng.dirichlet(np.full(k, np.exp(rng.uniform(0, np.log(1000)))))
    least = min(4, n // k)
    return least + rng.multinomial(n - least * k, shares)


def _labels(rng, n, k):
    return np.repeat(np.arange(k), _sizes(rng, n, k))


def _rotation(rng, d):
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.sign(np.diag(r))


# Mixtures ---------------------------------------------------------------------------------------


def _centres(rng, k, d):
    """Draw centres: at random, in groups, or spread out; the two nearest are 2 apart."""
    way = rng.random()
    if way < 0.35 and k > 3:
        groups = rng.normal(size=(int(rng.integers(2, max(3, k // 2) + 1)), d)) * rng.uniform(2, 6)
        centres = groups[rng.integers(0, len(groups), k)] + rng.normal(size=(k, d))
    elif way < 0.6:
        centres = np.zeros((k, d))
        points = rng.normal(size=(40 * k, d))
        centres[0] = points[0]
        for c in range(1, k):  # far from those before
            away = ((points[:, None] - centres[:c]) ** 2).sum(axis=2).min(axis=1)
            centres[c] = points[rng.choice(len(points), p=away**2 / (away**2).sum())]
    else:
        centres = rng.normal(size=(k, d))
    gaps = np.sqrt(((centres[:, None] - centres) ** 2).sum(axis=2))
    np.fill_diagonal(gaps, np.inf)
    nearest = gaps.min(axis=1)
    scale = nearest.min() if rng.random() < 0.5 else np.median(nearest)
    return 2 * centres / max(scale, 1e-9)


def _residuals(rng, kind, labels, k, d):
    """Draw rows around 0 for every cluster, of standard deviation about 1."""
    n = len(labels)
    if kind == "gaussian":
        return rng.normal(size=(n, d))
    if kind == "scale":
        return rng.normal(size=(n, d)) * np.exp(rng.normal(0, 0.5, k))[labels, None]
    if kind == "axes":
        return rng.normal(size=(n, d)) * np.exp(rng.normal(0, 0.6, (k, d)))[labels]
    if kind == "shape":
        out = np.empty((n, d))
        for c in range(k):
            inside = labels == c
            stretch = np.exp(rng.normal(0, 0.6, d))
            out[inside] = (rng.normal(size=(inside.sum(), d)) * stretch) @ _rotation(rng, d)
        return out
    if kind == "common":
        root = rng.normal(size=(d, d)) / np.sqrt(d) + np.eye(d) * rng.uniform(0.2, 1.5)
        return rng.normal(size=(n, d)) @ root
    if kind == "tails":
        df = rng.integers(2, 7)
        if rng.random() < 0.5:
            return rng.standard_t(df, size=(n, d)) * 0.7
        return rng.normal(size=(n, d)) / np.sqrt(rng.chisquare(df, size=(n, 1)) / df) * 0.7
    if kind == "uniform":
        return rng.uniform(-1.7, 1.7, size=(n, d))
    if kind == "ball":
        z = rng.normal(size=(n, d))
        return (
            z
            / np.linalg.norm(z, axis=1, keepdims=True)
            * rng.random((n, 1)) ** (1 / d)
            * np.sqrt(d + 2)
        )
    if kind == "skewed":
        power = rng.uniform(0.3, 1.0)
        z = (np.exp(power * rng.normal(size=(n, d))) - np.exp(power**2 / 2)) / power
        return z * rng.choice([-1, 1], size=(k, d))[labels]
    if kind == "exponential":
        return (rng.exponential(size=(n, d)) - 1) * rng.choice([-1, 1], size=(k, d))[labels]
    if kind == "curved":
        z = rng.normal(size=(n, d))
        if d > 1:
            bend = rng.normal(0, 0.5, (k, d))
            bend[:, 0] = 0
            z[:, 0] *= rng.uniform(1, 2.5)
            z += (z[:, :1] ** 2 - z[:, 0].var()) * bend[labels] / np.sqrt(d)
            for c in range(k):
                z[labels == c] = z[labels == c] @ _rotation(rng, d)
        return z
    raise AssertionError(kind)


MIXED = ("gaussian", "scale", "axes", "shape", "common", "tails", "uniform", "ball", "skewed",
         "exponential", "curved")  # fmt: skip


def mixture(rng):
    """Clusters of one form around random centres, part of the columns without information."""
    n, d = _rows(rng), _columns(rng)
    k = _clusters(rng, n)
    labels = _labels(rng, n, k)
    idle = int(rng.integers(0, d // 2 + 1)) if rng.random() < 0.35 else 0
    active = max(1, d - idle)
    kind = MIXED[rng.integers(len(MIXED))]
    apart = np.exp(rng.uniform(np.log(1.1), np.log(6)))
    if rng.random() < 0.3:  # the more columns, the less each says
        apart *= min(2.0, 1 + 0.1 * np.sqrt(active))
    X = _centres(rng, k, active)[labels] * apart + _residuals(rng, kind, labels, k, active)
    if idle:
        X = np.hstack([X, rng.normal(size=(n, idle)) * rng.uniform(0.5, 1.5)])
    if rng.random() < 0.3:
        X = X @ _rotation(rng, X.shape[1])
    X, labels = _spoil(rng, X, labels)
    return X, labels, f"mixture {kind}"


def _spoil(rng, X, labels):
    """Round, bend or cut columns, add rows far away: each in some of the sets."""
    d = X.shape[1]
    if rng.random() < 0.12:
        X = np.sign(X) * np.log1p(np.abs(X))
    if rng.random() < 0.10:
        X = np.exp(X / np.maximum(X.std(axis=0), 1e-9) * rng.uniform(0.2, 0.9))
    if rng.random() < 0.12:
        step = X.std(axis=0) * rng.uniform(0.1, 1.0)
        X = np.round(X / step) * step
    if rng.random() < 0.08 and d > 3:
        which = rng.random(d) < rng.uniform(0.1, 0.9)
        X = np.where(which, np.quantile(X, rng.uniform(0.2, 0.8), axis=0) < X, X)
    if rng.random() < 0.10:
        X, labels = _outliers(rng, X, labels, rng.uniform(0.002, 0.03))
    if rng.random() < 0.04:
        times = int(rng.integers(2, 4))
        X, labels = np.repeat(X, times, axis=0), np.repeat(labels, times)
    return X, labels


def _outliers(rng, X, labels, share):
    m = max(1, round(share * len(X)))
    far = X.mean(axis=0) + X.std(axis=0) * rng.normal(size=(m, X.shape[1])) * rng.uniform(2, 6)
    return np.vstack([X, far]), np.append(labels, np.full(m, -1))


def scheme(rng):
    """One of the paper's six schemes."""
    name = SCHEMES[rng.integers(len(SCHEMES))]
    n, d = _rows(rng, 200), int(rng.integers(2, 25))
    k = int(rng.integers(2, min(20, n // 12) + 1))
    X, labels = simulate(name, k, d, n, random_state=rng)
    return X, labels, f"scheme {name}"


# Shapes in the plane ----------------------------------------------------------------------------


def _shape(rng, kind, m):
    """Draw m points of one shape, about 2 wide."""
    u = rng.random(m)
    if kind == "disc":
        angle, radius = 2 * np.pi * u, np.sqrt(rng.random(m))
        return np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    if kind == "ring":
        angle, radius = 2 * np.pi * u, 1 + rng.normal(0, rng.uniform(0.03, 0.15), m)
        return np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    if kind == "square":
        return rng.uniform(-1, 1, (m, 2))
    if kind == "box":
        return rng.uniform(-1, 1, (m, 2)) * [1, rng.uniform(0.15, 0.7)]
    if kind == "stick":
        return np.c_[2 * u - 1, rng.normal(0, rng.uniform(0.03, 0.15), m)]
    if kind == "arc":
        angle = u * np.pi * rng.uniform(0.5, 1.5)
        radius = 1 + rng.normal(0, rng.uniform(0.03, 0.15), m)
        return np.c_[radius * np.cos(angle), radius * np.sin(angle)]
    if kind == "moon":
        angle = u * np.pi
        return np.c_[np.cos(angle), np.sin(angle)] + rng.normal(0, rng.uniform(0.03, 0.15), (m, 2))
    if kind == "spiral":
        angle = np.pi * (0.5 + rng.uniform(1.5, 3) * np.sqrt(u))
        radius = angle / angle.max()
        return np.c_[radius * np.cos(angle), radius * np.sin(angle)] + rng.normal(0, 0.03, (m, 2))
    if kind == "blob":
        return rng.normal(0, 0.45, (m, 2))
    if kind == "ellipse":
        return rng.normal(0, 0.5, (m, 2)) * [1, rng.uniform(0.1, 0.6)]
    if kind == "triangle":
        return rng.dirichlet([1, 1, 1], m) @ np.array([[-1, -0.6], [1, -0.6], [0, 1.1]])
    if kind == "wave":
        return np.c_[2 * u - 1, 0.4 * np.sin(5 * u) + rng.normal(0, 0.07, m)]
    if kind == "cross":
        along = rng.uniform(-1, 1, m)
        across = rng.normal(0, 0.07, m)
        return np.where(rng.random((m, 1)) < 0.5, np.c_[along, across], np.c_[across, along])
    raise AssertionError(kind)


SHAPES = ("disc", "ring", "square", "box", "stick", "arc", "moon", "spiral", "blob", "ellipse",
          "triangle", "wave", "cross")  # fmt: skip


def _turn(rng, points):
    angle = rng.uniform(0, 2 * np.pi)
    c, s = np.cos(angle), np.sin(angle)
    return points @ np.array([[c, -s], [s, c]])


def shapes(rng):
    """Shapes in two or three columns: apart, on a grid, touching, nested, or interleaved."""
    n = _rows(rng, 120)
    k = int(rng.integers(2, 6)) if rng.random() < 0.65 else int(rng.integers(2, 21))
    k = min(k, n // 20)
    way = rng.choice(["random", "grid", "touching", "nested", "row", "circle"],
                     p=[0.28, 0.16, 0.26, 0.1, 0.1, 0.1])  # fmt: skip
    labels = _labels(rng, n, k)
    kinds = rng.choice(SHAPES, k)
    if rng.random() < 0.5:
        kinds[:] = kinds[0]
    sizes = np.exp(rng.normal(0, rng.choice([0, 0.2, 0.5]), k))
    turned = rng.random() < 0.6
    X = np.empty((n, 2))
    places = _places(rng, way, k, sizes)
    for c in range(k):
        inside = labels == c
        kind = "ring" if way == "nested" and c else ("blob" if way == "nested" else kinds[c])
        points = _shape(rng, kind, inside.sum())
        if turned:
            points = _turn(rng, points)
        size = (1.0 + c * rng.uniform(1.0, 2.0)) if way == "nested" else sizes[c]
        X[inside] = points * size + places[c]
    if rng.random() < 0.3:
        X += rng.normal(0, 0.1, X.shape)
    if rng.random() < 0.25:
        low, high = X.min(axis=0), X.max(axis=0)
        m = max(1, int(n * rng.uniform(0.01, 0.08)))
        X = np.vstack([X, rng.uniform(low, high, (m, 2))])
        labels = np.append(labels, np.full(m, -1))
    if rng.random() < 0.2:  # a third column, idle or turned into
        X = np.c_[X, rng.normal(0, rng.uniform(0.1, 1), len(X))]
        if rng.random() < 0.5:
            X = X @ _rotation(rng, 3)
    return X, labels, f"shapes {way}"


def _places(rng, way, k, sizes):
    if way == "nested":
        return np.zeros((k, 2))
    if way == "grid":
        side = int(np.ceil(np.sqrt(k)))
        cells = rng.permutation(side * side)[:k]
        step = rng.uniform(2.3, 4.5)  # nearer, squares would be one cluster
        jitter = rng.normal(0, rng.choice([0, 0.2]), (k, 2))
        return np.c_[cells // side, cells % side] * step + jitter
    if way == "row":
        return np.c_[np.arange(k) * rng.uniform(1.8, 4), rng.normal(0, 0.3, k)]
    if way == "circle":
        angle = 2 * np.pi * np.arange(k) / k
        return np.c_[np.cos(angle), np.sin(angle)] * k * rng.uniform(0.4, 1.1)
    gap = rng.uniform(0.65, 1.1) if way == "touching" else rng.uniform(1.0, 2.4)
    places = np.zeros((k, 2))
    for c in range(1, k):  # beside one of those before, clear of the others if it can be done
        for _ in range(30):
            beside = rng.integers(c)
            angle = rng.uniform(0, 2 * np.pi)
            places[c] = places[beside] + gap * (sizes[beside] + sizes[c]) * np.array(
                [np.cos(angle), np.sin(angle)]
            )
            away = np.linalg.norm(places[:c] - places[c], axis=1)
            if (away >= 0.95 * gap * (sizes[:c] + sizes[c])).all():
                break
    return places


# Tables with hidden causes ----------------------------------------------------------------------


def _hidden(rng, n, k):
    """Draw hidden dimensions with clusters; a class may be made of two of them."""
    q = int(rng.integers(1, 9))
    parts = k
    classes = np.arange(k)
    if rng.random() < 0.3:
        more = int(rng.integers(1, k + 1))
        classes = np.append(classes, rng.integers(0, k, more))
        parts += more
    part = _labels(rng, n, parts)
    kind = rng.choice(["gaussian", "scale", "shape", "tails", "skewed"])
    apart = np.exp(rng.uniform(np.log(1.0), np.log(4.5)))
    hidden = _centres(rng, parts, q)[part] * apart + _residuals(rng, kind, part, parts, q)
    return hidden, classes[part]


def factors(rng):
    """Make a table like those of surveys: columns made of a few hidden causes."""
    n, d = _rows(rng), _columns(rng, 4, 80)
    k = _clusters(rng, n, 12)
    hidden, labels = _hidden(rng, n, k)
    q = hidden.shape[1]
    loads = rng.normal(size=(q, d)) * (rng.random((q, d)) < rng.uniform(0.2, 1.0))
    X = hidden @ loads
    noise = rng.uniform(0.1, 1.5) * np.exp(rng.normal(0, 0.4, d)) * max(X.std(), 1e-9)
    X = X + rng.normal(size=(n, d)) * noise
    X = _columns_of_kinds(rng, X)
    if rng.random() < 0.12:
        X, labels = _outliers(rng, X, labels, rng.uniform(0.002, 0.03))
    return X, labels, "factors"


def _columns_of_kinds(rng, X):
    """Make columns skewed, rounded, counted, 0/1, or nearly always the same."""
    d = X.shape[1]
    z = (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-9)
    kinds = ["plain", "skewed", "rounded", "binary", "rare", "count", "bent", "zeros"]
    shares = rng.dirichlet([3, 1, 1, 0.7, 0.2, 0.4, 0.6, 0.4])
    if rng.random() < 0.35:  # all columns of one kind
        shares = np.eye(len(kinds))[
            rng.choice(len(kinds), p=[0.2, 0.25, 0.1, 0.2, 0, 0.1, 0.05, 0.1])
        ]
    chosen = rng.choice(kinds, d, p=shares)
    for j, kind in enumerate(chosen):
        if kind == "skewed":
            z[:, j] = np.exp(z[:, j] * rng.uniform(0.3, 1.0))
        elif kind == "rounded":
            step = rng.uniform(0.1, 1.2)
            z[:, j] = np.round(z[:, j] / step) * step
        elif kind == "binary":
            z[:, j] = z[:, j] > np.quantile(z[:, j], rng.uniform(0.2, 0.8))
        elif kind == "rare":
            z[:, j] = z[:, j] > np.quantile(z[:, j], rng.uniform(0.85, 0.97))
        elif kind == "count":
            z[:, j] = rng.poisson(np.exp(np.clip(z[:, j] * 0.7 + rng.uniform(-1, 1.5), -4, 5)))
        elif kind == "zeros":
            over = np.maximum(z[:, j] - np.quantile(z[:, j], rng.uniform(0.3, 0.85)), 0)
            z[:, j] = np.expm1(over * rng.uniform(0.3, 1.5))
        elif kind == "bent":
            z[:, j] = np.tanh(z[:, j] * rng.uniform(0.5, 2))
    return z


def network(rng):
    """Many columns that are pictures of few hidden causes, through a random network."""
    n, d = _rows(rng), _columns(rng, 8, 100)
    k = _clusters(rng, n, 15)
    hidden, labels = _hidden(rng, n, k)
    hidden = hidden / hidden.std()
    width = int(rng.integers(8, 64))
    first = rng.normal(size=(hidden.shape[1], width)) * rng.uniform(0.4, 1.5)
    inner = hidden @ first + rng.normal(0, 0.7, width)
    way = rng.choice(["tanh", "relu", "bump"])
    inner = {"tanh": np.tanh(inner), "relu": np.maximum(inner, 0), "bump": np.exp(-(inner**2))}[way]
    X = inner @ rng.normal(size=(width, d)) / np.sqrt(width)
    X = X + rng.normal(size=(n, d)) * X.std() * rng.uniform(0.05, 1.0)
    if rng.random() < 0.3:  # as bright as ink: never below 0
        X = np.maximum(X - np.quantile(X, rng.uniform(0.2, 0.7)), 0)
    if rng.random() < 0.3:
        step = X.std() * rng.uniform(0.1, 0.7)
        X = np.round(X / step)
    return X, labels, "network"


def size(rng):
    """Make a table in which nearly everything grows with size: bones, leaves, firms."""
    n, d = _rows(rng), int(rng.integers(3, 16))
    k = int(rng.integers(2, 5))
    labels = _labels(rng, n, k)
    place = np.sort(rng.normal(size=k) + np.arange(k) * rng.uniform(1, 3.5))
    spread = np.exp(rng.normal(0, 0.25, k))
    large = place[labels] + rng.normal(size=n) * spread[labels]
    form = rng.normal(size=(k, d)) * rng.uniform(0, 0.8)
    X = large[:, None] * rng.uniform(0.6, 1.2, d) + form[labels]
    X = X + rng.normal(size=(n, d)) * rng.uniform(0.1, 0.8, d)
    X = X / X.std(axis=0)
    if rng.random() < 0.7:
        X = np.exp(X * rng.uniform(0.1, 0.8))
    return X, labels, "size"


def many(rng):
    """Make many classes of few rows each in many columns."""
    k = int(rng.integers(8, 26))
    labels = np.repeat(
        np.arange(k), rng.integers(5, 35, k) if rng.random() < 0.5 else rng.integers(8, 40)
    )
    n, d = len(labels), _columns(rng, 8, 90)
    q = int(rng.integers(3, 15))
    hidden = rng.normal(size=(k, q))[labels] * rng.uniform(1.0, 4.0) + rng.normal(size=(n, q))
    X = hidden @ rng.normal(size=(q, d)) / np.sqrt(q)
    X = X + rng.normal(size=(n, d)) * rng.uniform(0.2, 1.5)
    return _columns_of_kinds(rng, X) if rng.random() < 0.5 else X, labels, "many"


# Cases that are hard in one respect -------------------------------------------------------------


def _apart(rng, k, d, least):
    """Draw centres of which no two are nearer than this."""
    spread = least * max(1.0, k ** (1 / d) * 0.7)
    centres = np.zeros((k, d))
    for c in range(1, k):
        while True:
            centres[c] = rng.normal(size=d) * spread
            if (np.linalg.norm(centres[:c] - centres[c], axis=1) >= least).all():
                break
            spread *= 1.02
    return centres


def small_groups(rng):
    """Make one large cloud and small groups apart from it, of eight rows or more."""
    n, d = _rows(rng, 150, 8000), _columns(rng, 2, 20)
    k = 1 if rng.random() < 0.5 else int(rng.integers(1, 5))
    small = rng.integers(8, 40, k) if rng.random() < 0.6 else rng.integers(8, max(10, n // 8), k)
    labels = np.repeat(np.arange(k + 1), [max(60, n - small.sum()), *small])
    away = rng.uniform(5, 12) if rng.random() < 0.6 else np.exp(rng.uniform(np.log(8), np.log(45)))
    centres = np.zeros((k + 1, d))
    for c in range(1, k + 1):  # at that distance from the cloud, apart from each other
        for _ in range(50):
            centres[c] = rng.normal(size=d)
            centres[c] *= away / np.linalg.norm(centres[c])
            if (np.linalg.norm(centres[:c] - centres[c], axis=1) > 5).all():
                break
    kind = rng.choice(["gaussian", "gaussian", "gaussian", "uniform", "common"])
    X = centres[labels] + _residuals(rng, kind, labels, k + 1, d)
    return X, labels, "small groups"


def grid(rng):
    """Blobs on a grid in two or three columns."""
    d = 2 if rng.random() < 0.75 else 3
    side = int(rng.integers(2, 6)) if d == 2 else 2 + int(rng.random() < 0.4)
    places = np.stack(np.meshgrid(*[np.arange(side)] * d), axis=-1).reshape(-1, d)
    if rng.random() < 0.3:
        places = places[rng.permutation(len(places))[: max(2, int(len(places) * 0.8))]]
    k = len(places)
    m = int(rng.integers(10, 80))
    labels = np.repeat(np.arange(k), m) if rng.random() < 0.7 else _labels(rng, k * m, k)
    X = places[labels] * rng.uniform(3.5, 12) + rng.normal(size=(len(labels), d))
    return X, labels, "grid"


def two_groups(rng):
    """Two or three groups at every distance, in a few or in many columns."""
    d = _columns(rng, 1, 64)
    k = 2 if rng.random() < 0.7 else 3
    m = int(np.exp(rng.uniform(np.log(25), np.log(1500))))
    sizes = (
        np.full(k, m)
        if rng.random() < 0.6
        else np.maximum(15, (m * rng.dirichlet(np.ones(k)) * k).astype(int))
    )
    labels = np.repeat(np.arange(k), sizes)
    centres = _apart(rng, k, d, 1.0)
    gaps = [np.linalg.norm(centres[a] - centres[b]) for a in range(k) for b in range(a)]
    apart = rng.uniform(2, 4) if rng.random() < 0.5 else rng.uniform(1.5, 8)
    kind = rng.choice(["gaussian", "gaussian", "scale", "common", "tails", "shape"])
    X = centres[labels] / min(gaps) * apart + _residuals(rng, kind, labels, k, d)
    X = X @ _rotation(rng, d) if rng.random() < 0.5 else X
    return X, labels, "two groups"


def few_columns(rng):
    """Make groups that show in a few of many columns."""
    active, d = int(rng.integers(2, 6)), int(rng.integers(10, 41))
    k = int(rng.integers(2, 6))
    labels = np.repeat(np.arange(k), int(rng.integers(30, 300)))
    centres = _apart(rng, k, active, rng.uniform(3.5, 8))
    X = rng.normal(size=(len(labels), d))
    X[:, :active] += centres[labels]
    return X, labels, "few columns"


def far_rows(rng):
    """Clear groups and one to three rows far from all of them."""
    d, k = _columns(rng, 2, 20), int(rng.integers(2, 7))
    labels = np.repeat(np.arange(k), int(rng.integers(20, 200)))
    X = _apart(rng, k, d, rng.uniform(5, 12))[labels] + rng.normal(size=(len(labels), d))
    m = int(rng.integers(1, 4))
    away = rng.normal(size=(m, d))
    away *= np.exp(rng.uniform(np.log(15), np.log(150))) / np.linalg.norm(
        away, axis=1, keepdims=True
    )
    return np.vstack([X, away]), np.append(labels, np.full(m, -1)), "far rows"


# One cluster ------------------------------------------------------------------------------------


def _correlated(rng, n, d):
    """Draw normal rows: independent, equally correlated, with factors, or of any covariance."""
    z = rng.normal(size=(n, d))
    way = rng.integers(5)
    if way == 1:
        r = rng.uniform(0.1, 0.9)
        z = np.sqrt(r) * rng.normal(size=(n, 1)) + np.sqrt(1 - r) * z
    elif way == 2:
        q = int(rng.integers(1, 5))
        z = z * rng.uniform(0.3, 1.2) + rng.normal(size=(n, q)) @ rng.normal(size=(q, d))
    elif way == 3:
        z = z @ rng.normal(size=(d, d))
    elif way == 4:
        z = z * np.exp(rng.normal(0, rng.uniform(0.2, 1), d))
    return z / z.std(axis=0)


def one_cluster(rng):
    """One cluster, in all its disguises."""
    n, d = _rows(rng, 50, 2500), _columns(rng)
    if rng.random() < 0.2:
        n = int(rng.integers(60, 200))
    if rng.random() < 0.25:
        d = int(rng.integers(2, 5))
    if rng.random() < 0.08:
        n, d = int(rng.integers(40, 120)), int(rng.integers(100, 300))
    kind = ONE[rng.integers(len(ONE))]
    if kind == "uniform" and rng.random() < 0.5:
        d = int(rng.integers(1, 4))
    z = _correlated(rng, n, d)
    if kind == "uniform":
        X = rng.uniform(size=(n, d)) * np.exp(rng.normal(0, rng.choice([0, 0.5]), d))
    elif kind == "ball":
        X = _residuals(rng, "ball", np.zeros(n, int), 1, d)
    elif kind == "log-normal":
        X = np.exp(z * rng.uniform(0.3, 1.3))
    elif kind == "gamma":
        shared = rng.gamma(rng.uniform(0.5, 4), size=(n, 1)) * rng.uniform(0, 1.5)
        X = shared * rng.uniform(0.3, 1.2, d) + rng.gamma(rng.uniform(0.5, 4), size=(n, d))
    elif kind == "exponential":
        X = rng.exponential(size=(n, d))
    elif kind == "t":
        X = rng.standard_t(rng.uniform(1.8, 6), size=(n, d))
    elif kind == "elliptical t":
        df = rng.uniform(1.8, 6)
        X = z / np.sqrt(rng.chisquare(df, size=(n, 1)) / df)
    elif kind == "laplace":
        X = rng.laplace(size=(n, d))
    elif kind == "counts":
        rate = rng.uniform(-1, 2, d) + z * rng.choice([0, 0.3, 0.6, 1.0])
        X = rng.poisson(np.exp(np.clip(rate, -5, 6)))
    elif kind == "likert":
        levels = int(rng.integers(3, 11))
        X = np.clip(
            np.round(levels / 2 + z * levels / rng.uniform(3, 6) + rng.normal(0, 0.5, d)), 1, levels
        )
    elif kind == "binary":
        X = (z > rng.uniform(-1.3, 1.3, d)).astype(float)
    elif kind == "rounded":
        step = rng.uniform(0.2, 1.5)
        X = np.round(z / step) * step
    elif kind == "mostly zeros":
        X = np.where(z > rng.uniform(0.3, 1.4), rng.exponential(size=(n, d)), 0.0)
        if rng.random() < 0.5:
            X = np.where(
                rng.random((n, d)) < rng.uniform(0.05, 0.4), rng.exponential(size=(n, d)), 0.0
            )
    elif kind == "repeated":
        times = int(rng.integers(2, 5))
        z = z[: max(25, n // times)]
        X = np.repeat(z, times, axis=0)
    elif kind == "far row":
        m = int(rng.integers(1, 4))
        away = rng.normal(size=(m, d))
        away *= np.exp(rng.uniform(np.log(8), np.log(150))) / np.linalg.norm(
            away, axis=1, keepdims=True
        )
        X = np.vstack([rng.normal(size=(n, d)) if rng.random() < 0.6 else z, away])
    elif kind == "mixed columns":
        X = _columns_of_kinds(rng, z)
    else:
        X = z
    return X, np.zeros(len(X), int), f"one {kind}"


ONE = (
    "normal", "normal", "normal", "normal", "uniform", "uniform", "uniform", "ball", "log-normal",
    "log-normal", "gamma", "gamma", "exponential", "t", "elliptical t", "elliptical t",
    "elliptical t", "laplace", "counts", "counts", "likert", "likert", "binary", "binary",
    "rounded", "mostly zeros", "repeated", "repeated", "far row", "far row", "mixed columns",
    "mixed columns",
)  # fmt: skip

# Every world and its share of the sets.
WORLDS = (
    (mixture, 0.19),
    (scheme, 0.03),
    (shapes, 0.15),
    (factors, 0.13),
    (network, 0.05),
    (size, 0.05),
    (many, 0.04),
    (small_groups, 0.05),
    (grid, 0.02),
    (two_groups, 0.07),
    (few_columns, 0.015),
    (far_rows, 0.015),
    (one_cluster, 0.19),
)
