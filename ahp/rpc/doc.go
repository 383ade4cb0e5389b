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
// These are requests of termhost's own for any client, each announced by its name in the _meta of
// the answer to initialize. Whoever may read a terminal may send them. What is read is named by
// channel, or for a recording by recording: its name instead.
//
// termhost/history {channel, from?, before?, maxBytes?, outline?} returns {items, next?, first}. An
// item has at, time and kind, and what belongs to the kind: "data" has data, as viewers got it;
// "resized" has cols and rows; "command" has line, by and startedAt, "finished" durationMs and
// exitCode as well; "gap" has missing and reason, "exited" exitCode. at is a position in the log,
// which stays the same when the host is restarted, and nth is how many items at the same position
// come before, if there are any; from and before are such positions. next is where the rest goes
// on, first where the log begins. An outline has everything but data, and of pieces of output that
// came within a tenth of a second the first only, and the last one of all: what a timeline is drawn
// from.
//
// termhost/screen {channel, at?, items?, scrollback?} returns {at, items, time, cols, rows, data}:
// what a blank terminal of that size has to be given to show what the terminal showed at a place of
// its history, which is behind the first items of the items at the position at, or without at the
// end. So a client can go to any place without all that comes before, and go on from there with
// termhost/history. scrollback is how many lines before the screen are wanted.
//
// termhost/lines {channel, at?, items?, from?, count} returns {at, items, total, truncated, lines}:
// lines of what had left the screen at that place, and of the screen itself, with their colours as
// SGR. A line that was wrapped is one. from is the number of the first line that is wanted; total
// is how many there are. Fewer than count come where they would be too long together. truncated
// says that lines before the first one are gone. As the log loses its beginning in time, the number
// of a line becomes less, while total minus that number stays.
//
// termhost/find {channel, at?, items?, pattern, ignoreCase?} returns {at, items, total, truncated,
// lines, more}: the numbers of those lines that match a regular expression (RE2). There are at most
// 10,000, and more says that others come before.
//
// termhost/log {channel, form} returns {data, truncated}: the whole log as `log` prints it, as
// "text" or "raw", or as `cast` does, as "cast"; in base64. A recording has "cast" only.
//
// termhost/recordings {} returns {recordings}, as `recordings --json` prints them.
//
// # What programs copy
//
// A client that has termhost/clipboard in the _meta of its initialize and reconnect is told what
// programs copy (OSC 52), once and when it happens: with a notification {channel, selection, data},
// for the terminals that it subscribes to, while it holds their claims. selection is as the program
// names it, "c" or "" for the clipboard; data is base64, which nobody has checked. No program reads
// a clipboard.
package rpc
