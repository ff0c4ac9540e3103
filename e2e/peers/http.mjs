// Talks over HTTP with the TypeScript client alone, in the era that MODE says
// ("legacy" or "auto"): node http.mjs MODE URL [TOOL]
// It answers questions, calls TOOL, which may put one, and prints one JSON
// object of what it met.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const [mode, url, tool = "ask"] = process.argv.slice(2);
const capabilities = { elicitation: { form: {} } };
const client = new Client({ name: "e2e-typescript", version: "1.0.0" }, { capabilities, versionNegotiation: { mode } });
const questions = [];
client.setRequestHandler("elicitation/create", async (request) => {
  questions.push(request.params.message);
  return { action: "accept", content: { ok: true } };
});
const transport = new StreamableHTTPClientTransport(new URL(url));
await client.connect(transport);
const { tools } = await client.listTools();
const quick = await client.callTool({ name: "release", arguments: { gate: "none" } });
const progress = [];
const result = await client.callTool({ name: "slow", arguments: { seconds: 0.1 } }, { onprogress: (p) => void progress.push(p.progress) });
const asked = await client.callTool({ name: tool, arguments: {} });
const { contents } = await client.readResource({ uri: "mem://one" });
console.log(JSON.stringify({
  era: client.getProtocolEra(), server: client.getServerVersion()?.name, tools: tools.length, quick: quick.content[0].text,
  text: result.content[0].text, steps: progress.length, asked: asked.content[0].text, questions, resource: contents[0].text,
}));
await transport.terminateSession?.();
await client.close();
