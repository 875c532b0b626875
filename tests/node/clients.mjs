// Drives the clients of npm against the server of the first argument; the second is a page to read.
import { tavily } from "@tavily/core";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

const [base, page] = process.argv.slice(2);
const query = "How do I descale an espresso machine?";
const question = "How tall is the Eiffel Tower?";
const seen = {};
const errorOf = async (call) => { try { await call(); return null; } catch (error) { return [error.name, error.message]; } };

const tvly = tavily({ apiKey: "tvly-any", apiBaseURL: `${base}/tavily` });
seen.search = await tvly.search(query, { maxResults: 2 });
seen.extract = await tvly.extract([page]);
seen.badQuery = await errorOf(() => tvly.search("x"));

const provider = createOpenAI({ baseURL: `${base}/v1`, apiKey: "sk-any" });
const generated = await generateText({ model: provider.responses("search_web"), prompt: question });
seen.generated = { text: generated.text, sources: generated.sources };
const streamed = streamText({ model: provider.responses("search_web"), prompt: question });
let text = "";
for await (const piece of streamed.textStream) text += piece;
seen.streamed = { text, sources: await streamed.sources };
const chat = await generateText({ model: provider.chat("search_web"), prompt: question });
seen.chat = { text: chat.text, sources: chat.sources };

const openai = new OpenAI({ baseURL: `${base}/v1`, apiKey: "sk-any" });
const response = await openai.responses.stream({ model: "search_web", input: question }).finalResponse();
seen.openai = { text: response.output_text, status: response.status };

const transport = new StdioClientTransport({
  command: process.execPath,
  args: ["node_modules/mcp-searxng/dist/cli.js"],
  cwd: import.meta.dirname,
  env: { SEARXNG_URL: `${base}/searxng`, PATH: process.env.PATH },
  stderr: "ignore",
});
const client = new Client({ name: "test", version: "1" });
await client.connect(transport);
seen.mcpSearxng = (await client.callTool({ name: "searxng_web_search", arguments: { query } })).content[0].text;
await client.close();

const gateway = new Client({ name: "test", version: "1" });
await gateway.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
const progress = [];
const onprogress = ({ message }) => progress.push(message);
await gateway.listTools(); // from now on the client checks results by their schemas
for (const [name, wanted] of [
  ["search_web", { query: question }],
  ["web_search", { query, maxResults: 2 }],
  ["get_content", { urls: [page, `${page}-gone`] }],
]) {
  const result = await gateway.callTool({ name, arguments: wanted }, undefined, { onprogress });
  seen[name] = { text: result.content.map((block) => block.text).join("\n"), structured: result.structuredContent };
}
await gateway.close();
seen.progress = progress;
console.log(JSON.stringify(seen));
