// Command termhost keeps terminals alive for people and agents: people attach with ssh, agents over
// WebSocket, both to the same terminals.
//
// # How it works
//
//	  ssh ──► sshd ─┐                        ┌─► ptypool ── pty, shell
//	                │            ahp/host    │      └ vt: parser, screen
//	agent ──► ahp/ws├─► ahp/rpc ─► verbs ────┤
//	                │             authz      └─► ahp/store: one order, a log per terminal
//	 unix ──► ─────┘                                  └ cursors of all readers
//
// The log is the queue: a reader, SSH viewer or agent, is a position in it. So fan-out, replay
// after a reconnect and falling behind are one mechanism. Three paths to follow:
//
// # A byte out
//
//  1. A program writes to its pty. ptypool's reader wakes up (fdReader.WaitReadable) and takes
//     what is there, at most 64 KiB (readBatch).
//  2. Under the terminal's lock (Term.deliver) the batch goes through vt.Screen.Feed: it paints
//     the screen, takes out shell-integration marks and queries, and hands the rest to the host's
//     events.Data. The host answers the queries itself (events.Reply).
//  3. store.Channel.AppendData copies it, gives it a serverSeq, adds it to the terminal's content
//     and log, and wakes the readers, in one critical section.
//  4. Each reader pulls at its own pace (Subscriber.Pull). An SSH viewer writes the bytes as they
//     are (viewer.write in sshd/viewer); a WebSocket gets JSON that is encoded once for all
//     (Entry.AppendEnvelope, from peer.writeLoop in ahp/rpc).
//  5. A viewer that is too far behind gets the screen instead (viewer.catchUp), an agent actions
//     that rebuild the state (cursor.resyncLocked).
//
// A program on pipes has no pty. What it prints goes byte for byte to the peer that started it
// (Term.readExact, host.Streams), and a peer that reads slowly slows it down. At the same time
// it goes the way above, with the line ends of a terminal.
//
// # A keystroke in
//
//  1. inputLoop.run in sshd/viewer reads the SSH channel. keyboard.Filter takes out the prefix
//     key and the key after it, which are for the viewer.
//  2. Attach.Input takes the terminal's lock. While it is held, nobody else can take the claim.
//  3. authz.Check: does this principal hold the claim? If not, an admin's first key takes it
//     (seizeLocked), though not a report that the viewer's terminal sends by itself; anybody else
//     gets the rule that refused them.
//  4. The terminal's executor writes to the pty what it takes at once. The rest waits in a bounded
//     queue for a goroutine (ptypool's inputQueue). A ctrl-C overtakes it.
//  5. An agent's terminal/input takes the same step from Conn.Dispatch. Its acknowledgement
//     carries no keys: they are in no log and nobody else sees them.
//
// # What a key and its echo cost
//
// The host is woken twice, as sshd is: by the socket and by the pty. What is in between runs on one
// thread, although four goroutines have a part in it (package processors), and without calls that
// the scheduler prepares for (package nonblock). The log is written some milliseconds later (see
// journal.Journal). What is left beyond sshd's two reads and two writes: a read of the socket that
// finds nothing, which Go's poller needs before it waits, a poll of the pty for the same reason,
// the parser, and a timer each for the deadline of the write and for the log.
//
// # A terminal/output, from the owner of a shared terminal
//
//  1. termhost share reads its own pty and posts the action (ahp/client), in pieces, with a bound
//     on what waits for the connection.
//  2. rpc.Serve at the host decodes it and calls Conn.Dispatch. An owner that sends faster than
//     its rate is read more slowly, alone (Conn.WaitOutput).
//  3. Under the terminal's lock authz.Check asks whether this connection is the owner's: its
//     clientId and its key. Nobody else passes, admins included.
//  4. clientExecutor.takeOutput feeds the same parser that a pty feeds (Term.Feed), so steps 2 to
//     5 of a byte out follow, for everybody but the owner.
//  5. The owner gets its own action back (Channel.Echo): that is how share knows what the host has,
//     and where to go on after a gap.
//
// # Where things are
//
// ahp is the protocol as data, ahp/transport what carries its messages, ahp/client a Go client
// without the server in it, ahp/host the terminals and what may be done with them. What they have
// printed is read by ahp/history, and kept by ahp/journal and ahp/recordings. authz says who may do
// what, and authz/admit how many may come, and how much each may take. sshd/verbs are the commands
// of ssh host without SSH, sshd/viewer is what shows a terminal to a person, keys has the host
// keys, authorized_keys, certificates and tokens.
//
// Of several hosts ahp/fleet knows which there are and which can be reached, by messages that
// ahp/fleet/bus carries over NATS. A verb for a terminal of another host is an SSH session there,
// which sshd/carry joins with the peer's.
//
// cmd/termhost has the flags, the wiring and the exit codes. What its commands do is in packages
// below it: local and sshcmd reach a host on this machine and elsewhere, share, acpproxy,
// mcpproxy and bench are commands, tty is the user's terminal, man the manual, and config, access,
// logs, hostlock, service and processors are what a host needs before and while it runs.
//
// Each package says in its doc comment what it promises; a test keeps the imports pointing
// downwards.
//
// # The keeper
//
// A process of its own, termhost keeper, is the parent of the shells. It hands the host their ptys,
// so that no byte makes a detour, and collects exit statuses. When the host is gone it reads on
// into the logs. serve starts one where none answers, and hands it the terminals of one that has
// died; [terminal] keep = false is without.
package main
