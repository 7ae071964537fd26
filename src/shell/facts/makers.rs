//! Programs that make files of others: compilers, bundlers, formatters, converters, archives.
//!
//! Most do more than their words say, by settings and plugins: they are opaque besides.

use super::row::At::{All, ButLast, First, Here, Last, LocalButLast, LocalLast, Rest, RestOrHere, Value};
use super::row::Does::{Deletes, In, Opaque, Reaches, Reads, ReadsDeep, With, Without, Writes, WritesDeep};
use super::row::Net::Remotes;
use super::row::{Program, one_dash, row};

/// What a program that formats sources does with `write`.
macro_rules! formatter {
    ($names:literal, $takes:literal, $write:literal) => {
        row($names, "", $takes, $write, &[Reads(All), With($write, &Writes(All)), Opaque])
    };
}

/// The rows.
pub const PROGRAMS: &[Program] = &[
    row(
        "gcc cc g++ c++ clang clang++ gfortran tcc",
        "",
        "-o -MF -MT -MQ -x -I -L -l -D -U -include -isystem -iquote -idirafter -T -u -Xlinker -arch -target --param",
        "-c -S -E -g -v -w -M -MM -MD -MMD -MP",
        &[Reads(All), Reads(Value("-include")), Writes(Value("-o -MF")), Opaque],
    ),
    // Names may hold another language, a command, and a file in both.
    one_dash("magick", "identify", "", "", &[Reads(All), Opaque]),
    one_dash("magick", "mogrify", "", "", &[Reads(All), Writes(All), Opaque]),
    one_dash("convert magick montage composite", "", "", "", &[Reads(ButLast), Writes(Last), Opaque]),
    one_dash("identify", "", "", "", &[Reads(All), Opaque]),
    one_dash("mogrify", "", "", "", &[Reads(All), Writes(All), Opaque]),
    row(
        "ld ld.lld ld.gold lld mold",
        "",
        "-o -L -l -T -m -e -Map",
        "",
        &[Reads(All), Writes(Value("-o -Map"))],
    ),
    row(
        "rustc",
        "",
        "-o --out-dir --crate-name --crate-type --edition -C -L -l --emit --target --cfg --extern -A -W -D -F",
        "-O -g -v",
        &[Reads(All), Writes(Value("-o")), WritesDeep(Value("--out-dir")), Opaque],
    ),
    one_dash(
        "javac kotlinc scalac",
        "",
        "-d -cp -classpath -s -h -source -target --release -sourcepath",
        "",
        &[Reads(All), Writes(Value("-d")), WritesDeep(Value("-d -h -s")), Opaque],
    ),
    row(
        "tsc",
        "",
        "-p --project --outDir --outFile --declarationDir --rootDir -t --target -m --module --tsBuildInfoFile",
        "-w --watch -b --build --noEmit",
        &[
            WritesDeep(Value("--outDir --declarationDir")),
            Writes(Value("--outFile --tsBuildInfoFile")),
            Opaque,
        ],
    ),
    row(
        "esbuild rollup webpack vite babel swc parcel",
        "",
        "-o --outfile --outdir --out-file --out-dir --outDir --output-path --file --dir --dist-dir -d -c --config -i -f",
        "-w --watch",
        &[
            Writes(Value("-o --outfile --out-file --file")),
            WritesDeep(Value("-o --outdir --out-dir --outDir --output-path --dir --dist-dir -d")),
            Opaque,
        ],
    ),
    formatter!("prettier", "--config --parser --ignore-path --plugin --log-level", "-w --write"),
    formatter!(
        "eslint stylelint standard xo oxlint",
        "-c --config --ext --rulesdir -f --format -o --output-file",
        "--fix"
    ),
    formatter!("clang-format autopep8 yapf", "--style --max-line-length -e --exclude", "-i --in-place"),
    row(
        "shfmt goimports gofumpt",
        "",
        "-i -ln -local",
        "-w --write -l --list -d --diff",
        &[Reads(All), With("-w --write", &Writes(All)), Opaque],
    ),
    formatter!("rubocop", "--only --except -c --config --format", "-a -A --autocorrect --autocorrect-all"),
    one_dash(
        "gofmt",
        "",
        "-r -cpuprofile",
        "-l -d -s -e -w",
        &[Reads(All), With("-w", &Writes(All)), Opaque],
    ),
    row(
        "black isort",
        "",
        "-l --line-length -t --target-version --config --exclude --include -c",
        "--check --diff -q -v",
        &[Reads(All), Without("--check --check-only --diff", &Writes(All)), Opaque],
    ),
    row(
        "rustfmt",
        "",
        "--config --edition --emit --config-path",
        "--check",
        &[Reads(All), Without("--check", &Writes(All))],
    ),
    row(
        "ruff",
        "",
        "--config --select --ignore --exclude --line-length",
        "--fix --check --diff --unsafe-fixes",
        &[Opaque],
    ),
    row("ruff", "format", "", "", &[Reads(All), Without("--check --diff", &Writes(All))]),
    row("ruff", "check", "", "", &[Reads(All), With("--fix --fix-only", &Writes(All))]),
    one_dash(
        "ffmpeg",
        "",
        "-i -f -c -ss -t -to -vf -af -filter_complex -map -r -s -b",
        "-y -n",
        &[Reads(Value("-i")), Writes(All), Reaches(Remotes), Opaque],
    ),
    row(
        "pandoc",
        "",
        "-o --output -f --from -t --to -r -w --template -F --filter -L --lua-filter -H --include-in-header -B -A --css -c --bibliography --metadata-file -d --defaults --resource-path --extract-media --pdf-engine -V -M",
        "-s --standalone --toc -N",
        &[
            Reads(All),
            Reads(Value(
                "--template -H --include-in-header -B -A --bibliography --metadata-file -d --defaults",
            )),
            Writes(Value("-o --output")),
            WritesDeep(Value("--extract-media")),
            Opaque,
        ],
    ),
    row(
        "pdftotext pdftohtml pdftoppm ps2pdf",
        "",
        "-f -l -r -enc",
        "-layout -q",
        &[Reads(First), Writes(Rest)],
    ),
    row("wkhtmltopdf wkhtmltoimage", "", "", "", &[Reads(All), Writes(Last), Reaches(Remotes), Opaque]),
    row(
        "cpio",
        "",
        "-D --directory -F --file -H --format -I -O -E -C -M -R",
        "-i --extract -o --create -p --pass-through -t --list -d -m -u -v",
        &[
            Reads(Value("-I -E -F --file")),
            Writes(Value("-O")),
            With("-o --create", &Writes(Value("-F --file"))),
            With("-i --extract", &Without("-t --list", &In("-D --directory", &WritesDeep(Here)))),
            Opaque,
        ],
    ),
    row("unrar rar", "", "-p -w", "-y", &[Opaque]),
    row("unrar rar", "x|e", "", "", &[Reads(First), WritesDeep(RestOrHere)]),
    // `python -m zipfile -e FILE FOLDER`.
    row(
        "zipfile tarfile",
        "",
        "",
        "-e --extract -c --create -l -t",
        &[
            Without("-c --create", &Reads(First)),
            With("-c --create", &Writes(First)),
            With("-c --create", &ReadsDeep(Rest)),
            With("-e --extract", &WritesDeep(Rest)),
        ],
    ),
    row(
        "virtualenv venv",
        "",
        "-p --python --prompt",
        "--clear --system-site-packages --upgrade-deps --without-pip",
        &[WritesDeep(All), Opaque],
    ),
    row("uv", "venv", "-p --python --prompt", "--seed --clear", &[WritesDeep(All)]),
    row("fallocate", "", "-l --length -o --offset", "", &[Writes(All)]),
    row("tree", "", "-o -L -I -P --filelimit --charset", "", &[Writes(Value("-o"))]),
    row(
        "tcpdump tshark dumpcap",
        "",
        "-w -r -i -c -s -C -G -z -f -Y",
        "-n -v",
        &[Writes(Value("-w")), Reads(Value("-r")), Opaque],
    ),
    // What they write beside what they run.
    row("strace ltrace time gtime", "", "-o --output -e -p -s -f", "-v", &[Writes(Value("-o --output"))]),
    row("perf", "record|stat|trace", "-o --output -e -F -p", "-a -g", &[Writes(Value("-o --output"))]),
    one_dash(
        "go",
        "build|test",
        "-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir -exec -toolexec -p -ldflags -gcflags -asmflags -mod -modfile -overlay -bench -benchtime -parallel -cpu -list -skip -fuzz -fuzztime -buildmode",
        "-x -a -n -msan -asan -cover -short -json -c -i -trimpath -work -failfast -benchmem",
        &[Writes(Value("-o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace"))],
    ),
    row("cargo", "new|init", "--name --edition --vcs", "--bin --lib", &[WritesDeep(All)]),
    row(
        "ruby",
        "",
        "-e -E -r -I -C",
        "-n -p -i -w -v=--version -h=--help",
        &[
            Without("-v -V --version -h --help", &Opaque),
            With("-n -p -i", &Reads(All)),
            With("-i", &Writes(All)),
        ],
    ),
    row("lz4", "", "", "--rm -d -k -f -c", &[Reads(First), Writes(Rest), With("--rm", &Deletes(First))]),
    row(
        "docker podman nerdctl",
        "compose cp",
        "--index",
        "-a -L --all",
        &[ReadsDeep(LocalButLast), Writes(LocalLast)],
    ),
    row(
        "docker-compose podman-compose",
        "cp",
        "--index",
        "-a -L --all",
        &[ReadsDeep(LocalButLast), Writes(LocalLast)],
    ),
];
