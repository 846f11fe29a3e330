#!/usr/bin/env bash
# Regenerates the locked requirements from the .in files. Needs Python 3.12 and pip-tools, which it installs
# into a temporary environment. Usage: requirements/lock.sh
set -euo pipefail
cd "$(dirname "$0")"
tools=$(mktemp -d)
trap 'rm -rf "$tools"' EXIT
"${JARVIS_PYTHON:-../.jarvis/venv/bin/python}" -m venv "$tools"
"$tools/bin/pip" install --quiet pip-tools

lock() { # name, further pip-compile options
  local name=$1; shift
  { echo "# Locked from $name.in; do not edit. Regenerate with: requirements/lock.sh"
    "$tools/bin/pip-compile" --quiet --upgrade --strip-extras --allow-unsafe --no-annotate --no-header --no-emit-options \
      --no-emit-index-url --no-emit-find-links --no-emit-trusted-host --output-file - "$@" "$name.in"
  } > "$name.txt.new"
  mv "$name.txt.new" "$name.txt"
  echo "$name.txt: $(grep -c == "$name.txt") packages"
}
lock test
lock runtime --constraint test.txt
lock rosidl
