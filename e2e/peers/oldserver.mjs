// A server of revision 2025-11-25 with the tasks of the TypeScript SDK, on stdio
// or over HTTP with sessions: node oldserver.mjs EFFECTS [http]
// Over HTTP it prints its URL, and its tasks are those of all its sessions: the
// SDK's store would otherwise lose them with the session that made them.
//
// Tool: job {until, fail, broken, ask} is required to be a task, and ends when the
// file {until} is there; maybe is the same, and need not be one; greet makes none.
// What job does and is told is written down in the file EFFECTS, and over HTTP the
// method of every message.
import { randomUUID } from "node:crypto";
import { appendFileSync, existsSync } from "node:fs";
import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { InMemoryTaskMessageQueue, InMemoryTaskStore } from "@modelcontextprotocol/sdk/experimental/tasks";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { ElicitResultSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";

class SharedStore extends InMemoryTaskStore {
  lookup(id) {
    return super.lookup(id);
  }
}
const taskStore = new SharedStore();
const taskMessageQueue = new InMemoryTaskMessageQueue();

const text = (said) => ({ content: [{ type: "text", text: said }] });
const question = {
  method: "elicitation/create",
  params: { mode: "form", message: "Go on?", requestedSchema: { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] } },
};

const [effects, transport] = process.argv.slice(2);
const note = (what) => appendFileSync(effects, what + "\n");

async function work(id, { until, fail, broken, ask }, { taskStore, sendRequest }) {
  note("call job");
  let said = "done";
  while (until && !existsSync(until)) {
    if ((await taskStore.getTask(id)).status === "cancelled") return note("cancelled job");
    await wait(5);
  }
  if (ask) {
    await taskStore.updateTaskStatus(id, "input_required", "asks");
    const reply = await sendRequest(question, ElicitResultSchema, { relatedTask: { taskId: id } });
    await taskStore.updateTaskStatus(id, "working", "was answered");
    said = "answered " + JSON.stringify(reply);
  }
  if (broken) await taskStore.updateTaskStatus(id, "failed", "it broke");
  else if (fail) await taskStore.storeTaskResult(id, "failed", { ...text("disk is full"), isError: true });
  else await taskStore.storeTaskResult(id, "completed", text(said));
}

const handler = {
  createTask: async (args, extra) => {
    const task = await extra.taskStore.createTask({ ttl: 600000, pollInterval: 50 });
    work(task.taskId, args, extra).catch((error) => console.error(String(error)));
    return { task };
  },
  getTask: (_, extra) => extra.taskStore.getTask(extra.taskId),
  getTaskResult: (_, extra) => extra.taskStore.getTaskResult(extra.taskId),
};

function newServer() {
  const tasks = { list: {}, cancel: {}, requests: { tools: { call: {} } } };
  const server = new McpServer({ name: "old-tasks", version: "1.0.0" }, { capabilities: { tasks }, taskStore, taskMessageQueue });
  const inputSchema = { until: z.string().optional(), fail: z.boolean().optional(), broken: z.boolean().optional(), ask: z.boolean().optional() };
  server.experimental.tasks.registerToolTask("job", { inputSchema }, handler);
  server.experimental.tasks.registerToolTask("maybe", { inputSchema, execution: { taskSupport: "optional" } }, handler);
  server.registerTool("greet", { inputSchema: {} }, async () => text("hello"));
  return server;
}

const sessions = new Map();

async function serve(request, response) {
  const id = request.headers["mcp-session-id"];
  let transport = sessions.get(id);
  if (id && !transport) return response.writeHead(404).end();
  if (!transport) {
    transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, onsessioninitialized: (id) => void sessions.set(id, transport) });
    await newServer().connect(transport);
    const { onmessage } = transport;
    transport.onmessage = (message, extra) => {
      if (message.method) note(message.method);
      onmessage(message, extra);
    };
  }
  await transport.handleRequest(request, response);
}

if (transport === "http") {
  const listener = createServer(serve).listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${listener.address().port}/mcp`));
} else {
  await newServer().connect(new StdioServerTransport());
}
