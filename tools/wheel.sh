#!/usr/bin/env bash
# Install the wheel of dist/ into an empty environment and run the demonstration there, away from the repository.
set -eu
wheel="$(realpath dist/microagg-*.whl)"
python="$(realpath "${1:-.venv/bin/python}")"
size="$(stat -c %s "$wheel")"
[ "$size" -lt 2000000 ] || { echo "the wheel has $size bytes, more than 2 MB" >&2; exit 1; }

folder="$(mktemp -d)"
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$python" -m venv empty
empty/bin/python -m pip install --quiet --disable-pip-version-check "$wheel"
empty/bin/python -c "import microagg, sys; assert '$folder' in microagg.__file__, microagg.__file__; print('microagg', microagg.__version__)"
empty/bin/microagg demo --output demo
empty/bin/microagg check demo/mdav
echo "the wheel has $size bytes; its demonstration ran without the repository"
