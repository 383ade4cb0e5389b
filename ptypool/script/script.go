// Package script starts programs that the system cannot execute by itself, as shells do.
package script

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// Shell runs scripts whose first line names no interpreter (POSIX.1-2024, execvp: "the command
// interpreter").
const Shell = "/bin/sh"

// headBytes is how much of a program is read to identify it: as much as Linux reads
// (BINPRM_BUF_SIZE).
const headBytes = 256

// firstLine returns the first line of the file at path, or its first headBytes; false if it cannot
// be read.
func firstLine(path string) ([]byte, bool) {
	f, err := os.Open(path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	head := make([]byte, headBytes)
	n, err := io.ReadFull(f, head)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, false
	}
	line, _, _ := bytes.Cut(head[:n], []byte("\n"))
	return line, true
}

// Interpreter returns the program that the first line of the file at path names to run it
// (execve(2), "#!"); "": it names none.
func Interpreter(path string) string {
	line, _ := firstLine(path)
	rest, is := bytes.CutPrefix(line, []byte("#!"))
	if words := strings.Fields(string(rest)); is && len(words) > 0 {
		return words[0]
	}
	return ""
}

// Argv is for a program at path that the system refuses to execute because its format is unknown
// (ENOEXEC). It returns the arguments with which Shell runs it as a script, as execvp does. It is
// nil for a file that is not text, such as a program for another machine: like shells, it looks for
// a NUL in the first line. A relative path is relative to dir.
func Argv(dir, path string, argv []string) []string {
	file := path
	if !filepath.IsAbs(file) {
		file = filepath.Join(dir, file)
	}
	if line, ok := firstLine(file); !ok || bytes.IndexByte(line, 0) >= 0 {
		return nil
	}
	return append([]string{Shell, path}, argv[1:]...)
}
