// Package smalldisk is for tests only: it has small file systems that a test can fill, and a file
// that fails.
package smalldisk

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// New mounts a file system in memory until the test ends, and returns its folder. size is an option
// of tmpfs, such as "512k". New skips the test if this user may not mount file systems.
func New(t testing.TB, size string) string {
	t.Helper()
	dir := t.TempDir()
	err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "mode=0700,size="+size)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skip("skipped: this user may not mount a file system, so no disk can be filled")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// Fill writes a file in the folder dir until the file system has only room bytes left, and returns
// the file's path.
func Fill(t testing.TB, dir, name string, room int64) string {
	t.Helper()
	path := filepath.Join(dir, name)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var size int64
	for block := make([]byte, 4<<10); err == nil; {
		var n int
		n, err = f.Write(block)
		size += int64(n)
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Fatalf("the disk is not full: %v", err)
	}
	if err := f.Truncate(max(size-room, 0)); err != nil {
		t.Fatal(err)
	}
	return path
}
