package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestASBOMOfThisTest describes the binary of the test itself, which has the standard library only.
func TestASBOMOfThisTest(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795427053")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	page := filepath.Join("..", "..", "..", "..", "ahp", "page", "package.json")
	d, err := describe(self, "v1.2.3", page)
	if err != nil {
		t.Fatal(err)
	}
	if d.Name != "termhost-1.2.3-linux-"+runtime.GOARCH || d.Creation.Created != "2026-11-23T09:44:13Z" {
		t.Errorf("it is %q of %q", d.Name, d.Creation.Created)
	}
	ids := map[string]bool{d.ID: true}
	var urls []string
	for _, p := range d.Packages {
		if ids[p.ID] {
			t.Errorf("two have the ID %s", p.ID)
		}
		ids[p.ID] = true
		for _, r := range p.Refs {
			urls = append(urls, r.Locator)
		}
	}
	for _, r := range d.Relations {
		if !ids[r.From] || !ids[r.To] {
			t.Errorf("%v relates what is not there", r)
		}
	}
	goURL := "pkg:golang/stdlib@" + strings.TrimPrefix(runtime.Version(), "go")
	if !slices.Contains(urls, goURL) {
		t.Errorf("%q lacks %s", urls, goURL)
	}
	if !slices.ContainsFunc(urls, func(url string) bool {
		return strings.HasPrefix(url, "pkg:npm/%40xterm/xterm@")
	}) {
		t.Errorf("%q lacks the page's terminal", urls)
	}
	first, _ := json.Marshal(d)
	d, _ = describe(self, "v1.2.3", page)
	if again, _ := json.Marshal(d); string(again) != string(first) {
		t.Error("it is another one the second time")
	}
}

// TestABinaryThatIsNotStaticIsRefused takes the system's shell for one.
func TestABinaryThatIsNotStaticIsRefused(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "0")
	if _, err := describe("/bin/sh", "v1.2.3", ""); err == nil ||
		!strings.Contains(err.Error(), "dynamic linker") {
		t.Errorf("got %v", err)
	}
}
