package keys

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/crypto/ssh"

	"termhost/ptypool/statefile"
)

// Files in the state folder.
const (
	hostKeyName        = "ssh_host_ed25519_key"
	clientKeyName      = "client_ed25519"
	authorizedKeysName = "authorized_keys"
)

// HostKeyOptions name the files of the host's own keys.
type HostKeyOptions struct {
	// StateDir is where the host key is made if Files is empty.
	StateDir string
	// Files are private keys in a format that ssh-keygen writes: ed25519, ecdsa, or rsa of at
	// least MinRSABits, without a passphrase.
	Files []string
	// CertificateFiles are host certificates, each for one of the keys.
	CertificateFiles []string
	// Rand is a source of randomness, such as crypto/rand.Reader.
	Rand io.Reader
}

// HostKeys returns the host's signers: first the keys, then the certificates. Without Files there
// is one key, an ed25519 one in the state folder, which the first call makes (mode 0600, with a
// .pub file beside it). RSA keys sign with SHA-2 only.
func HostKeys(o HostKeyOptions) ([]ssh.Signer, error) {
	files, advice := o.Files, ""
	if len(files) == 0 {
		advice = "; put it back, or move it away: the next start makes another, " +
			"and ssh warns the clients that know this one"
		path := filepath.Join(o.StateDir, hostKeyName)
		if err := ensureKey(path, "termhost", o.Rand); err != nil {
			return nil, err
		}
		files = []string{path}
	}
	var signers []ssh.Signer
	for _, path := range files {
		signer, err := loadPrivateKey(path, "the host key", advice)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(signers, func(s ssh.Signer) bool {
			return bytes.Equal(s.PublicKey().Marshal(), signer.PublicKey().Marshal())
		}) {
			return nil, fmt.Errorf("keys: the host key %s is named twice", path)
		}
		signers = append(signers, signer)
	}
	for _, path := range o.CertificateFiles {
		signer, err := hostCertificate(path, signers)
		if err != nil {
			return nil, err
		}
		signers = append(signers, signer)
	}
	return signers, nil
}

// loadPrivateKey reads a private key from a file to which only its owner has access. Errors name
// the key as what; if the file is missing or holds no key, they end with advice.
func loadPrivateKey(path, what, advice string) (ssh.Signer, error) {
	data, err := readPrivate(path, MaxFileBytes)
	if err != nil {
		var refusal *StrictModesError
		if errors.As(err, &refusal) {
			return nil, err
		}
		return nil, fmt.Errorf("keys: %s %s cannot be read: %w%s", what, path, reason(err), advice)
	}
	defer clear(data)
	signer, err := ssh.ParsePrivateKey(data)
	var locked *ssh.PassphraseMissingError
	if errors.As(err, &locked) {
		return nil, fmt.Errorf(
			"keys: %s %s has a passphrase; remove it with ssh-keygen -p", what, path)
	}
	if err != nil {
		// The parser's own message is left out, because it has seen the private key.
		return nil, fmt.Errorf(
			"keys: %s %s is not a private key in a format of ssh-keygen%s", what, path, advice)
	}
	if err := checkAlgorithm(signer.PublicKey()); err != nil {
		return nil, fmt.Errorf("keys: %s %s: %w", what, path, err)
	}
	return sha2Only(signer)
}

// sha2Only keeps an RSA key from signing with SHA-1 (RFC 8332).
func sha2Only(signer ssh.Signer) (ssh.Signer, error) {
	if signer.PublicKey().Type() != ssh.KeyAlgoRSA {
		return signer, nil
	}
	algorithms, ok := signer.(ssh.AlgorithmSigner)
	if !ok {
		return nil, errors.New("keys: an RSA host key cannot choose its signature algorithm")
	}
	return ssh.NewSignerWithAlgorithms(algorithms,
		[]string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256})
}

// hostCertificate reads a certificate and returns the signer for it, with the key it belongs to.
func hostCertificate(path string, signers []ssh.Signer) (ssh.Signer, error) {
	resolved, err := filepath.EvalSymlinks(path)
	var info fs.FileInfo
	if err == nil {
		info, err = os.Lstat(resolved)
	}
	if err == nil {
		err = checkFile(resolved, info)
	}
	var data []byte
	if err == nil {
		data, err = readRegular(resolved, info, MaxFileBytes)
	}
	if err != nil {
		return nil, fmt.Errorf(
			"keys: the host certificate %s cannot be read: %w", path, reason(err))
	}
	key, _, _, _, err := ssh.ParseAuthorizedKey(data)
	if err != nil {
		return nil, fmt.Errorf("keys: the host certificate %s cannot be read: %w", path, err)
	}
	cert, ok := key.(*ssh.Certificate)
	if !ok || cert.CertType != ssh.HostCert {
		return nil, fmt.Errorf(
			"keys: %s is not a host certificate; make one with ssh-keygen -h -s", path)
	}
	if err := checkSignature(cert); err != nil {
		return nil, fmt.Errorf("keys: the host certificate %s: %w", path, err)
	}
	for _, signer := range signers {
		if bytes.Equal(signer.PublicKey().Marshal(), cert.Key.Marshal()) {
			return ssh.NewCertSigner(cert, signer)
		}
	}
	return nil, fmt.Errorf("keys: the host certificate %s is for none of the host keys", path)
}

// ensureKey makes an ed25519 key pair at path unless there is one.
func ensureKey(path, comment string, rand io.Reader) error {
	return ensureKeyOf(path, comment, func() (crypto.Signer, error) {
		_, private, err := ed25519.GenerateKey(rand)
		return private, err
	})
}

// ensureKeyOf makes the key pair that generate returns at path unless there is one.
func ensureKeyOf(path, comment string, generate func() (crypto.Signer, error)) error {
	if _, err := os.Lstat(path); err == nil {
		return nil
	} else if !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("keys: %w", err)
	}
	private, err := generate()
	if err != nil {
		return fmt.Errorf("keys: no randomness for a new key: %w", err)
	}
	block, err := ssh.MarshalPrivateKey(private, comment)
	if err != nil {
		return fmt.Errorf("keys: a new key cannot be written: %w", err)
	}
	data := pem.EncodeToMemory(block)
	defer clear(data)
	err = statefile.Create(path, data, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil // another process has just made one
	}
	if err != nil {
		return fmt.Errorf("keys: a new key cannot be stored: %w", err)
	}
	signer, err := ssh.NewSignerFromKey(private)
	if err != nil {
		return fmt.Errorf("keys: %w", err)
	}
	line := publicLine(signer.PublicKey(), comment) + "\n"
	if err := statefile.Save(path+".pub", []byte(line), 0o644); err != nil {
		return fmt.Errorf("keys: a new public key cannot be stored: %w", err)
	}
	return nil
}

// publicLine returns a key as an authorized_keys line, without a line feed.
func publicLine(key ssh.PublicKey, comment string) string {
	line := string(bytes.TrimSuffix(ssh.MarshalAuthorizedKey(key), []byte("\n")))
	if comment != "" {
		line += " " + comment
	}
	return line
}
