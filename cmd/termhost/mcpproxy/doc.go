// Package mcpproxy stands between a client that speaks the Model Context Protocol (MCP) on standard
// streams and a termhost host. [Run] passes their messages on as they are, for `termhost mcp`. When
// the connection to the host is lost it makes another one, and the client need not notice:
//
//   - What the client has set up, its handshake and its subscriptions, is set up again. The answers
//     to that end here.
//   - The host is told which client comes back, so that it gets its own place among those that call
//     themselves the same.
//   - Requests that only read are sent again. A call of a tool that does more is never sent twice:
//     it is answered with a result that says what is not known, and how to find out.
//   - Requests that come while there is no connection wait for one, for a while.
//
// Era 2026-07-28 of the protocol, which has no handshake, works alike.
//
// Nothing but messages is written to the client. Lines of the host's that are none, such as a
// banner, and answers to what nobody waits for are left out.
package mcpproxy
