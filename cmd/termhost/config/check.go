package config

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"termhost/ahp/fleet"
	"termhost/ahp/spelling"
	"termhost/authz"
)

// reservedPaths are the HTTP door's own, where AHP cannot be. A test of ahp/ws
// compares them with what that answers.
var reservedPaths = []string{"/healthz", "/metrics", "/ssh", "/mcp"}

// The bounds of the configuration's values. Below its minimum a value would not work; above its
// maximum it is more likely a typing mistake than a wish.
const (
	minAuditBytes       = Size(64 << 10) // some hundred records
	maxAuditBytes       = Size(1 << 40)
	minMemoryLimit      = Size(32 << 20)             // an idle host has 14 MiB
	maxMemoryLimit      = Size(1 << 40)              // more than machines have
	minHandshakeTimeout = Duration(time.Second)      // a distant client needs several round trips
	maxHandshakeTimeout = Duration(10 * time.Minute) // five times sshd's LoginGraceTime
	maxAuthTries        = 100                        // a key agent may offer dozens of keys
	maxConnections      = 100_000                    // 10 GB, at 100 KB for an idle one
	maxSSHSessions      = 1000                       // per connection; each may be a terminal
	maxStartupsFull     = 100_000                    // connections, as maxConnections
	minKeepalive        = Duration(time.Second)      // shorter would drop clients on slow lines
	maxKeepalive        = Duration(time.Hour)        // longer notices a dead client too late
	minFrameBytes       = Size(64 << 10)             // room for one full chunk of input in JSON
	maxFrameBytes       = Size(64 << 20)             // a frame is decoded in memory
	maxSubscriptions    = 100_000                    // per connection; ten times maxTerminals
	maxRequestRate      = 1_000_000                  // a second; more than a core can decode
	maxTerminals        = 10_000                     // each takes a process and three goroutines
	minExitedTTL        = Duration(time.Second)      // shorter: nobody could read the exit status
	maxExitedTTL        = Duration(8760 * time.Hour) // a year
	minScrollbackBytes  = Size(64 << 10)             // a coloured screen of 200 x 60
	maxScrollbackBytes  = Size(1 << 30)              // per terminal
	minLogBytes         = Size(128 << 10)            // two reads of 64 KiB
	maxLogBytes         = Size(4 << 30)              // per channel
	minRecordBytes      = Size(256 << 10)            // some pieces of output
	maxRecordBytes      = Size(2 << 30)              // a file's size has 32 bits
	maxRecordTotal      = Size(1 << 40)              // more than disks have to spare
	maxClientGrace      = Duration(24 * time.Hour)   // after a day an owner does not come back
	minKeyboardIdle     = Duration(time.Second)      // shorter: nobody could type a command
	maxKeyboardIdle     = Duration(24 * time.Hour)   // after a day nobody waits for it any more
	maxAttentionAfter   = Duration(24 * time.Hour)   // after a day somebody has looked
	minCallWait         = Duration(time.Second)      // shorter: clients would poll
	maxCallWait         = Duration(time.Hour)        // longer than any client waits
	minQuietAfter       = Duration(time.Second)      // programs think for less
	maxQuietAfter       = Duration(168 * time.Hour)  // a week
	maxUID              = 1<<32 - 2                  // (uid_t)-1 is nobody's
	minOutputRate       = Size(64 << 10)             // a second; a build log scrolls faster
	maxOutputRate       = Size(1 << 30)              // a second; beyond what a connection carries
	maxNameBytes        = 64                         // of principals and TERM: fits a column
	maxSocketPath       = 103                        // sun_path has 104 bytes on BSD, with the NUL
)

// roleNames returns the roles that a principal can have, from most to least powerful.
func roleNames() []string {
	var names []string
	for r := authz.Admin; r >= authz.Observer; r-- {
		names = append(names, r.String())
	}
	return names
}

// check reports every value that is out of bounds, contradicts another one, or would admit more
// people than the file's author has explicitly allowed. uid is the user who would run the host.
func (c *Config) check(uid int, r *report) {
	c.checkSSH(uid, r)
	c.checkHTTP(r)
	c.checkTerminal(r)
	c.checkMCP(r)
	c.checkFleet(r)
	c.checkNotify(r)
	c.checkPrincipals(r)
	if c.People.Me != "" {
		checkPrincipalName(r, "people.me", c.People.Me, nil)
	}
	if c.StateDir == "" {
		r.add("state_dir", "is empty: name a folder, or leave the key out")
	}
	zeroOrWithin(r, "memory_limit", c.MemoryLimit, minMemoryLimit, maxMemoryLimit)
	within(r, "audit.max_bytes", c.Audit.MaxBytes, minAuditBytes, maxAuditBytes)
	if n := len(c.SocketPath()); c.HTTP.UnixSocket && n > maxSocketPath {
		r.add("state_dir", "the path of its socket %s would have %d bytes, "+
			"and the system allows %d: choose a shorter path, "+
			"or set http.unix_socket = false", SocketName, n, maxSocketPath)
	}
	if c.HTTP.Listen == c.SSH.Listen && !strings.HasSuffix(c.SSH.Listen, ":0") {
		r.add("http.listen", "%q is ssh.listen too: choose another port", c.HTTP.Listen)
	}
}

// maxLabelBytes bounds all labels of a host, which are a part of every heartbeat.
const maxLabelBytes = 400

// checkFleet reports a name that no host may have, labels that do not fit a heartbeat, and doors
// without a role.
func (c *Config) checkFleet(r *report) {
	f, size := &c.Fleet, 0
	if f.Name != "" {
		if err := fleet.CheckName(f.Name); err != nil {
			r.add("fleet.name", "%v", err)
		}
	}
	for key, value := range f.Labels {
		size += len(key) + len(value) + len(`"":"",`)
		if key == "" || value == "" || strings.ContainsAny(key+value, "=, ") ||
			strings.ContainsFunc(key+value, notPrinted) {
			r.add("fleet.labels", "%q = %q: a label has a name and a value, without blanks, "+
				"commas and equals signs", key, value)
		}
	}
	if size > maxLabelBytes {
		r.add("fleet.labels", "they have %d bytes, and may have %d", size, maxLabelBytes)
	}
	for i, server := range f.Servers {
		if err := checkServer(server); err != nil {
			r.add(indexKey("fleet.servers", i), "%v", err)
		}
	}
	for _, door := range slices.Sorted(maps.Keys(f.Doors)) {
		if err := fleet.CheckName(door); err != nil {
			r.add(joinKey("fleet.doors", door), "%v: write doors = { box1 = \"operator\" }", err)
		} else if _, err := authz.ParseRole(f.Doors[door]); err != nil {
			r.add(joinKey("fleet.doors", door), "%q is not a role: write %s, such as "+
				"{ %s = \"operator\" }", f.Doors[door], joinOr(roleNames()), door)
		}
	}
	if len(f.Servers) == 0 && f.Credentials != "" {
		r.add("fleet.credentials", "they are for a NATS cluster: name its servers in fleet.servers")
	}
	if len(f.Servers) == 0 && f.TLSCAFile != "" {
		r.add("fleet.tls_ca_file", "it is for a NATS cluster: name its servers in fleet.servers")
	}
}

func (c *Config) checkSSH(uid int, r *report) {
	s := &c.SSH
	if s.Listen == "" || s.Listen == "none" {
		r.add("ssh.listen",
			"the SSH door cannot be turned off: write an address, such as \"127.0.0.1:2222\"")
	} else if err := checkListen(s.Listen); err != nil {
		r.add("ssh.listen", "%v", err)
	} else if uid == 0 && !s.AllowRootOffLoopback && !IsLoopback(s.Listen) {
		r.add("ssh.listen", "%q can be reached from other machines "+
			"and the host would run as root, so every key that may create terminals is root here: "+
			"run it as another user, or set ssh.allow_root_off_loopback = true", s.Listen)
	}
	within(r, "ssh.handshake_timeout", s.HandshakeTimeout, minHandshakeTimeout, maxHandshakeTimeout)
	within(r, "ssh.max_auth_tries", s.MaxAuthTries, 1, maxAuthTries)
	within(r, "ssh.max_connections", s.MaxConnections, 1, maxConnections)
	within(r, "ssh.max_sessions_per_connection", s.MaxSessionsPerConnection, 1, maxSSHSessions)
	zeroOrWithin(r, "ssh.keepalive_interval", s.KeepaliveInterval, minKeepalive, maxKeepalive)
	oneOf(r, "ssh.forwarding", s.Forwarding,
		[]string{ForwardingOff, ForwardingLoopback, ForwardingAny})
	oneOf(r, "ssh.exec", s.Exec, []string{ExecVerbs, ExecShell})
}

func (c *Config) checkMCP(r *report) {
	within(r, "mcp.wait", c.MCP.Wait, minCallWait, maxCallWait)
	for _, name := range slices.Sorted(maps.Keys(c.MCP.Waits)) {
		at := joinKey("mcp.waits", name)
		if strings.TrimSpace(name) != name || name == "" || len(name) > maxNameBytes ||
			strings.ContainsFunc(name, notPrinted) {
			r.add(at, "is not a client's name: write it as the client gives it to itself, such as "+
				"\"claude-code\", or set mcp.wait for all others")
			continue
		}
		var wait Duration
		if err := wait.UnmarshalText([]byte(c.MCP.Waits[name])); err != nil {
			r.add(at, "%v", err)
			continue
		}
		within(r, at, wait, minCallWait, maxCallWait)
	}
}

func (c *Config) checkHTTP(r *report) {
	h := &c.HTTP
	if h.Listen == "none" {
		h.Listen = ""
	}
	if h.Listen != "" {
		if err := checkListen(h.Listen); err != nil {
			r.add("http.listen", "%v", err)
		} else if h.TLSCertFile == "" && !h.AllowPlainOffLoopback && !IsLoopback(h.Listen) {
			r.add("http.listen", "%q can be reached from other machines, "+
				"and tokens would cross the network in the clear: set http.tls_cert_file "+
				"and http.tls_key_file, or http.allow_plain_off_loopback = true", h.Listen)
		}
	}
	if (h.TLSCertFile == "") != (h.TLSKeyFile == "") {
		key, other := "http.tls_cert_file", "http.tls_key_file"
		if h.TLSCertFile == "" {
			key, other = other, key
		}
		r.add(key, "TLS needs both files: set %s too", other)
	}
	if !strings.HasPrefix(h.Path, "/") || path.Clean(h.Path) != h.Path ||
		strings.Trim(h.Path, bareKeyChars+"/.~") != "" {
		r.add("http.path", "%q is not a path: write / and letters, digits, or - . _ ~, "+
			"without a / at the end", h.Path)
	} else if slices.Contains(reservedPaths, h.Path) {
		r.add("http.path", "%q has a meaning of its own: choose another path", h.Path)
	}
	for i, origin := range h.AllowedOrigins {
		if err := checkOrigin(origin); err != nil {
			r.add(indexKey("http.allowed_origins", i), "%v", err)
		}
	}
	for i, host := range h.AllowedHosts {
		if err := checkHost(host); err != nil {
			r.add(indexKey("http.allowed_hosts", i), "%v", err)
		}
	}
	within(r, "http.max_frame_bytes", h.MaxFrameBytes, minFrameBytes, maxFrameBytes)
	within(r, "http.max_connections", h.MaxConnections, 1, maxConnections)
	within(r, "http.max_subscriptions", h.MaxSubscriptions, 1, maxSubscriptions)
	within(r, "http.requests_per_second", h.RequestsPerSecond, 0, maxRequestRate)
}

func (c *Config) checkTerminal(r *report) {
	t := &c.Terminal
	// These are the characters of the file names of terminfo entries, which begin with a letter or
	// a digit. One that begins with - would be an option of programs that get it as an argument.
	if t.Term == "" || len(t.Term) > maxNameBytes || strings.ContainsAny(t.Term[:1], "-_.+") ||
		strings.Trim(t.Term, bareKeyChars+".+") != "" {
		r.add("terminal.term",
			"%q is not a terminal type: write a terminfo name, such as \"xterm-256color\"", t.Term)
	}
	for _, name := range slices.Sorted(maps.Keys(t.Env)) {
		at := joinKey("terminal.env", name)
		if name == "" || name[0] <= '9' ||
			strings.Trim(name, strings.ReplaceAll(bareKeyChars, "-", "")) != "" {
			r.add(at,
				"cannot name a variable: use letters a-z or A-Z, digits and _, "+
					"and do not begin with a digit")
		}
		if strings.ContainsRune(t.Env[name], 0) {
			r.add(at, "the value cannot contain a NUL character")
		}
	}
	within(r, "terminal.max_terminals", t.MaxTerminals, 1, maxTerminals)
	within(r, "terminal.max_exited", t.MaxExited, 0, maxTerminals)
	zeroOrWithin(r, "terminal.exited_ttl", t.ExitedTTL, minExitedTTL, maxExitedTTL)
	within(r, "terminal.scrollback_bytes", t.ScrollbackBytes,
		minScrollbackBytes, maxScrollbackBytes)
	within(r, "terminal.log_bytes", t.LogBytes, minLogBytes, maxLogBytes)
	oneOf(r, "terminal.login", t.Login, []string{LoginNew, LoginLast})
	oneOf(r, "terminal.record", t.Record, []string{RecordOff, RecordAgents, RecordAll})
	within(r, "terminal.record_bytes", t.RecordBytes, minRecordBytes, maxRecordBytes)
	within(r, "terminal.record_total_bytes", t.RecordTotalBytes, t.RecordBytes, maxRecordTotal)
	within(r, "terminal.client_grace", t.ClientGrace, 0, maxClientGrace)
	zeroOrWithin(r, "terminal.client_output_rate", t.ClientOutputRate, minOutputRate, maxOutputRate)
	zeroOrWithin(r, "terminal.keyboard_idle", t.KeyboardIdle, minKeyboardIdle, maxKeyboardIdle)
	within(r, "terminal.attention_after", t.AttentionAfter, 0, maxAttentionAfter)
	zeroOrWithin(r, "terminal.quiet_after", t.QuietAfter, minQuietAfter, maxQuietAfter)
	oneOf(r, "terminal.input", t.Input, []string{InputClaim, InputShared})
	oneOf(r, "terminal.secrets", t.Secrets, []string{SecretsPeople, SecretsAll})
	oneOf(r, "attach.status", c.Attach.Status, []string{StatusOff, StatusLine})
}

func (c *Config) checkPrincipals(r *report) {
	names := map[string]int{}  // of the entries so far, with their indices
	owners := map[string]int{} // fingerprints, with the index of their entry
	users := map[int]int{}     // user ids, likewise
	for i, p := range c.Principals {
		at := indexKey("principal", i)
		checkPrincipalName(r, at+".name", p.Name, names)
		if p.Name != "" {
			names[p.Name] = i
		}
		oneOf(r, at+".role", p.Role, roleNames())
		if len(p.Keys)+len(p.UIDs) == 0 {
			r.add(at+".keys", "is missing: name at least one key, or a user with uids")
		}
		within(r, at+".max_connections", p.MaxConnections, 0, maxConnections)
		within(r, at+".max_terminals", p.MaxTerminals, 0, maxTerminals)
		for j, uid := range p.UIDs {
			key := indexKey(at+".uids", j)
			within(r, key, uid, 0, maxUID)
			if owner, taken := users[uid]; taken {
				r.add(key, "%d is a user of principal[%d] already", uid, owner)
			}
			users[uid] = i
		}
		for j, key := range p.Keys {
			switch owner, taken := owners[key.Fingerprint]; {
			case key.Fingerprint == "": // reported when it was decoded
			case !taken:
				owners[key.Fingerprint] = i
			case owner == i:
				r.add(indexKey(at+".keys", j), "%s is listed twice", key.Fingerprint)
			default:
				r.add(indexKey(at+".keys", j),
					"%s is a key of principal[%d] already: a key has one name and one role",
					key.Fingerprint, owner)
			}
		}
	}
}

// checkPrincipalName reports a principal's name, at key, that is no good or is one of taken, which
// holds the names of earlier entries with their indices.
func checkPrincipalName(r *report, key, name string, taken map[string]int) {
	first, isTaken := taken[name]
	switch {
	case name == "":
		r.add(key, "is missing: every principal needs one")
	case len(name) > maxNameBytes:
		r.add(key, "is longer than %d bytes", maxNameBytes)
	case strings.Contains(name, "/"):
		r.add(key, "%q contains /, which separates a key's name from its token's", name)
	case strings.ContainsFunc(name, notPrinted):
		r.add(key, "contains a control character")
	case isTaken:
		r.add(key, "%q is taken by principal[%d]: one entry can have several keys", name, first)
	}
}

// notPrinted reports whether a character is not seen where it stands, or acts.
func notPrinted(c rune) bool { return !unicode.IsPrint(c) }

// within reports a value below least or above most.
func within[T cmp.Ordered](r *report, key string, v, least, most T) {
	if v < least || v > most {
		r.add(key, "%v is out of range: from %v to %v", v, least, most)
	}
}

// zeroOrWithin does the same for a key whose value 0 turns something off.
func zeroOrWithin[T cmp.Ordered](r *report, key string, v, least, most T) {
	var zero T
	if v != zero && (v < least || v > most) {
		r.add(key, "%v is out of range: from %v to %v, or %v to turn it off",
			v, least, most, zero)
	}
}

// oneOf reports a value that is not among the allowed words.
func oneOf(r *report, key, v string, allowed []string) {
	switch near := spelling.Nearest(v, allowed); {
	case slices.Contains(allowed, v):
	case v == "":
		r.add(key, "is missing: it must be %s", quoteAll(allowed))
	case near != "" && len(v) <= maxKeyHint:
		r.add(key, "%q must be %s (did you mean %q?)", v, quoteAll(allowed), near)
	default:
		r.add(key, "%q must be %s", v, quoteAll(allowed))
	}
}
