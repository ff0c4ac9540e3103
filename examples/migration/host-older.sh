#!/bin/sh
# A host of revision 2025-11-25 that asks for its calls to be tasks (params.task). It
# opens a session, calls a tool, shows each answer as it comes, follows the task to its
# end and gets the result:
#
#   host-older.sh URL TOOL ARGUMENTS
set -eu
url=$1 tool=$2 arguments=$3
head=$(mktemp)
trap 'rm -f "$head"' EXIT
set -- # the headers of a session, once there is one

ask() { # MESSAGE, without its first members
  message=$1
  shift
  curl -sS -D "$head" "$url" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' "$@" -d "{\"jsonrpc\":\"2.0\",$message}" |
    sed -n 's/^data: //; /^{/p'
}
member() { printf %s "$answer" | sed -n "s/.*\"$1\":\"\([^\"]*\)\".*/\1/p"; }

answer=$(ask '"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"host-older","version":"1"}}')
printf '%s\n' "$answer"
set -- -H "Mcp-Session-Id: $(sed -n 's/\r$//; s/^[Mm]cp-[Ss]ession-[Ii]d: //p' "$head")" -H 'MCP-Protocol-Version: 2025-11-25'
ask '"method":"notifications/initialized"' "$@"

answer=$(ask "\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"$tool\",\"arguments\":$arguments,\"task\":{\"ttl\":600000}}" "$@")
printf '%s\n' "$answer"
task=$(member taskId)
while [ -n "$task" ] && [ "$(member status)" = working ]; do
  sleep 0.5
  answer=$(ask "\"id\":3,\"method\":\"tasks/get\",\"params\":{\"taskId\":\"$task\"}" "$@")
  printf '%s\n' "$answer"
done
ask "\"id\":4,\"method\":\"tasks/result\",\"params\":{\"taskId\":\"$task\"}" "$@"
curl -sS -X DELETE "$url" "$@"
