package ahp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// shared returns a folder of AHP's own documents, which are not part of the
// project, and skips the test where they are not there.
func shared(t *testing.T, folder string) string {
	t.Helper()
	dir := filepath.Join("..", "..", "shared", "ahp", folder)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("AHP's %s are not beside the project", folder)
	}
	return dir
}

// fixtures decodes every JSON file of a folder, by file name.
func fixtures[T any](t *testing.T, dir string) map[string]T {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no fixtures in %s: %v", dir, err)
	}
	all := map[string]T{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var v T
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all[filepath.Base(f)] = v
	}
	return all
}

// sameJSON reports whether two documents say the same.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reflect.DeepEqual(parse(t, a), parse(t, b))
}

func parse(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // JSON's numbers have no bound, float64 has
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, b)
	}
	return v
}

func ptr[T any](v T) *T { return &v }
