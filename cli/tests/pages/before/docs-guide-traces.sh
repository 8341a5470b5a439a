fixtures=$REPOSITORY/shared/traces/tests/fixtures
gzip -c "$fixtures/hadoop1-1x.log" > job_200904211745_0002.log.gz
cp "$fixtures/swim-six.tsv" FB-2009_samples_24_times_1hr_0.tsv
mkdir -p /mnt/history/done/2026/01/01
cp "$fixtures/small.jhist" /mnt/history/done/2026/01/01/job_1.jhist
