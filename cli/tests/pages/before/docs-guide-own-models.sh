# Two recorded runs.
run run1
run run2
