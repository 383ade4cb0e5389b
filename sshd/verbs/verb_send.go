package verbs

import (
	"errors"
	"flag"
	"fmt"
	"strings"

	"termhost/ahp/host"
	"termhost/ptypool/keyboard"
)

// defineSend types into a terminal without showing it: first the text, then the keys in the order
// of the command line, then Enter. Keys before the text need a `send` of their own.
func defineSend(fs *flag.FlagSet) func(*invocation) int {
	enter := fs.Bool("enter", false, "press Enter at the end")
	var keys []keyboard.Key
	press := func(name string) error {
		k, err := keyboard.Parse(name)
		keys = append(keys, k)
		return err
	}
	fs.Func("key", "press `KEY`, such as up, ctrl-c, alt-x or f5, after TEXT", press)
	return func(v *invocation) int {
		if *enter {
			keys = append(keys, keyboard.Key{Code: keyboard.Enter})
		}
		return v.send(keys)
	}
}

// typing is what `send` types besides keys.
type typing struct {
	name  string // the terminal's NAME
	text  string
	stdin bool // standard input, instead of text
}

// parseSend reads flags, NAME and the text, whose words are joined with blanks. What follows "--"
// is typed as it is.
func (v *invocation) parseSend() (status int, done bool) {
	args, status, done := v.flagsAmongText()
	if done {
		return status, true
	}
	named, behind := len(args) > 0, v.rest
	if named {
		v.typing.name, args = args[0], args[1:]
	} else { // it is behind "--", as a NAME that begins with "-" has to be
		var err error
		if v.typing.name, behind, err = takeWord(behind); err != nil {
			return v.misused("%v", err), true
		}
		if v.typing.name == "" {
			return v.misused("%s needs an argument", v.verb.name), true
		}
	}
	typed, err := v.program(behind)
	if err != nil {
		return v.misused("%v", err), true
	}
	behind = typed.line + strings.Join(typed.argv, " ")
	switch text := strings.Join(args, " "); {
	case text == "-" && behind == "":
		v.typing.stdin = true
	case text == "" || behind == "":
		v.typing.text = text + behind
	default:
		v.typing.text = text + " " + behind
	}
	return StatusOK, false
}

// flagsAmongText reads the flags before "--", and returns the other words. A word that is no flag
// is text, unless it may be a misspelt flag.
func (v *invocation) flagsAmongText() (args []string, status int, done bool) {
	for words := v.words; len(words) > 0; {
		if n := knownFlags(v.fs, words); n > 0 {
			if _, status, done := v.flagsAtHead(words[:n]); done {
				return nil, status, true
			}
			words = words[n:]
			continue
		}
		w := words[0]
		name, _, _ := flagName(w)
		if name != "" && (len(args) < 2 || v.nearFlag(name)) {
			if _, status, done := v.flagsAtHead(words[:1]); done {
				if status != StatusOK {
					fmt.Fprintln(v.stderr, "hint: what follows -- is typed as it is")
				}
				return nil, status, true
			}
		}
		args, words = append(args, w), words[1:]
	}
	return args, StatusOK, false
}

// nearFlag reports whether one of the verb's flags may be meant by a name.
func (v *invocation) nearFlag(name string) (found bool) {
	v.fs.VisitAll(func(f *flag.Flag) { found = found || near(f.Name, name) })
	return found
}

func (v *invocation) send(keys []keyboard.Key) int {
	if v.typing.text == "" && !v.typing.stdin && len(keys) == 0 {
		return v.misused("say what to type: TEXT, -, --key or --enter")
	}
	t, err := v.find(v.typing.name)
	if err == nil && v.typing.stdin {
		err = v.sendStdin(t)
	}
	if err == nil && (v.typing.text != "" || len(keys) > 0) {
		err = v.Conn.Send(v.ctx, t, []byte(v.typing.text), keys...)
	}
	held := 0
	if err == nil {
		held, err = v.Conn.Held(v.ctx, t)
	}
	if err != nil {
		return v.failed(err)
	}
	if held > 0 {
		fmt.Fprintln(v.stderr, "held: the program does not read yet")
	}
	if why := t.Stopped(); why != "" {
		fmt.Fprintf(v.stderr, "%s: what is typed waits until Ctrl-Q\n", why)
	}
	return StatusOK
}

// sendStdin types standard input, to its end, as fast as the program reads it. It returns an error
// if the peer is lost before that.
func (v *invocation) sendStdin(t *host.Terminal) error {
	in, buf := v.Stdin(), make([]byte, host.MaxPiece)
	for {
		n, err := in.Read(buf)
		if n > 0 {
			if err := v.Conn.Type(v.ctx, t, buf[:n]); err != nil {
				return err
			}
		}
		switch {
		case err == nil:
		case v.Answers():
			return nil
		default:
			return errCut
		}
	}
}

var errCut = errors.New("the connection was lost before the end of the input")
