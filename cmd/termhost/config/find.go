package config

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Place says which configuration file counts.
type Place struct {
	// Path is the file's, absolute; "": there is none, and the defaults hold.
	Path string
	// Looked has where a file is looked for when none is named. The first one that is there counts.
	Looked []string
}

// systemFile is the configuration of a system's host.
const systemFile = "/etc/termhost/config.toml"

// systemState is where the state of a system's services is.
const systemState = "/var/lib/"

// Find returns the file that a host reads: the one at path or, if that is "", the one where a host
// looks for it. It does not read it.
func Find(path string) (Place, error) {
	env, err := currentEnvironment()
	if err != nil {
		return Place{}, err
	}
	p := Place{Looked: env.places()}
	if path != "" {
		p.Path, err = filepath.Abs(path)
		return p, err
	}
	p.Path = firstFile(p.Looked)
	return p, nil
}

// found returns the path of the file that counts, as the user has written it; "": there is none.
func (env environment) found(path string) string {
	if path != "" {
		return path
	}
	return firstFile(env.places())
}

// firstFile returns the first path at which there is something; "": none.
func firstFile(paths []string) string {
	for _, path := range paths {
		// What cannot be looked at may say who is let in: reading it fails, and says why.
		_, err := os.Stat(path)
		if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) {
			return path
		}
	}
	return ""
}

// places returns where the configuration is looked for when no file is named. The system's is not
// for the host of a person: it has that host's address, and its people.
func (env environment) places() []string {
	folder := env.configHome
	if folder == "" {
		folder = filepath.Join(env.home, ".config")
	}
	places := []string{filepath.Join(folder, "termhost", "config.toml")}
	if env.isSystem() {
		places = append(places, systemFile)
	}
	return places
}

// isSystem reports whether a host would be the system's, and no person's: it runs as root, or its
// home or its state is where services have theirs.
func (env environment) isSystem() bool {
	return env.uid == 0 || strings.HasPrefix(env.home+"/", systemState) ||
		strings.HasPrefix(env.stateHome+"/", systemState)
}
