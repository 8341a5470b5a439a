# A cluster that meets the page's requirements. Its job 7 left two of its maps out.
cat > howdah.toml <<'END'
[worker.attributes]
gpu = "1"
rack = "r2"
END
howdah --config howdah.toml up --workers 1 --map-slots 4 --dir cluster
export HOWDAH_DIR=$PWD/cluster
howdah submit sudokugen --puzzles 9 --clues easy --output nine --wait
for number in 2 3 4 5 6; do howdah submit sleep -m 1 -mt 1 --wait; done
mkdir pages
for word in one two three; do echo $word > pages/$word; done
printf '#!/bin/sh\ngrep two || test -e /share/mended\n' > look
chmod +x look
howdah submit streaming --mapper ./look --input pages --output pages-out --reduces 0 \
    -D mapred.map.max.attempts=1 -D mapred.max.map.failures.percent=90 --wait
touch /share/mended
