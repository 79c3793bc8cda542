"""Long rows: one at a time, where columns are so many that they fill the vector units."""

from edfkmeans.kernels.compile import part

# Columns that are looked at side by side: the compiler does not reorder comparisons by itself.
LANES = 32


@part
def squared_distance(x, center):
    """Squared distance of a row to a centre."""
    square = 0.0
    for j in range(x.shape[0]):
        t = x[j] - center[j]
        square += t * t
    return square


@part
def row_errors(x, center, pilot_center, error, room):
    """Write a row's distance from its pilot's mean; returns bounds over its coordinates.

    These are the largest distances from the own centre and from the pilot's mean.
    """
    d = x.shape[0]
    room[:] = 0.0
    full = d - d % LANES
    for j in range(0, full, LANES):
        for p in range(LANES):
            error[j + p] = x[j + p] - pilot_center[j + p]
            room[0, p] = max(room[0, p], abs(x[j + p] - center[j + p]))
            room[1, p] = max(room[1, p], abs(error[j + p]))
    for j in range(full, d):
        error[j] = x[j] - pilot_center[j]
        room[0, 0] = max(room[0, 0], abs(x[j] - center[j]))
        room[1, 0] = max(room[1, 0], abs(error[j]))
    for p in range(1, LANES):
        room[0, 0] = max(room[0, 0], room[0, p])
        room[1, 0] = max(room[1, 0], room[1, p])
    return room[0, 0], room[1, 0]
