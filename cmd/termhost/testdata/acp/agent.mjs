// An agent made with ACP's TypeScript SDK. A prompt names one of the methods of Turn, with its
// arguments. The agent says what came of it, in the words of the one that is made with the Go SDK.
import { readFile, writeFile } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import * as acp from "@agentclientprotocol/sdk";

const { agent, client } = acp.methods;
let calls = 0;

const ended = (s) => (s.exitCode != null ? `code ${s.exitCode}` : `signal ${s.signal}`);
const refusal = async (p) => p.then(() => "nothing", (e) => `${e.code} ${e.message}`);

class Turn {
  constructor(context) {
    this.editor = context.client;
    this.sessionId = context.params.sessionId;
  }
  update = (update) =>
    this.editor.notify(client.session.update, { sessionId: this.sessionId, update });
  say = (text) =>
    this.update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
  create = (command, args = [], more = {}) =>
    this.editor.createTerminal({ sessionId: this.sessionId, command, args, ...more });
  async embed(terminal, title) {
    const toolCallId = `call-${++calls}`;
    await this.update({
      sessionUpdate: "tool_call", toolCallId, title, status: "in_progress",
      content: [{ type: "terminal", terminalId: terminal.id }],
    });
    return toolCallId;
  }

  // Runs make with a timeout made of the five methods, as ACP's page on terminals describes it.
  async build(timeout, ...targets) {
    const t = await this.create("make", targets);
    const toolCallId = await this.embed(t, "make");
    const exit = t.waitForExit();
    const late = pause(1000 * parseInt(timeout), "timeout", { ref: false });
    if ((await Promise.race([exit, late])) === "timeout") {
      await this.say("timeout");
      await t.kill();
    }
    await exit;
    const out = await t.currentOutput();
    await this.say(`build ended with ${ended(out.exitStatus)}: ${JSON.stringify(out.output)}`);
    await this.update({ sessionUpdate: "tool_call_update", toolCallId, status: "completed" });
    await t.release();
    const id = { sessionId: this.sessionId, terminalId: t.id };
    const again = this.editor.request(client.terminal.output, id);
    await this.say(`after release: ${await refusal(again)}`);
  }

  async limits() {
    for (let limit = 1; limit <= 10; limit++) {
      const text = "€".repeat(100) + "💩";
      const t = await this.create("printf", ["%s", text], { outputByteLimit: limit });
      await t.waitForExit();
      const { output, truncated } = await t.currentOutput();
      const shown = `${Buffer.byteLength(output)} bytes ${JSON.stringify(output)}`;
      await this.say(`limit ${limit}: ${shown} truncated ${truncated}`);
      await t.release();
    }
  }

  async twenty() {
    const one = async (_, i) => {
      const t = await this.create("sh", ["-c", `echo start; sleep 0.3; seq 1 2000; exit ${i}`]);
      const st = await t.waitForExit();
      const out = await t.currentOutput();
      await t.release();
      return st.exitCode === i && out.output.endsWith("\r\n2000\r\n");
    };
    const all = await Promise.all(Array.from({ length: 20 }, one.bind(this)));
    await this.say(`${all.filter(Boolean).length} of 20 are good`);
  }

  async flood() {
    const t = await this.create("yes", ["flood"], { outputByteLimit: 1000 });
    await this.embed(t, "yes");
    while (!(await t.currentOutput()).truncated);
    await t.kill();
    const st = await t.waitForExit();
    const out = await t.currentOutput();
    await this.say(`flood ended with ${ended(st)}, ${out.output.length} bytes`);
    await t.release();
  }

  async die() {
    await this.create("sh", ["-c", "echo $$ > pid; exec sleep 300"]);
    for (;;) {
      if (await readFile("pid", "utf8").catch(() => "")) process.exit(3);
      await pause(5);
    }
  }

  async gone() {
    const t = await this.create("sleep", ["300"]);
    await writeFile(`made-${process.pid}`, "");
    await this.embed(t, "sleep");
    await this.say(`wait: ${await refusal(t.waitForExit())}`);
    await this.say(`output: ${await refusal(t.currentOutput())}`);
    await this.say(`kill: ${await refusal(t.kill())}`);
    await this.say(`create: ${await refusal(this.create("true"))}`);
  }

  async big() {
    await this.say("x".repeat(10 * 1024 * 1024 - 4096));
    await this.say("still here");
  }

  async cancel() {
    const t = await this.create("sleep", ["300"]);
    for (let i = 0; i < 3; i++) {
      const id = { sessionId: this.sessionId, terminalId: t.id };
      const wait = this.editor.request(client.terminal.waitForExit, id,
        { cancellationSignal: AbortSignal.timeout(20) });
      await this.say(`cancelled: ${(await refusal(wait)).startsWith("-32800")}`);
    }
    await t.kill();
    await this.say(`then: ${ended(await t.waitForExit())}`);
  }
}

const app = acp.agent({ name: "ts-agent" })
  .onRequest(agent.initialize, () => ({
    protocolVersion: acp.PROTOCOL_VERSION,
    agentCapabilities: {},
    agentInfo: { name: "ts-agent", version: "1" },
  }))
  .onRequest(agent.session.new, () => ({ sessionId: "sess/1 of ts" }))
  .onRequest(agent.session.prompt, async (context) => {
    const [verb, ...args] = context.params.prompt[0].text.split(" ");
    const turn = new Turn(context);
    await turn[verb](...args).catch((e) => turn.say(`failed: ${e.message}`));
    return { stopReason: "end_turn" };
  });
console.error("ts-agent: ready");
app.connect(acp.ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
