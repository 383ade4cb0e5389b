package hooks

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"termhost/ptypool/statefile"
)

// Settings returns what the agent's settings need, for people, if termhost is at exe.
func (a Agent) Settings(exe, home string) string {
	var b strings.Builder
	for i, p := range a.parts(exe, home) {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s:\n\n%s", p.file(), p.text())
	}
	return b.String()
}

// Install adds that to the agent's settings, and returns the files that have changed.
func (a Agent) Install(exe, home string) (changed []string, err error) {
	return a.change(exe, home, part.with)
}

// Remove takes out of the agent's settings what Install has added, by whichever path.
func (a Agent) Remove(exe, home string) (changed []string, err error) {
	return a.change(exe, home, part.without)
}

// change changes the files. All of them can be changed, or none is.
func (a Agent) change(exe, home string, by func(part, []byte) ([]byte, error)) (
	changed []string, err error,
) {
	type file struct {
		path     string
		was, now []byte
	}
	var files []file
	for _, p := range a.parts(exe, home) {
		f := file{path: p.file()}
		if f.was, err = read(f.path); err == nil {
			f.now, err = by(p, f.was)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		files = append(files, f)
	}
	for _, f := range files {
		if bytes.Equal(f.was, f.now) {
			continue
		}
		if err := write(f.path, f.now); err != nil {
			return changed, err
		}
		changed = append(changed, f.path)
	}
	return changed, nil
}

// maxSettings bounds a file of settings, in bytes: people write them.
const maxSettings = 4 << 20

// read returns a file's content; nil: there is none.
func read(path string) ([]byte, error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, errors.Unwrap(err)
	case !st.Mode().IsRegular() || st.Size() > maxSettings:
		return nil, errors.New("it is not a file of settings")
	}
	return os.ReadFile(path)
}

// write replaces a file's content in one step; nil: it removes the file. A link stays one, as in
// homes whose settings are kept elsewhere.
func write(path string, text []byte) error {
	if to, err := filepath.EvalSymlinks(path); err == nil {
		path = to
	}
	if text == nil {
		return os.Remove(path)
	}
	mode := fs.FileMode(0o600)
	if st, err := os.Stat(path); err == nil {
		mode = st.Mode().Perm()
	} else if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return statefile.Save(path, text, mode)
}
