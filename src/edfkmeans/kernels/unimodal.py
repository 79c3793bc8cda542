"""Distribution functions with one mode.

Sums are taken in the order in which they stand: results are those of plain loops to the bit.
"""

import numpy as np

from edfkmeans.kernels.compile import exact_kernel


@exact_kernel
def rising(values, weights):
    """Return the nearest numbers that never fall (weighted least squares).

    Neighbours that would fall are pooled, step by step as scipy.optimize.isotonic_regression does;
    to import that takes a third of a second.
    """
    n = values.shape[0]
    means = np.empty(n)
    sizes = np.empty(n)
    ends = np.empty(n, np.int64)
    last = -1  # the last pool
    i = 0
    while i < n:
        mean, size = values[i], weights[i]
        i += 1
        if last >= 0 and means[last] >= mean:
            total = sizes[last] * means[last] + size * mean
            size += sizes[last]
            mean = total / size
            last -= 1
            while i < n and mean >= values[i]:
                total += weights[i] * values[i]
                size += weights[i]
                mean = total / size
                i += 1
            while last >= 0 and means[last] >= mean:
                total += sizes[last] * means[last]
                size += sizes[last]
                mean = total / size
                last -= 1
        last += 1
        means[last], sizes[last], ends[last] = mean, size, i
    found = np.empty(n)
    begin = 0
    for pool in range(last + 1):
        for i in range(begin, ends[pool]):
            found[i] = means[pool]
        begin = ends[pool]
    return found


@exact_kernel
def nearest_unimodal(knots, heights, modes):
    """Return the unimodal distribution function nearest to one that is given at some knots.

    Of those that rise ever faster up to a mode and ever slower from there (least squares on the
    density between the knots), the one whose largest distance is least.
    """
    n = knots.shape[0] - 1
    widths = np.empty(n)
    density = np.empty(n)
    for i in range(n):
        widths[i] = knots[i + 1] - knots[i]
        density[i] = (heights[i + 1] - heights[i]) / widths[i]
    best, least = heights.copy(), np.inf
    fitted = np.empty(n + 1)
    for mode in modes:
        before = rising(density[:mode], widths[:mode])
        after = rising(density[mode:][::-1].copy(), widths[mode:][::-1].copy())
        fitted[0] = total = distance = 0.0
        for i in range(n):
            total += (before[i] if i < mode else after[n - 1 - i]) * widths[i]
            fitted[i + 1] = total
        for i in range(n + 1):
            distance = max(distance, abs(fitted[i] - heights[i]))
        if distance < least:
            least = distance
            for i in range(n + 1):  # an array into a slice would take seconds to compile
                best[i] = fitted[i] / total
    return best
