package acp

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestJSONIsFoundInItsText(t *testing.T) {
	t.Parallel()
	raw := []byte(`  { "a" : [1, {"b":"]}\\\""}, "x\"y"] ,"c\u0064":{"e":{}}, "f":-1.5e3,"a":true } `)
	m, ok := object(raw, 0)
	if !ok || string(m["a"].of(raw)) != "true" || string(m["cd"].of(raw)) != `{"e":{}}` || string(m["f"].of(raw)) != "-1.5e3" {
		t.Fatalf("got %v %t", m, ok)
	}
	list, ok := array([]byte(`[ 1 , [2,"]"] ,{"a":"}"}]`), 0)
	if !ok || len(list) != 3 {
		t.Fatalf("got %v %t", list, ok)
	}
	for _, bad := range []string{``, `{`, `{"a"`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":"`, `{"a":[`, `{1:2}`, `[1`, `nul`} {
		if _, ok := object([]byte(bad), 0); ok {
			t.Errorf("%q is an object", bad)
		}
		if _, ok := array([]byte(bad), 0); ok {
			t.Errorf("%q is an array", bad)
		}
	}
}

// FuzzObject finds the same members as encoding/json in what that accepts.
func FuzzObject(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"]}\\\""}],"c":{}}`))
	f.Add([]byte(`{"a" : 1 , "a":2}`))
	f.Add([]byte("{\"\xfe\" : 1}")) // a key that is no UTF-8
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, ok := object(raw, 0)
		if !json.Valid(raw) {
			return // whatever it finds, it does not panic
		}
		var want map[string]json.RawMessage
		if json.Unmarshal(raw, &want) != nil || want == nil {
			if ok {
				t.Fatalf("%q is no object", raw)
			}
			return
		}
		if !ok || len(got) != len(want) {
			t.Fatalf("%q: %v, want %v", raw, got, want)
		}
		for k, v := range want {
			if !bytes.Equal(got[k].of(raw), v) {
				t.Fatalf("%q: %q is %q, want %q", raw, k, got[k].of(raw), v)
			}
		}
	})
}
