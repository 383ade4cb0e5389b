// Package acp lets agents of the Agent Client Protocol (ACP, version 1) run their commands in the
// host's terminals.
//
// [Methods] are ACP's five terminal methods on a host: terminal/create, output, wait_for_exit, kill
// and release (https://agentclientprotocol.com/protocol/terminals). [Terminals] answers them on one
// AHP connection. The terminals are ordinary ones: they are in the root's list, and people may
// attach to them.
//
// Where what agents start needs a person's yes (guard_agents), terminal/create is answered at once
// all the same. The command waits; it may be killed or released. If it is refused, or nobody has
// answered in ten minutes, it has exited with 126, and its output says why.
//
// While an agent's editor asks its user for a permission that is about a terminal, the proxy
// between them sends termhost/permission {sessionId, terminalId, request, title, over}. Then the
// terminal waits for an approval, and the question is among the asks, until the same is sent with
// over. It is answered in the editor only.
//
// A terminal belongs to the connection that made it. No other connection knows its ACP id, and when
// the connection ends the terminal is killed and released. But if the host ends, or is killed, the
// terminal is restored by the next host and belongs to the next connection of the same principal
// and clientId. If none comes within the host's ClientGrace, it is killed and released.
package acp
