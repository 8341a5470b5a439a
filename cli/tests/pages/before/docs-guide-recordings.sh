books books
howdah up --workers 2 --dir cluster
