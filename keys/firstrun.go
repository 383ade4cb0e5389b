package keys

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/crypto/ssh"

	"termhost/ptypool/statefile"
)

// AuthorizedKeysFile returns the path of the key file in the state folder in which a first run
// authorises its client key. It is read like any other authorized_keys file.
func AuthorizedKeysFile(stateDir string) string {
	return filepath.Join(stateDir, authorizedKeysName)
}

// ClientKey is the key pair that a first run makes for its user.
type ClientKey struct {
	// Path is the private key's file, of mode 0600. The public key is in Path+".pub".
	Path string
	// Fingerprint is the key's "SHA256:..." fingerprint.
	Fingerprint string
}

// EnsureClientKey makes an ed25519 client key in the state folder, unless it exists, and authorises
// it in AuthorizedKeysFile. An existing file is not changed, so that a key that was removed from it
// stays removed. comment names a new key, and so its principal. rand is a source of randomness.
func EnsureClientKey(stateDir, comment string, rand io.Reader) (ClientKey, error) {
	path := filepath.Join(stateDir, clientKeyName)
	comment = clean(comment)
	if err := ensureKey(path, comment, rand); err != nil {
		return ClientKey{}, err
	}
	signer, err := loadPrivateKey(path, "the first key",
		"; move it away: the next start makes another, which you add to "+authorizedKeysName)
	if err != nil {
		return ClientKey{}, err
	}
	list := AuthorizedKeysFile(stateDir)
	if _, err := os.Lstat(list); errors.Is(err, fs.ErrNotExist) {
		line := publicLine(signer.PublicKey(), comment) + "\n"
		err = statefile.Create(list, []byte(line), 0o600)
		if err != nil && !errors.Is(err, fs.ErrExist) {
			return ClientKey{}, fmt.Errorf("keys: the client key cannot be authorised: %w", err)
		}
	}
	return ClientKey{Path: path, Fingerprint: ssh.FingerprintSHA256(signer.PublicKey())}, nil
}

// ErrNoHost says that an address cannot be connected to, so it has no known_hosts line.
var ErrNoHost = errors.New("it names no host")

// KnownHostsLine returns the known_hosts line, without a line feed, for a host key at addr, which
// is "host:port" or "[ipv6]:port". ssh(1) looks for "[host]:port" there unless the port is 22. The
// error is [ErrNoHost] if addr has no host or stands for all interfaces (0.0.0.0, ::).
func KnownHostsLine(addr string, key ssh.PublicKey) (string, error) {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return "", fmt.Errorf("keys: no known_hosts line for %q: %w", addr, err)
	}
	ip, ipErr := netip.ParseAddr(host)
	if host == "" || (ipErr == nil && ip.IsUnspecified()) {
		return "", fmt.Errorf("keys: no known_hosts line for %q: %w", addr, ErrNoHost)
	}
	isPort := port != "" && strings.Trim(port, "0123456789") == ""
	if strings.ContainsAny(host, " \t\r\n,*?!#|@") || !isPort {
		return "", fmt.Errorf("keys: no known_hosts line for %q: it is not an address", addr)
	}
	name := strings.ToLower(host)
	if port != "22" {
		name = "[" + name + "]:" + port
	}
	return name + " " + publicLine(key, ""), nil
}

// KnownAddress returns the address, "host:port", that a file of WriteKnownHosts is for. The error
// wraps [fs.ErrNotExist] if there is no such file.
func KnownAddress(path string) (addr string, err error) {
	text, err := statefile.Read(path)
	if err != nil {
		return "", err
	}
	name, _, found := strings.Cut(string(text), " ")
	if !found {
		return "", fmt.Errorf("keys: %s has no line", path)
	}
	if bare, bracketed := strings.CutPrefix(name, "["); bracketed {
		host, port, _ := strings.Cut(bare, "]:")
		return net.JoinHostPort(host, port), nil
	}
	return net.JoinHostPort(name, "22"), nil
}

// FirstKey returns the file of the client key that a first run has made in the state folder; "":
// none did, or it is not authorised any more.
func FirstKey(stateDir string) string {
	path := filepath.Join(stateDir, clientKeyName)
	for _, file := range []string{path, AuthorizedKeysFile(stateDir)} {
		if _, err := os.Stat(file); err != nil {
			return ""
		}
	}
	return path
}

// WriteKnownHosts replaces the file at path, of mode 0600, with a line for each of the keys at
// addr. It replaces nothing but a regular file.
func WriteKnownHosts(path, addr string, keys []ssh.PublicKey) error {
	var b strings.Builder
	for _, key := range keys {
		line, err := KnownHostsLine(addr, key)
		if err != nil {
			return err
		}
		b.WriteString(line)
		b.WriteByte('\n')
	}
	info, err := os.Stat(path)
	if err == nil {
		err = checkFile(path, info)
	}
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = statefile.Save(path, []byte(b.String()), 0o600)
	}
	if err != nil {
		return fmt.Errorf("keys: the known_hosts file cannot be written: %w", err)
	}
	return nil
}
