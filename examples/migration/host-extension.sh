#!/bin/sh
# A host of revision 2026-07-28 that declares the Tasks extension on every request.
# It calls a tool, shows each answer as it comes, and follows the task to its end:
#
#   host-extension.sh URL TOOL ARGUMENTS
set -eu
url=$1 tool=$2 arguments=$3
meta='"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}}'

ask() { # METHOD NAME PARAMS
  curl -sS "$url" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H "Mcp-Method: $1" -H "Mcp-Name: $2" \
    -d "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"$1\",\"params\":{$3,$meta}}" | sed 's/^data: //'
}
member() { printf %s "$answer" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

answer=$(ask tools/call "$tool" "\"name\":\"$tool\",\"arguments\":$arguments")
printf '%s\n' "$answer"
task=$(member taskId)
while [ -n "$task" ] && [ "$(member status)" = working ]; do
  sleep 0.5
  answer=$(ask tasks/get "$task" "\"taskId\":\"$task\"")
  printf '%s\n' "$answer"
done
