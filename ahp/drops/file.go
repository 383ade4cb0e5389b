package drops

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// File is a file that comes. It must not be used concurrently.
type File struct {
	store *Store
	root  *os.Root // the terminal's folder
	f     *os.File
	dir   string // of root
	part  string // its name until it is complete
	n     int64
}

// Write adds to the file. It returns [ErrTooLarge], or why the disk takes no more.
func (f *File) Write(p []byte) (int, error) {
	if f.n+int64(len(p)) > MaxBytes {
		return 0, ErrTooLarge
	}
	n, err := f.f.Write(p)
	f.n += int64(n)
	return n, err
}

// Size returns how much has come, in bytes.
func (f *File) Size() int64 { return f.n }

// Keep ends the file and gives it a name like the one that is wanted. It returns its path.
func (f *File) Keep(name string) (path string, err error) {
	f.store.mu.Lock()
	defer f.store.mu.Unlock()
	if err := f.f.Close(); err != nil {
		return "", errors.Join(err, f.root.Close())
	}
	defer f.root.Close()
	name = CleanName(name)
	base, ext := name, ""
	if at := strings.LastIndexByte(name, '.'); at > 0 {
		base, ext = name[:at], name[at:]
	}
	for i := 2; ; i++ {
		_, err := f.root.Lstat(name)
		if errors.Is(err, fs.ErrNotExist) {
			break
		}
		if err != nil {
			return "", err
		}
		name = base + "-" + strconv.Itoa(i) + ext
	}
	if err := f.root.Rename(f.part, name); err != nil {
		return "", err
	}
	return filepath.Join(f.dir, name), nil
}

// Discard ends the file and deletes it.
func (f *File) Discard() {
	_ = f.f.Close()
	_ = f.root.Remove(f.part)
	_ = f.root.Close()
}

// maxName bounds the name of a file, in bytes. File systems take 255, with what Keep adds.
const maxName = 100

// CleanName returns a name for a file that looks like name, and means nothing else to a shell or a
// program: letters, digits and _ . + - only, the first of which is a letter, a digit or _.
func CleanName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	var b strings.Builder
	for _, r := range name {
		switch {
		case r == utf8.RuneError, b.Len()+utf8.RuneLen(r) > maxName:
			continue
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '_':
			b.WriteRune(r)
		case b.Len() == 0:
		case strings.ContainsRune(".+-", r):
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	clean := strings.TrimRight(b.String(), ".-")
	if clean == "" {
		return "file"
	}
	return clean
}

// Quote returns a path as one word of a shell's line, in single quotes.
func Quote(path string) string {
	return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
}
