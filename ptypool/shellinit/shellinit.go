// Package shellinit makes interactive shells report to their terminal, by OSC 633 marks, where
// prompts, commands and their output begin and how commands end (see vt.Sink). It changes how a
// shell is started, and none of the user's files.
package shellinit

import (
	"crypto/rand"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"termhost/ptypool/environ"
	"termhost/ptypool/nonce"
	"termhost/ptypool/statefile"
)

// texts has the scripts, in the folders in which they are installed.
//
//go:embed bash/init.bash zsh/.zshenv fish/vendor_conf.d/termhost.fish
var texts embed.FS

// defaultDataDirs is what an unset XDG_DATA_DIRS means (XDG Base Directory Specification).
const defaultDataDirs = "/usr/local/share:/usr/share"

// Scripts are the scripts in Dir, the absolute path of a folder of their own.
type Scripts struct{ Dir string }

// Install writes the scripts into Dir, which only this user may enter. It replaces each script
// atomically, so that a shell that starts meanwhile reads the old or the new one. It fails if Dir
// is not absolute, contains a colon, or cannot be written.
func (s Scripts) Install() error {
	if !filepath.IsAbs(s.Dir) || strings.Contains(s.Dir, ":") {
		return errors.New("shellinit: the folder for shell integration must be an absolute path " +
			"without a colon")
	}
	s.sweep()
	return fs.WalkDir(texts, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(s.Dir, filepath.FromSlash(path))
		if d.IsDir() {
			if err := errors.Join(os.MkdirAll(to, 0o700), os.Chmod(to, 0o700)); err != nil {
				return fmt.Errorf("shellinit: installing shell integration: %w", withoutPath(err))
			}
			return nil
		}
		text, err := texts.ReadFile(path)
		if err == nil {
			err = statefile.Replace(to, text)
		}
		if err != nil {
			return fmt.Errorf("shellinit: installing shell integration: %w", withoutPath(err))
		}
		return nil
	})
}

// Apply returns how to start the interactive shell at path shell so that it loads the integration:
// the arguments for Spec.Argv (with login, Spec.Argv0 is "-" and the shell's base name), and a copy
// of env with the variables that the scripts need.
//
// The scripts make the shell authenticate its marks with a nonce (vt.Options.Nonce), which grant
// passes to the shell: see package nonce. The programs that the shell starts do not get it.
//
// ok is false for a shell that has no integration, or whose script is not installed: start it as it
// is. fish has none but on Linux: it gets its nonce by a FIFO (nonce.FIFOs).
func (s Scripts) Apply(shell string, login bool, env []string) (
	argv, newEnv []string, grant *nonce.Grant, ok bool) {
	env = slices.Clone(env)
	keep := func(name string) { // which the script restores
		if v, set := environ.Lookup(env, name); set {
			env = environ.Set(env, "TERMHOST_"+name, v)
		}
	}
	argv = []string{shell}
	grant = &nonce.Grant{Secret: nonce.NewSecret()}
	var script string
	switch filepath.Base(shell) {
	case "bash":
		script = filepath.Join(s.Dir, "bash", "init.bash")
		if login {
			// In POSIX mode, which the script leaves at once, a login shell reads $ENV and nothing
			// else.
			keep("ENV")
			argv = append(argv, "--posix")
			env = environ.Set(env, "ENV", script)
		} else {
			argv = append(argv, "--rcfile", script)
		}
	case "zsh":
		dir := filepath.Join(s.Dir, "zsh")
		script = filepath.Join(dir, ".zshenv")
		keep("ZDOTDIR")
		env = environ.Set(env, "ZDOTDIR", dir)
	case "fish":
		if !nonce.FIFOs {
			return nil, nil, nil, false
		}
		script = filepath.Join(s.Dir, "fish", "vendor_conf.d", "termhost.fish")
		keep("XDG_DATA_DIRS")
		dirs, set := environ.Lookup(env, "XDG_DATA_DIRS")
		if !set || dirs == "" {
			dirs = defaultDataDirs
		}
		env = environ.Set(env, "XDG_DATA_DIRS", s.Dir+":"+dirs)
		grant.FIFO = filepath.Join(s.Dir, fifoPrefix+rand.Text())
	default:
		return nil, nil, nil, false
	}
	if _, err := os.Stat(script); err != nil {
		return nil, nil, nil, false
	}
	if grant.FIFO != "" {
		env = environ.Set(env, nonceVariable+"FIFO", grant.FIFO)
	} else {
		env = environ.Set(env, nonceVariable+"FD", strconv.Itoa(nonce.FD))
	}
	return argv, env, grant, true
}

// nonceVariable begins the name of the variable from which a shell knows where to get its nonce.
const nonceVariable = "TERMHOST_NONCE_"

// Replaced reports whether process pid, which was started with integration, has executed another
// program, such as by "exec zsh". It is false if that is unknown. /proc shows the environment with
// which the present program was started, and the scripts unset the variable.
func Replaced(pid int) bool {
	env, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && len(env) > 0 && !strings.Contains("\x00"+string(env), "\x00"+nonceVariable)
}

// fifoPrefix begins the names of the FIFOs in which shells get their nonces.
const fifoPrefix = "nonce-"

// sweep removes the empty FIFOs that a killed host has left.
func (s Scripts) sweep() {
	left, err := filepath.Glob(filepath.Join(s.Dir, fifoPrefix+"*"))
	for _, path := range left {
		st, serr := os.Lstat(path)
		if err == nil && serr == nil && time.Since(st.ModTime()) > fifoAge {
			os.Remove(path)
		}
	}
}

// fifoAge is longer than any shell takes to open its FIFO.
const fifoAge = time.Minute

// withoutPath strips the path from an error of package os.
func withoutPath(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}
