// Package ptypool runs programs on pseudo terminals and keeps, for each of them, the screen they have painted.
//
// A [Pool] starts (or adopts) a [Term]: a [Backend] that runs one process session, a reader that takes its output in
// batches, a bounded queue for its input, and a [vt.Terminal] that parses the output. What the parser finds goes, in
// order, to the Term's [Handler], with the Term's lock held. A Term without a process ([Pool.Virtual]) is fed by its
// owner instead.
//
// # What a terminal costs while nothing happens
//
// Two goroutines (reader and reaper), both parked in the runtime's poller: the pty's master is a non-blocking
// descriptor of our own, awaited through an epoll instance, and the child is awaited through a pidfd, so no operating
// system thread waits for either. The 64 KiB read buffer is borrowed only while there is output, the goroutine that writes input exists only while the
// program does not take it.
//
// # The end of a terminal
//
// Output is read to its end first, then the exit status is reported, then the descriptors are closed. The end is the
// hangup of the pty: no process has it open any more. A background process that keeps it open after the child was
// reaped does not hold the report back for longer than a short drain (see drainSilence): whatever the child itself has
// written is always read, what others write after that is dropped and their descriptor is hung up.
//
// A terminal that ends by itself leaves background processes alone, as sshd does. [Term.Hangup] ends all of them: every
// process of the process session, of any process session that was made inside it (setsid), and all their descendants;
// SIGHUP first and SIGKILL after a grace. How they are found, and who can escape, is written at [MarkerVariable].
//
// # Locks
//
// The order is Term, then whatever the Handler locks (the store). The input queue has a leaf lock of its own, so that
// [Term.Input] may be called with or without the Term's lock. The Pool's lock is a leaf as well.
//
// The package is for Linux: it needs /proc, pidfd and Linux's pty ioctls.
package ptypool
