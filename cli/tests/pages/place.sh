# Makes the machine on which a page is typed, in namespaces of its own: the page's addresses and host names, empty folders
# where the page has its data, everything else as it is here. $1 is the page's folder, $2 the script.
set -e
ip link set lo up
for last in 1 2 3 4 5; do ip address add "10.0.0.$last/32" dev lo; done
{ echo "127.0.0.1 localhost"; for n in 0 1 2 3 4; do echo "10.0.0.$((n + 1)) lab$n"; done; } > "$1/hosts"
root="$1/root"
mkdir "$root"
mount -t tmpfs tmpfs "$root"
for entry in /*; do
    if [ -L "$entry" ]; then
        cp -P "$entry" "$root/"
    elif [ -d "$entry" ]; then
        mkdir "$root$entry"
        mount --rbind "$entry" "$root$entry"
    fi
done
for empty in data mnt results share scratch var/lib; do
    mkdir -p "$root/$empty"
    mount -t tmpfs tmpfs "$root/$empty"
done
mkdir "$root/mnt/share"
mount --bind "$1/hosts" "$root/etc/hosts"
exec chroot "$root" bash -c 'cd "$0/here" && exec bash -eux "$1"' "$1" "$2"
