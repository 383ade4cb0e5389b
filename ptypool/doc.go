// Package ptypool runs programs on pseudo terminals, or on pipes, and keeps, for each of them, the
// screen that they have painted.
//
// A [Pool] starts a [Term], which is made of a backend that runs the program and carries its bytes,
// a reader that takes the output in batches, a bounded queue for the input, and a [vt.Screen] that
// parses the output. What the parser finds goes, in order, to the Term's [Handler], with the Term's
// lock held. A Term without a process ([Pool.Virtual]) is fed by its owner instead. A Term whose
// program runs on pipes ([Pool.StartPiped]) passes the exact output to readers that may slow the
// program down, and has no keyboard.
//
// # The words
//
//   - leader: the process that was started on the terminal. It leads a process session (setsid(2)).
//   - process tree: the leader and everything that it and its descendants have started.
//   - marker: the value of an environment variable by which a process tree is recognised. A mark is
//     something else: an OSC 633 sequence, with which a shell reports its commands.
//   - hang up: SIGHUP to the whole process tree and, after a grace, SIGKILL. The reaper does it.
//   - line discipline: the kernel's part of a pty, which echoes, edits lines and makes signals of
//     characters such as ctrl-C.
//
// # The cost of an idle terminal
//
// Two goroutines, the reader and the one that waits for the leader, both in the runtime's poller:
// the pty's master is a non-blocking descriptor of our own, awaited through an epoll instance, and
// the leader is awaited through a pidfd, so no operating system thread waits for either. The 64 KiB
// read buffer is borrowed only while there is output, and the goroutine that writes input exists
// only while the program does not accept it.
//
// # The end of a terminal
//
// First the output is read to its end, then the exit status is reported, then the descriptors are
// closed. The output ends with the hangup of the pty, when no process has it open any more. A
// background process that keeps it open after the leader's end delays the report by a short drain
// at most (see drainSilence): the leader's output is always read; what others write after the drain
// is dropped, and their descriptor is hung up. Pipes are read, as by sshd, until nobody has them
// open any more.
//
// A terminal that ends by itself leaves background processes alone, as sshd does. [Term.Hangup]
// ends all of them: every process of the process session, of any process session that was made
// inside it (setsid), and all their descendants. [MarkerVariable] says how they are found, and
// which of them can escape.
//
// # Locks
//
// The Term's lock comes first, then the Handler's (the store). The locks of the input queue, the
// Pool, the reaper and the process tree are held for short steps of their own, and no two of them
// at once. [Term.Input] may be called with or without the Term's lock.
//
// The package is for Linux: it needs /proc, pidfd and Linux's pty ioctls.
package ptypool
