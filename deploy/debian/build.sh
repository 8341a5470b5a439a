#!/bin/sh
# A Debian package of one executable: `deploy/debian/build.sh EXECUTABLE FOLDER`, after `cargo xtask dist` with
# `target/dist/howdah`. Needs `dpkg-deb` and `strip`, no rights. The executable itself says its version and writes its
# manual pages and completions, so that none of them can be of another build. Prints the path of the package.
set -eu
[ $# -eq 2 ] || { echo "usage: $0 EXECUTABLE FOLDER" >&2; exit 2; }
here=$(dirname "$(realpath "$0")")
program=$(realpath "$1")
[ -x "$program" ] || { echo "$0: \`$1\` is no executable" >&2; exit 2; }
mkdir -p "$2"
folder=$(realpath "$2")
version=$("$program" --version | awk 'NR == 1 { print $2 }')
architecture=$(dpkg --print-architecture)
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
chmod 755 "$root"
umask 022

install -D -m 755 "$program" "$root/usr/bin/howdah"
strip "$root/usr/bin/howdah"
install -D -m 644 "$here/../howdah.toml" "$root/etc/howdah/howdah.toml"
for unit in howdah-master howdah-worker; do
    install -D -m 644 "$here/../systemd/$unit.service" "$root/lib/systemd/system/$unit.service"
done
pages=$root/usr/share/man/man1
mkdir -p "$pages"
"$program" man "$pages" > /dev/null
gzip -9 -n "$pages"/*.1
complete() {
    mkdir -p "$root/usr/share/$2"
    "$program" completions "$1" > "$root/usr/share/$2/$3"
}
complete bash bash-completion/completions howdah
complete zsh zsh/vendor-completions _howdah
complete fish fish/vendor_completions.d howdah.fish
install -D -m 644 "$here/../../LICENSE" "$root/usr/share/doc/howdah/copyright"
gzip -9 -n -c "$here/../../CHANGELOG.md" > "$root/usr/share/doc/howdah/changelog.gz"

mkdir "$root/DEBIAN"
size=$(du -k -s "$root" | cut -f 1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCHITECTURE@/$architecture/" -e "s/@SIZE@/$size/" "$here/control" \
    > "$root/DEBIAN/control"
echo /etc/howdah/howdah.toml > "$root/DEBIAN/conffiles"
for script in postinst prerm postrm; do
    install -m 755 "$here/$script" "$root/DEBIAN/$script"
done
package=$folder/howdah_${version}_$architecture.deb
dpkg-deb --build --root-owner-group "$root" "$package" > /dev/null
echo "$package"
