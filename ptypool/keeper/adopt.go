package keeper

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// A host whose keeper dies still has the descriptors of all terminals. It passes them to the next
// keeper, so that the terminals outlive the host again. Their programs are not children of that
// keeper: a pidfd reports when one has ended, but its status is known only if the system reveals it
// (see statusOfEnded).

const (
	// restartTime is how long the host waits for a keeper that another process had started to come
	// back by itself: its service manager restarts it, in the place where it belongs.
	restartTime = time.Second
	// shortLife is the least time that a keeper should live. After one that lived shorter, the next
	// one is started after a pause, which grows from firstPause to lastPause.
	shortLife  = time.Second
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Watch makes sure, until ctx ends, that a keeper runs, and that it has adopted the terminals of
// dead ones. Call it after all terminals of the keeper have been taken.
func (l *Link) Watch(ctx context.Context) {
	told, wait := false, firstPause
	for ; ctx.Err() == nil; wait = min(2*wait, lastPause) {
		c, err := l.Connect()
		if err != nil {
			if !told {
				l.Log.Error("there is no keeper: terminals end with this host", "err", err)
			}
			told = true
			pause(ctx, wait)
			continue
		}
		told = false
		began := time.Now()
		for !l.handOver(c) && ctx.Err() == nil && !c.isGone() {
			pause(ctx, restartTime)
		}
		select {
		case <-ctx.Done():
			return
		case <-c.Gone():
		}
		if time.Since(began) < shortLife {
			pause(ctx, wait)
		} else {
			wait = firstPause
		}
		if !l.launched(c) {
			l.awaitRestart(ctx)
		}
	}
}

// pause waits for d, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// awaitRestart waits until a keeper answers again, at most restartTime.
func (l *Link) awaitRestart(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, restartTime)
	defer cancel()
	for ctx.Err() == nil {
		if up, err := l.Running(); up || err != nil {
			return // Connect returns what is wrong
		}
		pause(ctx, lockPoll)
	}
}

// handOver has a keeper adopt the terminals of dead keepers. It returns false if the keeper does
// not answer.
func (l *Link) handOver(c *Client) bool {
	l.mu.Lock()
	orphans := l.orphans
	l.orphans = nil
	l.mu.Unlock()
	adopted := 0
	for i, t := range orphans {
		err := c.adopt(t)
		var stopped *StoppedError
		switch {
		case errors.Is(err, ErrGone), errors.As(err, &stopped):
			l.mu.Lock()
			l.orphans = append(l.orphans, orphans[i:]...)
			l.mu.Unlock()
			return stopped == nil
		case errors.Is(err, errOver):
		case err != nil:
			l.Log.Warn("a terminal ends with this host: the new keeper does not take it",
				"id", t.ID, "err", err)
		default:
			adopted++
		}
	}
	if adopted > 0 {
		l.Log.Info("another keeper has the terminals", "pid", c.Pid, "terminals", adopted)
	}
	return true
}

// errOver says that a terminal has ended, and needs no keeper.
var errOver = errors.New("keeper: the terminal has ended")

// takeTerms removes the terminals of a dead keeper from c and returns them.
func (c *Client) takeTerms() (all []*Child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, t := range c.terms {
		all = append(all, t)
		delete(c.terms, id)
	}
	return all
}

// adopt passes t to the keeper, to which it belongs then.
func (c *Client) adopt(t *Child) error {
	t.mu.Lock()
	if t.over || t.ID == "" {
		t.mu.Unlock()
		return errOver
	}
	files := slices.Clone(t.files)
	if c.protocol < deciding { // it would refuse the terminal
		files = slices.DeleteFunc(files, func(f file) bool { return f.name == fdDecided })
	}
	for _, l := range t.Landings {
		files = append(files, file{fdLanding, int(l.File().Fd())})
	}
	info := t.Info
	info.Exit = nil
	before := t.client
	t.client = c // what the keeper reports from now on comes after the request
	c.mu.Lock()
	c.terms[t.ID] = t
	c.mu.Unlock()
	seq, answers, err := c.request(message{
		Op: opAdopt, Terms: []Info{info}, Note: t.Note, Secret: t.Secret,
		Log: t.place.log, ExitFile: t.place.exit, files: files,
	})
	t.mu.Unlock()
	if err == nil {
		err = c.await(seq, answers, func(message) {}, func(m message) {
			closeFiles(m.files)
			c.tell(message{Op: opForget, ID: t.ID}) // it is passed on again
		})
	}
	if err != nil {
		c.drop(t)
		t.mu.Lock()
		t.client = before
		t.mu.Unlock()
	}
	return err
}

// adopt keeps a terminal that the host passes on. Its descriptors must be those that a keeper would
// have: the pidfd of its process, a pty's master or the ends of pipes, and landings that nobody can
// shorten.
func (h *session) adopt(m *message) error {
	if len(m.Terms) != 1 || m.Terms[0].ID == "" {
		return h.refuse(m, unix.EINVAL)
	}
	i := m.Terms[0]
	if h.s.find(i.ID) != nil {
		return h.refuse(m, fmt.Errorf("keeper: there is a terminal %q already", i.ID))
	}
	pidfd, err := checkAdopted(i, m.files)
	if err == nil {
		pidfd, err = dup(pidfd)
	}
	if err != nil {
		return h.refuse(m, err)
	}
	t := newKept(Program{
		ID: i.ID, Marker: i.Marker, Pipes: i.Pipes, Log: m.Log, Exit: m.ExitFile, Note: m.Note,
	}, i.Pid, m.files)
	t.adopted, t.secret = true, m.Secret
	m.files = nil
	h.s.add(t)
	defer func() { go h.s.watch(t, pidfd) }() // ends with the program
	return h.answer(m, message{})
}

// checkAdopted returns the pidfd of a terminal to adopt, or what is wrong with its descriptors.
func checkAdopted(i Info, files []file) (pidfd int, err error) {
	pidfd = -1
	for _, f := range files {
		ok := false
		switch f.name {
		case fdPid:
			pid := pidOf(f.fd)
			ok = pidfd < 0 && (pid == i.Pid || pid == noPid)
			pidfd = f.fd
		case fdMaster:
			_, err := unix.IoctlGetInt(f.fd, unix.TIOCGPTN)
			ok = err == nil && !i.Pipes
		case fdStdin, fdStdout, fdStderr:
			ok = i.Pipes && isPipe(f.fd)
		case fdLanding, fdTrail, fdDecided:
			ok = isShared(f.fd)
		case fdMemory:
			_, err := unix.FcntlInt(uintptr(f.fd), unix.F_GET_SEALS, 0)
			ok = err == nil
		}
		if !ok {
			return -1, fmt.Errorf("keeper: its %q is none", f.name)
		}
	}
	if pidfd < 0 {
		return -1, errors.New("keeper: it has no pidfd")
	}
	return pidfd, nil
}

func isPipe(fd int) bool {
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// noPid stands for the process id of a process that has ended.
const noPid = -1

// pidOf returns the process id of a pidfd (see pidfd_open(2)); 0: fd is not a pidfd.
func pidOf(fd int) int {
	text, err := os.ReadFile("/proc/self/fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if number, ok := strings.CutPrefix(line, "Pid:"); ok {
			pid, _ := strconv.Atoi(strings.TrimSpace(number))
			return pid
		}
	}
	return 0
}
