// Prints what a client makes of a bundle's manifest: the command that it runs, with the settings that its user gave.
import { readFileSync } from "node:fs";
import { getMcpConfigForManifest } from "@anthropic-ai/mcpb";

const [folder, userConfig] = process.argv.slice(2);
const manifest = JSON.parse(readFileSync(`${folder}/manifest.json`, "utf8"));
const config = await getMcpConfigForManifest({
  manifest, extensionPath: folder, systemDirs: {}, userConfig: JSON.parse(userConfig), pathSeparator: "/",
});
console.log(JSON.stringify(config));
