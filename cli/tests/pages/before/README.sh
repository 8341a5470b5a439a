# A clone, books, and a mapper and a reducer of one's own.
ln -s "$REPOSITORY/docs" docs
books books
mkdir /mnt/share/books
cp books/* /mnt/share/books
printf '#!/bin/sh\ntr -s " " "\\n"\n' > map.py
printf '#!/bin/sh\nuniq -c\n' > reduce.py
chmod +x map.py reduce.py
