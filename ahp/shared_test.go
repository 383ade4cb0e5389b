package ahp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"termhost/ahp/ahptest"
)

// fixtures decodes every JSON file of a folder of AHP's fixtures, by file name. It skips
// the test if there are none.
func fixtures[T any](t *testing.T, folder string) map[string]T {
	t.Helper()
	dir := ahptest.Folder(t, filepath.Join("fixtures", folder))
	if dir == "" {
		t.Skip("AHP's fixtures are not beside the project")
	}
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

// sameJSON reports whether two documents are equal but for their spelling.
func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	return reflect.DeepEqual(parse(t, a), parse(t, b))
}

func parse(t *testing.T, b []byte) any {
	t.Helper()
	var v any
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // float64 cannot hold every number
	if err := d.Decode(&v); err != nil {
		t.Fatalf("not JSON: %v\n%s", err, b)
	}
	return v
}

func ptr[T any](v T) *T { return &v }
