books /share/books
