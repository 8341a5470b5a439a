# Jobs of two users' kinds, for the lists.
export HOWDAH_MASTER_HTTP_LISTEN=127.0.0.1:8088
howdah up --workers 2 --dir cluster
howdah submit sleep -m 2 -mt 1 --name nightly --dir cluster --wait
howdah submit sleep -m 4 -mt 600000 --dir cluster
