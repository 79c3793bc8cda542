"""Trees: rows of numbers that fall through them."""

from edfkmeans.kernels.compile import kernel


@kernel
def fall(rows, roots, feature, threshold, left, right, value, sums, parts):
    """Add up the leaves that every row ends in, and what each of its numbers adds to that.

    A row goes left where its number is at most the threshold; a leaf leads to itself. What a number
    adds is the sum of the steps from the value of a node that asks for it to that of the next.
    """
    for root in roots:
        for r in range(rows.shape[0]):
            at = root
            while True:
                asked = feature[at]
                to = left[at] if rows[r, asked] <= threshold[at] else right[at]
                if to == at:
                    break
                parts[r, asked] += value[to] - value[at]
                at = to
            sums[r] += value[at]
