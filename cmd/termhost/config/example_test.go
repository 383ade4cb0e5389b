package config

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// examplePath is the file of the repository that shows every key.
const examplePath = "../../../config.example.toml"

func TestExampleConfigIsTheDefaults(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	example, err := Load(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	defaults, err := Load("")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(example, defaults) {
		t.Errorf("the example sets %+v\nthe defaults are %+v", example, defaults)
	}
}

func TestExampleConfigShowsEveryKeyOnceWithAComment(t *testing.T) {
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	root := reflect.TypeFor[Config]()
	for f := range root.Fields() {
		table := f.Tag.Get("toml")
		switch f.Type.Kind() {
		case reflect.Struct:
			for _, key := range tableKeys(f.Type) {
				expectKey(t, tableText(t, string(text), "["+table+"]"), table, key)
			}
		case reflect.Slice: // [[principal]], which has no default: shown as a comment
			shown := strings.ReplaceAll(string(text), "\n# ", "\n")
			for _, key := range tableKeys(f.Type.Elem()) {
				expectKey(t, tableText(t, shown, "[["+table+"]]"), table, key)
			}
		default:
			expectKey(t, string(text), "", table)
		}
	}
}

// tableText returns what follows the header up to the next table.
func tableText(t *testing.T, text, header string) string {
	t.Helper()
	_, rest, ok := strings.Cut(text, "\n"+header+"\n")
	if !ok {
		t.Fatalf("the example has no %s", header)
	}
	body, _, _ := strings.Cut(rest, "\n[")
	return "\n" + body
}

func expectKey(t *testing.T, text, table, key string) {
	t.Helper()
	if n := len(regexp.MustCompile(`(?m)^`+key+` = `).FindAllString(text, -1)); n != 1 {
		t.Errorf("%s.%s is shown %d times, want once", table, key, n)
	}
	explained := regexp.MustCompile(`(?m)^#.*\n(\w+ = .*\n)?` + key + ` = `)
	if table != "principal" && table != "notify" && !explained.MatchString(text) {
		t.Errorf("%s.%s has no comment above it", table, key)
	}
}

func TestExamplePrincipalLoads(t *testing.T) {
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	_, entry, _ := strings.Cut(string(text), "# [[principal]]\n")
	path := filepath.Join(t.TempDir(), "c.toml")
	entry = "[[principal]]\n" + strings.ReplaceAll(entry, "# ", "")
	if err := os.WriteFile(path, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Principals) != 1 || c.Principals[0].Name != "ci" || len(c.Principals[0].Keys) != 1 ||
		len(c.Principals[0].UIDs) != 1 {
		t.Errorf("the entry loads as %+v", c.Principals)
	}
}
