package keys

import (
	"bytes"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// entry is a usable line of a key file and where it stands.
type entry struct {
	Line
	source string // "FILE:LINE" or "config"
}

// keyFile is the content of one key file.
type keyFile struct {
	entries []entry           // in the order of the file
	spoilt  map[string]string // keys, in wire form, with a refused line: the reason
	revoked map[string]bool   // SHA256 fingerprints; of a revoked_keys_file only
	notes   []string          // for the log, each with the number of its line
}

// configLines reads the authorized_keys lines of the configuration.
func configLines(lines []string) (keyFile, error) {
	var file keyFile
	for _, text := range lines {
		line, err := ParseLine(text)
		if err != nil {
			return keyFile{}, fmt.Errorf(
				"keys: a key line of the configuration is refused: %w", err)
		}
		file.entries = append(file.entries, entry{Line: line, source: "config"})
	}
	return file, nil
}

// parseKeyFile reads a key file of any kind.
func parseKeyFile(path string, kind kind, data []byte) (keyFile, error) {
	if kind == revokedKeys {
		return parseRevoked(path, data)
	}
	return parseKeyLines(path, kind, data), nil
}

// parseKeyLines reads an authorized_keys file, or a file of trusted authorities, whose lines have
// no options. A bad line spoils its own key and not the file.
func parseKeyLines(path string, kind kind, data []byte) keyFile {
	file := keyFile{spoilt: map[string]string{}}
	first := map[string]int{} // the lines where keys stand first
	for number, text := range textLines(data) {
		source := fmt.Sprintf("%s:%d", path, number)
		line, err := parseLine(text)
		if err == nil && kind == trustedCAs && line.hasOptions {
			err = errors.New("a trusted authority has no options")
		}
		if err != nil {
			if line.keyKnown {
				file.spoilt[string(line.Key.Marshal())] = fmt.Sprintf("%s: %v", source, err)
			}
			what := "refused"
			var unknown *unknownTypeError
			if errors.As(err, &unknown) {
				what = "skipped"
			}
			file.notes = append(file.notes, fmt.Sprintf("%s is %s: %v", source, what, err))
			continue
		}
		blob := string(line.Key.Marshal())
		if earlier, ok := first[blob]; ok {
			file.notes = append(file.notes, fmt.Sprintf(
				"%s repeats the key of line %d; the first line that permits the key decides",
				source, earlier))
		} else {
			first[blob] = number
		}
		file.entries = append(file.entries, entry{Line: line.Line, source: source})
	}
	return file
}

// parseRevoked reads a revoked_keys_file, which has one fingerprint ("SHA256:...") or public key
// per line. A line that is neither is an error for the whole file: it may be there to revoke a key.
// A key of an unknown type needs no revoking.
func parseRevoked(path string, data []byte) (keyFile, error) {
	if bytes.HasPrefix(data, []byte("SSHKRL\n\x00")) {
		return keyFile{}, errors.New("it is a binary KRL, which is not supported; " +
			"list the public keys or SHA256 fingerprints as text")
	}
	file := keyFile{revoked: map[string]bool{}}
	for number, text := range textLines(data) {
		if word, _ := cutField(text); IsFingerprint(word) {
			file.revoked[word] = true
			continue
		}
		key, _, err := parseKeyFields(text)
		var unknown *unknownTypeError
		if errors.As(err, &unknown) {
			file.notes = append(file.notes, fmt.Sprintf("%s:%d is skipped: %v", path, number, err))
			continue
		}
		if err != nil {
			return keyFile{}, fmt.Errorf(
				"line %d is neither a public key nor a SHA256 fingerprint", number)
		}
		if cert, ok := key.(*ssh.Certificate); ok {
			key = cert.Key
		}
		file.revoked[ssh.FingerprintSHA256(key)] = true
	}
	return file, nil
}

// textLines yields the number, from 1, and the trimmed text of each line that is neither empty nor
// a comment.
func textLines(data []byte) func(yield func(number int, text string) bool) {
	return func(yield func(int, string) bool) {
		number := 0
		for raw := range bytes.Lines(data) {
			number++
			text := bytes.Trim(raw, " \t\r\n")
			if len(text) > 0 && text[0] != '#' && !yield(number, string(text)) {
				return
			}
		}
	}
}
