// Drives one task from declaration to result with the TypeScript client and its
// tasks extension: node tasks.mjs TOOL ARGUMENTS COMMAND [ARG...]
// Prints one JSON object: what kind of execution it was, the states seen, the outcome.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient } from "@modelcontextprotocol/ext-tasks/client";
import { rawDispatch } from "./rawdispatch.mjs";

const [tool, args, command, ...rest] = process.argv.slice(2);
const clientInfo = { name: "e2e-typescript", version: "1.0.0" };
const clientCapabilities = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const client = new Client(clientInfo, { capabilities: clientCapabilities, versionNegotiation: { mode: "auto" } });
const transport = new StdioClientTransport({ command, args: rest, stderr: "inherit" });
await client.connect(transport);

const session = createTaskSessionFromClient(client, {
  endpointId: "proxy",
  rawDispatch: rawDispatch(transport),
  v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo, clientCapabilities },
});
const { tools } = await client.listTools();
const execution = await session.callTool(tool, JSON.parse(args));
const states = [];
const { outcome } = await execution.settle({ onEvent: (event) => void (event.task && states.push(event.task.status)) });
console.log(JSON.stringify({
  era: client.getProtocolEra(), tools: tools.length, kind: execution.kind, taskId: execution.handle?.taskId, states, outcome,
}));
await session.close();
await client.close();
