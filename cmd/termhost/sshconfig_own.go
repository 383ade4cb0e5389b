//go:build linux && !laptop

package main

import (
	"errors"
	"io/fs"

	"termhost/cmd/termhost/access"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/sshconfig"
)

// ownBlock returns the block of this machine's host, or an exit code and the reason: a *noHostError
// if none has run.
func ownBlock(file string) (b sshconfig.Block, code int, err error) {
	cfg, err := config.OfRunning(file)
	if err != nil {
		return b, exitUsage, err
	}
	address, key, known, err := access.Login(cfg.StateDir)
	b = sshconfig.Block{Address: address, Identities: sshconfig.Key(key), KnownHosts: known}
	if errors.Is(err, fs.ErrNotExist) {
		err = &noHostError{cfg.StateDir}
	}
	return b, exitFailure, err
}

// noHostError says that no host has had the state folder.
type noHostError struct{ folder string }

func (e *noHostError) Error() string {
	return "no host has run with the state folder " + e.folder + " yet"
}

// hintNoBlock returns what helps when there is no block.
func hintNoBlock(err error) string {
	if errors.As(err, new(*noHostError)) {
		return "start it once: termhost serve"
	}
	return ""
}

// personsHome returns the home folder of whoever runs this.
func personsHome() (string, error) { return config.Home() }
