package fleet_test

import (
	"strings"
	"testing"

	"termhost/ahp/fleet"
	"termhost/authz"
)

func TestAnAssertionIsForOneOwnerOfOneDoor(t *testing.T) {
	a := fleet.Assertion{Owner: "box2", Door: "home", From: "10.0.0.1:1\x1b[2J", Connection: "c",
		Principal: authz.Principal{ID: "x", Name: "ann", Role: authz.Admin}}
	got, err := fleet.ParseAssertion(a.String(), "box2", "home")
	if err != nil || got.Principal != a.Principal {
		t.Errorf("%+v, %v", got, err)
	}
	if s := got.Source(); s != "home connection c from 10.0.0.1:1[2J" {
		t.Errorf("the audit log has %q", s)
	}
	for name, c := range map[string][3]string{
		"for another host":     {a.String(), "box1", "home"},
		"of another door":      {a.String(), "box2", "box1"},
		"of the owner":         {a.String(), "box2", "box2"},
		"empty":                {"", "box2", "home"},
		"too long":             {strings.Repeat(" ", 1<<20) + a.String(), "box2", "home"},
		"with something after": {a.String() + "{}", "box2", "home"},
	} {
		if _, err := fleet.ParseAssertion(c[0], c[1], c[2]); err == nil {
			t.Errorf("one %s is accepted", name)
		}
	}
}
