mkdir /mnt/share/logs
printf 'a 1\nb 2\na 3\n' > /mnt/share/logs/one
howdah up --dir cluster
export HOWDAH_DIR=$PWD/cluster
