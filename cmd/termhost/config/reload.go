package config

import (
	"bytes"
	"errors"
	"reflect"
	"strings"
)

// effect says when a change of a key takes effect in a host that runs.
type effect int

const (
	// restart: when the host is started anew. This is the zero value, for a key that nobody has
	// thought about.
	restart effect = iota
	// live: at once, or for what is opened or started from then on.
	live
)

// effects returns the effect of a change of every key, as a test compares with
// config.example.toml. An array of tables, such as principal, is one key.
func effects() map[string]effect {
	return map[string]effect{
		// The folder belongs to the host that runs: with its lock, keys, tokens and socket.
		"state_dir":    restart,
		"memory_limit": live,

		// The host keeps the file open, as it keeps its folder.
		"audit.file":      restart,
		"audit.max_bytes": restart,

		// A door's socket is opened once: the host cannot lose it by a mistake in the file.
		"ssh.listen":                      restart,
		"ssh.host_key_files":              live,
		"ssh.host_certificate_files":      live,
		"ssh.authorized_keys_files":       live,
		"ssh.trusted_user_ca_files":       live,
		"ssh.revoked_keys_file":           live,
		"ssh.handshake_timeout":           live,
		"ssh.max_auth_tries":              live,
		"ssh.max_connections":             live,
		"ssh.max_startups":                live,
		"ssh.max_sessions_per_connection": live,
		"ssh.penalties":                   live,
		"ssh.keepalive_interval":          live,
		"ssh.allow_root_off_loopback":     live,
		"ssh.forwarding":                  live,
		"ssh.agent_forwarding":            live,
		"ssh.sftp":                        live,
		"ssh.exec":                        live,

		"http.listen":                   restart,
		"http.path":                     live,
		"http.unix_socket":              restart,
		"http.allowed_origins":          live,
		"http.allowed_hosts":            live,
		"http.tls_cert_file":            live, // but see Reload
		"http.tls_key_file":             live,
		"http.allow_plain_off_loopback": live,
		"http.max_frame_bytes":          live,
		"http.max_connections":          live,
		"http.max_subscriptions":        live,
		"http.requests_per_second":      live,

		"mcp.wait":  live,
		"mcp.waits": live,

		// The host speaks for its labels, and is connected, from its start on.
		"fleet.name":        restart,
		"fleet.labels":      restart,
		"fleet.servers":     restart,
		"fleet.credentials": restart,
		"fleet.tls_ca_file": restart,
		"fleet.doors":       live,

		"terminal.shell":              live,
		"terminal.login":              live,
		"terminal.login_shell":        live,
		"terminal.term":               live,
		"terminal.env":                live,
		"terminal.max_terminals":      live,
		"terminal.max_exited":         live,
		"terminal.exited_ttl":         live,
		"terminal.scrollback_bytes":   live,
		"terminal.log_bytes":          live,
		"terminal.keep":               restart,
		"terminal.persist":            live,
		"terminal.record":             live,
		"terminal.record_bytes":       live,
		"terminal.record_total_bytes": live,
		"terminal.shell_integration":  live,
		"terminal.detach_prefix":      live,
		"terminal.client_grace":       live,
		"terminal.client_output_rate": live,
		"terminal.input":              live,
		"terminal.keyboard_idle":      live,
		"terminal.guard_agents":       live,
		"terminal.secrets":            live,
		"terminal.attention":          live,
		"terminal.attention_after":    live,
		"terminal.quiet_after":        live,

		"attach.status": live,

		"people.me": live,

		"notify":    live,
		"principal": live,
	}
}

// LoadAgain is [Load] for a host that runs with the configuration inForce. That the file sets no
// key any more is an error, unless this changes nothing: what the file said of [[principal]], for
// example, made its keys less than admins.
func LoadAgain(path string, inForce Config) (Config, error) {
	c, text, err := load(path)
	if err == nil && setsNothing(text) &&
		len(differences("", reflect.ValueOf(inForce), reflect.ValueOf(c))) > 0 {
		what := "there is no configuration file any more"
		if path != "" {
			what = path + " is empty, or has only comments"
		}
		return Config{}, errors.New(what +
			": to run with the defaults, stop the host and start it again")
	}
	return c, err
}

// setsNothing reports whether no line of a file, which is valid, sets a key.
func setsNothing(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); !bytes.HasPrefix(line, []byte("#")) &&
			bytes.Contains(line, []byte("=")) {
			return false
		}
	}
	return true
}

// Reload compares the configuration in force with one that was read later. It returns the
// configuration to put in force without a restart, the keys that are new in it, and the keys whose
// change has to wait for a restart. Keys are written with their tables, such as "ssh.listen".
func Reload(inForce, changed Config) (next Config, taken, waiting []string) {
	next = changed
	effectOf := effects()
	keep := func(key string) {
		copyKey(key, reflect.ValueOf(&next).Elem(), reflect.ValueOf(inForce))
	}
	for _, key := range differences("", reflect.ValueOf(inForce), reflect.ValueOf(changed)) {
		// Another certificate is live. TLS itself belongs to the listener.
		tls := key == "http.tls_cert_file" || key == "http.tls_key_file"
		toggled := (inForce.HTTP.TLSCertFile == "") != (changed.HTTP.TLSCertFile == "")
		if effectOf[key] == restart || tls && toggled {
			keep(key)
			waiting = append(waiting, key)
		} else {
			taken = append(taken, key)
		}
	}
	return next, taken, waiting
}

// copyKey sets the key of to, a struct, to what it is in from, a struct of the same type.
func copyKey(key string, to, from reflect.Value) {
	for i, name := range tableKeys(to.Type()) {
		if name == key {
			to.Field(i).Set(from.Field(i))
		} else if rest, ok := strings.CutPrefix(key, name+"."); ok {
			copyKey(rest, to.Field(i), from.Field(i))
		}
	}
}

// differences returns the keys below path whose values differ between a and b, which are structs
// of one type. A table of the file is a struct whose fields have toml tags.
func differences(path string, a, b reflect.Value) (keys []string) {
	for i, key := range tableKeys(a.Type()) {
		at, x, y := joinKey(path, key), a.Field(i), b.Field(i)
		switch {
		case isTable(x.Type()):
			keys = append(keys, differences(at, x, y)...)
		case !reflect.DeepEqual(x.Interface(), y.Interface()):
			keys = append(keys, at)
		}
	}
	return keys
}

// isTable reports whether values of type t are tables in the file.
func isTable(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.Field(0).Tag.Get("toml") != ""
}
