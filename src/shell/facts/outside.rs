//! Programs that run another one on another machine, or in a container.

use super::wrapper::{FLATPAK, Inner, Wrapper, alone, by_itself, detached, elsewhere, listed, unless};

/// Options of containers with a value.
const DOCKER: &str = "-e --env --env-file -u --user -w --workdir -v --volume --mount --name --network --net -p --publish --platform --entrypoint -h --hostname --add-host --cpus -m --memory --gpus --label -l --label-file --link --log-driver --log-opt --pull --restart --shm-size --tmpfs --ulimit --device --dns --dns-opt --dns-option --dns-search --domainname --cap-add --cap-drop --security-opt --userns --cidfile --ipc --pid --pids-limit --detach-keys --index -f --file --project-name --profile --project-directory -c --cpu-shares --context -H --host --config --log-level --tlscacert --tlscert --tlskey -a --attach --annotation --blkio-weight --blkio-weight-device --cgroup-parent --cgroupns --cpu-count --cpu-percent --cpu-period --cpu-quota --cpu-rt-period --cpu-rt-runtime --cpuset-cpus --cpuset-mems --device-cgroup-rule --device-read-bps --device-read-iops --device-write-bps --device-write-iops --expose --group-add --health-cmd --health-interval --health-retries --health-start-interval --health-start-period --health-timeout --io-maxbandwidth --io-maxiops --ip --ip6 --isolation --kernel-memory --link-local-ip --mac-address --memory-reservation --memory-swap --memory-swappiness --network-alias --net-alias --oom-score-adj --runtime --stop-signal --stop-timeout --storage-opt --sysctl --uts --volume-driver --volumes-from --secret --pod --authfile --systemd --tz --umask --arch --os --variant --hostuser --conmon-pidfile --pidfile --creds --unsetenv --cert-dir --chrootdirs --cgroup-conf --cgroups --gidmap --uidmap --subgidname --subuidname --group-entry --passwd-entry --image-volume --init-path --personality --preserve-fds --preserve-fd --requires --retry --retry-delay --sdnotify --seccomp-policy --timeout --pod-id-file --connection --url --identity --namespace -n --address --storage-driver --root --parallel --progress --ansi --scale --index";
/// Options of containers without one.
const DOCKER_FLAGS: &str = "-d --detach -i --interactive -t --tty --rm --privileged --init --read-only --no-healthcheck --oom-kill-disable --sig-proxy -P --publish-all -q --quiet --disable-content-trust --help --use-api-socket --no-hosts --no-hostname --read-only-tmpfs --replace --rmi --rootfs --tls-verify --env-host --http-proxy --unsetenv-all -T --no-TTY --no-deps --service-ports --use-aliases --build --remove-orphans --quiet-pull -D --debug --tls --tlsverify -l --latest -r --remote --no-tty";
/// Options with which they do not wait for the command.
const DETACHED: &str = "-d --detach";
const KUBECTL: &str = "-n --namespace --context --cluster --user --kubeconfig -s --server -c --container --as --as-group --as-uid --token -f --filename --request-timeout --certificate-authority --client-key --client-certificate -v --v --pod-running-timeout --cache-dir --profile --tls-server-name --image --overrides --override-type --env --labels -l --restart --port --target --grace-period --image-pull-policy --annotations --dry-run --field-manager -o --output --template --timeout --limits --requests --copy-to";
const KUBECTL_FLAGS: &str = "-i --stdin -t --tty -q --quiet --rm --attach --command --expose --leave-stdin-open --privileged --wait --share-processes --same-node --replace --arguments-only --keep-annotations --keep-labels --keep-liveness --keep-readiness --keep-startup --keep-init-containers --insecure-skip-tls-verify --match-server-version --warnings-as-errors --disable-compression --force --allow-missing-template-keys -T --no-tty";
/// Options with which it waits for the command.
const ATTACHED: &str = "-i --stdin -t --tty --attach";
const SSH: &str = "-b -c -D -E -e -F -I -i -J -L -l -m -O -o -p -P -Q -R -S -W -w -B -M:0";

/// The rows.
pub const ROWS: &[Wrapper] = &[
    alone("*", detached("-f", elsewhere("ssh sshrc", "", SSH, 1, Inner::Script))),
    alone(
        "*",
        detached(
            "-f",
            elsewhere(
                "autossh",
                "",
                "-b -c -D -E -e -F -I -i -J -L -l -m -M -O -o -p -P -Q -R -S -W -w -B",
                1,
                Inner::Script,
            ),
        ),
    ),
    alone(
        "*",
        elsewhere("mosh", "", "-p --port --ssh --client --server --predict --family", 1, Inner::Words),
    ),
    alone(
        "*",
        detached(
            "-f --fork-after-authentication",
            elsewhere(
                "tsh",
                "ssh",
                "-l --login --proxy --user -L -i -o -p --port --ttl --cluster",
                1,
                Inner::Script,
            ),
        ),
    ),
    alone("*", elsewhere("et", "", "-c -p -t -r --port --command", 1, Inner::Value("-c --command"))),
    elsewhere(
        "pssh parallel-ssh dsh",
        "",
        "-h -H -w -l -p -t -o -e -x -O -f -m -g -a:0 --hosts --host --user --par --timeout --outdir --errdir",
        0,
        Inner::Script,
    ),
    unless(
        "-S",
        elsewhere(
            "pdsh clush",
            "",
            "-h -H -w -l -p -t -o -e -x -O -f -m -g -a:0 --hosts --host --user --par --timeout --outdir --errdir",
            0,
            Inner::Script,
        ),
    ),
    listed(
        DOCKER_FLAGS,
        alone(
            "*",
            detached(
                DETACHED,
                elsewhere(
                    "docker podman nerdctl finch",
                    "exec|run|container exec|container run",
                    DOCKER,
                    1,
                    Inner::Words,
                ),
            ),
        ),
    ),
    // What is created is not started.
    listed(
        DOCKER_FLAGS,
        alone(
            "*",
            by_itself(elsewhere(
                "docker podman nerdctl finch",
                "create|container create",
                DOCKER,
                1,
                Inner::Words,
            )),
        ),
    ),
    listed(
        DOCKER_FLAGS,
        detached(
            DETACHED,
            elsewhere("docker podman nerdctl finch", "compose exec|compose run", DOCKER, 1, Inner::Words),
        ),
    ),
    listed(
        DOCKER_FLAGS,
        detached(DETACHED, elsewhere("docker-compose podman-compose", "exec|run", DOCKER, 1, Inner::Words)),
    ),
    listed(
        "-d --devel -p --die-with-parent --file-forwarding --log-session-bus --log-system-bus --sandbox --no-a11y-bus --no-session-bus --no-documents-portal --parent-expose-pids --parent-share-pids --user --system --clear-env -v --verbose --ostree-verbose",
        elsewhere(
            FLATPAK,
            "run",
            "--arch --branch --command --cwd --commit --runtime --runtime-version --runtime-commit --app-path --usr-path --parent-pid --instance-id-fd --share --unshare --socket --nosocket --device --nodevice --allow --disallow --filesystem --nofilesystem --add-policy --remove-policy --env --unset-env --env-fd --own-name --talk-name --no-talk-name --system-own-name --system-talk-name --system-no-talk-name --a11y-own-name --persist --installation --usb --nousb --bind-fd --ro-bind-fd",
            1,
            Inner::Words,
        ),
    ),
    elsewhere("lxc incus", "exec", "--cwd --env --user --group --mode --project", 1, Inner::Words),
    alone("*", elsewhere("lxc incus", "shell", "--cwd --env --user --group --mode", 1, Inner::Words)),
    alone(
        "*",
        elsewhere("lxc-attach", "", "-n --name -e -s -u -g -v --set-var --uid --gid", 0, Inner::Words),
    ),
    elsewhere("kubectl oc k kubectl.exe microk8s.kubectl", "exec|rsh", KUBECTL, 0, Inner::After("--")),
    unless(
        ATTACHED,
        elsewhere("kubectl oc k kubectl.exe microk8s.kubectl", "run|debug", KUBECTL, 0, Inner::After("--")),
    ),
    listed(
        KUBECTL_FLAGS,
        elsewhere("kubectl oc k kubectl.exe microk8s.kubectl", "exec", KUBECTL, 1, Inner::Words),
    ),
    listed(
        KUBECTL_FLAGS,
        unless(
            ATTACHED,
            elsewhere("kubectl oc k kubectl.exe microk8s.kubectl", "run|debug", KUBECTL, 1, Inner::Words),
        ),
    ),
    alone(
        "*",
        listed(
            "-t --tty -T --no-tty",
            elsewhere("oc", "rsh", "-c --container -n --namespace --shell --timeout", 1, Inner::Words),
        ),
    ),
    alone("*", elsewhere("vagrant", "ssh", "-c --command -p", 0, Inner::Value("-c --command"))),
    unless(
        "-x --exit-code",
        elsewhere(
            "heroku",
            "run|run:inside",
            "-a --app -r --remote -s --size -e --env --type",
            0,
            Inner::Words,
        ),
    ),
    by_itself(elsewhere(
        "heroku",
        "run:detached",
        "-a --app -r --remote -s --size -e --env --type",
        0,
        Inner::Words,
    )),
    alone(
        "*",
        elsewhere(
            "fly flyctl",
            "ssh console",
            "-a --app -C --command -c --config -s -u --user -r --region -o --org --machine --container",
            0,
            Inner::Value("-C --command"),
        ),
    ),
    elsewhere(
        "fly flyctl",
        "machine exec|m exec",
        "-a --app -c --config --timeout --container",
        1,
        Inner::Script,
    ),
    // Words after `--` are for `ssh`: its options, and a command. What begins with an option is a program that nobody knows.
    elsewhere(
        "gcloud",
        "compute ssh|cloud-shell ssh|compute tpus tpu-vm ssh",
        "--project --zone --account --worker",
        0,
        Inner::After("--"),
    ),
    alone(
        "*",
        elsewhere(
            "gcloud",
            "compute ssh",
            "--command --project --zone --account --ssh-flag --ssh-key-file --container --strict-host-key-checking --configuration",
            0,
            Inner::Value("--command"),
        ),
    ),
    elsewhere(
        "gh",
        "codespace ssh|cs ssh",
        "-c --codespace -R --repo --profile --server-port",
        0,
        Inner::After("--"),
    ),
    elsewhere(
        "gh",
        "codespace ssh|cs ssh",
        "-c --codespace -R --repo --profile --server-port",
        0,
        Inner::Script,
    ),
    alone(
        "*",
        elsewhere(
            "gcloud",
            "cloud-shell ssh|compute tpus tpu-vm ssh",
            "--command --project --zone --account --worker",
            0,
            Inner::Value("--command"),
        ),
    ),
    // These say nothing of how the command has ended.
    by_itself(elsewhere(
        "aws",
        "ecs execute-command",
        "--cluster --task --container --command --region --profile",
        0,
        Inner::Value("--command"),
    )),
    by_itself(elsewhere(
        "az",
        "vm run-command invoke|container exec|containerapp exec",
        "--scripts --exec-command --command -g --resource-group -n --name --command-id",
        0,
        Inner::Value("--scripts --exec-command --command"),
    )),
    alone(
        "*",
        elsewhere(
            "railway",
            "ssh",
            "-p --project -s --service -e --environment -d --deployment-instance",
            0,
            Inner::Words,
        ),
    ),
    elsewhere("railway", "run", "-p --project -s --service -e --environment", 0, Inner::Words),
    listed(
        "--remove-existing-container --skip-post-create",
        elsewhere(
            "devcontainer",
            "exec",
            "--workspace-folder --container-id --remote-env --config --id-label --docker-path --override-config --log-level --log-format --user-data-folder",
            0,
            Inner::Words,
        ),
    ),
    alone(
        "*",
        elsewhere("wsl wsl.exe", "", "-d -u --distribution --user --cd --shell-type", 0, Inner::Words),
    ),
    alone(
        "*",
        elsewhere(
            "multipass limactl distrobox toolbox",
            "shell|enter",
            "--workdir -w -c --container -n --name --shell -u --uid -E --setenv -r --release -d --distro",
            1,
            Inner::Words,
        ),
    ),
    alone("*", by_itself(elsewhere("machinectl", "shell", "--uid -E --setenv", 1, Inner::Words))),
    elsewhere("multipass", "exec", "-d --working-directory", 1, Inner::Words),
    elsewhere("toolbox", "run", "-c --container -d --distro -r --release", 0, Inner::Words),
    alone("*", elsewhere("distrobox-enter", "", "-n --name -a --additional-flags", 0, Inner::Words)),
    elsewhere("lima orb", "", "-m -u -w --machine --user --workdir", 0, Inner::Words),
    alone("*", elsewhere("colima", "ssh", "-p --profile", 0, Inner::Words)),
    alone("*", elsewhere("minikube", "ssh", "-p --profile -n --node", 0, Inner::Script)),
];
