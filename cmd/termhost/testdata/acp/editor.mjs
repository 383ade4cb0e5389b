// An editor made with ACP's TypeScript SDK. It prints what it would show, as the one does that is
// made with the Go SDK.
//
//   node editor.mjs [-terminals] PROMPT COMMAND ARGS...
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk";

const { agent, client } = acp.methods;
const args = process.argv.slice(2);
const terminal = args[0] === "-terminals" && Boolean(args.shift());
const [prompt, command, ...rest] = args;
const print = (...words) => console.log(words.join(" "));

const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] });
const exited = new Promise((done) => child.on("exit", (code, signal) => done(code ?? 255)));

const terminals = new Map();
const show = (call, content) => {
  for (const c of content ?? []) {
    if (c.type === "content") print(call, "shows", JSON.stringify(c.content.text));
    if (c.type === "terminal") print(call, "shows terminal", c.terminalId);
  }
};

const app = acp.client({ name: "ts-editor" })
  .onNotification(client.session.update, ({ params: { update: u } }) => {
    if (u.sessionUpdate === "agent_message_chunk") {
      const { text } = u.content;
      print("says:", text.length > 10000 ? `${text.length} bytes` : text);
    } else if (u.sessionUpdate.startsWith("tool_call")) {
      show(u.toolCallId, u.content);
    }
  })
  .onRequest(client.terminal.create, ({ params }) => {
    print("runs:", params.command, params.args.join(" "));
    const stdio = ["ignore", "pipe", "inherit"];
    const t = { out: "", child: spawn(params.command, params.args, { stdio }) };
    t.child.stdout.on("data", (d) => (t.out += d));
    t.closed = new Promise((done) => t.child.on("close", done));
    const terminalId = `editor-${terminals.size + 1}`;
    terminals.set(terminalId, t);
    return { terminalId };
  })
  .onRequest(client.terminal.waitForExit, async ({ params }) => {
    return { exitCode: await terminals.get(params.terminalId).closed };
  })
  .onRequest(client.terminal.release, async ({ params }) => {
    const t = terminals.get(params.terminalId);
    t.child.kill();
    await t.closed;
    print(params.terminalId, "has shown", JSON.stringify(t.out));
    return {};
  });

const stream = acp.ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout));
const connection = app.connect(stream);
try {
  await connection.agent.request(agent.initialize, {
    protocolVersion: acp.PROTOCOL_VERSION,
    clientCapabilities: { terminal },
    clientInfo: { name: "ts-editor", version: "1" },
  });
  const { sessionId } = await connection.agent.request(agent.session.new,
    { cwd: process.cwd(), mcpServers: [] });
  const { stopReason } = await connection.agent.request(agent.session.prompt,
    { sessionId, prompt: [{ type: "text", text: prompt }] });
  print("stop:", stopReason);
} catch (e) {
  print("error:", e.code, e.message);
}
child.stdin.end();
const code = await exited;
print("ended:", code);
process.exit(code);
