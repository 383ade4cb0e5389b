// Package rpc speaks AHP's JSON-RPC to one peer over any message transport.
//
// [Serve] has two goroutines: the reader takes one message after the other and
// calls the host's verbs; the writer pulls from the connection's place in the
// logs ([store.Subscriber]) and writes. Responses are put among the actions, so
// the peer reads everything in the order in which it happened: when it reads the
// answer to a request it has read all that came before, and a snapshot is
// followed by exactly what it does not contain.
//
// Nothing a peer sends ends in a panic or in silence: what cannot be understood
// is answered with JSON-RPC's errors, and a peer that does not read is neither
// waited for nor given memory: it is resynchronised, and closed when it takes no
// byte for a minute.
package rpc
