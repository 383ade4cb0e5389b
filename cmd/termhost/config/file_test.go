package config

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAFileChangesWithThoseThatItWaitsFor(t *testing.T) {
	dir := t.TempDir()
	path, keys := filepath.Join(dir, "c.toml"), filepath.Join(dir, "keys")
	size := 0
	write := func(path string) {
		t.Helper()
		size++
		if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := WatchFile(path)
	changes := func(when string, want bool) {
		t.Helper()
		if got := f.Changed(); got != want {
			t.Errorf("%s: %v, want %v", when, got, want)
		}
		if f.Changed() {
			t.Errorf("%s: it is told twice", when)
		}
	}
	changes("missing", false)
	write(path)
	changes("made", true)
	write(keys)
	changes("another file", false)
	f.Await(keys)
	changes("it waits", false)
	write(keys)
	changes("what it waits for", true)
	write(path)
	changes("the file itself", true)
	if err := os.Remove(keys); err != nil {
		t.Fatal(err)
	}
	changes("what it waits for is removed", true)
	f.Await()
	write(keys)
	changes("it waits no more", false)
}
