// Package mcp gives clients of the Model Context Protocol (MCP, https://modelcontextprotocol.io)
// the host's terminals, as six tools: terminal_run, terminal_open, terminal_read, terminal_send,
// terminal_list and terminal_stop; and what each terminal shows and has printed as two resources.
//
// A [Server] serves all doors: [Server.Serve] a stream of lines, for SSH channels and the unix
// socket, and [HTTP] requests. It speaks the versions with sessions, 2024-11-05 to 2025-11-25, and
// 2026-07-28, whose requests stand alone. The protocol itself is the SDK's; what is malformed, too
// long or too much is refused before the SDK sees it.
//
// Results are text for a model. Their first line, and no other, is the host's word: see [Header].
// What follows is what the terminal has printed, as it shows it: without escape sequences, and with
// lines that were rewritten as they are at the end. Behind it are sentences with the next call,
// where there is one. The same facts for programs are in the result's _meta. No text for a model
// has anything that people would not see: see [visible.Clean].
//
// A cursor is a position in a terminal's output, in bytes; a line has the one at which it begins:
// see [history.Log.TextLines]. What a result leaves out is named with the cursor that leads to it.
//
// A client is known by its principal and the name that it gives itself, over all its connections:
// the host remembers how far it has read, and tells it of calls whose answer it never got. It is an
// agent with a claim of its own, which is not that of the person or token whose key it has: see
// [authz.Principal.MCPClient]. A call ends with its connection, but what it has started goes on.
//
// Clients of one name that are connected at the same time are told apart by a number: NAME, NAME#2.
// Each stream of lines is a client, and over HTTP each session; in version 2026-07-28, which has no
// sessions, all requests of a principal and name are one. A number is free when its client has
// gone, and the next client of that number inherits its state. `termhost mcp` identifies its client
// on each connection ([MetaInstance]), so that it gets its own number back.
package mcp
