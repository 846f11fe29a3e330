#!/usr/bin/env bash
# Regenerates the locked requirements from the .in files. Needs Python 3.12 and pip-tools, which it installs
# into a temporary environment. Usage: requirements/lock.sh
set -euo pipefail
cd "$(dirname "$0")"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${JARVIS_PYTHON:-../.jarvis/venv/bin/python}" -m venv "$tools"
"$tools/bin/pip" install --quiet pip-tools

# toppra's wheel names two optimisers, GLPK (GPL) and qpOASES, that its library neither links nor loads. They are left
# out, so these files have to be installed with `pip install --no-deps`.
unused='^cmeel-(glpk|qpoases)=='

lock() { # name, further pip-compile options
  local name=$1; shift
  { echo "# Locked from $name.in; do not edit. Install with --no-deps. Regenerate with: requirements/lock.sh"
    "$tools/bin/pip-compile" --quiet --upgrade --strip-extras --allow-unsafe --no-annotate --no-header --no-emit-options \
      --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file - "$@" "$name.in" | grep -vE "$unused"
  } > "$name.txt.new"
  mv "$name.txt.new" "$name.txt"
  echo "$name.txt: $(grep -c == "$name.txt") packages"
}
lock test
lock runtime --constraint test.txt
lock rosidl
