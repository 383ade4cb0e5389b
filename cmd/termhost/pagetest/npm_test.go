package pagetest

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha512"
	"encoding/base64"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
)

// npmFiles returns a folder with files of an npm package, whose names there they are given by those
// that they have in it. Without npm or its registry the test is missing; npm keeps its downloads.
func npmFiles(t *testing.T, pkg, integrity string, files map[string]string) string {
	t.Helper()
	slowtest.Programs(t, "npm")
	dir := t.TempDir()
	npm := exec.Command("npm", "pack", "--prefer-offline", "--ignore-scripts", "--loglevel=error", pkg)
	npm.Dir = dir
	if out, err := npm.CombinedOutput(); err != nil {
		slowtest.Missing(t, "npm pack: %v\n%s", err, out)
	}
	archives, err := filepath.Glob(filepath.Join(dir, "*.tgz"))
	hosttest.Check(t, err)
	if len(archives) != 1 {
		t.Fatalf("npm pack has made %q", archives)
	}
	packed, err := os.ReadFile(archives[0])
	hosttest.Check(t, err)
	hash := sha512.Sum512(packed)
	if got := "sha512-" + base64.StdEncoding.EncodeToString(hash[:]); got != integrity {
		t.Fatalf("%s is %s, want %s", pkg, got, integrity)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(packed))
	hosttest.Check(t, err)
	archive, found := tar.NewReader(unzipped), 0
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		hosttest.Check(t, err)
		name := files[header.Name]
		if name == "" {
			continue
		}
		found++
		f, err := os.Create(filepath.Join(dir, name))
		hosttest.Check(t, err)
		_, err = io.Copy(f, archive)
		hosttest.Check(t, err)
		hosttest.Check(t, f.Close())
	}
	if found != len(files) {
		t.Fatalf("%s has %d of the files %v", pkg, found, files)
	}
	return dir
}
