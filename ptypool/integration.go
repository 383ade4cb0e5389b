package ptypool

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// shellInit holds the scripts, laid out as they are installed.
//
//go:embed shellinit/bash/init.bash shellinit/zsh/.zshenv shellinit/fish/vendor_conf.d/termhost.fish
var shellInit embed.FS

// shellInitRoot is the scripts' folder inside shellInit.
const shellInitRoot = "shellinit"

// defaultDataDirs is what an unset XDG_DATA_DIRS means (XDG Base Directory Specification).
const defaultDataDirs = "/usr/local/share:/usr/share"

// Integration makes interactive shells tell their terminal, by OSC 633 marks, where prompts,
// commands and their output begin and how commands end (see vt.Sink). It changes how a shell is
// started and none of the user's files.
//
// Dir is the absolute path of a folder that belongs to the integration, normally in the state
// folder.
type Integration struct{ Dir string }

// Install writes the scripts into Dir, which only this user may enter. Each script is replaced in
// one step, so that a shell that starts meanwhile reads the old or the new one. It fails if Dir is
// not absolute, holds a colon, or cannot be written.
func (in Integration) Install() error {
	if !filepath.IsAbs(in.Dir) || strings.Contains(in.Dir, ":") {
		return errors.New("ptypool: the folder for shell integration must be an absolute path " +
			"without a colon")
	}
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
			err = replaceFile(to, text)
		}
		if err != nil {
			return fmt.Errorf("ptypool: installing shell integration: %w", underlying(err))
		}
		return nil
	})
}

// replaceFile writes text, readable by this user only, to a new file and moves it to path.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}

// Apply says how to start the interactive shell at path shell so that it loads the integration: the
// arguments for Spec.Argv (with login, Spec.Argv0 is "-" and the shell's base name), and a copy of
// env with the variables that the scripts need.
//
// The scripts make the shell vouch for its command lines with nonce (vt.Options.Nonce). They remove
// the nonce from the environment, so that the programs which the shell starts do not get it; it is
// no secret from programs that may read the shell's memory.
//
// ok is false for a shell that has no integration, or whose script is not installed: start it as it
// is.
func (in Integration) Apply(shell string, login bool, nonce string, env []string) (
	argv, newEnv []string, ok bool) {
	env = slices.Clone(env)
	keep := func(name string) { // for the script to give back
		if v, set := findEnv(env, name); set {
			env = setEnv(env, "TERMHOST_"+name, v)
		}
	}
	argv = []string{shell}
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
	default:
		return nil, nil, false
	}
	if _, err := os.Stat(script); err != nil {
		return nil, nil, false
	}
	return argv, setEnv(env, "TERMHOST_NONCE", nonce), true
}
