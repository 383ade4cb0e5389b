package ptypool

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

	"termhost/ptypool/nonce"
	"termhost/ptypool/statefile"
)

// shellInit has the scripts, in the folders in which they are installed.
//
//go:embed shellinit/bash/init.bash shellinit/zsh/.zshenv shellinit/fish/vendor_conf.d/termhost.fish
var shellInit embed.FS

// shellInitRoot is the scripts' folder inside shellInit.
const shellInitRoot = "shellinit"

// defaultDataDirs is what an unset XDG_DATA_DIRS means (XDG Base Directory Specification).
const defaultDataDirs = "/usr/local/share:/usr/share"

// Integration makes interactive shells report to their terminal, by OSC 633 marks, where prompts,
// commands and their output begin and how commands end (see vt.Sink). It changes how a shell is
// started, and none of the user's files.
//
// Dir is the absolute path of a folder that belongs to the integration, normally in the state
// folder.
type Integration struct{ Dir string }

// Install writes the scripts into Dir, which only this user may enter. It replaces each script
// atomically, so that a shell that starts meanwhile reads the old or the new one. It fails if Dir
// is not absolute, contains a colon, or cannot be written.
func (in Integration) Install() error {
	if !filepath.IsAbs(in.Dir) || strings.Contains(in.Dir, ":") {
		return errors.New("ptypool: the folder for shell integration must be an absolute path " +
			"without a colon")
	}
	in.sweep()
	return fs.WalkDir(shellInit, shellInitRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(in.Dir, filepath.FromSlash(strings.TrimPrefix(path, shellInitRoot)))
		if d.IsDir() {
			if err := errors.Join(os.MkdirAll(to, 0o700), os.Chmod(to, 0o700)); err != nil {
				return fmt.Errorf("ptypool: installing shell integration: %w", underlying(err))
			}
			return nil
		}
		text, err := shellInit.ReadFile(path)
		if err == nil {
			err = statefile.Replace(to, text)
		}
		if err != nil {
			return fmt.Errorf("ptypool: installing shell integration: %w", underlying(err))
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
// is.
func (in Integration) Apply(shell string, login bool, env []string) (
	argv, newEnv []string, grant *nonce.Grant, ok bool) {
	env = slices.Clone(env)
	keep := func(name string) { // which the script restores
		if v, set := findEnv(env, name); set {
			env = setEnv(env, "TERMHOST_"+name, v)
		}
	}
	argv = []string{shell}
	grant = &nonce.Grant{Secret: nonce.NewSecret()}
	var script string
	switch filepath.Base(shell) {
	case "bash":
		script = filepath.Join(in.Dir, "bash", "init.bash")
		if login {
			// In POSIX mode, which the script leaves at once, a login shell reads $ENV and nothing
			// else.
			keep("ENV")
			argv = append(argv, "--posix")
			env = setEnv(env, "ENV", script)
		} else {
			argv = append(argv, "--rcfile", script)
		}
	case "zsh":
		dir := filepath.Join(in.Dir, "zsh")
		script = filepath.Join(dir, ".zshenv")
		keep("ZDOTDIR")
		env = setEnv(env, "ZDOTDIR", dir)
	case "fish":
		script = filepath.Join(in.Dir, "fish", "vendor_conf.d", "termhost.fish")
		keep("XDG_DATA_DIRS")
		dirs, set := findEnv(env, "XDG_DATA_DIRS")
		if !set || dirs == "" {
			dirs = defaultDataDirs
		}
		env = setEnv(env, "XDG_DATA_DIRS", in.Dir+":"+dirs)
		grant.FIFO = filepath.Join(in.Dir, fifoPrefix+rand.Text())
	default:
		return nil, nil, nil, false
	}
	if _, err := os.Stat(script); err != nil {
		return nil, nil, nil, false
	}
	if grant.FIFO != "" {
		env = setEnv(env, nonceVariable+"FIFO", grant.FIFO)
	} else {
		env = setEnv(env, nonceVariable+"FD", strconv.Itoa(nonce.FD))
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
func (in Integration) sweep() {
	left, err := filepath.Glob(filepath.Join(in.Dir, fifoPrefix+"*"))
	for _, path := range left {
		st, serr := os.Lstat(path)
		if err == nil && serr == nil && time.Since(st.ModTime()) > fifoAge {
			os.Remove(path)
		}
	}
}

// fifoAge is longer than any shell takes to open its FIFO.
const fifoAge = time.Minute
