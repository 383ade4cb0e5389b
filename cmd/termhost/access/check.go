package access

import (
	"errors"
	"log/slog"
	"time"

	"termhost/cmd/termhost/config"
	"termhost/keys"
)

// Check returns why [Open] would refuse the files of a configuration, as far as that can be told
// without making one; nil: it would not. nameless is why the machine's own user would be nobody by
// name: see [authz.Authority.Nameless].
func Check(cfg config.Config) (nameless string, err error) {
	directory, err := directoryOf(cfg)
	if err != nil {
		return "", err
	}
	home, err := config.Home()
	if err != nil {
		return "", err
	}
	a := &Keys{own: keys.AuthorizedKeysFile(cfg.StateDir)}
	options := a.files(cfg.SSH)
	options.Lines, options.Home, options.StateDir = directory.Lines(), home, cfg.StateDir
	options.Log = slog.New(slog.DiscardHandler)
	ring, err := keys.Open(options)
	if err != nil {
		return "", err
	}
	nameless = directory.Nameless(ring, time.Now())
	if len(cfg.SSH.HostKeyFiles) > 0 {
		_, err = HostKeys(cfg)
	}
	return nameless, errors.Join(err, ring.Close())
}
