// Drives tasks of revision 2025-11-25 with the TypeScript SDK that has them:
// node oldtasks.mjs JOB, see connect.mjs. Of each call it prints the messages of
// its stream, and what tasks/get and tasks/result say afterwards.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { CallToolResultSchema, ElicitRequestSchema, TaskStatusNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { answering, begun, driven, failure, info, job } from "./connect.mjs";

const client = new Client(info, { capabilities: { elicitation: { form: {} } } });
const questions = answering(client, ElicitRequestSchema);
const news = [];
client.setNotificationHandler(TaskStatusNotificationSchema, (told) => void news.push(told.params.status));
const transport = job.url
  ? new StreamableHTTPClientTransport(new URL(job.url))
  : new StdioClientTransport({ command: job.command[0], args: job.command.slice(1), stderr: "inherit" });
await client.connect(transport);
const tasks = client.experimental.tasks;
const { tools } = await client.listTools();

async function call(one) {
  const { tool, args, cancel, plain } = one;
  if (plain) return { tool, kind: "immediate", outcome: { status: "completed", result: await client.callTool({ name: tool, arguments: args }) } };
  const met = { tool, kind: "immediate", states: [], outcome: {} };
  for await (const message of tasks.callToolStream({ name: tool, arguments: args }, CallToolResultSchema, { task: { ttl: 600000 } })) {
    if (message.type === "taskCreated") {
      met.kind = "task";
      met.taskId = message.task.taskId;
      begun(one);
      if (cancel) met.cancelled = (await tasks.cancelTask(met.taskId)).status;
    }
    if (message.type === "taskStatus") met.states.push(message.task.status);
    if (message.type === "result") met.outcome.result = message.result;
    if (message.type === "error") met.outcome.error = failure(message.error);
  }
  met.outcome.status = (await tasks.getTask(met.taskId)).status;
  try {
    met.payload = await tasks.getTaskResult(met.taskId, CallToolResultSchema);
  } catch (error) {
    met.refusal = failure(error);
  }
  return met;
}

const calls = await driven(job.calls, call);
const listed = client.getServerCapabilities()?.tasks?.list ? (await tasks.listTasks()).tasks.length : -1;
console.log(JSON.stringify({ era: "legacy", tools: tools.length, questions, calls, listed, news }));
await transport.terminateSession?.();
await client.close();
