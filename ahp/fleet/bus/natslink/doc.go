// Package natslink links the hosts of a fleet with NATS: [Connect] makes a bus.Link of two
// connections to a server, and [Serve] runs a server within this process.
//
// A message from one host to another has the subject th.FROM.TO.c or, for what streams carry,
// th.FROM.TO.b; one to all has th.FROM.all.c. A host may publish what begins with its own name and
// subscribe to what names it, and to nothing else ([Permissions]): so the server vouches for FROM,
// and nobody reads what is for another. There are no inboxes, which by default everybody could
// read. Nothing is stored: there is no JetStream.
//
// Each host has a subscription for each connection: bytes that flow fast must not be in the way of
// their pacing. Their buffers are bounded, and the excess is lost, which package bus mends. Before
// they are full, most is lost of what that host has sent which sends most. A host that hears the
// announcements of few others has a subscription for each of them, so that the server does not
// deliver those of all to all.
package natslink
