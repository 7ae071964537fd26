//! Subcommands that programs have themselves. What else is named is a plugin, a script or an alias: code that nobody read.

/// Programs, each with its own subcommands.
const OWN: &[(&str, &str)] = &[
    ("git", GIT),
    ("cargo", CARGO),
    ("npm", NPM),
    ("yarn yarnpkg", YARN),
    ("pnpm", PNPM),
    ("kubectl oc k kubectl.exe microk8s.kubectl", KUBECTL),
    ("gh", GH),
    ("helm", HELM),
];

const GIT: &str = "add am annotate apply archive bisect blame branch bundle cat-file check-attr check-ignore check-mailmap check-ref-format checkout checkout--worker checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config count-objects credential credential-cache credential-store daemon describe diagnose diff diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch filter-repo fmt-merge-msg for-each-ref for-each-repo format-patch fsck fsck-objects fsmonitor--daemon gc get-tar-commit-id grep gui gui--askpass hash-object help hook http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers last-modified lfs log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file merge-ours merge-recursive merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes p4 pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase receive-pack reflog refs remote repack replace replay repo request-pull rerere reset restore rev-list rev-parse revert rm scalar send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule subtree svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive upload-pack var verify-commit verify-pack verify-tag version web--browse whatchanged worktree write-tree gitk";
const CARGO: &str = "add b bench build c check clean clippy config d doc fetch fix fmt generate-lockfile git-checkout help info init install locate-project login logout metadata miri new nextest owner package pkgid publish r read-manifest remove report rm run rustc rustdoc search t test tree uninstall update vendor verify-project version watch yank audit bloat deny expand hack llvm-cov machete outdated semver-checks tarpaulin udeps upgrade binstall criterion flamegraph fuzz insta llvm-lines mutants sort";
const NPM: &str = "access add add-user adduser audit author author bin bugs c cache cit clean-install clean-install-test completion config create ddp dedupe deprecate diff dist-tag dist-tags docs doctor edit exec explain explore find find-dupes fund get h help help-search hlep home i ic in info init innit ins inst insta instal install install-clean install-ci-test install-test isnt isnta isntal isntall isntall-clean issues it la link list ll ln login logout ls org ogr outdated owner pack ping pkg prefix profile prune publish query r rb rebuild remove repo restart rm root rum run run-script s sbom se search set show sit star stars start stop t team test token tst ud un undeprecate uninstall unlink unpublish unstar up update upgrade urn v verison version view whoami why x";
const YARN: &str = "access add audit autoclean bin build cache check config constraints create dedupe dev dlx exec explain generate-lock-entry global help import info init install licenses link lint list login logout node npm outdated owner pack patch patch-commit plugin policies publish rebuild remove run search set start stage tag team test unlink unplug unpublish up update upgrade upgrade-interactive version versions view why whoami workspace workspaces";
const PNPM: &str = "add approve-builds audit bin build c cache cat-file cat-index ci config create dedupe deploy dev dlx doctor env exec fetch find-hash get help i ignored-builds import info init install install-test it link lint licenses list ll ln login logout la ls outdated pack patch patch-commit patch-remove prune publish rb rebuild recursive remove restart rm root run run-script self-update server set setup start stop store t test tst un uninstall unlink unpublish up update upgrade view whoami why with x";
const KUBECTL: &str = "adm admin alpha annotate api-resources api-versions apply attach auth autoscale cancel-build certificate cluster-info completion config convert cordon cp create debug delete deployment describe diff drain edit events exec explain expose extract get get-token help idle image import-image kuberc kustomize label login logout logs logout new-app new-build new-project observe options patch plugin policy port-forward process project projects proxy registry replace rollback rollout rsh rsync run scale secrets sa serviceaccounts set start-build status tag taint template top uncordon version wait whoami";
const GH: &str = "accessibility agent-task alias api attestation auth browse cache co codespace completion config copilot cs extension ext extensions gist gpg-key help issue label licenses org pr preview project release repo reference ruleset run search secret ssh-key status variable version workflow";
const HELM: &str = "completion create dep dependency delete del diff env fetch get help hist history inspect install lint list ls package plugin pull push registry repo rollback search secrets show status template test un uninstall upgrade verify version";

/// Whether a program of which the subcommands are known has none of this name.
pub fn is_foreign(name: &str, sub: &str) -> bool {
    let own = OWN.iter().find(|(names, _)| names.split(' ').any(|known| known == name));
    own.is_some_and(|(_, own)| !own.split(' ').any(|known| known == sub))
}

/// The subcommand of git that is a program in git's own folder: `git-push`. `git-lfs` is somebody else's.
pub fn command_of_git(program: &str) -> Option<&str> {
    let sub = program.strip_prefix("git-").filter(|sub| *sub != "lfs")?;
    GIT.split(' ').find(|known| *known == sub)
}
