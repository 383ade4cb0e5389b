package hooks

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"path/filepath"
	"strings"
)

//go:embed opencode.js
var plugin string

// opencode is opencode, which runs plugins of its user's (docs: "Plugins").
func opencode(exe, home string) []part {
	dir := folder("XDG_CONFIG_HOME", home, ".config")
	return []part{&pluginFile{filepath.Join(dir, "opencode", "plugin", "termhost.js"), exe}}
}

// pluginFile is a plugin, which is a file of ours.
type pluginFile struct{ path, exe string }

func (p *pluginFile) file() string { return p.path }

func (p *pluginFile) text() string {
	exe, _ := json.Marshal(p.exe) // a string always marshals
	return strings.Replace(plugin, `"termhost"`, string(exe), 1)
}

// errPlugin refuses to replace what is not ours.
var errPlugin = errors.New("it is not of termhost's making: move it away")

func (p *pluginFile) with(was []byte) ([]byte, error) {
	if _, err := p.without(was); err != nil {
		return nil, err
	}
	return []byte(p.text()), nil
}

func (p *pluginFile) without(was []byte) ([]byte, error) {
	head, _, _ := strings.Cut(plugin, "\n")
	if was != nil && !bytes.HasPrefix(was, []byte(head)) {
		return was, errPlugin
	}
	return nil, nil
}
