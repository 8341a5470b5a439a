# Other runs of the same workload.
books notes
for run in run2 run3 other-slots; do
    howdah up --workers 2 --dir $run
    howdah submit wordcount --dir $run --input notes --output of-$run --wait
    howdah down --dir $run
done
