"""Fits: the best k-means clustering for every k, and how it is found."""
