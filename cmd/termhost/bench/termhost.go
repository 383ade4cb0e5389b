package bench

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/gorilla/websocket"
	"golang.org/x/crypto/ssh"
)

// Config returns a configuration that has a host listen on free ports of loopback, with home as
// the home folder of its terminals: what the user has in .bashrc may be slow.
func Config(home string) string {
	return fmt.Sprintf(`
		ssh.listen = "127.0.0.1:0"
		http.listen = "127.0.0.1:0"
		terminal.env = { HOME = %q }
	`, home)
}

// startHost starts a host in dir that lets those in whose keys the lines are, with more
// configuration. end ends it.
func startHost(program, dir string, lines []byte, more string) (h *Host, end func(), err error) {
	keys, config := filepath.Join(dir, "keys"), filepath.Join(dir, "config.toml")
	text := Config(dir) + fmt.Sprintf("state_dir = %q\nssh.authorized_keys_files = [%q]\n",
		filepath.Join(dir, "state"), keys) + more
	if err := os.WriteFile(keys, lines, 0o600); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		return nil, nil, err
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		return nil, nil, err
	}
	defer log.Close()
	if h, err = StartHost(program, config, append(os.Environ(), "HOME="+dir), log); err != nil {
		said, _ := os.ReadFile(log.Name()) // without it there is less to say
		return nil, nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(said))
	}
	return h, func() {
		if h.Stop(os.Interrupt) != nil {
			h.Kill()
		}
	}, nil
}

// hostNames are the names of a host's processes: its own and its keeper's.
func hostNames() []string { return []string{"termhost", filepath.Base(os.Args[0])} }

// addHost starts a host in a folder.
func (rs *Rivals) addHost(program, dir string, v Variant) error {
	lines := ssh.MarshalAuthorizedKey(rs.signer.PublicKey())
	h, end, err := startHost(program, dir, lines, v.Config)
	if err != nil {
		return err
	}
	rs.ends = append(rs.ends, end)
	r := rs.overSSH(v.Name, h.address(), h.Cmd.Process.Pid, hostNames(),
		func(line string) string { return "new -- " + line })
	r.dir = dir
	r.Piped = func(line string) string { return "run -- " + line }
	r.keeping = hostKeeping()
	var token string // bound to the key; one is enough for all
	r.socket = func() (end func(), err error) {
		if token == "" {
			out, err := r.run("token")
			if err != nil {
				return nil, err
			}
			token = strings.TrimSpace(out)
		}
		c, err := openAHP(h.Find("ws://"), token)
		if err != nil {
			return nil, err
		}
		return func() { c.Close() }, nil
	}
	return nil
}

// hostKeeping is how hosts keep terminals.
func hostKeeping() *keeping {
	return &keeping{
		start:  func(name, line string) string { return "new -d -n " + name + " -- " + line },
		attach: func(name string) string { return "attach " + name },
		watch:  func(name string) string { return "attach -r " + name },
		shows:  ready, redraws: ready, scrolls: true,
	}
}

// openAHP connects an agent, which subscribes to the list of terminals.
func openAHP(url, token string) (*websocket.Conn, error) {
	d := websocket.Dialer{HandshakeTimeout: patience}
	c, _, err := d.Dial(url, http.Header{"Authorization": {"Bearer " + token}})
	if err != nil {
		return nil, err
	}
	err = c.WriteMessage(websocket.TextMessage, []byte(`{"jsonrpc":"2.0","id":1,`+
		`"method":"initialize","params":{"channel":"ahp-root://","protocolVersions":["1.0.0"],`+
		`"clientId":"bench","initialSubscriptions":["ahp-root://"]}}`))
	if err == nil {
		_, _, err = c.ReadMessage()
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}
