# Two recorded runs, and a cluster that has work.
run run1
run run2
howdah up --workers 2 --map-slots 1 --dir cluster
howdah submit sleep --dir cluster -m 4 -mt 60000
howdah submit sleep --dir cluster -m 4 -mt 500
