package ptypool

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"termhost/ptypool/environ"
	"termhost/ptypool/script"
)

// resolve checks s.Dir and finds the program, so that errors are clearer than the plain errno of
// fork and exec.
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
	for _, dir := range filepath.SplitList(environ.Get(s.Env, "PATH")) {
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

// Runnable reports whether the program exists and may be executed.
func (s *Spec) Runnable() bool {
	_, err := s.resolve()
	return err == nil
}

// notExecuted returns why the system did not execute the program at path, which resolve has found.
func (s *Spec) notExecuted(path string, err error) *StartError {
	e := startError(s.Argv[0], underlying(err))
	if errors.Is(err, syscall.ENOENT) { // the program itself is there
		e.Interpreter = script.Interpreter(inDir(s.Dir, path))
	}
	return e
}

// inDir returns path relative to dir, or path itself if it is absolute.
func inDir(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// checkDir returns an error unless dir is a directory that this process may enter.
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

// checkProgram returns an error unless path is a file that this process may execute.
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

// startError returns the system's error for the program name, with its kind.
func startError(name string, err error) *StartError {
	e := &StartError{Name: name, Err: err}
	switch {
	case errors.Is(err, syscall.ENOENT), errors.Is(err, syscall.ENOTDIR),
		errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		e.Kind = ErrNotFound
	case errors.Is(err, syscall.EACCES), errors.Is(err, syscall.EPERM),
		errors.Is(err, syscall.ENOEXEC), errors.Is(err, syscall.ETXTBSY),
		errors.Is(err, syscall.EISDIR):
		e.Kind = ErrNotExecutable
	case errors.Is(err, syscall.E2BIG):
		e.Kind = ErrTooLong
	}
	return e
}
