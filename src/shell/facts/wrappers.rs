//! Programs that run another one.

/// How a program names what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Inner {
    /// The words that follow are a program and its arguments.
    Words,
    /// They are joined and read by a shell.
    Script,
    /// The value of one of these options is read by a shell.
    Value(&'static str),
    /// The value of one of these options is read by a shell; without it the words are a program.
    ValueOrWords(&'static str),
    /// The first operand is read by a shell.
    First,
}

/// A program that runs another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wrapper {
    /// Its names.
    pub names: &'static str,
    /// Its subcommands, `|` between alternatives.
    pub sub: &'static str,
    /// Options with a value.
    pub takes: &'static str,
    /// How many operands come before the program.
    pub skip: usize,
    /// How the program is named.
    pub inner: Inner,
    /// Whether it runs on another machine.
    pub elsewhere: bool,
    /// Whether its success is the program's.
    pub same_end: bool,
    /// Whether more words come from standard input.
    pub more: bool,
}

const fn local(
    names: &'static str,
    sub: &'static str,
    takes: &'static str,
    skip: usize,
    inner: Inner,
) -> Wrapper {
    Wrapper { names, sub, takes, skip, inner, elsewhere: false, same_end: true, more: false }
}

/// Of a program that ends well although what it runs did not, or before it has ended.
const fn by_itself(wrapper: Wrapper) -> Wrapper {
    Wrapper { same_end: false, ..wrapper }
}

const fn elsewhere(
    names: &'static str,
    sub: &'static str,
    takes: &'static str,
    skip: usize,
    inner: Inner,
) -> Wrapper {
    Wrapper { names, sub, takes, skip, inner, elsewhere: true, same_end: true, more: false }
}

const DOCKER: &str = "-e --env --env-file -u --user -w --workdir -v --volume --mount --name --network --net -p --publish --platform --entrypoint -h --hostname --add-host --cpus -m --memory --gpus --label -l --link --log-driver --pull --restart --shm-size --tmpfs --ulimit --device --dns --cap-add --cap-drop --security-opt --userns --cidfile --ipc --pid --detach-keys --index -f --file --project-name --profile -c --context -H --host --config --log-level";

/// All rows.
pub const WRAPPERS: &[Wrapper] = &[
    local("env", "", "-u -C -S --unset --chdir --split-string -P", 0, Inner::Words),
    local(
        "sudo",
        "",
        "-u -g -h -p -C -r -t -T -D -R -U --user --group --host --prompt --chdir --close-from --role --type --chroot --other-user --command-timeout",
        0,
        Inner::Words,
    ),
    local("doas", "", "-u -C -a", 0, Inner::Words),
    local(
        "su runuser",
        "",
        "-c -s -g -G -u --command --session-command --shell --group --user",
        0,
        Inner::Value("-c --command --session-command"),
    ),
    local("runuser", "", "-u --user -g --group -G --supp-group", 0, Inner::Words),
    local("time gtime", "", "-f -o --format --output", 0, Inner::Words),
    local("timeout gtimeout", "", "-s -k --signal --kill-after", 1, Inner::Words),
    local("nice ionice", "", "-n -c -p --adjustment --class --classdata", 0, Inner::Words),
    local("chrt taskset", "", "-T -P -D", 1, Inner::Words),
    local(
        "nohup setsid builtin command exec unbuffer caffeinate chronic rlwrap torsocks torify proxychains proxychains4 tsocks catchsegv fakeroot eatmydata systemd-inhibit ltrace pkexec gosu-user busybox toybox noglob nocorrect winpty dbus-run-session xvfb-run noti ts-exec",
        "",
        "-a -n -s -e -o -p -f --server-num --server-args --what --who --why --mode",
        0,
        Inner::Words,
    ),
    local("coproc", "", "", 0, Inner::Words),
    local("!", "", "", 0, Inner::Words),
    local("stdbuf", "", "-i -o -e --input --output --error", 0, Inner::Words),
    local(
        "strace perf-record valgrind hyperfine-exec heaptrack",
        "",
        "-e -o -p -s -u -P -E --trace --output",
        0,
        Inner::Words,
    ),
    local(
        "hyperfine",
        "",
        "-w -m -M -r -p -c -S -N -n --warmup --runs --prepare --cleanup --shell --export-json --export-markdown",
        0,
        Inner::First,
    ),
    local("gosu su-exec chpst setpriv", "", "-u --reuid --regid", 1, Inner::Words),
    local(
        "flock",
        "",
        "-w -E -c --wait --timeout --conflict-exit-code --command",
        1,
        Inner::ValueOrWords("-c --command"),
    ),
    local("chroot", "", "--userspec --groups", 1, Inner::Words),
    local(
        "unshare nsenter firejail bwrap",
        "",
        "-t --target -u --unit -p --property --uid --gid --map-user --slice",
        0,
        Inner::Words,
    ),
    by_itself(local(
        "systemd-run",
        "",
        "-t --target -u --unit -p --property --uid --gid --map-user --slice",
        0,
        Inner::Words,
    )),
    by_itself(local("watch", "", "-n --interval -q", 0, Inner::Script)),
    by_itself(local("entr", "", "", 0, Inner::Words)),
    by_itself(local("script", "", "-c --command -O -I -E -T", 1, Inner::ValueOrWords("-c --command"))),
    local("direnv", "exec", "", 1, Inner::Words),
    local("dotenv dotenvx", "run|", "-e -f -c -p -v --env-file", 0, Inner::Words),
    local(
        "op doppler infisical chamber",
        "run|exec",
        "--env-file -p --project -c --config --env --path --account --token",
        0,
        Inner::Words,
    ),
    local("aws-vault", "exec", "-d --duration --region", 1, Inner::Words),
    local("mise asdf rtx", "exec|x", "-C --cd -c --command", 0, Inner::ValueOrWords("-c --command")),
    local("pyenv rbenv nodenv goenv", "exec", "", 0, Inner::Words),
    local("bundle bundler", "exec", "", 0, Inner::Words),
    local("volta", "run", "--node --npm --yarn", 0, Inner::Words),
    local("fnm nvm", "exec", "--using", 0, Inner::Words),
    local("poetry pipenv hatch pdm rye", "run", "-C -P --directory --project -p -e", 0, Inner::Words),
    local(
        "uv",
        "run",
        "-p --python --with --with-requirements --extra --group --package --project --directory --env-file --index-url --default-index --from -m --module --index --only-group",
        0,
        Inner::Words,
    ),
    local("uvx pipx-run", "", "-p --python --with --from --index-url --refresh-package", 0, Inner::Words),
    local("uv", "tool run|x", "-p --python --with --from --index-url", 0, Inner::Words),
    local("pipx", "run", "--spec --python --pip-args --index-url", 0, Inner::Words),
    local("conda mamba micromamba", "run", "-n -p --name --prefix --cwd", 0, Inner::Words),
    local(
        "npx bunx pnpx",
        "",
        "-p --package -c --call -w --workspace --prefix",
        0,
        Inner::ValueOrWords("-c --call"),
    ),
    local(
        "npm",
        "exec|x",
        "-p --package -c --call -w --workspace --prefix -C",
        0,
        Inner::ValueOrWords("-c --call"),
    ),
    local("pnpm yarn", "exec|dlx|x", "-C --dir --cwd --filter -F --package -p", 0, Inner::Words),
    local("bun", "x", "-p --package", 0, Inner::Words),
    local("lerna turbo", "exec", "--scope --ignore --concurrency", 0, Inner::Words),
    local("nix-shell", "", "--run --command -p -A -I --arg --argstr", 0, Inner::Value("--run --command")),
    by_itself(local(
        "tmux",
        "new|new-session|neww|new-window|splitw|split-window|run|run-shell|respawn-pane",
        "-s -n -c -t -x -y -F -e -L -S -f",
        0,
        Inner::Script,
    )),
    by_itself(local("tmux", "send-keys|send", "-t -N -c -L -S -f", 0, Inner::Script)),
    by_itself(local("screen", "", "-S -L -T -s -t -c -h -e -p -X", 0, Inner::Words)),
    local("git", "submodule foreach", "-C -c --git-dir --work-tree", 0, Inner::Script),
    by_itself(local("git", "bisect run", "-C -c --git-dir --work-tree", 0, Inner::Words)),
    local(
        "git",
        "rebase",
        "-C -c --git-dir --work-tree -x --exec --onto -s -X",
        0,
        Inner::Value("-x --exec"),
    ),
    local(
        "git",
        "filter-branch",
        "-C -c --git-dir --work-tree --tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter --subdirectory-filter",
        0,
        Inner::Value(
            "--tree-filter --index-filter --msg-filter --env-filter --commit-filter --parent-filter --tag-name-filter",
        ),
    ),
    by_itself(local("cargo", "watch", "-s -x -w -i --shell --exec", 0, Inner::Value("-s --shell"))),
    local("npm-run-script concurrently", "", "-n --names -c -k", 0, Inner::First),
    Wrapper {
        names: "xargs gxargs",
        sub: "",
        takes: "-I -i -n -P -d -E -e -L -l -s -a --replace --max-args --max-procs --delimiter --eof --max-lines --max-chars --arg-file",
        skip: 0,
        inner: Inner::Words,
        elsewhere: false,
        same_end: false,
        more: true,
    },
    Wrapper {
        names: "parallel",
        sub: "",
        takes: "-j -n -N -L -I -C -S --jobs --colsep --delay --timeout --joblog --results --max-args --tmpdir --arg-file -a",
        skip: 0,
        inner: Inner::Script,
        elsewhere: false,
        same_end: false,
        more: true,
    },
    elsewhere(
        "ssh autossh mosh",
        "",
        "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -Q -R -S -W -w -B -M",
        1,
        Inner::Script,
    ),
    elsewhere(
        "docker podman nerdctl",
        "exec|run|container exec|container run|create|container create",
        DOCKER,
        1,
        Inner::Words,
    ),
    elsewhere("docker podman nerdctl", "compose exec|compose run", DOCKER, 1, Inner::Words),
    elsewhere("docker-compose podman-compose", "exec|run", DOCKER, 1, Inner::Words),
    elsewhere("lxc incus", "exec", "--cwd --env --user --group --mode", 1, Inner::Words),
    elsewhere(
        "kubectl oc k",
        "exec",
        "-n --namespace --context --cluster --user --kubeconfig -s --server -c --container --as --token -f --filename",
        1,
        Inner::Words,
    ),
    elsewhere(
        "kubectl oc k",
        "run|debug",
        "-n --namespace --context --cluster --user --kubeconfig -s --server --image --overrides --env --labels -l --restart --port --target -c --container",
        1,
        Inner::Words,
    ),
    elsewhere("vagrant", "ssh", "-c --command -p", 0, Inner::Value("-c --command")),
    elsewhere("heroku", "run", "-a --app -r --remote -s --size -e --env", 0, Inner::Words),
    elsewhere(
        "fly flyctl",
        "ssh console",
        "-a --app -C --command -c --config -s -u --user",
        0,
        Inner::Value("-C --command"),
    ),
    elsewhere(
        "gcloud",
        "compute ssh",
        "--command --project --zone --account --ssh-flag --ssh-key-file",
        0,
        Inner::Value("--command"),
    ),
    elsewhere(
        "devcontainer",
        "exec",
        "--workspace-folder --container-id --remote-env --config",
        0,
        Inner::Words,
    ),
    elsewhere("wsl wsl.exe", "", "-d -u --distribution --user --cd", 0, Inner::Words),
];

/// The rows of a program.
pub fn wrappers(name: &str) -> impl Iterator<Item = &'static Wrapper> {
    WRAPPERS.iter().filter(move |row| row.names.split(' ').any(|known| known == name))
}

/// Shells whose `-c` takes a script.
const SHELLS: [&str; 10] = ["bash", "sh", "zsh", "dash", "ksh", "ash", "mksh", "rbash", "fish", "yash"];

/// Whether a program is a shell.
pub fn is_shell(name: &str) -> bool {
    SHELLS.contains(&name)
}
