package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/cmd/termhost/config"
)

// TestReloadTakesAnotherCertificateAndHostKey writes other files under the names that the
// configuration has, which only SIGHUP makes the host read, and then breaks one.
func TestReloadTakesAnotherCertificateAndHostKey(t *testing.T) {
	dir := hosttest.Dir(t)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_STATE_HOME", "")
	file := filepath.Join(dir, "c.toml")
	writeFile(t, file, fmt.Sprintf(`
		ssh.listen = "127.0.0.1:0"
		ssh.host_key_files = ["%[1]s/hostkey"]
		http.listen = "127.0.0.1:0"
		http.tls_cert_file = "%[1]s/cert"
		http.tls_key_file = "%[1]s/key"
	`, dir))
	writeCertificate(t, dir, 1)
	first := writeHostKey(t, dir)
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	log := new(hosttest.Log)
	s, err := startServer(cfg, log.Logger())
	if err != nil {
		t.Fatal(err)
	}
	defer s.shutdown(t.Context())
	watched := config.WatchFile(file)
	expect := func(serial int64, hostKey string) {
		t.Helper()
		if got := serialOf(t, s.httpListener.Addr()); got != serial {
			t.Errorf("the certificate is number %d, want %d", got, serial)
		}
		if got := hostKeyOf(t, s.sshListener.Addr()); got != hostKey {
			t.Errorf("the host key is %s, want %s", got, hostKey)
		}
	}
	expect(1, first)

	writeCertificate(t, dir, 2)
	second := writeHostKey(t, dir)
	expect(1, first)
	s.reloadAll(watched)
	expect(2, second)
	if !strings.Contains(log.String(), "the host keys have changed") {
		t.Error(log.String())
	}
	known, err := os.ReadFile(filepath.Join(cfg.StateDir, "known_hosts"))
	if err != nil || !strings.Contains(string(known), "ssh-ed25519 ") {
		t.Errorf("known_hosts is %q, %v", known, err)
	}

	writeCertificate(t, dir, 3)
	writeFile(t, filepath.Join(dir, "hostkey"), "no key")
	s.reloadAll(watched)
	expect(2, second)
	if !strings.Contains(log.String(), "the configuration stays as it was") {
		t.Error(log.String())
	}
}

// aServer starts a server with a configuration that is in a file, whose listeners are added.
func aServer(t *testing.T, file, text string) (*server, *hosttest.Log) {
	t.Helper()
	t.Setenv("HOME", filepath.Dir(file))
	t.Setenv("XDG_STATE_HOME", "")
	writeFile(t, file, listeners+text)
	cfg, err := config.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	log := new(hosttest.Log)
	s, err := startServer(cfg, log.Logger())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
		defer cancel()
		if err := s.shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return s, log
}

const listeners = "ssh.listen = \"127.0.0.1:0\"\nhttp.listen = \"127.0.0.1:0\"\n"

// authorizedKey returns a line of a new key, and its fingerprint.
func authorizedKey(t *testing.T) (line, fingerprint string) {
	t.Helper()
	public, _, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	key, err := gossh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(gossh.MarshalAuthorizedKey(key))), gossh.FingerprintSHA256(key)
}

// TestAConfigurationThatLetsNobodyInIsRefused has a script take the people away for good.
func TestAConfigurationThatLetsNobodyInIsRefused(t *testing.T) {
	file := filepath.Join(hosttest.Dir(t), "c.toml")
	line, _ := authorizedKey(t)
	const noKeys = "ssh.authorized_keys_files = []\n"
	s, log := aServer(t, file, noKeys+
		fmt.Sprintf("[[principal]]\nname = \"ann\"\nrole = \"admin\"\nkeys = [%q]\n", line))
	writeFile(t, file, listeners+noKeys)
	s.reloadAll(config.WatchFile(file))
	if s.access.Ring.Empty() || !strings.Contains(log.String(), "nobody could log in") {
		t.Errorf("nobody can log in; the log says %s", log.String())
	}
}

// TestAConfigurationThatIsEmptiedMakesNobodyAnAdmin: its operator's key is in a file.
func TestAConfigurationThatIsEmptiedMakesNobodyAnAdmin(t *testing.T) {
	dir := hosttest.Dir(t)
	file, keyFile := filepath.Join(dir, "c.toml"), filepath.Join(dir, ".ssh/authorized_keys")
	if err := os.Mkdir(filepath.Dir(keyFile), 0o700); err != nil {
		t.Fatal(err)
	}
	line, fingerprint := authorizedKey(t)
	writeFile(t, keyFile, line+"\n")
	principal := func(role string) string {
		return fmt.Sprintf("[[principal]]\nname = \"ann\"\nrole = %q\nkeys = [%q]\n", role,
			fingerprint)
	}
	s, log := aServer(t, file, principal("operator"))
	for _, text := range []string{"", "# nothing\n"} {
		writeFile(t, file, text)
		s.reloadAll(config.WatchFile(file))
		if len(s.cfg.Principals) != 1 {
			t.Fatalf("the principals are %v", s.cfg.Principals)
		}
	}
	if !strings.Contains(log.String(), "is empty, or has only comments") ||
		strings.Contains(log.String(), "higher than it was") {
		t.Errorf("the log says %s", log.String())
	}
	writeFile(t, file, listeners)
	s.reloadAll(config.WatchFile(file))
	hosttest.Eventually(t, "the admin is told of", func() bool {
		return strings.Contains(log.String(), "higher than it was\" key="+fingerprint+
			" principal=ann was=operator role=admin")
	})
}

// TestAKeyFileThatIsEmptiedKeepsItsKeys: a script that failed empties it, and SIGHUP comes.
func TestAKeyFileThatIsEmptiedKeepsItsKeys(t *testing.T) {
	dir := hosttest.Dir(t)
	file, keyFile := filepath.Join(dir, "c.toml"), filepath.Join(dir, "keys")
	ann, _ := authorizedKey(t)
	bob, _ := authorizedKey(t)
	writeFile(t, keyFile, ann+"\n"+bob+"\n")
	s, log := aServer(t, file, fmt.Sprintf("ssh.authorized_keys_files = [%q]\n", keyFile))
	expect := func(when string, keys int) {
		t.Helper()
		if got := len(s.access.Ring.Identities()); got != keys {
			t.Errorf("%s: %d keys; the log says %s", when, got, log.String())
		}
	}
	writeFile(t, keyFile, "")
	s.reloadAll(config.WatchFile(file))
	expect("emptied", 2)
	if !strings.Contains(log.String(), "stay in force") {
		t.Errorf("the log says %s", log.String())
	}
	writeFile(t, keyFile, bob+"\n")
	s.reloadAll(config.WatchFile(file))
	expect("one of two", 1)
}

// TestARefusedConfigurationIsReadAgainWhenItsKeyFileChanges: the file of keys that it names is
// filled after the configuration was written.
func TestARefusedConfigurationIsReadAgainWhenItsKeyFileChanges(t *testing.T) {
	dir := hosttest.Dir(t)
	file, keyFile := filepath.Join(dir, "c.toml"), filepath.Join(dir, "keys")
	line, _ := authorizedKey(t)
	const noFiles = "ssh.authorized_keys_files = []\n"
	s, log := aServer(t, file, noFiles+
		fmt.Sprintf("[[principal]]\nname = \"ann\"\nrole = \"admin\"\nkeys = [%q]\n", line))
	watched := config.WatchFile(file)
	writeFile(t, keyFile, "")
	writeFile(t, file, listeners+fmt.Sprintf("ssh.authorized_keys_files = [%q]\n", keyFile))
	s.reloadAll(watched)
	if !strings.Contains(log.String(), "nobody could log in") || watched.Changed() {
		t.Fatalf("the log says %s", log.String())
	}
	writeFile(t, keyFile, line+"\n")
	if !watched.Changed() {
		t.Fatal("the key file has changed, and the configuration is not read again")
	}
	s.reload(watched)
	if len(s.cfg.SSH.AuthorizedKeysFiles) != 1 {
		t.Errorf("the configuration is not in force; the log says %s", log.String())
	}
	writeFile(t, keyFile, line+"\n# again\n")
	if watched.Changed() {
		t.Error("the configuration in force is read again whenever its key file changes")
	}
}

// Without a configuration file a reload waits for no file to come to rest. The test changes the
// working directory, which is no file of the configuration.
func TestMeasuresAReloadWithoutAConfigurationFile(t *testing.T) {
	slowtest.Measures(t)
	file := filepath.Join(hosttest.Dir(t), "c.toml")
	line, _ := authorizedKey(t)
	s, log := aServer(t, file, "ssh.authorized_keys_files = []\n"+
		fmt.Sprintf("[[principal]]\nname = \"ann\"\nrole = \"admin\"\nkeys = [%q]\n", line))
	t.Chdir(t.TempDir())
	const tries, enough = 20, 150 * time.Millisecond // AtRest would wait for 200 ms at least
	for i := range tries {
		writeFile(t, fmt.Sprint(i), "")
		began := time.Now()
		s.reload(config.WatchFile(""))
		if time.Since(began) < enough {
			return
		}
	}
	t.Errorf("a reload takes longer than %v; the log says %s", enough, log.String())
}

func writeFile(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// writeCertificate writes a certificate with a serial number to dir/cert, and its key to dir/key.
func writeCertificate(t *testing.T, dir string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(serial),
		NotAfter: time.Now().Add(time.Hour)}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string]*pem.Block{
		"cert": {Type: "CERTIFICATE", Bytes: cert}, "key": {Type: "PRIVATE KEY", Bytes: private},
	} {
		writeFile(t, filepath.Join(dir, name), string(pem.EncodeToMemory(b)))
	}
}

// writeHostKey writes a new key to dir/hostkey and returns its fingerprint.
func writeHostKey(t *testing.T, dir string) string {
	t.Helper()
	public, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := gossh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "hostkey"), string(pem.EncodeToMemory(block)))
	signer, err := gossh.NewPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return gossh.FingerprintSHA256(signer)
}

// serialOf returns the serial number of the certificate that a listener shows.
func serialOf(t *testing.T, addr net.Addr) int64 {
	t.Helper()
	c, err := tls.Dial("tcp", addr.String(), &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

// hostKeyOf returns the fingerprint of the key that an SSH server shows.
func hostKeyOf(t *testing.T, addr net.Addr) (fingerprint string) {
	t.Helper()
	_, err := gossh.Dial("tcp", addr.String(), &gossh.ClientConfig{
		HostKeyCallback: func(_ string, _ net.Addr, key gossh.PublicKey) error {
			fingerprint = gossh.FingerprintSHA256(key)
			return nil
		},
	})
	if err == nil {
		t.Fatal("a client without a key was let in")
	}
	return fingerprint
}
