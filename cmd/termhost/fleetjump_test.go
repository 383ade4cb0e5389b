package main

import (
	"errors"
	"strings"
	"testing"

	gossh "golang.org/x/crypto/ssh"
)

// `ssh -J` prints why a channel was not opened, and nothing else is known of it there.
func TestAJumpToNoHostOfTheFleetSaysWhichThereAre(t *testing.T) {
	t.Parallel()
	_, home := newFleet(t, "")
	c := home.as("alice")
	for to, want := range map[string]string{
		"hone:22": `; the fleet has no host "hone", but home; did you mean home?`,
		"home:22": "; home is this host itself: log in to it without -J",
	} {
		nc, err := c.Dial("tcp", to)
		if err == nil {
			nc.Close()
		}
		var refusal *gossh.OpenChannelError
		if !errors.As(err, &refusal) || !strings.HasSuffix(refusal.Message, want) {
			t.Errorf("%s: %v, want %s", to, err, want)
		}
	}
	if _, err := c.Dial("tcp", "hone:80"); err == nil || strings.Contains(err.Error(), "fleet") {
		t.Errorf("a forward to another port: %v", err)
	}
}
