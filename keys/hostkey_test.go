package keys

import (
	"bytes"
	"crypto/rand"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

func TestHostKeyIsMadeOnceAndKept(t *testing.T) {
	dir := home(t)
	o := HostKeyOptions{StateDir: dir, Rand: rand.Reader}
	first, err := HostKeys(o)
	if err != nil {
		t.Fatal(err)
	}
	again, err := HostKeys(o)
	if err != nil {
		t.Fatal(err)
	}
	made := first[0].PublicKey().Marshal()
	if len(first) != 1 || !bytes.Equal(again[0].PublicKey().Marshal(), made) {
		t.Error("the second start has another host key")
	}
	path := filepath.Join(dir, hostKeyName)
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v; want 0600", info.Mode(), err)
	}
	derived := keygen(t, dir, "-y", "-f", path) // OpenSSH reads our file
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(derived))
	if err != nil || !bytes.Equal(key.Marshal(), made) {
		t.Errorf("ssh-keygen reads another key from it: %v", err)
	}
	if !bytes.Equal(public(t, path+".pub").Marshal(), key.Marshal()) {
		t.Error("the .pub file is of another key")
	}
	left, err := filepath.Glob(filepath.Join(dir, ".*"))
	if err != nil || len(left) != 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestConcurrentStartsAgreeOnTheHostKey(t *testing.T) {
	dir := home(t)
	const starts = 16
	var wait sync.WaitGroup
	seen := make([]string, starts)
	for i := range starts {
		wait.Go(func() {
			signers, err := HostKeys(HostKeyOptions{StateDir: dir, Rand: rand.Reader})
			if err == nil {
				seen[i] = ssh.FingerprintSHA256(signers[0].PublicKey())
			}
		})
	}
	wait.Wait()
	for _, fingerprint := range seen {
		if fingerprint == "" || fingerprint != seen[0] {
			t.Fatalf("host keys differ: %v", seen)
		}
	}
}

func TestUnsafeOrUnusableHostKeysAreRefused(t *testing.T) {
	dir := home(t)
	openSSHKey(t, dir, "good")
	openSSHKey(t, dir, "good2")
	openSSHKey(t, dir, "weak", "-t", "rsa", "-b", "1024")
	openSSHKey(t, dir, "dsa", "-t", "dsa")
	keygen(t, dir, "-q", "-t", "ed25519", "-N", "secret", "-f", "locked")
	openSSHKey(t, dir, "readable")
	chmod(t, filepath.Join(dir, "readable"), 0o640)
	canary := "c2VjcmV0LWNhbmFyeQ"
	write(t, filepath.Join(dir, "damaged"), "-----BEGIN OPENSSH PRIVATE KEY-----\n"+canary+
		"\n-----END OPENSSH PRIVATE KEY-----\n")
	for name, why := range map[string]string{
		"readable": "chmod 600",
		"weak":     "1024 bits",
		"dsa":      "not a private key", // the library no longer reads them
		"locked":   "ssh-keygen -p",
		"damaged":  "not a private key",
		"good.pub": "chmod 600",
		"missing":  "no such file",
	} {
		_, err := HostKeys(HostKeyOptions{Files: []string{filepath.Join(dir, name)}})
		if !says(err, why) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: got %v, want an error with %q", name, err, why)
		}
	}
	two := []string{filepath.Join(dir, "good"), filepath.Join(dir, "good2")}
	if signers, err := HostKeys(HostKeyOptions{Files: two}); len(signers) != 2 || err != nil {
		t.Errorf("two keys of one type: %v, %v", signers, err)
	}
	if _, err := HostKeys(HostKeyOptions{Files: append(two, two[0])}); !says(err, "named twice") {
		t.Errorf("a key that is named twice: %v", err)
	}
}

func TestRSAHostKeysSignWithSHA2Only(t *testing.T) {
	dir := home(t)
	openSSHKey(t, dir, "rsa", "-t", "rsa", "-b", "2048")
	signers, err := HostKeys(HostKeyOptions{Files: []string{filepath.Join(dir, "rsa")}})
	if err != nil {
		t.Fatal(err)
	}
	algorithms := signers[0].(ssh.MultiAlgorithmSigner).Algorithms()
	if strings.Join(algorithms, " ") != "rsa-sha2-512 rsa-sha2-256" {
		t.Errorf("offers %v", algorithms)
	}
	signer := signers[0].(ssh.AlgorithmSigner)
	if _, err := signer.SignWithAlgorithm(rand.Reader, []byte("x"), ssh.KeyAlgoRSA); err == nil {
		t.Error("signs with SHA-1")
	}
}

func TestHostCertificatesAreServedWithTheirKeys(t *testing.T) {
	dir := home(t)
	openSSHKey(t, dir, "ca")
	openSSHKey(t, dir, "rsaca", "-t", "rsa", "-b", "2048")
	openSSHKey(t, dir, "host")
	openSSHKey(t, dir, "other")
	keygen(t, dir, "-q", "-s", "ca", "-h", "-I", "host", "-n", "localhost", "host.pub")
	keygen(t, dir, "-q", "-s", "ca", "-h", "-I", "other", "-n", "localhost", "other.pub")
	file := func(name string) string { return filepath.Join(dir, name) }
	signers, err := HostKeys(HostKeyOptions{Files: []string{file("host")},
		CertificateFiles: []string{file("host-cert.pub")}})
	if err != nil {
		t.Fatal(err)
	}
	if len(signers) != 2 || signers[1].PublicKey().Type() != ssh.CertAlgoED25519v01 {
		t.Errorf("signers %v", signers)
	}
	load := func(cert string) error {
		_, err := HostKeys(HostKeyOptions{Files: []string{file("host")},
			CertificateFiles: []string{file(cert)}})
		return err
	}
	for cert, why := range map[string]string{
		"other-cert.pub": "none of the host keys",
		"host.pub":       "not a host certificate",
		"missing":        "no such file",
		"ca":             "cannot be read",
	} {
		if err := load(cert); !says(err, why) {
			t.Errorf("%s: got %v, want an error with %q", cert, err, why)
		}
	}
	keygen(t, dir, "-q", "-s", "ca", "-I", "user", "-n", "alice", "host.pub")
	if err := load("host-cert.pub"); !says(err, "not a host certificate") {
		t.Errorf("a user certificate: %v", err)
	}
	keygen(t, dir, "-q", "-s", "rsaca", "-t", "ssh-rsa", "-h", "-I", "host", "-n", "localhost",
		"host.pub")
	if err := load("host-cert.pub"); !says(err, "SHA-1") {
		t.Errorf("a certificate signed with SHA-1: %v", err)
	}
}

func TestFirstRunMakesAKeyThatIsAuthorised(t *testing.T) {
	dir := home(t)
	client, err := EnsureClientKey(dir, "alice\n", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{client.Path, AuthorizedKeysFile(dir)} {
		if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v; want mode 0600", path, info, err)
		}
	}
	ring := open(t, Options{AuthorizedKeysFiles: []string{AuthorizedKeysFile(dir)}, Home: dir})
	key := public(t, client.Path+".pub")
	id, err := ring.Authenticate("anyone", key, local(), testNow)
	if err != nil || id.Fingerprint != client.Fingerprint || id.Comment != "alice" {
		t.Errorf("got %+v, %v", id, err)
	}
	// A key that is removed from the file must stay removed.
	write(t, AuthorizedKeysFile(dir), "# nobody\n")
	again, err := EnsureClientKey(dir, "alice\n", rand.Reader)
	if err != nil || again != client {
		t.Errorf("second run: %+v, %v", again, err)
	}
	if text := read(t, AuthorizedKeysFile(dir)); text != "# nobody\n" {
		t.Errorf("authorized_keys became %q", text)
	}
}

func TestSSHFindsTheKnownHostsLine(t *testing.T) {
	dir := home(t)
	key := newKey(t).PublicKey()
	path := filepath.Join(dir, "known_hosts")
	for addr, name := range map[string]string{
		"127.0.0.1:2222":      "[127.0.0.1]:2222",
		"[::1]:2222":          "[::1]:2222",
		"[::1]:22":            "::1",
		"Box.example:22":      "box.example",
		"box.example:2022":    "[box.example]:2022",
		"[fe80::1%eth0]:2222": "[fe80::1%eth0]:2222",
	} {
		if err := WriteKnownHosts(path, addr, []ssh.PublicKey{key}); err != nil {
			t.Errorf("%s: %v", addr, err)
			continue
		}
		// What ssh(1) looks up when it is told to connect to addr.
		if out := keygen(t, dir, "-F", name, "-f", path); !strings.Contains(out, "found: line 1") {
			t.Errorf("%s: ssh-keygen -F %s: %s", addr, name, out)
		}
		if got, err := KnownAddress(path); err != nil || got != strings.ToLower(addr) {
			t.Errorf("%s: the file is for %q, %v", addr, got, err)
		}
	}
	for _, addr := range []string{":2222", "0.0.0.0:2222", "[::]:2222", "localhost", "a b:22",
		"x:ssh", "x:", "a,b:22", "*:22", "@revoked x:22"} {
		if line, err := KnownHostsLine(addr, key); err == nil {
			t.Errorf("%s gives %q", addr, line)
		}
	}
}

func TestAnExistingClientKeyIsKept(t *testing.T) {
	dir := home(t)
	if _, err := EnsureClientKey(dir, "ann", rand.Reader); err != nil {
		t.Fatal(err)
	}
	// The folder's time changes with every file that is made in it, also with a temporary one.
	long := time.Unix(1_000_000_000, 0)
	if err := os.Chtimes(dir, long, long); err != nil {
		t.Fatal(err)
	}
	if _, err := EnsureClientKey(dir, "ann", rand.Reader); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(dir); err != nil || !info.ModTime().Equal(long) {
		t.Errorf("something was written: %v %v", info.ModTime(), err)
	}
}
