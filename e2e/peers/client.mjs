// Talks through the proxy with the TypeScript client alone, in the era that MODE
// says ("legacy" or "auto"): node client.mjs MODE COMMAND [ARG...]
// Prints one JSON object of what it met.
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, command, ...args] = process.argv.slice(2);
const client = new Client({ name: "e2e-typescript", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(new StdioClientTransport({ command, args, stderr: "inherit" }));
const { tools } = await client.listTools();
const progress = [];
const result = await client.callTool({ name: "slow", arguments: { seconds: 0.1 } }, { onprogress: (p) => void progress.push(p.progress) });
const { prompts } = await client.listPrompts();
const { contents } = await client.readResource({ uri: "mem://one" });
console.log(JSON.stringify({
  era: client.getProtocolEra(), server: client.getServerVersion()?.name, tools: tools.length, prompts: prompts.length,
  text: result.content[0].text, resource: contents[0].text, progress,
}));
await client.close();
