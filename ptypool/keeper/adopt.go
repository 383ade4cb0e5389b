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

// A host whose keeper dies still has the descriptors of all terminals. It hands them to the next
// keeper, so that they outlive the host again. Their programs are no children of that keeper: it
// sees by a pidfd that one has ended, and learns how only where the system tells (see
// statusOfEnded).

const (
	// restartTime is how long a keeper that this process has not started may take to be there again
	// by itself: a service manager starts it anew, and where it starts it is where it belongs.
	restartTime = time.Second
	// shortLife is how long a keeper should live at least. Of those that do not, each is followed
	// more slowly, after firstPause at first and lastPause at most, by the next.
	shortLife  = time.Second
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
)

// Watch sees to it that there is a keeper, and that it has all terminals of those that have died,
// until ctx ends. It is called when all terminals of the keeper have been taken.
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
		l.handOver(c)
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
			return // Connect says what is wrong
		}
		pause(ctx, lockPoll)
	}
}

// handOver has a keeper adopt the terminals of those that have died.
func (l *Link) handOver(c *Client) {
	l.mu.Lock()
	orphans := l.orphans
	l.orphans = nil
	l.mu.Unlock()
	adopted := 0
	for i, t := range orphans {
		err := c.adopt(t)
		switch {
		case errors.Is(err, ErrGone):
			l.mu.Lock()
			l.orphans = append(l.orphans, orphans[i:]...)
			l.mu.Unlock()
			return
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
}

// errOver: a terminal has ended, and needs no keeper any more.
var errOver = errors.New("keeper: the terminal has ended")

// takeTerms returns the terminals of a keeper that has died, which are the caller's to look after.
func (c *Client) takeTerms() (all []*Child) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, t := range c.terms {
		all = append(all, t)
		delete(c.terms, id)
	}
	return all
}

// adopt hands t to the keeper, whose it is then.
func (c *Client) adopt(t *Child) error {
	t.mu.Lock()
	if t.over || t.ID == "" {
		t.mu.Unlock()
		return errOver
	}
	files := slices.Clone(t.files)
	for _, l := range t.Landings {
		files = append(files, file{fdLanding, int(l.file.Fd())})
	}
	info := t.Info
	info.Exit = nil
	before := t.client
	t.client = c // what is told from now on comes behind the request
	c.mu.Lock()
	c.terms[t.ID] = t
	c.mu.Unlock()
	answers, err := c.request(message{
		Op: opAdopt, Terms: []Info{info}, Note: t.Note, Secret: t.Secret,
		Log: t.place.log, ExitFile: t.place.exit, files: files,
	})
	t.mu.Unlock()
	if err == nil {
		err = await(answers, func(message) {})
	}
	if err != nil {
		c.drop(t)
		t.mu.Lock()
		t.client = before
		t.mu.Unlock()
	}
	return err
}

// adopt keeps a terminal that the host hands over. What it has must be what a keeper would have:
// the pidfd of that very process, a pty's master or the ends of pipes, landings that nobody can
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

// checkAdopted returns the pidfd of a terminal that is handed over, and what is wrong with what
// comes with it.
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
		case fdLanding:
			seals, err := unix.FcntlInt(uintptr(f.fd), unix.F_GET_SEALS, 0)
			ok = err == nil && seals&landingSeals == landingSeals
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

// noPid is what the system says instead of the number of a process that has ended.
const noPid = -1

// pidOf returns the process of a pidfd (see pidfd_open(2)); 0: it is no pidfd.
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
