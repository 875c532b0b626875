// Lists and calls every tool of the MCP server of the first argument with the SDK, which checks results by their schemas,
// and counts the tokens of the list. The second argument is a page to read.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { getEncoding } from "js-tiktoken";

const [base, page] = process.argv.slice(2);
const question = "How tall is the Eiffel Tower?";
const good = {
  search_web: { query: question },
  check_claims: { claims: [{ claim: "Vinegar attacks rubber seals.", urls: [page] }] },
  web_search: { query: "How do I descale an espresso machine?", maxResults: 2 },
  search_news: { query: "storm", maxResults: 1 },
  web_search_raw: { query: ["espresso", "x"], maxResults: 3 },
  get_content: { urls: [page, `${page}-gone`] },
  read_from_page: { url: page, query: ["How often?", "penicillin"], includeMetadata: true },
  list_sites: {},
  docs_status: {},
  search_similar: { query: question },
  search_cached: { query: question },
  get_cache_stats: {},
  get_provider_status: {},
  get_server_stats: {},
};
const more = [["get_content", { url: page, maxChars: 300 }], ["get_content", { url: `${page}-gone` }],
  ["search_cached", { query: "never asked" }], ["search_docs", { query: "timeout" }]];

const client = new Client({ name: "test", version: "1" });
await client.connect(new StreamableHTTPClientTransport(new URL(`${base}/mcp`)));
const { tools } = await client.listTools(); // from now on the client checks results by their schemas
const seen = { calls: [], invalid: [] };
const call = async (name, args) => {
  try {
    const result = await client.callTool({ name, arguments: args });
    seen.calls.push({ name, failed: result.isError === true, texts: result.content.map((block) => block.text), structured: result.structuredContent });
  } catch (error) { seen.invalid.push([name, args, error.message]); }
};
for (const { name } of tools) {
  if (name in good) await call(name, good[name]);
  await call(name, { nonsense: 1 });
}
for (const [name, args] of more) await call(name, args);
await client.close();

const encoding = getEncoding("o200k_base");
const listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
seen.names = tools.map(({ name }) => name);
seen.tokens = listed.map((tool) => encoding.encode(JSON.stringify(tool)).length);
console.log(JSON.stringify(seen));
