package authz_test

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"termhost/authz"
)

// set gives a value that is not zero to what v is made of.
func set(t *testing.T, v reflect.Value) {
	t.Helper()
	switch v.Interface().(type) {
	case authz.Role:
		v.Set(reflect.ValueOf(authz.Operator))
		return
	case time.Time:
		v.Set(reflect.ValueOf(time.Unix(1, 2).UTC()))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int:
		v.SetInt(3)
	case reflect.Struct:
		for i := range v.NumField() {
			set(t, v.Field(i))
		}
	default:
		t.Fatalf("a principal has a %s: have this test set it", v.Type())
	}
}

// TestAPrincipalOnDiskIsWhole: a right that is not stored would be lost at a restart, and so would a
// restriction. What is not to be stored says so: json:"-".
func TestAPrincipalOnDiskIsWhole(t *testing.T) {
	t.Parallel()
	of := reflect.TypeFor[authz.Principal]()
	var all authz.Principal
	set(t, reflect.ValueOf(&all).Elem())
	for i := range of.NumField() {
		field := of.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" {
			t.Errorf("%s has no name on disk, and is not left out", field.Name)
		}
		var one authz.Principal
		if name != "-" {
			reflect.ValueOf(&one).Elem().Field(i).Set(reflect.ValueOf(all).Field(i))
		}
		if got := stored(t, one); got != one {
			t.Errorf("%s alone becomes %+v", field.Name, got)
		}
	}
	if got := stored(t, all); got != all {
		t.Errorf("it becomes %+v, was %+v", got, all)
	}
}

func stored(t *testing.T, p authz.Principal) (got authz.Principal) {
	t.Helper()
	text, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return got
}

func TestAPrincipalThatAnOlderVersionHasStored(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/principal.json")
	if err != nil {
		t.Fatal(err)
	}
	var got authz.Principal
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := authz.Principal{
		ID: "SHA256:abc/bot", Name: "carol/bot", Role: authz.Operator, Fingerprint: "SHA256:abc",
		Token: "bot", Expires: time.Date(2026, 7, 8, 9, 10, 11, 12, time.UTC), ReadOnly: true,
		Command: "true", NoForward: true, Forwards: true, Opens: "localhost:80",
		Listens: "localhost:81", NoAgent: true, Guest: "guest:1", Inviter: "SHA256:def", UID: "1000",
		TypesSecrets: true, Inside: true, Limits: authz.Limits{Connections: 2, Terminals: 3},
		Reach: ",x@1,",
	}
	if got != want {
		t.Errorf("it is %+v\nwant  %+v", got, want)
	}
	if again, err := json.Marshal(got); err != nil || !sameJSON(t, again, text) {
		t.Errorf("it is stored as %s, %v", again, err)
	}
}

func sameJSON(t *testing.T, a, b []byte) bool {
	t.Helper()
	var x, y any
	if json.Unmarshal(a, &x) != nil || json.Unmarshal(b, &y) != nil {
		t.Fatalf("no JSON: %s, %s", a, b)
	}
	return reflect.DeepEqual(x, y)
}

// TestWhatANewerVersionHasStoredMayDoNothing: the field that is not known here may restrict it.
func TestWhatANewerVersionHasStoredMayDoNothing(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`{"id":"k","name":"n","role":"admin","onlyOnMondays":true}`,
		`{"id":"k","name":"n","role":"admin","limits":{"Terminals":1,"Files":2}}`,
		`{"id":"k","name":"n","role":"emperor"}`, `{"id":"k","name":"n"}`, `{"id":"k","role":""}`,
	} {
		var p authz.Principal
		if err := json.Unmarshal([]byte(text), &p); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for range 2 { // also when it is stored again by this version
			if p.ID != "k" || p.Role != authz.NoRole || p.Valid(time.Time{}) == nil ||
				authz.Check(p, authz.List, authz.Target{}) == nil {
				t.Errorf("%s becomes %+v, and may list", text, p)
			}
			p = stored(t, p)
		}
	}
	for _, text := range []string{`{"id":1}`, `[]`, `{"role":3}`} {
		if json.Unmarshal([]byte(text), new(authz.Principal)) == nil {
			t.Errorf("%s is a principal", text)
		}
	}
}
