package ptypool

import (
	"bytes"
	"io"
	"os"
	"strings"
)

// scriptShell runs scripts whose first line names no interpreter (POSIX.1-2024, execvp: "the
// command interpreter").
const scriptShell = "/bin/sh"

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

// ScriptArgv is for a program at path that the system refuses to execute because its format is
// unknown (ENOEXEC). It returns the arguments with which the shell runs it as a script, as execvp
// does. It is nil for a file that is not text, such as a program for another machine: like shells,
// it looks for a NUL in the first line. A relative path is relative to dir.
func ScriptArgv(dir, path string, argv []string) []string {
	if line, ok := firstLine(inDir(dir, path)); !ok || bytes.IndexByte(line, 0) >= 0 {
		return nil
	}
	return append([]string{scriptShell, path}, argv[1:]...)
}
