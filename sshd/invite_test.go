package sshd

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	gossh "golang.org/x/crypto/ssh"

	"termhost/ahp/hosttest"
	"termhost/authz/admit"
	"termhost/keys"
)

// guestRig is a rig where alice has the terminals build, which guests are invited to, and secret,
// and where guest and other have keys that the host does not know.
func guestRig(t *testing.T, change func(*Config)) *rig {
	t.Helper()
	r := newRig(t, rigOptions{door: change, people: map[string]string{
		"alice": "", "bob": asOperator, "olga": asObserver}})
	for _, name := range []string{"guest", "other"} {
		r.newKey(name)
	}
	for _, name := range []string{"build", "secret"} {
		got := r.ssh("alice", "", "new -d -n "+name+" -- echo this is "+name+"; exec cat")
		if got.status != 0 {
			t.Fatalf("new: %+v", got)
		}
		r.shows(name, "this is "+name)
	}
	return r
}

// invite returns the user name of an invitation.
func (r *rig) invite(args string) (user string) {
	r.t.Helper()
	got := r.ssh("alice", "", "invite "+args)
	words := strings.Fields(got.stdout)
	if got.status != 0 || len(words) != 4 || words[0] != "ssh" || words[1] != "-p" {
		r.t.Fatalf("invite: %+v", got)
	}
	key := r.server.cfg().HostKeys[0].PublicKey()
	if !strings.Contains(got.stderr, "host key: "+gossh.FingerprintSHA256(key)+"\n") ||
		!strings.Contains(got.stderr, "\nknown_hosts: [127.0.0.1]:"+words[2]+" ssh-ed25519 ") {
		r.t.Errorf("the host key is not told: %s", got.stderr)
	}
	user, host, ok := strings.Cut(words[3], "@")
	if !ok || !strings.HasPrefix(user, "invite-") || host+":"+words[2] != r.addr {
		r.t.Fatalf("the line for the guest is %q", got.stdout)
	}
	return user
}

// as runs a command with a key, under an SSH user name.
func (r *rig) as(user, key, command string) outcome {
	r.t.Helper()
	args := r.sshArgs(key)
	args[len(args)-1] = user + "@127.0.0.1"
	return r.runSSH("", append(args, command)...)
}

func (r *rig) dialAs(user, key string) (*gossh.Client, error) {
	cfg := r.clientConfig(key)
	cfg.User = user
	return gossh.Dial("tcp", r.addr, cfg)
}

// TestARenamedTerminalIsToldByItsNameOfNow: also where it is known by its URI, which has the old
// NAME, and that leads to another terminal meanwhile.
func TestARenamedTerminalIsToldByItsNameOfNow(t *testing.T) {
	t.Parallel()
	r := guestRig(t, nil)
	for _, line := range []string{"record build on", "rename build built", "new -d -n build -- cat"} {
		if got := r.ssh("alice", "", line); got.status != 0 {
			t.Fatalf("%s: %+v", line, got)
		}
	}
	got := r.ssh("alice", "", "invite --terminal built bob")
	if got.status != 0 || !strings.Contains(got.stderr, "guest:bob: observer of built, until ") {
		t.Errorf("invite: %+v", got)
	}
	if list := r.ssh("alice", "", "invites"); !strings.Contains(list.stdout, "observer  built  ") {
		t.Errorf("invites: %+v", list)
	}
	var recordings []struct{ Recording, Terminal string }
	made := r.ssh("alice", "", "recordings --json")
	if err := json.Unmarshal([]byte(made.stdout), &recordings); err != nil ||
		len(recordings) != 1 || recordings[0].Terminal != "built" {
		t.Fatalf("recordings: %+v (%v)", made, err)
	}
	refused := r.ssh("alice", "", "rm --recording "+recordings[0].Recording)
	if !strings.Contains(refused.stderr, "record built off") {
		t.Errorf("rm --recording: %+v", refused)
	}
}

func TestAGuestSeesWhatItWasInvitedToAndNothingElse(t *testing.T) {
	t.Parallel()
	r := guestRig(t, nil)
	r.ssh("alice", "", "new -d -n third -- cat")
	if got := r.as(r.invite("--terminal build,third"), "guest", "ls --json"); strings.Count(
		got.stdout, `"name"`) != 2 {
		t.Errorf("two terminals: %+v", got)
	}
	user := r.invite("--terminal build gwen")

	if got := r.as(user, "guest", "ls"); !strings.Contains(got.stdout, "build") ||
		strings.Contains(got.stdout, "secret") {
		t.Errorf("ls: %+v", got)
	}
	if got := r.as(user, "guest", "peek build"); got.stdout != "this is build\n" {
		t.Errorf("peek: %+v", got)
	}
	if got := r.as(user, "guest", "whoami"); !strings.HasPrefix(got.stdout, "guest:gwen  observer") {
		t.Errorf("whoami: %+v", got)
	}
	if got := r.as(user, "guest", "grep 'this is'"); !strings.HasPrefix(got.stdout, "build:") ||
		!strings.HasSuffix(got.stdout, "Z:this is build\n") || strings.Contains(got.stdout, "secret") {
		t.Errorf("grep: %+v", got)
	}
	for _, verb := range []string{
		"peek %s", "log %s", "log --raw %s", "log --json %s", "log --commands %s", "attach -r %s",
		"wait --timeout 1s %s", "send %s x", "who %s", "rm %s", "kick %s alice",
		"peek ahp-terminal:/%s", "attach -r -- %s", "grep . %s", "log -f %s",
	} {
		hidden := r.as(user, "guest", fmt.Sprintf(verb, "secret"))
		unknown := r.as(user, "guest", fmt.Sprintf(verb, "sacred"))
		unknown.stderr = strings.ReplaceAll(unknown.stderr, "sacred", "secret")
		if hidden != unknown || hidden.status == 0 {
			t.Errorf("%s: a hidden terminal gives\n%+v\nand an unknown one\n%+v", verb, hidden, unknown)
		}
		if prefix := r.as(user, "guest", fmt.Sprintf(verb, "se")); strings.Contains(
			prefix.stdout+prefix.stderr, "secret") {
			t.Errorf("%s: a prefix gives the name away: %+v", verb, prefix)
		}
	}
	for command, refusal := range map[string]string{
		"new -d":                    "a guest may only use",
		"new -d -n secret":          "a guest may only use",
		"run -n secret -- id":       "a guest may only use",
		"share -n secret":           "a guest may only use",
		"attach -r -A secret":       "needs a terminal",
		"token":                     "a guest may only use",
		"tokens":                    "a guest may only use",
		"invite --terminal build x": "a guest may only use",
		"invites":                   "a guest may only use",
		"invite --revoke gwen":      "a guest may only use",
		"kick build alice":          "a guest may only use",
		"rm build":                  "a guest may only use",
		"send build x":              "observers may only look",
	} {
		if got := r.as(user, "guest", command); got.status == 0 ||
			!strings.Contains(got.stderr, refusal) {
			t.Errorf("%s: %+v", command, got)
		}
	}
	// A key that would be good for more is a guest's with the invitation's name.
	if got := r.as(user, "alice", "whoami"); !strings.HasPrefix(got.stdout, "guest:gwen  observer") {
		t.Errorf("the admin with the invitation: %+v", got)
	}
}

func TestTheLineForTheGuestShowsTheTerminal(t *testing.T) {
	t.Parallel()
	r := guestRig(t, nil)
	c, err := r.dialAs(r.invite("--terminal build --role operator gwen"), "guest")
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	gwen := r.open(c, 80, 24, "")
	gwen.sees("this is build")
	gwen.typeIn("typed\r")
	gwen.sees("alice has the keyboard")
	if got := r.ssh("alice", "", "peek build").stdout; strings.Contains(got, "typed") {
		t.Errorf("a guest typed without the keyboard: %q", got)
	}
	if got := r.ssh("alice", "", "who build").stdout; !strings.Contains(got, "guest:gwen  operator") {
		t.Errorf("who: %q", got)
	}
	if got := r.ssh("alice", "", "invites").stdout; !strings.Contains(got, "\nguest:gwen  operator") {
		t.Errorf("invites: %q", got)
	}
	if got := r.ssh("alice", "", "kick build gwen"); got.status != 0 ||
		got.stderr != "termhost: guest:gwen no longer watches build (views ended: 1)\n" {
		t.Errorf("kick: %+v", got)
	}
	gwen.sees("alice has ended your")
	if _, err := r.dialAs("invite-", "guest"); err == nil {
		t.Error("an empty secret lets somebody in")
	}
	hosttest.Eventually(t, "the invitation has ended", func() bool {
		return strings.TrimSpace(r.ssh("alice", "", "invites --json").stdout) == "[]"
	})
}

// Nobody learns from a refusal whether an invitation has ever been.
func TestInvitationsEnd(t *testing.T) {
	t.Parallel()
	r := guestRig(t, nil)
	refused := func(what, user, key string) {
		t.Helper()
		got := r.as(user, key, "ls")
		unknown := r.as("invite-nothing", key, "ls")
		got.stderr = strings.ReplaceAll(got.stderr, user, "invite-nothing")
		if got.status != 255 || got != unknown {
			t.Errorf("%s: %+v, and an unknown one %+v", what, got, unknown)
		}
	}
	once := r.invite("--terminal build --once once")
	if got := r.as(once, "guest", "ls"); got.status != 0 {
		t.Fatalf("ls: %+v", got)
	}
	refused("the second key of --once", once, "other")
	several := r.invite("--terminal build several")
	for _, key := range []string{"guest", "other"} {
		if got := r.as(several, key, "ls"); got.status != 0 {
			t.Errorf("without --once, %s: %+v", key, got)
		}
	}
	var list []struct {
		Guest string
		Keys  int
	}
	if err := json.Unmarshal([]byte(r.ssh("alice", "", "invites --json").stdout), &list); err != nil ||
		len(list) != 2 || list[0].Keys != 1 || list[1].Keys != 2 {
		t.Errorf("invites: %+v, %v", list, err)
	}
	r.ssh("alice", "", "new -d -n short -- sleep 1000")
	r.invite("--terminal short,build both")
	r.ssh("alice", "", "rm short")
	if got := r.ssh("alice", "", "invites").stdout; strings.Contains(got, "short") {
		t.Errorf("a terminal that is gone is listed: %s", got)
	}
	live, err := r.dialAs(several, "guest")
	if err != nil {
		t.Fatal(err)
	}
	defer live.Close()
	watching := r.open(live, 80, 24, "attach build")
	watching.sees("this is build")
	if got := r.ssh("alice", "", "invite --revoke guest:several"); got.status != 0 {
		t.Errorf("revoke: %+v", got)
	}
	watching.sees("your invitation has ended")
	refused("a revoked one", several, "guest")

	brief := r.invite("--terminal build --ttl 1s brief")
	hosttest.Eventually(t, "it has expired", func() bool {
		return r.as(brief, "guest", "ls").status == 255
	})
	refused("an expired one", brief, "guest")

	reborn := r.invite("--terminal build reborn")
	if got := r.ssh("alice", "", "rm build"); got.status != 0 {
		t.Fatalf("rm: %+v", got)
	}
	if got := r.ssh("alice", "", "new -d -n build -- sleep 1000"); got.status != 0 {
		t.Fatalf("new: %+v", got)
	}
	if got := r.as(reborn, "guest", "ls --json"); got.status != 0 ||
		strings.TrimSpace(got.stdout) != "[]" {
		t.Errorf("the invitation reaches another terminal of the NAME: %+v", got)
	}
	if got := r.as(reborn, "guest", "ls"); got.stderr != "no terminals\n" {
		t.Errorf("a guest is offered to make one: %+v", got)
	}
}

func TestAnInvitationEndsWithItsKey(t *testing.T) {
	t.Parallel()
	r := guestRig(t, nil)
	got := r.ssh("bob", "", "invite --role operator --terminal secret gwen")
	user, _, _ := strings.Cut(strings.TrimPrefix(got.stdout[strings.LastIndex(got.stdout, " "):], " "), "@")
	c, err := r.dialAs(user, "guest")
	if err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	defer c.Close()
	watching := r.open(c, 80, 24, "attach secret")
	watching.sees("this is secret")
	r.removeKey("bob")
	watching.sees("your invitation has ended")
	hosttest.Eventually(t, "nobody is invited", func() bool {
		return strings.TrimSpace(r.ssh("alice", "", "invites --json").stdout) == "[]"
	})
	if got := r.as(user, "guest", "ls"); got.status != 255 {
		t.Errorf("after its key: %+v", got)
	}
}

func TestInvitationsForNamedKeys(t *testing.T) {
	t.Parallel()
	var answer string
	site := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		if q.URL.Path != "/gwen.keys" {
			http.NotFound(w, q)
			return
		}
		_, _ = w.Write([]byte(answer))
	}))
	defer site.Close()
	r := guestRig(t, func(c *Config) { c.GitHub = keys.GitHub{URL: site.URL, Client: site.Client()} })
	answer = "ssh-dss AAAA old\n" + r.publicLine("guest")
	r.newKey("third")
	for how, user := range map[string]string{
		"github": r.invite("--terminal build --github gwen github"),
		"file":   r.invite("--terminal build --key " + r.path("guest.pub") + " file"),
	} {
		if got := r.as(user, "guest", "ls"); got.status != 0 {
			t.Errorf("%s: the named key: %+v", how, got)
		}
		if got := r.as(user, "third", "ls"); got.status != 255 {
			t.Errorf("%s: another key: %+v", how, got)
		}
	}
	if got := r.ssh("alice", r.publicLine("guest"), "invite --terminal build --key - stdin"); got.status != 0 {
		t.Errorf("--key -: %+v", got)
	}
	for args, refusal := range map[string]string{
		"--terminal build --github nobody":          "GitHub has no user nobody",
		"--terminal build --github ../../x":         "not a GitHub user name",
		"--terminal build --key " + r.path("guest"): "no key for the guest",
		"--terminal build --key /dev/zero":          "no such file",
		"--terminal build --role admin":             "at most your own",
		"--terminal nothing":                        `there is no terminal "nothing"`,
		"--terminal bui":                            `there is no terminal "bui"`,
		"--terminal build --ttl 400d":               "duration",
		"--terminal build stdin":                    "invited already",
		"--terminal build ../x":                     "a guest's name is",
		"gwen":                                      "--terminal",
		"--terminal build --page":                   "no HTTP port",
		"--terminal build --page --url ftp://x":     "the URL must be",
		"--terminal build --page --github gwen":     "--page is for a browser's key",
		"--terminal build --url https://x.example":  "--url is for --page",
	} {
		if got := r.ssh("alice", "", "invite "+args); got.status == 0 || got.stdout != "" ||
			!strings.Contains(got.stderr, refusal) {
			t.Errorf("invite %s: %+v", args, got)
		}
	}
	if got := r.ssh("bob", "", "invite --terminal build --role operator x"); got.status != 0 {
		t.Errorf("an operator's: %+v", got)
	}
	if got := r.ssh("olga", "", "invite --terminal build y"); got.status != 1 {
		t.Errorf("an observer's: %+v", got)
	}
	if got := r.ssh("bob", "", "invite --revoke stdin"); !strings.Contains(got.stderr, "no invitation") {
		t.Errorf("an operator revokes an admin's: %+v", got)
	}
	site.Close()
	if got := r.ssh("alice", "", "invite --terminal build --github gwen z"); !strings.Contains(
		got.stderr, "cannot fetch the keys of gwen") {
		t.Errorf("no GitHub: %+v", got)
	}
}

// A wrong secret costs what a wrong key does.
func TestWrongInvitationsAreFailedLogins(t *testing.T) {
	t.Parallel()
	now := time.Now()
	r := guestRig(t, func(c *Config) { c.Now = func() time.Time { return now } })
	for range 3 { // admit.MinPenalty of admit.AuthPenalty
		if _, err := r.dialAs("invite-wrong", "guest"); err == nil {
			t.Fatal("a wrong secret lets somebody in")
		}
	}
	hosttest.Eventually(t, "the source would be refused, were it not loopback", func() bool {
		return r.server.penalties.Owes(admit.SourceOf(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)})) >= admit.MinPenalty
	})
	if strings.Contains(r.log.String(), "invite-wrong") {
		t.Error("the log has a secret")
	}
}
