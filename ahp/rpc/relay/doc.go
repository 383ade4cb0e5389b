// Package relay carries AHP from a host to the others of its fleet.
//
// A terminal has one owner, the host that it runs on. A host to which a client has connected, a
// door, shows the client the terminals of all hosts, and passes on the client's requests to another
// one's. The owner answers as if the client had connected to it: it decides about permissions,
// order, and a slow reader's omissions. A door keeps no terminal's state.
//
// # Names
//
// A door's client names the terminal ahp-terminal:/NAME of the host box2
// ahp-terminal://box2/NAME. One with another URI has that in its path: agent:/a/b becomes
// ahp-terminal://box2/agent:/a/b, and agent://x/b becomes ahp-terminal://box2/agent:@x/b. Whatever
// a host sends, the door puts that host's name there, and in _meta.termhost.host. A door's own
// terminals have no host in their names; that with its own name is taken, too, and what it answers
// has the name without.
//
// # Links
//
// For each of its connections and each host that the client uses, a door has a link: an AHP
// connection to the owner, over the fleet, with the client's principal, clientId, version and
// capabilities. The owner sends at most a window of output beyond what was written to the client.
// What does not fit stays in the owner's logs, and a client that falls off them is resynchronised
// by the owner.
//
// A link that is lost, because the owner was restarted, is made again and goes on with AHP's
// reconnect. A host that is silent is asked nothing: requests and keys are refused with the reason,
// also those that it has not answered yet. Its subscriptions stand still until it is back.
//
// What is typed says which heartbeat of the owner the door has heard last, as heard in the params:
// see package typed. The owner refuses what comes so late that the door must have counted it as
// silent when it was typed.
//
// A client that says what its person looks at has a link to every host, also to one that joins
// later: each hears of its own terminals and tells what wants the person there. The door tells the
// client of all together.
//
// # Numbers
//
// A connection's serverSeq has to rise, and each host has a counter of its own. So a door gives
// what it passes on numbers of its own counter, in the order in which it is passed on. It remembers
// for a while which numbers of an owner these were. When its client reconnects, it asks each owner
// for what comes after the number that the client has seen; if it does not remember that, as after
// its own restart, the owner resynchronises the client. What the owner has to say follows the
// answer to reconnect, as actions. A clientSeq is passed on as it is.
//
// # Lists
//
// The root's list is asked of each host as the principal, once for all connections of that: see
// [Door]. Guests of a door see nothing of other hosts.
package relay
