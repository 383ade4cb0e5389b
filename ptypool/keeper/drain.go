package keeper

import (
	"encoding/json"
	"errors"
	"log"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/nonce"
	"termhost/ptypool/statefile"
	"termhost/ptypool/termlog"
)

const (
	// drainRead, in bytes, is the most that is read and logged at once: a read of a pty returns at
	// most 4 KiB, and the log keeps a buffer of the size of its longest record.
	drainRead = 8 << 10
	// lastSilence is how long a pty must be silent after its program has ended before its output
	// counts as complete, if a background process still has it open. lastTime and lastBytes bound
	// the wait for a process that is never silent. They equal the host's limits: see package
	// ptypool.
	lastSilence = 250 * time.Millisecond
	lastTime    = time.Second
	lastBytes   = 1 << 20
)

// drain reads a terminal's output into its log while no host does, so that programs never wait for
// a dead host.
type drain struct {
	t      *kept
	errors *log.Logger
	busy   *sync.Mutex // held while a drain reads and logs: the buffers are shared by all drains
	buf    []byte      // drainRead long
	logBuf *termlog.Buffer

	// busy guards the following.
	salvaged bool         // the output that the host had read is logged
	log      *termlog.Log // nil: not opened yet, or there is none
	noLog    bool         // no log can be opened
	lost     int64        // bytes that could not be logged
	lostWhy  string
	sealer   *nonce.Sealer // of a terminal with a nonce, which has one output; nil: it has no nonce

	outputs  []*drainOutput
	stopped  atomic.Bool
	stopping chan struct{} // closed with stopped
	done     chan struct{} // closed when no output is read any more
}

// drainOutput is one of the outputs that are drained.
type drainOutput struct {
	d   *drain
	pty bool
	f   *os.File // the keeper's own descriptor, in the runtime's poller

	over  bool      // the program has ended
	since time.Time // when that was noticed
	bytes int       // read since then
}

// outputNames returns the names of the descriptors that output is read from.
func outputNames() []string { return []string{fdMaster, fdStdout, fdStderr} }

// newDrain begins to drain t, whose host has ended.
func (s *server) newDrain(t *kept) *drain {
	d := &drain{
		t: t, errors: s.cfg.Log, busy: &s.busy, buf: s.buf, logBuf: &s.logBuf,
		done: make(chan struct{}), stopping: make(chan struct{}),
	}
	for _, name := range outputNames() {
		for _, fd := range t.named(name) {
			if own, err := dup(fd); err == nil {
				if f, err := polled(own, name); err == nil {
					d.outputs = append(d.outputs, &drainOutput{d: d, pty: name == fdMaster, f: f})
				}
			}
		}
	}
	return d
}

// run drains until all output has been read and the program has ended, or stop is called.
func (d *drain) run() {
	defer close(d.done)
	d.salvage()
	var others sync.WaitGroup
	for i, o := range d.outputs {
		if i > 0 { // most terminals have one output, which needs no other goroutine
			others.Go(o.run)
		}
	}
	if len(d.outputs) > 0 {
		d.outputs[0].run()
	}
	others.Wait()
	select {
	case <-d.t.ended:
	case <-d.stopping:
	}
	d.closeLog()
	if !d.stopped.Load() {
		// A background process that still has the pty open gets a hangup and does not wait for us.
		for _, name := range outputNames() {
			d.t.close(name)
		}
	}
}

// programEnded has the drain end when the remaining output has been read.
func (d *drain) programEnded() {
	for _, o := range d.outputs {
		_ = o.f.SetReadDeadline(time.Unix(1, 0)) // wakes it; a closed one is awake
	}
}

// stop ends the drain, and waits until it reads no more.
func (d *drain) stop() {
	d.stopped.Store(true)
	close(d.stopping)
	for _, o := range d.outputs {
		o.f.Close()
	}
	<-d.done
	if d.sealer != nil {
		d.eachLanding(func(l *Landing) { l.Leave(d.sealer.State()) })
	}
}

// salvage logs the output that the host had read but not logged.
func (d *drain) salvage() {
	d.eachLanding(func(l *Landing) {
		d.busy.Lock()
		defer d.busy.Unlock()
		end, torn := int64(0), false
		if !l.Empty() && d.openLog() {
			end, torn = d.log.End(), d.log.Torn()
		}
		missing, left := l.Salvage(end)
		if torn && (len(left) == 0 || missing > 0) {
			d.gap()
		}
		if len(left) > 0 && d.log != nil {
			d.lost, d.lostWhy = missing, notWritten
			d.append(left)
		}
		d.sealer = nonce.NewSealer(d.t.secret, l.Sealed())
	})
	d.busy.Lock()
	defer d.busy.Unlock()
	d.salvaged = true
}

// eachLanding calls do with every landing of the terminal. The landings' reader, the host, must
// have ended.
func (d *drain) eachLanding(do func(l *Landing)) {
	for _, fd := range d.t.named(fdLanding) {
		own, err := dup(fd)
		if err != nil {
			continue
		}
		l, err := MapLanding(os.NewFile(uintptr(own), "landing"))
		if err != nil {
			continue
		}
		l.Seal(d.t.secret)
		do(l)
		l.Close()
	}
}

// run reads one output.
func (o *drainOutput) run() {
	defer o.f.Close()
	raw, err := o.f.SyscallConn()
	if err != nil {
		return
	}
	for {
		err := raw.Read(func(fd uintptr) (done bool) { return !o.readSome(int(fd)) })
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			return // stopped, or the output has ended
		}
		// The program has ended, or the processes that it left have been silent.
		switch {
		case !o.over:
			o.over, o.since = true, time.Now()
			if !o.pty { // pipes are read to their end, as the host does
				_ = o.f.SetReadDeadline(time.Time{})
				continue
			}
			o.extend()
		case o.pty:
			return
		}
	}
}

// extend prolongs the wait by another lastSilence, within lastTime.
func (o *drainOutput) extend() {
	until := time.Now().Add(lastSilence)
	if last := o.since.Add(lastTime); until.After(last) {
		until = last
	}
	_ = o.f.SetReadDeadline(until) // it fails when stopped, as the next read does
}

// readSome reads and logs available output. more is false at the end of the output.
func (o *drainOutput) readSome(fd int) (more bool) {
	d := o.d
	for {
		d.busy.Lock()
		n, err := unix.Read(fd, d.buf)
		if n > 0 {
			d.sealer.Seal(d.buf[:n])
		}
		if n > 0 && d.openLog() {
			d.append(d.buf[:n])
		}
		d.busy.Unlock()
		switch {
		case err == unix.EINTR:
		case err == unix.EAGAIN:
			return true
		case err == unix.EIO: // nobody has the pty open, but its program may open it again
			return !o.over
		case err != nil || n == 0:
			return false
		case o.over && o.pty:
			if o.bytes += n; o.bytes > lastBytes {
				return false
			}
			o.extend()
		}
	}
}

// openLog opens the log unless it is open. A damaged log gets a gap, unless the host may have been
// killed while writing a record: see salvage. busy is held.
func (d *drain) openLog() bool {
	if d.log != nil || d.noLog {
		return d.log != nil
	}
	var err error
	if d.t.logDir != "" {
		d.log, err = d.logBuf.Open(d.t.logDir)
	} else if fds := d.t.named(fdMemory); len(fds) > 0 {
		files := make([]*os.File, 0, len(fds))
		for _, fd := range fds {
			own, duperr := dup(fd)
			if duperr != nil {
				err = duperr
				break
			}
			files = append(files, os.NewFile(uintptr(own), "memory"))
		}
		if err == nil {
			d.log, err = d.logBuf.New(files, termlog.MinSize)
		}
	}
	d.noLog = d.log == nil || err != nil
	if d.noLog {
		return false
	}
	if d.log.Damage() != "" && (!d.log.Torn() || d.salvaged) {
		d.gap()
	}
	return true
}

// gap logs that an unknown amount of output is missing because the log was damaged. busy is held.
func (d *drain) gap() {
	d.errors.Printf("the log of a terminal is damaged: %s: %s", d.t.logDir, d.log.Damage())
	_ = d.log.Skip(0, time.Now(), termlog.Damaged) // the host finds out as well
}

// append logs p. It counts what it cannot log, and writes a gap for that when the log can be
// written again. busy is held.
func (d *drain) append(p []byte) {
	now := time.Now()
	if d.lost > 0 {
		if d.log.Skip(d.lost, now, d.lostWhy) != nil {
			d.lost += int64(len(p))
			return
		}
		d.lost = 0
	}
	for len(p) > 0 {
		n := min(len(p), drainRead)
		if _, err := d.log.Append(termlog.Data, now, p[:n]); err != nil {
			d.lost, d.lostWhy = int64(len(p)), reason(err)
			return
		}
		p = p[n:]
	}
}

// closeLog closes the log. Before that it tries to log what is missing at the end, and the
// program's exit, because this process may have ended when the next host asks.
func (d *drain) closeLog() {
	d.busy.Lock()
	defer d.busy.Unlock()
	exit := d.t.info().Exit
	if d.stopped.Load() {
		exit = nil // the host logs it
	}
	if d.log == nil && exit != nil {
		d.openLog()
	}
	logged := int64(0)
	if d.log != nil {
		if d.lost > 0 {
			_ = d.log.Skip(d.lost, time.Now(), d.lostWhy)
		}
		logged = d.log.End()
	}
	if exit != nil && d.t.exitFile != "" {
		if err := statefile.Replace(d.t.exitFile, exit.payload(logged)); err != nil {
			d.errors.Print("the exit of a program is not stored: ", err)
		}
	}
	if d.log == nil {
		return
	}
	if exit != nil {
		if _, err := d.log.Append(termlog.Exit, exit.At, exit.payload(logged)); err != nil {
			d.errors.Print("the exit of a program is not logged: ", err)
		}
	}
	d.log.Close()
	d.log, d.noLog = nil, true
}

// notWritten is the reason for a gap unless a better one is known.
const notWritten = "the log could not be written"

// reason says, for display, why output could not be logged.
func reason(err error) string {
	var errno unix.Errno
	switch {
	case errors.As(err, &errno) && (errno == unix.ENOSPC || errno == unix.EDQUOT):
		return "disk full"
	default:
		return notWritten
	}
}

// payload returns the payload of an Exit record when the log has reached a position.
func (e *Exit) payload(logged int64) []byte {
	status := e.Ended()
	status.Logged = logged
	text, err := json.Marshal(status)
	if err != nil {
		panic("keeper: a status does not marshal: " + err.Error()) // it has only plain fields
	}
	return text
}
