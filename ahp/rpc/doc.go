// Package rpc speaks AHP's JSON-RPC to one peer over any message transport.
//
// [Serve] has two goroutines. The reader takes one message after the other and
// calls the host's verbs. The writer pulls from the connection's cursors in the logs
// ([store.Subscriber]) and writes. Responses take their place among the actions, so
// the peer reads everything in the order in which it happened: once it has read the
// answer to a request, it has read all that came before. A snapshot is taken when the
// answer that carries it is written, and is followed by exactly what it does not contain.
//
// Whatever a peer sends, it gets an answer and causes no panic: what cannot be
// understood is answered with a JSON-RPC error. A peer that does not read costs no
// memory and holds nobody up: it is resynchronised when it reads again, and closed
// when it takes no byte for a minute.
//
// # What a terminal's log holds
//
// termhost/history {channel, from?, before?, maxBytes?} returns {items, next?, first}. An item has
// at, time and kind, and what belongs to the kind: "data" has data, as viewers got it; "resized"
// has cols and rows; "command" has line, by and startedAt, "finished" durationMs and exitCode as
// well; "gap" has missing and reason, "exited" exitCode. at is a position in the log, which stays
// the same when the host is restarted; from and before are such positions. next is where the rest
// goes on, first where the log begins.
//
// termhost/log {channel, form} returns {data, truncated}: the whole log as `log` prints it, as
// "text" or "raw", in base64.
package rpc
