//go:build linux && !laptop

package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"termhost/authz"
	"termhost/cmd/termhost/notify"
)

// notifiedName is the file in the state folder with what people have been notified of.
const notifiedName = "notified.json"

// startNotifier begins to notify people that are away.
func (s *server) startNotifier() {
	changes, end := s.host.UnseenChanges()
	hostname, _ := os.Hostname() // "": it has none
	s.notifier, s.unnotify = notify.New(notify.Options{Unseen: s.host.Unseen, Changes: changes,
		Hostname: hostname, Link: s.host.Link, Log: s.log, Now: time.Now,
		File: filepath.Join(s.cfg.StateDir, notifiedName)}), end
	s.notifier.SetTargets(s.targets())
}

// endNotifier is called when the host ends; it may not have been started.
func (s *server) endNotifier() {
	if s.notifier != nil {
		s.unnotify()
		s.notifier.Close()
	}
}

// testNotify sends a person's targets a test, and returns a line for each: how it went. The error
// says that there were too many.
func (s *server) testNotify(ctx context.Context, p authz.Principal) (
	lines []string, ok bool, err error) {
	results, err := s.notifier.Test(ctx, p.ID, p.Name)
	ok = true
	for _, r := range results {
		how := "sent"
		if r.Err != nil {
			how, ok = r.Err.Error(), false
		}
		lines = append(lines, r.Target+": "+how)
	}
	return lines, ok, err
}

// targets returns those of the configuration.
func (s *server) targets() (list []notify.Target) {
	for i := range s.cfg.Notify {
		list = append(list, s.cfg.Notify[i].Target())
	}
	return list
}
