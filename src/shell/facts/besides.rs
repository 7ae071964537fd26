//! Options whose values are run, beside all else that a program does.

use super::wrapper::{Inner, Wrapper, besides, listed};

const GIT: &str = "-C -c --git-dir --work-tree --namespace --exec-path";

/// The rows.
pub const ROWS: &[Wrapper] = &[
    // It may start nothing, another program than the one that is looked for, and that elsewhere.
    listed(
        "-S --start -K --stop -T --status -t --test -o --oknodo -q --quiet -v --verbose -m --make-pidfile --remove-pidfile -b --background -C --no-close --notify-await",
        besides(
            "start-stop-daemon",
            "",
            "-x --exec -a --startas -p --pidfile -n --name -u --user -g --group -r --chroot -d --chdir -N --nicelevel -P --procsched -I --iosched -k --umask -s --signal -R --retry -c --chuid -O --output --ppid --notify-timeout",
            Inner::Value("-x --exec -a --startas"),
        ),
    ),
    besides("rsync", "", "-e -f -B -T -M", Inner::Value("-e --rsh --rsync-path")),
    besides(
        "ssh autossh scp sftp sshfs ssh-copy-id",
        "",
        "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -P -Q -R -W -w -B -M -X",
        Inner::Value("-o@ProxyCommand -o@LocalCommand -o@KnownHostsCommand"),
    ),
    besides("scp sftp", "", "-S -b -c -D -F -i -J -l -o -P -R -s -X -B", Inner::Value("-S")),
    besides(
        "tar gtar bsdtar",
        "",
        "-f -C -T -X -b -N -V -K -L -H -g -I -F --use-compress-program --to-command --info-script --new-volume-script --rsh-command --rmt-command --checkpoint-action",
        Inner::Value(
            "-I --use-compress-program --to-command -F --info-script --new-volume-script --rsh-command --rmt-command --checkpoint-action@exec",
        ),
    ),
    besides("split gsplit", "", "-b -l -n -a -C --filter", Inner::Value("--filter")),
    besides("sort gsort", "", "-k -t -o -S -T --compress-program", Inner::Value("--compress-program")),
    besides("zip", "", "-i -x -P -t -tt -n -b -TT --unzip-command", Inner::Value("-TT --unzip-command")),
    besides(
        "nc netcat ncat nc.traditional",
        "",
        "-g -G -i -O -P -p -q -s -V -w -X -x -I -m -d -e -c --exec --sh-exec --lua-exec",
        Inner::Value("-e -c --exec --sh-exec"),
    ),
    besides("wget", "", "--use-askpass", Inner::Value("--use-askpass")),
    besides("man", "", "-P --pager -H --html", Inner::Value("-P --pager")),
    besides("rg", "", "--pre --hostname-bin", Inner::Value("--pre --hostname-bin")),
    besides(
        "git",
        "fetch|pull|clone|ls-remote|fetch-pack",
        GIT_FETCH,
        Inner::Value("-u --upload-pack --exec"),
    ),
    besides(
        "git",
        "push|send-pack",
        "-C -c --git-dir --work-tree --namespace --receive-pack --exec -o --push-option --repo",
        Inner::Value("--receive-pack --exec"),
    ),
    besides(
        "git",
        "archive",
        "-C -c --git-dir --work-tree --exec --remote --format --prefix -o --output",
        Inner::Value("--exec"),
    ),
    besides("git", "difftool", GIT_DIFFTOOL, Inner::Value("-x --extcmd")),
    besides("git", "grep", GIT_GREP, Inner::Value("-O --open-files-in-pager")),
    besides(
        "git",
        "send-email",
        "-C -c --git-dir --work-tree --sendmail-cmd --to-cmd --cc-cmd --header-cmd --smtp-server",
        Inner::Value("--sendmail-cmd --to-cmd --cc-cmd --header-cmd"),
    ),
    besides("git", "daemon", GIT, Inner::Value("--access-hook")),
    besides(
        "hyperfine",
        "",
        "-w -m -M -r -p -c -s -S -n -u --warmup --min-runs --max-runs --runs --prepare --conclude --setup --cleanup --shell --command-name --time-unit --style --parameter-list -L -P:3 --parameter-scan:3 -D --parameter-step-size --export-json --export-markdown --export-csv --export-asciidoc --export-orgmode --output --input --reference --reference-name",
        Inner::Value("-p --prepare -c --cleanup -s --setup --conclude --reference -S --shell"),
    ),
    besides(
        "go",
        "build|test|run|install|vet|generate",
        "-exec -toolexec -o -run -tags -timeout -count -C -p -ldflags -gcflags -mod -modfile -bench -coverprofile",
        Inner::Value("-exec -toolexec"),
    ),
    besides("bat batcat", "", "-l -H -r --pager --language --theme --style", Inner::Value("--pager")),
    besides("fzf", "", "--bind --preview", Inner::Value("--preview")),
    besides("ansible", "", "-a --args -m --module-name", Inner::Value("-a --args")),
    besides("nodemon", "", "-x --exec -w --watch -e --ext -i --ignore", Inner::Value("-x --exec")),
    besides("wsl.exe wsl", "", "-d -u --distribution --user --cd -e --exec", Inner::Value("-e --exec")),
    besides("logrotate", "", "-m --mail -s --state -l --log", Inner::Value("-m --mail")),
    besides("script", "", "-c --command -O -I -B -E -T -m -o", Inner::Value("-c --command")),
];

const GIT_FETCH: &str = "-C -c --git-dir --work-tree --namespace -o -b --origin --branch -u --upload-pack --exec --depth -j --jobs --reference --config --template --filter";
const GIT_DIFFTOOL: &str = "-C -c --git-dir --work-tree -t --tool -x --extcmd";
const GIT_GREP: &str =
    "-C -c --git-dir --work-tree -A -B -e -f -m --threads --max-depth -O? --open-files-in-pager?";
