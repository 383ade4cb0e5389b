package config

import (
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
)

// TestEveryKeyIsLiveOrNeedsARestart holds the table of effects against the keys of the example.
func TestEveryKeyIsLiveOrNeedsARestart(t *testing.T) {
	text, err := os.ReadFile(examplePath)
	if err != nil {
		t.Fatal(err)
	}
	doc := map[string]any{}
	shown := strings.NewReplacer("\n# [[principal]]\n", "\n[[principal]]\n",
		"\n# [[notify]]\n", "\n[[notify]]\n").Replace(string(text))
	if _, err := toml.Decode(shown, &doc); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for key, value := range doc {
		table, ok := value.(map[string]any)
		if !ok {
			keys = append(keys, key)
		}
		for sub := range table {
			keys = append(keys, key+"."+sub)
		}
	}
	slices.Sort(keys)
	if table := slices.Sorted(maps.Keys(effects())); !slices.Equal(table, keys) {
		t.Errorf("effects has    %q\nthe example has %q", table, keys)
	}
}

func TestWhatChangesWithoutARestart(t *testing.T) {
	load := func(text string) Config {
		t.Helper()
		c, err := parse("c.toml", []byte(text), ordinary())
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const (
		before    = "[ssh]\nmax_startups = \"1:2:3\"\n[terminal]\nenv = { A = \"1\" }\n"
		principal = "[[principal]]\nname = \"a\"\nrole = \"admin\"\nkeys = [\"" + bobFingerprint + "\"]\n"
		tls       = "[http]\ntls_cert_file = \"/c\"\ntls_key_file = \"/k\"\n"
		otherTLS  = "[http]\ntls_cert_file = \"/c2\"\ntls_key_file = \"/k\"\n"
	)
	for _, tt := range []struct {
		name, old, changed string
		taken, waiting     []string
		inForce            string // what the result equals
	}{
		{"nothing", before, before, nil, nil, before},
		{"a principal", before, before + principal, []string{"principal"}, nil, before + principal},
		{"a table's keys", before, principal,
			[]string{"ssh.max_startups", "terminal.env", "principal"}, nil, principal},
		{"listeners and the folder", "", "state_dir = \"/s\"\n[ssh]\nlisten = \"[::1]:2\"\n" +
			"sftp = false\n[http]\nlisten = \"[::1]:3\"\nunix_socket = false\n",
			[]string{"ssh.sftp"},
			[]string{"state_dir", "ssh.listen", "http.listen", "http.unix_socket"},
			"[ssh]\nsftp = false\n"},
		{"another certificate", tls, otherTLS, []string{"http.tls_cert_file"}, nil, otherTLS},
		{"TLS begins", "", tls, nil, []string{"http.tls_cert_file", "http.tls_key_file"}, ""},
		{"TLS ends", tls, "", nil, []string{"http.tls_cert_file", "http.tls_key_file"}, tls},
	} {
		next, taken, waiting := Reload(load(tt.old), load(tt.changed))
		if !slices.Equal(taken, tt.taken) || !slices.Equal(waiting, tt.waiting) {
			t.Errorf("%s: taken are %q, want %q; waiting are %q, want %q",
				tt.name, taken, tt.taken, waiting, tt.waiting)
		}
		if want := load(tt.inForce); !reflect.DeepEqual(next, want) {
			t.Errorf("%s: in force is %+v, want %+v", tt.name, next, want)
		}
	}
}

// TestAFileThatSetsNothingAnyMoreIsRefused: the defaults would be in force.
func TestAFileThatSetsNothingAnyMoreIsRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.toml")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("[terminal]\nmax_terminals = 7\n")
	inForce, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "\n \n", "# max_terminals = 7\n", "\t# a = 1", "[terminal]\n"} {
		write(text)
		if _, err := LoadAgain(file, inForce); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%q: %v", text, err)
		}
	}
	write("terminal.max_terminals = 500 # the default\n")
	c, err := LoadAgain(file, inForce)
	if err != nil || c.Terminal.MaxTerminals != 500 {
		t.Errorf("the default in the file: %v", err)
	}
	write("# nothing\n")
	defaults, err := Load(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := LoadAgain(file, defaults); err != nil {
		t.Errorf("with the defaults in force: %v", err)
	}
	if _, err := LoadAgain("", defaults); err != nil {
		t.Errorf("without a file: %v", err)
	}
}
