package verbs

import (
	"context"
	"strings"
	"testing"

	"termhost/ahp/hosttest"
	"termhost/sshd/viewertest"
)

// carrier is a fleet that notes what it carries where.
type carrier struct {
	town
	lines chan string
}

func (f *carrier) Run(ctx context.Context, _ Caller, host, line string) (Exit, error) {
	if strings.HasPrefix(line, "events") { // for who is attached to a terminal here
		<-ctx.Done()
		return Exit{}, ctx.Err()
	}
	f.lines <- host + ": " + line
	return Exit{}, nil
}

func TestAVerbTakesTheURIThatADoorsClientsHave(t *testing.T) {
	r := newRunner(t)
	r.run(t, "", "new -d -n one -- sh -c 'stty -icanon -echo; echo ready; exec cat'")
	f := &carrier{town{answers: map[string]string{"box": "[]"}}, make(chan string, 1)}
	const own, other = "ahp-terminal://home/one", "ahp-terminal://box/one"
	if got := r.run(t, "", "peek "+own); got.status != StatusFailed {
		t.Errorf("a host in no fleet has a terminal %s: %+v", own, got)
	}
	r.Fleet = func() Fleet { return f }
	r.host.SetFleet("home")
	for _, c := range []struct{ command, want string }{
		{"wait --match ready --timeout 30s " + own, ""},
		{"log --text " + own, "ready\n"},
		{"label " + own + " a=b", ""},
		{"who --json " + own, "[]\n"},
		{"grep ready -l a=b " + own, ""},
	} {
		got := r.run(t, "", c.command)
		if got.status != StatusOK || c.want != "" && got.stdout != c.want {
			t.Errorf("%s: %+v", c.command, got)
		}
	}
	for command, want := range map[string]string{
		"peek " + other:                       "box: peek ahp-terminal:/one",
		"send --enter " + other + " -- 'a b'": "box: send --enter ahp-terminal:/one -- a b",
		"log -f ahp-terminal://box/agent:/x":  "box: log -f agent:/x",
	} {
		if got := r.run(t, "", command); got.status != StatusOK {
			t.Errorf("%s: %+v", command, got)
			continue
		}
		if line := <-f.lines; line != want {
			t.Errorf("%s runs %q, want %q", command, line, want)
		}
	}
	p := r.sits(t, Window{Cols: 40, Rows: 10}, "attach "+own)
	p.Sees("ready")
	detach(p)
	// On a host that another one has carried the peer to, as on one that is no door.
	var out Answer
	caller := r.connect(t, &viewertest.Peer{Out: &out, Err: &out})
	caller.Carried, caller.Local = "home", false
	ctx, cancel := context.WithTimeout(t.Context(), hosttest.Patience)
	defer cancel()
	if status := r.Exec(ctx, caller, "peek "+own).Status; status != StatusOK {
		t.Errorf("carried there, it says %s", out.Bytes())
	}
}
