package keys

import (
	"bytes"
	"encoding/base64"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

// newerKey is a key's line of a type that the SSH library does not know.
func newerKey(kind string) string {
	blob := ssh.Marshal(struct{ Type, Key string }{kind, "any bytes"})
	return kind + " " + base64.StdEncoding.EncodeToString(blob) + " someone"
}

// A key of an unknown type affects neither the other keys nor the revoked ones.
func TestKeysOfUnknownTypesAreSkippedWithALineEach(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	const kind = "ssh-mldsa44@openssh.com"
	alice, mallory := testKey{newKey(t).PublicKey()}, testKey{newKey(t).PublicKey()}
	write(t, file, strings.Join([]string{
		newerKey(kind), `from="10.0.0.1",no-pty ` + newerKey(kind), "cert-authority " + newerKey(kind),
		newerKey("ssh-mldsa44-cert-v01@openssh.com"), alice.line(""), mallory.line(""), ""}, "\n"))
	revoked := filepath.Join(sshDir, "revoked")
	write(t, revoked, newerKey(kind)+"\n"+mallory.line("")+"\n")
	var log bytes.Buffer
	r := open(t, Options{AuthorizedKeysFiles: []string{file}, RevokedKeysFile: revoked, Home: homeDir,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	if err := try(r, "a", alice); err != nil {
		t.Errorf("alice: %v", err)
	}
	if err := try(r, "a", mallory); !says(err, "revoked") {
		t.Errorf("mallory: %v", err)
	}
	for _, line := range []string{
		"authorized_keys:1 is skipped: keys of type " + kind + " are not supported here",
		"authorized_keys:2 is skipped: ", "authorized_keys:3 is skipped: ", "authorized_keys:4 is skipped: ",
		"revoked:1 is skipped: ",
	} {
		if strings.Count(log.String(), line) != 1 {
			t.Errorf("the log has not one line with %q:\n%s", line, &log)
		}
	}
	if n := strings.Count(log.String(), "\n"); n != 5 {
		t.Errorf("the log has %d lines:\n%s", n, &log)
	}
}

// What only looks like an unknown type may be meant to revoke a key that is known.
func TestAMistypedTypeIsNotAnUnknownOne(t *testing.T) {
	homeDir, sshDir, file := tree(t)
	alice := testKey{newKey(t).PublicKey()}
	write(t, file, alice.line("")+"\n")
	revoked := filepath.Join(sshDir, "revoked")
	write(t, revoked, strings.Replace(alice.line(""), "ssh-ed25519", "ssh-ed25518", 1)+"\n")
	r, err := Open(Options{AuthorizedKeysFiles: []string{file}, RevokedKeysFile: revoked, Home: homeDir,
		Interval: never})
	if err == nil {
		defer r.Close()
		if err = try(r, "a", alice); err == nil {
			t.Error("alice is let in")
		}
	}
}
