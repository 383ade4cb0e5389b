package service

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"time"
)

const (
	// lingering has a file for each user whose systemd runs from boot on, whoever is logged in
	// (loginctl(1), enable-linger).
	lingering = "/var/lib/systemd/linger"
	// scopeTime bounds how long the user's systemd may take.
	scopeTime = 6 * time.Second
	scopePoll = 5 * time.Millisecond
)

// EnterScope has the user's systemd make a scope for this process and delegate its control group,
// if that systemd lingers: one that ends with the last login would end the scope with it. entered
// is false, without an error, if there is no such systemd.
func EnterScope(ctx context.Context) (entered bool, err error) {
	self, err := user.Current()
	if err != nil {
		return false, fmt.Errorf("service: %w", err)
	}
	if _, err := os.Stat(filepath.Join(lingering, self.Username)); err != nil {
		return false, nil
	}
	busctl, err := exec.LookPath("busctl")
	if err != nil {
		return false, nil
	}
	before, err := ownGroup()
	if err != nil {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, scopeTime)
	defer cancel()
	// systemd before 253 knows no OOMPolicy of a scope, and ends none for it.
	if err = startScope(ctx, busctl, self.Uid, "OOMPolicy", "s", "continue"); err != nil {
		err = startScope(ctx, busctl, self.Uid)
	}
	for err == nil {
		if now, _ := ownGroup(); now != before {
			return true, nil
		}
		select { // it answers before it has moved the process
		case <-ctx.Done():
			err = errors.New("service: the user's systemd makes no scope")
		case <-time.After(scopePoll):
		}
	}
	return false, err
}

// startScope starts a transient scope (org.freedesktop.systemd1(5), StartTransientUnit).
func startScope(ctx context.Context, busctl, uid string, more ...string) error {
	pid := strconv.Itoa(os.Getpid())
	properties := append([]string{"PIDs", "au", "1", pid, "Delegate", "b", "true",
		"CollectMode", "s", "inactive-or-failed", "TasksMax", "t", "18446744073709551615",
		"Description", "s", "Terminals of the terminal host"}, more...)
	args := append([]string{"--user", "call", "org.freedesktop.systemd1",
		"/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager", "StartTransientUnit",
		"ssa(sv)a(sa(sv))", "termhost-keeper-" + pid + ".scope", "fail",
		strconv.Itoa(5 + len(more)/3)}, append(properties, "0")...)
	cmd := exec.CommandContext(ctx, busctl, args...)
	runtime := "/run/user/" + uid
	cmd.Env = append(os.Environ(), "XDG_RUNTIME_DIR="+runtime,
		"DBUS_SESSION_BUS_ADDRESS=unix:path="+runtime+"/bus")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("service: asking the user's systemd for a scope: %w: %s", err, out)
	}
	return nil
}

// ownGroup returns the control groups of this process (cgroups(7)).
func ownGroup() (string, error) {
	text, err := os.ReadFile("/proc/self/cgroup")
	return string(text), err
}
