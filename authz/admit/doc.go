// Package admit bounds what strangers and accounts may use of the host, so that nobody can keep
// others out: who asks for too much is slowed down, refused, or dropped. All doors, and the host
// behind them, use the same few types:
//
//   - A [Gate] bounds the connections whose peers have not proven who they are. When there are too
//     many, it drops one of the source that has most. [Penalties] refuse sources whose logins fail.
//   - [Places] bound what accounts have at once: an account below an admin gets a share, and the
//     last places are for admins. A [Tally] counts what they use without bounding it.
//   - A [Bucket] bounds a rate: who exceeds it is not refused but read later.
//
// A stranger counts for its [Source], and everybody else for an account: a key with its tokens and
// its guests. State that is back to its zero value is deleted; the rest is bounded.
//
// All types may be used concurrently, and under any lock: they hold their own locks briefly, and
// take no other package's lock under them.
package admit
