// Package termlog is the bounded log of one terminal: what it printed, byte for byte, and what
// happened meanwhile (resizes, commands, claims, checkpoints, the exit), in order.
//
// A log is a handful of segments of a fixed size. Records are written one behind the other; when
// the newest segment is full the oldest is overwritten from its beginning, in place, so a log
// never takes more room than it was made with, and a file system that has given the room once
// does not have to give it again. The segments may be files in a folder, which outlive the
// machine, or sealed memory (memfd_create(2)), which outlives the process as long as another one
// holds the descriptors.
//
// One process writes at a time, each record with one pwrite(2), and writers change without a word:
// a new one finds the end by reading. A record that was torn when its writer was killed is no
// record: it has no valid checksum, and the next writer erases it and what is behind it. The same
// checksum covers the segment's generation, so what an earlier round left behind the end is no
// record either.
//
// The position of a record is how many bytes the terminal had printed before it. It stays the same
// when the head of the log is overwritten and when a host is restarted.
//
// The package does not interpret records, and never parses output.
package termlog
