//go:build linux && !laptop

package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"

	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/service"
	"termhost/ptypool/cgroup"
	"termhost/ptypool/keeper"
	"termhost/ptypool/nonce"
)

// runKeeper keeps the terminals of a state folder until nobody needs it, or supervises a host.
func runKeeper(c *call) int {
	if len(c.args) > 1 && c.args[0] == "--" && c.args[1] == "serve" {
		return superviseHost(c.std, c.args[1:])
	}
	fs, std := c.flags(), c.std
	file := fs.String("c", "", "")
	dir := fs.String("dir", "", "") // from `serve`, which has read the configuration
	delegated := fs.Bool("delegated", false, "")
	if code, ok := c.parse(fs, 0); !ok {
		return code
	}
	ready := func() {
		if err := service.NotifyReady(); err != nil {
			fmt.Fprintln(std.err, "termhost: telling the service manager:", err)
		}
	}
	if *dir == "" {
		cfg, err := config.Load(*file)
		if err != nil {
			return fail(std, exitFailure, err.Error(), "")
		}
		*dir = cfg.KeeperFolder()
		if err := os.MkdirAll(*dir, 0o700); err != nil {
			return fail(std, exitFailure, err.Error(), "")
		}
	} else {
		told := os.NewFile(keeper.ReadyFD, "ready")
		std.err = io.MultiWriter(std.err, told)
		ready = func() {
			std.err = c.std.err
			told.Close()
		}
	}
	syscall.Umask(syscall.Umask(safeUmask) | safeUmask)
	if err := nonce.Undumpable(); err != nil {
		fmt.Fprintln(std.err, "termhost: the keeper's memory is open to its user's programs:", err)
	}
	ctx := keeper.Isolate()
	logger := log.New(c.std.err, fmt.Sprintf("keeper %d: ", os.Getpid()), log.LstdFlags)
	err := keeper.Serve(ctx, keeper.Config{
		Dir: *dir, Version: version(), Groups: ownGroups(ctx, *delegated, logger),
		Ready: ready, Await: *delegated, Log: logger,
	})
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	return exitOK
}

// ownGroups returns the control groups for the keeper's programs; nil: they stay in the keeper's
// own, which nobody has delegated.
func ownGroups(ctx context.Context, delegated bool, logger *log.Logger) *cgroup.Tree {
	var err error
	if !delegated {
		delegated, err = service.EnterScope(ctx)
	}
	var groups *cgroup.Tree
	if delegated {
		groups, err = cgroup.Take()
	}
	if err != nil {
		logger.Print(err)
	}
	return groups
}

// superviseHost runs `termhost serve` with args as process 1 of a container does.
func superviseHost(std stdio, args []string) int {
	self, err := os.Executable()
	if err != nil {
		return fail(std, exitFailure, "this program does not know where it is: "+err.Error(), "")
	}
	code, err := service.Supervise(append([]string{self}, args...), stopSignal, std.err)
	if err != nil {
		return fail(std, exitFailure, err.Error(), "")
	}
	return code
}

// newKeeperLink returns the host's link to the keeper of its state folder.
func newKeeperLink(cfg config.Config, log *slog.Logger) (*keeper.Link, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("this program does not know where it is: %w", err)
	}
	dir, err := filepath.Abs(cfg.KeeperFolder())
	if err != nil {
		return nil, err
	}
	return &keeper.Link{
		Dir: dir, Version: version(), Log: log, Command: []string{self, keeperName, "-dir", dir},
	}, nil
}

// keepTerminals connects to the keeper of the state folder, or starts one.
func (s *server) keepTerminals() error {
	link, err := newKeeperLink(s.cfg, s.log)
	if err != nil {
		return err
	}
	if _, err := link.Connect(); err != nil {
		return err
	}
	s.keeper = link
	return nil
}

// watchKeeper keeps a keeper running as long as the doors are open. The host has already taken over
// the terminals of the keeper that was there.
func (s *server) watchKeeper() {
	if s.keeper == nil {
		return
	}
	var ctx context.Context
	ctx, s.stopWatching = context.WithCancel(context.Background())
	s.watching.Go(func() { s.keeper.Watch(ctx) })
}

// endKeeper ends the keeper after its terminals have ended.
func (s *server) endKeeper() error {
	if s.keeper == nil {
		return nil
	}
	return s.keeper.Stop()
}
