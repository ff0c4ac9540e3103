// A host without tasks that is given a ticket: node ticket.mjs JOB, see
// connect.mjs; with the TypeScript SDK (mode "sdk"), or with its successor's client
// in the era that the mode says. Both refuse a result that does not fit the schema
// that its tool promises. The host opens the door of the one call when it has the
// ticket, and then gets the result.
import { Client as NewClient } from "@modelcontextprotocol/client";
import { StdioClientTransport as NewTransport } from "@modelcontextprotocol/client/stdio";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { begun, info, job } from "./connect.mjs";

const [Client, Transport] = job.mode === "sdk" ? [OldClient, OldTransport] : [NewClient, NewTransport];
const client = new Client(info, { capabilities: {}, versionNegotiation: { mode: job.mode } });
await client.connect(new Transport({ command: job.command[0], args: job.command.slice(1), stderr: "inherit" }));
const { tools } = await client.listTools();
const [one] = job.calls;
const ticket = await client.callTool({ name: one.tool, arguments: one.args });
begun(one);
const id = /"task_id": "([^"]+)"/.exec(ticket.content[0].text)?.[1];
const result = await client.callTool({ name: "task_result", arguments: { task_id: id } });
console.log(JSON.stringify({
  tools: tools.length, calls: [
    { tool: one.tool, kind: "ticket", taskId: id, outcome: { result: ticket } },
    { tool: "task_result", kind: "immediate", outcome: { result } },
  ],
}));
await client.close();
