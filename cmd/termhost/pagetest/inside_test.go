package pagetest

import (
	"crypto/ecdh"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/ahp/hosttest/slowtest"
	"termhost/authz"
)

// A page is its person, so a program of a terminal that has got hold of a ticket opens none with it.
func TestATicketIsWorthNothingInsideATerminal(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		slowtest.Missing(t, "curl is not installed")
	}
	s := newSite(t)
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	hosttest.Check(t, err)
	home := "http://" + s.address()
	body := func() string {
		u, err := url.Parse(s.ticket())
		hosttest.Check(t, err)
		q, err := url.ParseQuery(u.Fragment)
		hosttest.Check(t, err)
		return fmt.Sprintf(`{"ticket":%q,"key":%q}`, q.Get("t"),
			base64.RawURLEncoding.EncodeToString(key.PublicKey().Bytes()))
	}
	text := body()
	file := filepath.Join(s.dir, "body")
	hosttest.Check(t, os.WriteFile(file, []byte(text), 0o600))
	got := s.ssh("run", "--", curl, "-s", "-H", "Origin:"+home, "-d", "@"+file, home+"/page/enter")
	if strings.TrimSpace(got) != authz.RuleInside {
		t.Errorf("from inside a terminal it is told %q", got)
	}
	// The person, whose browser is elsewhere, can still use it.
	r, err := http.NewRequest(http.MethodPost, home+"/page/enter", strings.NewReader(text))
	hosttest.Check(t, err)
	r.Header.Set("Origin", home)
	resp, err := http.DefaultClient.Do(r)
	hosttest.Check(t, err)
	defer resp.Body.Close()
	if told, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Errorf("from outside: %s: %s", resp.Status, told)
	}
}
