package mcp_test

import (
	"fmt"
	"testing"

	"termhost/ahp/mcp"
)

func TestArgumentsAreTakenAsModelsWriteThem(t *testing.T) {
	for _, raw := range []string{
		`{"n":5,"b":true,"s":"x","l":["a","b"],"other":1}`,
		`{"n":"5","b":"true","s":"x","l":"a b"}`,
		`{"n":5.0,"b":"Yes","s":"x","l":"[\"a\",\"b\"]"}`,
		`"{\"n\":5,\"b\":1,\"s\":\"x\",\"l\":[\"a\",\"b\"]}"`,
	} {
		a, err := mcp.ParseArguments([]byte(raw))
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		n, err1 := a.Integer("n", 7)
		b, err2 := a.Bool("b", false)
		s, err3 := a.Text("s")
		l, err4 := a.Texts("l")
		if got := fmt.Sprintln(n, b, s, l, err1, err2, err3, err4); got != "5 true x [a b] <nil> <nil> <nil> <nil>\n" {
			t.Errorf("%s: %s", raw, got)
		}
	}
	for _, raw := range []string{``, `null`, `{}`, `""`, `{"n":null,"b":null,"s":null,"l":null}`} {
		a, err := mcp.ParseArguments([]byte(raw))
		n, err1 := a.Integer("n", 7)
		b, err2 := a.Bool("b", true)
		s, err3 := a.Text("s")
		l, err4 := a.Texts("l")
		if got := fmt.Sprintln(n, b, s, l, err, err1, err2, err3, err4); got != "7 true  [] <nil> <nil> <nil> <nil> <nil>\n" {
			t.Errorf("%s: %s", raw, got)
		}
	}
}

func TestWrongArgumentsAreExplained(t *testing.T) {
	if _, err := mcp.ParseArguments([]byte(`[1]`)); fmt.Sprint(err) != "arguments must be a JSON object" {
		t.Error(err)
	}
	a, err := mcp.ParseArguments([]byte(`{"n":1.5,"b":"perhaps","s":{},"l":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	_, err1 := a.Integer("n", 0)
	_, err2 := a.Bool("b", false)
	_, err3 := a.Text("s")
	_, err4 := a.Texts("l")
	_, err5 := a.Required("terminal", `"t7"`)
	if got := fmt.Sprint(err1, "; ", err2, "; ", err3, "; ", err4, "; ", err5); got != "n must be a whole number; "+
		"b must be true or false; s must be a string; l must be a list of strings; "+
		`terminal is missing: give it, such as "t7"` {
		t.Error(got)
	}
}
