"""Check what docs/peers.md says about other packages, by using them.

Prints one line for each check; packages that are not installed are left out. Run with:

    pip install scikit-learn kneed yellowbrick faiss-cpu dask-ml gap-stat
    python docs/peer_checks.py

R and its packages stats and cluster are asked where Rscript is on the path.
"""

import inspect
import shutil
import subprocess
import tempfile
import warnings
from importlib import metadata, util
from pathlib import Path

import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

CLOUD = np.random.default_rng(0).normal(size=(300, 2))  # one cluster
BLOBS = make_blobs(1000, 10, centers=10, cluster_std=8.0, random_state=0)[0]  # ten that overlap
K = 10


def moves_left(labels):
    """Count the rows that could join another cluster alone and lower the inertia."""
    labels = np.asarray(labels)
    sizes = np.bincount(labels)
    centers = np.array([BLOBS[labels == c].mean(axis=0) for c in range(len(sizes))])
    away = ((BLOBS[:, None, :] - centers) ** 2).sum(axis=2)
    rows = np.arange(len(labels))
    own = sizes[labels]
    stay = away[rows, labels] * own / np.maximum(own - 1, 1)
    away *= sizes / (sizes + 1)
    away[rows, labels] = np.inf
    return int(((away.min(axis=1) < stay * (1 - 1e-9)) & (own > 1)).sum())


def tell(package, what, answer):
    """Print a check."""
    print(f"{package:14}{what:46}{answer}", flush=True)


def attempt(make):
    """Return what comes of it, or the error."""
    try:
        return make()
    except Exception as error:
        return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def commands(package):
    """Name the commands that a package installs."""
    points = metadata.distribution(package).entry_points
    return [point.name for point in points if point.group == "console_scripts"] or "none"


def scikit_learn():
    """KMeans and the metrics."""
    from sklearn.metrics import silhouette_score

    fit = KMeans(K, n_init=10, random_state=0).fit(BLOBS)
    tell("scikit-learn", "KMeans without n_clusters makes", KMeans().n_clusters)
    weights = "sample_weight" in inspect.signature(KMeans.fit).parameters
    tell("scikit-learn", "KMeans.fit takes weights for the rows", weights)
    tell("scikit-learn", "KMeans(1)", attempt(lambda: KMeans(1).fit(CLOUD).n_clusters))
    one = np.zeros(len(CLOUD), int)
    tell("scikit-learn", "silhouette of one cluster", attempt(lambda: silhouette_score(CLOUD, one)))
    tell("scikit-learn", "rows whose move would lower the inertia", moves_left(fit.labels_))


def gap_stat():
    """OptimalK."""
    from gap_statistic import OptimalK

    asked = OptimalK(n_jobs=1, random_state=0)
    tell("gap-stat", "k for one cloud, its own rule", asked(CLOUD, cluster_array=np.arange(1, 11)))
    own = "clusterer" in inspect.signature(OptimalK).parameters
    tell("gap-stat", "takes a clusterer of one's own", own)
    tell("gap-stat", "columns of its table", list(asked.gap_df.columns))
    fitted = [name for name in vars(asked) if "label" in name]
    tell("gap-stat", "labels on the result", fitted or "none")


def kneed():
    """KneeLocator."""
    from kneed import KneeLocator

    ks = list(range(1, 31))
    inertia = [KMeans(k, n_init=3, random_state=0).fit(CLOUD).inertia_ for k in ks]
    found = KneeLocator(ks, inertia, curve="convex", direction="decreasing")
    tell("kneed", "k for one cloud", found.knee)
    line = KneeLocator(ks, [31.0 - k for k in ks], curve="convex", direction="decreasing")
    tell("kneed", "k for a straight line", line.knee)


def yellowbrick():
    """KElbowVisualizer."""
    import matplotlib

    matplotlib.use("Agg")
    from yellowbrick.cluster import KElbowVisualizer

    def elbow(first, metric, force=True):
        model = KMeans(n_init=3, random_state=0)
        asked = KElbowVisualizer(
            model, k=(first, 11), metric=metric, timings=False, force_model=force
        )
        return asked.fit(CLOUD).elbow_value_

    plain = attempt(lambda: elbow(2, "distortion", False))
    tell("yellowbrick", "scikit-learn's KMeans, without force_model", plain)

    for metric in ("distortion", "silhouette", "calinski_harabasz"):
        for first in (2, 1):
            answer = attempt(lambda m=metric, f=first: elbow(f, m))
            tell("yellowbrick", f"k for one cloud, {metric}, from {first}", answer)


def faiss():
    """Kmeans."""
    import faiss

    fit = faiss.Kmeans(BLOBS.shape[1], K, nredo=10, seed=0, max_points_per_centroid=10**6)
    fit.train(BLOBS.astype(np.float32))
    labels = fit.index.search(BLOBS.astype(np.float32), 1)[1].ravel()
    tell("faiss", "rows whose move would lower the inertia", moves_left(labels))
    one = faiss.Kmeans(2, 1, seed=0)
    one.train(CLOUD.astype(np.float32))
    tell("faiss", "Kmeans with k = 1, centroids", one.centroids.shape)
    tell("faiss", "Kmeans without k", attempt(lambda: faiss.Kmeans(2)))


def dask_ml():
    """KMeans on an array in blocks."""
    import dask.array
    from dask_ml.cluster import KMeans as Blocks

    rows = dask.array.from_array(BLOBS, chunks=(250, 10))
    fit = attempt(lambda: Blocks(K, random_state=0).fit(rows))
    if isinstance(fit, str):
        tell("dask-ml", "KMeans on an array in blocks", fit)
        return
    labels = np.asarray(fit.labels_)
    tell("dask-ml", "rows whose move would lower the inertia", moves_left(labels))
    tell("dask-ml", "KMeans without n_clusters makes", Blocks().n_clusters)
    tell("dask-ml", "parameters", sorted(fit.get_params()))


R = """
cloud <- as.matrix(read.csv("CLOUD", header=FALSE))
blobs <- as.matrix(read.csv("BLOBS", header=FALSE))
say <- function(what, answer) cat(sprintf("%-14s%-46s%s\\n", "R", what, answer))
say("version", paste(R.version.string, "cluster", packageVersion("cluster")))
set.seed(0); fit <- kmeans(blobs, 10, nstart=10)
write.table(fit$cluster, "LABELS", row.names=FALSE, col.names=FALSE)
say("kmeans with centers = 1, clusters", length(kmeans(cloud, 1)$size))
gap <- cluster::clusGap(cloud, kmeans, 10, B=20, nstart=3, verbose=FALSE)
say("columns of clusGap's table", paste(colnames(gap$Tab), collapse=", "))
say("parts of clusGap's result", paste(names(gap), collapse=", "))
say("kmeans without centers", class(try(kmeans(cloud), silent=TRUE)))
say("k for one cloud, Tibs2001SEmax", cluster::maxSE(gap$Tab[,3], gap$Tab[,4], "Tibs2001SEmax"))
say("rules of maxSE", paste(eval(formals(cluster::maxSE)$method), collapse=", "))
"""


def r():
    """Ask kmeans and clusGap."""
    with tempfile.TemporaryDirectory() as folder:
        places = {name: Path(folder) / name for name in ("CLOUD", "BLOBS", "LABELS")}
        np.savetxt(places["CLOUD"], CLOUD, delimiter=",")
        np.savetxt(places["BLOBS"], BLOBS, delimiter=",")
        script = R
        for name, place in places.items():
            script = script.replace(f'"{name}"', f'"{place}"')
        subprocess.run(["Rscript", "-e", script], check=True)
        labels = np.loadtxt(places["LABELS"], dtype=int) - 1
    tell("R", "rows whose move would lower the inertia", moves_left(labels))


def edfkmeans():
    """Ask ourselves the same."""
    from edfkmeans import fit_path, select_k

    path = fit_path(BLOBS, K, random_state=0)
    tell("edfkmeans", "rows whose move would lower the inertia", moves_left(path.labels(K)))
    tell("edfkmeans", "k for one cloud", select_k(CLOUD, random_state=0).k)


def main():
    """Check everything that is installed."""
    warnings.simplefilter("ignore")
    packages = {
        "scikit-learn": ("sklearn", scikit_learn),
        "gap-stat": ("gap_statistic", gap_stat),
        "kneed": ("kneed", kneed),
        "yellowbrick": ("yellowbrick", yellowbrick),
        "faiss-cpu": ("faiss", faiss),
        "dask-ml": ("dask_ml", dask_ml),
        "edfkmeans": ("edfkmeans", edfkmeans),
    }
    for package, (module, check) in packages.items():
        if util.find_spec(module) is None:
            continue
        tell(package, "version", metadata.version(package))
        tell(package, "commands it installs", commands(package))
        check()
    if shutil.which("Rscript"):
        r()


if __name__ == "__main__":
    main()
