howdah --help > notes.txt
