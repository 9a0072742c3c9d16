#!/bin/bash
# Runs the unit under a real systemd: the machine's own root under an overlay, booted by systemd-nspawn, so that nothing
# of it changes. READY, sandbox, reload (good and bad), watchdog, crash, stop.
#
#   Tests/SystemdTests/boot-test.sh [.build/release/concord]
#
# Exits 0 when all facts hold, 1 when one does not; where it cannot run it says why, and exits 0.
set -u
project=$(cd "$(dirname "$0")/../.." && pwd)
binary=$(realpath "${1:-$project/.build/release/concord}")

skip() { echo "skipped: $1"; exit 0; }
[ "$(id -u)" = 0 ] || skip "only root can boot a container"
for program in systemd-nspawn unshare nsenter git ssh-keygen; do command -v $program >/dev/null || skip "there is no $program"; done
[ -x "$binary" ] || skip "there is no $binary; build it first"
if [ -z "${CONCORD_BOOT_TEST:-}" ]; then
    unshare -m true 2>/dev/null || skip "no mount namespace is to be had"
    # In a namespace of its own, so that every mount goes with it, however this ends.
    CONCORD_BOOT_TEST=1 exec unshare -m --propagation private "$0" "$binary"
fi

place=$(mktemp -d)
mount -t tmpfs tmpfs "$place" || skip "no tmpfs can be mounted"
mkdir "$place"/{upper,work,root}
mount -t overlay overlay -o "lowerdir=/,upperdir=$place/upper,workdir=$place/work" "$place/root" 2>/dev/null || skip "no overlay can be mounted"
mount -t tmpfs tmpfs /run
root=$place/root

: > "$root/etc/machine-id"
# Only what the unit needs is started.
ln -sf /usr/lib/systemd/system/multi-user.target "$root/etc/systemd/system/default.target"
rm -rf "$root"/etc/systemd/system/multi-user.target.wants
for unit in getty.target console-getty.service systemd-logind.service dbus.socket dbus.service systemd-networkd.service apt-daily.timer apt-daily-upgrade.timer; do
    ln -sf /dev/null "$root/etc/systemd/system/$unit"
done
rm -rf "$root/usr/local/lib/systemd" "$root/etc/concord"
DESTDIR=$root "$project/systemd/install.sh" "$binary" || exit 1

systemd-nspawn --quiet --register=no --keep-unit --private-network -D "$root" -b --console=pipe </dev/null >"$place/console" 2>&1 &
nspawn=$!
trap 'kill -KILL $nspawn $init 2>/dev/null; wait 2>/dev/null; umount -l "$root" "$place" 2>/dev/null; rmdir "$place" 2>/dev/null' EXIT
init=

# Repeats a command until it succeeds; gives up after 30 s.
await() {
    local tries=0
    until "$@" >/dev/null 2>&1; do
        tries=$((tries + 1))
        [ $tries -lt 300 ] || return 1
        read -rt 0.1 <> <(:) || :
    done
}
find_init() { init=$(pgrep -P $nspawn | head -1) && [ -n "$init" ]; }
inside() { nsenter -t "$init" -m -u -i -n -p -C -- "$@"; }
booted() { case $(inside systemctl is-system-running) in running|degraded) true ;; *) false ;; esac; }

await find_init || skip "systemd-nspawn does not start: $(tail -1 "$place/console")"
await booted || skip "systemd does not boot here: $(tail -1 "$place/console")"

failed=0
fact() { # fact SENTENCE COMMAND…
    if "${@:2}"; then echo "ok: $1"; else echo "FAILED: $1"; failed=1; fi
}
property() { inside systemctl show concord -p "$1" --value; }
status_has() { [[ $(property StatusText) == *"$1"* ]]; }
is() { [ "$(property "$1")" = "$2" ]; }
file_is_on() { [ "$(inside git --git-dir=/srv/git/app.git show "$1:note" 2>/dev/null)" = "$2" ]; }
push() { # push BRANCH TEXT [FILE]: a commit on a branch, by the user of the repositories
    inside runuser -u concord -- sh -ec "
        cd \$(mktemp -d); git clone -q /srv/git/app.git . 2>/dev/null
        git config user.name Marie; git config user.email marie@example.org
        git checkout -q '$1' 2>/dev/null || git checkout -q -b '$1'
        echo '$2' > '${3:-note}'; git add .; git commit -qm '$2'; git push -q origin 'HEAD:refs/heads/$1'"
}

inside systemd-sysusers concord.conf
inside systemd-tmpfiles --create concord.conf
inside install -d -o concord -g concord /srv/git
inside runuser -u concord -- git init -q --bare -b main /srv/git/app.git
push main begin && push l10n/fr begin2 && push main other other
inside sh -c 'ssh-keygen -q -t ed25519 -N "" -f /etc/concord/signing-key
git config -f /etc/concord/concord.conf concord.signingKey /run/credentials/concord.service/signing-key
git config -f /etc/concord/concord.conf concord.gpgFormat ssh
echo "concord@localhost $(cat /etc/concord/signing-key.pub)" > /etc/concord/signers; mkdir -p /etc/systemd/system/concord.service.d
printf "[Service]\nWatchdogSec=2s\nRestartSec=100ms\nLoadCredential=signing-key:/etc/concord/signing-key\n" > /etc/systemd/system/concord.service.d/test.conf
systemctl daemon-reload'

fact "the sandbox is rated at most 1.5" inside sh -c '[ $(systemd-analyze security --offline=true --threshold=15 /usr/lib/systemd/system/concord.service >/dev/null; echo $?) = 0 ]'
fact "the unit starts and says READY" inside systemctl start concord
fact "it runs as its own user" [ "$(inside stat -c %U "/proc/$(property MainPID)")" = concord ]
fact "STATUS tells how the repositories are" await status_has "1 in step"
fact "what was there before the start is in step" await file_is_on main begin2
synced=$(inside git --git-dir=/srv/git/app.git rev-parse main)
push l10n/fr bonjour
fact "a push is heard inside the sandbox" await file_is_on main bonjour
fact "status answers over the socket" inside sh -c 'concord status | grep -q "app  in step"'
fact "the key was handed over as a credential, which nobody else can read" inside sh -c '[ "$(stat -c %A /etc/concord/signing-key)" = -rw------- ] && runuser -u concord -- test ! -r /etc/concord/signing-key'
fact "and the sync commit is signed with it" inside runuser -u concord -- git --git-dir=/srv/git/app.git -c gpg.ssh.allowedSignersFile=/etc/concord/signers verify-commit "$synced"
fact "the watchdog is fed while nothing happens" inside sh -c 'sleep 5; [ "$(systemctl show concord -p NRestarts --value)" = 0 ]'

inside sed -i 's/workers = 2/wrokers = 2/' /etc/concord/concord.conf
pid=$(property MainPID)
fact "a reload with a bad file is survived" inside systemctl reload concord
fact "and STATUS says that it was refused" await status_has "refused"
fact "and the journal says where the fault is" await inside sh -c 'journalctl -u concord | grep -q "did you mean .workers"'
push l10n/fr encore
fact "and the old configuration goes on" await file_is_on main encore
inside sed -i 's/wrokers = 2/workers = 3/' /etc/concord/concord.conf
inside systemctl reload concord
not_refused() { ! status_has refused; }
fact "a reload with a good file takes it up" await not_refused
fact "in the same process" is MainPID "$pid"

inside kill -STOP "$pid"
restarted() { [ "$(property NRestarts)" -ge "$1" ] && is ActiveState active; }
fact "a process that hangs is killed by the watchdog and started again" await restarted 1
fact "and the journal says why" inside sh -c 'journalctl -u concord | grep -qi "watchdog timeout"'
push l10n/fr apres
fact "and the new one works" await file_is_on main apres
inside sh -c "kill -KILL $(property MainPID)"
fact "a process that was killed is started again" await restarted 2
push l10n/fr enfin
fact "and takes over what it missed" await file_is_on main enfin
fact "stop ends it cleanly" inside systemctl stop concord
fact "with success" is Result success
fact "and exit code 0" is ExecMainStatus 0
fact "no socket is left" inside sh -c '[ ! -e /run/concord/socket ]'
fact "the repository is sound" inside runuser -u concord -- git --git-dir=/srv/git/app.git fsck --strict
[ $failed = 0 ] || inside journalctl -u concord --no-pager | tail -40
exit $failed
