package host

import (
	"os"
	"os/user"
	"path/filepath"
	"strings"

	"termhost/authz"
	"termhost/ptypool"
)

func (h *Host) userShell() string {
	if h.cfg.Shell != "" {
		return h.cfg.Shell
	}
	return "/bin/bash"
}

func homeDir() string {
	if u, err := user.Current(); err == nil {
		return u.HomeDir
	}
	return "/"
}

// interactive makes s run a shell for a person, with integration where it can.
func (h *Host) interactive(s *ptypool.Spec, shell string, login bool) {
	s.Argv = []string{shell}
	if login {
		s.Argv0 = "-" + filepath.Base(shell)
	}
}

func (h *Host) environment(_ authz.Principal, shell string, o CreateOptions) []string {
	env := []string{"HOME=" + homeDir(), "SHELL=" + shell, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color", "LANG=C.UTF-8"}
	for k, v := range h.cfg.Env {
		env = append(env, k+"="+v)
	}
	return append(env, o.Env...)
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
