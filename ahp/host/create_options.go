package host

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"time"

	"termhost/ahp"
	"termhost/ahp/commandline"
	"termhost/ptypool/vt"
)

// The size of a terminal that nobody gave one (VT100; AHP's clients send theirs).
const (
	DefaultCols = 80
	DefaultRows = 24
)

// CreateOptions say what to run and how.
type CreateOptions struct {
	URI   string // normalized, with a legal NAME; "": made from Name
	Name  string // "": the host chooses; ignored if there is a URI
	Base  string // what a NAME that the host chooses begins with; "": the program's name
	Fresh bool   // a NAME that the host chooses is never given to another terminal
	Title string // "": the NAME
	// KeepTitle makes the title stay when the program sets another.
	KeepTitle bool
	// Dir may begin with ~/ and is relative to the home directory; "": the home directory.
	Dir string

	// What runs: Argv, or else Line by the shell with -c, or else the shell.
	Argv  []string
	Line  string
	Login *bool // run the shell as a login shell; nil: as configured

	Cols, Rows int    // 0: 80x24; otherwise clamped to 1..MaxCols and 1..MaxRows
	Pixels     Pixels // of that window
	Modes      string // of its pty: see ptypool.Spec
	Term       string // the creator's TERM, which is used if this host's terminfo has it

	// ClientEnv is what a client asked for, "NAME=value" each, of which LANG, LC_* and COLORTERM
	// are set. Env is set as it is and overrides all else, the configuration included.
	ClientEnv []string
	Env       []string
	TTYVar    string // a variable to be set to the terminal's device; "": none
	// ForwardsAgent: the peer has a key agent, for all programs: see [KeyAgents].
	ForwardsAgent bool

	Claim     ahp.Claim // the zero Claim: the clientId of the principal's SSH sessions
	Agent     string    // what the agent of a session's claim calls itself; "": it has not said
	Transient bool      // forgotten once it has exited while its creator watches
	Guarded   bool      // what agents type waits for approval, whatever the configuration
	Forced    bool      // it runs the principal's forced command
	Labels    ahp.Labels
	Record    bool // what it shows is recorded, whatever the configuration

	// DoorEnv is as Env, which overrides it: what the door adds by itself.
	DoorEnv []string

	// Held, if not nil, is called when the start waits for a person's yes. With Later, Create does
	// not wait for it: see [Created.Starting].
	Held  func(*Starting)
	Later bool

	// Client, if not nil, has the connection's own client run the program elsewhere. Otherwise it
	// runs on this host: on a pty, or with Piped on pipes, see [Created.Streams]. Detached then has
	// it go on when the connection ends, see [Streams.Detach]. On pipes a shell starts without
	// integration, because nobody types into it, and TERM is not set.
	Client   *ClientOptions
	Piped    bool
	Detached bool
	// Exact runs the program on a pty as sshd would run it: the Streams carry every byte that it
	// prints, and its queries are for the peer's own terminal to answer. While they are open the
	// host answers none, and the terminal has the size that [Streams.Resize] gives it, whoever else
	// looks at it. TERM is the peer's, a shell starts without integration, and there is no error
	// output apart.
	Exact bool
	// Attach, if not nil, has the terminal attached before anything has been printed, see
	// [Created.Attach]. If that fails, the terminal is disposed.
	Attach *AttachOptions

	// Tap, if not nil, gets all visible output exactly once, as it comes. It is called with the
	// Term's lock held, so it must not block; nor may it keep p.
	Tap func(p []byte)
	// Tag is kept with the terminal, for a door that asks for it: see [Host.Tagged].
	Tag string

	conn *Conn // whose peer asks
}

// ClientOptions say how a client runs the program of its terminal.
type ClientOptions struct {
	Cwd    string        // a file URI of the client's machine; "": unknown
	Stream bool          // the output is no terminal's, but a plain stream
	Grace  time.Duration // how long the client may be away, at most client_grace
}

// Created is a terminal that was made.
type Created struct {
	Terminal *Terminal
	// Starting says how the start of a program goes that needs a person's yes; nil: it needs none.
	Starting *Starting
	// Attach shows the terminal, and First is to be written before anything that is pulled: see
	// [Conn.Attach]. nil without [CreateOptions.Attach].
	Attach *Attach
	First  []byte
	// Streams must be closed; nil without [CreateOptions.Piped] and [CreateOptions.Exact].
	Streams *Streams
}

// maxProgram bounds what listings have of a program's command line, in bytes.
const maxProgram = 1 << 10

// program returns [Info.Program] of a terminal with these options.
func (o *CreateOptions) program() string {
	line, ok := commandline.OfShell(o.Argv)
	switch {
	case ok && len(o.Argv) == 3: // sh -c LINE, without arguments of the line
	case len(o.Argv) > 0:
		line = commandline.Join(o.Argv)
	default:
		line = o.Line
	}
	line = Printable(line)
	return line[:ahp.WholeRunes(line, maxProgram)]
}

// defaultScrollbackBytes is how much output is retained unless the configuration says otherwise:
// ten thousand lines of text.
const defaultScrollbackBytes = 1 << 20

// screen returns the options of a screen for programs that have term as their TERM. Its history is
// bounded in bytes like the content, so that both reach back about as far.
func (h *Host) screen(term string) vt.Options {
	most := cmp.Or(h.cfg().ScrollbackBytes, defaultScrollbackBytes)
	return vt.Options{
		Version: h.cfg().Version, Term: term, Pictures: true, CharacterWidths: true,
		ScrollbackLines: most, ScrollbackBytes: most,
	}
}

// checkDir returns a *DirError unless dir is "" or a directory of this host.
func checkDir(dir string) error {
	if dir == "" {
		return nil
	}
	st, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &DirError{dir, "there is no such directory on this host"}
	case err != nil:
		return &DirError{dir, "it cannot be read"}
	case !st.IsDir():
		return &DirError{dir, "it is not a directory"}
	}
	return nil
}
