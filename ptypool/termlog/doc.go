// Package termlog is the bounded log of one terminal: its output, byte for byte, and its other
// events (resizes, commands, claims, checkpoints, the exit), in order.
//
// A log is a ring of a few segments of a fixed size. Records are appended; when the newest segment
// is full, the oldest is overwritten in place from its beginning. So a log never takes more room
// than it was made with, and its file system allocates that room only once. The segments may be
// files in a folder, which survive a restart of the machine, or sealed memory (memfd_create(2)),
// which outlives the process as long as another one holds the descriptors.
//
// One process writes at a time, each record with one pwrite(2). A new writer needs no handover: it
// finds the end by reading. A record that was torn when its writer was killed has no valid
// checksum; the next writer erases it and what follows it. The checksum also covers the segment's
// generation, so what an earlier round left after the end is not taken for records.
//
// The position of a record is the number of bytes that the terminal had printed before it. It stays
// the same when the oldest records are overwritten and when a host is restarted.
//
// The package does not interpret records, and never parses output.
package termlog
