// Package keys proves who somebody is: host keys, authorized_keys files,
// certificates and tokens. It knows nothing of terminals; what a proven identity
// may do is package authz's matter.
//
// A Ring holds every way to authenticate with a key. It reads its files again
// when they change and tells whoever waits on Changed. A Tokens store holds
// bearer tokens, as hashes, bound to the key they were minted with.
//
// File formats and their checks follow sshd(8), sshd_config(5) and
// ssh-keygen(1), so that a file shared with sshd means the same here. Where they
// differ, this package refuses more: an option that cannot be honoured refuses
// its key, a certificate without principals is refused, and a key list that
// cannot be trusted any more withdraws the keys that it brought.
//
// Private keys and tokens never appear in errors or logs. Public keys,
// fingerprints, file names and line numbers do, because they are what an
// administrator needs; errors of this package are for the log, not for the peer.
package keys
