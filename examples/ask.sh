#!/bin/sh
# curl: GET /ask streams an answer; its last frame says what bears it out.
set -eu
question=${1:-How long do I have to request a refund?}
curl --no-buffer --silent --show-error --fail --get \
    ${HELIX_API_KEY:+--header "Authorization: Bearer $HELIX_API_KEY"} \
    --data-urlencode "q=$question" "$HELIX_SERVER/ask"
