package config

import (
	"slices"
	"strings"
	"testing"
)

func TestAllProblemsOfAFileAreReportedInItsOrder(t *testing.T) {
	text := `stat_dir = "/s"
listen = "127.0.0.1:1"

[ssh] # comment
max_conections = 3
handshake_timeout = 20
authorized_keys_files = [
  "/ok",   # fine
  "~bob/keys",

  5,
]
Listen = "127.0.0.1:2"

[htttp]
x = 1

[terminal]
scrollback_bytes = 1048576
env."A B" = "x"
login = "yes"
banner = """
login = 1
""" # [http]
input = "shred"
keys = []

[[principal]]
name = "a"
role = "amin"
keys = ["SHA256:short", "` + carolFingerprint + `"]

[[principal]]
name = "a"
keys = ["` + bobFingerprint + `",
  "` + bobFingerprint + `"]
"role\n" = 1

[[principal]]
name = "c"
role = "admin"
keys = ["` + carolFingerprint + `"]
`
	want := []string{
		`c.toml:1: stat_dir: unknown key (did you mean "state_dir"?)`,
		`c.toml:2: listen: unknown key (it belongs in [ssh] or [http])`,
		`c.toml:5: ssh.max_conections: unknown key (did you mean "max_connections"?)`,
		`c.toml:6: ssh.handshake_timeout: 20 has no unit: write "20s" for seconds, or use ms, m or h`,
		`c.toml:9: ssh.authorized_keys_files[1]: "~bob/keys": only ~/ is understood, not another user's home: write the path out`,
		`c.toml:11: ssh.authorized_keys_files[2]: must be a string, not an integer`,
		`c.toml:13: ssh.Listen: unknown key (did you mean "listen"?)`,
		`c.toml:15: htttp: unknown key (did you mean "http"?)`,
		`c.toml:19: terminal.scrollback_bytes: 1048576 has no unit: write "1048576B", or use KiB, MiB or GiB`,
		`c.toml:20: terminal.env."A B": cannot name a variable: use letters a-z or A-Z, digits and _, and do not begin with a digit`,
		`c.toml:21: terminal.login: "yes" must be "new" or "last"`,
		`c.toml:22: terminal.banner: unknown key`,
		`c.toml:25: terminal.input: "shred" must be "claim" or "shared" (did you mean "shared"?)`,
		`c.toml:26: terminal.keys: unknown key (did you mean "keep"?)`,
		`c.toml:30: principal[0].role: "amin" must be "admin", "operator" or "observer" (did you mean "admin"?)`,
		`c.toml:31: principal[0].keys[0]: bad fingerprint: after SHA256: there must be 43 base64 characters, as ssh-keygen -l prints them`,
		`c.toml:33: principal[1].role: is missing: it must be "admin", "operator" or "observer"`,
		`c.toml:34: principal[1].name: "a" is taken by principal[0]: one entry can have several keys`,
		`c.toml:36: principal[1].keys[1]: ` + bobFingerprint + ` is listed twice`,
		`c.toml:37: principal[1]."role\n": unknown key (did you mean "role"?)`,
		`c.toml:42: principal[2].keys[0]: ` + carolFingerprint + ` is a key of principal[0] already: a key has one name and one role`,
	}
	got := problemsOf(t, text, ordinary())
	if !slices.Equal(got, want) {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestProblems checks files with one mistake each: exactly one line is reported, and it contains
// the words on the right.
func TestProblems(t *testing.T) {
	principal := func(keys string) string {
		return "[[principal]]\nname = \"a\"\nrole = \"admin\"\nkeys = [" + keys + "]"
	}
	for _, tt := range []struct{ text, want string }{
		{"a = ", "c.toml:1: not valid TOML: "},
		{"[ssh]\n[ssh]", "c.toml:2: not valid TOML: "},
		{"x = \"\xff\"", "c.toml:1: not valid TOML: "},
		{"ssh = 1", "c.toml:1: ssh: must be a table, not an integer"},
		{"[ssh]\nstate_dir = \"/\"", "ssh.state_dir: unknown key (it belongs at the top"},
		{"[http]\nlogin = true", "http.login: unknown key (it belongs in [terminal])"},
		{"[terminal]\nlogin = \"lsat\"", "(did you mean \"last\"?)"},
		{"[terminal]\nlogin = true\nlogin_shell = false", "c.toml:2: terminal.login: must be"},
		{"[terminal]\nlogin = 1", "terminal.login: must be a string, not an integer"},
		{"state_dir = \"\"", "state_dir: is empty"},
		{"state_dir = \"s\"", "\"s\" is relative: begin it with / or ~/"},
		{"state_dir = \"/s\\u0000\"", "NUL"},
		{"state_dir = \"/" + strings.Repeat("s", 100) + "\"", "ahp.sock would have 110 bytes"},
		{"[ssh]\nlisten = \"\"", "cannot be turned off"},
		{"[ssh]\nlisten = \"none\"", "cannot be turned off"},
		{"[ssh]\nlisten = \"2222\"", "write host:port"},
		{"[ssh]\nlisten = \"::1:2222\"", "write host:port"},
		{"[ssh]\nlisten = \"127.0.0.1:ssh\"", "port must be a number"},
		{"[ssh]\nlisten = \"127.0.0.1:65536\"", "port must be a number"},
		{"[ssh]\nlisten = \"a b:1\"", "neither an address nor a host name"},
		{"[ssh]\nlisten = \"127.0.0.1:7722\"", "http.listen: \"127.0.0.1:7722\" is ssh.listen too"},
		{"[ssh]\nhandshake_timeout = \"999ms\"", "999ms is out of range: from 1s to 10m"},
		{"[ssh]\nhandshake_timeout = \"1d\"", "days are not understood: write \"24h\""},
		{"[ssh]\nhandshake_timeout = \"-1s\"", "negative"},
		{"[ssh]\nhandshake_timeout = true", "must be a string, not a boolean"},
		{"[ssh]\nhandshake_timeout = 2024-01-01", "must be a string, not a date"},
		{"[ssh]\nkeepalive_interval = \"10ms\"", "from 1s to 1h, or 0s to turn it off"},
		{"[ssh]\nmax_auth_tries = 0", "0 is out of range: from 1 to 100"},
		{"[ssh]\nmax_auth_tries = 1.0", "must be a whole number, not a float"},
		{"[ssh]\nmax_connections = 100001", "from 1 to 100000"},
		{"[ssh]\nmax_sessions_per_connection = -1", "-1 is out of range"},
		{"[ssh]\nmax_startups = 10", "write START:RATE:FULL"},
		{"[ssh]\nmax_startups = \"10:30:5\"", "START <= FULL"},
		{"[ssh]\nmax_startups = \"0:30:5\"", "START <= FULL"},
		{"[ssh]\nmax_startups = \"10:101:50\"", "percentage"},
		{"[ssh]\nmax_startups = \"10:x:50\"", "\"x\" is not a whole number"},
		{"[ssh]\nhost_key_files = [\"\"]", "ssh.host_key_files[0]: is empty"},
		{"[ssh]\nhost_key_files = \"/k\"", "must be an array, not a string"},
		{"[http]\nlisten = \"localhost\"", "http.listen: \"localhost\" is not an address"},
		{"[http]\npath = \"ahp\"", "\"ahp\" is not a path"},
		{"[http]\npath = \"/ahp/\"", "\"/ahp/\" is not a path"},
		{"[http]\npath = \"/{x}\"", "\"/{x}\" is not a path"},
		{"[http]\npath = \"/metrics\"", "has a meaning of its own"},
		{"[http]\npath = \"/ssh\"", "has a meaning of its own"},
		{"[http]\nallowed_origins = [\"*\"]", "http.allowed_origins[0]: \"*\": wildcards"},
		{"[http]\nallowed_origins = [\"null\"]", "every sandboxed page"},
		{"[http]\nallowed_origins = [\"https://a.example/\"]", "without a path"},
		{"[http]\nallowed_origins = [\"https://A.example\"]", "lower case"},
		{"[http]\nallowed_origins = [\"a.example\"]", "is not an origin"},
		{"[http]\nallowed_origins = [\"https://a.example:443\"]", "write \"https://a.example\""},
		{"[http]\nallowed_hosts = [\"https://a.example\"]", "is not a host"},
		{"[http]\nallowed_hosts = [\"*.example\"]", "is not a host"},
		{"[http]\nallowed_hosts = [\"\"]", "is not a host"},
		{"[http]\ntls_cert_file = \"/c\"", "http.tls_cert_file: TLS needs both files: set http.tls_key_file too"},
		{"[http]\ntls_key_file = \"/c\"", "http.tls_key_file: TLS needs both files: set http.tls_cert_file too"},
		{"[http]\nmax_frame_bytes = \"1KiB\"", "1KiB is out of range: from 64KiB to 64MiB"},
		{"[http]\nrequests_per_second = -1", "-1 is out of range: from 0"},
		{"[attach]\nstatus = \"top\"", "attach.status"},
		{"[mcp]\nwait = \"2h\"", "2h is out of range: from 1s to 1h"},
		{"[mcp]\nwaits = { \"a b\" = \"0s\" }", "mcp.waits.\"a b\": 0s is out of range: from 1s to 1h"},
		{"[mcp]\nwaits = { \"\" = \"1s\" }", "c.toml:2: mcp.waits.\"\": is not a client's name"},
		{"[mcp]\nwaits = { \" \" = \"1s\" }", "is not a client's name"},
		{"[mcp]\nwaits = { \"a\\nb\" = \"1s\" }", "is not a client's name"},
		{"[terminal]\nterm = \"-5\"", "c.toml:2: terminal.term: \"-5\" is not a terminal type"},
		{"[terminal]\nterm = \"+\"", "is not a terminal type"},
		{"[terminal]\nshell = \"/\"", "c.toml:2: terminal.shell: \"/\" cannot be meant"},
		{"[ssh]\nhost_key_files = [\"/a/..\"]", "ssh.host_key_files[0]: \"/\" cannot be meant"},
		{"[audit]\nfile = \"/\\u001b[2J\"", "audit.file: \"/\\x1b[2J\" contains a control character"},
		{"state_dir = \"//\"", "state_dir: \"/\" cannot be meant"},
		{"[ssh]\nhandshake_timeout = \"+5s\"", "is not a duration"},
		{"[fleet]\nlabels = { \"\u202ea\" = \"b\" }", "a label has a name and a value"},
		{"[mcp]\nwaits = { a = \"long\" }", "mcp.waits.a: \"long\" is not a duration"},
		{"[fleet]\nname = \"Box\"", "fleet.name: \"Box\" cannot be a host's name in a fleet"},
		{"[fleet]\nservers = [\"tls://a:1\", \"nats.example:4222\"]", "fleet.servers[1]: a server is a " +
			"URL with its scheme: write tls:// before it, such as \"tls://nats.example:4222\""},
		{"[fleet]\nservers = [\"https://a:1\"]", "\"https\" is not a scheme of a NATS server: write tls, nats"},
		{"[fleet]\nservers = [\"tls://a:1,tls://b:2\"]", "write one server in each string"},
		{"[fleet]\nservers = [\"tls://:4222\"]", "it names no server: write its address"},
		{"[fleet]\ndoors = { Box = \"admin\" }", "fleet.doors.Box: \"Box\" cannot be a host's name in a fleet"},
		{"[fleet]\ndoors = { \"a.b\" = \"admin\" }", "write doors = { box1 = \"operator\" }"},
		{"[fleet]\ndoors = { b = \"root\" }", "fleet.doors.b: \"root\" is not a role: write admin, operator" +
			" or observer, such as { b = \"operator\" }"},
		{"[terminal]\nshell = \"zsh\"", "\"zsh\" is relative"},
		{"[terminal]\nterm = \"\"", "is not a terminal type"},
		{"[terminal]\nterm = \"../x\"", "is not a terminal type"},
		{"[terminal]\nenv = { A = 1 }", "terminal.env.A: must be a string, not an integer"},
		{"[terminal]\nenv = { 1A = \"\" }", "terminal.env.1A: cannot name a variable"},
		{"[terminal]\nenv = { A = \"\\u0000\" }", "terminal.env.A: the value cannot contain"},
		{"[terminal]\nenv = []", "must be a table, not an array"},
		{"[terminal]\nmax_terminals = 0", "from 1 to 10000"},
		{"[terminal]\nmax_exited = -1", "from 0 to 10000"},
		{"[terminal]\nexited_ttl = \"9000h\"", "from 1s to 8760h, or 0s"},
		{"[terminal]\nscrollback_bytes = \"2GiB\"", "2GiB is out of range: from 64KiB to 1GiB"},
		{"[terminal]\nlog_bytes = \"1B\"", "from 128KiB to 4GiB"},
		{"[terminal]\nclient_grace = \"25h\"", "from 0s to 24h"},
		{"[terminal]\nclient_output_rate = \"1B\"", "or 0B to turn it off"},
		{"[terminal]\ndetach_prefix = \"ctrl-[\"", "needed as it is"},
		{"[terminal]\ninput = \"\"", "is missing"},
		{"[principal]\nname = \"a\"", "must be an array of tables ([[principal]], in double brackets), not a table"},
		{principal(""), "principal[0].keys: is missing"},
		{principal("") + "\nuids = [-1]", "principal[0].uids[0]: -1 is out of range"},
		{principal("") + "\nuids = [4294967295]", "principal[0].uids[0]: 4294967295 is out of range"},
		{principal("") + "\nuids = [5, 6, 5]", "principal[0].uids[2]: 5 is a user of principal[0] already"},
		{principal(`"`+aliceKey+`"`) + "\nuids = \"5\"", "principal[0].uids: must be an array"},
		{principal(`"nonsense"`), "bad key: write"},
		{principal("1"), "bad key: write"},
		{principal(`"` + aliceKey + `", "` + aliceFingerprint + `"`), "is listed twice"},
		{principal(`"cert-authority ` + aliceKey + `"`), "an authority is not the key"},
		{principal("'environment=\"TERMHOST_ROLE=admin\" " + aliceKey + "'"), "leave TERMHOST_ROLE out"},
		{strings.Replace(principal(`"`+aliceKey+`"`), `"a"`, `"a/b"`, 1), "contains /"},
		{strings.Replace(principal(`"`+aliceKey+`"`), `"a"`, `"\u001b]0;x"`, 1), "control character"},
		{strings.Replace(principal(`"`+aliceKey+`"`), `"a"`, `""`, 1), "principal[0].name: is missing"},
		{strings.Replace(principal(`"`+aliceKey+`"`), `"a"`, "5", 1), "principal[0].name: must be a string, not an integer"},
		{strings.Replace(principal(`"`+aliceKey+`"`), `"a"`, `"`+strings.Repeat("a", 65)+`"`, 1), "longer than 64 bytes"},
	} {
		got := problemsOf(t, tt.text, ordinary())
		if len(got) != 1 || !strings.Contains(got[0], tt.want) {
			t.Errorf("%s\ngives %q\nwant one line with %q", tt.text, got, tt.want)
		}
	}
}

func TestOffLoopbackNeedsTheOwnersWord(t *testing.T) {
	ssh := func(listen string) string { return "[ssh]\nlisten = \"" + listen + "\"\n" }
	http := func(listen string) string { return "[http]\nlisten = \"" + listen + "\"\n" }
	const tls = "tls_cert_file = \"/c\"\ntls_key_file = \"/k\"\n"
	for _, tt := range []struct {
		text string
		uid  int
		want string // "": accepted
	}{
		{ssh("0.0.0.0:22"), 1000, ""},
		{ssh("127.0.0.1:22"), 0, ""},
		{ssh("127.8.9.1:22"), 0, ""},
		{ssh("[::1]:22"), 0, ""},
		{ssh("[::ffff:127.0.0.1]:22"), 0, ""},
		{ssh("localhost:22"), 0, ""},
		{ssh("0.0.0.0:22"), 0, "allow_root_off_loopback"},
		{ssh("[::]:22"), 0, "allow_root_off_loopback"},
		{ssh(":22"), 0, "allow_root_off_loopback"},
		{ssh("localhost.example.com:22"), 0, "allow_root_off_loopback"},
		{ssh("192.168.1.1:22") + "allow_root_off_loopback = true", 0, ""},
		{http(":7722"), 1000, "allow_plain_off_loopback"},
		{http("10.0.0.1:7722"), 0, "allow_plain_off_loopback"},
		{http("10.0.0.1:7722") + "allow_plain_off_loopback = true", 1000, ""},
		{http("10.0.0.1:7722") + tls, 1000, ""},
		{http("[::1]:7722"), 1000, ""},
		{http(""), 1000, ""},
	} {
		env := ordinary()
		env.uid = tt.uid
		got := problemsOf(t, tt.text, env)
		ok := len(got) == 1 && strings.Contains(got[0], tt.want)
		if tt.want == "" {
			ok = got == nil
		}
		if !ok {
			t.Errorf("uid %d, %s: got %q, want %q", tt.uid, tt.text, got, tt.want)
		}
	}
}

func TestPasswordsOfServersAreNotRepeatedInErrors(t *testing.T) {
	const secret = "hunter2"
	for _, server := range []string{"://me:" + secret + "@a", "x://me:" + secret + "@a",
		"tls://me:" + secret + "@:1", "me:" + secret + "@a", "tls://me:" + secret + "%@a"} {
		got := strings.Join(problemsOf(t, "[fleet]\nservers = [\""+server+"\"]", ordinary()), "\n")
		if got == "" || strings.Contains(got, secret) {
			t.Errorf("%s: got %q, want an error without the password", server, got)
		}
	}
}

func TestKeysPastedIntoTheFileAreNotRepeatedInErrors(t *testing.T) {
	const canary = "b3BlbnNzaC1rZXktdjEA"
	for _, key := range []string{
		"-----BEGIN OPENSSH PRIVATE KEY-----\\n" + canary,
		"SHA256:" + canary,
		"ssh-ed25519 " + canary,
		canary,
	} {
		text := "[[principal]]\nname = \"a\"\nrole = \"admin\"\nkeys = [\"" + key + "\"]"
		got := strings.Join(problemsOf(t, text, ordinary()), "\n")
		if got == "" || strings.Contains(got, canary) {
			t.Errorf("%s: got %q, want an error without the key", key, got)
		}
	}
}
