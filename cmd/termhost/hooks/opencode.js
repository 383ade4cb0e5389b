// Written by `termhost hooks opencode --install`: says to termhost how this agent stands.
import { spawn } from "node:child_process"

const program = "termhost"

let said = Promise.resolve() // one after the other
let last = ""

function say(state, text = "") {
  if (state + text === last) return said
  last = state + text
  said = said.then(() => new Promise((done) => {
    spawn(program, ["status", "--from", "opencode", state, text], { stdio: "ignore" }).on("error", done).on("exit", done)
  }))
  return said
}

export const Termhost = async () => {
  const subagents = new Set()
  return {
    event: async ({ event: { type, properties: p } }) => {
      if (type === "session.created" && p.info?.parentID) subagents.add(p.info.id)
      const own = !subagents.has(p.sessionID)
      if (type === "permission.asked") await say("waiting", `wants permission: ${p.permission ?? ""}`)
      else if (type === "question.asked") await say("waiting", p.questions?.[0]?.question ?? "asks a question")
      else if (type === "permission.replied" || type === "question.replied") await say("working")
      else if (type === "session.status" && own && p.status?.type === "busy") await say("working")
      else if (type === "session.idle" && own) await say("done")
      else if (type === "session.error" && own) await say("failed", p.error?.data?.message ?? p.error?.name ?? "")
    },
  }
}
