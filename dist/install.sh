#!/bin/sh
# Installs a release of outrider: downloads its archive, compares the checksum,
# and puts the program into a folder.
#   install.sh [VERSION [FOLDER]]
# VERSION is X.Y.Z; without it, the one below. FOLDER is $HOME/.local/bin unless
# given. OUTRIDER_DOWNLOAD is where releases are, for a mirror.
# stdout: the path of the program. stderr: words. Exit 3: it cannot be had.
set -eu

version=${1:-0.1.0}
version=${version#v}
folder=${2:-${HOME:?is not set: give a folder}/.local/bin}
from=${OUTRIDER_DOWNLOAD:-https://github.com/outrider-run/outrider/releases/download}

fail() {
	echo "install.sh: $1" >&2
	exit 3
}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "no archive for $(uname -s): see docs/how-to/install.md" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "no archive for $(uname -m): see docs/how-to/install.md" ;;
esac
archive=outrider_${version}_${os}_${arch}.tar.gz

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

get() {
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --retry 3 -o "$work/$1" "$from/v$version/$1"
	else
		wget -q -O "$work/$1" "$from/v$version/$1"
	fi || fail "$from/v$version/$1 cannot be downloaded"
}
get checksums.txt
get "$archive"

expected=$(awk -v file="$archive" '$2 == file { print $1 }' "$work/checksums.txt")
[ -n "$expected" ] || fail "checksums.txt of $version does not name $archive"
if command -v sha256sum >/dev/null 2>&1; then
	found=$(sha256sum "$work/$archive")
else
	found=$(shasum -a 256 "$work/$archive")
fi
found=${found%% *}
[ "$found" = "$expected" ] || fail "$archive has the checksum $found, expected $expected"

tar -xzf "$work/$archive" -C "$work" outrider
mkdir -p "$folder"
# A program that runs cannot be written over, but another can take its name.
mv "$work/outrider" "$folder/.outrider.new"
mv "$folder/.outrider.new" "$folder/outrider"
printf '%s\n' "$folder/outrider"
