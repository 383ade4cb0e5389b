// Package keys proves who a peer is, with host keys, authorized_keys files, certificates and
// tokens. It knows nothing of terminals. Package authz decides what a proven identity may do.
//
// A [Ring] authenticates keys. It reads its files again when they change, and reports that on its
// Changed channel. [Tokens] stores bearer tokens as hashes; each is bound to the key that minted
// it.
//
// The formats of files and the checks of their modes and owners follow sshd(8), sshd_config(5) and
// ssh-keygen(1), so that a file shared with sshd means the same here. Where they differ, this
// package is stricter: an option that cannot be honoured refuses its key, a certificate without
// principals is refused, and the keys of a file that can no longer be trusted are withdrawn.
//
// Private keys and tokens never appear in errors or logs. Public keys, fingerprints, file names and
// line numbers do, because an administrator needs them: errors of this package are for the log and
// not for the peer.
package keys
