# The gap statistic of R's package cluster on some of the paper's sets, for docs/reproduction.md.
# Run with: Rscript experiments/clusgap.R FOLDER       (FOLDER holds NAME.csv.gz; some minutes)
#
# Squared distances, references in the box of the principal components, ten starts for the data and
# one for the references, k = 1 .. 30; prints k by the rule of Tibshirani, Walther and Hastie.
library(cluster)
folder <- commandArgs(trailingOnly = TRUE)[1]
for (name in c("wine", "seeds", "iris", "votes", "heart", "glass", "parkinsons")) {
  frame <- read.csv(gzfile(file.path(folder, paste0(name, ".csv.gz"))))
  X <- as.matrix(frame[, grepl("^f[0-9]+$", names(frame))])
  X <- scale(X[, apply(X, 2, sd) > 0])
  set.seed(1)
  fit <- function(x, k) {
    list(cluster = kmeans(x, k, nstart = if (identical(x, X)) 10 else 1)$cluster)
  }
  gap <- suppressWarnings(clusGap(X, fit, K.max = 30, B = 50, d.power = 2, spaceH0 = "scaledPCA",
                                  verbose = FALSE))$Tab
  cat(name, maxSE(gap[, "gap"], gap[, "SE.sim"], "Tibs2001SEmax"), "\n")
}
