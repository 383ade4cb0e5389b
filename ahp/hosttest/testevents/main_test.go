package main

import (
	"strings"
	"testing"
)

// Two packages run at once; in one a test fails and passes when it runs again, and another never
// passes; the other does not build.
const events = `
{"Action":"start","Package":"m/a"}
{"Action":"run","Package":"m/a","Test":"TestFlaky"}
{"ImportPath":"m/b","Action":"build-output","Output":"b.go:1: undefined: x\n"}
{"Action":"output","Package":"m/a","Test":"TestFlaky","Output":"    a_test.go:7: too late\n"}
{"Action":"fail","Package":"m/b","Elapsed":0,"FailedBuild":"m/b"}
{"Action":"fail","Package":"m/a","Test":"TestFlaky","Elapsed":6}
{"Action":"run","Package":"m/a","Test":"TestBroken"}
{"Action":"run","Package":"m/a","Test":"TestBroken/part"}
{"Action":"output","Package":"m/a","Test":"TestBroken/part","Output":"    {\"time\":1}\n"}
{"Action":"output","Package":"m/a","Test":"TestBroken/part","Output":"    a_test.go:9: it is 1\n"}
{"Action":"fail","Package":"m/a","Test":"TestBroken/part","Elapsed":0}
{"Action":"fail","Package":"m/a","Test":"TestBroken","Elapsed":0}
{"Action":"run","Package":"m/a","Test":"TestSkipped"}
{"Action":"output","Package":"m/a","Test":"TestSkipped","Output":"    a_test.go:3: no zsh\n"}
{"Action":"skip","Package":"m/a","Test":"TestSkipped","Elapsed":0}
{"Action":"fail","Package":"m/a","Elapsed":6}
not JSON
{"Action":"run","Package":"m/a","Test":"TestFlaky"}
{"Action":"pass","Package":"m/a","Test":"TestFlaky","Elapsed":1}
`

const told = `   6.0 s  m/a TestFlaky
skipped: 1: no zsh

== failed: m/b (not a test)
b.go:1: undefined: x

== failed: m/a TestBroken/part
    a_test.go:9: it is 1
flaky: m/a TestFlaky (too late)
failed: m/b (not a test)
failed: m/a TestBroken/part
`

func TestFailuresAreNamedAndFlakyOnesApart(t *testing.T) {
	ts := newTests()
	ts.read(strings.NewReader(events))
	var got strings.Builder
	ts.tell(&got)
	if got.String() != told {
		t.Errorf("told:\n%s", got.String())
	}
	if got, want := ts.neverPassed(), "m/b (not a test), m/a TestBroken/part"; got != want {
		t.Errorf("failed: %q", got)
	}
}
