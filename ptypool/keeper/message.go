package keeper

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"termhost/ptypool/nonce"
	"termhost/ptypool/termlog"
)

const (
	// Protocol is the version of the protocol between host and keeper. It rises only with changes
	// that an older side would misunderstand: unknown fields are skipped, and unknown operations
	// refused.
	Protocol = 3
	// sealing is the first version in which keepers give shells their nonces, and seal output.
	sealing = 2
	// deciding is the first version in which keepers adopt terminals with decisions.
	deciding = 3
	// Oldest is the lowest version of the other side that this one understands.
	Oldest = 1

	// maxPacket, in bytes, is the longest message: the kernel's default takes twice as much.
	maxPacket = 64 << 10
	// maxFDs is the most descriptors that come with a message: three pipes, a pidfd, two landings
	// and a log's segments, with room to spare. The kernel's limit is 253.
	maxFDs = 32
	// pageTerms is how many terminals one message lists, so that it stays below maxPacket.
	pageTerms = 100
)

// The operations. The host sends requests; the keeper answers each with opAnswer and the same Seq.
// opExited it sends unasked.
const (
	opHello  = "hello"  // Protocol, Oldest, Version, Pid; the answer has the same, and Boot
	opList   = "list"   // answered with Terms, in messages of which all but the last say More
	opStart  = "start"  // files: see Client.Start; answered with Terms[0] and its own
	opTake   = "take"   // ID; answered with Terms[0] and all its descriptors
	opAdopt  = "adopt"  // Terms[0], Log, ExitFile and all a take has; answered: see session.adopt
	opClose  = "close"  // ID, Name: the keeper closes its descriptor of that name; not answered
	opForget = "forget" // ID: all of it; not answered
	opStop   = "stop"   // answered, then the keeper ends
	opCheck  = "check"  // answered
	opAnswer = "answer"
	opExited = "exited" // Terms[0], which has its Exit
)

// The names of descriptors. A message names the descriptors that come with it, in their order.
const (
	fdProgram = "program" // a file with a Program, whose environment may exceed a message
	fdPid     = "pidfd"
	fdMaster  = "master" // of a pty
	fdStdin   = "stdin"  // the keeper's ends of pipes
	fdStdout  = "stdout"
	fdStderr  = "stderr"
	fdLanding = "landing" // one for each output
	fdMemory  = "memory"  // a segment of a log that is in memory only
	fdTrail   = "trail"   // a [Shared] that hosts use as they like: see Memory.Trail
	fdDecided = "decided" // likewise: see Memory.Decided
)

// message is one packet in either direction.
type message struct {
	Op       string `json:"op"`
	Seq      uint64 `json:"seq,omitempty"`
	Protocol int    `json:"protocol,omitempty"`
	Oldest   int    `json:"oldest,omitempty"`
	Version  string `json:"version,omitempty"`
	Boot     string `json:"boot,omitempty"`
	Pid      int    `json:"pid,omitempty"`
	Until    int64  `json:"until,omitempty"` // when the host gives a request up: see monotonic
	ID       string `json:"id,omitempty"`
	Name     string `json:"name,omitempty"`
	Terms    []Info `json:"terms,omitempty"`
	More     bool   `json:"more,omitempty"`
	// Error says why a request was refused; Errno is its error number, if it is a system's error.
	Error string        `json:"error,omitempty"`
	Errno syscall.Errno `json:"errno,omitempty"`
	Busy  bool          `json:"busy,omitempty"` // another host, with process id Pid, is there
	// FDs names the descriptors that come with the message.
	FDs []string `json:"fds,omitempty"`
	// Note is that of a terminal that is taken.
	Note []byte `json:"note,omitempty"`
	// Secret is that of a terminal whose shell has a nonce.
	Secret string `json:"secret,omitempty"`
	// Log and ExitFile are those of a Program.
	Log      string `json:"log,omitempty"`
	ExitFile string `json:"exitFile,omitempty"`

	files []file // the descriptors that FDs names
}

// file is a descriptor and its name. Descriptors are plain numbers here: an os.File of a
// non-blocking one would be in the runtime's poller, which would wake the keeper with all output
// that the host reads.
type file struct {
	name string
	fd   int
}

func closeFiles(files []file) {
	for _, f := range files {
		unix.Close(f.fd)
	}
}

// Info is what the keeper knows of one terminal.
type Info struct {
	ID     string `json:"id"`
	Marker string `json:"marker,omitempty"`
	Pid    int    `json:"pid"`
	Pipes  bool   `json:"pipes,omitempty"`
	Exit   *Exit  `json:"exit,omitempty"` // nil: it runs
}

// Exit is how a program ended.
type Exit struct {
	Status syscall.WaitStatus `json:"status"`
	// Ticks is when its process id became free: clock ticks since boot, as in /proc/PID/stat.
	Ticks uint64 `json:"ticks"`
	// At is the same moment as a wall-clock time, for display.
	At time.Time `json:"at,omitzero"`
	// Unknown says that the keeper has adopted the program and the system did not reveal how it
	// ended. Status is unknownStatus then.
	Unknown bool `json:"unknown,omitempty"`
}

// unknownStatus is exit code 255: a program from before [Exit.Unknown] does not take it for
// success.
const unknownStatus = syscall.WaitStatus(255 << 8)

// Ended returns how and when the program ended, in the format of a log.
func (e *Exit) Ended() termlog.Status {
	st := termlog.Status{Code: e.Status.ExitStatus(), At: e.At}
	if e.Unknown {
		st.Code = -1
	}
	if e.Status.Signaled() {
		st.Signal = int(e.Status.Signal())
		st.Code = 128 + st.Signal
	}
	return st
}

// Program describes a program to start.
type Program struct {
	ID     string   `json:"id"`     // names the terminal in all later messages; not empty
	Marker string   `json:"marker"` // of the processes, also as a proctag.Tag
	Path   string   `json:"path"`   // of the program: absolute, or relative to Dir
	Argv   []string `json:"argv"`
	Env    []string `json:"env"`
	Dir    string   `json:"dir"` // absolute
	Pipes  bool     `json:"pipes,omitempty"`
	Cols   int      `json:"cols,omitempty"` // of the pty
	Rows   int      `json:"rows,omitempty"`
	Width  int      `json:"width,omitempty"` // of the pty, in pixels
	Height int      `json:"height,omitempty"`
	// Modes are those of the pty, as in package ttymodes; nil: the system's.
	Modes []byte `json:"modes,omitempty"`
	// TTYVar, if not empty, names a variable that is set to the terminal's device.
	TTYVar string `json:"ttyvar,omitempty"`
	// Log is the folder of the terminal's log, absolute; "": it is in memory, or there is none.
	Log string `json:"log,omitempty"`
	// Exit is the absolute path of the file to which the keeper writes the program's status, in the
	// format of a log, if the program ends while no host runs: a log in memory may be lost before
	// the next host starts. "": there is none.
	Exit string `json:"exit,omitempty"`
	// Note is for hosts: see [Child.Note].
	Note []byte `json:"note,omitempty"`
	// Grant gives a shell on a pty its nonce; nil: it gets none.
	Grant *nonce.Grant `json:"grant,omitempty"`
}

// secret returns the secret of the program's nonce; "": it has none.
func (p *Program) secret() string {
	if p.Grant == nil || p.Pipes {
		return ""
	}
	return p.Grant.Secret
}

// conn carries messages. Only one goroutine may receive.
type conn struct {
	*net.UnixConn

	sending sync.Mutex // held while a message is written
	packet  [maxPacket]byte
	control [1024]byte // holds maxFDs and more
}

// send sends m with its descriptors, which still belong to the caller.
func (c *conn) send(m message) error {
	p, err := m.encode()
	if err != nil {
		return err
	}
	return c.write(p)
}

// encode returns m as it is sent. Its descriptors still belong to the caller.
func (m message) encode() (p packet, err error) {
	m.FDs = nil
	for _, f := range m.files {
		m.FDs = append(m.FDs, f.name)
		p.fds = append(p.fds, f.fd)
	}
	if p.bytes, err = json.Marshal(m); err != nil {
		return p, err
	}
	if len(p.bytes) > maxPacket || len(p.fds) > maxFDs {
		return p, fmt.Errorf("keeper: a message of %d bytes and %d descriptors", len(p.bytes),
			len(p.fds))
	}
	return p, nil
}

// errTorn says that a message did not arrive completely.
var errTorn = errors.New("keeper: a message was cut off")

// receive returns the next message. Its descriptors belong to the caller, and are close-on-exec. It
// fails with io.EOF when the other side has ended.
func (c *conn) receive() (message, error) {
	n, on, flags, _, err := c.ReadMsgUnix(c.packet[:], c.control[:])
	if err != nil {
		return message{}, err
	}
	fds, err := rights(c.control[:on])
	if err == nil && flags&(unix.MSG_TRUNC|unix.MSG_CTRUNC) != 0 {
		err = errTorn
	}
	var m message
	if err == nil {
		err = json.Unmarshal(c.packet[:n], &m)
	}
	if err == nil && len(m.FDs) != len(fds) {
		err = errTorn
	}
	if err != nil {
		for _, fd := range fds {
			unix.Close(fd)
		}
		return message{}, err
	}
	for i, fd := range fds {
		m.files = append(m.files, file{m.FDs[i], fd})
	}
	return m, nil
}

// rights returns the descriptors in a control message.
func rights(control []byte) ([]int, error) {
	if len(control) == 0 {
		return nil, nil
	}
	parts, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return nil, err
	}
	var fds []int
	for _, part := range parts {
		got, err := unix.ParseUnixRights(&part)
		if err != nil {
			return fds, err
		}
		fds = append(fds, got...)
	}
	return fds, nil
}
