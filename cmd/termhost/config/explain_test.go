package config

import (
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// What is printed says the same as what was read, whatever the values are.
func TestAnExplainedConfigurationReadsAsTheSame(t *testing.T) {
	t.Setenv("HOME", "/home/alice")
	t.Setenv("XDG_STATE_HOME", "")
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	load := func(name, text string) Explained {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		e, err := Explain(path)
		if err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return e
	}
	for _, text := range []string{
		"",
		"http.listen = \"none\"\n",
		`memory_limit = "64MiB"
[ssh]
max_startups = "1:2:3"
host_key_files = ["~/a \"b\"", '/back\slash']
[terminal]
detach_prefix = "none"
exited_ttl = "1h30m"
quiet_after = "0s"
[terminal.env]
TAB = "a\tb'\\\u007f"
_X = "ü"
[fleet]
labels = { gpu = "a100" }
`,
		`[[principal]]
name = "alice"
role = "observer"
uids = [1, 2]
keys = ["` + aliceKey + `", "` + bobFingerprint + `"]
[[principal]]
name = "b"
role = "admin"
uids = [3]
[[notify]]
command = ["say", "it's \""]
after = "1m"
text = true
`,
	} {
		was := load("was.toml", text)
		now := load("now.toml", was.TOML())
		if !reflect.DeepEqual(was.Config, now.Config) {
			t.Errorf("%s\nis printed as\n%s", text, was.TOML())
		}
	}
	none, err := Explain("")
	if err != nil {
		t.Fatal(err)
	}
	if again := load("none.toml", none.TOML()); !reflect.DeepEqual(none.Config, again.Config) {
		t.Errorf("the defaults are printed as\n%s", none.TOML())
	}
}

func TestAValueSaysWhereItIsFrom(t *testing.T) {
	t.Setenv("HOME", "/home/alice")
	t.Setenv("XDG_STATE_HOME", "/srv/state")
	path := filepath.Join(t.TempDir(), "c.toml")
	text := "ssh.listen = \"127.0.0.1:1\"\n[terminal.env]\nA = \"b\"\n[[principal]]\n" +
		"name = \"a\"\nrole = \"admin\"\nuids = [1]\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := Explain(path)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Value{}
	for _, v := range e.Values() {
		got[v.Key] = v
	}
	for key, want := range map[string]Value{
		"ssh.listen":       {"ssh.listen", "127.0.0.1:1", FromFile, 1},
		"terminal.env":     {"terminal.env", map[string]any{"A": "b"}, FromFile, 2},
		"state_dir":        {"state_dir", "/srv/state/termhost", FromEnvironment, 0},
		"terminal.login":   {"terminal.login", "new", FromDefault, 0},
		"ssh.max_startups": {"ssh.max_startups", "10:30:100", FromDefault, 0},
		"principal": {"principal", []any{map[string]any{"name": "a", "role": "admin",
			"uids": []any{int64(1)}}}, FromFile, 4},
	} {
		if !reflect.DeepEqual(got[key], want) {
			t.Errorf("%s: %+v, want %+v", key, got[key], want)
		}
	}
	if len(got) != len(effects()) {
		t.Errorf("%d keys are explained of %d", len(got), len(effects()))
	}
}
