package keys

import (
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestPageKeyIsMadeOnceAndKept(t *testing.T) {
	dir := home(t)
	first, err := PageKey(dir, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	again, err := PageKey(dir, rand.Reader)
	if err != nil || !again.Equal(first) {
		t.Errorf("the second start has another key: %v", err)
	}
	path := filepath.Join(dir, pageKeyName)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	keygen(t, dir, "-l", "-f", path) // OpenSSH reads our file
	for name, text := range map[string]string{"nothing": "", "another type of key": sshKeyFile(t, dir)} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := PageKey(dir, rand.Reader); err == nil || !strings.Contains(err.Error(), "no ecdsa key") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sshKeyFile returns the text of an ed25519 key.
func sshKeyFile(t *testing.T, dir string) string {
	t.Helper()
	if _, err := HostKeys(HostKeyOptions{StateDir: dir, Rand: rand.Reader}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, hostKeyName))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
