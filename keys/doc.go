// Package keys proves who a peer is, with host keys, authorized_keys files, certificates and
// tokens. It knows nothing of terminals. What a proven identity may do is decided by package authz.
//
// A [Ring] holds every way to authenticate with a key. It reads its files again when they change,
// and says so on its Changed channel. [Tokens] holds bearer tokens, as hashes; each is bound to the
// key that it was minted with.
//
// The formats of files and the checks of their modes and owners follow sshd(8), sshd_config(5) and
// ssh-keygen(1), so that a file shared with sshd means the same here. Where there is a difference,
// this package refuses more: an option that cannot be honoured refuses its key, a certificate
// without principals is refused, and a key file that cannot be trusted any more withdraws the keys
// that it authorised.
//
// Private keys and tokens never appear in errors or logs. Public keys, fingerprints, file names and
// line numbers do, because an administrator needs them: errors of this package are for the log and
// not for the peer.
package keys
