//go:build linux && !laptop

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/host"
	"termhost/ahp/journal"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/hostlock"
	"termhost/cmd/termhost/local"
	"termhost/cmd/termhost/logs"
	"termhost/ptypool/keeper"
)

// hungTime is how long a host may take to end before it counts as hung: a shutdown, and some.
const hungTime = shutdownTime + 5*time.Second

// stop ends the terminals, the host and the keeper of a state folder, whichever of them are there,
// and returns when nothing is left.
func stop(c *call) int {
	fs, std := c.flags(), c.std
	file := fs.String("c", "", "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	cfg, err := config.OfRunning(*file)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	log, flush := logs.New(std.err)
	defer flush()
	announceEnd(std.out, local.Terminals(cfg.SocketPath()))
	lock, pid, err := hostlock.StopHolder(cfg.StateDir, stopSignal, hungTime)
	if err == nil && lock != nil {
		defer lock.Close()
		err = stopRest(cfg, log, std.out)
	}
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	if pid > 0 {
		fmt.Fprintf(std.out, "the host (process %d) has ended\n", pid)
	}
	return exitOK
}

// stopRest ends the terminals and the keeper that a host has left behind. To do so it runs the next
// host, and shuts it down at once.
func stopRest(cfg config.Config, log *slog.Logger, out io.Writer) error {
	link, err := newKeeperLink(cfg, log)
	if err != nil {
		return err
	}
	hosting := host.Config{
		StateDir: cfg.StateDir, Version: version(), Log: log, Persist: cfg.Terminal.Persist,
		MaxExited: cfg.Terminal.MaxExited, ExitedTTL: time.Duration(cfg.Terminal.ExitedTTL),
		ScrollbackBytes: int(cfg.Terminal.ScrollbackBytes), LogBytes: int(cfg.Terminal.LogBytes),
	}
	var other *keeper.VersionError
	switch running, err := link.Running(); {
	case errors.As(err, &other):
		// The system hangs up its terminals. The host below ends the programs that ignore that.
		if err := hostlock.EndProcess(other.Pid, unix.SIGTERM, hungTime); err != nil {
			return fmt.Errorf("the keeper cannot be stopped: %w", err)
		}
	case err != nil:
		return err
	case running:
		hosting.Keeper = link
	}
	if journal.CheckFormats(cfg.StateDir) != nil {
		// Only that newer termhost may change the folder; it notes how terminals ended when it
		// starts. The system hangs up those that run.
		return link.Stop()
	}
	h, err := host.New(hosting)
	if err != nil {
		return err
	}
	announceEnd(out, h.Stats().Terminals)
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err = h.Shutdown(ctx)
	if hosting.Keeper == nil {
		return err
	}
	return errors.Join(err, link.Stop())
}
