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
  let asked = 0 // questions that nobody has answered, which what runs beside them does not
  return {
    event: async ({ event: { type, properties: p } }) => {
      if (type === "session.created" && p.info?.parentID) subagents.add(p.info.id)
      const own = !subagents.has(p.sessionID)
      if (type === "permission.asked" || type === "question.asked") {
        asked++
        await say("waiting", type === "permission.asked" ? `wants permission: ${p.permission ?? ""}` :
          p.questions?.[0]?.question ?? "asks a question")
      } else if (/^(permission|question)\.(replied|rejected)$/.test(type)) {
        asked = Math.max(asked - 1, 0)
        if (asked === 0) await say("working")
      } else if (type === "session.status" && own && p.status?.type === "busy") {
        if (asked === 0) await say("working")
      } else if (type === "session.idle" && own) {
        asked = 0
        await say("done")
      } else if (type === "session.error" && own) {
        asked = 0
        await say("failed", p.error?.data?.message ?? p.error?.name ?? "")
      }
    },
  }
}
