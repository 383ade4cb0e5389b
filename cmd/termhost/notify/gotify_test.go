package notify_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/notify"
)

// gotifyVersion is the newest that Go's proxy and checksum database have.
const gotifyVersion = "v2.6.1"

// TestAGotifyServerShowsTheNotification builds and runs Gotify's own server, which takes minutes. Of
// ntfy's, the module cannot be had from Go's proxy: see TestWhatEachKindOfTargetGets.
func TestAGotifyServerShowsTheNotification(t *testing.T) {
	if os.Getenv("TERMHOST_CLIENTS") != "all" {
		t.Skip("it takes long: it runs with TERMHOST_CLIENTS=all")
	}
	t.Parallel()
	g := startGotify(t)
	var app struct{ Token string }
	g.call(http.MethodPost, "/application", `{"name":"termhost"}`, &app)
	file := filepath.Join(t.TempDir(), "token")
	hosttest.Check(t, os.WriteFile(file, []byte(app.Token+"\n"), 0o600))

	target := notify.Target{Gotify: g.url, TokenFile: file, Principal: "ann",
		URL: "https://th.example/", When: notify.DefaultReasons()}
	hosttest.Check(t, target.Check())
	since := time.Now().Add(-time.Minute)
	unseen := func() []host.Unseen { return []host.Unseen{asks("build", since)} }
	n := notifier(t, unseen, io.Discard, target)
	var shown struct {
		Messages []struct {
			Title, Message string
			Priority       int
			Extras         map[string]map[string]map[string]string
		}
	}
	hosttest.Eventually(t, "Gotify has the message", func() bool {
		g.call(http.MethodGet, "/message", "", &shown)
		return len(shown.Messages) > 0
	})
	m := shown.Messages[0]
	if m.Title != "build waits for an approval" || m.Message == "" || m.Priority != 8 ||
		m.Extras["client::notification"]["click"]["url"] != "https://th.example/#t=SHA256:ann&/build" {
		t.Errorf("Gotify shows %+v", m)
	}
	for _, r := range must(n.Test(t.Context(), "SHA256:ann", "ann")) {
		hosttest.Check(t, r.Err)
	}
	hosttest.Check(t, os.WriteFile(file, []byte("no-token\n"), 0o600))
	for _, r := range must(n.Test(t.Context(), "SHA256:ann", "ann")) {
		if r.Err == nil {
			t.Error("a wrong token is no error")
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// gotify is a server of Gotify with its first user.
type gotify struct {
	t   *testing.T
	url string
}

// startGotify builds and starts one. Its module lacks the page that it embeds.
func startGotify(t *testing.T) *gotify {
	t.Helper()
	dir := t.TempDir()
	command := func(dir, name string, arg ...string) *exec.Cmd {
		cmd := exec.Command(name, arg...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
		cmd.Stderr = os.Stderr
		return cmd
	}
	var said bytes.Buffer
	download := command(dir, "go", "mod", "download", "-json",
		"github.com/gotify/server/v2@"+gotifyVersion)
	download.Stdout = &said
	if err := hosttest.Run(download); err != nil {
		t.Skipf("Gotify's module cannot be had here: %v: %s", err, &said)
	}
	var module struct{ Dir string }
	hosttest.Check(t, json.Unmarshal(said.Bytes(), &module))
	source := filepath.Join(dir, "gotify")
	hosttest.Check(t, os.CopyFS(source, os.DirFS(module.Dir)))
	page := filepath.Join(source, "ui", "build")
	hosttest.Check(t, os.MkdirAll(page, 0o700))
	for _, name := range []string{"index.html", "manifest.json", "asset-manifest.json"} {
		hosttest.Check(t, os.WriteFile(filepath.Join(page, name), nil, 0o600))
	}
	build := command(source, "go", "build", "-buildvcs=false", "-o", "gotify", ".")
	hosttest.Check(t, hosttest.Run(build))

	l, err := net.Listen("tcp", "127.0.0.1:0")
	hosttest.Check(t, err)
	addr := l.Addr().(*net.TCPAddr)
	hosttest.Check(t, l.Close())
	cmd := command(source, "./gotify")
	cmd.Env = append(cmd.Env, "GOTIFY_SERVER_LISTENADDR=127.0.0.1",
		fmt.Sprintf("GOTIFY_SERVER_PORT=%d", addr.Port),
		"GOTIFY_DEFAULTUSER_NAME=ann", "GOTIFY_DEFAULTUSER_PASS=ann")
	hosttest.Check(t, hosttest.Start(cmd))
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	g := &gotify{t, "http://" + addr.String()}
	hosttest.Eventually(t, "Gotify listens", func() bool {
		answer, err := http.Get(g.url + "/health")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return g
}

// call calls Gotify's API as its user.
func (g *gotify) call(method, path, body string, answer any) {
	g.t.Helper()
	r, err := http.NewRequest(method, g.url+path, bytes.NewBufferString(body))
	hosttest.Check(g.t, err)
	r.SetBasicAuth("ann", "ann")
	r.Header.Set("Content-Type", "application/json")
	got, err := http.DefaultClient.Do(r)
	hosttest.Check(g.t, err)
	defer got.Body.Close()
	if got.StatusCode != http.StatusOK {
		g.t.Fatalf("%s %s: %s", method, path, got.Status)
	}
	hosttest.Check(g.t, json.NewDecoder(got.Body).Decode(answer))
}
