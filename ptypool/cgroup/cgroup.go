// Package cgroup gives each terminal a control group of its own (cgroups(7), version 2), below one
// that a service manager has delegated. So what runs out of memory, or is taken by systemd-oomd, is
// one terminal and not all, and each can be told what it uses.
//
// Without a delegated group nothing changes: the package takes none that was not given (systemd's
// CGROUP_DELEGATION, "Delegation").
package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// mounts are where version 2 is: alone, or beside version 1, which then has the controllers.
	mountAlone, mountBeside = "/sys/fs/cgroup", "/sys/fs/cgroup/unified"
	// own is the group of the process to which the tree is delegated: in one with groups below it
	// that have controllers there may be no process.
	own = "keeper"
	// prefix begins the names of terminals' groups.
	prefix = "terminal-"
)

// Tree is a delegated group, which has those of terminals.
type Tree struct{ dir string }

// Take returns the tree that is the group of this process, and moves the process into a group of
// its own there. The caller knows that the group was delegated to it: systemd does not always tell.
// The process must have no children yet.
func Take() (*Tree, error) {
	path, err := pathOf(os.Getpid())
	if err != nil {
		return nil, err
	}
	t := &Tree{dir: filepath.Join(mount(), path)}
	if err := os.Mkdir(t.child(own), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("cgroup: %w", err)
	}
	if err := write(t.child(own), "cgroup.procs", strconv.Itoa(os.Getpid())); err != nil {
		return nil, err
	}
	t.Sweep()
	// It fails where version 1 has the controller. Then the groups are apart, and nothing is
	// accounted but their CPU time.
	_ = write(t.dir, "cgroup.subtree_control", "+memory")
	return t, nil
}

func (t *Tree) child(name string) string { return filepath.Join(t.dir, name) }

// Make makes the group of a terminal, whose id has no slash, for a process that is started in it
// before Make or Sweep is called again. It returns its descriptor, for syscall.SysProcAttr's
// CgroupFD, which the caller closes; nil: t is nil, or there can be no more groups.
func (t *Tree) Make(id string) *os.File {
	if t == nil {
		return nil
	}
	t.Sweep()
	dir := t.child(prefix + id)
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil
	}
	f, err := os.OpenFile(dir, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return nil
	}
	return f
}

// Sweep removes the groups of terminals of which no process is left. t may be nil.
func (t *Tree) Sweep() {
	if t == nil {
		return
	}
	groups, _ := filepath.Glob(t.child(prefix + "*"))
	for _, g := range groups {
		_ = unix.Rmdir(g) // it fails with EBUSY while a process is in it
	}
}

// Usage is what a terminal's processes use.
type Usage struct {
	CPU    time.Duration // of all that have been in its group
	Memory int64         // bytes, with the page cache; 0: it is not accounted
}

// UsageOf returns what the group uses that pid is in; ok is false if that is no terminal's. It
// reads three files, and may be called by any goroutine, and by a process that the group was not
// delegated to.
func UsageOf(pid int) (u Usage, ok bool) {
	path, err := pathOf(pid)
	if err != nil {
		return u, false
	}
	dir := filepath.Join(mount(), path)
	for !strings.HasPrefix(filepath.Base(dir), prefix) { // containers make groups below
		if dir = filepath.Dir(dir); len(dir) <= 1 {
			return u, false
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "cpu.stat"))
	if err != nil {
		return u, false
	}
	for line := range bytes.Lines(text) {
		if value, found := strings.CutPrefix(string(line), "usage_usec "); found {
			n, _ := strconv.ParseInt(strings.TrimSpace(value), 10, 64)
			u.CPU = time.Duration(n) * time.Microsecond
		}
	}
	text, _ = os.ReadFile(filepath.Join(dir, "memory.current"))
	u.Memory, _ = strconv.ParseInt(string(bytes.TrimSpace(text)), 10, 64)
	return u, true
}

// mount returns where version 2 is mounted.
func mount() string {
	if _, err := os.Stat(mountBeside); err == nil {
		return mountBeside
	}
	return mountAlone
}

// pathOf returns the group of a process, below the mount.
func pathOf(pid int) (string, error) {
	text, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cgroup"))
	if err != nil {
		return "", fmt.Errorf("cgroup: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		if path, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "0::"); ok {
			return path, nil
		}
	}
	return "", errors.New("cgroup: this system has no version 2")
}

func write(dir, file, text string) error {
	if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0); err != nil {
		return fmt.Errorf("cgroup: %w", err)
	}
	return nil
}
