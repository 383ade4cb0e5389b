package keys

import (
	"crypto/ed25519"
	"crypto/rand"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// testNow is the present time in the tests.
var testNow = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// local is the address that most tests connect from.
func local() net.Addr { return from("127.0.0.1") }

func from(ip string) net.Addr { return &net.TCPAddr{IP: net.ParseIP(ip), Port: 40000} }

// try returns why r refuses a key of somebody who connects from this machine; nil: it does not.
func try(r *Ring, user string, key ssh.PublicKey) error {
	_, err := r.Authenticate(user, key, local(), testNow)
	return err
}

// says reports whether err is an error with that text in it.
func says(err error, text string) bool {
	return err != nil && strings.Contains(err.Error(), text)
}

// newKey makes a key without ssh-keygen, for tests that are not about its files.
func newKey(t testing.TB) ssh.Signer {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return signer
}

// keygen runs the real ssh-keygen in dir. Its absence is a failure: the README
// asks for an OpenSSH client.
func keygen(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("ssh-keygen", args...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("ssh-keygen %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// openSSHKey makes a key pair dir/name with ssh-keygen and returns the public one's line.
func openSSHKey(t testing.TB, dir, name string, args ...string) string {
	t.Helper()
	if len(args) == 0 {
		args = []string{"-t", "ed25519"}
	}
	keygen(t, dir, append(args, "-q", "-N", "", "-C", name, "-f", name)...)
	return read(t, filepath.Join(dir, name+".pub"))
}

// public reads a public key or certificate file.
func public(t testing.TB, path string) ssh.PublicKey {
	t.Helper()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(read(t, path)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func read(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func chmod(t testing.TB, path string, mode os.FileMode) {
	t.Helper()
	if err := os.Chmod(path, mode); err != nil {
		t.Fatal(err)
	}
}

// home makes a folder that stands for the user's home, above which nothing is checked.
func home(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	chmod(t, dir, 0o700)
	return dir
}

// testKey is a public key that knows its authorized_keys line.
type testKey struct{ ssh.PublicKey }

func (k testKey) line(options string) string {
	return strings.TrimSpace(options + " " + publicLine(k.PublicKey, "alice"))
}

func parse(t testing.TB, blob []byte) ssh.PublicKey {
	t.Helper()
	key, err := ssh.ParsePublicKey(blob)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
