package rpc

import (
	"slices"
	"strings"
	"testing"

	"termhost/ahp"
	"termhost/ahp/store"
)

func TestOnlyOutputThatFollowsOutputOfItsChannelIsJoined(t *testing.T) {
	s := store.New(store.Options{})
	add := func(name string) *store.Channel {
		c, err := s.Add(ahp.TerminalURI(name), ahp.TerminalState{Claim: ahp.ClientClaim("c")})
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	a, b := add("a"), add("b")
	sub := s.NewSubscriber(false)
	defer sub.Close()
	for _, c := range []*store.Channel{a, b} {
		if err := sub.Follow(c); err != nil {
			t.Fatal(err)
		}
	}
	print := func(c *store.Channel, n int) { c.AppendData([]byte(strings.Repeat("x", n))) }
	print(a, 1)
	print(a, 2)
	a.Append(ahp.TerminalCommandFinished{CommandID: "1"}, nil)
	print(a, 3)
	print(b, 4)
	print(b, 5)
	print(b, 6)
	print(b, maxJoined-15)
	print(b, 1)
	print(b, maxJoined)
	print(b, 1)
	sub.Post(func(dst []byte) []byte { return dst }, 0)
	var items []store.Item
	for {
		n := len(items)
		if items = sub.Pull(items, 1<<20); len(items) == n {
			break
		}
	}
	var got []int
	for rest := items; rest[0].Entry != nil; rest = rest[got[len(got)-1]:] {
		got = append(got, joined(rest))
	}
	want := []int{2, 1, 1, 4, 1, 1, 1}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
