package host

import (
	"context"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"termhost/ahp/commandline"
	"termhost/ptypool"
	"termhost/ptypool/nonce"
	"termhost/ptypool/shellinit"
)

// shellFolder holds the scripts of shell integration, in the state folder.
const shellFolder = "shell"

// defaultTerm is TERM where neither the creator nor the configuration names one.
const defaultTerm = "xterm-256color"

// In the environment of a terminal's program, nameVariable has the NAME that the terminal had at
// its start, URIVariable the URI, which stays when the terminal is renamed, and SocketVariable the
// path of the host's unix socket, if there is one.
const (
	nameVariable   = "TERMHOST_NAME"
	URIVariable    = "TERMHOST_URI"
	SocketVariable = "TERMHOST_SOCKET"
)

// In the environment of a terminal's program, programVariable and versionVariable name the program
// that draws the terminal. Some programs use kitty's keyboard protocol only under names that they
// know; attach.md has what was measured. Where the peer's terminal gets the output byte by byte,
// that is not known, and neither is set.
const (
	programVariable = "TERM_PROGRAM"
	versionVariable = "TERM_PROGRAM_VERSION"
	programName     = "ghostty"
	programVersion  = "1.2.0"
)

// lookUpAccount looks up the user that the terminals run as. If that fails, it is logged, and the
// host does without. Whoever started the host may have given it another home folder, which holds
// then for the terminals too, as in tmux.
func (h *Host) lookUpAccount() {
	account, err := ptypool.LookupAccount(context.Background(), os.Getuid())
	if err != nil {
		// The user id has no entry, as in a container that was given one of its own.
		h.log.Warn("terminals start in / and run /bin/sh unless terminal.shell names another",
			"err", err)
		uid := os.Getuid()
		account = ptypool.Account{Name: strconv.Itoa(uid), UID: uid, Home: "/", Shell: "/bin/sh"}
	}
	if home := os.Getenv("HOME"); filepath.IsAbs(home) {
		account.Home = home
	}
	h.account = account
}

// settle makes what a configuration needs: it installs shell integration. If that fails, it is
// logged, and shells do without.
func (h *Host) settle(cfg Config) *settings {
	s := &settings{Config: cfg}
	if _, err := exec.LookPath(cfg.Shell); cfg.Shell != "" && err != nil {
		h.log.Warn("terminal.shell cannot be run: no shell will start", "err", err)
	}
	if !cfg.ShellIntegration || cfg.StateDir == "" {
		return s
	}
	in := shellinit.Scripts{Dir: filepath.Join(cfg.StateDir, shellFolder)}
	if err := in.Install(); err != nil {
		h.log.Warn("shells start without integration", "err", err)
		return s
	}
	s.integration = in
	return s
}

func (h *Host) userShell() string {
	if h.cfg().Shell != "" {
		return h.cfg().Shell
	}
	return h.account.Shell
}

// homeDir returns where a terminal starts by default: the home directory, or the root if that does
// not exist, as with OpenSSH's sshd.
func (h *Host) homeDir() string {
	if checkDir(h.account.Home) == nil {
		return h.account.Home
	}
	return "/"
}

// integrate gives the shell that s runs shell integration, if that knows the shell: the user's if
// nothing was asked for, or one that is all that was asked for. login: the user's is a login shell.
func (h *Host) integrate(s *ptypool.Spec, o CreateOptions, login bool) {
	in, with := h.cfg().integration, *s
	if len(o.Argv) > 0 || o.Line != "" {
		words := o.Argv
		if len(words) == 0 {
			words = commandline.Words(o.Line)
		}
		var ok bool
		if login, ok = commandline.InteractiveShell(words); !ok || !isSystemShell(words[0], o.Env) {
			return
		}
		if with.Argv = words[:1]; login {
			with.Argv0 = "-" + filepath.Base(words[0])
		}
	}
	if in.Dir == "" || !with.Runnable() {
		return
	}
	shell := with.Argv[0]
	if k := h.cfg().Keeper; k != nil && !k.Seals() {
		h.log.Warn("a shell starts without integration: the keeper is of an older version; "+
			"that changes when the terminals that run now have ended", "shell", shell)
		return
	}
	if argv, env, grant, ok := in.Apply(shell, login, s.Env); ok {
		with.Argv, with.Env, with.Grant, with.VT.Nonce = argv, env, grant, nonce.Genuine
		*s = with
	}
}

// isSystemShell reports whether name, with the variables that were asked for, is of the system's
// shells: what somebody has called zsh is not to vouch for its commands.
func isSystemShell(name string, env []string) bool {
	if strings.Contains(name, "/") {
		dirs := []string{"/bin", "/usr/bin", "/usr/local/bin"}
		return slices.Contains(dirs, filepath.Dir(name))
	}
	return !slices.ContainsFunc(env, func(v string) bool { return strings.HasPrefix(v, "PATH=") })
}

// environment returns the variables of a terminal's process: those of a login on this machine. The
// host's own are not passed on.
func (h *Host) environment(shell, term string, o CreateOptions) []string {
	var extra []string
	if term != "" && term != "dumb" && !o.Exact {
		extra = append(extra, programVariable+"="+programName, versionVariable+"="+programVersion)
	}
	for name, value := range h.cfg().Env {
		extra = append(extra, name+"="+value)
	}
	return ptypool.Env(ptypool.EnvSpec{
		Account: h.account, Shell: shell, Term: term, Root: h.cfg().Root, Client: o.ClientEnv,
		Extra: slices.Concat(extra, o.DoorEnv, o.Env),
	})
}

// termFor returns TERM for a terminal whose creator has the given one, which is of use only if this
// host's terminfo describes it.
func (h *Host) termFor(creator string) string {
	switch {
	case h.hasTerminfo(creator):
		return creator
	case h.cfg().Term != "":
		return h.cfg().Term
	}
	return defaultTerm
}

// hasTerminfo reports whether term is described where ncurses looks for it (terminfo(5), "Fetching
// Compiled Descriptions"): in a folder named by term's first letter, or by the code of that letter.
func (h *Host) hasTerminfo(term string) bool {
	const longest = 128 // bytes; ncurses' own bound
	illegal := func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '/' }
	switch {
	case term == "", len(term) > longest, term[0] == '.', strings.ContainsFunc(term, illegal):
		return false
	}
	dirs := []string{filepath.Join(h.account.Home, ".terminfo"),
		"/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		for _, folder := range []string{term[:1], hex.EncodeToString([]byte(term[:1]))} {
			st, err := os.Stat(filepath.Join(dir, folder, term))
			if err == nil && st.Mode().IsRegular() {
				return true
			}
		}
		return false
	})
}

// ValidEnv reports whether a variable may be set in a child's environment.
func ValidEnv(name, value string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && strings.IndexByte(value, 0) < 0
}

// HasProgram reports whether the shell of a terminal with these options would find a program of
// that name.
func (c *Conn) HasProgram(name string, o CreateOptions) bool {
	o.Argv, o.Line = []string{name}, ""
	s, _ := c.host.spec(o)
	return s.Runnable()
}

// spec returns the program to run on a pty or pipes, and the beginning of a NAME that is made from
// it.
func (h *Host) spec(o CreateOptions) (s ptypool.Spec, base string) {
	shell := h.userShell()
	login := h.cfg().Login
	if o.Login != nil {
		login = *o.Login
	}
	term := ""
	switch {
	case o.Exact && o.Term != "":
		term = o.Term
	case !o.Piped:
		term = h.termFor(o.Term)
	}
	s = ptypool.Spec{
		Dir: o.Dir, Cols: o.Cols, Rows: o.Rows, Pixels: o.Pixels, Modes: o.Modes,
		Env:    h.environment(shell, term, o),
		TTYVar: o.TTYVar, VT: h.screen(term),
	}
	if o.Exact { // the program asks the peer's terminal
		s.VT.CharacterWidths = false
	}
	if s.Dir == "" {
		s.Dir = h.homeDir()
	}
	switch {
	case len(o.Argv) > 0:
		s.Argv, base = o.Argv, commandline.Program(o.Argv)
	case o.Line != "":
		s.Argv = []string{shell, "-c", o.Line} // as sshd does; no login shell
		base = commandline.ProgramOf(o.Line)
	default:
		s.Argv, base = []string{shell}, filepath.Base(shell)
		if login {
			s.Argv0 = "-" + base
		}
	}
	// A shell that reads a pipe has no prompt and no commands to tell of.
	if !o.Piped && !o.Exact {
		h.integrate(&s, o, login)
	}
	return s, base
}
