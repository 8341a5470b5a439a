run cluster
