package sshd

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"termhost/ahp/hosttest/slowtest"
)

// The storms of the tests: what strangers do, how many come a second, and from how many addresses;
// 0: from loopback.
var stormed = []struct {
	kind          string
	rate, sources int
}{
	{"silent", 2700, 0}, {"named", 2700, 0}, {"lists", 2700, 0}, {"guessed", 2700, 0},
	{"replayed", 4700, 0}, {"stopped", 2000, 0}, {"stranger's", 1000, 0},
	{"silent", 1600, 200}, {"replayed", 1600, 200}, {"stopped", 1600, 200},
}

// BenchmarkLoginInAStorm is how long OpenSSH's client takes to log in and run a command while
// strangers open connections, and how many logins of a hundred fail.
func BenchmarkLoginInAStorm(b *testing.B) {
	if !ownNetwork(b) {
		return
	}
	for _, c := range stormed[slowtest.Amount(0, len(stormed)-1):] {
		b.Run(fmt.Sprintf("%s-%d", c.kind, c.sources), func(b *testing.B) {
			r := newRig(b, rigOptions{everywhere: true})
			defer r.storm(c.kind, c.rate, c.sources)()
			lost := 0
			var took []time.Duration
			for range b.N {
				begun := time.Now()
				if got := r.ssh("alice", "", "whoami"); got.status != 0 {
					lost++
					b.Log(got.stderr)
				}
				took = append(took, time.Since(begun))
			}
			slices.Sort(took)
			b.ReportMetric(100*float64(lost)/float64(b.N), "lost-%")
			b.ReportMetric(float64(took[len(took)/2].Milliseconds()), "p50-ms")
			b.ReportMetric(float64(took[len(took)-1].Milliseconds()), "max-ms")
		})
	}
}

// Nobody needs to be known, or to come from a place of their own, to get in while strangers come in
// masses. A plain go test tries a fifth of the storms.
func TestPeopleLogInWhileStrangersStorm(t *testing.T) {
	if !ownNetwork(t) {
		return
	}
	for i, c := range stormed {
		if i%5 != 0 && !slowtest.On(t) {
			continue
		}
		t.Run(fmt.Sprintf("%s from %d", c.kind, c.sources), func(t *testing.T) {
			// A machine that is busy otherwise cannot serve so many, but it can serve a quarter.
			for rate := c.rate; letsNobodyIn(t, c.kind, rate, c.sources); rate /= 2 {
				if rate < c.rate/2 {
					t.Fatal("people are kept out")
				}
			}
		})
	}
}

// letsNobodyIn reports whether most logins are lost while strangers storm, in each of some rounds: a
// machine that is busy otherwise is too slow for some, but not for most in every round.
func letsNobodyIn(t *testing.T, kind string, rate, sources int) bool {
	t.Helper()
	const logins, rounds = 4, 3
	r := newRig(t, rigOptions{everywhere: true})
	defer r.storm(kind, rate, sources)()
	lost := logins
	for round := 0; round < rounds && lost > logins/2; round++ {
		lost = 0
		for range logins {
			if got := r.ssh("alice", "", "whoami"); got.status != 0 {
				lost++
			}
		}
		t.Logf("at %d a second %d of %d logins were lost", rate, lost, logins)
	}
	return lost > logins/2
}
