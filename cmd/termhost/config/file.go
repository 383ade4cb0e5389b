package config

import (
	"os"
	"time"
)

// File is the configuration file of a host that runs. It tells when to read the file again. It is
// used by one goroutine.
type File struct {
	named  string // "": the one that is found
	path   string // "": there is none
	seen   version
	others map[string]version // by path: see Await
}

// version tells one version of a file from another. A file that is not there has the zero value.
type version struct {
	modified time.Time
	size     int64
}

// WatchFile returns the file at path; "": the one that [Find] finds, also if it is made later.
func WatchFile(path string) *File {
	f := &File{named: path}
	f.Changed()
	return f
}

// Path returns the file's path at the last call of Changed; "": there is none.
func (f *File) Path() string { return f.path }

// Changed reports whether the file, or one that Await has named, has changed since the last call.
func (f *File) Changed() bool {
	path := f.named
	if p, err := Find(path); err == nil && path == "" {
		path = p.Path
	}
	now := versionOf(path)
	changed := path != f.path || now != f.seen
	f.path, f.seen = path, now
	for path, was := range f.others {
		now := versionOf(path)
		f.others[path] = now
		changed = changed || now != was
	}
	return changed
}

// Await has Changed look at these files as well, instead of those of the last call. They are named
// by a configuration that may have been refused because of them.
func (f *File) Await(others ...string) {
	f.others = map[string]version{}
	for _, path := range others {
		f.others[path] = versionOf(path)
	}
}

func versionOf(path string) version {
	st, err := os.Stat(path)
	if err != nil {
		return version{}
	}
	return version{st.ModTime(), st.Size()}
}
