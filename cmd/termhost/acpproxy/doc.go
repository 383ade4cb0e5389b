// Package acpproxy stands between an editor and an agent that speak the Agent Client Protocol (ACP,
// version 1) on standard streams. [Proxy] passes their messages on as they are, but has a termhost
// host run the agent's commands, each in a terminal, and shows these terminals in the editor. [Run]
// runs an agent with a Proxy, for `termhost acp`.
//
// What the editor shows for a terminal of the host is called a view. An editor that has terminals
// gets a live view: a terminal of its own that runs "termhost attach -r". Any other gets a text
// view: the terminal's content as text in the tool call, renewed as it changes.
package acpproxy
