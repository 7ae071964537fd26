#!/usr/bin/env bash
# Replays recordings under PySpark and compares the merged result with a single run. Needs Python 3, Java 17 and `rulestep`
# (or RULESTEP=path). Usage: run.sh [SESSIONS [POLICY [COPIES]]]
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
venv="${VENV:-$here/.venv}"
[ -x "$venv/bin/python" ] || python3 -m venv "$venv"
"$venv/bin/python" -c 'import pyspark' 2>/dev/null || "$venv/bin/pip" install --quiet 'pyspark>=4,<5'
export PYSPARK_PYTHON="$venv/bin/python" SPARK_LOCAL_IP=127.0.0.1
exec "$venv/bin/python" "$here/replay.py" "$@"
