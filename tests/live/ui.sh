#!/usr/bin/env bash
# Calls that Kamailio proxied and mirrored, looked at in a browser: the page's own browser test runs against the server.
# IMAGES=docs/images also takes the README's pictures.
# shellcheck source=tests/live/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

need kamailio sipp jq curl node "${CHROMIUM:-chromium}"
[[ -d $repo/ui/node_modules/playwright-core ]] || skip "the page's dependencies are missing; run npm ci in ui/"
bounded 85

# Loopback is a network: each end has an address of its own.
caller=127.0.0.11 proxy=127.0.0.20 callee=127.0.0.31
free_port && sip=$port
[[ -z ${IMAGES:-} ]] || sip=5060
cat >"$tmp/users.csv" <<'CSV'
SEQUENTIAL
alice;bob;answer
+4930901820;erin;answer
carol;busy;answer
frank;+442079460018;answer
dave;nobody;cancel
grace;bob;answer
heidi;erin;answer
CSV

start_wirelake
start_kamailio "$proxy" "$sip" "sip:$callee:$sip" 3 2001 "sip:127.0.0.1:$hep_udp" -A WITH_LOG
calls=14
[[ -z ${IMAGES:-} ]] || calls=27
start_callee "$callee" "$sip" "$calls"
call_callee "$caller" "$sip" "$proxy:$sip" "$calls" call -r 4
stop_kamailio
until_true 10 eval '[[ $("$WIRELAKE" search --by call --limit 1000 --format json | jq length) == "$calls" ]]' || die "the calls did not arrive"
id=$("$WIRELAKE" search --by call --from alice --format json | jq -r 'last.call_id')

mkdir -p "$tmp/screenshots"
status=0
(cd "$repo/ui" && WIRELAKE_URL=$WIRELAKE_SERVER EXPECT_CALL_ID=$id SCREENSHOTS=${SCREENSHOTS:-$tmp/screenshots} \
    timeout 60 node tests/e2e.mjs) || status=$?
same 0 "$status" "the page's browser test passes against the server"

if [[ -n ${IMAGES:-} ]]; then
    node "$here/images.mjs" "$WIRELAKE_SERVER" "$id" "$IMAGES" && ok "pictures in $IMAGES"
fi
stop_wirelake

finish
