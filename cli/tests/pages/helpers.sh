# What the preludes of the pages are made of.
books() { mkdir -p "$1" && for page in submit replay validate; do howdah "$page" --help > "$1/$page.txt"; done; }
jobs() { howdah trace generate simmr-facebook --jobs 30 -o "$1"; }
# A run of two word counts and a nap, as `up`, `submit` and `down` leave it.
run() {
    books words
    howdah up --workers 2 --dir "$1"
    for number in 1 2; do howdah submit wordcount --dir "$1" --input words --output "$1-$number" --name "w$number" --wait; done
    howdah submit sleep --dir "$1" -m 3 -mt 4000 --wait
    howdah down --dir "$1"
}
# Waits until a master answers.
answers() { for _ in $(seq 900); do if howdah cluster "$@" > answer 2>&1; then return 0; fi; sleep 0.1; done; cat answer; return 1; }
