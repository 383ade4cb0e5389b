package host

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"termhost/ptypool"
)

// shellFolder holds the scripts of shell integration, in the state folder.
const shellFolder = "shell"

// defaultTerm is TERM where neither creator nor configuration name one.
const defaultTerm = "xterm-256color"

// settleIn learns who the terminals run as and installs shell integration. What
// cannot be had is logged and done without.
func (h *Host) settleIn() {
	account, err := ptypool.LookupAccount(context.Background(), os.Getuid())
	if err != nil {
		// As in a container that runs as a user id of its own.
		h.log.Warn("terminals start in / and run /bin/sh unless terminal.shell names another", "err", err)
		account = ptypool.Account{Name: strconv.Itoa(os.Getuid()), UID: os.Getuid(), Home: "/", Shell: "/bin/sh"}
	}
	h.account = account
	if !h.cfg.ShellIntegration || h.cfg.StateDir == "" {
		return
	}
	in := ptypool.Integration{Dir: filepath.Join(h.cfg.StateDir, shellFolder)}
	if err := in.Install(); err != nil {
		h.log.Warn("shells start without integration", "err", err)
		return
	}
	h.integration = in
}

func (h *Host) userShell() string {
	if h.cfg.Shell != "" {
		return h.cfg.Shell
	}
	return h.account.Shell
}

// homeDir returns where a terminal starts by default: the home directory, or as
// with sshd the root if there is none.
func (h *Host) homeDir() string {
	if checkDir(h.account.Home) == nil {
		return h.account.Home
	}
	return "/"
}

// interactive makes s run a shell for a person, with integration where it can.
// The nonce, one per terminal, is what the shell vouches for its command lines
// with.
func (h *Host) interactive(s *ptypool.Spec, shell string, login bool) {
	s.Argv = []string{shell}
	if login {
		s.Argv0 = "-" + filepath.Base(shell)
	}
	if h.integration.Dir == "" {
		return
	}
	nonce := rand.Text()
	if argv, env, ok := h.integration.Apply(shell, login, nonce, s.Env); ok {
		s.Argv, s.Env, s.VT.Nonce = argv, env, nonce
	}
}

// environment returns the variables of a terminal's process. None of the host's
// own is among them.
func (h *Host) environment(shell, term string, o CreateOptions) []string {
	var extra []string
	for name, value := range h.cfg.Env {
		extra = append(extra, name+"="+value)
	}
	return ptypool.Env(ptypool.EnvSpec{Account: h.account, Shell: shell, Term: term, Client: o.ClientEnv,
		Extra: append(extra, o.Env...)})
}

// termFor returns TERM for a terminal whose creator has the given one: programs
// can use it only if this host's terminfo describes it.
func (h *Host) termFor(creator string) string {
	switch {
	case h.hasTerminfo(creator):
		return creator
	case h.cfg.Term != "":
		return h.cfg.Term
	}
	return defaultTerm
}

// hasTerminfo reports whether the programs of a terminal find a description of
// term where ncurses looks for it (terminfo(5), "Fetching Compiled
// Descriptions"): in a folder named by the first letter or by its code.
func (h *Host) hasTerminfo(term string) bool {
	const longest = 128 // bytes; ncurses' own bound
	if term == "" || len(term) > longest || term[0] == '.' || strings.ContainsFunc(term, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '/' }) {
		return false
	}
	dirs := []string{filepath.Join(h.account.Home, ".terminfo"), "/etc/terminfo", "/lib/terminfo", "/usr/share/terminfo"}
	return slices.ContainsFunc(dirs, func(dir string) bool {
		for _, folder := range []string{term[:1], hex.EncodeToString([]byte(term[:1]))} {
			if st, err := os.Stat(filepath.Join(dir, folder, term)); err == nil && st.Mode().IsRegular() {
				return true
			}
		}
		return false
	})
}

// validEnv reports whether a variable may be set in a child's environment.
func validEnv(name, value string) bool {
	return name != "" && !strings.ContainsAny(name, "=\x00") && strings.IndexByte(value, 0) < 0
}

// firstWord returns the program that a command line most likely runs.
func firstWord(line string) string {
	for _, w := range strings.Fields(line) {
		if !strings.ContainsAny(w, "=") {
			return filepath.Base(strings.Trim(w, `"'`))
		}
	}
	return "sh"
}
