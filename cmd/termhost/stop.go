package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ahp/host"
	"termhost/ahp/journal"
	"termhost/cmd/termhost/config"
	"termhost/cmd/termhost/logs"
	"termhost/ptypool/keeper"
	"termhost/ptypool/statefile"
)

const (
	// hungTime is how long a host may take to end before it counts as hung: a shutdown, and some.
	hungTime = shutdownTime + 5*time.Second
	// stopPoll is how often stop looks whether it has ended.
	stopPoll = 20 * time.Millisecond
)

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
	announceEnd(std.out, runningTerminals(cfg.SocketPath()))
	lock, pid, err := stopHost(cfg.StateDir)
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

// askTime bounds how long stop waits for a host that may hang to say how many terminals it has.
const askTime = 2 * time.Second

// runningTerminals returns how many terminals the host at a unix socket runs; 0 if none answers.
func runningTerminals(socket string) int {
	client := http.Client{Timeout: askTime, Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}}
	answer, err := client.Get("http://localhost/metrics")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		if figure, ok := strings.CutPrefix(lines.Text(), "termhost_terminals "); ok {
			n, _ := strconv.Atoi(figure)
			return n
		}
	}
	return 0
}

// stopHost has the host of a state folder end, or kills it if it does not. It returns the folder's
// lock, so that no other one starts, and the process that had it; 0: none had. The lock is nil if
// there has never been a host.
func stopHost(stateDir string) (lock *os.File, pid int, err error) {
	lock, err = statefile.Open(filepath.Join(stateDir, lockName), os.O_RDONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err == nil {
			return lock, pid, nil
		}
		if errors.Is(err, syscall.EWOULDBLOCK) {
			pid = holderOf(lock)
			err = endProcess(pid, stopSignal)
		}
		if err != nil {
			lock.Close()
			return nil, 0, fmt.Errorf("the host cannot be stopped: %w", err)
		}
	}
}

// endProcess ends process pid: by sig, or if it does not end, by SIGKILL.
func endProcess(pid int, sig unix.Signal) error {
	if pid <= 0 {
		return errors.New("it does not say which process it is")
	}
	pidfd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return ignoreGone(err)
	}
	defer unix.Close(pidfd)
	if err := unix.PidfdSendSignal(pidfd, sig, nil, 0); err != nil {
		return ignoreGone(err)
	}
	for hung := time.Now().Add(hungTime); ; {
		p := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
		n, err := unix.Poll(p, int(stopPoll/time.Millisecond))
		switch {
		case n > 0:
			return nil
		case err != nil && err != unix.EINTR:
			return err
		case isStopped(pid), time.Now().After(hung):
			if err := unix.PidfdSendSignal(pidfd, unix.SIGKILL, nil, 0); err != nil {
				return ignoreGone(err)
			}
		}
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return nil
	}
	return err
}

// isStopped reports whether a process was stopped, as by SIGSTOP: it cannot do as it is told.
func isStopped(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	_, state, _ := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	return strings.HasPrefix(state, "T")
}

// stopRest ends what a host has left: as the next host, which ends at once.
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
		// The system hangs up its terminals. What ignores that is ended below.
		if err := endProcess(other.Pid, unix.SIGTERM); err != nil {
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
