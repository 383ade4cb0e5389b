// Both sides of a conversation in version 2 of ACP, made with ACP's TypeScript SDK. With the
// argument "agent" it is the agent. Otherwise it is the editor, and its arguments are the agent's
// command.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import * as acp from "@agentclientprotocol/sdk/experimental/v2";

const { agent } = acp.methods;
const info = { name: "ts-v2", version: "1" };
const stream = (out, input) => acp.ndJsonStream(Writable.toWeb(out), Readable.toWeb(input));

if (process.argv[2] === "agent") {
  acp.agent({ name: "ts-v2" })
    .onRequest(agent.initialize, ({ params: { protocolVersion } }) =>
      ({ protocolVersion, info, capabilities: {} }))
    .connect(stream(process.stdout, process.stdin));
} else {
  const [, , command, ...rest] = process.argv;
  const child = spawn(command, rest, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = acp.client({ name: "ts-v2" }).connect(stream(child.stdin, child.stdout));
  const r = await connection.agent.request(agent.initialize,
    { protocolVersion: 2, info, capabilities: {} });
  console.log("version:", r.protocolVersion, r.info.name);
  child.stdin.end();
  process.exit(await new Promise((done) => child.on("exit", done)));
}
