#!/usr/bin/env bash
# Build the wheel and then the image that the Dockerfile describes: tools/image.sh [TAG]
set -eu
cd "$(dirname "$0")/.."

make wheel
builder="$(command -v docker || command -v podman)" || { echo "needs docker or podman to build an image" >&2; exit 1; }
"$builder" build --tag "${1:-microagg}" .
