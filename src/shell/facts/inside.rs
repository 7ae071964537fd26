//! Programs that run another one on this machine.

use super::wrapper::{Apart, Inner, Wrapper, alone, by_itself, detached, listed, local, unless};

const BWRAP: &str = "--args --argv0 --userns --userns2 --pidns --uid --gid --hostname --chdir --setenv:2 --unsetenv --lock-file --sync-fd --bind:2 --bind-try:2 --dev-bind:2 --dev-bind-try:2 --ro-bind:2 --ro-bind-try:2 --bind-fd:2 --ro-bind-fd:2 --remount-ro --overlay-src --overlay:3 --tmp-overlay --ro-overlay --exec-label --file-label --proc --dev --tmpfs --mqueue --dir --file:2 --bind-data:2 --ro-bind-data:2 --symlink:2 --seccomp --add-seccomp-fd --block-fd --userns-block-fd --info-fd --json-status-fd --cap-add --cap-drop --perms --size --chmod:2";
const BWRAP_FLAGS: &str = "--unshare-all --share-net --unshare-user --unshare-user-try --unshare-ipc --unshare-pid --unshare-net --unshare-uts --unshare-cgroup --unshare-cgroup-try --clearenv --new-session --die-with-parent --as-pid-1 --disable-userns --assert-userns-disabled --help --version";

/// The rows.
pub const ROWS: &[Wrapper] = &[
    local("env genv", "", "-u -C -S -P -a -i:0 --unset --chdir --split-string --argv0", 0, Inner::Words),
    alone(
        "-i -s --login --shell",
        detached(
            "-b --background",
            local(
                "sudo",
                "",
                "-u -g -h -p -C -r -t -T -D -R -U -a -c --user --group --host --prompt --chdir --chroot --close-from --role --type --other-user --command-timeout --auth-type --login-class",
                0,
                Inner::Words,
            ),
        ),
    ),
    alone("-s", local("doas", "", "-u -C -a", 0, Inner::Words)),
    local(
        "sudo-rs please run0 gsudo",
        "",
        "-u -g -D --user --group --chdir --background --unit --property --slice --setenv --nice --machine",
        0,
        Inner::Words,
    ),
    alone(
        "*",
        local(
            "su",
            "",
            "-c -s -g -G -w --command --session-command --shell --group --supp-group --whitelist-environment",
            0,
            Inner::Value("-c --command --session-command"),
        ),
    ),
    local(
        "runuser",
        "",
        "-c -s -g -G -u -w --command --session-command --shell --group --user --supp-group --whitelist-environment",
        0,
        Inner::Value("-c --command --session-command"),
    ),
    alone(
        "*",
        local(
            "runuser",
            "",
            "-u --user -g --group -G --supp-group -w --whitelist-environment -s --shell",
            0,
            Inner::Words,
        ),
    ),
    alone("*", local("sg newgrp", "", "-c", 1, Inner::ValueOrWords("-c"))),
    local("time gtime", "", "-f -o --format --output", 0, Inner::Words),
    local("timeout gtimeout", "", "-s -k --signal --kill-after", 1, Inner::Words),
    local("nice gnice ionice", "", "-n -c -p -P -u --adjustment --class --classdata", 0, Inner::Words),
    local("chrt", "", "-T -P -D --sched-runtime --sched-period --sched-deadline", 1, Inner::Words),
    local("taskset", "", "", 1, Inner::Words),
    local(
        "nohup builtin eatmydata catchsegv tsocks torify noglob nocorrect gosu-user busybox toybox dumb-init catatonit ts-exec corepack",
        "",
        "",
        0,
        Inner::Words,
    ),
    Wrapper {
        apart: Some(Apart { with: "-f --fork", without: "-w --wait" }),
        ..local("setsid", "", "", 0, Inner::Words)
    },
    local("command unbuffer chronic", "", "", 0, Inner::Words),
    local("exec", "", "-a", 0, Inner::Words),
    local("arch", "", "-e -d -arch", 0, Inner::Words),
    detached(
        "-b --background",
        local("cpulimit", "", "-l -p -e -P --limit --pid --exe --path", 0, Inner::Words),
    ),
    local("caffeinate", "", "-t -w", 0, Inner::Words),
    local("rlwrap", "", "-b -C -D -f -g -H -l -M -O -P -q -s -S -t -w -z -a? -m? -p?", 0, Inner::Words),
    local("torsocks", "", "-a -P -u -p --address --port --user --pass", 0, Inner::Words),
    local("proxychains proxychains4", "", "-f", 0, Inner::Words),
    alone(
        "*",
        local(
            "fakeroot fakechroot fakeroot-sysv fakeroot-tcp",
            "",
            "-l -s -i -b --lib --faked -e -c --environment --config-dir",
            0,
            Inner::Words,
        ),
    ),
    local("systemd-inhibit", "", "--what --who --why --mode", 0, Inner::Words),
    local(
        "systemd-cat",
        "",
        "-t -p --identifier --priority --stderr-priority --level-prefix --namespace",
        0,
        Inner::Words,
    ),
    local(
        "ltrace",
        "",
        "-a -A -D -e -F -l -n -o -p -s -u -w -x --align --config --library --output --where --demangle:0",
        0,
        Inner::Words,
    ),
    local("pkexec", "", "--user", 0, Inner::Words),
    local("winpty", "", "-X", 0, Inner::Words),
    listed(
        "--fork --exit-with-session --sh-syntax --csh-syntax --auto-syntax --binary-syntax",
        local(
            "dbus-run-session dbus-launch",
            "",
            "--config-file --dbus-daemon --autolaunch",
            0,
            Inner::Words,
        ),
    ),
    local(
        "xvfb-run",
        "",
        "-e -f -n -p -s -w --error-file --auth-file --server-num --server-args --xauth-protocol --wait",
        0,
        Inner::Words,
    ),
    listed(
        "-v --version -b --banner -s --speech -p --pushbullet",
        local("noti", "", "-t --title -m --message --file -w --pwatch --time", 0, Inner::Words),
    ),
    local("coproc", "", "", 0, Inner::Words),
    local("!", "", "", 0, Inner::Words),
    local("stdbuf gstdbuf", "", "-i -o -e --input --output --error", 0, Inner::Words),
    local(
        "strace",
        "",
        "-a -b -e -E -I -o -O -p -P -s -S -u -U -X --trace --output --attach --trace-path --string-limit --columns --env --user --expr --detach-on --interruptible --inject --fault --status --signal --read --write --verbose --abbrev --raw --kill --decode-fds?",
        0,
        Inner::Words,
    ),
    listed(
        "-v -q -d --version --help",
        local("valgrind heaptrack perf-record hyperfine-exec", "", "-o --output -p", 0, Inner::Words),
    ),
    by_itself(local(
        "hyperfine",
        "",
        "-w -m -M -r -p -c -s -S -n -u --warmup --min-runs --max-runs --runs --prepare --conclude --setup --cleanup --shell --command-name --time-unit --style --parameter-list -L -P:3 --parameter-scan:3 -D --parameter-step-size --export-json --export-markdown --export-csv --export-asciidoc --export-orgmode --output --input --reference --reference-name",
        0,
        Inner::First,
    )),
    local("gosu su-exec", "", "", 1, Inner::Words),
    local("chpst", "", "-u -U -b -/ -e -d -n -l -L -m -o -p -f -c -r -t -a -s", 0, Inner::Words),
    local("s6-setuidgid s6-envdir envdir envuidgid setuidgid s6-setlock setlock", "", "-t", 1, Inner::Words),
    listed(
        "--clear-groups --keep-groups --init-groups --nnp --no-new-privs --reset-env --dump -d --list-caps --help --version",
        local(
            "setpriv",
            "",
            "--reuid --regid --ruid --euid --rgid --egid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig --ptracer --selinux-label --apparmor-profile --landlock-access --landlock-rule --seccomp-filter",
            0,
            Inner::Words,
        ),
    ),
    listed("--print --decode --supports --help", local("capsh", "", "", 0, Inner::After("--"))),
    local(
        "flock",
        "",
        "-w -E -c --wait --timeout --conflict-exit-code --command",
        1,
        Inner::ValueOrWords("-c --command"),
    ),
    alone("*", local("chroot", "", "--userspec --groups", 1, Inner::Words)),
    alone(
        "*",
        local(
            "arch-chroot proot systemd-nspawn schroot",
            "",
            "-u -D -b -c -r -w -M -E -d -i -a --directory --machine --user --bind --bind-ro --chdir --setenv --chroot",
            0,
            Inner::Words,
        ),
    ),
    alone(
        "*",
        local(
            "unshare",
            "",
            "-R -w -S -G --root --wd --setuid --setgid --map-user --map-users --map-group --map-groups --propagation --setgroups --monotonic --boottime --owner --load-interp -l -m? -u? -i? -n? -p? -U? -C? -T?",
            0,
            Inner::Words,
        ),
    ),
    alone(
        "*",
        local(
            "nsenter",
            "",
            "-t -S -G -W -N --target --setuid --setgid --wdns --net-socket -m? -u? -i? -n? -p? -U? -C? -T? -r? -w?",
            0,
            Inner::Words,
        ),
    ),
    alone("*", local("firejail", "", "", 0, Inner::Words)),
    listed(BWRAP_FLAGS, local("bwrap", "", BWRAP, 0, Inner::Words)),
    local("aa-exec", "", "-p -n --profile --namespace", 0, Inner::Words),
    alone("*", local("setarch", "", "", 1, Inner::Words)),
    alone("*", local("linux32 linux64 i386 x86_64", "", "", 0, Inner::Words)),
    alone(
        "-S --shell",
        unless(
            "--wait --scope",
            local(
                "systemd-run",
                "",
                "-u -p -E -H -M --unit --property --setenv --slice --uid --gid --nice --working-directory --host --machine --description --service-type --background --expand-environment --on-active --on-boot --on-startup --on-unit-active --on-unit-inactive --on-calendar --timer-property --path-property --socket-property --job-mode --root-directory",
                0,
                Inner::Words,
            ),
        ),
    ),
    by_itself(local("watch", "", "-n --interval -q --equexit", 0, Inner::Script)),
    by_itself(local("viddy hwatch", "", "-n --interval -L", 0, Inner::Script)),
    by_itself(local("entr", "", "-s", 0, Inner::ValueOrWords("-s"))),
    by_itself(listed(
        "-n --no-vcs-ignore -r --restart -p --postpone -c -q --quiet --no-shell --verbose -v --clear --notify --only-emit-events --poll --no-project-ignore --no-global-ignore --no-default-ignore --no-discover-ignore --no-process-group --no-environment",
        local(
            "watchexec",
            "",
            "-w --watch -W -e --exts -f --filter -i --ignore -d --debounce -s --signal --stop-signal --shell -o --on-busy-update --project-origin --workdir -E --env --delay-run --stop-timeout --map-signal -j",
            0,
            Inner::Script,
        ),
    )),
    by_itself(local(
        "nodemon",
        "",
        "-w --watch -e --ext -i --ignore -x --exec --delay -d --signal -s --cwd --config",
        0,
        Inner::Words,
    )),
    alone(
        "*",
        by_itself(local(
            "script",
            "",
            "-c --command -O -I -B -E -T -m -o -t?",
            1,
            Inner::ValueOrWords("-c --command"),
        )),
    ),
];
