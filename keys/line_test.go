package keys

import (
	"bytes"
	"encoding/base64"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/crypto/ssh"
)

// securityKey is a security key's public key as OpenSSH prints it. There is no private one.
const securityKey = "sk-ssh-ed25519@openssh.com " +
	"AAAAGnNrLXNzaC1lZDI1NTE5QG9wZW5zc2guY29tAAAAIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4fAAAABHNzaDo="

func TestOptionsMeanWhatSSHDSays(t *testing.T) {
	key := publicLine(newKey(t).PublicKey(), "alice@desk")
	type want struct {
		command, role                           string
		readOnly, noForward, noTouch, authority bool
		forwards, noAgent                       bool
		opens, listens                          Permits
	}
	for options, w := range map[string]want{
		"":                                     {},
		"restrict":                             {readOnly: true, noForward: true, noAgent: true},
		"RESTRICT":                             {readOnly: true, noForward: true, noAgent: true},
		"restrict,pty":                         {noForward: true, noAgent: true},
		"pty,restrict":                         {readOnly: true, noForward: true, noAgent: true},
		"no-pty":                               {readOnly: true},
		"no-pty,pty":                           {},
		"no-port-forwarding":                   {noForward: true},
		"restrict,Port-Forwarding":             {readOnly: true, noAgent: true, forwards: true},
		"port-forwarding,restrict":             {readOnly: true, noForward: true, noAgent: true},
		"restrict,agent-forwarding":            {readOnly: true, noForward: true},
		`no-pty,permitopen="db:5432"`:          {readOnly: true, forwards: true, opens: "db:5432"},
		`command="echo \"a, b\" c"`:            {command: `echo "a, b" c`},
		`command="a\\b"`:                       {command: `a\\b`},
		`restrict,command="x"`:                 {command: "x", readOnly: true, noForward: true, noAgent: true},
		`environment="TERMHOST_ROLE=observer"`: {role: "observer"},
		"no-agent-forwarding,no-X11-forwarding,no-user-rc": {noAgent: true},
		"agent-forwarding,x11-forwarding,user-rc":          {},
		`permitopen="localhost:5432"`:                      {forwards: true, opens: "localhost:5432"},
		`permitopen="localhost:5432",permitopen="ahp:80"`: {forwards: true,
			opens: "localhost:5432 ahp:80"},
		`permitopen="ahp:*"`:                     {forwards: true, opens: "ahp:*"},
		`permitopen="[::1]:http"`:                {forwards: true, opens: "[::1]:80"},
		`permitopen="ahp:80",no-port-forwarding`: {noForward: true, opens: "ahp:80"},
		`permitlisten="8080",tunnel="0"`:         {forwards: true, listens: "*:8080"},
		`permitlisten="localhost:8080",permitlisten="*"`: {forwards: true,
			listens: "localhost:8080 *:*"},
		"verify-required":                       {}, // only for security keys
		"no-touch-required":                     {noTouch: true},
		`cert-authority,principals="alice,bob"`: {authority: true},
	} {
		line, err := ParseLine(strings.TrimSpace(options + " " + key))
		if err != nil {
			t.Errorf("%s: %v", options, err)
			continue
		}
		id := entry{Line: line}.identity("u", line.Key, remoteAddr{})
		got := want{id.Command, id.Role, id.ReadOnly, id.NoForward, id.NoTouchRequired,
			line.CertAuthority, id.Forwards, id.NoAgent, id.Opens, id.Listens}
		if got != w {
			t.Errorf("%s: got %+v, want %+v", options, got, w)
		}
		if id.Comment != "alice@desk" {
			t.Errorf("%s: comment %q", options, id.Comment)
		}
	}
}

func TestAnOptionThatCannotBeHonouredRefusesTheKey(t *testing.T) {
	key := publicLine(newKey(t).PublicKey(), "alice")
	for options, why := range map[string]string{
		"frobnicate":                       "unknown",
		`frobnicate="1"`:                   "unknown",
		"no-restrict":                      "unknown",
		`environment="PATH=/evil"`:         "TERMHOST_ROLE only",
		`environment="TERMHOST_ROLE=root"`: "is not admin",
		`environment="TERMHOST_ROLE=admin",environment="TERMHOST_ROLE=observer"`: "twice",
		`command="a",command="b"`:       "twice",
		`command=""`:                    "empty",
		"command":                       "needs a value",
		`restrict="yes"`:                "takes no value",
		"command=ls":                    "double quotes",
		`command="ls`:                   "no readable key", // the quote swallows the key
		`command="ls"x`:                 "comma",
		"restrict,":                     "no name",
		",restrict":                     "no name",
		`rest"rict"`:                    "quote",
		`from=""`:                       "empty",
		`from="10.0.0.1/8"`:             "beyond its mask",
		`from="10.0.0.0/33"`:            "not an address block",
		`from="*,!*.evil.example"`:      "names are not looked up",
		`from="1.2.3.4",from="1.2.3.5"`: "twice",
		`expiry-time="soon"`:            "YYYYMMDD",
		`expiry-time="20261340"`:        "not a date",
		`principals="alice"`:            "cert-authority",
		`permitopen="ahp"`:              "host:port",
		`permitopen="ahp:0"`:            "host:port",
		`permitopen="ahp:65536"`:        "host:port",
		`permitopen=":80"`:              "host:port",
		`permitopen="::1:80"`:           "host:port",
		`permitlisten="no-such"`:        "host:port or port",
	} {
		_, err := ParseLine(options + " " + key)
		if !says(err, why) {
			t.Errorf("%s: got %v, want an error with %q", options, err, why)
		}
	}
	if _, err := ParseLine("verify-required " + securityKey); !says(err, "PIN") {
		t.Errorf("verify-required, which cannot be enforced, is not refused: %v", err)
	}
	if _, err := ParseLine("no-touch-required " + securityKey); err != nil {
		t.Errorf("a security key: %v", err)
	}
}

func TestLinesWithoutAUsableKeyAreRefused(t *testing.T) {
	signer := newKey(t)
	good := publicLine(signer.PublicKey(), "")
	blob := strings.Fields(good)[1]
	long := strings.Repeat("x", MaxLineBytes)
	longer := append(signer.PublicKey().Marshal(), 0)
	for name, line := range map[string]string{
		"nothing":              "",
		"a type alone":         "ssh-ed25519",
		"two options fields":   "restrict no-pty " + good,
		"another type's name":  "ssh-rsa " + blob,
		"a cut key":            "ssh-ed25519 " + blob[:40],
		"bytes after the key":  "ssh-ed25519 " + base64.StdEncoding.EncodeToString(longer),
		"damaged base64":       "ssh-ed25519 " + strings.Replace(blob, "A", "*", 1),
		"a NUL":                good + " x\x00y",
		"more than the bound":  good + " " + long,
		"a private key's head": "-----BEGIN OPENSSH PRIVATE KEY-----",
	} {
		if _, err := ParseLine(line); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestWeakKeysAreRefused(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		weak bool
	}{
		{"rsa1024", []string{"-t", "rsa", "-b", "1024"}, true},
		{"rsa2047", []string{"-t", "rsa", "-b", "2047"}, true},
		{"rsa2048", []string{"-t", "rsa", "-b", "2048"}, false},
		{"dsa", []string{"-t", "dsa"}, true},
		{"ecdsa", []string{"-t", "ecdsa"}, false},
		{"ed25519", []string{"-t", "ed25519"}, false},
	} {
		line := openSSHKey(t, dir, c.name, c.args...)
		_, err := ParseLine(strings.TrimSpace(line))
		var weak *WeakKeyError
		if errors.As(err, &weak) != c.weak || (err == nil) == c.weak {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

func TestExpiryTimesAreReadAsSSHDReadsThem(t *testing.T) {
	key := publicLine(newKey(t).PublicKey(), "")
	for value, want := range map[string]time.Time{
		"20260314":        time.Date(2026, 3, 14, 0, 0, 0, 0, time.Local),
		"20260314Z":       time.Date(2026, 3, 14, 0, 0, 0, 0, time.UTC),
		"202603141509":    time.Date(2026, 3, 14, 15, 9, 0, 0, time.Local),
		"20260314150926Z": time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC),
	} {
		line, err := ParseLine(`expiry-time="` + value + `",expiry-time="20991231" ` + key)
		if err != nil || !line.options.expires.Equal(want) {
			t.Errorf("%s: %v, %v; want %v", value, line.options.expires, err, want)
		}
	}
}

func TestCommentsAreMadePrintable(t *testing.T) {
	key := publicLine(newKey(t).PublicKey(), "")
	for comment, want := range map[string]string{
		"alice@desk":                        "alice@desk",
		"  two  words ":                     "two  words",
		"\x1b]0;pwned\x07red\x1b[31m\u202e": "]0;pwnedred[31m",
		"bad\xff\xfeutf8":                   "badutf8",
		"":                                  "",
		strings.Repeat("é", 100):            strings.Repeat("é", 64),
	} {
		line, err := ParseLine(key + " " + comment)
		if err != nil || line.Comment != want {
			t.Errorf("%q became %q, %v; want %q", comment, line.Comment, err, want)
		}
	}
}

func TestABadLineRefusesOnlyItsOwnKey(t *testing.T) {
	a, b, c := newKey(t).PublicKey(), newKey(t).PublicKey(), newKey(t).PublicKey()
	text := strings.Join([]string{
		"# people",
		"",
		"   " + publicLine(a, "a") + "\r",
		"frobnicate " + publicLine(b, "b"),
		"rubbish",
		publicLine(c, strings.Repeat("y", MaxLineBytes)),
		"\tno-pty " + publicLine(a, "a again"),
	}, "\n")
	file := parseKeyLines("keys", authorizedKeys, []byte(text))
	list := file.entries
	if len(list) != 2 || list[0].Comment != "a" || list[1].source != "keys:7" {
		t.Errorf("entries %+v", list)
	}
	if file.spoilt[string(b.Marshal())] == "" {
		t.Error("the key with the unknown option is not refused")
	}
	notes := strings.Join(file.notes, "\n")
	for _, want := range []string{"keys:4 is refused", "frobnicate", "keys:5 is refused",
		"keys:6 is refused", "keys:7 repeats the key of line 3"} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
}

// If a line is accepted, its key must be the one that the SSH library reads from it, of an accepted
// algorithm, and its comment must be fit to be shown.
func FuzzAuthorizedKeysLine(f *testing.F) {
	key := publicLine(newKey(f).PublicKey(), "c")
	for _, options := range []string{
		"",
		"restrict,pty ",
		`command="a\"b c",from="!10.0.0.*,10.0.0.0/8,fe80::1" `,
		`environment="TERMHOST_ROLE=operator" `,
		`cert-authority,principals="a,b" `,
		`expiry-time="20260101Z" `,
	} {
		f.Add(options + key)
	}
	f.Add("no-touch-required " + securityKey)
	f.Add("\r" + key) // no key for sshd, either
	f.Fuzz(func(t *testing.T, text string) {
		line, err := ParseLine(text)
		if err != nil {
			return
		}
		want, _, _, _, err := ssh.ParseAuthorizedKey([]byte(text))
		if err != nil || !bytes.Equal(want.Marshal(), line.Key.Marshal()) {
			t.Fatalf("%q is read as another key: %v", text, err)
		}
		if err := checkAlgorithm(line.Key); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		hidden := func(r rune) bool { return !unicode.IsPrint(r) }
		if len(line.Comment) > MaxCommentBytes || strings.ContainsFunc(line.Comment, hidden) {
			t.Fatalf("%q has the comment %q", text, line.Comment)
		}
	})
}

func TestPermitsAllowWhatTheyName(t *testing.T) {
	all := Permits("localhost:5432 [::1]:* *:8080")
	for _, c := range []struct {
		permits Permits
		host    string
		port    uint32
		want    bool
	}{
		{"", "anywhere", 1, true},
		{all, "localhost", 5432, true},
		{all, "LOCALHOST", 5432, false},
		{all, "localhost", 5433, false},
		{all, "127.0.0.1", 5432, false},
		{all, "::1", 1, true},
		{all, "any host", 8080, true},
		{all, "", 8080, true},
		{all, "localhost", 5432 + 1<<16, false},
		{"ahp:80", "ahp", 80, true},
	} {
		if got := c.permits.Allow(c.host, c.port); got != c.want {
			t.Errorf("%q, %q:%d: %v", c.permits, c.host, c.port, got)
		}
	}
}
