# The page's own batch, its inputs, and what its jobs took last night.
cp ../blocks/3.toml nightly.toml
books /data/books
mkdir /data/logs
howdah --help > /data/logs/a.log
cat > last-night.jsonl <<'END'
{"schema":"howdah/trace/v1","source":"by hand"}
{"name":"words","n_maps":3,"n_reduces":4,"map_ms":[90],"reduce_ms":[90]}
{"name":"logs","n_maps":1,"n_reduces":1,"map_ms":[50],"reduce_ms":[90]}
END
