# The page's own file.
cp ../blocks/1.toml howdah.toml
