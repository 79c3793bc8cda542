"""Shapes in the plane."""

import numpy as np

from worlds.draws import draw_labels, draw_rotation, draw_rows


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
    n = draw_rows(rng, 120)
    k = int(rng.integers(2, 6)) if rng.random() < 0.65 else int(rng.integers(2, 21))
    k = min(k, n // 20)
    way = rng.choice(["random", "grid", "touching", "nested", "row", "circle"],
                     p=[0.28, 0.16, 0.26, 0.1, 0.1, 0.1])  # fmt: skip
    labels = draw_labels(rng, n, k)
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
            X = X @ draw_rotation(rng, 3)
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
