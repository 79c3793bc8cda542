"""The equations as plain loops: slow, obvious, and independent of the package they check.

Symbols follow Hofmeyr's paper. X has n rows and d columns; point i sits in cluster c of size n_c
with centroid mu_c; l is any other cluster; delta shifts the point along coordinate j. Labels run
over 0 .. k-1 and every cluster has a point. Curves over k hold the value for k = 1 first.
"""

import itertools
import math
from decimal import Decimal, localcontext

# Enough digits that the cancellation in the textbook root leaves a double untouched.
DIGITS = 100


def sizes(labels):
    """Number of points in each cluster."""
    count = [0] * (int(max(labels)) + 1)
    for label in labels:
        count[label] += 1
    return count


def centroids(X, labels):
    """Mean of each cluster: mu_l."""
    d = len(X[0])
    centers = []
    for cluster, size in enumerate(sizes(labels)):
        members = [x for x, label in zip(X, labels, strict=True) if label == cluster]
        centers.append([math.fsum(x[j] for x in members) / size for j in range(d)])
    return centers


def inertia(X, labels):
    """SS: sum of squared distances from the points to the centroids of their clusters."""
    mu = centroids(X, labels)
    squares = []
    for x, c in zip(X, labels, strict=True):
        for j in range(len(x)):
            squares.append((float(x[j]) - mu[c][j]) ** 2)
    return math.fsum(squares)


def switch(x, mu_c, mu_l, n_c, j):
    """The delta that sends x from c to l along coordinate j, or None if nothing does.

    The root of smaller magnitude of
    || x + delta e_j - mu_c - (delta / n_c) e_j ||^2 = || x + delta e_j - mu_l ||^2,
    that is of a delta^2 + 2 h delta + g = 0. Of two roots of equal magnitude, the positive one.
    A point on the boundary, g = 0, gets a zero with the sign that delta has just inside c.
    """
    with localcontext() as context:
        context.prec = DIGITS
        from_c = [Decimal(float(p)) - Decimal(float(q)) for p, q in zip(x, mu_c, strict=True)]
        from_l = [Decimal(float(p)) - Decimal(float(q)) for p, q in zip(x, mu_l, strict=True)]
        r = Decimal(int(n_c) - 1) / Decimal(int(n_c))

        a = 1 - r * r
        h = from_l[j] - r * from_c[j]
        g = sum(v * v for v in from_l) - sum(v * v for v in from_c)

        if g == 0:
            return -0.0 if h > 0 else 0.0
        discriminant = h * h - a * g
        if discriminant < 0:
            return None
        root = discriminant.sqrt()
        return float(min((-h + root) / a, (-h - root) / a, key=abs))


def jump(x_j, mu_cj, mu_lj, n_c, n_l, delta):
    """Fitted value just above delta minus the fitted value just below it.

    Below delta < 0 the point is in l, and above it in c; for delta > 0 the other way round. A
    zero counts by its sign.
    """
    in_c = mu_cj + delta / n_c
    in_l = (n_l * mu_lj + x_j + delta) / (n_l + 1)
    return in_c - in_l if math.copysign(1.0, delta) < 0 else in_l - in_c


def normal_density(z):
    """The standard normal density, phi."""
    return math.exp(-z * z / 2) / math.sqrt(2 * math.pi)


def excess_terms(X, labels, pilot_labels):
    """Excess degrees of freedom of each point: sum over j and l != c(i) of phi(z) J / sigma.

    Here z = (x_ij + delta - mu_ij) / sigma, with mu and sigma^2 = SS / (n d) those of the pilot.
    """
    n, d = len(X), len(X[0])
    mu, size = centroids(X, labels), sizes(labels)
    pilot_mu = centroids(X, pilot_labels)
    sigma = math.sqrt(inertia(X, pilot_labels) / (n * d))

    excess = []
    for i in range(n):
        x, c, mean = [float(v) for v in X[i]], labels[i], pilot_mu[pilot_labels[i]]
        terms = []
        for j in range(d):
            for other in range(len(mu)):
                if other == c:
                    continue
                delta = switch(x, mu[c], mu[other], size[c], j)
                if delta is None:
                    continue
                height = jump(x[j], mu[c][j], mu[other][j], size[c], size[other], delta)
                z = (x[j] + delta - mean[j]) / sigma
                terms.append(normal_density(z) * height / sigma)
        excess.append(math.fsum(terms))
    return excess


def degrees_of_freedom(X, labels, pilot_labels):
    """df(k) = k d + excess."""
    k, d = len(sizes(labels)), len(X[0])
    return k * d + math.fsum(excess_terms(X, labels, pilot_labels))


def local_linear(y, h):
    """Local-linear regression of y on 1 .. K, Gaussian kernel, no further than floor(4 h)."""
    reach = math.floor(4 * h)
    fitted = []
    for k in range(len(y)):
        s0 = s1 = s2 = t0 = t1 = 0.0
        for m in range(len(y)):
            u = m - k
            if abs(u) > reach:
                continue
            w = math.exp(-((u / h) ** 2) / 2)
            s0 += w
            s1 += w * u
            s2 += w * u * u
            t0 += w * float(y[m])
            t1 += w * u * float(y[m])
        fitted.append((s2 * t0 - s1 * t1) / (s2 * s0 - s1 * s1))
    return fitted


def interior_minima(y):
    """Every k in 2 .. K-1 whose value is at most that of both neighbours."""
    return [k for k in range(2, len(y)) if y[k - 1] <= y[k - 2] and y[k - 1] <= y[k]]


def smooth(y, d):
    """Local-linear fit of least h = 0.5, 0.6, ... with at most one interior minimum; df(1) = d."""
    h = 0.5
    while len(interior_minima(local_linear(y, h))) > 1:
        h += 0.1
    return [float(d), *local_linear(y, h)[1:]]


def bic(inertia, dof, n, d):
    """BIC(k) = n d log SS(k) + log(n d) df(k), for the curves SS and df."""
    return [
        n * d * math.log(ss) + math.log(n * d) * df for ss, df in zip(inertia, dof, strict=True)
    ]


def rule_paper(curve):
    """The first interior local minimum; without one, k = 1 or K, whichever is lower."""
    minima = interior_minima(curve)
    if minima:
        return minima[0]
    return 1 if curve[0] <= curve[-1] else len(curve)


def rule_r_package(curve):
    """1 where BIC(1) is the lowest of all; otherwise the paper's rule."""
    return 1 if curve[0] <= min(curve) else rule_paper(curve)


def single_point_gain(X, labels, i, other):
    """Change in inertia when point i moves to another cluster: negative where the move pays.

    The cluster that i leaves must keep a point.
    """
    moved = [int(label) for label in labels]
    moved[i] = other
    return inertia(X, moved) - inertia(X, labels)


def is_single_point_optimum(X, labels, tol=1e-9):
    """No move of one point that empties no cluster lowers the inertia by more than tol SS(1)."""
    threshold = tol * inertia(X, [0] * len(X))
    size = sizes(labels)
    for i, c in enumerate(labels):
        if size[c] == 1:
            continue
        for other in range(len(size)):
            if other != c and single_point_gain(X, labels, i, other) < -threshold:
                return False
    return True


def distance(x, y):
    """Euclidean distance."""
    return math.sqrt(math.fsum((float(a) - float(b)) ** 2 for a, b in zip(x, y, strict=True)))


def silhouettes(X, labels):
    """Kaufman and Rousseeuw's s(i) = (b - a) / max(a, b) for every point; 0 for a lone one."""
    values = []
    for i, x in enumerate(X):
        means = {}
        for cluster in set(labels):
            others = [j for j in range(len(X)) if labels[j] == cluster and j != i]
            if others:
                means[cluster] = math.fsum(distance(x, X[j]) for j in others) / len(others)
        if labels[i] not in means:
            values.append(0.0)
            continue
        a = means.pop(labels[i])
        b = min(means.values())
        values.append((b - a) / max(a, b) if max(a, b) > 0 else 0.0)
    return values


def fk(inertia_by_k, d):
    """Pham, Dimov and Nguyen's f(K), their equations (2) and (3)."""
    f = [1.0]
    alpha = {}
    for K in range(2, len(inertia_by_k) + 1):
        alpha[K] = 1 - 3 / (4 * d) if K == 2 else alpha[K - 1] + (1 - alpha[K - 1]) / 6
        before = inertia_by_k[K - 2]
        f.append(inertia_by_k[K - 1] / (alpha[K] * before) if before != 0 else 1.0)
    return f


def distortion_jump(inertia_by_k, n, d, power):
    """Sugar and James' J(K) = D(K)^-Y - D(K-1)^-Y, with D(K) = SS / (n d) and D(0)^-Y = 0."""
    transformed = [0.0] + [(ss / (n * d)) ** -power for ss in inertia_by_k]
    return [transformed[K] - transformed[K - 1] for K in range(1, len(transformed))]


def gap(log_w, reference_log_w):
    """Tibshirani, Walther and Hastie's Gap(k) and s_k; a list of log W_k* for each reference."""
    B = len(reference_log_w)
    gaps, errors = [], []
    for k in range(len(log_w)):
        logs = [row[k] for row in reference_log_w]
        mean = math.fsum(logs) / B
        sd = math.sqrt(math.fsum((log - mean) ** 2 for log in logs) / B)
        gaps.append(mean - log_w[k])
        errors.append(sd * math.sqrt(1 + 1 / B))
    return gaps, errors


def prediction_strength(labels, predicted):
    """Tibshirani and Walther's ps: pairs of a cluster that are predicted together, at worst."""
    worst = 1.0
    for cluster in set(labels):
        members = [i for i, label in enumerate(labels) if label == cluster]
        if len(members) < 2:
            return 0.0
        pairs = [(i, j) for i in members for j in members if i != j]
        together = sum(predicted[i] == predicted[j] for i, j in pairs)
        worst = min(worst, together / len(pairs))
    return worst


def without(X, labels, i):
    """Size and centroid of every cluster, point i taken out; None for an empty one."""
    rest = []
    for cluster in range(int(max(labels)) + 1):
        members = [X[m] for m in range(len(X)) if labels[m] == cluster and m != i]
        m = len(members)
        center = [math.fsum(row[j] for row in members) / m for j in range(len(X[0]))] if m else None
        rest.append((m, center))
    return rest


def owner(rest, x):
    """The cluster in which a point at x makes the inertia least, the other labels held fixed."""
    best, lowest = None, None
    for cluster, (m, center) in enumerate(rest):
        cost = 0.0
        if m:
            cost = m / (m + 1) * math.fsum((a - b) ** 2 for a, b in zip(x, center, strict=True))
        if lowest is None or cost < lowest:
            best, lowest = cluster, cost
    return best


def exact_term(X, labels, i, j, mu, sigma, steps=2000, reach=8.5):
    """Point i's exact part for coordinate j: move it in fine steps and see where it switches."""
    x = [float(v) for v in X[i]]
    rest = without(X, labels, i)

    def at(delta):
        return [v + delta if coordinate == j else v for coordinate, v in enumerate(x)]

    def fitted(cluster, delta):
        m, center = rest[cluster]
        return (m * center[j] + x[j] + delta) / (m + 1)

    low, high = mu - x[j] - reach * sigma, mu - x[j] + reach * sigma
    grid = [low + (high - low) * t / steps for t in range(steps + 1)]
    total = 0.0
    todo = list(itertools.pairwise(grid))
    while todo:
        a, b = todo.pop()
        below, above = owner(rest, at(a)), owner(rest, at(b))
        if below == above:
            continue
        middle = (a + b) / 2
        if a < middle < b:
            todo += [(a, middle), (middle, b)]
            continue
        z = (x[j] + a - mu) / sigma
        density = math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
        total += density / sigma * (fitted(above, a) - fitted(below, a))
    return total


def exact_excess(X, labels, pilot_labels):
    """Excess degrees of freedom along the exact path, one value for each point."""
    n, d = len(X), len(X[0])
    pilot = centroids(X, pilot_labels)
    sigma = math.sqrt(inertia(X, pilot_labels) / (n * d))
    alone = [count == 1 for count in sizes(labels)]
    return [
        0.0
        if alone[labels[i]]
        else math.fsum(
            exact_term(X, labels, i, j, pilot[pilot_labels[i]][j], sigma) for j in range(d)
        )
        for i in range(n)
    ]


def saddle_ratios(X, labels, centers=None):
    """For every cluster the highest saddle ratio with one of the three nearest others.

    The rows of both lie somewhere on the line from one centre, at 0, to the other, at 1. Each is
    shared out between the two nearest of the places -0.5, -0.45, .., 1.5, by its distance to them;
    beyond the ends there are none. A Gaussian kernel of width 0.1 turns that into a density at
    every place. The ratio is the lowest density from 0.3 to 0.7 over the lesser of the highest from
    -0.2 to 0.25 and from 0.75 to 1.2; at most 2.
    """
    mu = centroids(X, labels) if centers is None else [[float(v) for v in row] for row in centers]
    k = len(mu)

    def ratio(one, other):
        line = [b - a for a, b in zip(mu[one], mu[other], strict=True)]
        squared = math.fsum(v * v for v in line)
        shares = [0.0] * 41
        for x, label in zip(X, labels, strict=True):
            if label not in (one, other):
                continue
            along = math.fsum((float(x[j]) - mu[one][j]) * line[j] for j in range(len(line)))
            place = (along / squared + 0.5) * 20
            for b in range(41):
                shares[b] += max(0.0, 1.0 - abs(place - b))
        density = [
            math.fsum(
                share * math.exp(-(((b - other_b) / 2) ** 2) / 2)
                for other_b, share in enumerate(shares)
            )
            for b in range(41)
        ]
        ends = min(max(density[6:16]), max(density[25:35]))
        return min(2.0, min(density[16:25]) / max(ends, 1e-12))

    highest = []
    for c in range(k):
        others = sorted((distance(mu[c], mu[o]), o) for o in range(k) if o != c)
        highest.append(max(ratio(min(c, o), max(c, o)) for _, o in others[:3]))
    return highest


def mean_saddle(X, labels, centers=None):
    """Mean over the rows of the saddle ratio of their cluster."""
    ratios = saddle_ratios(X, labels, centers)
    return math.fsum(ratios[label] for label in labels) / len(labels)


def rand_index(one, other):
    """Adjusted Rand index, by going through all pairs of rows."""
    pairs = [(i, j) for i in range(len(one)) for j in range(i)]
    first = [one[i] == one[j] for i, j in pairs]
    second = [other[i] == other[j] for i, j in pairs]
    both = sum(a and b for a, b in zip(first, second, strict=True))
    expected = sum(first) * sum(second) / max(len(pairs), 1)
    most = (sum(first) + sum(second)) / 2
    return 1.0 if most == expected else (both - expected) / (most - expected)


def davies_bouldin(X, labels, k):
    """Mean over the clusters of the worst sum of two spreads over the distance of the centres."""
    mu = centroids(X, labels)
    spread = []
    for c in range(k):
        own = [distance(x, mu[c]) for x, o in zip(X, labels, strict=True) if o == c]
        spread.append(math.fsum(own) / len(own))
    worst = [
        max((spread[c] + spread[o]) / distance(mu[c], mu[o]) for o in range(k) if o != c)
        for c in range(k)
    ]
    return math.fsum(worst) / k


def mixtures(X, labels, k):
    """BIC per number of two normal mixtures: one variance for a cluster, or one for each column.

    A variance is never taken for less than a thousandth of that of all rows.
    """
    n, d = len(X), len(X[0])

    def variances(rows):
        means = [math.fsum(float(x[j]) for x in rows) / len(rows) for j in range(d)]
        return [
            math.fsum((float(x[j]) - means[j]) ** 2 for x in rows) / len(rows) for j in range(d)
        ]

    total = variances(X)
    mean = math.fsum(total) / d
    balls = boxes = 0.0
    for c in range(k):
        own = variances([x for x, label in zip(X, labels, strict=True) if label == c])
        share = sum(label == c for label in labels) / n
        mixing = -2 / d * math.log(share)
        ball = math.log(max(math.fsum(own) / d, mean / 1000) / mean)
        box = math.fsum(math.log(max(v / t, 1e-3)) for v, t in zip(own, total, strict=True)) / d
        balls += share * (ball + mixing)
        boxes += share * (box + mixing)
    price = math.log(n) / (n * d)
    return balls + price * k * (d + 2), boxes + price * k * (2 * d + 1)


def explained_variance(X, labels):
    """Per column: 1 less the variance within the clusters over the variance of all rows."""
    n, d = len(X), len(X[0])
    parts = []
    for j in range(d):
        mean = sum(row[j] for row in X) / n
        total = sum((row[j] - mean) ** 2 for row in X)
        within = 0.0
        for c in set(labels):
            own = [X[i][j] for i in range(n) if labels[i] == c]
            centre = sum(own) / len(own)
            within += sum((value - centre) ** 2 for value in own)
        parts.append(1 - within / total if total > 0 else 0.0)
    return parts


def jaccards(labels, others, k):
    """Per cluster: the highest Jaccard coefficient with one of the other clusters."""
    found = []
    for c in range(k):
        own = {i for i, label in enumerate(labels) if label == c}
        best = None
        for e in set(others):
            new = {i for i, label in enumerate(others) if label == e}
            if own:
                best = max(best or 0.0, len(own & new) / len(own | new))
        found.append(best)
    return found


def island(line, least=3, most=400, tail=2.0):
    """Return size, clearness, loneness, place and gap of the rows beyond the clearest gap above.

    Places are (x - median) / (1.4826 * median absolute deviation), the highest first.
    """

    def median(values):
        ordered, n = sorted(values), len(values)
        return (ordered[(n - 1) // 2] + ordered[n // 2]) / 2

    middle = median(line)
    spread = 1.4826 * median([abs(x - middle) for x in line])
    z = sorted(((x - middle) / spread for x in line), reverse=True)

    def log_tail(x):
        return math.log(math.erfc(x / math.sqrt(2)) / 2)

    best = None
    for m in range(least, min(len(z) // 4, most) + 1):
        if z[m - 1] < tail:
            continue
        clear = m * (log_tail(z[m]) - log_tail(z[m - 1]))
        place, gap = math.fsum(z[:m]) / m, z[m - 1] - z[m]
        if best is None or clear > best[1]:
            best = (m, clear, m * gap / (place - z[m]), place, gap)
    return best


# With weights: a point of weight w stands for w points.


def weighted_sizes(labels, weights):
    """Weight of each cluster: n_l."""
    return [
        math.fsum(w for w, label in zip(weights, labels, strict=True) if label == cluster)
        for cluster in range(int(max(labels)) + 1)
    ]


def weighted_centroids(X, labels, weights):
    """Weighted mean of each cluster."""
    centers = []
    for cluster, size in enumerate(weighted_sizes(labels, weights)):
        members = [i for i, label in enumerate(labels) if label == cluster]
        centers.append(
            [
                math.fsum(weights[i] * float(X[i][j]) for i in members) / size
                for j in range(len(X[0]))
            ]
        )
    return centers


def weighted_inertia(X, labels, weights):
    """SS: every point's squared distance to the centroid of its cluster, times its weight."""
    mu = weighted_centroids(X, labels, weights)
    return math.fsum(
        weights[i] * (float(X[i][j]) - mu[labels[i]][j]) ** 2
        for i in range(len(X))
        for j in range(len(X[0]))
    )


def weighted_excess(X, labels, pilot_labels, weights):
    """Excess degrees of freedom: every point's terms, of one of those it stands for, times w."""
    n, d = math.fsum(weights), len(X[0])
    mu, size = weighted_centroids(X, labels, weights), weighted_sizes(labels, weights)
    pilot_mu = weighted_centroids(X, pilot_labels, weights)
    sigma = math.sqrt(weighted_inertia(X, pilot_labels, weights) / (n * d))
    terms = []
    for i in range(len(X)):
        x, c, mean = [float(v) for v in X[i]], labels[i], pilot_mu[pilot_labels[i]]
        if size[c] <= 1:
            continue
        for j in range(d):
            for other in range(len(mu)):
                if other == c:
                    continue
                delta = weighted_switch(x, mu[c], mu[other], size[c], j)
                if delta is not None:
                    height = jump(x[j], mu[c][j], mu[other][j], size[c], size[other], delta)
                    z = (x[j] + delta - mean[j]) / sigma
                    terms.append(weights[i] * normal_density(z) * height / sigma)
    return math.fsum(terms)


def weighted_switch(x, mu_c, mu_l, n_c, j):
    """What `switch` is, for a cluster whose weight need not be a whole number."""
    r = (n_c - 1) / n_c
    a = 1 - r * r
    h = (x[j] - mu_l[j]) - r * (x[j] - mu_c[j])
    g = math.fsum((p - q) ** 2 for p, q in zip(x, mu_l, strict=True)) - math.fsum(
        (p - q) ** 2 for p, q in zip(x, mu_c, strict=True)
    )
    if g == 0:
        return -0.0 if h > 0 else 0.0
    if h * h - a * g < 0:
        return None
    root = math.sqrt(h * h - a * g)
    return min((-h + root) / a, (-h - root) / a, key=abs)


def is_weighted_optimum(X, labels, weights, tol=1e-9):
    """No one of the points that a point stands for can move and lower the inertia.

    One of weight 1, or the whole point where it weighs less, is set apart and moved.
    """
    threshold = tol * weighted_inertia(X, [0] * len(X), weights)
    before = weighted_inertia(X, labels, weights)
    k = int(max(labels)) + 1
    for i, c in enumerate(labels):
        one = min(1.0, weights[i])
        if weighted_sizes(labels, weights)[c] - one < 1e-9:
            continue
        rest = [w - one if m == i else w for m, w in enumerate(weights)]
        for other in range(k):
            if other == c:
                continue
            after = weighted_inertia(
                [*X, X[i]], [*(int(label) for label in labels), other], [*rest, one]
            )
            if after - before < -threshold:
                return False
    return True
