// Package bus carries messages between the hosts of a fleet.
//
// A [Node] is one host's end of it. It announces to all hosts, asks one for an answer, and opens
// streams, which are net.Conns. All of that runs over a [Link], which only sends messages to a
// host, or to all of them, and may lose any: package natslink is one on NATS, and a [Network] has
// those of one process, for tests.
//
// # Streams
//
// A stream is exact over a link that is not: what was sent is kept, at most [Window] bytes of it,
// until the peer has it, and sent again when the peer sees a gap or falls silent. So a stream
// outlives a link that is cut and connects again, and the restart of the server between two hosts.
// It ends when one side closes it, when the peer does not know it (its host has restarted), or
// with [Node.Drop].
//
// The reader grants credit: nobody has more than Window bytes on the way, so that one stream that
// floods cannot fill the link's buffers, where all others would wait behind it. Credit and requests
// travel as [Control], bytes as [Bytes]: a link keeps a connection for each.
//
// # Trust
//
// A link says who has sent a message, as far as its server tells hosts apart. A Node relies on that
// only to keep hosts out of each other's streams. Who a host is, and for whom it speaks, is proven
// within a stream: see package fleet.
package bus
