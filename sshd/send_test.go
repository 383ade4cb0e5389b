package sshd

import (
	"fmt"
	"strings"
	"testing"
)

// Input goes through a bounded queue. What does not fit waits; none of it is lost or changed.
func TestStandardInputIsTypedExactlyAndAsFastAsItIsRead(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	input := make([]byte, 3<<20)
	for i := range input {
		input[i] = byte(i % 251)
	}
	r.ssh("alice", "", fmt.Sprintf(
		"new -d -n sum -- stty raw -echo; printf ready; head -c %d | cksum; read end", len(input)+1))
	r.shows("sum", "ready")
	if got := r.ssh("alice", string(input), "send sum - --key x"); got.status != 0 || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	want := r.ssh("alice", string(input)+"x", "run -- cksum")
	r.shows("sum", "ready"+want.stdout)
	r.ssh("alice", "", "rm sum")
	if got := r.ssh("alice", "x", "send sum -"); got.status != 1 {
		t.Errorf("to nothing: %+v", got)
	}
}

func TestSentKeysFollowTheProgramsModesAndTheText(t *testing.T) {
	t.Parallel()
	r := newRig(t, rigOptions{})
	for i, c := range []struct {
		modes, flags, text string
		want               string // as cat -v has it
	}{
		{"", "--key up --key ctrl-left --enter", "a b", "a b^[[A^[[1;5D^M"},
		{`\033[?1h\033=`, "--enter --key up --key kp-5", "", "^[OA^[Ou^M"},
		{`\033[>1u`, "--key esc --key ctrl-c --key alt-x --enter", "", "^[[27u^[[99;5u^[[120;3u^M"},
		{`\033[>4;2m`, "--key ctrl-c", "", "^[[27;5;99~"},
		{`\033[?67h`, "--key bs", "-- --x", "-- --x^H"},
	} {
		name := fmt.Sprint("reader", i)
		r.ssh("alice", "", "new -d -n "+name+
			" -- stty raw -echo; printf '"+c.modes+"ready:'; exec cat -v")
		r.shows(name, "ready:")
		text := strings.Replace(c.text, "-- ", "-- -- ", 1)
		if got := r.ssh("alice", "", "send "+c.flags+" "+name+" "+text); got.status != 0 {
			t.Fatalf("%s: %+v", c.flags, got)
		}
		want := "ready:" + c.want + "\n"
		r.shows(name, want)
	}
	for _, key := range []string{"ctrl-left", "kp-5"} {
		if strings.Contains(r.log.String(), key) {
			t.Errorf("the log tells of %s", key)
		}
	}
}
