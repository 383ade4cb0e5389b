package notify_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"termhost/ahp"
	"termhost/ahp/host"
	"termhost/ahp/hosttest"
	"termhost/cmd/termhost/notify"
)

func TestMain(m *testing.M) { hosttest.Main(m) }

// received are the requests that a server got.
type received struct {
	mu  sync.Mutex
	all []string // path, headers that matter, and body
}

func (r *received) list() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.all)
}

// server answers with a status, and records what it gets.
func server(t *testing.T, status int) (*httptest.Server, *received) {
	t.Helper()
	got := &received{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var head []string
		for _, name := range []string{"Title", "Priority", "Click", "Authorization", "X-Gotify-Key", "Content-Type",
			"X-Termhost-Timestamp", "X-Termhost-Signature"} {
			if v := r.Header.Get(name); v != "" {
				head = append(head, name+": "+v)
			}
		}
		got.mu.Lock()
		got.all = append(got.all, r.URL.Path+"\n"+strings.Join(head, "\n")+"\n\n"+string(body))
		got.mu.Unlock()
		http.Redirect(w, r, "/elsewhere", status)
	}))
	t.Cleanup(s.Close)
	return s, got
}

// secret makes a file with a secret.
func secret(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	hosttest.Check(t, os.WriteFile(path, []byte("s3cret\n"), 0o600))
	return path
}

// notifier starts one whose people have not seen what list returns.
func notifier(t *testing.T, list func() []host.Unseen, log io.Writer, targets ...notify.Target) *notify.Notifier {
	t.Helper()
	changes := make(chan struct{}, 1)
	changes <- struct{}{}
	n := notify.New(notify.Options{Unseen: list, Changes: changes, Hostname: "vm", Now: time.Now,
		Link: func(base string, list []host.Unseen) (string, error) {
			return base + "#t=" + list[0].PersonID + "&/" + list[0].ID, nil
		},
		Log: slog.New(slog.NewTextHandler(log, nil))})
	t.Cleanup(n.Close)
	n.SetTargets(targets)
	return n
}

func asks(name string, at time.Time) host.Unseen {
	return host.Unseen{Terminal: name, ID: name, Labels: ahp.Labels("project=shop"), Group: "shop@main",
		Person: "ann", PersonID: "SHA256:ann", Why: host.Want(host.WaitingApproval), At: at, First: at, Since: at, Text: "rm -rf /"}
}

func TestWhatEachKindOfTargetGets(t *testing.T) {
	t.Parallel()
	at := time.Now().Add(-time.Minute)
	list := func() []host.Unseen { return []host.Unseen{asks("build", at)} }
	s, got := server(t, http.StatusOK)
	file := filepath.Join(t.TempDir(), "ran")
	targets := []notify.Target{
		{Ntfy: s.URL + "/topic", TokenFile: secret(t)},
		{Gotify: s.URL + "/push/", TokenFile: secret(t)},
		{Webhook: s.URL + "/hook?key=x", SecretFile: secret(t)},
		{Command: []string{"sh", "-c", `printf '%s|' "$@" $TERMHOST_URL >` + file + `.new; mv ` + file + ".new " + file, "sh"}},
	}
	const link = "https://th.example/#t=SHA256:ann&/build"
	for i := range targets {
		targets[i].When = notify.DefaultReasons()
		targets[i].Principal, targets[i].URL = "ann", "https://th.example/"
		hosttest.Check(t, targets[i].Check())
	}
	notifier(t, list, io.Discard, targets...)
	hosttest.Eventually(t, "all are told", func() bool {
		_, err := os.Stat(file)
		return err == nil && len(got.list()) == 3
	})
	text, err := os.ReadFile(file)
	hosttest.Check(t, err)
	if want := "build waits for an approval|build waits for an approval (project=shop), for 1m"; !strings.HasPrefix(
		string(text), want) || !strings.HasSuffix(string(text), "\non vm|"+link+"|") {
		t.Errorf("the command got %q", text)
	}
	for _, r := range got.list() {
		head, body, _ := strings.Cut(r, "\n\n")
		path, head, _ := strings.Cut(head, "\n")
		switch path {
		case "/topic":
			if head != "Title: build waits for an approval\nPriority: high\nClick: "+link+"\nAuthorization: Bearer s3cret" {
				t.Errorf("ntfy got %q, %q", head, body)
			}
		case "/push/message":
			var m struct {
				Title, Message string
				Priority       int
				Extras         map[string]map[string]map[string]string
			}
			if json.Unmarshal([]byte(body), &m) != nil || m.Title != "build waits for an approval" ||
				m.Priority != 8 || m.Extras["client::notification"]["click"]["url"] != link || !strings.Contains(head, "X-Gotify-Key: s3cret\n") {
				t.Errorf("Gotify got %q, %q", head, body)
			}
		case "/hook":
			var at string
			_, err := fmt.Sscanf(head[strings.Index(head, "X-Termhost-Timestamp"):], "X-Termhost-Timestamp: %s", &at)
			mac := hmac.New(sha256.New, []byte("s3cret"))
			fmt.Fprintf(mac, "%s.%s", at, body)
			if err != nil || !strings.HasSuffix(head, "sha256="+hex.EncodeToString(mac.Sum(nil))) {
				t.Errorf("the webhook's signature is wrong: %q, %q", head, body)
			}
			var said struct{ URL string }
			if json.Unmarshal([]byte(body), &said) != nil || said.URL != link {
				t.Errorf("the webhook's url is %q", said.URL)
			}
			if !strings.Contains(body, `"labels":{"project":"shop"},"person":"ann","why":"approval"`) {
				t.Errorf("the webhook got %q", body)
			}
		default:
			t.Errorf("a request to %s", path)
		}
		if strings.Contains(r, "rm -rf") || strings.Contains(r, "shop@main") {
			t.Errorf("it has what the program printed: %q", r)
		}
	}
}

func TestATargetThatHangsOrRefusesDelaysNobodyAndIsLoggedOnce(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	hanging := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(func() { close(release); hanging.Close() })
	refusing, refused := server(t, http.StatusTemporaryRedirect) // which nobody follows
	good, got := server(t, http.StatusOK)
	var log hosttest.Log
	var mu sync.Mutex
	at := time.Now().Add(-time.Minute)
	list := func() []host.Unseen {
		mu.Lock()
		defer mu.Unlock()
		return []host.Unseen{asks("build", at)}
	}
	when := notify.DefaultReasons()
	n := notifier(t, list, &log, notify.Target{Ntfy: hanging.URL + "/t0pic", When: when},
		notify.Target{Ntfy: refusing.URL + "/t0pic", When: when}, notify.Target{Ntfy: good.URL, When: when})
	hosttest.Eventually(t, "the others are told", func() bool { return len(got.list()) == 1 && len(refused.list()) == 1 })
	hosttest.Eventually(t, "the log says so", func() bool {
		return strings.Contains(log.String(), "did not arrive") && strings.Contains(log.String(), "307")
	})
	if strings.Contains(log.String(), "t0pic") {
		t.Errorf("the log has a topic: %s", log.String())
	}
	n.SetTargets(nil) // ends them
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	n.SetTargets([]notify.Target{{Ntfy: refusing.URL, Principal: "ann", When: when}, {Ntfy: good.URL, Principal: "bob"}})
	for range 3 {
		if r, err := n.Test(ctx, "SHA256:ann", "ann"); err != nil || len(r) != 1 || r[0].Err == nil ||
			strings.Contains(r[0].Target, "/") {
			t.Errorf("the test: %+v, %v", r, err)
		}
	}
	var many *notify.TooManyTestsError
	if r, err := n.Test(ctx, "SHA256:ann", "ann"); len(r) > 0 || !errors.As(err, &many) || many.Wait > time.Minute {
		t.Errorf("a fourth test: %+v, %v", r, err)
	}
	if r, err := n.Test(ctx, "SHA256:other", "ann"); err != nil || len(r) != 1 {
		t.Errorf("another person's: %+v, %v", r, err)
	}
}

// TestWhenMessagesGoOut has the clock run ahead.
func TestWhenMessagesGoOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := t.TempDir()
		var list []host.Unseen
		var mu sync.Mutex
		changes := make(chan struct{}, 1)
		set := func(now ...host.Unseen) {
			mu.Lock()
			list = now
			mu.Unlock()
			select {
			case changes <- struct{}{}:
			default:
			}
		}
		var told []string
		n := notify.New(notify.Options{Changes: changes, Now: time.Now, Log: slog.New(slog.DiscardHandler),
			Unseen: func() []host.Unseen {
				mu.Lock()
				defer mu.Unlock()
				return slices.Clone(list)
			}})
		defer n.Close()
		notify.SetSend(n, func(title string) {
			mu.Lock()
			defer mu.Unlock()
			told = append(told, title)
		})
		expect := func(when string, want ...string) {
			t.Helper()
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			if !slices.Equal(told, want) {
				t.Errorf("%s: told are %q, want %q", when, told, want)
			}
			told = nil
		}
		midnight := time.Now() // synctest begins at midnight UTC
		hours, err := notify.ParseHours("22:00-07:00")
		hosttest.Check(t, err)
		_, offset := midnight.Zone()
		n.SetTargets([]notify.Target{{Command: []string{dir}, After: 30 * time.Second, When: []string{"approval", "done"},
			Principal: "ann", Quiet: hours}})
		time.Sleep(8*time.Hour - time.Duration(offset)*time.Second)

		set(asks("build", time.Now()))
		time.Sleep(29 * time.Second)
		expect("before its time")
		time.Sleep(3 * time.Second)
		expect("after it", "build waits for an approval")
		time.Sleep(time.Hour)
		expect("it is told once")
		set()
		set(asks("build", time.Now()))
		time.Sleep(20 * time.Second)
		set() // somebody looks
		time.Sleep(time.Minute)
		expect("somebody has looked in time")

		bobs, other := asks("bobs", time.Now()), asks("rang", time.Now())
		bobs.Person, other.Why = "bob", host.WantBell
		set(bobs, other)
		time.Sleep(time.Minute)
		expect("another's, and another reason")

		for i := range 20 {
			set(asks(fmt.Sprint("a", i), time.Now()))
			time.Sleep(time.Minute)
		}
		set(asks("b", time.Now()), asks("c", time.Now()))
		time.Sleep(time.Minute)
		synctest.Wait()
		mu.Lock()
		if len(told) != 20 || told[19] != "a19 waits for an approval" {
			t.Errorf("in 20 minutes it is told %q", told)
		}
		told = nil
		mu.Unlock()
		time.Sleep(time.Hour)
		expect("what was too much, once there is room", "2 terminals want you")

		time.Sleep(23*time.Hour - time.Since(midnight.Add(-time.Duration(offset)*time.Second)))
		set(asks("night", time.Now()))
		time.Sleep(7 * time.Hour)
		expect("in quiet hours")
		time.Sleep(2 * time.Hour)
		expect("after them", "night waits for an approval")
	})
}

func TestANameIsNoOptionOfACommand(t *testing.T) {
	for text, want := range map[string]string{
		"build is done": "build is done", "-o. is done": " -o. is done", "--": " --", "": "",
	} {
		if got := notify.Operand(text); got != want {
			t.Errorf("%q is the argument %q", text, got)
		}
	}
}

func TestMistakenTargetsAreRefused(t *testing.T) {
	t.Parallel()
	for want, target := range map[string]notify.Target{
		"needs one of": {}, "one of command": {Ntfy: "http://a/b", Webhook: "http://a"},
		"must be an http": {Ntfy: "file:///etc"}, "secret_file is for": {Ntfy: "http://a", SecretFile: "/x"},
		"token_file is for": {Webhook: "http://a", TokenFile: "/x"}, "needs the token": {Gotify: "http://a"},
		`when has "odd"`:    {Ntfy: "http://a", When: []string{"odd"}},
		"needs a principal": {Ntfy: "http://a", URL: "https://a/"}, "begin with https": {Ntfy: "http://a", URL: "http://a/"},
		"the page's address": {Ntfy: "http://a", URL: "https://a/#x"},
	} {
		if err := target.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", target, err, want)
		}
	}
	for _, text := range []string{"22:00", "22-7", "25:00-07:00", "07:00-07:00", "a-b"} {
		if h, err := notify.ParseHours(text); err == nil {
			t.Errorf("%q are the hours %v", text, h)
		}
	}
}
