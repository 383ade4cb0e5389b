package ptypool

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// resolve checks s.Dir and finds the program, with the errors that fork and exec could only report as a bare errno.
func (s *Spec) resolve() (path string, err error) {
	if len(s.Argv) == 0 || s.Argv[0] == "" {
		return "", &StartError{Kind: ErrNotFound, Name: ""}
	}
	if s.Dir != "" {
		if err := checkDir(s.Dir); err != nil {
			return "", &StartError{Kind: ErrBadDir, Name: s.Dir, Err: err}
		}
	}
	name := s.Argv[0]
	if strings.Contains(name, "/") {
		// A relative path is for execve, which runs after the change of directory.
		if err := checkProgram(inDir(s.Dir, name)); err != nil {
			return "", startError(name, err)
		}
		return name, nil
	}
	var refused error
	for _, dir := range filepath.SplitList(lookupEnv(s.Env, "PATH")) {
		if dir == "" {
			dir = "." // POSIX: an empty element is the working directory
		}
		path := filepath.Join(dir, name)
		if !strings.Contains(path, "/") {
			path = "./" + path
		}
		switch err := checkProgram(inDir(s.Dir, path)); {
		case err == nil:
			return path, nil
		case errors.Is(err, syscall.EACCES):
			refused = err
		}
	}
	if refused != nil {
		return "", startError(name, refused)
	}
	return "", &StartError{Kind: ErrNotFound, Name: name}
}

func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// checkDir fails unless dir is a directory that this process may enter.
func checkDir(dir string) error {
	fi, err := os.Stat(dir)
	if err != nil {
		return underlying(err)
	}
	if !fi.IsDir() {
		return syscall.ENOTDIR
	}
	return unix.Access(dir, unix.X_OK)
}

// checkProgram fails unless path is a file that this process may execute.
func checkProgram(path string) error {
	fi, err := os.Stat(path)
	if err != nil {
		return underlying(err)
	}
	if fi.IsDir() {
		return syscall.EACCES
	}
	return unix.Access(path, unix.X_OK)
}

// underlying strips the path from an error of package os.
func underlying(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// startError gives the system's error for the program name its kind.
func startError(name string, err error) *StartError {
	e := &StartError{Name: name, Err: err}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG),
		errors.Is(err, syscall.ELOOP):
		e.Kind = ErrNotFound
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM), errors.Is(err, syscall.ENOEXEC),
		errors.Is(err, syscall.ETXTBSY), errors.Is(err, syscall.EISDIR):
		e.Kind = ErrNotExecutable
	case errors.Is(err, syscall.E2BIG):
		e.Kind = ErrTooLong
	}
	return e
}

// lookupEnv returns the value of name in env, "" if it is not set.
func lookupEnv(env []string, name string) string {
	value, _ := findEnv(env, name)
	return value
}

// findEnv returns the value of name in env, and whether it is there.
func findEnv(env []string, name string) (value string, set bool) {
	for _, v := range env {
		if value, set = strings.CutPrefix(v, name+"="); set {
			return value, true
		}
	}
	return "", false
}

// setEnv returns env with name set to value, and to nothing else: of two entries some programs take the first and some the
// last. env may be changed.
func setEnv(env []string, name, value string) []string {
	return append(unsetEnv(env, name), name+"="+value)
}

// unsetEnv returns env without name. env may be changed.
func unsetEnv(env []string, name string) []string {
	return slices.DeleteFunc(env, func(v string) bool { return strings.HasPrefix(v, name+"=") })
}
