#!/bin/sh
# Proves that ui/dist is what the sources in ui/ build: installs what the lock file names, checks types, runs the unit
# tests, builds into a temporary folder and compares. Needs node 20.19 or later and the npm registry (or its cache).
set -eu
cd "$(dirname "$0")"

built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT INT TERM

npm ci --no-audit --no-fund
npm run --silent check
npm run --silent test
npx --no-install vite build --logLevel warn --outDir "$built" --emptyOutDir

if ! diff -r "$built" dist; then
    echo "ui/dist is not what the sources build: run 'npm ci && npm run build' in ui/ and commit ui/dist." >&2
    exit 1
fi
echo "ui/dist is what the sources build."
