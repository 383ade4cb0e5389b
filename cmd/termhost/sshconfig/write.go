package sshconfig

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"termhost/ptypool/statefile"
)

const (
	ownName  = "termhost.conf" // the file that is only termhost's
	mainName = "config"        // the person's own
	// ownMark begins the file that is only termhost's. Another file of its name is left alone. Then
	// come the blocks.
	ownMark = "# Made by `termhost ssh-config --write`, which makes it anew.\n"
	heads   = "Host " // begins a block
	// maxBytes bounds a file that is read, in bytes: people write them.
	maxBytes = 4 << 20
)

// Written says what Write has done.
type Written struct {
	Own, Main string // the paths of both files
	// OwnChanged and MainChanged say which of them were written.
	OwnChanged, MainChanged bool
	Include                 string // the first line of Main
	// Other: the person's file has a block of the same name, which now comes second.
	Other bool
}

// TakenError refuses a block whose name leads to another host.
type TakenError struct {
	Name    string
	Address string // of that host, host:port
}

func (e *TakenError) Error() string {
	return fmt.Sprintf("`ssh %s` leads to another host, %s", e.Name, e.Address)
}

// Write puts a block into a file of its own in the folder .ssh of home, and a line that includes it
// at the top of the file config there, unless there is one. tilde: ssh means that home by "~". A
// block of the same name is replaced if it is of the same host, or if replace is true; else there
// is a *TakenError. A file that cannot be read as what it should be is not changed, and the other
// is not then either.
func Write(home string, tilde bool, b Block, replace bool) (Written, error) {
	folder := filepath.Join(home, ".ssh")
	w := Written{Own: filepath.Join(folder, ownName), Main: filepath.Join(folder, mainName)}
	path := w.Own
	if tilde {
		path = "~/.ssh/" + ownName
	}
	w.Include = "Include " + quote(path)
	own, err := read(w.Own)
	if err == nil && own != nil && !bytes.HasPrefix(own, []byte(ownMark)) {
		err = fmt.Errorf("%s is not termhost's: move it away", w.Own)
	}
	if err != nil {
		return w, err
	}
	text, err := read(w.Main)
	if err != nil {
		return w, err
	}
	block, err := with(string(own), b, replace)
	if err != nil {
		return w, err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return w, err
	}
	if !bytes.Equal(own, block) {
		if err := overwrite(w.Own, block); err != nil {
			return w, err
		}
		w.OwnChanged = true
	}
	included, other := scan(text, cmp.Or(b.Name, Alias), ownName, "~/.ssh/"+ownName, w.Own)
	w.Other = other
	if !included {
		if err := overwrite(w.Main, slices.Concat([]byte(w.Include+"\n"), text)); err != nil {
			return w, err
		}
		w.MainChanged = true
	}
	return w, nil
}

// with returns what becomes of the file that is only termhost's, own, with a block in it.
func with(own string, b Block, replace bool) ([]byte, error) {
	var blocks []string
	for line := range strings.Lines(strings.TrimPrefix(own, ownMark)) {
		if strings.HasPrefix(line, heads) || blocks == nil {
			blocks = append(blocks, "")
		}
		blocks[len(blocks)-1] += line
	}
	at := slices.IndexFunc(blocks, func(s string) bool { return strings.HasPrefix(s, b.head()) })
	if at < 0 {
		at, blocks = len(blocks), append(blocks, "")
	} else if !replace && !b.sameHost(blocks[at]) {
		return nil, &TakenError{cmp.Or(b.Name, Alias), address(blocks[at])}
	}
	blocks[at] = b.String()
	return []byte(ownMark + strings.Join(blocks, "")), nil
}

// sameHost reports whether the text of a block leads where b does. The port of a host may have
// changed that has a file of known hosts to itself.
func (b Block) sameHost(text string) bool {
	text, own := strings.TrimPrefix(text, b.head()), strings.TrimPrefix(b.String(), b.head())
	same := func(keyword string) bool { return value(text, keyword) == value(own, keyword) }
	return address(text) == address(own) ||
		b.KnownHosts != "" && same("UserKnownHostsFile") && same("HostName")
}

// address returns to where the text of a block leads, host:port.
func address(text string) string {
	return net.JoinHostPort(value(text, "HostName"), cmp.Or(value(text, "Port"), "22"))
}

// value returns what the text of a block sets; "": nothing.
func value(text, keyword string) string {
	_, rest, _ := strings.Cut(text, "  "+keyword+" ")
	rest, _, _ = strings.Cut(rest, "\n")
	return rest
}

// scan reports whether a configuration includes one of the files for all hosts, and whether it has
// a block of a host's name.
func scan(text []byte, name string, files ...string) (included, named bool) {
	global := true
	for line := range strings.Lines(string(text)) {
		// ssh_config(5): a keyword and its arguments are separated by blanks or by one "=".
		words := strings.Fields(strings.NewReplacer("=", " ", `"`, " ").Replace(line))
		if len(words) < 2 {
			continue
		}
		switch strings.ToLower(words[0]) {
		case "host":
			global = false
			named = named || slices.Contains(words[1:], name)
		case "match":
			global = false
		case "include":
			is := func(word string) bool { return slices.Contains(files, word) }
			included = included || global && slices.ContainsFunc(words[1:], is)
		}
	}
	return included, named
}

// read returns a file's content; nil: there is none. A link that leads nowhere is an error: what it
// leads to may be there at other times.
func read(path string) ([]byte, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(path); err == nil {
			return nil, fmt.Errorf("%s is a link that leads nowhere", path)
		}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxBytes {
		return nil, fmt.Errorf("%s is no configuration of ssh", path)
	}
	text, err := os.ReadFile(path)
	if text == nil && err == nil {
		text = []byte{}
	}
	return text, err
}

// overwrite makes text a file's content in one step, which keeps its mode, or has 0600, and its
// owner, or has that of the folder. A link stays one.
func overwrite(path string, text []byte) error {
	like, err := os.Stat(path)
	mode := fs.FileMode(0o600)
	if err == nil {
		mode = like.Mode().Perm()
		if path, err = filepath.EvalSymlinks(path); err != nil {
			return err
		}
	} else if like, err = os.Stat(filepath.Dir(path)); err != nil {
		return err
	}
	return statefile.SaveFor(like, path, text, mode)
}
