package ws

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/authz"
)

// get returns what an address answers to a bearer of a token; "": without one.
func get(address, token string) string {
	r, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return err.Error()
	}
	if token != "" {
		r.Header = bearer(token)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	body, _ := io.ReadAll(resp.Body)
	return string(body)
}

// withWho answers with whom the door takes a peer for.
func withWho(c *Config) {
	tell := func(w http.ResponseWriter, _ *http.Request, p Peer) error {
		_, err := fmt.Fprintf(w, "%s inside=%v,%v", p.Principal.Name, p.Principal.Inside, p.Inside())
		return err
	}
	c.Routes = []Route{{Path: "/who", Handle: tell}, {Path: "/anyone", Access: Anyone, Handle: tell}}
}

func TestAPeerOfThePortThatIsInsideATerminalIsToldApart(t *testing.T) {
	w := newWorld(t, withWho)
	token := w.token(authz.Operator, "agent")
	if got := get("http://"+w.addr+"/who", token); got != "alice/agent inside=false,false" {
		t.Errorf("from outside it is %s", got)
	}
	if got := get("http://"+w.addr+"/anyone", ""); got != " inside=false,false" {
		t.Errorf("without a token, from outside, it is %s", got)
	}
	exe, err := os.Executable()
	check(t, err)
	s := w.dial(token)
	s.initialize("agent")
	s.create("agent", "outer", "setsid -w "+exe, childSocket, "http://"+w.addr+" "+token)
	outer, err := hosttest.Find(w.host, authz.ForUID(0), "outer")
	check(t, err)
	var text string
	hosttest.Eventually(t, "the child has been answered", func() bool {
		log, err := hosttest.Retained(w.host, authz.ForUID(0), outer)
		check(t, err)
		text = ""
		for i := range log.State.Content {
			text += log.State.Content[i].Text.String()
		}
		return strings.Contains(text, "over")
	})
	if want := "who alice/agent inside=true,true anyone  inside=false,true over"; strings.TrimSpace(
		text) != want {
		t.Errorf("from inside: %q, want %q", text, want)
	}
}
