// Package admit bounds what strangers and accounts may take of the host. Nobody without a say here
// can keep others out: whoever asks for too much is slowed down, refused, or dropped for others.
// All doors, and the host behind them, count with the same few types:
//
//   - A [Gate] bounds the connections whose peers have not proven who they are. When there are too
//     many, it drops one of the source that has most. [Penalties] have sources wait whose logins
//     fail.
//   - [Places] bound what accounts have at once: an account below an admin gets a share, and the
//     last places are for admins. A [Tally] sums up what they have without bounding it.
//   - A [Bucket] bounds a rate: whoever exceeds it is not refused but read later.
//
// A stranger counts for its [Source], and everybody else for an account: a key with its tokens and
// its guests. What is zero, paid or full again is forgotten; what is remembered for longer is
// bounded.
//
// All types may be used concurrently, and under any lock: theirs are short, and no lock of another
// package is taken under them.
package admit
