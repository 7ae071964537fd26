//! Clients of databases.

use super::row::At::{All, First, Value};
use super::row::Does::{Opaque, Reaches, Reads, ReadsDeep, With, Writes};
use super::row::Net::{Listed, Remotes, UrlValue, Value as Named, Variable};
use super::row::{Program, row};

/// A program of PostgreSQL, with the options that all of them have.
macro_rules! postgres {
    ($names:literal, $takes:literal, $flags:literal, [$($does:expr),* $(,)?] $(,)?) => {
        row(
            $names,
            "",
            concat!("-h=--host -p=--port -U=--username ", $takes),
            concat!("-w=--no-password -W=--password -V=--version -?=--help ", $flags),
            &[
                Reaches(Named("-h --host")),
                Reaches(Variable("PGHOST")),
                Reaches(Variable("PGHOSTADDR")),
                Reaches(UrlValue("-d --dbname")),
                Reaches(Remotes),
                $($does),*
            ],
        )
    };
}

/// A program of MySQL, with the options that all of them have.
macro_rules! mysql {
    ($names:literal, $takes:literal, $flags:literal, [$($does:expr),* $(,)?] $(,)?) => {
        row(
            $names,
            "",
            concat!("-h=--host -P=--port -u=--user -S=--socket --defaults-file --defaults-extra-file --login-path --protocol ", $takes),
            concat!("-p=--password -v=--verbose -C=--compress --single-transaction ", $flags),
            &[
                Reaches(Named("-h --host")),
                Reaches(Variable("MYSQL_HOST")),
                With("--login-path", &Reaches(Listed("the settings of `--login-path`"))),
                Reads(Value("--defaults-file --defaults-extra-file")),
                $($does),*
            ],
        )
    };
}

/// The rows.
pub const PROGRAMS: &[Program] = &[
    postgres!(
        "psql",
        "-d=--dbname -f=--file -c=--command -v=--set --variable -o=--output -L=--log-file -P=--pset -F=--field-separator -R=--record-separator -T=--table-attr",
        "-q=--quiet -A=--no-align -X=--no-psqlrc -x=--expanded -1=--single-transaction -l=--list -E=--echo-hidden -e=--echo-queries -a=--echo-all -b=--echo-errors -s=--single-step -S=--single-line -n=--no-readline -t=--tuples-only -z -0 -H=--html --csv",
        [Reads(Value("-f --file")), Writes(Value("-o --output -L --log-file"))],
    ),
    postgres!(
        "pgbench",
        "-d -c=--client -j=--jobs -T=--time -t=--transactions -f=--file -s=--scale -F=--fillfactor -M=--protocol -D=--define -P=--progress -R=--rate -L=--latency-limit -b=--builtin -I=--init-steps",
        "-i=--initialize -n=--no-vacuum -v=--vacuum-all -C=--connect -l=--log -r=--report-per-command -q=--quiet -S=--select-only -N=--skip-some-updates",
        [Reads(Value("-f --file"))],
    ),
    postgres!(
        "pg_dump",
        "-d=--dbname -f=--file -F=--format -j=--jobs -Z=--compress -E=--encoding -n=--schema -N=--exclude-schema -S=--superuser -t=--table -T=--exclude-table -e=--extension --exclude-table-data --role --snapshot --section --lock-wait-timeout",
        "-a=--data-only -b=--large-objects -B -c=--clean -C=--create -O=--no-owner -s=--schema-only -v=--verbose -x=--no-privileges --if-exists --inserts --no-acl --column-inserts",
        [Writes(Value("-f --file"))],
    ),
    postgres!(
        "pg_dumpall",
        "-d=--dbname -f=--file -E=--encoding -l=--database -S=--superuser --exclude-database --role",
        "-a=--data-only -c=--clean -g=--globals-only -O=--no-owner -r=--roles-only -s=--schema-only -t=--tablespaces-only -v=--verbose -x=--no-privileges --if-exists",
        [Writes(Value("-f --file"))],
    ),
    postgres!(
        "pg_restore",
        "-d=--dbname -f=--file -F=--format -I=--index -j=--jobs -L=--use-list -n=--schema -N=--exclude-schema -P=--function -S=--superuser -t=--table -T=--trigger --role --section",
        "-a=--data-only -c=--clean -C=--create -e=--exit-on-error -l=--list -O=--no-owner -R -s=--schema-only -v=--verbose -x=--no-privileges -1=--single-transaction --if-exists --no-acl",
        [Writes(Value("-f --file")), ReadsDeep(All)],
    ),
    postgres!(
        "pg_basebackup",
        "-d=--dbname -D=--pgdata -F=--format -X=--wal-method -c=--checkpoint -l=--label -r=--max-rate -Z=--compress",
        "-R -P=--progress -v=--verbose -z=--gzip",
        [Writes(Value("-D --pgdata"))],
    ),
    postgres!(
        "createdb dropdb",
        "-D=--tablespace -E=--encoding -l=--locale -T=--template -O=--owner --maintenance-db",
        "-e=--echo -f=--force -i=--interactive --if-exists",
        [],
    ),
    postgres!(
        "createuser dropuser",
        "-c=--connection-limit -g=--role -m=--with-member -a=--with-admin --valid-until",
        "-d=--createdb -D -e=--echo -i=--inherit -I -l=--login -L -P=--pwprompt -r=--createrole -R -s=--superuser -S --interactive --if-exists",
        [],
    ),
    postgres!(
        "vacuumdb reindexdb clusterdb",
        "-d=--dbname -j=--jobs -t=--table -n=--schema -N=--exclude-schema -P=--parallel -S -i=--index",
        "-a=--all -e=--echo -f=--full -F=--freeze -q=--quiet -v=--verbose -z=--analyze -Z=--analyze-only -s=--system",
        [],
    ),
    postgres!("pg_isready", "-d=--dbname -t=--timeout", "-q=--quiet", []),
    mysql!(
        "mysql mariadb mycli",
        "-e=--execute -D=--database --tee --init-command --delimiter",
        "-B=--batch -N=--skip-column-names -s=--silent -t=--table -A=--no-auto-rehash -r=--raw -T -E=--vertical -H=--html -X=--xml -f=--force -q=--quick",
        [Writes(Value("--tee"))],
    ),
    mysql!(
        "mysqldump mariadb-dump",
        "-r=--result-file -T=--tab -w=--where --ignore-table --init-file",
        "-e=--extended-insert -A=--all-databases -B=--databases -d=--no-data -t=--no-create-info -R=--routines -E=--events -c -f=--force -q=--quick",
        [Writes(Value("-r --result-file -T --tab"))],
    ),
    mysql!(
        "mysqladmin mysqlimport mysqlcheck mysqlshow",
        "-c=--count -i=--sleep -w=--wait",
        "-r=--relative -f=--force -s=--silent -b",
        []
    ),
    row(
        "redis-cli valkey-cli",
        "",
        "-h -p -s -a -u -n -r -i -d -D -X -t --user --pass --sni --cert --key --cacert --pattern --eval --rdb",
        "-c=--cluster-mode -x -2 -3 --tls --raw --no-raw --csv --json --scan --bigkeys --no-auth-warning --insecure --pipe --latency --stat --cluster",
        &[
            Reaches(Named("-h -u")),
            Reads(Value("--eval")),
            Writes(Value("--rdb")),
            With("--eval", &Opaque),
            With("--cluster", &Reaches(Remotes)),
        ],
    ),
    row(
        "kcat kafkacat",
        "",
        "-b -t -p -o -G -X -K -D -c -l -F -r -s -f -m -d -k -H -z",
        "-P -C -L -Q -q -v -e -u -O -E -Z -J -T -U",
        &[Reaches(Named("-b")), Reads(Value("-l -F"))],
    ),
    row(
        "mongosh mongo mongodump mongorestore mongoexport mongoimport",
        "",
        "-h --host -p --port -u --username -a --pass --password --eval --uri -d --db --collection -c --file -n --user --authenticationDatabase -o --out",
        "--quiet --norc --tls --raw --drop",
        &[
            Reaches(Named("-h --host --uri -u")),
            Reaches(Remotes),
            Reads(Value("--file")),
            Writes(Value("-o --out")),
            With("--eval --file -f", &Opaque),
        ],
    ),
    row(
        "clickhouse-client clickhouse cqlsh sqlcmd snowsql influx",
        "",
        "-h --host -host -S -b --port -u --user -U -P -d -q --query --password",
        "",
        &[Reaches(Named("-h --host -host -S -b"))],
    ),
    row(
        "sqlite3 duckdb",
        "",
        "-cmd -separator -init -c",
        "-json -csv -header -readonly",
        &[Reads(First), Writes(First)],
    ),
];
