package main

import (
	"log/slog"
	"os"
	"reflect"
	"time"
)

// configInterval is how often the configuration file is looked at, as the key
// files are.
const configInterval = time.Second

// watchConfig puts changes of the file's principals in force while the host
// runs, until stop is called. What else changes waits for a restart, and the log
// says so. A file with mistakes changes nothing. path is "" where there is none.
func watchConfig(path string, cfg config, s *server, log *slog.Logger) (stop func()) {
	if path == "" {
		return func() {}
	}
	end, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(configInterval)
		defer tick.Stop()
		seen := stampOf(path)
		for {
			select {
			case <-end:
				return
			case <-tick.C:
			}
			if now := stampOf(path); now != seen {
				seen = now
				cfg = reloadConfig(path, cfg, s, log)
			}
		}
	}()
	return func() {
		close(end)
		<-ended
	}
}

// stamp tells one version of a file from another.
type stamp struct {
	modified time.Time
	size     int64
}

func stampOf(path string) stamp {
	st, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{st.ModTime(), st.Size()}
}

// reloadConfig reads the file again and returns the configuration in force.
func reloadConfig(path string, old config, s *server, log *slog.Logger) config {
	fresh, err := loadConfig(path)
	if err != nil {
		log.Error("the changed configuration is not taken", "err", err)
		return old
	}
	if !reflect.DeepEqual(old.Principals, fresh.Principals) {
		if err := s.access.setPrincipals(fresh.Principals); err != nil {
			log.Error("the changed principals are not taken", "err", err)
			return old
		}
		log.Info("the configuration's principals have changed")
		old.Principals = fresh.Principals
	}
	if !reflect.DeepEqual(old, fresh) {
		log.Warn("the configuration has changed; restart to put what is not under [[principal]] in force")
	}
	return old
}
