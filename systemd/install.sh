#!/bin/sh
# Installs the release binary and its unit into a Debian system, or below DESTDIR for a package. Run as root after
# `swift build -c release --static-swift-stdlib --disable-local-rpath`.
set -eu
cd "$(dirname "$0")/.."
binary=${1:-.build/release/concord}
root=${DESTDIR:-}
install -D -m 0755 "$binary" "$root/usr/bin/concord"
install -D -m 0644 systemd/concord.service "$root/usr/lib/systemd/system/concord.service"
install -D -m 0644 systemd/concord.sysusers "$root/usr/lib/sysusers.d/concord.conf"
install -D -m 0644 systemd/concord.tmpfiles "$root/usr/lib/tmpfiles.d/concord.conf"
# A configuration that is there stays.
[ -e "$root/etc/concord/concord.conf" ] || install -D -m 0640 Config/concord.conf "$root/etc/concord/concord.conf"
if [ -z "$root" ]; then
    systemd-sysusers concord.conf
    systemd-tmpfiles --create concord.conf
    [ -d /run/systemd/system ] && systemctl daemon-reload
    echo "Edit /etc/concord/concord.conf, then: systemctl enable --now concord"
fi
