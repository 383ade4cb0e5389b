package host

import (
	"strings"
	"testing"
	"unicode/utf8"

	"termhost/ahp"
	"termhost/ahp/journal"
)

func FuzzAProgramsOwnName(f *testing.F) {
	for _, s := range []string{"page", "a/b", "\x1b[m", "é", "x#2", strings.Repeat("_", 300)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, id string) {
		got := label(id)
		if got == "" || len(got) > maxLabel+len("…") || !utf8.ValidString(got) ||
			strings.ContainsAny(got, "/#: ()") || got != Printable(got) || isPage(got) {
			t.Errorf("%q is called %q", id, got)
		}
	})
}

// What an older host has written has the person's name for what came in with the person's key.
func TestAnOlderHostsHoldersAreNamedByTheSameRule(t *testing.T) {
	t.Parallel()
	session := ahp.Claim{Kind: ahp.ClaimSession, Session: "ahp-session:/s1"}
	for want, by := range map[string]journal.Holder{
		"ann/claude":       {Claim: journal.Claim(ahp.ClientClaim("claude")), Name: "ann"},
		"ann":              {Claim: journal.Claim(ahp.ClientClaim("ssh:abc")), Name: "ann"},
		"ann/bot":          {Claim: journal.Claim(ahp.ClientClaim("x")), Name: "ann/bot"},
		"ann/bot/gemini":   {Claim: journal.Claim(session), Name: "gemini (ann/bot)", Agent: "gemini"},
		"ann/agent":        {Claim: journal.Claim(session), Name: "ann"},
		"ann/bob_the_page": {Claim: journal.Claim(session), Name: "bob the page (ann)", Agent: "bob the page"},
	} {
		by.Principal = "k"
		if got := restoredHolder(by).text(); got != want {
			t.Errorf("%+v is called %q, want %q", by, got, want)
		}
	}
}
