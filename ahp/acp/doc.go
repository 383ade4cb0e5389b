// Package acp lets agents of the Agent Client Protocol (ACP, version 1) run their
// commands in the host's terminals.
//
// [Methods] are ACP's five terminal methods on the host's side, terminal/create,
// output, wait_for_exit, kill and release
// (https://agentclientprotocol.com/protocol/terminals), which [Terminals] answers for
// one AHP connection. The terminals are ordinary ones, in the root's list and open
// to people.
//
// [Proxy] stands between an editor and an agent. It passes their messages on as
// they are, but has the host answer the agent's terminal requests, and shows the
// terminals in the editor in whichever way the editor can.
//
// A peer's terminals are its own: ids are known on the connection that made them
// only, and everything is killed and released when that ends.
package acp
