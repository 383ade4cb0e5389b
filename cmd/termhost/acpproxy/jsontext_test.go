package acpproxy

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestValuesAreFoundInTheirText(t *testing.T) {
	t.Parallel()
	raw := []byte(`  { "a" : [1, {"b":"]}\\\""}, "x\"y"] ,` +
		`"c\u0064":{"e":{ "f":-1.5e3 }}, "a":true } `)
	v, err := locate(raw, 2)
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]value{
		"true":                 v.get("a"),
		`{"e":{ "f":-1.5e3 }}`: v.get("cd"),
		`{ "f":-1.5e3 }`:       v.get("cd", "e"),
		"":                     v.get("cd", "e", "f"), // deeper than was asked for
	} {
		if string(got.of(raw)) != want {
			t.Errorf("got %q, want %q", got.of(raw), want)
		}
	}
	list, ok := items([]byte(`[ 1 , [2,"]"] ,{"a":"}"}]`))
	if !ok || len(list) != 3 {
		t.Fatalf("got %v %t", list, ok)
	}
	for _, bad := range []string{
		``, `{`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":"`, `{"a":[`, `{1:2}`, `{"a":1 1}`,
		`{} {}`, `[1`, `nul`,
	} {
		if _, err := locate([]byte(bad), 1); err == nil {
			t.Errorf("%q is JSON", bad)
		}
		if _, ok := items([]byte(bad)); ok {
			t.Errorf("%q is an array", bad)
		}
	}
}

// FuzzLocate finds the same members as encoding/json, and accepts the same texts.
func FuzzLocate(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"]}\\\""}],"c":{}}`))
	f.Add([]byte(`{"a" : 1 , "a":2}`))
	f.Add([]byte("{\"\xfe\" : 1}")) // a name that is not UTF-8
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := locate(raw, 1)
		if (err == nil) != json.Valid(raw) {
			t.Fatalf("%q: %v", raw, err)
		}
		var want map[string]json.RawMessage
		if err != nil || json.Unmarshal(raw, &want) != nil {
			return
		}
		for _, m := range got.members {
			if _, known := want[m.name]; !known {
				t.Fatalf("%q: there is no %q", raw, m.name)
			}
		}
		for name, v := range want {
			if !bytes.Equal(got.get(name).of(raw), v) {
				t.Fatalf("%q: %q is %q, want %q", raw, name, got.get(name).of(raw), v)
			}
		}
	})
}
