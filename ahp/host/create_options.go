package host

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"termhost/ahp"
	"termhost/authz"
	"termhost/ptypool/vt"
)

// The size of a terminal that nobody gave one (VT100; AHP's clients send theirs).
const (
	defaultCols = 80
	defaultRows = 24
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
	Term       string // the creator's TERM, which is used if this host's terminfo has it

	// ClientEnv is what a client asked for, "NAME=value" each, of which LANG, LC_* and COLORTERM
	// are set. Env is set as it is and overrides all else, the configuration included.
	ClientEnv []string
	Env       []string
	TTYVar    string // a variable to be set to the terminal's device; "": none

	Claim     ahp.Claim // the zero Claim: the clientId of the principal's SSH sessions
	Agent     string    // what the agent of a session's claim calls itself; "": it has not said
	By        string    // how the one who makes it is called, see [Conn.Name]; "": as its principal
	Transient bool      // forgotten once it has exited while its creator watches
	Detached  bool      // of one on pipes: it goes on when the connection ends, see Streams.Detach
	Guarded   bool      // what agents type waits for approval, whatever the configuration
	Forced    bool      // it runs the principal's forced command
	Record    bool      // what it shows is recorded, whatever the configuration

	// DoorEnv is as Env, which overrides it: what the door adds by itself. Held, if not nil, is
	// called when the start waits for a person's yes.
	DoorEnv []string
	Held    func(*Starting)

	// Tap, if not nil, gets all visible output exactly once, as it comes. It is called with the
	// Term's lock held, so it must not block; nor may it keep p.
	Tap func(p []byte)
	// Tag is kept with the terminal, for a door that asks for it: see [Host.Tagged].
	Tag string

	conn  *Conn    // whose peer asks; nil: the host itself does, for a principal
	exec  executor // nil: a serverExecutor
	piped bool     // it runs on pipes, see CreatePiped
	exact bool     // see CreateExact
}

// by returns how the one who makes the terminal is called.
func (o *CreateOptions) by(p authz.Principal) string { return cmp.Or(o.By, nameOf(p)) }

// defaultScrollbackBytes is how much output is retained unless the configuration says otherwise:
// ten thousand lines of text.
const defaultScrollbackBytes = 1 << 20

// defaultLogBytes is the size of a log unless the configuration says otherwise.
const defaultLogBytes = 4 << 20

func (h *Host) logBytes() int { return cmp.Or(h.cfg().LogBytes, defaultLogBytes) }

// screen returns the options of a screen for programs that have term as their TERM. Its history is
// bounded in bytes like the content, so that both reach back about as far.
func (h *Host) screen(term string) vt.Options {
	most := cmp.Or(h.cfg().ScrollbackBytes, defaultScrollbackBytes)
	return vt.Options{
		Version: h.cfg().Version, Term: term, ScrollbackLines: most, ScrollbackBytes: most,
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
