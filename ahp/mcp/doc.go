// Package mcp gives clients of the Model Context Protocol (MCP, https://modelcontextprotocol.io)
// the host's terminals, as six tools: terminal_run, terminal_open, terminal_read, terminal_send,
// terminal_list and terminal_stop.
//
// Results are text for a model. Their first line, and no other, is the host's word: see [Header].
// What follows is what the terminal has printed, as it shows it: without escape sequences, and with
// lines that were rewritten as they are at the end. The same facts for programs are in the result's
// _meta.
package mcp
