# A cluster to put schedulers in charge of, what a calibration wrote, and a run.
howdah up --workers 1 --dir cluster
export HOWDAH_DIR=$PWD/cluster
cat > w1.toml <<'END'
schema = "howdah/calibration/v1"
curve = "below=0.02,linear=1.01"
cores = 2.0
khz = 2600000
base_s = 1.0
r_squared = 0.9
mean_error = 0.01
max_error = 0.02
points = []
END
jobs run.json
