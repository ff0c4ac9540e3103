// Drives tasks with the TypeScript client and its tasks extension, in the era
// that the mode says ("legacy" or "auto"): node tasks.mjs JOB, see connect.mjs.
// Of each call it prints what kind of execution it was, the states seen, the outcome.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createTaskSessionFromClient, toolDeclarationFromMcpTool } from "@modelcontextprotocol/ext-tasks/client";
import { begun, driven, failure, info, job } from "./connect.mjs";
import { rawDispatch } from "./rawdispatch.mjs";

const extensions = { "io.modelcontextprotocol/tasks": {} };
const clientCapabilities = { extensions, elicitation: { form: {} } };
const client = new Client(info, { capabilities: clientCapabilities, versionNegotiation: { mode: job.mode } });
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), stderr: "inherit" });
await client.connect(transport);

const questions = [];
const modern = client.getProtocolEra() === "modern";
const session = createTaskSessionFromClient(client, {
  endpointId: "proxy",
  onInputRequest: async (request) => {
    questions.push(request.params.message);
    return job.answer ?? { action: "decline" };
  },
  ...(modern && { rawDispatch: rawDispatch(transport), v2RequestFraming: { protocolVersion: "2026-07-28", clientInfo: info, clientCapabilities } }),
});
const { tools } = await client.listTools();

async function call(one) {
  const { tool, args, cancel } = one;
  const declaration = toolDeclarationFromMcpTool(tools.find(({ name }) => name === tool));
  const execution = await session.callTool(tool, args, { declaration, task: { preference: "prefer" } });
  const states = [];
  begun(one);
  if (cancel) await execution.cancel();
  const { outcome } = await execution.settle({ onEvent: (event) => void (event.task && states.push(event.task.status)) });
  const { status, result, error } = outcome;
  return { tool, kind: execution.kind, taskId: execution.handle?.taskId, states, outcome: { status, result, error: error && failure(error) } };
}

const calls = await driven(job.calls, call);
console.log(JSON.stringify({ era: client.getProtocolEra(), tools: tools.length, questions, calls }));
await session.close();
await transport.terminateSession?.();
await client.close();
