// A host of MCP Apps: the official client and AppBridge on the real server; the page in two frames, as web hosts do it.

import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { AppBridge, PostMessageTransport, RESOURCE_MIME_TYPE, getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";

const UI = "io.modelcontextprotocol/ui";
const INFO = { name: "test-host", version: "1" };
export const seen = { messages: [], contexts: [], sizes: [], modes: [], downloads: [], calls: [] };
let client;
let bridge;
let frame;

// Connects and returns what `tools/list` shows; with `apps` the client announces the extension.
async function connect({ apps = true, modern = false, toolsets = "" }) {
  const capabilities = apps ? { extensions: { [UI]: { mimeTypes: [RESOURCE_MIME_TYPE] } } } : {};
  client = new Client(INFO, { capabilities, versionNegotiation: { mode: modern ? { pin: "2026-07-28" } : "legacy" } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`/mcp?toolsets=${toolsets}`, location)));
  const { tools } = await client.listTools();
  return { tools, extensions: client.getServerCapabilities().extensions };
}

// Shows the page of a tool. `input` and `result` are what the host sends it; an absent one is never sent.
async function open({ tool, capabilities, context = {}, sandbox, input, result }) {
  const { tools } = await client.listTools();
  const shown = tools.find((each) => each.name === tool);
  const { contents: [content] } = await client.readResource({ uri: getToolUiResourceUri(shown) });
  frame?.remove();
  frame = Object.assign(document.createElement("iframe"), { src: "http://sandbox.test/sandbox.html", name: "outer" });
  bridge = new AppBridge(client, INFO, capabilities, { hostContext: { toolInfo: { tool: shown }, ...context } });
  listen();
  document.body.append(frame);
  const initialized = new Promise((resolve) => (bridge.oninitialized = resolve));
  bridge.onsandboxready = () => bridge.sendSandboxResourceReady({ html: content.text, sandbox });
  await bridge.connect(new PostMessageTransport(frame.contentWindow, frame.contentWindow));
  await initialized;
  if (input) await bridge.sendToolInput({ arguments: input });
  if (result) await bridge.sendToolResult(result);
  return { mimeType: content.mimeType, meta: content._meta, length: new Blob([content.text]).size };
}

function listen() {
  const forward = bridge.oncalltool;
  bridge.onmessage = async (params) => (seen.messages.push(params), {});
  bridge.onupdatemodelcontext = async (params) => (seen.contexts.push(params), {});
  bridge.onsizechange = (params) => (seen.sizes.push(params), (frame.style.height = `${params.height}px`));
  bridge.onrequestdisplaymode = async ({ mode }) => (seen.modes.push(mode), { mode });
  bridge.ondownloadfile = async (params) => (seen.downloads.push(params), {});
  bridge.oncalltool = forward;
}

window.host = {
  connect, open, seen,
  call: (name, args) => client.callTool({ name, arguments: args }),
  change: (context) => bridge.setHostContext(context),
  tearDown: () => bridge.teardownResource({}),
};
